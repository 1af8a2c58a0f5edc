"""Strict reading of a model's answer that must be one JSON object."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)
_MOST_PROBLEMS = 3


class BadAnswer(ValueError):  # noqa: N818 - named for what it is
    """A model's answer that is not what was asked for; the message says what is wrong with it."""


def parse_answer(text: str, model: type[M]) -> M:
    """The answer as `model`, which decides what is allowed; bare or in one code fence.

    Raises:
        BadAnswer: it is not JSON, or not as the model wants it.
    """
    body = text.strip()
    if body.startswith("```") and body.endswith("```"):
        body = body.removeprefix("```").removesuffix("```").removeprefix("json").strip()
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:_MOST_PROBLEMS]
        told = (f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}" for e in found)
        raise BadAnswer("; ".join(told)) from error
