"""Settings that would only fail later, and then not plainly, are refused at the start."""

from typing import Any

import pytest

from config.errors import InvalidSettings
from config.settings import load


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"task_hard_limit": 400.0}, "task_soft_limit < task_hard_limit < visibility_timeout"),
        ({"window_share": 0.9}, "must be 1"),
        ({"embed_min_batch": 65}, "embed_min_batch must not exceed"),
        ({"ingest_block": 6.0}, "ingest_block must not exceed half of ingest_lease"),
        ({"embed_dimensions": 100}, "embed_dimensions: "),
        ({"redis_prefix": ""}, "redis_prefix: "),
    ],
)
def test_what_cannot_work_is_refused_and_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        load(**wrong)


def test_a_name_that_is_no_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIDESTREAM_REDIS_ULR", "redis://elsewhere")
    with pytest.raises(InvalidSettings, match="SIDESTREAM_REDIS_ULR"):
        load()


def test_a_refusal_names_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIDESTREAM_API_KEY", "topsecret")
    monkeypatch.setenv("SIDESTREAM_EMBED_WAIT", "soon")
    with pytest.raises(InvalidSettings) as caught:
        load()
    assert "embed_wait" in str(caught.value) and "topsecret" not in str(caught.value)
