"""Rolls the timeline up: sessions into days, days into weeks, weeks into months.

Everything is read from rows and written in one short transaction an entry, so that it may be stopped anywhere and
begun again, and a second run changes nothing. A model shortens better than rules do; where it fails, rules step in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import NamedTuple

from config.logging import get_logger
from config.settings import Settings
from llm.errors import LlmError
from llm.ports import ChatModel
from memory.answers import BadAnswer
from memory.timeline import COARSER, TimelineRules, bounds, period, roll_up
from memory.timeline_prompt import parse_timeline, timeline_messages
from memory.types import TimelineEntry, TimelineLevel
from store import timeline
from store.db import Database
from store.timeline import NewEntry, Unrolled
from workers.ask import ask

log = get_logger("rollups")

RULES = "rules"
_PAGE = 200
_MAX_TOKENS = 4_000
# A model is not asked to shorten what one look takes in.
_WORTH_A_MODEL = 600


def timeline_rules(settings: Settings) -> TimelineRules:
    """The rules that the settings ask for."""
    return TimelineRules(
        raw_age=settings.timeline_raw_age,
        day_age=settings.timeline_day_age,
        week_age=settings.timeline_week_age,
        day_share=settings.timeline_day_share,
        week_share=settings.timeline_week_share,
        month_share=settings.timeline_month_share,
    )


class Group(NamedTuple):
    """One entry that is to be made (again): of a coarser level, from the finer one's entries of its period."""

    scope_id: int
    finer: TimelineLevel
    period: str


@dataclass(frozen=True, slots=True)
class Shortener:
    """Shortens with a model, or by rules where there is none. `template` is the prompt."""

    model: ChatModel | None
    template: str

    async def shorten(self, entries: Sequence[TimelineEntry], length: int) -> tuple[str, str]:
        """The entries' text in about `length` characters, and the method. Never raises for the model's sake."""
        lines = [line for entry in entries for line in entry.content.splitlines()]
        if self.model is None or sum(map(len, lines)) < _WORTH_A_MODEL:
            return roll_up(entries, length), RULES
        messages = timeline_messages(self.template, lines, length)
        try:
            text = await ask(
                self.model, messages, lambda answer: parse_timeline(answer, length), max_tokens=_MAX_TOKENS
            )
        except (LlmError, BadAnswer) as error:
            log.warning("timeline_by_rules", reason=f"{type(error).__name__}: {error}")
            return roll_up(entries, length), RULES
        return text, f"llm:{self.model.name}"


def due(db: Database, finer: TimelineLevel, rules: TimelineRules, zone: tzinfo, now: float, limit: int) -> list[Group]:
    """Up to `limit` entries that are to be made from entries of level `finer`, the oldest first.

    A day is made (again) as soon as an entry of it is old enough; a week or a month once it has been over for as long.
    """
    before, coarser = rules.before(finer, now), COARSER[finer]
    found: dict[Group, None] = {}
    for row in _unrolled(db, finer, before):
        group = Group(row.scope_id, finer, period(coarser, row.ends_at, zone))
        if finer == "session" or bounds(coarser, group.period, zone)[1] <= before:
            found[group] = None
        if len(found) >= limit:
            break
    return list(found)


async def make(
    db: Database, group: Group, shortener: Shortener, rules: TimelineRules, zone: tzinfo, now: float
) -> int | None:
    """Makes one entry from what is there of its period; its id, or None where nothing is.

    What is gone from the finer level (archived) stays in it: the old entry is then the first source of the new one.

    Raises:
        StoreError: SQLite refused; nothing was written.
    """
    coarser = COARSER[group.finer]
    start, end = bounds(coarser, group.period, zone)
    end = min(end, rules.before(group.finer, now))
    sources = timeline.between(db, group.scope_id, group.finer, start, end)
    if not sources:
        return None
    old = timeline.of_period(db, group.scope_id, coarser, group.period)
    known = {entry.id for entry in sources}
    kept = [old] if old is not None and not set(old.source_ids) <= known else []
    fresh = [entry for entry in sources if not kept or entry.id not in kept[0].source_ids]
    whole = [*kept, *fresh]
    raw = sum(entry.raw_length for entry in whole)
    content, method = await shortener.shorten(whole, rules.length(coarser, raw))
    entry = NewEntry(
        scope_id=group.scope_id,
        level=coarser,
        period=group.period,
        content=content,
        starts_at=min(entry.starts_at for entry in whole),
        ends_at=max(entry.ends_at for entry in whole),
        raw_length=raw,
        source_ids=tuple(sorted({*known, *(kept[0].source_ids if kept else ())})),
        method=method,
    )
    return timeline.put(db, entry, now)


def _unrolled(db: Database, level: TimelineLevel, before: float) -> Iterator[Unrolled]:
    last: Unrolled | None = None
    while page := timeline.unrolled(db, level, before, _PAGE, last):
        yield from page
        last = page[-1]
