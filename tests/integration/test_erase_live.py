"""A person is erased while the consumer runs: the stream is made anew under it, and events go on."""

import subprocess
import sys
from pathlib import Path

from sidestream.events import Message
from sidestream.publisher import Publisher
from tests.stack import ROOT, Stack


def test_the_consumer_goes_on_with_the_stream_that_was_made_anew(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        stack.start_ingest()
        with Publisher(stack.server.url, spool_dir=None) as publisher:

            def say(user: str, text: str) -> None:
                publisher.publish(
                    Message(session_id=f"of-{user}", user_id=user, role="user", content=text, id=f"{user}-{text}")
                )

            say("ada", "a secret about zanzibar and xylophones")
            say("bob", "first")
            stack.wait(stack.stored(2), "both are stored")
            command = [sys.executable, "-m", "cli.main", "erase", "--user", "ada", "--yes"]
            done = subprocess.run(command, cwd=ROOT, env=stack.env(), capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stdout + done.stderr
            say("bob", "second")
            say("ada", "a new beginning")
            stack.wait(stack.stored(3), "what came after is stored")
        found = stack.rows("SELECT content FROM main_messages ORDER BY id")
        assert [text for (text,) in found] == ["first", "second", "a new beginning"]
        assert "zanzibar" not in "".join(
            p.read_text(errors="replace") for p in (tmp_path / "data").glob("sidestream.db*")
        )
