"""The request for a checkpoint's summary, and the strict reading of its answer."""

from collections.abc import Sequence

from memory.answers import BadAnswer, parse_answer
from memory.chatlist import cut_middle
from memory.compaction.parts import Parts, as_text, fit
from memory.frames import framed
from memory.terms import language
from memory.toolcalls import call_text
from memory.types import StoredMessage

_NAMES = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean", "en": "English or whichever language it is"}
_WORDS_A_TOKEN = 0.6


def checkpoint_messages(
    template: str, base: Parts | None, tail: Sequence[StoredMessage], *, tokens: int, cut: int
) -> list[dict[str, str]]:
    """The chat messages that ask for one summary of `base` and of the messages after it.

    Args:
        template: the prompt, with the fields `language` and `words`.
        tokens: size that the summary may have.
        cut: characters to which each message is cut.
    """
    lines = [dialogue_line(message, cut) for message in tail]
    system = template.replace("{language}", _NAMES[language(" ".join(lines))])
    system = system.replace("{words}", str(max(1, int(tokens * _WORDS_A_TOKEN))))
    frames = [framed("dialogue", "", lines).lstrip()]
    if base:
        frames.insert(0, framed("summary", "", as_text(base).splitlines()).lstrip())
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join(frames)}]


def parse_checkpoint(answer: str, tokens: int) -> Parts:
    """The summary in a model's answer; where it is larger than `tokens`, what of it fits.

    Raises:
        BadAnswer: it is not one JSON object with exactly the ten lists of texts, or all of them are empty.
    """
    parts = parse_answer(answer, Parts)
    if not parts:
        raise BadAnswer("all ten lists are empty")
    return fit(parts, tokens)


def dialogue_line(message: StoredMessage, cut: int) -> str:
    """One message as it stands in the request."""
    name = message.metadata.get("name")
    speaker = name if isinstance(name, str) and name else message.role
    return f"{speaker}: {cut_middle(message.content or call_text(message.metadata), cut)}"
