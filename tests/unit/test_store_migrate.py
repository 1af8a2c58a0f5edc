"""Migrations: each once, in order, with its record; what does not fit is refused."""

import re
from pathlib import Path

import pytest

from store import spaces
from store.db import Database
from store.errors import SchemaChanged, SchemaTooNew, StoreError, StoreUnavailable
from store.migrate import MIGRATIONS_DIR, check_schema, migrate, migrations, schema_version
from store.opening import open_database
from store.sqlfiles import statements


def fresh(tmp_path: Path) -> Database:
    return Database.open(tmp_path / "fresh.db", clock=lambda: 7.0)


def write(folder: Path, name: str, sql: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(sql)
    migrations.cache_clear()


def test_the_schema_is_made_once(tmp_path: Path) -> None:
    with fresh(tmp_path) as db:
        assert schema_version(db) == 0
        newest = len(list(MIGRATIONS_DIR.glob("*.sql")))
        assert migrate(db) == newest
        assert migrate(db) == 0
        assert schema_version(db) == newest == check_schema(db)
        assert {row["version"] for row in db.run("schema_records")} == set(range(1, newest + 1))


def test_a_migration_that_fails_leaves_nothing_of_itself(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    write(folder, "0001_first.sql", "CREATE TABLE a (x)")
    write(folder, "0002_second.sql", "CREATE TABLE b (x); CREATE TABLE a (x)")
    with fresh(tmp_path) as db:
        with pytest.raises(StoreError, match="migration 2"):
            migrate(db, folder)
        assert schema_version(db) == 1
        write(folder, "0002_second.sql", "CREATE TABLE b (x)")
        assert migrate(db, folder) == 1
        assert schema_version(db) == 2


def test_a_newer_file_is_refused_with_both_versions(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    write(folder, "0001_first.sql", "CREATE TABLE a (x)")
    with fresh(tmp_path) as db:
        migrate(db, folder)
        db.run("schema_record", version=9, name="future", checksum="c", now=1.0)
        with pytest.raises(SchemaTooNew, match=r"version 9.* up to 1"):
            migrate(db, folder)


@pytest.mark.parametrize("readonly", [False, True])
def test_opening_refuses_a_newer_file(tmp_path: Path, readonly: bool) -> None:
    path = tmp_path / "sidestream.db"
    with open_database(path) as db:
        db.run("schema_record", version=9_999, name="future", checksum="c", now=1.0)
    with pytest.raises(SchemaTooNew, match="9999"):
        open_database(path, readonly=readonly)


def test_an_applied_migration_may_not_change_but_its_comments_may(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    write(folder, "0001_first.sql", "-- why\nCREATE TABLE a (x)")
    with fresh(tmp_path) as db:
        migrate(db, folder)
        write(folder, "0001_first.sql", "-- better said\nCREATE TABLE  a\n(x)")
        assert migrate(db, folder) == 0
        write(folder, "0001_first.sql", "CREATE TABLE a (x, y)")
        with pytest.raises(SchemaChanged, match="0001_first"):
            migrate(db, folder)


@pytest.mark.parametrize("name", ["1_short.sql", "0001-dash.sql", "0002_no_first.sql"])
def test_wrong_names_are_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "migrations"
    write(folder, name, "CREATE TABLE a (x)")
    with pytest.raises(StoreError):
        migrations(folder)


# What stands in for `{table}` where it is not an embedding space's.
TABLES = {
    "rows_by_ids": "main_messages",
    "rows_of_parent": "memory_history WHERE memory_id IN",
    "rows_find": "main_messages WHERE session_pk IS :session_pk",
    "rows_taken": "main_messages",
    "rows_highest": "main_messages",
    "rows_delete": "main_messages",
    "rows_insert": "counters (name, value) VALUES (:name, :value)",
    "archive_not_embedded": "main_messages",
    "erase_texts": "main_messages",
    "erase_by_scope": "main_messages",
    "erase_by_session": "main_messages",
    "orphans_range": "memory_fts",
    "orphans_in": "memory_fts",
}


def test_every_statement_compiles(tmp_path: Path) -> None:
    """Against the schema, so that a renamed column cannot wait for its first use."""
    with open_database(tmp_path / "sidestream.db") as db:
        table = spaces.ensure_space(db, "m", 8, 1.0).table
        connection = db._conn
        for name, raw in statements().items():
            text = raw.replace("{table}", TABLES.get(name, table))
            sql = f"EXPLAIN {text}"
            named = dict.fromkeys(re.findall(r":([a-z_]+)", text))
            numbered = max(map(int, re.findall(r"\?(\d+)", text)), default=text.count("?"))
            connection.execute(sql, named or (None,) * numbered)


def test_statement_files_are_checked(tmp_path: Path) -> None:
    def files(text: str) -> Path:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        (folder / "a.sql").write_text(text)
        return folder

    good = files("-- name: one\n-- Why.\nSELECT 1;\n\n-- name: two\n-- Why.\n-- More.\nSELECT\n  2\n")
    assert statements(good) == {"one": "SELECT 1", "two": "SELECT\n  2"}
    with pytest.raises(StoreError, match="one stands twice"):
        statements(files("-- name: one\n-- Why.\nSELECT 1\n-- name: one\n-- Why.\nSELECT 1"))
    with pytest.raises(StoreError, match="no reason line"):
        statements(files("-- name: one\nSELECT 1"))
    with pytest.raises(StoreError, match="is empty"):
        statements(files("-- name: one\n-- Why.\n"))


def test_a_reader_of_a_file_without_schema_is_told(tmp_path: Path) -> None:
    Database.open(tmp_path / "empty.db").close()
    with Database.open(tmp_path / "empty.db", readonly=True) as db:
        assert schema_version(db) == 0
        with pytest.raises(StoreUnavailable):
            migrate(db)
