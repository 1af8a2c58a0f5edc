"""The event stream as the consumer sees it: read, claim what was pending, acknowledge. Knows nothing of
SQLite.

Who may read is decided by the lease in SQLite, so a consumer that was stopped and wakes up may still read
for a moment. It cannot commit what it read, but what it read is pending in its name; every read therefore
also asks how much is pending in all, and says `gap` when that is more than this batch: then the caller
claims everything again, in order, before it goes on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import redis
from redis.exceptions import ResponseError

from sidestream.keys import GROUP, Keys

# Acknowledges and deletes in one step, so that an entry is never gone from the stream and pending, or the
# reverse. ARGV: group, number of ids, ids; then for each tail key (KEYS[2..]) the number of its ids, its
# ids.
_ACKNOWLEDGE = """
local at = 3
local function take(n)
    local ids = {}
    for i = 1, n do ids[i] = ARGV[at]; at = at + 1 end
    return ids
end
local function chunks(ids, fn)
    for first = 1, #ids, 1000 do fn(unpack(ids, first, math.min(first + 999, #ids))) end
end
local ids = take(tonumber(ARGV[2]))
chunks(ids, function(...) redis.call('XACK', KEYS[1], ARGV[1], ...) end)
chunks(ids, function(...) redis.call('XDEL', KEYS[1], ...) end)
for i = 2, #KEYS do
    local n = tonumber(ARGV[at]); at = at + 1
    chunks(take(n), function(...) redis.call('XDEL', KEYS[i], ...) end)
    if redis.call('XLEN', KEYS[i]) == 0 then redis.call('DEL', KEYS[i]) end
end
return #ids
"""
# Removes the group's idle consumers but one. In one step: entries that a consumer reads between the look at it and its
# removal would be neither pending nor new, so that nobody would ever read them. ARGV: group, the one that stays.
_DROP_OTHERS = """
local gone = 0
for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
    local consumer = {}
    for i = 1, #info, 2 do consumer[info[i]] = info[i + 1] end
    if consumer.name ~= ARGV[2] and consumer.pending == 0 then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
        gone = gone + 1
    end
