"""What a session's main agent publishes, and what it remembers of it until that is stored."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actors.recorder import Recorder
from actors.text import publishable
from memory.toolcalls import call_text
from memory.types import Scope, StoredMessage
from sidestream.events import MemoryUsed, Message, SessionEnded, parse_event
from sidestream.fieldtypes import MAX_ID_LENGTH, MAX_LIST_ITEMS, MAX_META_BYTES, Role, to_json
from sidestream.ids import new_id

MAX_ARGUMENTS = 16_000
"""Characters of one tool call's arguments that are published; the model itself always gets all of its own."""


class Journal:
    """One session's messages. Outlives the actor's crashes, so that it never forgets what it just said."""

    def __init__(
        self,
        scope: Scope,
        recorder: Recorder,
        *,
        kept: int = 200,
        ids: Callable[[], str] = new_id,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`kept`: most messages remembered here. `scope` names the session."""
        if scope.session_id is None:
            raise ValueError("a journal is about one session: scope.session_id is needed")
        self.scope = scope
        self.session_id = scope.session_id
        self.recorder = recorder
        self._kept = kept
        self._ids = ids
        self._clock = clock
        self._own: list[StoredMessage] = []

    @property
    def own(self) -> Sequence[StoredMessage]:
        """Messages published from here and not known to be stored, oldest first."""
        return self._own

    def stored(self, event_ids: set[str]) -> None:
        """Forgets messages that stand in SQLite."""
        self._own = [message for message in self._own if message.event_id not in event_ids]

    async def user(self, text: str) -> str:
        """Publishes what the user said; its event id.

        Raises:
            PublishError, InvalidEvent: it was not accepted and is remembered nowhere.
        """
        event = self._event("user", text)
        await self.recorder.require(event)
        return self._remember(event)

    async def assistant(self, text: str, *, answers: str, model: str) -> tuple[str, bool]:
        """Publishes the model's answer to the event `answers`; its event id, and whether it is durable."""
        event = self._event("assistant", publishable(text), parent_id=answers, meta={"model": model})
        durable = await self.recorder.record(event)
        return self._remember(event), durable

    async def calls(self, text: str, calls: Sequence[dict[str, Any]], *, answers: str) -> str:
        """Publishes that the assistant calls tools (in OpenAI's form); its event id."""
        most = MAX_META_BYTES * 3 // 4 // len(calls)
        meta = {"tool_calls": [_bounded(call, most) for call in calls]}
        content = publishable(text) if text.strip() else call_text(meta)
        event = self._event("assistant", content, parent_id=answers, meta=meta)
        await self.recorder.record(event)
        return self._remember(event)

    async def result(self, text: str, call_id: str, *, answers: str) -> str:
        """Publishes the result of one tool call; its event id."""
        content = publishable(text) if text.strip() else "(nothing)"
        event = self._event("tool", content, parent_id=answers, meta={"tool_call_id": call_id})
        await self.recorder.record(event)
        return self._remember(event)

    async def used(self, memory_ids: Sequence[str], *, answers: str) -> bool:
        """Publishes which facts the answer `answers` was given; whether that is durable."""
        event = MemoryUsed(
            id=self._ids(),
            session_id=self.session_id,
            namespace=self.scope.namespace,
            user_id=self.scope.user_id,
            agent_id=self.scope.agent_id,
            parent_id=answers,
            memory_ids=list(memory_ids)[:MAX_LIST_ITEMS],
        )
        return await self.recorder.record(event)

    async def ended(self) -> bool:
        """Publishes that the session is over; whether that is durable."""
        event = SessionEnded(
            id=self._ids(),
            session_id=self.session_id,
            namespace=self.scope.namespace,
            user_id=self.scope.user_id,
        )
        return await self.recorder.record(event)

    def _event(
        self, role: Role, content: str, *, parent_id: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> Message:
        event = parse_event(
            {
                "type": "message",
                "id": self._ids(),
                "session_id": self.session_id,
                "namespace": self.scope.namespace,
                "user_id": self.scope.user_id,
                "agent_id": self.scope.agent_id,
                "role": role,
                "content": content,
                "parent_id": parent_id,
                "meta": dict(meta or {}),
            }
        )
        assert isinstance(event, Message)
        return event

    def _remember(self, event: Message) -> str:
        assert event.id is not None
        self._own.append(
            StoredMessage(
                event_id=event.id,
                session_id=event.session_id,
                role=event.role,
                content=event.content,
                occurred_at=self._clock(),
                metadata=event.meta,
            )
        )
        del self._own[: -self._kept]
        return event.id


def _bounded(call: dict[str, Any], most: int) -> dict[str, Any]:
    """The call with a name and arguments that can be published; the arguments take at most `most` bytes of JSON.

    Arguments that were cut stay a JSON object: later turns send them, and some servers refuse anything else.
    """
    function = call["function"]
    name, arguments = publishable(function["name"][:MAX_ID_LENGTH]), publishable(function["arguments"])
    head = arguments[:MAX_ARGUMENTS]
    if head != arguments or len(to_json(arguments).encode()) > most:
        while len(to_json(arguments := to_json({"cut": head})).encode()) > most and head:
            head = head[: len(head) * 2 // 3]
    return {**call, "function": {**function, "name": name, "arguments": arguments}}
