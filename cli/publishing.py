"""Puts events onto the stream for commands."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from cli.environment import redis_url
from cli.errors import CliError, Unavailable
from config.settings import Settings
from sidestream.aio import AsyncPublisher
from sidestream.keys import Keys
from store.dead_letters import DeadLetter
from store.redis_client import REDIS_ERRORS, connect

PATIENT = 10.0
"""Seconds that a batch may take: an import has time where a reply has none."""


def republish(found: Settings, url: str, letter: DeadLetter) -> str:
    """Adds a dead letter's event to the stream as it was, with the id and time that it had; its new entry id.

    Raises:
        Unavailable: Redis does not answer.
        CliError: the letter's fields are not those of the entry any more, or there are none.
    """
    altered = letter.body.get("altered")
    if isinstance(altered, list):
        raise CliError(
            f"dead letter {letter.id} cannot be replayed: {', '.join(altered)} could not be kept as it came; "
            "publish the event again"
        )
    fields = {name: value for name, value in letter.body.items() if isinstance(value, str)}
    if not fields:
        raise CliError(f"dead letter {letter.id} has no fields left")
    fields.setdefault("id", letter.event_id or letter.ref)
    milliseconds = letter.ref.partition("-")[0]
    if milliseconds.isdigit():
        at = datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
        fields.setdefault("ts", at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    client = connect(url)
    try:
        return client.xadd(Keys(found.redis_prefix).events, fields).decode()  # type: ignore[union-attr, arg-type] # redis types both its clients at once
    except REDIS_ERRORS as error:
        raise Unavailable(f"Redis does not answer: {error}") from error
    finally:
        client.close()


@asynccontextmanager
async def open_publisher(found: Settings) -> AsyncIterator[AsyncPublisher]:
    """A publisher without a spool: a command that cannot reach Redis says so, and can be repeated."""
    publisher = AsyncPublisher(
        redis_url(found),
        prefix=found.redis_prefix,
        spool_dir=None,
        timeout=PATIENT,
        tail_ttl=found.tail_ttl,
        tail_max=found.tail_max,
        receipt_ttl=found.receipt_ttl,
    )
    try:
        yield publisher
    finally:
        await publisher.close()
