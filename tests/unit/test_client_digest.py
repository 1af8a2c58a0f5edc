"""What makes two events the same one."""

import pytest

from sidestream.events import Event, Message, parse_entry
from sidestream.flat import digest_of

BASE = Message(id="e1", session_id="s1", role="user", content="hi", meta={"a": 1, "trace": {"id": "t1"}})


def changed(**values: object) -> Message:
    return BASE.model_copy(update=values)


@pytest.mark.parametrize(
    "other",
    [
        changed(id="e2"),
        changed(ts=parse_entry({**BASE.to_fields(), "ts": "2026-01-31T09:00:00Z"}).ts),
        changed(meta={"trace": {"id": "t2"}, "a": 1}),
        changed(meta={"a": 1}),
        changed(namespace="default"),
    ],
)
def test_id_time_and_trace_make_no_other_event(other: Event) -> None:
    assert other.digest() == BASE.digest()


@pytest.mark.parametrize(
    "other",
    [
        changed(content="hi "),
        changed(session_id="s2"),
        changed(namespace="other"),
        changed(role="system"),
        changed(user_id="ann"),
        changed(meta={"a": 2}),
        changed(meta={}),
        changed(msg_type="fact"),
    ],
)
def test_everything_else_does(other: Event) -> None:
    assert other.digest() != BASE.digest()


def test_a_trace_alone_is_as_no_meta() -> None:
    assert changed(meta={"trace": 1}).digest() == changed(meta={}).digest()


def test_fields_cannot_run_into_one_another() -> None:
    one = {"type": "message", "content": "a\nrole:4:user", "role": "user"}
    two = {"type": "message", "content": "a", "role": "user\nrole:4:user"}
    assert digest_of(one) != digest_of(two)


def test_the_digest_stays_what_it_was() -> None:
    """It is stored for good with every event: another form of it would make every repeat a conflict."""
    assert BASE.digest() == "691cafdb1c58dfee4f6ac85575192d02755c34cca6243cb2574c7b2fdf922807"
