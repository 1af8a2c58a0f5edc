"""Server-sent events out of a byte stream, however it is cut into pieces."""

import codecs

from llm.errors import BadReply

_LONGEST = 8 * 1024 * 1024
"""Characters of one event; a server that never ends its line must not fill the memory."""


class SseParser:
    """Takes bytes as they come and hands out the `data` of each event that is whole.

    Lines may end in LF, CRLF or CR; comments and other fields are passed over. An event whose lines are whole
    counts also without the empty line after it, once the stream ends; a line that is cut off does not.
    """

    def __init__(self) -> None:
        # The decoder keeps a character that is cut between two chunks until its other half comes.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[str]:
        """The events that `chunk` completes.

        Raises:
            BadReply: an event is too long.
        """
        text = self._rest + self._decoder.decode(chunk)
        # A CR at the very end may be the first half of a CRLF.
        held = "\r" if text.endswith("\r") else ""
        *lines, rest = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = rest + held
        if len(self._rest) > _LONGEST:
            raise BadReply("a line of the stream is too long")
        return [event for line in lines if (event := self._line(line)) is not None]

    def finish(self) -> list[str]:
        """The event that stands when the stream ends."""
        events = []
        if self._rest.endswith("\r"):
            events.append(self._line(self._rest.removesuffix("\r")))
        events.append(self._line(""))
        return [event for event in events if event is not None]

    def _line(self, line: str) -> str | None:
        if not line:
            event = "\n".join(self._data) if self._data else None
            self._data, self._size = [], 0
            return event
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
            self._size += len(value)
            if self._size > _LONGEST:
                raise BadReply("an event of the stream is too long")
        return None
