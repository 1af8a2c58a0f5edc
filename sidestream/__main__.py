"""The `sidestream` command: the server's commands where the checkout is present, else how to get them."""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

import sidestream

_ROOT = Path(sidestream.__file__).resolve().parent.parent
_HELP = """\
sidestream {version}: the client package, for publishing and reading.

The server's commands (up, chat, import, eval, status, dead, migrate) come with Sidestream's source checkout:
run `make` there, then `make run`.

  --version  shows the version
  --help     shows this
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the server's command line if it is here and ours. Exits 2 on a command that is not known."""
    if _server_is_here():
        _run_server()
    else:
        _run_client(sys.argv[1:] if arguments is None else arguments)


def _server_is_here() -> bool:
    """Whether the `cli` that Python would import lies beside this package; others use that name too."""
    found = importlib.util.find_spec("cli")
    if found is None or found.origin is None:
        return False
    return Path(found.origin).resolve().parent.parent == _ROOT


def _run_server() -> None:
    try:
        module = importlib.import_module("cli.main")
    except ModuleNotFoundError as error:
        if error.name is None or (_ROOT / error.name.partition(".")[0]).exists():
            raise
        sys.stderr.write(f"sidestream: the server needs {error.name}, which is not installed; run `make` first\n")
        sys.exit(1)
    module.main()


def _run_client(arguments: Sequence[str]) -> None:
    if list(arguments) == ["--version"]:
        sys.stdout.write(f"sidestream {sidestream.__version__}\n")
    elif not arguments or list(arguments) in (["--help"], ["-h"]):
        sys.stdout.write(_HELP.format(version=sidestream.__version__))
    else:
        sys.stderr.write(f"sidestream: no such command: {arguments[0]}\n\n")
        sys.stderr.write(_HELP.format(version=sidestream.__version__))
        sys.exit(2)


if __name__ == "__main__":
    main()
