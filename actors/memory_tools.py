"""The memory tools of a session's agent: it keeps, looks up and forgets facts, and looks up what happened.

Writes are events, as everything else that an agent does; reads see what the workers have stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from actors.errors import BadToolCall
from actors.recorder import Recorder
from actors.tools import CallContext, Tool
from memory.filters import Filter
from memory.times import to_datetime
from memory.types import Hit, Scope
from recall.fact_reader import FactReader
from recall.reader import Reader
from sidestream.errors import InvalidEvent, InvalidToolCall
from sidestream.fieldtypes import to_json
from sidestream.flat import format_time
from sidestream.ids import new_id
from sidestream.memory_tools import ARGUMENTS, RecallArguments, TimelineArguments, read_call, schema
from sidestream.tool_handlers import ToolScope, memory_entry, write_event
from store.errors import StoreError


class MemoryTool:
    """One of the four tools, for one session."""

    def __init__(self, name: str, scope: Scope, recorder: Recorder, reader: Reader, facts: FactReader) -> None:
        self._name = name
        self._scope = scope
        self._recorder = recorder
        self._reader = reader
        self._facts = facts

    @property
    def name(self) -> str:
        """As in `sidestream.memory_tools.ARGUMENTS`."""
        return self._name

    def schema(self) -> dict[str, Any]:
        """The tool in OpenAI's form."""
        return schema(self._name)

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> str:
        """The result as JSON text.

        Raises:
            BadToolCall: the arguments are wrong, or memory cannot be read now.
        """
        try:
            wish = read_call(self._name, arguments)
            if isinstance(wish, RecallArguments):
                return await self._recall(wish)
            if isinstance(wish, TimelineArguments):
                return await self._timeline(wish)
            event = write_event(wish, self._tool_scope())
            assert event is not None
            event = event.model_copy(update={"id": new_id(), "parent_id": context.parent_id})
            durable = await self._recorder.record(event)
        except (InvalidToolCall, InvalidEvent) as error:
            raise BadToolCall(str(error)) from error
        except StoreError as error:
            raise BadToolCall(f"memory cannot be read now: {error}") from error
        return to_json({"status": "accepted" if durable else "waiting for Redis", "event_id": event.id})

    async def _recall(self, wish: RecallArguments) -> str:
        everywhere = Scope(self._scope.user_id, self._scope.namespace)
        # As the session's context: what is of its source, or of none.
        source = await self._facts.data_source(self._scope)
        then = Filter(as_of=None if wish.as_of is None else wish.as_of.timestamp(), data_source=source)
        facts = replace(then, types=tuple(wish.types), tags=tuple(wish.tags), min_confidence=wish.min_confidence)
        hits: list[Hit] = []
        # One search a kind, so that each has its share.
        for kind in dict.fromkeys(wish.kinds):
            by = facts if kind == "fact" else then
            # A reply embeds one query at most, and that was the user's; the model's own goes by words.
            search = self._reader.search(everywhere, wish.query, wish.limit, (kind,), by=by, embeds=False)
            hits += (await search).hits
        return to_json({"results": [_entry(hit) for hit in hits]})

    async def _timeline(self, wish: TimelineArguments) -> str:
        # Without a topic it is about a span of time, and of that this session is only a part.
        session = self._scope.session_id if wish.topic is not None else None
        entries = await self._facts.timeline(
            Scope(self._scope.user_id, self._scope.namespace, session),
            since=None if wish.since is None else wish.since.timestamp(),
            until=None if wish.until is None else wish.until.timestamp(),
            level=wish.level,
            topic=wish.topic,
            limit=wish.limit,
        )
        return to_json(
            {
                "entries": [
                    {
                        "level": entry.level,
                        "period": entry.period,
                        "content": entry.content,
                        "starts_at": format_time(to_datetime(entry.starts_at)),
                        "ends_at": format_time(to_datetime(entry.ends_at)),
                    }
                    for entry in entries
                ]
            }
        )

    def _tool_scope(self) -> ToolScope:
        assert self._scope.session_id is not None
        return ToolScope(self._scope.session_id, self._scope.user_id, self._scope.namespace, self._scope.agent_id)


def memory_tools(scope: Scope, recorder: Recorder, reader: Reader, facts: FactReader) -> Sequence[Tool]:
    """All four, for the session that `scope` names."""
    return [MemoryTool(name, scope, recorder, reader, facts) for name in ARGUMENTS]


def _entry(hit: Hit) -> dict[str, Any]:
    return memory_entry(
        hit.kind, hit.content, to_datetime(hit.occurred_at), hit.score, hit.session_id, hit.role, hit.metadata
    )
