"""Numbered migrations: `store/migrations/NNNN_name.sql`, each in one transaction with its record.

A record is (version, name, checksum, applied_at) in `schema_migrations`. The checksum is of the SQL
without comments and white space, so that a comment may still be mended.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from store.db import Database
from store.errors import SchemaChanged, SchemaTooNew, StoreError

MIGRATIONS_DIR = Path(__file__).parent / "migrations"
_FILE = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")
_RECORDS = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_at REAL NOT NULL
) STRICT
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file."""

    version: int
    name: str
    sql: str
    checksum: str


@cache
def migrations(folder: Path = MIGRATIONS_DIR) -> tuple[Migration, ...]:
    """All migrations in order.

    Raises:
        StoreError: a file's name is not NNNN_name.sql, or the numbers are not 1, 2, 3 and so on.
    """
    found = []
    for path in sorted(folder.glob("*.sql")):
        match = _FILE.match(path.name)
        if match is None:
            raise StoreError(f"{path.name}: a migration is named NNNN_name.sql")
        sql = path.read_text(encoding="utf-8")
        found.append(Migration(int(match[1]), match[2], sql, _checksum(sql)))
    if [m.version for m in found] != list(range(1, len(found) + 1)):
        raise StoreError(f"{folder}: migrations must be numbered from 1 without a gap")
    return tuple(found)


def schema_version(db: Database) -> int:
    """The newest applied migration; 0 for an empty file."""
    if not db.value("schema_has_records"):
        return 0
    return int(db.value("schema_version") or 0)


def check_schema(db: Database, folder: Path = MIGRATIONS_DIR) -> int:
    """The file's version.

    Raises:
        SchemaTooNew: it is newer than this code.
        SchemaChanged: an applied migration is not the one in this checkout.
    """
    version, known = schema_version(db), migrations(folder)
    newest = known[-1].version if known else 0
    if version > newest:
        raise SchemaTooNew(
            f"{db.path} has schema version {version}, this program knows versions up to {newest}: use a newer program"
        )
    if version:
        for row in db.run("schema_records"):
            migration = known[row["version"] - 1]
            if row["checksum"] != migration.checksum:
                raise SchemaChanged(
                    f"{db.path}: migration {migration.version:04}_{migration.name} was applied"
                    " with other contents than this program's"
                )
    return version


def migrate(db: Database, folder: Path = MIGRATIONS_DIR) -> int:
    """Applies what is missing; how many it applied. Processes that open the file together apply each once.

    Raises:
        SchemaTooNew, SchemaChanged: as `check_schema`.
    """
    applied = 0
    for migration in migrations(folder)[check_schema(db, folder) :]:
        with db.atomic():
            # Another process may have come first while this one waited for the lock.
            if check_schema(db, folder) >= migration.version:
                continue
            db.script("schema_migrations", _RECORDS)
            db.script(f"migration {migration.version}", migration.sql)
            db.run(
                "schema_record",
                version=migration.version,
                name=migration.name,
                checksum=migration.checksum,
                now=db.clock(),
            )
            applied += 1
    return applied


def _checksum(sql: str) -> str:
    bare = re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", sql)).strip()
    return hashlib.sha256(bare.encode()).hexdigest()
