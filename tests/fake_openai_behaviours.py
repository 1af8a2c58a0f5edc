"""What the fake OpenAI server can be told to do with a request."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Reply:
    """Answers a chat with `text` and `tool_calls` of (name, arguments JSON); streams `pieces` if given."""

    text: str = ""
    tool_calls: Sequence[tuple[str, str]] = ()
    pieces: Sequence[str] | None = None


@dataclass(frozen=True)
class Status:
    """Refuses with an HTTP status, and a Retry-After if given."""

    code: int
    retry_after: str | None = None
    message: str = "scripted failure"
    error_code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """Answers with exactly these bytes, in these chunks."""

    chunks: Sequence[bytes]
    content_type: str = "application/json"


@dataclass(frozen=True)
class InvalidJson:
    """Answers 200 with a body that is not JSON; streamed, an event that is not."""


@dataclass(frozen=True)
class CutStream:
    """Streams `after` words of the default answer, then breaks the connection."""

    after: int = 1


@dataclass(frozen=True)
class WrongDimensions:
    """Answers embeddings of `dimensions`, whatever was asked for."""

    dimensions: int


@dataclass(frozen=True)
class Shuffled:
    """Answers embeddings in reverse order, each with its index."""


@dataclass(frozen=True)
class Hang:
    """Answers nothing until the server is released or stopped."""


@dataclass(frozen=True)
class Reset:
    """Breaks the connection with a TCP reset before answering."""


@dataclass(frozen=True)
class Held:
    """Waits until the server is released or stopped, then does `then` (None: as by default)."""

    then: "Behaviour | None" = None


@dataclass(frozen=True)
class Delay:
    """Waits `seconds`, then does `then` (None: as by default)."""

    seconds: float
    then: "Behaviour | None" = None


Behaviour: TypeAlias = (
    Reply | Status | Raw | InvalidJson | CutStream | WrongDimensions | Shuffled | Hang | Reset | Held | Delay
)


@dataclass(frozen=True)
class Recorded:
    """A request as it came in. `path` is `chat` or `embeddings`; `at` is monotonic seconds."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float


def default_reply(body: dict[str, Any]) -> Reply:
    """A summary as JSON for a request that asks for one, else an echo of the last user message."""
    messages = body.get("messages") or []
    system = " ".join(str(m.get("content")) for m in messages if m.get("role") == "system")
    said = next((str(m.get("content")) for m in reversed(messages) if m.get("role") == "user"), "")
    if "facts" in system and "JSON" in system:
        return Reply(json.dumps({"facts": []}))
    if "summar" in system.lower() and "JSON" in system:
        chinese = any("\u4e00" <= char <= "\u9fff" for char in said)
        text = "用户谈到了一件事。" if chinese else "The user spoke about something."
        return Reply(json.dumps({"summary": text, "confidence": 0.9}, ensure_ascii=False))
    return Reply(f"You said: {said}")
