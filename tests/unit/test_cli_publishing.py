"""What a dead letter becomes when it is replayed."""

import pytest

from cli.errors import CliError
from cli.publishing import republish
from config.settings import load
from store.dead_letters import DeadLetter


def test_a_letter_that_is_not_the_entry_any_more_is_not_replayed() -> None:
    body = {"type": "message", "session_id": "s", "role": "user", "content": "\\xff", "altered": ["content"]}
    letter = DeadLetter(7, "event", "1-1", "default", "e", "not UTF-8", body, "dead", 0.0, 0.0)
    with pytest.raises(CliError, match="dead letter 7 cannot be replayed: content could not be kept"):
        republish(load(), "unix:///nowhere", letter)
