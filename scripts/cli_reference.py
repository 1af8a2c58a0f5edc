"""Writes the reference of commands in docs/cli.md from the commands themselves.

.venv/bin/python scripts/cli_reference.py
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from cli.main import main

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
BEGIN = "<!-- commands: written by scripts/cli_reference.py -->"
END = "<!-- end of commands -->"


def commands(command: click.Command, path: tuple[str, ...] = ("sidestream",)) -> Iterator[tuple[str, click.Command]]:
    """Every command that can be run, by its full name, in the order of the help."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    for name, inner in command.commands.items():
        yield from commands(inner, (*path, name))


def reference() -> str:
    """All commands as Markdown."""
    return "\n\n".join(_section(name, command) for name, command in commands(main))


def with_reference(page: str) -> str:
    """The page with its reference replaced by the present one."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


def _section(name: str, command: click.Command) -> str:
    arguments = [_argument(p) for p in command.params if isinstance(p, click.Argument)]
    parts = [f"### `{' '.join([name, *arguments])}`", inspect.cleandoc(command.help or "")]
    options = [_option(p) for p in command.params if isinstance(p, click.Option) and not p.hidden]
    if options:
        parts.append("\n".join(["| option | meaning |", "|---|---|", *options]))
    return "\n\n".join(parts)


def _argument(parameter: click.Argument) -> str:
    name = (parameter.name or "").upper()
    many = "..." if parameter.nargs == -1 else ""
    return f"{name}{many}" if parameter.required else f"[{name}{many}]"


def _option(parameter: click.Option) -> str:
    name = ", ".join(f"`{o}`" for o in parameter.opts)
    if isinstance(parameter.type, click.Choice):
        name += " " + " / ".join(str(choice) for choice in parameter.type.choices)
    elif not parameter.is_flag:
        name += f" {parameter.type.name}"
    default = f" Default: {parameter.default}." if parameter.show_default and not parameter.is_flag else ""
    return f"| {name} | {parameter.help or ''}{default} |"


if __name__ == "__main__":
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE.name}: {len(list(commands(main)))} commands")
