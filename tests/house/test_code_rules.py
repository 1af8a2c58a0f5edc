"""Rules of the house that no linter holds: reasons for exceptions, broad excepts, leftovers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import source

SUPPRESSION = re.compile(r"#\s*(noqa(?::\s*[A-Z0-9, ]+)?|type: ignore(?:\[[\w, -]+\])?|pragma: no cover)(.*)")
LEFTOVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
# Where an error of any kind may be caught, and why there.
EDGES = {
    "actors/core/cell.py": "the supervisor: an actor may raise anything",
    "store/callbacks.py": "runs every callback of a commit, then raises the first error",
    "workers/consumer.py": "the consumer's thread must try again, and one entry must not stop the rest",
    "workers/drain.py": "each claimed job must end with an outcome, whatever its handler does",
    "workers/writing.py": "one entry that breaks a batch must not stop the rest",
    "workers/entries.py": "an entry that cannot be read becomes a dead letter",
}
LOG_CALLS = {"debug", "info", "warning", "error", "exception", "critical"}


def suppressions(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, what is suppressed, and the text after it."""
    for number, line in enumerate(source.text(path).splitlines(), 1):
        found = SUPPRESSION.search(line)
        if found:
            yield number, found[1].strip(), found[2].strip(" -—:#")


def test_every_suppressed_warning_has_its_reason() -> None:
    """On the line itself, or on an earlier line of the file that suppresses the same."""
    bare = []
    for path in source.python_files():
        explained: set[str] = set()
        for number, what, reason in suppressions(path):
            if reason:
                explained.add(what)
            elif what not in explained:
                bare.append(f"{path}:{number} {what}")
    assert bare == []


def imports_inside_functions(path: Path) -> Iterator[int]:
    for function in source.functions(path):
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield node.lineno


def test_imports_inside_functions_have_their_reason() -> None:
    bare = []
    for path in source.python_files():
        lines = source.text(path).splitlines()
        bare += [f"{path}:{n}" for n in imports_inside_functions(path) if "#" not in lines[n - 1]]
    assert bare == []


def is_broad(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(c is None or (isinstance(c, ast.Name) and c.id in {"Exception", "BaseException"}) for c in caught)


def answers_for_it(handler: ast.ExceptHandler) -> bool:
    """The handler logs, raises, or hands the error on to who asked."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise):
            return True
        called = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        if called in LOG_CALLS or called == "set_exception":
            return True
    return False


def broad_handlers(path: Path) -> Iterator[tuple[int, ast.ExceptHandler]]:
    """Handlers that catch everything and keep it; those that tidy up and raise it again are no matter."""
    for node in ast.walk(source.tree(path)):
        if isinstance(node, ast.ExceptHandler) and is_broad(node):
            last = node.body[-1]
            if not (isinstance(last, ast.Raise) and last.exc is None):
                yield node.lineno, node


def test_broad_excepts_stand_at_known_edges() -> None:
    elsewhere = [
        f"{path}:{line}"
        for path in source.python_files(*source.PACKAGES)
        for line, _ in broad_handlers(path)
        if str(path) not in EDGES
    ]
    assert elsewhere == []


def test_broad_excepts_log_or_raise_or_say_why_not() -> None:
    silent = []
    for path in source.python_files(*source.PACKAGES):
        explained = {number for number, what, reason in suppressions(path) if "BLE001" in what and reason}
        silent += [f"{path}:{n}" for n, h in broad_handlers(path) if n not in explained and not answers_for_it(h)]
    assert silent == []


def test_no_edge_outlives_its_broad_except() -> None:
    assert [path for path in EDGES if not list(broad_handlers(Path(path)))] == []


def test_nothing_is_suppressed_wholesale() -> None:
    wholesale = []
    for path in source.python_files(*source.PACKAGES):
        for name, call in source.calls(path):
            names = {a.id for a in call.args if isinstance(a, ast.Name)}
            if name == "suppress" and names & {"Exception", "BaseException"}:
                wholesale.append(f"{path}:{call.lineno}")
    assert wholesale == []


def test_nothing_is_left_for_later() -> None:
    marked = []
    for path in source.files():
        if path.suffix in {".py", ".sql", ".md", ".toml", ".yml", ".yaml", ""} and path.name != "LICENSE":
            for number, line in enumerate(source.text(path).splitlines(), 1):
                if LEFTOVER.search(line.partition("#")[2] if path.suffix == ".py" else line):
                    marked.append(f"{path}:{number}")
    assert marked == []


def test_no_function_is_a_stub() -> None:
    stubs = []
    for path in source.python_files(*source.PACKAGES):
        for name, call in source.calls(path):
            if name == "NotImplementedError":
                stubs.append(f"{path}:{call.lineno}")
    assert stubs == []


ERROR_TREES = [p for package in source.PACKAGES if (p := Path(package) / "errors.py") in source.files()]


@pytest.mark.parametrize("path", ERROR_TREES, ids=str)
def test_errors_are_one_tree_drawn_in_its_docstring(path: Path) -> None:
    module = source.tree(path)
    drawn = ast.get_docstring(module) or ""
    classes = [n.name for n in module.body if isinstance(n, ast.ClassDef)]
    assert [name for name in classes if name not in drawn] == []
