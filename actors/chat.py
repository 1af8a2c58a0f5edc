"""The chat in a terminal."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

from rich.console import Console
from rich.text import Text

from actors import views
from actors.errors import in_words
from actors.loop_thread import LoopThread
from actors.messages import Reply
from actors.wiring import Agents
from memory.types import Scope
from sidestream.ids import new_id
from store.errors import StoreError

HELP = """\
/new       start a new session; what was said stays in memory
/sessions  your sessions
/memory    what was recalled for the last reply, and where it comes from
/status    models, workers, and what works less well for now
/help      this
/quit      leave (Ctrl-D does too)
Ctrl-C stops a reply, or clears the line."""
_MOST_SESSIONS = 20


class Chat:
    """One user at one terminal. `read` gives the next line, or raises EOFError at the end."""

    def __init__(
        self,
        loop: LoopThread,
        agents: Agents,
        scope: Scope,
        console: Console,
        read: Callable[[], str],
        *,
        ids: Callable[[], str] = new_id,
    ) -> None:
        self.scope = scope
        self._loop = loop
        self._agents = agents
        self._console = console
        self._read = read
        self._ids = ids
        self._last: Reply | None = None
        self._noted: set[tuple[str, str]] = set()
        self._commands: dict[str, Callable[[], None]] = {
            "/help": lambda: self._console.print(Text(HELP)),
            "/new": self._new,
            "/sessions": self._sessions,
            "/memory": self._memory,
            "/status": self._status,
        }

    def run(self) -> None:
        """Talks until the user leaves."""
        model = self._agents.models["chat"]
        self._console.print(Text(f"Sidestream. Model: {model['model']} ({model['provider']}). /help for help."))
        interrupted = False
        while True:
            # All rounds in one block, the jump from one to the next too, which is where Python may raise an
            # interrupt that came at the end of a round: outside the block it would end the chat.
            try:
                if interrupted:
                    interrupted = False
                    self._console.print(Text("\n/quit or Ctrl-D leaves."))
                while self._round():
                    pass
                return
            except KeyboardInterrupt:
                interrupted = True

    def _round(self) -> bool:
        """Takes one line; false when the user leaves."""
        try:
            line = self._read().strip()
        except EOFError:
            self._console.print()
            return False
        if line != "/quit":
            self._take(line)
        return line != "/quit"

    def _take(self, line: str) -> None:
        command = line.split(maxsplit=1)[0] if line.startswith("/") else ""
        if command in self._commands:
            self._commands[command]()
        elif command:
            self._console.print(Text(f"There is no command {command}; /help lists them."))
        elif line:
            self._say(line)

    def _say(self, line: str) -> None:
        pieces: SimpleQueue[str | None] = SimpleQueue()
        future = self._loop.submit(self._agents.host.sessions.say(self.scope, line, on_piece=pieces.put))
        future.add_done_callback(lambda _: pieces.put(None))
        try:
            while (piece := pieces.get()) is not None:
                self._console.print(Text(views.printable(piece)), end="", soft_wrap=True)
            self._console.print()
            self._finish(future)
        except KeyboardInterrupt:
            future.cancel()
            self._console.print(Text("\n(stopped; the question stays, the answer was not kept)", style="dim"))

    def _finish(self, future: "Future[Reply]") -> None:
        error = future.exception()
        if error is not None:
            self._console.print(Text(f"No answer: {views.printable(in_words(error))}", style="red"))
            return
        self._last = future.result()
        for note in self._last.degraded:
            if (note.part, note.reason) not in self._noted:
                self._noted.add((note.part, note.reason))
                self._console.print(Text(f"({note.part}: {views.printable(note.reason)})", style="yellow"))
        if not self._last.durable:
            self._console.print(Text("(this answer is not kept yet; the next message tries again)", style="yellow"))
        elif self._last.sources:
            self._console.print(Text(f"({len(self._last.sources)} memories used; /memory shows them)", style="dim"))

    def _new(self) -> None:
        ended = self._loop.run(self._agents.host.sessions.end(self.scope))
        self.scope = Scope(self.scope.user_id, self.scope.namespace, self._ids(), self.scope.agent_id)
        self._last = None
        note = "" if ended else " (the old one could not be closed yet)"
        self._console.print(Text(f"New session {self.scope.session_id}{note}."))

    def _sessions(self) -> None:
        try:
            rows = self._loop.run(self._agents.reader.sessions(self.scope, _MOST_SESSIONS))
        except StoreError as error:
            self._console.print(Text(f"The sessions cannot be read: {error}", style="red"))
            return
        views.sessions(self._console, rows, self.scope.session_id or "")

    def _memory(self) -> None:
        if self._last is None:
            self._console.print("There is no reply in this session yet.")
        else:
            views.memory(self._console, self._last)

    def _status(self) -> None:
        lag, notes = self._loop.run(self._agents.reader.lag(self.scope))
        views.status(self._console, self._agents.models, lag, notes, self._agents.publisher.spooled)
