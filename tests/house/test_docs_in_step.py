"""What a user can set, call, type or meet in a log is in the docs, and the docs name nothing else."""

import ast
import re
from pathlib import Path

import click

import sidestream
from cli.main import main
from config.settings import Settings
from scripts import cli_reference, settings_table
from tests.house import source

LOG_CALLS = {"debug", "info", "warning", "error", "exception", "critical"}
LOG_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def test_the_settings_table_is_the_present_one() -> None:
    page = source.doc("configuration.md")
    assert settings_table.with_table(page) == page, "run .venv/bin/python scripts/settings_table.py"


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def log_events() -> dict[str, str]:
    """Name of every log event, with the place of one call that writes it."""
    found: dict[str, str] = {}
    for path in source.python_files(*source.PACKAGES):
        for name, call in source.calls(path):
            if name in LOG_CALLS and isinstance(call.func, ast.Attribute) and is_logger(call.func.value):
                event = call.args[0] if call.args else None
                literal = event.value if isinstance(event, ast.Constant) and isinstance(event.value, str) else "?"
                found[literal] = f"{path}:{call.lineno}"
    return found


def is_logger(value: ast.expr) -> bool:
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return name.lstrip("_") in {"log", "logger"}


def test_log_events_are_named_by_snake_case_literals() -> None:
    assert {n: place for n, place in log_events().items() if not LOG_NAME.fullmatch(n)} == {}


def documented(section: str) -> set[str]:
    """First cells, in code marks, of the tables under one heading of docs/operations.md."""
    page = source.doc("operations.md")
    part = page.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([^`]+)`", part, re.MULTILINE))


def test_log_events_are_the_documented_ones() -> None:
    known, written = documented("Log events"), log_events()
    assert {n: place for n, place in written.items() if n not in known} == {}
    assert known - set(written) == set()


def counters() -> set[str]:
    """A pattern for every counter that the code bumps; the parts of a name that vary match one name."""
    patterns = set()
    for path in source.python_files(*source.PACKAGES):
        for name, call in source.calls(path):
            if name == "bump":
                patterns |= {pattern for a in call.args if (pattern := name_pattern(a))}
    return patterns


def name_pattern(argument: ast.expr) -> str:
    parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    if not any(isinstance(p, ast.Constant) and isinstance(p.value, str) for p in parts):
        return ""
    return "".join(re.escape(str(p.value)) if isinstance(p, ast.Constant) else "[a-z0-9_]+" for p in parts)


def test_counters_are_the_documented_ones() -> None:
    known, patterns = documented("Counters"), counters()
    assert {n for n in known if not any(re.fullmatch(p, n) for p in patterns)} == set()
    assert {p for p in patterns if not any(re.fullmatch(p, n) for n in known)} == set()


def test_the_reference_of_commands_is_the_present_one() -> None:
    page = source.doc("cli.md")
    assert cli_reference.with_reference(page) == page, "run .venv/bin/python scripts/cli_reference.py"


def test_every_option_says_what_it_is() -> None:
    bare = [
        f"{name} {parameter.name}"
        for name, command in cli_reference.commands(main)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert bare == []


def test_the_docs_name_no_other_command() -> None:
    known = {name.split()[1] for name, _ in cli_reference.commands(main)}
    named = set(re.findall(r"`(?:\.venv/bin/)?sidestream ([a-z][a-z-]*)", source.docs()))
    assert named - known == set()


def make_targets() -> set[str]:
    return set(re.findall(r"^\.PHONY: ([a-z-]+)$", source.text(Path("Makefile")), re.MULTILINE))


def test_every_make_target_is_in_the_readme() -> None:
    readme = source.text(Path("README.md"))
    assert {t for t in make_targets() if f"make {t}" not in readme} == set()


def test_the_docs_name_no_other_make_target() -> None:
    named = set(re.findall(r"`make ([a-z-]+)[` ]", source.docs()))
    assert named - make_targets() == set()


def test_every_public_name_is_documented() -> None:
    pages = source.docs()
    assert [n for n in sidestream.__all__ if not re.search(rf"\b{re.escape(n)}\b", pages)] == []


def test_the_docs_name_no_other_setting() -> None:
    known = {f"SIDESTREAM_{name.upper()}" for name in Settings.model_fields}
    known |= {"SIDESTREAM_CONFIG", "SIDESTREAM_BENCH_DATA"}
    named = set(re.findall(r"SIDESTREAM_[A-Z0-9_]*[A-Z0-9]", source.docs()))
    assert {n for n in named - known if not n.startswith("SIDESTREAM_TEST_")} == set()
