"""What ranking is told of candidates: of the scope's own rows alone."""

from pathlib import Path

from memory.types import Scope
from store import features, scopes
from tests.unit.store_support import opened, say, session


def test_neighbours_are_those_of_the_session(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        say(db, Scope("ann", session_id="s1"), "one", "two?")
        say(db, Scope("ann", session_id="s2"), "three")
        ann = scopes.find_scope(db, Scope("ann"))
        assert ann is not None
        told = features.of_keys(db, ann, [4, 8, 12])
    assert [(row.key, row.before, row.after, row.asks) for row in told] == [
        (4, None, 8, 0), (8, 4, None, 1), (12, None, None, 0),
    ]  # fmt: skip


def test_a_message_of_another_scope_in_a_shared_session_is_no_neighbour(tmp_path: Path) -> None:
    room, bob = Scope("ann", session_id="room"), Scope("bob", session_id="room")
    with opened(tmp_path) as db:
        session(db, room, shared=True)
        for scope, text in ((room, "one"), (room, "two"), (bob, "three"), (room, "four")):
            say(db, scope, text)
        ann = scopes.find_scope(db, Scope("ann"))
        assert ann is not None
        told = features.of_keys(db, ann, [4, 8, 12, 16])
    assert [(row.key, row.before, row.after) for row in told] == [(4, None, 8), (8, 4, None), (16, None, None)]
