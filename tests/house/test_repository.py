"""The repository as others get it: links, hosts, paths, the lock file, the wheel, the promises."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.house import source

BINARY = {".png", ".gif", ".ico", ".woff2"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HOST = re.compile(r"\b(?:https?|git|ssh)://(?:[^/@\s\"'`]*@)?(\[[^\]]*\]|[\w.-]+)")
# Hosts that code and docs may name: this machine, examples, the two services with defaults, and standards.
HOSTS = {
    "127.0.0.1",
    "localhost",
    "[::1]",
    "api.openai.com",
    "api.siliconflow.cn",
    "www.apache.org",
    "json-schema.org",
}


def texts() -> list[tuple[Path, str]]:
    return [(p, source.text(p)) for p in source.files() if p.suffix not in BINARY]


def heading_anchors(page: str) -> set[str]:
    """Anchors of a page's headings, as code hosts make them."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", t.lower()).strip().replace(" ", "-") for t in titles}


def test_links_in_the_docs_resolve() -> None:
    broken = []
    for path in (p for p in source.files() if p.suffix == ".md"):
        for target in LINK.findall(re.sub(r"```.*?```", "", source.text(path), flags=re.DOTALL)):
            if "://" in target:
                continue
            name, _, anchor = target.partition("#")
            page = (source.ROOT / path).parent / name if name else source.ROOT / path
            if not page.exists() or (anchor and anchor not in heading_anchors(page.read_text(encoding="utf-8"))):
                broken.append(f"{path}: {target}")
    assert broken == []


def allowed(host: str) -> bool:
    name = host.rstrip(".")
    private = name.startswith(("10.", "192.168."))
    return (
        private or name in HOSTS or name.endswith((".example", ".test", ".invalid", "example.com")) or "." not in name
    )


def test_files_name_no_host_but_the_known_ones() -> None:
    named = {f"{path}: {host}" for path, text in texts() for host in HOST.findall(text) if not allowed(host)}
    assert named == set()


def test_files_name_no_path_of_one_machine() -> None:
    pattern = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+|opt/\w+)/")
    named = [f"{path}: {found[0]}" for path, text in texts() if (found := pattern.search(text))]
    assert named == []


def locked() -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", source.text(Path("requirements.lock")), re.MULTILINE))


def declared() -> set[str]:
    project = tomllib.loads(source.text(Path("pyproject.toml")))
    groups = project["dependency-groups"].values()
    names = [
        *project["project"]["dependencies"],
        *(item for g in groups for item in g if isinstance(item, str)),
    ]
    return {re.split(r"[\[<>=~!; ]", name)[0].lower().replace("_", "-").replace(".", "-") for name in names}


def test_the_lock_has_every_dependency_with_hashes_and_no_index() -> None:
    assert declared() - locked() == set()
    for name in ("requirements.lock", "scripts/pip.lock"):
        lock = source.text(Path(name))
        entries = re.findall(r"^\S+==\S+.*\\$(?:\n    --hash=sha256:[0-9a-f]{64}.*$)+", lock, re.MULTILINE)
        assert len(entries) == len(re.findall(r"^\S+==", lock, re.MULTILINE))
        assert re.search(r"://|^-|--(index|extra|find|trusted)", lock, re.MULTILINE) is None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=source.ROOT, check=True, capture_output=True, timeout=60)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_client_package_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names if ".dist-info/" not in n} == {"sidestream"}
    assert "sidestream/py.typed" in names
    assert all(n.endswith((".py", ".lua", "py.typed")) for n in names if ".dist-info/" not in n)


def test_the_wheel_needs_only_what_the_client_needs(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (n for n in archive.namelist() if n.endswith("METADATA"))
    needed = re.findall(r"^Requires-Dist: ([\w-]+)", archive.read(metadata).decode(), re.MULTILINE)
    assert sorted(needed) == ["httpx", "pydantic", "redis"]


def test_the_wheel_imports_without_the_server(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import sidestream; "
        "assert sidestream.__file__.startswith(sys.argv[1]), sidestream.__file__; "
        "ours = {'config', 'store', 'workers', 'celery', 'apsw', 'fastapi'} & set(sys.modules); "
        "assert not ours, ours"
    )
    run = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def named_tests() -> list[str]:
    return re.findall(r"`(tests/[\w/]+\.py(?:::\w+)*)`", source.doc("promises.md"))


def test_every_promise_names_its_tests() -> None:
    parts = re.split(r"^## ", source.doc("promises.md"), flags=re.MULTILINE)[1:]
    promises = [part for part in parts if re.match(r"\d+\.", part)]
    assert [int(p.split(".")[0]) for p in promises] == list(range(1, 11))
    assert [p.splitlines()[0] for p in promises if not re.search(r"`tests/|Not built yet", p)] == []


@pytest.mark.parametrize("name", named_tests())
def test_the_tests_that_the_promises_name_exist(name: str) -> None:
    path, *inside = name.split("::")
    assert (source.ROOT / path).is_file()
    for part in inside:
        assert re.search(rf"^\s*(?:async )?(?:def|class) {part}\b", source.text(Path(path)), re.MULTILINE), name


def test_ci_runs_the_checks_and_all_suites() -> None:
    script = source.text(Path(".ci/run"))
    assert "make check" in script
    assert "make test" in script
