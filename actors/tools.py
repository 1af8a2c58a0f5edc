"""Tools that the main agent's model may call, and the one place where such a call is carried out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from actors.delegation import CALL_AGENT, Delegation, Spawn
from actors.errors import BadToolCall, Refused
from config.logging import get_logger
from llm.ports import ToolCall

_log = get_logger("actors")


@dataclass(frozen=True, slots=True)
class CallContext:
    """Where a call comes from: the event that made it, and how to start a child of the caller."""

    parent_id: str
    spawn: Spawn


class Tool(Protocol):
    """Something the model can have done."""

    @property
    def name(self) -> str:
        """What the model calls it by."""
        ...

    def schema(self) -> dict[str, Any]:
        """The tool in OpenAI's form."""
        ...

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> str:
        """Does it and says what came of it.

        Raises:
            BadToolCall: the arguments are wrong; the text goes back to the model.
        """
        ...


class CallAgent:
    """The tool `call_agent`: hands a brief to a sub-agent; its report is the result."""

    def __init__(self, delegation: Delegation) -> None:
        self._delegation = delegation

    @property
    def name(self) -> str:
        """`call_agent`."""
        return CALL_AGENT

    def schema(self) -> dict[str, Any]:
        """The tool in OpenAI's form."""
        return self._delegation.schema()

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> str:
        """The report, whatever its status."""
        name, brief = arguments.get("name"), arguments.get("brief")
        if not isinstance(name, str) or not isinstance(brief, str):
            raise BadToolCall("call_agent needs two strings: name and brief")
        report = await self._delegation.call_agent(name, brief, spawn=context.spawn, parent_id=context.parent_id)
        return report.content


class Toolbox:
    """The tools of one session's agent."""

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        """Raises ValueError when two have the same name."""
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools have the same name")

    def schemas(self) -> list[dict[str, Any]]:
        """All tools in OpenAI's form."""
        return [tool.schema() for tool in self._tools.values()]

    async def call(self, call: ToolCall, context: CallContext) -> str:
        """The result of a call, as text for the model; what it did wrong is such a text too."""
        try:
            tool = self._tools.get(call.name)
            if tool is None:
                raise BadToolCall(f"no tool is named {call.name!r}; there are: {', '.join(self._tools) or 'none'}")
            return await tool.call(_arguments(call), context)
        except Refused as refusal:
            _log.warning("tool_call_refused", tool=call.name, error=str(refusal))
            return f"error: {refusal}"


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise BadToolCall(f"the arguments are not valid JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise BadToolCall("the arguments must be a JSON object")
    return arguments
