"""Takes the reasoning off the front of an answer: some servers leave it there between `<think>` marks."""

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkingFilter:
    """Passes an answer's pieces on, without a `<think>...</think>` block at its start."""

    def __init__(self) -> None:
        self._held = ""
        self._step = self._undecided

    def feed(self, text: str) -> str:
        """What of the answer is certain to be said aloud, now that `text` has come."""
        return self._step(text)

    def finish(self) -> str:
        """What was held back for want of certainty; an answer that only thinks says nothing."""
        return self._held if self._step == self._undecided else ""

    def _undecided(self, text: str) -> str:
        self._held += text
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._held, self._step = "", self._thinking
            return self._thinking(start.removeprefix(_OPEN))
        if _OPEN.startswith(start):
            return ""
        self._step = self._passing
        return self._held

    def _thinking(self, text: str) -> str:
        _, closed, said = (self._held + text).partition(_CLOSE)
        if closed:
            self._step = self._gap
            return self._gap(said)
        # Only as much is kept as may be the start of the closing mark: reasoning can be very long.
        self._held = (self._held + text)[-len(_CLOSE) :]
        return ""

    def _gap(self, text: str) -> str:
        said = text.lstrip()
        if said:
            self._step = self._passing
        return said

    def _passing(self, text: str) -> str:
        return text


def spoken(text: str) -> str:
    """A whole answer without its reasoning."""
    sieve = ThinkingFilter()
    return sieve.feed(text) + sieve.finish()
