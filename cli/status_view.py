"""The status as a person reads it."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from cli.status import Report

_WIDTH = 14


def show(report: Report, console: Console) -> None:
    """Prints the whole report."""
    for name, text in _lines(report):
        console.print(f"[bold]{escape(name):<{_WIDTH}}[/] {text}", soft_wrap=True)


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    redis, database, spool = report["redis"], report["database"], report["spool"]
    yield "redis", _good("ok") if redis["ok"] else _bad(redis["error"])
    for warning in redis.get("warnings", ()):
        yield "", f"[yellow]{escape(warning)}[/]"
    if redis["ok"]:
        stream = report["stream"]
        yield "hot", _tier(report["hot"])
        yield "stream", f"{stream['length']} events waiting, {stream['pending']} of them being read"
        for role, state in report["workers"].items():
            yield f"  {role}", _worker(state)
    yield (
        "database",
        _good(f"ok, schema {database['schema']}, {_size(database['bytes'])}, {database['path']}")
        if database["ok"]
        else _bad(database["error"]),
    )
    if database["ok"]:
        yield "warm", _tier(database["warm"])
        yield "cold", _tier(database["cold"])
        yield from _work(database)
    if spool["files"]:
        yield "spool", f"[yellow]{spool['files']} files, {_size(spool['bytes'])} wait for Redis[/]"
    yield from _models(report["models"])


def _work(database: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not database["vectors"]:
        yield "vectors", "[yellow]sqlite-vec is not there: search goes by words alone[/]"
    if (change := database["reembedding"]) is not None:
        text = f"{change['done']} of {change['total']} embedded by {change['new']}; {change['old']} serves until then"
        yield "new model", f"[yellow]{escape(text)}[/]"
    for kind, states in sorted(database["jobs"].items()):
        yield f"  {kind}", ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    age = database["oldest_due_seconds"]
    yield "oldest job", "nothing is due" if age is None else f"due for {age:.0f} s"
    dead = database["dead_letters"]
    yield "dead letters", _good("none") if not dead else _bad(f"{dead}; see `sidestream dead list`")
    for name, value in sorted(database["counters"].items()):
        yield f"  {name}", str(value)


def _tier(counts: Mapping[str, int]) -> str:
    parts = [f"{count} {name}" for name, count in counts.items() if name != "bytes"]
    return escape(", ".join([*parts, _size(counts["bytes"])]))


def _models(models: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "error" in models:
        yield "models", _bad(models["error"])
        return
    for use, model in models.items():
        yield use, escape(f"{model['provider']} {model['model'] or ''}".strip())


def _worker(state: Mapping[str, Any]) -> str:
    processes = state["processes"]
    alive = sum(process["alive"] for process in processes)
    some = f", {alive} of {len(processes)} processes" if len(processes) > 1 else ""
    if state["alive"]:
        text = f"alive, {state['age']:.0f} s ago{some}"
        return _good(text) if alive == len(processes) else f"[yellow]{escape(text)}[/]"
    return _bad(state["trouble"] or "no heartbeat")


def _good(text: str) -> str:
    return f"[green]{escape(text)}[/]"


def _bad(text: str) -> str:
    return f"[red]{escape(text)}[/]"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
