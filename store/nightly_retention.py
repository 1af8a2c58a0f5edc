"""The nightly steps that go by age: what a policy keeps, archives or deletes, namespace by namespace."""

from dataclasses import dataclass
from typing import Any

from memory.retention import ARCHIVED, DAY, Rule, Type, outcome
from store import archive_kinds, rowcopy
from store.archive import Written
from store.archive_kinds import KINDS
from store.errors import StoreConflict
from store.nightly import Context, Slice

_BOOKKEEPING: dict[Type, str] = {"usage": "memory_usage_log", "job": "jobs"}


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A slice: what was found, what of it is to be deleted, what stands in an archive file already, and where the
    next one begins."""

    found: tuple[int, ...]
    delete: tuple[int, ...]
    written: Written | None
    cursor: str | None


class RetentionStep:
    """Applies the policy of one type. The cursor is the namespace's place in their order, and the last id seen."""

    def __init__(self, name: str, type_: Type) -> None:
        self.name = name
        self._type: Type = type_

    def due(self, context: Context) -> int:
        """How many rows are old enough."""
        return sum(len(self._found(context, rule, space, 0, -1)) for rule, space in self._rules(context))

    def prepare(self, context: Context, cursor: str) -> _Prepared:
        """Finds the next rows, and writes those that are to be archived into a file."""
        rules = self._rules(context)
        place, _, last = cursor.partition(":")
        index, after = (int(place), int(last)) if cursor else (0, 0)
        if index >= len(rules):
            return _Prepared((), (), None, None)
        rule, namespace = rules[index]
        limit = context.rules.batch
        found = self._found(context, rule, namespace, after, limit)
        more = f"{index}:{found[-1][0]}" if len(found) == limit else f"{index + 1}:0"
        archive = [i for i, importance in found if outcome(rule.action, importance) == "archive"]
        delete = tuple(i for i, importance in found if outcome(rule.action, importance) == "delete")
        written = context.archive.write(self._type, namespace, archive) if archive else None
        ended = more == f"{len(rules)}:0"
        return _Prepared(tuple(i for i, _ in found), delete, written, None if ended else more)

    def apply(self, context: Context, cursor: str, prepared: Any) -> Slice:
        """Deletes the rows, and records their file."""
        found: _Prepared = prepared
        if not self._still(context, cursor, found):
            return Slice(cursor)
        if found.written is not None:
            context.archive.record(found.written, context.now)
        if found.delete:
            self._delete(context, found.delete)
        archived = len(found.written.ids) if found.written else 0
        return Slice(found.cursor, len(found.found), 0, archived, len(found.delete))

    def _still(self, context: Context, cursor: str, prepared: _Prepared) -> bool:
        """Nobody has changed these rows since the file was written: a fact may have been taken back meanwhile."""
        if not prepared.found:
            return True
        place, _, last = cursor.partition(":")
        index, after = (int(place), int(last)) if cursor else (0, 0)
        rule, namespace = self._rules(context)[index]
        now = self._found(context, rule, namespace, after, len(prepared.found))
        return tuple(i for i, _ in now) == prepared.found

    def _rules(self, context: Context) -> list[tuple[Rule, str]]:
        """Namespaces in order, with the rule of each; a new one that sorts in between is met on the next night."""
        names = [name for (name,) in context.db.tuples("retention_namespaces")]
        rules = ((context.rules.policy.rule(self._type, name), name) for name in names)
        return [(rule, name) for rule, name in rules if rule.action != "keep"]

    def _found(
        self, context: Context, rule: Rule, namespace: str, after: int, limit: int
    ) -> list[tuple[int, float | None]]:
        before = context.moment - rule.days * DAY
        return archive_kinds.due(
            context.db, self._type, namespace, before=before, now=context.moment, after=after, limit=limit
        )

    def _delete(self, context: Context, ids: tuple[int, ...]) -> None:
        if self._type in ARCHIVED:
            gone = archive_kinds.delete(context.db, KINDS[self._type], ids)
        else:
            gone = rowcopy.delete(context.db, _BOOKKEEPING[self._type], ids)
        if gone != len(ids):
            raise StoreConflict(f"{self.name}: {len(ids) - gone} of {len(ids)} rows were deleted by somebody else")
