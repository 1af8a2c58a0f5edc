"""Existing chats as events on the stream: what a file holds, and publishing it batch by batch."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from memory.chats import parse_chats
from memory.records import BadLine
from sidestream.aio import AsyncPublisher
from sidestream.errors import InvalidEvent
from sidestream.events import AnyEvent, Message, check_time

BATCH = 200


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A file to import. `source` names it in ids; `user_id` is whose chats they are where it does not say.

    `now` is when it is read: events that lie ahead of it are as bad as lines that cannot be read.
    """

    path: Path
    source: str
    user_id: str | None
    namespace: str
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def items(self) -> Iterator[tuple[int, AnyEvent | BadLine]]:
        """Its events, and what cannot be read of it, each with its line."""
        # What is not UTF-8 is kept as it is and refused by the event that it ends up in, with its line.
        with self.path.open(encoding="utf-8", errors="surrogateescape") as lines:
            for line, item in parse_chats(lines, source=self.source, user_id=self.user_id, namespace=self.namespace):
                yield line, self._timely(line, item)

    def events(self) -> Iterator[AnyEvent]:
        """Its events alone."""
        return (item for _, item in self.items() if not isinstance(item, BadLine))

    def _timely(self, line: int, item: AnyEvent | BadLine) -> AnyEvent | BadLine:
        if isinstance(item, BadLine) or item.ts is None:
            return item
        try:
            check_time(item.ts, self.now)
        except InvalidEvent as error:
            return BadLine(line, str(error))
        return item


@dataclass(slots=True)
class Contents:
    """What a file holds."""

    events: int = 0
    messages: int = 0
    bad: list[BadLine] = field(default_factory=list)


def scan(file: ChatFile) -> Contents:
    """Reads a file without publishing anything."""
    found = Contents()
    for _, item in file.items():
        if isinstance(item, BadLine):
            found.bad.append(item)
        else:
            found.events += 1
            found.messages += isinstance(item, Message)
    return found


async def publish(
    events: Iterator[AnyEvent],
    publisher: AsyncPublisher,
    room: Callable[[int], Awaitable[None]],
    accepted: Callable[[int], None],
) -> None:
    """Publishes all events in order. `room` waits until so many fit; `accepted` is told how many were taken.

    Raises:
        PublishError: a batch was not taken; those before it were.
    """
    while batch := list(islice(events, BATCH)):
        await room(len(batch))
        await publisher.publish_many(batch)
        accepted(len(batch))


def name_sources(paths: Sequence[Path], source: str | None) -> dict[Path, str]:
    """What each file is called in ids: its own name without the ending, or the given one.

    Raises:
        ValueError: two files would get the same name, and their sessions would become one.
    """
    names: dict[Path, str] = {}
    for path in paths:
        name = source or path.stem
        if name in names.values():
            raise ValueError(f"two files would both be called {name!r}; import them one by one, each with its --source")
        names[path] = name
    return names
