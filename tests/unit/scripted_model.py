"""A chat model that answers from a list, in the process itself: for the workers, who ask and never stream."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llm.ports import ChatMessage, ChatReply

Answer: TypeAlias = str | Exception | Callable[[Sequence[ChatMessage]], str]


class Scripted:
    """Answers in order, the last one for ever; an error is raised, a function is asked."""

    name = "scripted"

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Sequence[ChatMessage]] = []

    async def complete(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = (), max_tokens: int | None = None
    ) -> ChatReply:
        self.asked.append(messages)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return ChatReply(answer(messages) if callable(answer) else answer)

    def stream(self, messages: Sequence[ChatMessage], *, tools: Sequence[dict[str, Any]] = ()) -> Any:
        raise AssertionError("the workers do not stream")

    async def aclose(self) -> None:
        """Nothing is open."""
