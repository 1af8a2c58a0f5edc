"""Erases a person from Redis: pending events, tails, receipts, cached queries, and the append-only file.

XDEL only marks an entry as deleted: its text stays in memory, and in the append-only file even after that was written
anew, for as long as an entry beside it in the same node of the stream lives. So every stream is made anew, with the
entries that stay under their own ids. Its group then begins at the first entry; what the consumer has stored already
is a repeat, and what it had pending is delivered again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import redis

from sidestream.keys import GROUP, Keys
from store.erase_rows import Person
from store.errors import StoreUnavailable

_PAGE = 500
_REWRITE = 120.0
_DEFAULT_USER = "default"
_ANEW = """
local entries = redis.call('XRANGE', KEYS[1], '-', '+')
local info = redis.call('XINFO', 'STREAM', KEYS[1])
local last
for i = 1, #info, 2 do
  if info[i] == 'last-generated-id' then last = info[i + 1] end
end
local ttl = redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
for _, entry in ipairs(entries) do
  redis.call('XADD', KEYS[1], entry[1], unpack(entry[2]))
end
if ARGV[1] ~= '' then
  redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('XSETID', KEYS[1], last)
  if ttl > 0 then redis.call('PEXPIRE', KEYS[1], ttl) end
end
return #entries
"""


class RedisEraser:
    """Erases `person` from one Redis. What came later than `at` (unix seconds) stays."""

    def __init__(self, client: "redis.Redis", keys: Keys, person: Person, at: float) -> None:
        self._client: Any = client
        self._keys = keys
        self._person = person
        self._at = at
        self.counts: Counter[str] = Counter()

    def run(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Everything; the append-only file is written anew, since what was deleted still stands in it.

        Raises:
            redis.RedisError: Redis is away.
            StoreUnavailable: its file could not be written anew.
        """
        self._events()
        self._tails()
        receipts = [self._keys.receipt(self._person.namespace, i) for i in sorted(self._person.event_ids)]
        for start in range(0, len(receipts), _PAGE):
            self.counts["receipts"] += self._client.delete(*receipts[start : start + _PAGE])
        self._owners()
        # A query's key is a digest: nobody can tell whose it was.
        for key in self._client.scan_iter(match=self._pattern(self._keys.query_embedding("", "")[:-1]), count=_PAGE):
            self.counts["cached_queries"] += self._client.delete(key)
        self._rewrite(sleep)

    def _events(self) -> None:
        for entry_id, fields in self._entries(self._keys.events):
            if self._is_theirs(entry_id, fields):
                self._client.xack(self._keys.events, GROUP, entry_id)
                self._client.xdel(self._keys.events, entry_id)
                self.counts["pending_events"] += 1
        if self._client.exists(self._keys.events):
            self._client.eval(_ANEW, 1, self._keys.events, GROUP)

    def _tails(self) -> None:
        prefix = self._keys.tail("", "").removesuffix("0::")
        for key in list(self._client.scan_iter(match=self._pattern(prefix), count=_PAGE)):
            theirs = [entry_id for entry_id, fields in self._entries(key) if self._is_theirs(entry_id, fields)]
            if theirs:
                self.counts["tail_entries"] += self._client.xdel(key, *theirs)
            self._client.eval(_ANEW, 1, key, "")

    def _owners(self) -> None:
        """Keys that say whose a session is, before it is stored and after."""
        namespace, user = self._person.namespace, self._person.user_id.encode("utf-8", "surrogatepass")
        mine = {self._keys.owner(namespace, session_id).encode() for session_id in self._person.session_ids}
        for key in list(self._client.scan_iter(match=self._pattern(self._keys.owner(namespace, "")), count=_PAGE)):
            if key in mine or (self._client.get(key) or b"").partition(b" ")[2] == user:
                self.counts["session_owners"] += self._client.delete(key)

    def _entries(self, key: Any) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
        after = b"-"
        while True:
            page = self._client.xrange(key, min=after, count=_PAGE)
            yield from page
            if len(page) < _PAGE:
                return
            after = b"(" + page[-1][0]

    def _is_theirs(self, entry_id: bytes, fields: dict[bytes, bytes]) -> bool:
        if int(entry_id.partition(b"-")[0]) / 1000 > self._at:
            return False
        person = self._person
        if (fields.get(b"namespace") or b"default").decode("utf-8", "replace") != person.namespace:
            return False
        session = fields.get(b"session_id", b"").decode("utf-8", "replace")
        user = fields.get(b"user_id")
        theirs = session in person.session_ids if not user else user.decode("utf-8", "replace") == person.user_id
        if theirs or (not user and person.user_id == _DEFAULT_USER):
            person.session_ids.add(session)
            person.event_ids.add((fields.get(b"id") or entry_id).decode("utf-8", "replace"))
            person.said(fields.get(b"content", b"").decode("utf-8", "replace"))
            return True
        return False

    def _rewrite(self, sleep: Callable[[float], None]) -> None:
        if int(self._client.info("persistence").get("aof_enabled", 0)):
            self._write(
                "append-only file", self._client.bgrewriteaof, ("aof_rewrite_", "aof_last_bgrewrite_status"), sleep
            )
            self.counts["append_only_files_rewritten"] += 1
        if self._saves_snapshots():
            self._write("snapshot", self._client.bgsave, ("rdb_bgsave_", "rdb_last_bgsave_status"), sleep)
            self.counts["snapshots_rewritten"] += 1

    def _saves_snapshots(self) -> bool:
        """A snapshot that was saved before still holds what was deleted, until the next one takes its place."""
        try:
            return bool(self._client.config_get("save").get("save"))
        except redis.ResponseError:  # a hosted Redis lets nobody see or write its files
            return False

    def _write(
        self, what: str, begin: Callable[[], object], names: tuple[str, str], sleep: Callable[[float], None]
    ) -> None:
        prefix, status = names
        end = time.monotonic() + _REWRITE
        begun = False
        while True:
            info = self._client.info("persistence")
            busy = any(int(info.get(f"{prefix}{name}", 0)) for name in ("in_progress", "scheduled"))
            if begun and not busy:
                break
            if not busy:
                begun = self._begin(begin)
            if time.monotonic() > end:
                raise StoreUnavailable(f"Redis did not write its {what} anew within {_REWRITE:.0f} s")
            sleep(0.05)
        if info[status] != "ok":
            raise StoreUnavailable(f"Redis could not write its {what} anew; see its log")

    @staticmethod
    def _begin(begin: Callable[[], object]) -> bool:
        """False where Redis is still writing the one from before the deletion: it may hold what was deleted."""
        try:
            begin()
        except redis.ResponseError as error:
            if "in progress" not in str(error):
                raise
            return False
        return True

    @staticmethod
    def _pattern(prefix: str) -> str:
        escaped = "".join(f"\\{c}" if c in "*?[]\\^-" else c for c in prefix)
        return f"{escaped}*"
