"""Which rule holds for what."""

import pytest

from memory.retention import Policy, Rule, outcome


def test_by_default_messages_stay_and_summaries_out_of_recall_are_archived() -> None:
    policy = Policy()
    assert policy.rule("message", "any").action == "keep"
    assert policy.rule("summary", "any") == Rule("summary", "archive", 0.0)
    assert policy.rule("timeline", "any").days == 90
    assert policy.rule("fact", "any").days == 180


def test_a_namespaces_own_rule_comes_first_whatever_the_order() -> None:
    policy = Policy.of([Rule("message", "archive", 30, "a"), Rule("message", "delete", 10)])
    assert policy.rule("message", "a") == Rule("message", "archive", 30, "a")
    assert policy.rule("message", "b") == Rule("message", "delete", 10)


def test_of_two_rules_for_the_same_the_last_holds() -> None:
    policy = Policy.of([Rule("message", "archive", 30), Rule("message", "delete", 10)])
    assert policy.rule("message", "b").action == "delete"


def test_the_important_is_archived_instead_of_deleted() -> None:
    assert outcome("delete", 0.81) == "archive"
    assert outcome("delete", 0.8) == "delete"
    assert outcome("delete", None) == "delete"
    assert outcome("keep", 0.9) == "keep"


def test_rules_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="usage cannot be archived"):
        Policy.of([Rule("usage", "archive", 1)])
    with pytest.raises(ValueError, match="must not be negative"):
        Policy.of([Rule("message", "delete", -1)])
