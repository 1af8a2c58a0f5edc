"""Files and functions stay small enough to be read at one sitting."""

from pathlib import Path

from tests.house import source

SOFT_LINES = 300
HARD_LINES = 400
FUNCTION_LINES = 50

# Files between the soft and the hard limit, each with the reason why it is not two files.
LONGER: dict[str, str] = {}


def lines(path: Path) -> int:
    return len(source.text(path).splitlines())


def test_no_file_is_over_the_hard_limit() -> None:
    assert {str(p): lines(p) for p in source.python_files() if lines(p) > HARD_LINES} == {}


def test_files_over_the_soft_limit_have_a_reason() -> None:
    assert {str(p): lines(p) for p in source.python_files() if lines(p) > SOFT_LINES and str(p) not in LONGER} == {}


def test_no_reason_outlives_its_file() -> None:
    long = {str(p) for p in source.python_files() if lines(p) > SOFT_LINES}
    assert set(LONGER) - long == set()


def test_functions_are_short() -> None:
    long = {}
    for path in source.python_files():
        for node in source.functions(path):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                long[f"{path}:{node.lineno} {node.name}"] = length
    assert long == {}
