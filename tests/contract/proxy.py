"""A TCP proxy before a server's socket that can lose replies, as a network does."""

import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_CHUNK = 64 * 1024


class LossyProxy:
    """Forwards to a unix socket. While `lose_replies` is set, requests pass and replies do not.

    The connection whose reply was lost is closed, so that the client learns of it.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self.lose_replies = threading.Event()
        self.lost = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in (self._listener, *self._open):
            _hang_up(connection)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._open += [client, server]
                try:
                    server.connect(str(self._target))
                except OSError:
                    _hang_up(client)
                    continue
                threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
                threading.Thread(target=self._replies, args=(server, client), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(_CHUNK):
                server.sendall(data)
        _hang_up(server)

    def _replies(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(_CHUNK):
                if self.lose_replies.is_set():
                    self.lost.set()
                    break
                client.sendall(data)
        _hang_up(client)
        _hang_up(server)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
