"""The read side in one object: search, context, and how far an event has come. It never writes to SQLite."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.budget import plan
from memory.filters import EVERYTHING, Filter
from memory.tokens import Corrector
from memory.types import Degraded, Kind, Scope, StoredMessage
from recall.context_builder import Parts, build, parts_without_store, read_parts, wanted_by_query
from recall.database import ReadDatabase
from recall.meaning_arm import QuerySpace
from recall.options import RecallOptions
from recall.query_embedding import QueryEmbedder
from recall.query_spaces import SpaceEmbedder
from recall.results import ContextResult, EventStatus, Lag, SearchResult
from recall.search import SEARCHED, TOLD, Query, search_store, search_tail
from recall.tail import TailRead, TailReader, Whose
from recall.tally import Tally, levels
from recall.troubles import Troubles
from recall.window import not_stored, weave
from sidestream.keys import Keys
from store import sessions
from store.db import Database
from store.errors import StoreError
from store.events import State, event_state
from store.health import lag as store_lag
from store.redis_client import REDIS_ERRORS, AsyncRedis
from store.tail import receipt

_POLL_FIRST, _POLL_LONGEST = 0.002, 0.1
_PROGRESS: tuple[State, ...] = ("accepted", "stored", "embedded", "summarised")


class Reader:
    """Reads memory for one event loop. What is away makes answers poorer, with a note, and is no error."""

    def __init__(
        self,
        db: ReadDatabase,
        client: AsyncRedis | None,
        embedder: QueryEmbedder | SpaceEmbedder | None,
        options: RecallOptions,
        keys: Keys,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            db: opened when it is first needed, and again when it was lost.
            client: Redis, whose answers are bytes; None where there is none.
            embedder: None to search by words alone.
        """
        self.options = options
        self.troubles = Troubles()
        self._db = db
        self._client = client
        self._embedder = embedder
        self._keys = keys
        self._clock = clock
        self._tally = Tally(client, keys, options.tail_timeout)
        self._tail = TailReader(client, keys, limit=options.tail_max, timeout=options.tail_timeout)

    async def search(
        self,
        scope: Scope,
        query: str,
        limit: int | None = None,
        kinds: Sequence[Kind] = SEARCHED,
        *,
        own: Sequence[StoredMessage] = (),
        by: Filter = EVERYTHING,
        explain: bool = False,
        embeds: bool = True,
    ) -> SearchResult:
        """The best memories for a query.

        Args:
            scope: whose; a `session_id` narrows it to that session and adds what is not stored of it yet.
            limit: most hits; None as configured.
            kinds: of which kinds.
            own: messages that the caller published itself, for when the tail cannot be read.
            by: what else must hold of a hit.
            explain: say of each hit which arms found it, and what was dropped and why.
            embeds: False asks no model for the query's vector; one that is known serves, else words alone.
        """
        (vector, degraded), tail = await asyncio.gather(self._embed(query, embeds=embeds), self._pending(scope))
        pending = weave(tail.messages, own)
        most, breadth = limit or self.options.recall_limit, self.options.candidates
        wanted = Query(query, most, kinds, vector, breadth, filter=by, explain=explain)
        now = self._clock()

        def work(db: Database) -> SearchResult:
            found = search_store(db, scope, wanted, not_stored(db, scope, pending), now)
            owed = store_lag(db, scope, now)
            return SearchResult(found.hits, found.degraded, Lag(tail.unread, owed.owed, owed.oldest), found.dropped)

        try:
            result = await self._db.read(work)
        except StoreError as error:
            degraded = [*degraded, _store_note(error)]
            result = SearchResult(search_tail(wanted, pending, now).hits, [], Lag(tail.unread))
        result = replace(result, degraded=[*_notes(tail), *degraded, *result.degraded])
        self.troubles.seen(result.degraded, _asked(vector))
        return result

    async def build_context(
        self,
        scope: Scope,
        query: str,
        *,
        model_window: int | None = None,
        tokens: int | None = None,
        runtime: str | None = None,
        own: Sequence[StoredMessage] = (),
        corrector: Corrector | None = None,
        timeline: int = 0,
    ) -> ContextResult:
        """What a model should see of a session before it answers `query`.

        Args:
            scope: whose; its `session_id` names the session.
            model_window: the model's context window in tokens; None as configured.
            tokens: the context's size itself, in place of a share of that window.
            runtime: text that always stands first.
            own: messages that the caller published itself, oldest first, for when the tail cannot be read.
            corrector: what was learnt about this model's tokens.
            timeline: most entries of the timeline from before the window, where there is room left for them.
        """
        embeds = self._embed(query) if self._may_recall(query) else _nothing()
        (vector, degraded), tail = await asyncio.gather(embeds, self._pending(scope))
        pending = weave(tail.messages, own)
        wanted = Query(query, self.options.recall_limit, TOLD, vector, self.options.candidates)
        now = self._clock()

        def work(db: Database) -> Parts:
            return read_parts(db, scope, wanted, pending, self.options, now, model_window, timeline)

        try:
            parts = await self._db.read(work)
        except StoreError as error:
            parts = parts_without_store(wanted, pending, self.options, now)
            degraded = [*degraded, _store_note(error)]
        parts = replace(
            parts,
            degraded=[*_notes(tail), *degraded, *parts.degraded],
            lag=replace(parts.lag, unread=tail.unread),
        )
        self.troubles.seen(parts.degraded, (*_asked(vector), *(["checkpoint"] if parts.reuse else [])))
        budget = plan(model_window or self.options.chat_window, self.options.shares, tokens=tokens)
        result = build(parts, runtime=runtime, budget=budget, options=self.options, corrector=corrector)
        self._tally.add(levels(result.context, reuse=parts.reuse, there=parts.checkpoint is not None))
        return result

    async def event_state(self, namespace: str, event_id: str) -> EventStatus | None:
        """How far an event has come; None where nothing knows of it, or nothing that knows can be asked."""
        entry_id: str | None = None
        if self._client is not None:
            try:
                async with asyncio.timeout(self.options.tail_timeout):
                    entry_id = await receipt(self._client, self._keys, namespace, event_id)
            except REDIS_ERRORS:
                entry_id = None
        try:
            known = await self._db.read(lambda db: event_state(db, namespace, event_id))
        except StoreError:
            known = None
        if known is not None:
            kind = known.type or None
            return EventStatus(event_id, namespace, known.state, kind, entry_id, known.reason)
        return EventStatus(event_id, namespace, "accepted", None, entry_id) if entry_id else None

    async def wait_for(
        self, namespace: str, event_id: str, deadline: float, *, until: State = "stored"
    ) -> EventStatus | None:
        """The event's state once it has come as far as `until` or is dead, or after `deadline` seconds.

        Only messages come further than "stored".
        """
        loop = asyncio.get_running_loop()
        end, wait = loop.time() + deadline, _POLL_FIRST
        while True:
            status = await self.event_state(namespace, event_id)
            if status is not None and (status.state == "dead" or _reached(status.state, until)):
                return status
            left = end - loop.time()
            if left <= 0:
                return status
            await asyncio.sleep(min(wait, left))
            wait = min(2 * wait, _POLL_LONGEST)

    async def sessions(self, scope: Scope, limit: int) -> list[sessions.SessionRow]:
        """The user's sessions that are stored, the most recent first.

        Raises:
            StoreError: SQLite cannot be read.
        """
        return await self._db.read(lambda db: sessions.list_sessions(db, scope, limit))

    async def lag(self, scope: Scope) -> tuple[Lag, list[Degraded]]:
        """How far behind the workers are, and what cannot be asked."""
        tail = await self._tail.read(replace(scope, session_id=None), self._whose)
        notes = _notes(tail)
        try:
            owed = await self._db.read(lambda db: store_lag(db, scope, self._clock()))
        except StoreError as error:
            return Lag(tail.unread), [*notes, _store_note(error)]
        return Lag(tail.unread, owed.owed, owed.oldest), notes

    async def unstored(self, scope: Scope, own: Sequence[StoredMessage]) -> list[StoredMessage]:
        """Those of `own` that are not in SQLite yet; all of them where it cannot be read."""
        try:
            return await self._db.read(lambda db: not_stored(db, scope, own))
        except StoreError:
            return list(own)

    async def aclose(self) -> None:
        """Closes SQLite and ends queries in flight; Redis and models are closed by their makers."""
        await self._tally.aclose()
        if self._embedder is not None:
            await self._embedder.aclose()
        self._db.close()

    async def _embed(self, query: str, *, embeds: bool = True) -> tuple[QuerySpace | None, list[Degraded]]:
        if self._embedder is None:
            return None, [Degraded("query_embedding", "no embedder is configured")]
        found = await (self._embedder.embed(query) if embeds else self._embedder.known(query))
        notes = [found.degraded] if found.degraded else []
        if found.vector is None:
            return None, notes
        return QuerySpace(found.vector, found.model, found.dimensions), notes

    async def _pending(self, scope: Scope) -> TailRead:
        """The tail, read before SQLite: what is committed in between is then seen twice and not never."""
        return await self._tail.read(scope, self._whose)

    async def _whose(self, scope: Scope) -> Whose:
        """Of whom the tail of the scope's session is shown."""
        assert scope.session_id is not None
        namespace, session_id = scope.namespace, scope.session_id
        try:
            found = await self._db.read(lambda db: sessions.owner(db, namespace, session_id))
        except StoreError:
            # Where nothing was ever stored the tail tells; else nobody can say whose the session is.
            return Whose(scope.user_id, None if self._db.absent else "")
        if found is None:
            return Whose(scope.user_id, None)
        owner, shared = found
        return Whose(None if shared else scope.user_id, owner)

    def _may_recall(self, query: str) -> bool:
        """Whether the rules can want anything recalled, as far as the query tells: else none is embedded."""
        return wanted_by_query(query, first_round=False, options=self.options).long_term


async def _nothing() -> tuple[None, list[Degraded]]:
    return None, []


def _asked(vector: QuerySpace | None) -> tuple[str, ...]:
    """The parts that a read needed; vectors only once there was a query to compare them with."""
    return ("tail", "store") if vector is None else ("tail", "store", "query_embedding", "vectors")


def _notes(tail: TailRead) -> list[Degraded]:
    return [tail.degraded] if tail.degraded else []


def _store_note(error: StoreError) -> Degraded:
    return Degraded("store", str(error))


def _reached(state: State, until: State) -> bool:
    return state in _PROGRESS and _PROGRESS.index(state) >= _PROGRESS.index(until)
