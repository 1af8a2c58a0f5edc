"""Cache of embeddings by content, so that the same text is never embedded twice in one space."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from store.db import Database


def digest(text: str) -> bytes:
    """The key of a text: SHA-256 of its UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def get_many(db: Database, space_id: int, digests: Iterable[bytes]) -> dict[bytes, bytes]:
    """Vectors by digest, for those that are cached."""
    found = {}
    for key in dict.fromkeys(digests):
        vector = db.value("embedding_cache_get", space_id=space_id, digest=key)
        if vector is not None:
            found[key] = vector
    return found


def put_many(db: Database, space_id: int, vectors: Mapping[bytes, bytes] | Sequence[tuple[bytes, bytes]]) -> None:
    """Keeps vectors by digest; for one that is there already, only its time of use changes."""
    pairs = vectors.items() if isinstance(vectors, Mapping) else vectors
    now = db.clock()
    db.many("embedding_cache_put", [(space_id, key, vector, now) for key, vector in pairs])


def trim(db: Database, space_id: int, keep: int) -> int:
    """Drops all but the `keep` last used; how many it dropped."""
    with db.atomic():
        return len(db.tuples("embedding_cache_trim", {"space_id": space_id, "keep": keep}))
