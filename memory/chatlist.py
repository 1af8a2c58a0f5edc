"""Stored messages to a list that every chat API accepts.

A tool call must be followed at once by the results of all its calls, and a result needs its call. A window cut
out of a dialogue breaks both, so calls without a result and results without a call are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.toolcalls import answered_call, call_ids, call_text, tool_calls
from memory.types import StoredMessage


@dataclass(slots=True)
class Group:
    """Messages that stay or go together: one message, or an assistant's calls with their results."""

    head: StoredMessage
    results: dict[str, StoredMessage] = field(default_factory=dict)

    @property
    def members(self) -> list[StoredMessage]:
        """Stored messages of the group, in the order in which they are sent."""
        return [self.head, *self.results.values()]


def group(window: Sequence[StoredMessage]) -> tuple[list[Group], list[StoredMessage]]:
    """Groups in order, and the tool results whose call is not in the window."""
    groups: list[Group] = []
    waiting: dict[str, Group] = {}
    orphans: list[StoredMessage] = []
    for message in window:
        if message.role != "tool":
            groups.append(Group(message))
            if message.role == "assistant":
                waiting.update(dict.fromkeys(call_ids(message.metadata), groups[-1]))
            continue
        answered = answered_call(message.metadata)
        caller = waiting.pop(answered, None) if answered else None
        if caller is None or answered is None:
            orphans.append(message)
        else:
            caller.results[answered] = message
    return groups, orphans


def render(unit: Group, limit: int) -> list[dict[str, Any]]:
    """Chat messages of one group; each content is cut in its middle to `limit` characters."""
    head = unit.head
    calls = [c for c in tool_calls(head.metadata) if c["id"] in unit.results]
    content = cut_middle(_spoken(head), limit)
    message: dict[str, Any] = {"role": head.role, "content": content}
    if not calls:
        return [message]
    if head.content == call_text(head.metadata):
        message["content"] = ""
    message["tool_calls"] = calls
    # In the order of the calls: some servers match results by place.
    answers = [(c["id"], unit.results[c["id"]]) for c in calls]
    return [message] + [
        {"role": "tool", "tool_call_id": call, "content": cut_middle(result.content, limit)} for call, result in answers
    ]


def cut_middle(text: str, limit: int) -> str:
    """`text`, or if it is longer than `limit` characters its two ends of half that each, with a mark between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[len(text) - half :]}"


def merge_system(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The list with all system messages joined into one at its start, for servers that accept no other."""
    system = [m["content"] for m in messages if m["role"] == "system"]
    rest = [m for m in messages if m["role"] != "system"]
    return [{"role": "system", "content": "\n\n".join(system)}, *rest] if system else rest


def _spoken(message: StoredMessage) -> str:
    """In a dialogue between people it must stay clear who speaks; a model's own words carry no name."""
    name = message.metadata.get("name")
    if isinstance(name, str) and name and message.metadata.get("human") is True:
        return f"{name}: {message.content}"
    return message.content
