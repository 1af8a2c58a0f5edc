"""Export and import of a scope: the same again, once, beside others, and after a kill."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.types import Scope
from store import fulltext, jobs, messages, tombstones
from store.archive import Archive
from store.archive_folder import LocalArchive
from store.db import Database
from store.doctor import examine
from store.errors import NotFound, StoreConflict, StoreError
from store.scope_export import export
from store.scope_import import load
from store.tombstones import Marker
from tests.crash.nightly_store import fill
from tests.unit.store_support import NOW, opened, say, session

ADA, BOB = Scope("ada"), Scope("bob")


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Database]:
    fill(tmp_path)
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Database]:
    (tmp_path / "target").mkdir()
    with opened(tmp_path / "target") as found:
        yield found


def rows(db: Database, user: str) -> dict[str, list[Any]]:
    """All that the user has, without numbers."""
    found = [json.loads(line) for line in export(db, Scope(user), NOW)]
    numbers = {"id", "session_pk", "scope_id", "run_pk", "source_session", "has_embedding"}
    result: dict[str, list[Any]] = {}
    for line in found[1:]:
        result.setdefault(line["table"], []).append({k: v for k, v in line["row"].items() if k not in numbers})
    return {table: sorted(map(str, lines)) for table, lines in result.items()}


def test_what_was_exported_comes_in_the_same(source: Database, target: Database) -> None:
    lines = list(export(source, ADA, NOW))
    found = load(target, lines, embed_min_chars=10)
    assert set(found.written) == {
        "sessions", "main_messages", "subagent_runs", "subagent_messages", "short_term_memories",
        "long_term_memories", "memory_history", "memory_usage_log", "timeline", "events",
    }  # fmt: skip
    assert list(export(target, ADA, NOW))[1:] == [
        line.replace('"has_embedding": 1', '"has_embedding": 0') for line in lines[1:]
    ]
    assert fulltext.search(target, ADA, ["tea"], 5)
    folder = LocalArchive(target.path.parent / "archive")
    assert examine(Archive(target, folder), repair=False) == []
    assert list(export(source, BOB, NOW)) != lines


def test_a_second_import_changes_nothing(source: Database, target: Database) -> None:
    lines = list(export(source, ADA, NOW))
    load(target, lines, embed_min_chars=10)
    before = list(export(target, ADA, NOW))
    again = load(target, lines, embed_min_chars=10)
    assert not any(again.written.values())
    assert list(export(target, ADA, NOW)) == before


def test_numbers_that_are_taken_are_replaced_everywhere(source: Database, target: Database) -> None:
    say(target, Scope("zoe", session_id="z"), *[f"something else {i}" for i in range(30)])
    before = rows(target, "zoe")
    load(target, export(source, ADA, NOW), embed_min_chars=10)
    load(target, export(source, BOB, NOW), embed_min_chars=10)
    assert rows(target, "ada") == rows(source, "ada")
    assert rows(target, "bob") == rows(source, "bob")
    assert rows(target, "zoe") == before
    assert {c.id for c in fulltext.search(target, ADA, ["number"], 50)} >= {
        m.id for m in messages.window(target, Scope("ada", session_id="of-ada"), 5)
    }


def test_an_import_that_was_stopped_goes_on(source: Database, target: Database) -> None:
    lines = list(export(source, ADA, NOW))
    with pytest.raises(StoreError, match="line 30"):
        load(target, [*lines[:29], "{", *lines[29:]], embed_min_chars=10)
    load(target, lines[:20], embed_min_chars=10)
    load(target, lines, embed_min_chars=10)
    assert rows(target, "ada") == rows(source, "ada")


def test_one_session_alone(source: Database, target: Database) -> None:
    say(source, Scope("ada", session_id="other"), "in another session")
    load(target, export(source, Scope("ada", session_id="other"), NOW), embed_min_chars=10)
    assert [m.content for m in messages.window(target, Scope("ada", session_id="other"), 5)] == ["in another session"]
    assert messages.window(target, Scope("ada", session_id="of-ada"), 5) == []


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "line 1: no JSON"),
        (["{}"], "line 1: no export"),
        (['{"format": "sidestream-export", "version": 9}'], "newer program"),
        (['{"format": "sidestream-export", "version": 1, "schema": 1, "namespace": "n", "user_id": "u",'
          ' "session_id": null, "exported_at": 1}', '{"table": "scopes", "row": {}}'], "line 2: a table and a row"),
    ],
)  # fmt: skip
def test_what_is_no_export_is_told(lines: list[str], told: str, target: Database) -> None:
    with pytest.raises(StoreError, match=told):
        load(target, lines, embed_min_chars=10)


def test_another_users_session_is_not_taken_over(source: Database, target: Database) -> None:
    session(target, Scope("mallory", session_id="of-ada"))
    with pytest.raises(StoreConflict, match="belongs to another user"):
        load(target, export(source, ADA, NOW), embed_min_chars=10)


def test_an_erased_user_does_not_come_back(source: Database, target: Database) -> None:
    marker = Marker.of(target.path.parent, create=True)
    tombstones.put(target, [marker.user("default", "ada")], NOW + 1)
    with pytest.raises(StoreConflict, match="was erased"):
        load(target, export(source, ADA, NOW), embed_min_chars=10)


def test_nothing_to_export_is_told(source: Database) -> None:
    with pytest.raises(NotFound, match="nothing is stored"):
        list(export(source, Scope("nobody"), NOW))
    with pytest.raises(NotFound, match="no session"):
        list(export(source, Scope("ada", session_id="none"), NOW))


def test_an_erased_guest_does_not_come_back_with_the_host(source: Database, target: Database) -> None:
    say(source, Scope("ada", session_id="shared-one"), "carol's word", metadata='{"user_id": "carol"}')
    lines = list(export(source, ADA, NOW))
    marker = Marker.of(target.path.parent, create=True)
    tombstones.put(target, [marker.user("default", "carol")], NOW + 1)
    with pytest.raises(StoreConflict, match="'carol', who speaks in it, was erased"):
        load(target, lines, embed_min_chars=10)
    assert "carol" not in "".join(export(source, BOB, NOW))


def test_it_says_what_it_leaves_out(source: Database) -> None:
    pk = session(source, Scope("ada", session_id="of-open-work")).id
    before = json.loads(next(iter(export(source, ADA, NOW))))["left_out"]
    with source.atomic():
        jobs.owe(
            source, "summarise", f"turn:{pk}:1", "default", due_at=NOW, now=NOW, payload={"session_pk": pk, "turn": 1}
        )
    after = json.loads(next(iter(export(source, ADA, NOW))))["left_out"]
    assert (after["jobs"] - before["jobs"], after["generations"]) == (1, 0)
