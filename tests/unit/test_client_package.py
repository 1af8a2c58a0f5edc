"""The package as a backend gets it: its surface, its dependencies, its command."""

import subprocess
import sys
from pathlib import Path

import pytest

import sidestream
from sidestream import __main__ as command

PACKAGE = Path(sidestream.__file__).parent

SURFACE = {
    "ApiError",
    "ApiUnavailable",
    "AsyncClient",
    "AsyncPublisher",
    "Client",
    "Event",
    "InvalidEvent",
    "MemoryAdjust",
    "MemoryForget",
    "MemoryRemember",
    "MemoryUsed",
    "Message",
    "PublishError",
    "Publisher",
    "Receipt",
    "RedisUnavailable",
    "SessionEnded",
    "SessionFlushed",
    "SessionReset",
    "SessionStarted",
    "SidestreamError",
    "SpoolFull",
    "SpoolUnavailable",
    "SubagentFinished",
    "SubagentMessage",
    "SubagentStarted",
}


def test_the_public_surface_is_this_and_no_more() -> None:
    assert set(sidestream.__all__) == SURFACE
    assert all(hasattr(sidestream, name) for name in SURFACE)
    assert (PACKAGE / "py.typed").exists()


def test_importing_it_imports_nothing_of_the_server() -> None:
    script = "import sidestream, sidestream.testing, sidestream.api_models, sys; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in ended.stdout.split()}
    server = {"config", "store", "llm", "memory", "recall", "actors", "workers", "api", "cli"}
    assert loaded & (server | {"celery", "apsw", "numpy", "structlog", "fastapi", "fakeredis"}) == set()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As installed from a wheel: no server beside it."""
    monkeypatch.setattr(command, "_ROOT", Path("/nowhere"))


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_alone_it_says_how_to_get_the_server(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    command.main(arguments)
    shown = capsys.readouterr().out
    assert sidestream.__version__ in shown and "source checkout" in shown


@pytest.mark.usefixtures("alone")
def test_alone_it_shows_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--version"])
    assert capsys.readouterr().out == f"sidestream {sidestream.__version__}\n"


@pytest.mark.usefixtures("alone")
def test_alone_it_refuses_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["up"])
    assert caught.value.code == 2
    assert "no such command: up" in capsys.readouterr().err


def package(folder: Path, name: str, code: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    (folder / name / "main.py").write_text(code)


def run(path: list[Path], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with these folders first on the path, and no editable install to find the checkout."""
    code = f"import sys; sys.path[:0] = {[str(p) for p in path]!r}; from sidestream.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_another_program_s_cli_is_not_ours(tmp_path: Path) -> None:
    package(tmp_path, "cli", "def main(): print('somebody else')")
    ended = run([tmp_path, PACKAGE.parent], "up")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no such command: up" in ended.stderr


def test_the_checkout_s_cli_is_run() -> None:
    ended = run([PACKAGE.parent], "--help")
    assert ended.returncode == 0 and "source checkout" not in ended.stdout


def test_missing_dependencies_of_the_server_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'click'", name="click")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(SystemExit) as caught:
        command._run_server()
    assert caught.value.code == 1


def test_a_fault_of_our_own_is_not_taken_for_a_missing_dependency(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'store.gone'", name="store.gone")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(ModuleNotFoundError):
        command._run_server()
