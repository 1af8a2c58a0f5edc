"""One question to a model that answers with JSON: a strict reading, and one repair."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from llm.ports import ChatModel
from memory.answers import BadAnswer
from memory.prompts import repair_messages
from workers.in_flight import in_flight

T = TypeVar("T")


async def ask(model: ChatModel, messages: Sequence[dict[str, str]], parse: Callable[[str], T], *, max_tokens: int) -> T:
    """What `parse` makes of the answer, or of the second one where it refuses the first.

    Raises:
        BadAnswer: it refuses the second one too.
        LlmError: the model did not answer.
    """
    answer = (await in_flight(model.complete(messages, max_tokens=max_tokens))).content
    try:
        return parse(answer)
    except BadAnswer as problem:
        again = repair_messages(messages, answer, str(problem))
    return parse((await in_flight(model.complete(again, max_tokens=max_tokens))).content)
