"""Vectors for the fake server: texts that share words are near each other, in every process alike."""

import hashlib
import re
from collections.abc import Sequence
from itertools import pairwise

_WORD = re.compile(r"[a-z0-9']+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def bag_vector(text: str, dimensions: int) -> list[float]:
    """A signed bag of hashed words and character pairs; of length about 2, so that callers must normalise."""
    vector = [0.0] * dimensions
    words = _WORD.findall(text.lower()) or ["(nothing)"]
    pairs = [a + b for a, b in pairwise(words) if ord(a[0]) > 255 and ord(b[0]) > 255]
    for word in [*words, *pairs]:
        digest = hashlib.sha1(word.encode("utf-8", "replace"), usedforsecurity=False).digest()
        place = int.from_bytes(digest[:8], "big") % dimensions
        vector[place] += 1.0 if digest[8] & 1 else -1.0
    length = _length(vector)
    if length == 0:  # opposite signs met in one place
        vector[0], length = 1.0, 1.0
    return [2.0 * value / length for value in vector]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine of two vectors."""
    return sum(x * y for x, y in zip(a, b, strict=True)) / (_length(a) * _length(b))


def _length(vector: Sequence[float]) -> float:
    return float(sum(value * value for value in vector) ** 0.5)
