"""Which package may import which; the contracts stand in pyproject.toml."""

import re
import subprocess
import sys
import tomllib

from tests.house import source


def test_the_contracts_are_kept() -> None:
    script = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports())"
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=source.ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_package_is_under_the_contracts() -> None:
    project = tomllib.loads((source.ROOT / "pyproject.toml").read_text())
    linted = set(project["tool"]["importlinter"]["root_packages"])
    outside = {"tests", "bench", "examples", "scripts", "docs"}
    packages = {p.parts[0] for p in source.python_files() if len(p.parts) > 1}
    assert packages - outside == linted == set(source.PACKAGES)
    assert set(project["tool"]["coverage"]["run"]["source"]) == linted


READS_ENVIRONMENT = re.compile(r"os\.environ(?:\.get\(|\[[^\]]+\](?!\s*=[^=])|\.items|\.copy)|getenv\(")


def test_only_config_reads_the_environment() -> None:
    """The command line passes it on to the programs it starts; nobody else looks at it."""
    readers = [
        str(path)
        for path in source.python_files(*source.PACKAGES)
        if path.parts[0] not in {"config", "cli"} and READS_ENVIRONMENT.search(source.text(path))
    ]
    assert readers == []
