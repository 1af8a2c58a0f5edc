"""Token estimate without a tokenizer, and its correction by what a provider reports."""

import re

CJK = "\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
_CJK = re.compile(f"[{CJK}]+")
_LATIN = re.compile("[\u0000-\u024f\u1e00-\u1eff\u2000-\u206f]+")
MESSAGE_OVERHEAD = 4
"""Tokens that a chat API adds for each message's frame."""


def estimate(text: str) -> int:
    """Tokens of `text`: 1.5 a Chinese, Japanese or Korean character, 0.25 a Latin one, 1 any other, rounded up."""
    size = len(text)
    if text.isascii():
        return (size + 3) // 4
    rest = _CJK.sub("", text)
    cjk = size - len(rest)
    other = 0 if rest.isascii() else len(_LATIN.sub("", rest))
    latin = size - cjk - other
    return (6 * cjk + latin + 4 * other + 3) // 4


class Corrector:
    """Learns the ratio of reported to estimated tokens, smoothed and kept within bounds.

    Not safe for use from several threads at once; a wrong read costs a slightly older ratio and nothing else.
    """

    def __init__(self, *, smoothing: float = 0.2, low: float = 0.5, high: float = 3.0, least: int = 50) -> None:
        """`smoothing` is the weight of a new sample, `least` the fewest estimated tokens that make one."""
        if not 0 < smoothing <= 1 or not 0 < low <= 1 <= high:
            raise ValueError("0 < smoothing <= 1 and 0 < low <= 1 <= high must hold")
        self._smoothing, self._low, self._high, self._least = smoothing, low, high, least
        self._ratio = 1.0

    @property
    def ratio(self) -> float:
        """Reported tokens an estimated one; 1 until something was observed."""
        return self._ratio

    def observe(self, estimated: int, reported: int) -> None:
        """Takes one request's estimate and the provider's count; samples too small to tell are left out."""
        if estimated < self._least or reported <= 0:
            return
        sample = min(max(reported / estimated, self._low), self._high)
        self._ratio += self._smoothing * (sample - self._ratio)

    def correct(self, estimated: int) -> int:
        """The estimate times the learnt ratio, rounded up."""
        return -int(-estimated * self._ratio // 1)
