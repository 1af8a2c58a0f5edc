"""Commands of the CLI as processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.stack import ROOT, Stack

DATA = ROOT / "tests" / "data"


def command(*arguments: str | Path) -> list[str]:
    """A command line of `sidestream`."""
    return [sys.executable, "-m", "sidestream", *map(str, arguments)]


def sidestream(stack: Stack, *arguments: str | Path, timeout: float = 90.0) -> subprocess.CompletedProcess[str]:
    """Runs a command on the stack; its exit code and output, whatever they are."""
    return run(stack.env(), *arguments, timeout=timeout)


def alone(
    folder: Path, *arguments: str | Path, timeout: float = 90.0, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command on a data folder with the embedded Redis."""
    return run(environment(folder, **settings), *arguments, timeout=timeout)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """The environment of a system on its own in a data folder, quick and without models."""
    values = {"data_dir": str(folder), "embed_provider": "none", "chat_provider": "offline", "api_port": "0"}
    values |= {"worker_concurrency": "1", "log_format": "json", **settings}
    return {**os.environ, **{f"SIDESTREAM_{name.upper()}": value for name, value in values.items()}}


def run(variables: dict[str, str], *arguments: str | Path, timeout: float = 90.0) -> subprocess.CompletedProcess[str]:
    """Runs a command without a terminal; one that takes too long is stopped in order, so that nothing outlives it."""
    process = subprocess.Popen(
        command(*arguments),
        cwd=ROOT,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate(timeout=60)
        raise AssertionError(f"not done within {timeout} s\n{out}\n{err}") from None
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
