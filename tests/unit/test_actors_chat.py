"""The terminal chat's commands and the line mode, with everything behind them away."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from rich.console import Console

from actors import views
from actors.chat import Chat
from actors.loop_thread import LoopThread
from actors.messages import Reply
from actors.scripted import converse
from actors.wiring import Agents, open_agents
from config.settings import Settings, load
from memory.types import Degraded, Hit, Scope
from recall.results import Lag
from store.sessions import SessionRow

SCOPE = Scope("ann", session_id="s1")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(data_dir=tmp_path, embed_provider="none", chat_provider="offline", publish_timeout=0.1)


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    with LoopThread() as running:
        yield running


@pytest.fixture
def agents(loop: LoopThread, settings: Settings) -> Iterator[Agents]:
    stack = AsyncExitStack()
    yield loop.run(stack.enter_async_context(open_agents(settings)))
    loop.run(stack.aclose())


def lines(*typed: str | type[BaseException]) -> Callable[[], str]:
    """A keyboard: each line in turn, or the exception that a key makes; then the end."""
    left = list(typed)

    def read() -> str:
        line = left.pop(0) if left else EOFError
        if isinstance(line, str):
            return line
        raise line

    return read


def talk(loop: LoopThread, agents: Agents, *typed: str | type[BaseException]) -> str:
    """What the terminal shows."""
    out = io.StringIO()
    console = Console(file=out, width=200, color_system=None)
    Chat(loop, agents, SCOPE, console, lines(*typed), ids=lambda: "fresh").run()
    return out.getvalue()


def test_a_question_is_answered_and_notes_are_shown_once(loop: LoopThread, agents: Agents) -> None:
    shown = talk(loop, agents, "My cat is Bilbo.", "What is my cat's name?", "/quit", "never read")
    assert "Noted: My cat is Bilbo." in shown and "“My cat is Bilbo.”" in shown
    assert shown.count("(tail: Redis is away") == 1 and shown.count("not there yet)") == 1


def test_commands_work_with_everything_away(loop: LoopThread, agents: Agents) -> None:
    shown = talk(loop, agents, "/help", "/memory", "/sessions", "/status", "/new", "/nonsense", "", "  ")
    assert "/memory    what was recalled" in shown
    assert "There is no reply in this session yet." in shown
    assert "The sessions cannot be read" in shown
    assert "offline: offline" in shown and "degraded: store" in shown and "unknown" in shown
    assert "New session fresh." in shown
    assert "There is no command /nonsense; /help lists them." in shown


def test_memory_says_why_there_is_none(loop: LoopThread, agents: Agents) -> None:
    assert "Nothing was recalled for the last reply (rule: wanted)." in talk(loop, agents, "hello", "/memory")


def test_what_is_spooled_is_counted(loop: LoopThread, agents: Agents) -> None:
    assert "2 events wait for Redis" in talk(loop, agents, "hello", "/status")


def test_ctrl_c_at_the_prompt_leaves_nothing_and_ctrl_d_leaves(loop: LoopThread, agents: Agents) -> None:
    shown = talk(loop, agents, KeyboardInterrupt, "hello", EOFError)
    assert "/quit or Ctrl-D leaves." in shown and "Noted: hello" in shown


def test_a_refused_message_is_a_readable_error(loop: LoopThread, agents: Agents) -> None:
    shown = talk(loop, agents, "x" * (1024 * 1024 + 1), "hello")
    assert "No answer: the message cannot be taken: content" in shown and "Noted: hello" in shown


def test_a_crash_of_the_agent_is_an_error_and_not_the_end(
    loop: LoopThread, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: object, **__: object) -> None:
        raise KeyError("loose end")

    with monkeypatch.context() as patched:
        patched.setattr(agents.reader, "build_context", crash)
        out = io.StringIO()
        assert converse(loop, agents.host, SCOPE, ["one", "two"], out, as_json=False) == 2
        assert out.getvalue() == "error: the agent crashed (KeyError); see the log\n" * 2
        assert "No answer: the agent crashed (KeyError); see the log" in talk(loop, agents, "three", "/help")
    assert "Noted: hello" in talk(loop, agents, "hello")


def test_lines_in_json_out(loop: LoopThread, agents: Agents) -> None:
    out = io.StringIO()
    failed = converse(loop, agents.host, SCOPE, ["hello\n", "\n", "x" * (1024 * 1024 + 1)], out, as_json=True)
    answered, refused = map(json.loads, out.getvalue().splitlines())
    assert failed == 1
    assert (answered["session"], answered["reply"], answered["sources"]) == ("s1", "Noted: hello", [])
    assert answered["event_id"] != answered["reply_id"] and answered["spooled"] is True
    assert "content" in refused["error"] and refused["session"] == "s1"


def test_lines_in_plain_text_out(loop: LoopThread, agents: Agents) -> None:
    out = io.StringIO()
    assert converse(loop, agents.host, SCOPE, ["hello"], out, as_json=False) == 0
    assert out.getvalue() == "Noted: hello\n"


def test_the_loop_hands_errors_and_values_over(loop: LoopThread) -> None:
    async def fail() -> None:
        raise ValueError("told")

    async def give() -> int:
        return 7

    assert loop.run(give()) == 7
    with pytest.raises(ValueError, match="told"):
        loop.run(fail())


def shown(show: Callable[[Console], None]) -> str:
    out = io.StringIO()
    show(Console(file=out, width=200, color_system=None))
    return out.getvalue()


def test_memories_are_shown_with_their_provenance() -> None:
    hit = Hit(
        "message", 1, 0.91, "My cat\x1b[31m is [bold]Bilbo[/].", 1_700_000_000, "s0", "user", 3, "e1",
        parts={"text": 0.7, "dense": 0.21},
    )  # fmt: skip
    told = shown(lambda console: views.memory(console, Reply("s1", "Bilbo", "e3", "e2", sources=(hit,))))
    assert "0.91" in told and "s0 turn 3" in told and "text 0.70, dense 0.21" in told
    assert "[bold]Bilbo[/]" in told and "\x1b[31m" not in told


def test_sessions_are_shown_with_the_current_one_marked() -> None:
    row = SessionRow("default", "s1", 1, 0.0, 1_700_000_000.0, message_count=4, turn_count=2)
    told = shown(lambda console: views.sessions(console, [row], "s1"))
    assert "*" in told and "s1" in told and "4" in told
    assert "No session is stored yet." in shown(lambda console: views.sessions(console, [], "s1"))


def test_the_state_is_shown_as_it_is() -> None:
    models = {"chat": {"provider": "openai", "model": "m1"}}
    lag = Lag(3, {"embed": 2}, 12.0)
    told = shown(lambda console: views.status(console, models, lag, [Degraded("tail", "slow")], 0))
    assert "openai: m1" in told and "3 events" in told and "2 embed, oldest 12 s" in told
    assert "degraded: tail" in told and "spooled" not in told
    idle = shown(lambda console: views.status(console, models, Lag(0, {}, 0.0), [], 0))
    assert "nothing" in idle
