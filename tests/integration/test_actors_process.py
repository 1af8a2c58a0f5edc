"""The chat as a process: lines and JSON without a terminal, a real terminal with its keys, and SIGKILL in a reply."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fake_openai import FakeOpenAI, Hang
from tests.stack import ROOT, Stack

COMMAND = [sys.executable, "-m", "actors"]
CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with Stack(tmp_path) as found:
        yield found


def chat(stack: Stack, *said: str, session: str = "s1", **env: str) -> "subprocess.CompletedProcess[str]":
    """A chat that is told all lines at once."""
    return subprocess.run(
        [*COMMAND, "--json", "--user", "ann", "--session", session],
        cwd=ROOT,
        env=stack.env(**env),
        input="".join(f"{line}\n" for line in said),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def replies(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Terminal:
    """The chat on a terminal of its own."""

    def __init__(self, stack: Stack, *arguments: str) -> None:
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(ROOT)
            environment = stack.env(TERM="xterm", COLUMNS="200", NO_COLOR="1")
            os.execve(sys.executable, [*COMMAND, "--user", "ann", *arguments], environment)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def expect(self, words: str, seconds: float = 30.0) -> str:
        """What was shown up to `words`, which must come after what was expected before."""
        end = time.monotonic() + seconds
        while words not in self.shown:
            ready, _, _ = select.select([self._fd], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"not shown within {seconds} s: {words!r}\n{self.shown}"
            try:
                self.shown += os.read(self._fd, 65_536).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"the chat ended before it showed {words!r}\n{self.shown}") from None
        before, _, self.shown = self.shown.partition(words)
        return before

    def exit_code(self) -> int:
        """Its exit code, once it has ended by itself."""
        while True:
            try:
                if not os.read(self._fd, 65_536):
                    break
            except OSError:
                break
        os.close(self._fd)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def test_what_was_told_is_known_in_another_session_with_its_source(stack: Stack) -> None:
    stack.start_ingest()
    stack.start_tasks(beat=True)
    [told] = replies(chat(stack, "My tortoise is called Olga."))
    stack.wait(stack.stored(2), "both messages are stored")
    stack.wait_quiet()
    [asked] = replies(chat(stack, "What is my tortoise called?", session="s2"))
    assert "Olga" in asked["reply"] and asked["session"] == "s2"
    assert told["event_id"] in {source["event_id"] for source in asked["sources"]}
    assert {source["session"] for source in asked["sources"]} == {"s1"}


def test_a_session_goes_on_in_another_process_before_anything_is_stored(stack: Stack) -> None:
    replies(chat(stack, "My tortoise is called Olga."))
    [asked] = replies(chat(stack, "What is my tortoise called?"))
    assert "Olga" in asked["reply"]


def test_no_line_is_no_reply(stack: Stack) -> None:
    assert replies(chat(stack)) == []


def test_wrong_settings_are_said_plainly(stack: Stack) -> None:
    done = chat(stack, "hello", SIDESTREAM_TOOL_ROUNDS="many")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("The chat cannot start: tool_rounds:")


def test_a_reader_that_goes_away_ends_it_quietly(stack: Stack) -> None:
    with subprocess.Popen(
        [*COMMAND, "--json"], cwd=ROOT, env=stack.env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"hello\nhello\n")
        process.stdin.close()
        assert process.wait(30) != 0
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("point", ["chat.after_question", "chat.before_answer"])
def test_killed_between_question_and_answer_the_question_stands_and_its_turn_is_joined(
    stack: Stack, tmp_path: Path, point: str
) -> None:
    marker = tmp_path / "marker"
    killed = chat(stack, "First question?", SIDESTREAM_TEST_FAULT=f"{point}:{marker}")
    assert killed.returncode == -9 and marker.read_text().startswith(point) and killed.stdout == ""
    replies(chat(stack, "Second question?", SIDESTREAM_TEST_FAULT=f"{point}:{marker}"))
    stack.start_ingest()
    stack.start_tasks(beat=True)
    stack.wait(stack.stored(3), "everything is stored")
    stack.wait_quiet()
    rows = stack.rows("SELECT seq, turn, role FROM main_messages ORDER BY seq")
    assert rows == [(1, 1, "user"), (2, 1, "user"), (3, 1, "assistant")]
    assert stack.rows("SELECT count(*) FROM short_term_memories") == [(1,)]
    assert stack.rows("SELECT count(*) FROM dead_letters") == [(0,)]


def test_a_terminal_from_the_first_word_to_the_last(stack: Stack) -> None:
    stack.start_ingest()
    stack.start_tasks(beat=True)
    terminal = Terminal(stack, "--session", "s1")
    terminal.expect("/help for help.")
    terminal.expect("> ")
    terminal.type("My tortoise is called Olga.\n")
    terminal.expect("Noted: My tortoise is called Olga.")
    stack.wait(stack.stored(2), "both messages are stored")
    stack.wait_quiet()
    terminal.type("/new\n")
    terminal.expect("New session ")
    terminal.type("What is my tortoise called?\n")
    terminal.expect("“My tortoise is called Olga.”")
    terminal.expect("/memory shows them")
    terminal.type("/memory\n")
    terminal.expect("s1 turn 1")
    terminal.type("/sessions\n")
    terminal.expect("last activity")
    terminal.type("/status\n")
    terminal.expect("offline: offline")
    terminal.type("half a line" + CTRL_C)
    terminal.expect("/quit or Ctrl-D leaves.")
    terminal.type("/quit\n")
    assert terminal.exit_code() == 0
    log = stack.settings.data_dir / "logs" / "chat.log"
    assert log.exists() and "Traceback" not in log.read_text()


def test_the_end_of_the_input_leaves_the_terminal(stack: Stack) -> None:
    terminal = Terminal(stack)
    terminal.expect("> ")
    terminal.type(CTRL_D)
    assert terminal.exit_code() == 0


def test_ctrl_c_stops_a_reply_and_the_chat_goes_on(tmp_path: Path) -> None:
    with FakeOpenAI() as server:
        server.script(Hang())
        with Stack(tmp_path, chat_provider="openai", chat_base_url=server.url, chat_model="test") as stack:
            terminal = Terminal(stack)
            terminal.expect("> ")
            terminal.type("Think hard.\n")
            server.wait_for(1, path="chat", deadline=30)
            terminal.type(CTRL_C)
            terminal.expect("(stopped;")
            terminal.type("Hello?\n")
            terminal.expect("You said: Hello?")
            assert [m["content"] for m in server.requests("chat")[-1].body["messages"][-2:]] == [
                "Think hard.",
                "Hello?",
            ]
            terminal.type(CTRL_D)
            assert terminal.exit_code() == 0
