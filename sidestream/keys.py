"""Names of the Redis keys. The only place that spells one."""

from dataclasses import dataclass

GROUP = "memory"
DEFAULT_PREFIX = "sidestream:"


@dataclass(frozen=True, slots=True)
class Keys:
    """Redis key names under one prefix (it ends with its own separator, `sidestream:` by default)."""

    prefix: str = DEFAULT_PREFIX

    @property
    def events(self) -> str:
        """Stream of all events, read by consumer group `memory`."""
        return f"{self.prefix}events"

    def tail(self, namespace: str, session_id: str) -> str:
        """Stream of one session's messages not committed to SQLite yet; same entry ids as `events`."""
        return f"{self.prefix}tail:{len(namespace)}:{namespace}:{session_id}"

    def owner(self, namespace: str, session_id: str) -> str:
        """String `own <user>` or `shared <user>`: whose the session became by its first event; has a TTL."""
        return f"{self.prefix}owner:{len(namespace)}:{namespace}:{session_id}"

    def receipt(self, namespace: str, event_id: str) -> str:
        """String `<entry id> <digest>` that says an event was accepted; has a TTL."""
        return f"{self.prefix}receipt:{len(namespace)}:{namespace}:{event_id}"

    def nudge(self, kind: str) -> str:
        """String with a TTL: a task that drains jobs of this kind has been sent and not started yet."""
        return f"{self.prefix}nudge:{kind}"

    @property
    def read_counts(self) -> str:
        """Hash of what readers counted and no worker has folded into SQLite yet."""
        return f"{self.prefix}reads"

    @property
    def read_counts_folding(self) -> str:
        """The part of it that a worker is folding in, with its batch number."""
        return f"{self.prefix}reads:folding"

    def query_embedding(self, space: str, digest: str) -> str:
        """Bytes (float32, little-endian) of one query's embedding; has a TTL."""
        return f"{self.prefix}qe:{space}:{digest}"

    def alive(self, role: str) -> str:
        """Hash, process to JSON `{"at": unix seconds, "trouble": text or null}`: its last heartbeat; has a TTL."""
        return f"{self.prefix}alive:{role}"
