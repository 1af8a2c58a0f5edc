"""The stream as the consumer reads it; over fake and real servers."""

from typing import Any

import pytest

from sidestream.keys import GROUP
from tests.contract.conftest import Backend
from workers.stream import EventStream


def stream_of(backend: Backend, consumer: str) -> EventStream:
    stream = EventStream(backend.look, backend.keys, consumer, batch=2)
    stream.ensure_group()
    return stream


def consumers(backend: Backend) -> set[str]:
    infos: Any = backend.look.xinfo_consumers(backend.keys.events, GROUP)
    return {info["name"].decode() for info in infos}


def test_idle_consumers_are_dropped_and_busy_ones_stay(backend: Backend) -> None:
    mine, idle, busy = (stream_of(backend, name) for name in ("mine", "idle", "busy"))
    for stream in (mine, idle, busy):
        backend.look.xadd(backend.keys.events, {"a": "b"})
        read = stream.read(0)
        if stream is not busy:
            stream.acknowledge(read.entries, {})
    assert mine.drop_other_consumers() == 1
    assert consumers(backend) == {"mine", "busy"}


def test_a_consumer_that_reads_while_it_is_dropped_strands_nothing(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped consumer may wake up between any two commands of another one."""
    mine, stale = stream_of(backend, "mine"), stream_of(backend, "stale")
    backend.look.xgroup_createconsumer(backend.keys.events, GROUP, "stale")
    for _ in range(20):
        backend.look.xadd(backend.keys.events, {"a": "b"})
    command: Any = backend.look.execute_command

    def and_stale_reads(*args: Any, **options: Any) -> Any:
        reply = command(*args, **options)
        stale.read(0)
        return reply

    with monkeypatch.context() as patch:
        patch.setattr(backend.look, "execute_command", and_stale_reads)
        mine.drop_other_consumers()
    claimed = sum(len(entries) for entries in mine.claim_pending())
    while entries := mine.read(0).entries:
        claimed += len(entries)
    assert claimed == 20


def test_entries_that_nobody_has_are_new_again(backend: Backend) -> None:
    """A consumer was deleted with what it had read, or another one reads at this very moment: nothing is left out, and
    what both have is one's own in the end."""
    mine, other = stream_of(backend, "mine"), stream_of(backend, "other")
    for _ in range(4):
        backend.look.xadd(backend.keys.events, {"a": "b"})
    other.read(0)
    backend.look.xgroup_delconsumer(backend.keys.events, GROUP, "other")
    other.read(0)
    assert mine.read(0).entries == []
    mine.rewind()
    first = mine.read(0)
    second = mine.read(0, held=2)
    assert len(first.entries) == len(second.entries) == 2 and not second.gap
    mine.acknowledge([*first.entries, *second.entries], {})
    assert backend.look.xpending(backend.keys.events, GROUP)["pending"] == 0


def test_reads_adapt_to_the_size_of_what_they_get(backend: Backend) -> None:
    stream = EventStream(backend.look, backend.keys, "mine", batch=1_000)
    stream.ensure_group()
    for _ in range(60):
        backend.look.xadd(backend.keys.events, {"content": "x" * 1_000_000})
    assert len(stream.read(0).entries) == 50
    assert stream.count == 16
