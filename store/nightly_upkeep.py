"""The nightly steps that tend the files themselves, rather than what stands in them."""

import json
from typing import Any

from store import spaces
from store.errors import StoreCorrupt
from store.nightly import Context, Slice

_LOOKED_AT = 2_000


class _Upkeep:
    """What most of them share."""

    def due(self, context: Context) -> int:
        """It cannot be told beforehand, or only by doing it."""
        return 0

    def prepare(self, context: Context, cursor: str) -> Any:
        """Nothing to do outside of a transaction."""
        return None


class StrayFiles(_Upkeep):
    """Removes archive files that a killed writer left unrecorded, as far as their rows still stand in SQLite."""

    name = "stray_archive_files"

    def prepare(self, context: Context, cursor: str) -> tuple[int, int]:
        """Removes them: only the night writes archive files, and it is at this step."""
        strays = context.archive.strays()
        needless = [name for name in strays if context.archive.needless(name)]
        for name in needless:
            context.archive.folder.delete(name)
        return len(strays), len(needless)

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """Counts them."""
        seen, deleted = prepared
        return Slice(None, seen, kept=seen - deleted, deleted=deleted)


class Orphans(_Upkeep):
    """Removes full-text rows and vectors whose row is gone, by ranges of keys. The cursor is `<table>:<last key>`."""

    name = "orphaned_index_rows"

    def due(self, context: Context) -> int:
        """All of them, found as `apply` finds them."""
        found = 0
        for table in _indexes(context):
            found += len(context.db.tuples("orphans_in", {"after": 0, "upto": None}, table=table))
        return found

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """Looks at the next range of one table."""
        db, tables = context.db, _indexes(context)
        place, _, last = cursor.partition(":")
        index, after = (int(place), int(last)) if cursor else (0, -1)
        if index >= len(tables):
            return Slice(None)
        table = tables[index]
        upto = db.tuples("orphans_range", {"after": after, "limit": _LOOKED_AT}, table=table)[0]
        if upto[0] is None:
            return Slice(f"{index + 1}:-1" if index + 1 < len(tables) else None)
        keys = [k for (k,) in db.tuples("orphans_in", {"after": after, "upto": upto[0]}, table=table)]
        if table == _FTS:
            db.many("fulltext_remove", [(key,) for key in keys])
        else:
            bits = table.removesuffix("_floats")
            db.many("vectors_delete_bits", [(key,) for key in keys], table=bits)
            db.many("vectors_delete_floats", [(key,) for key in keys], table=bits)
        return Slice(f"{index}:{upto[0]}", seen=upto[1], kept=upto[1] - len(keys), deleted=len(keys))


class Optimise(_Upkeep):
    """Lets SQLite refresh the query planner's statistics where they are out of date."""

    name = "optimise"

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """With a limit on the rows it looks at, as SQLite's manual advises."""
        context.db.script("optimise", "PRAGMA analysis_limit = 400; PRAGMA optimize")
        return Slice(None)


class FreePages(_Upkeep):
    """Gives free pages back to the file system, a few at a time."""

    name = "free_pages"

    def due(self, context: Context) -> int:
        """Pages that are free now; what the night deletes comes on top."""
        return int(context.db.pragma("freelist_count")) if context.db.pragma("auto_vacuum") else 0

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """The next few; a file from before free pages were given back has none to give, until it is vacuumed."""
        before = self.due(context)
        if not before:
            return Slice(None)
        context.db.tuples("free_pages")
        freed = before - self.due(context)
        return Slice("more" if 0 < freed < before else None, seen=freed, deleted=freed)


class Integrity(_Upkeep):
    """Reads the whole file and checks it."""

    name = "integrity"

    def due(self, context: Context) -> int:
        """One look at all pages."""
        return int(context.db.pragma("page_count"))

    def prepare(self, context: Context, cursor: str) -> int:
        """Checks it, as a reader: writers are not held up.

        Raises:
            StoreCorrupt: names the first things that are wrong.
        """
        found = [text for (text,) in context.db.tuples("integrity_check")]
        if found != ["ok"]:
            raise StoreCorrupt(f"{context.db.path}: {'; '.join(found[:3])}; restore a backup")
        return self.due(context)

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """Counts the pages."""
        return Slice(None, seen=prepared, kept=prepared)


class CheckpointLog(_Upkeep):
    """Moves the write-ahead log into the file, and cuts it short where no reader stands in the way."""

    name = "checkpoint"

    def prepare(self, context: Context, cursor: str) -> None:
        """A checkpoint takes no part in a transaction."""
        context.db.tuples("wal_checkpoint")

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """Done."""
        return Slice(None)


class OldReports(_Upkeep):
    """Keeps the reports of the last 400 nights."""

    name = "old_reports"

    def due(self, context: Context) -> int:
        """Those before."""
        return len(context.db.tuples("nightly_old", {"keep": _REPORTS}))

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """Deletes them."""
        nights = [night for (night,) in context.db.tuples("nightly_old", {"keep": _REPORTS})]
        context.db.run("nightly_forget", nights=json.dumps(nights))
        return Slice(None, len(nights), deleted=len(nights))


_REPORTS = 400
_FTS = "memory_fts"


def _indexes(context: Context) -> list[str]:
    """Full text, and the floats of each space: its bits have the same keys."""
    known = spaces.all_spaces(context.db) if context.db.has_vec else []
    there = [s for s in known if context.db.value("spaces_has_table", table=s.table)]
    return [_FTS, *(f"{space.table}_floats" for space in there)]
