"""What is read out of error bodies, and where a proxy of the environment is left aside."""

import pytest

from llm.http import error_details, is_loopback


@pytest.mark.parametrize(
    ("body", "reason", "code"),
    [
        (b'{"error": {"message": "no", "code": "insufficient_quota"}}', "no", "insufficient_quota"),
        (b'{"error": {"message": "no", "code": 20012}}', "no", None),
        (b'{"error": "plain"}', "plain", None),
        (b'{"message": "at the top", "code": 30001}', "at the top", None),
        (b'{"error": {"type": "odd"}}', "{'type': 'odd'}", None),
        (b"<html>bad gateway</html>", "<html>bad gateway</html>", None),
        (b"", "", None),
        (b"\xff", "\ufffd", None),
    ],
)
def test_forms_of_error_bodies(body: bytes, reason: str, code: str | None) -> None:
    assert error_details(body) == (reason, code)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.0.0.5/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_loopback(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback
