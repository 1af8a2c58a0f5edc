"""How the client package logs: a name and its fields in one message, on the standard library's loggers.

A backend's own logging shows them as it stands; nothing of `extra` gets lost.
"""

import logging
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Adapter = logging.LoggerAdapter[logging.Logger]
else:
    Adapter = logging.LoggerAdapter


class EventLogger(Adapter):
    """Writes `log.warning("spool_begun", reason=...)` as `spool_begun reason=...`."""

    def process(self, msg: object, kwargs: MutableMapping[str, Any]) -> tuple[str, MutableMapping[str, Any]]:
        """Puts every keyword that logging does not know into the message."""
        known = {name: kwargs.pop(name) for name in ("exc_info", "stack_info", "stacklevel") if name in kwargs}
        fields = "".join(f" {name}={value}" for name, value in kwargs.items())
        return f"{msg}{fields}", known


def get_logger(name: str) -> EventLogger:
    """The logger `sidestream.<name>`."""
    return EventLogger(logging.getLogger(f"sidestream.{name}"), {})
