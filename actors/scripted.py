"""The chat without a terminal: a line of text in, a reply out, as JSON or as plain text."""

import json
from collections.abc import Iterable
from typing import Any, TextIO

from actors.errors import in_words
from actors.host import AgentHost
from actors.loop_thread import LoopThread
from actors.messages import Reply
from memory.types import Hit, Scope


def converse(
    loop: LoopThread, host: AgentHost, scope: Scope, lines: Iterable[str], out: TextIO, *, as_json: bool
) -> int:
    """Answers each line that is not blank, until there are no more; how many could not be answered.

    As JSON, each answer is one object on a line of its own: see docs/agents.md.
    """
    failed = 0
    for line in lines:
        text = line.strip()
        if not text:
            continue
        future = loop.done(host.sessions.say(scope, text))
        error = future.exception()
        if error is None:
            reply = future.result()
            _write(out, reply_json(reply) if as_json else reply.content)
        else:
            failed += 1
            answer = {"session": scope.session_id, "error": in_words(error)}
            _write(out, answer if as_json else f"error: {in_words(error)}")
    return failed


def reply_json(reply: Reply) -> dict[str, Any]:
    """A reply as plain JSON values. `event_id` is that of what was said, `reply_id` that of the answer."""
    return {
        "session": reply.session_id,
        "reply": reply.content,
        "event_id": reply.user_event_id,
        "reply_id": reply.event_id,
        "sources": [source_json(hit) for hit in reply.sources],
        "degraded": [{"part": note.part, "reason": note.reason} for note in reply.degraded],
        "spooled": reply.spooled,
        "durable": reply.durable,
        "model": reply.model,
    }


def source_json(hit: Hit) -> dict[str, Any]:
    """A recalled memory with its provenance. `occurred_at` is unix seconds."""
    return {
        "kind": hit.kind,
        "id": hit.id,
        "event_id": hit.event_id,
        "session": hit.session_id,
        "turn": hit.turn,
        "role": hit.role,
        "content": hit.content,
        "occurred_at": hit.occurred_at,
        "score": hit.score,
    }


def _write(out: TextIO, answer: dict[str, Any] | str) -> None:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    out.write(f"{text}\n")
    out.flush()