end
return gone
"""
# Reads adapt to the size of what they get: a batch of 500 entries of 1 MiB each would be half a gigabyte.
_TARGET_BYTES = 16 * 1024 * 1024
# The first read knows nothing of their size yet. A process that died of too much memory must not do so again at once.
_FIRST = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """One stream entry as it came: its id and its flat fields."""

    id: str
    fields: dict[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Read:
    """What a read brought, and whether entries are pending that it did not bring."""

    entries: list[Entry]
    gap: bool


class EventStream:
    """The stream `Keys.events` for one named consumer of the group. Raises redis-py's errors as they are."""

    def __init__(self, client: redis.Redis, keys: Keys, consumer: str, batch: int) -> None:
        self._redis = client
        self._keys = keys
        self._consumer = consumer
        self._batch = batch
        self._mean_size = 0.0
        self._drop_others = client.register_script(_DROP_OTHERS)

    @property
    def count(self) -> int:
        """How many entries the next read asks for."""
        if not self._mean_size:
            return min(self._batch, _FIRST)
        return max(1, min(self._batch, int(_TARGET_BYTES / self._mean_size)))

    def ensure_group(self) -> None:
        """Creates stream and group where they are missing; the group starts with the oldest entry."""
        try:
            self._redis.xgroup_create(self._keys.events, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def claim_pending(self) -> Iterator[list[Entry]]:
        """Everything that is pending, whoever read it, in id order and in batches; now this consumer's.

        Each batch must be acknowledged, or left, before the next is asked for.
        """
        cursor = "0-0"
        while True:
            reply = self._redis.xautoclaim(
                self._keys.events, GROUP, self._consumer, min_idle_time=0, start_id=cursor, count=self.count
            )
            # Entries that were deleted while pending have left the pending list by this very command.
            entries = self._entries(reply[1])
            if entries:
                yield entries
            cursor = _text(reply[0])
            if cursor == "0-0":
                return

    def rewind(self) -> None:
        """Makes new again what stands in the stream and is pending with nobody, as after a consumer was
        deleted by hand: all that was stored has left the stream."""
        self._redis.xgroup_setid(self._keys.events, GROUP, "0")

    def read(self, block: float, *, held: int = 0) -> Read:
        """New entries, oldest first, after waiting up to `block` seconds (0: not at all) for the first.
        `held` entries are in the caller's hands and not acknowledged."""
        pipe = self._redis.pipeline(transaction=False)
        self._add_read(pipe, block)
        return self._read(pipe.execute(), held)

    def acknowledge_and_read(self, done: Sequence[Entry], tails: dict[str, list[str]], *, held: int = 0) -> Read:
        """Acknowledges and deletes `done`, drops `tails` (key to entry ids), and reads on without waiting."""
        pipe = self._redis.pipeline(transaction=False)
        self._add_acknowledge(pipe, done, tails)
        self._add_read(pipe, 0)
        return self._read(pipe.execute()[1:], held)

    def acknowledge(self, done: Sequence[Entry], tails: dict[str, list[str]]) -> None:
        """Acknowledges and deletes `done`, and drops `tails` (key to entry ids)."""
        pipe = self._redis.pipeline(transaction=False)
        self._add_acknowledge(pipe, done, tails)
        pipe.execute()

    def drop_other_consumers(self) -> int:
        """Removes every other consumer of the group that has nothing pending; how many went."""
        return int(self._drop_others(keys=[self._keys.events], args=[GROUP, self._consumer]))

    def _add_acknowledge(self, pipe: Any, done: Sequence[Entry], tails: dict[str, list[str]]) -> None:
        args: list[str | int] = [GROUP, len(done), *(entry.id for entry in done)]
        for ids in tails.values():
            args += [len(ids), *ids]
        # The text and not its hash: a pipeline asks for each hash first whether the server knows it.
        pipe.execute_command("EVAL", _ACKNOWLEDGE, 1 + len(tails), self._keys.events, *tails, *args)

    def _add_read(self, pipe: Any, block: float) -> None:
        wait = max(1, int(block * 1000)) if block > 0 else None
        pipe.xreadgroup(GROUP, self._consumer, {self._keys.events: ">"}, count=self.count, block=wait)
        pipe.xpending(self._keys.events, GROUP)

    def _read(self, replies: list[Any], held: int) -> Read:
        streams, pending = replies
        entries = self._entries(_only_stream(streams))
        return Read(entries, gap=int(pending["pending"]) > held + len(entries))

    def _entries(self, pairs: list[tuple[bytes, dict[bytes, bytes]]]) -> list[Entry]:
        entries = [Entry(_text(entry_id), fields) for entry_id, fields in pairs if fields]
        if entries:
            size = sum(len(value) for entry in entries for value in entry.fields.values()) / len(entries)
            self._mean_size = size if size > self._mean_size else 0.9 * self._mean_size + 0.1 * size
        return entries


def stored_until(client: redis.Redis, keys: Keys, now: float) -> float:
    """The time, unix seconds, up to which all that was published is stored: `now` where nothing waits."""
    oldest: Any = client.xrange(keys.events, count=1)
    return min(now, entry_time(_text(oldest[0][0]))) if oldest else now


def entry_time(entry_id: str) -> float:
    """When Redis took the entry, unix seconds: its id starts with milliseconds."""
    return int(entry_id.partition("-")[0]) / 1000


def _only_stream(streams: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """The entries of the one stream that was asked for; redis-py gives a list (RESP2) or a mapping
    (RESP3)."""
    if not streams:
        return []
    if isinstance(streams, dict):
        (batches,) = streams.values()
        return [pair for batch in batches for pair in batch]
    return cast("list[tuple[bytes, dict[bytes, bytes]]]", streams[0][1])


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
