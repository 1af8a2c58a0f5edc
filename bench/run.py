"""Runs the benchmarks, each in a process of its own, and writes their tables into docs/benchmarks.md.

.venv/bin/python -m bench.run [--full] [--only NAME]... [--print]
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.table import Table, load

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
BENCHES = ("ingest", "writers", "recall", "weights", "facts", "quality", "year")
LIMIT = 6 * 3_600.0
"""Longest time of one benchmark, seconds: the embedded model reads all of the data sets."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when every benchmark ran."""
    parser = argparse.ArgumentParser(prog="bench.run", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the long form, whose figures are published")
    parser.add_argument("--only", action="append", choices=BENCHES, help="run this one; can be given again")
    parser.add_argument("--print", action="store_true", dest="show", help="leave the page as it is")
    options = parser.parse_args(argv)
    failed = []
    for name in options.only or BENCHES:
        tables = measure(name, full=options.full)
        if tables is None:
            failed.append(name)
            continue
        text = section(name, tables, full=options.full)
        print(f"\n{text}\n", flush=True)
        if not options.show:
            PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def measure(name: str, *, full: bool) -> list[Table] | None:
    """The tables of one benchmark, or None when it failed; its progress goes to stderr."""
    print(f"==> {command(name, full=full)}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "tables.json"
        run = [sys.executable, "-m", f"bench.{name}", "--json", str(result), *(["--full"] if full else [])]
        try:
            done = subprocess.run(run, cwd=ROOT, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            print(f"bench.{name}: stopped after {LIMIT:.0f} s", file=sys.stderr)
            return None
        return load(result) if done.returncode == 0 and result.exists() else None


def command(name: str, *, full: bool) -> str:
    """What a reader types to get the same tables."""
    return f"make bench ARGS='--only {name}{' --full' if full else ''}'"


def section(name: str, tables: Sequence[Table], *, full: bool) -> str:
    """The tables with the command that made them, the day and the machine."""
    made = f"`{command(name, full=full)}`, {time.strftime('%Y-%m-%d', time.gmtime())}, {machine()}."
    return "\n\n".join([made, *(table.markdown() for table in tables)])


def machine() -> str:
    """Cores, kind and Python of the machine, without its name."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def with_section(page: str, name: str, text: str) -> str:
    """The page with one benchmark's part replaced.

    Raises:
        ValueError: the page has no place for this benchmark.
    """
    begin, end = f"<!-- bench:{name} -->", f"<!-- end bench:{name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"{PAGE} has no {begin} ... {end}")
    return pattern.sub(lambda _: f"{begin}\n{text}\n{end}", page)


if __name__ == "__main__":
    sys.exit(main())
