"""What lies in a mailbox: a message and, for an ask, where its answer goes."""

import asyncio
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Envelope:
    """A message on its way.

    `reply_to` is None for a tell. `bound` work is cancelled when its asker stops waiting.
    """

    message: Any
    reply_to: asyncio.Future[Any] | None = None
    bound: bool = False

    def answer(self, value: Any) -> None:
        """Gives the asker `value`; nothing happens for a tell or when the asker has gone."""
        if self.reply_to is not None and not self.reply_to.done():
            self.reply_to.set_result(value)

    def fail(self, error: BaseException) -> None:
        """Raises `error` in the asker; nothing happens for a tell or when the asker has gone."""
        if self.reply_to is not None and not self.reply_to.done():
            self.reply_to.set_exception(error)

    @property
    def abandoned(self) -> bool:
        """The asker has stopped waiting."""
        return self.reply_to is not None and self.reply_to.cancelled()
