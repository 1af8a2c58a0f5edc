"""The chat protocol's JSON, read with suspicion: replies, streamed pieces, tool calls, usage."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm.errors import BadReply, LlmError, RateLimited, ServerError
from llm.http import parse_object
from llm.ports import ChatReply, ToolCall, Usage
from llm.thinking import ThinkingFilter, spoken


def read_reply(body: Mapping[str, Any], model: str, ids: Callable[[], str]) -> ChatReply:
    """A whole answer.

    Raises:
        BadReply: a field is missing, or nothing is said and no tool called.
    """
    choice = _first_choice(body)
    message = choice.get("message") if choice is not None else None
    if not isinstance(message, dict):
        raise BadReply("the answer has no message", repr(body))
    calls = _Calls(ids)
    for index, call in enumerate(_list(message.get("tool_calls"))):
        calls.add({"index": index, **call} if isinstance(call, dict) else call)
    text = spoken(_text(message.get("content")) or _text(message.get("refusal")))
    return _checked(ChatReply(text, calls.finish(), read_usage(body), _model(body, model)), choice)


def read_usage(body: Mapping[str, Any]) -> Usage:
    """Tokens as reported; zeros where they are not."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    return Usage(_tokens(usage.get("prompt_tokens")), _tokens(usage.get("completion_tokens")))


class StreamReader:
    """Puts a streamed answer together, event by event."""

    def __init__(self, model: str, ids: Callable[[], str]) -> None:
        self._model = model
        self._sieve = ThinkingFilter()
        self._said: list[str] = []
        self._calls = _Calls(ids)
        self._usage = Usage()
        self._choice: dict[str, Any] | None = None
        self.finished = False
        """Whether the provider has said why it stopped; what follows may still hold the usage."""

    def feed(self, data: str) -> str:
        """The text that one event adds.

        Raises:
            BadReply, ServerError, RateLimited: the event is not what it should be, or reports a failure.
        """
        event = parse_object(data)
        if event.get("error"):
            raise _stream_error(event["error"])
        self._model = _model(event, self._model)
        if event.get("usage"):
            self._usage = read_usage(event)
        choice = _first_choice(event)
        if choice is None:
            return ""
        self._choice = choice
        self.finished = self.finished or choice.get("finish_reason") is not None
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise BadReply("a piece of the answer is no object", data)
        for call in _list(delta.get("tool_calls")):
            self._calls.add(call)
        return self._say(self._sieve.feed(_text(delta.get("content")) or _text(delta.get("refusal"))))

    def flush(self) -> str:
        """Text that was held back, once no more will come."""
        return self._say(self._sieve.finish())

    def reply(self) -> ChatReply:
        """The whole answer. Raises BadReply if nothing is said and no tool called."""
        reply = ChatReply("".join(self._said), self._calls.finish(), self._usage, self._model)
        return _checked(reply, self._choice)

    def _say(self, text: str) -> str:
        if text:
            self._said.append(text)
        return text


@dataclass(slots=True)
class _Draft:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class _Calls:
    """Tool calls, put together from pieces that name their place by `index`."""

    def __init__(self, ids: Callable[[], str]) -> None:
        self._ids = ids
        self._drafts: list[_Draft] = []
        self._places: dict[int, _Draft] = {}

    def add(self, piece: Any) -> None:
        function = piece.get("function") if isinstance(piece, dict) else None
        if not isinstance(function, dict):
            raise BadReply("a tool call has no function", repr(piece))
        draft = self._place(piece)
        draft.id = draft.id or _text(piece.get("id"))
        draft.name = draft.name or _text(function.get("name"))
        draft.arguments.append(_text(function.get("arguments")))

    def _place(self, piece: dict[str, Any]) -> _Draft:
        index = piece.get("index")
        place = index if isinstance(index, int) else max(self._places, default=0)
        draft = self._places.get(place)
        call_id = _text(piece.get("id"))
        # Some servers number every call 0 or not at all; a new id then begins a new call.
        if draft is None or (call_id and draft.id and call_id != draft.id):
            draft = self._places[place] = _Draft()
            self._drafts.append(draft)
        return draft

    def finish(self) -> tuple[ToolCall, ...]:
        if any(not draft.name for draft in self._drafts):
            raise BadReply("a tool call has no name", repr(self._drafts))
        return tuple(
            ToolCall(draft.id or f"call_{self._ids().replace('-', '')}", draft.name, "".join(draft.arguments) or "{}")
            for draft in self._drafts
        )


def _checked(reply: ChatReply, choice: Mapping[str, Any] | None) -> ChatReply:
    if not reply.content.strip() and not reply.tool_calls:
        why = choice.get("finish_reason") if choice else None
        raise BadReply(f"the answer is empty (finish_reason {why})")
    return reply


def _stream_error(error: Any) -> LlmError:
    details = error if isinstance(error, dict) else {"message": str(error)}
    message = str(details.get("message") or details)[:500]
    limited = str(details.get("code")) == "429" or "rate_limit" in str(details.get("type"))
    return RateLimited(message) if limited else ServerError(message)


def _first_choice(body: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = _list(body.get("choices"))
    if not choices:
        return None
    if not isinstance(choices[0], dict):
        raise BadReply("a choice is no object", repr(body))
    return choices[0]


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadReply("a list is expected", repr(value))
    return value


def _text(value: Any) -> str:
    """A string, or the text parts of a list of parts; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    raise BadReply("text is expected", repr(value))


def _model(body: Mapping[str, Any], default: str) -> str:
    model = body.get("model")
    return model if isinstance(model, str) and model else default


def _tokens(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
