"""What a benchmark hands back: tables, written as Markdown by bench/run.py."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

Cell = str | int | float


@dataclass(frozen=True, slots=True)
class Table:
    """One table of figures: `title` is its heading, `note` what a reader must know to judge it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def markdown(self) -> str:
        """The table under a heading of level three."""
        lines = [f"### {self.title}", ""]
        lines.append("| " + " | ".join(self.columns) + " |")
        lines.append("|" + "---|" * len(self.columns))
        lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in self.rows]
        if self.note:
            lines += ["", self.note]
        return "\n".join(lines)


def save(tables: Iterable[Table], path: Path) -> None:
    """Writes tables as JSON, for the driver that started this benchmark in a process of its own."""
    plain = [{"title": t.title, "columns": t.columns, "rows": t.rows, "note": t.note} for t in tables]
    path.write_text(json.dumps(plain), encoding="utf-8")


def load(path: Path) -> list[Table]:
    """The tables that `save` wrote."""
    return [Table(**plain) for plain in json.loads(path.read_text(encoding="utf-8"))]


def _cell(value: Cell) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else value
