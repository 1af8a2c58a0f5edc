"""Whatever an event holds, its flat fields give it back."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from sidestream.errors import InvalidEvent
from sidestream.events import MODELS, Event, parse_entry, parse_event
from sidestream.flat import digest_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50)
NAME = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
    lambda text: text == text.strip()
)
OFFSET = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIME = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28), timezones=OFFSET)  # noqa: DTZ001 - zones are drawn
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)
SHARE = st.floats(0, 1)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "role": st.sampled_from(["user", "assistant", "system", "tool"]),
    "content": TEXT,
    "msg_type": st.sampled_from(["normal", "fact", "todo", "decision", "preference", "error"]),
    "status": st.sampled_from(["completed", "failed", "timed_out", "cancelled"]),
    "ts": TIME,
    "expires_at": TIME,
    "meta": st.dictionaries(TEXT, JSON, max_size=4),
    "v": st.just(1),
    "importance": SHARE,
    "confidence": SHARE,
    "tags": st.lists(NAME, max_size=3),
    "memory_ids": st.lists(NAME, min_size=1, max_size=3),
    "shared": st.booleans(),
    "hard": st.booleans(),
    "pinned": st.booleans(),
    "weight": SHARE,
    "free_weight": st.booleans(),
    "verdict": st.sampled_from(["release", "refuse"]),
    "reason": TEXT,
}


@st.composite
def events(draw: st.DrawFn) -> Event:
    """An event of any type with any of its fields."""
    kind = draw(st.sampled_from(list(MODELS)))
    values: dict[str, Any] = {"type": kind}
    for name, field in MODELS[kind].model_fields.items():
        if name != "type" and (field.is_required() or draw(st.booleans())):
            values[name] = draw(VALUES.get(name, NAME))
    if kind == "memory.forget":
        values.pop("key" if draw(st.booleans()) else "memory_id", None)
        if not {"key", "memory_id"} & values.keys():
            values["key"] = "k"
    if kind == "memory.adjust":
        if "weight" in values:
            values.pop("free_weight", None)
        values.setdefault("verdict", "release")
    return parse_event(values)


@given(events())
def test_flat_fields_give_the_event_back(event: Event) -> None:
    fields = event.to_fields()
    assert all(isinstance(value, str) for value in fields.values())
    again = parse_entry(fields)
    assert again == event
    assert again.to_fields() == fields
    assert again.digest() == event.digest() == digest_of(fields)


@given(events())
def test_json_gives_the_event_back(event: Event) -> None:
    body = {"type": event.type, **event.model_dump(mode="json", exclude_defaults=True)}
    assert parse_event(body) == event


@given(events())
def test_fields_survive_utf8(event: Event) -> None:
    raw = {name.encode(): value.encode() for name, value in event.to_fields().items()}
    assert parse_entry({name.decode(): value.decode() for name, value in raw.items()}) == event


KNOWN = sorted({name for model in MODELS.values() for name in model.model_fields})
TEXTS = ["1", "true", "{}", "[]", "null", '{"a":1}', '["m1"]', "2026-01-31T09:00:00Z", "user", "s1"]
FIELDS = st.dictionaries(
    st.sampled_from(KNOWN) | st.text(max_size=5), st.text(max_size=20) | st.sampled_from(TEXTS), max_size=8
)


@given(FIELDS, st.sampled_from([*MODELS, "other"]))
@example({"session_id": "\ud800"}, "message")
def test_any_entry_is_an_event_or_is_refused(fields: dict[str, str], kind: str) -> None:
    try:
        event = parse_entry({**fields, "type": kind})
    except InvalidEvent as error:
        assert str(error)
    else:
        assert parse_entry(event.to_fields()) == event


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.dictionaries(ANY, ANY, max_size=4))
def test_unknown_fields_are_never_lost(extra: dict[str, str]) -> None:
    known = {*MODELS["session.ended"].model_fields, "tool_calls", "human", "trace"}
    unknown = {name: value for name, value in extra.items() if name not in known}
    assert parse_entry({**unknown, "type": "session.ended", "session_id": "s"}).meta == unknown


def test_times_keep_their_moment() -> None:
    moment = datetime(2026, 1, 31, 9, 0, 0, 123456, tzinfo=timezone(timedelta(hours=8)))
    event = parse_event({"type": "session.ended", "session_id": "s", "ts": moment})
    assert event.ts == moment and event.ts.tzinfo is UTC
