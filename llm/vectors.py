"""Vectors as the store keeps them: float32, little-endian, unit length."""

import numpy as np
from numpy.typing import NDArray

from llm.errors import BadReply


def packed(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row brought to unit length, as bytes.

    Args:
        vectors: shape (texts, dimensions).

    Raises:
        BadReply: a row is zero or holds something that is no finite number.
    """
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise BadReply("a vector has no direction: it is zero or not finite")
    unit = (vectors / lengths).astype("<f4")
    return [row.tobytes() for row in unit]
