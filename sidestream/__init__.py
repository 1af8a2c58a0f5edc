"""Sidestream: agent memory that stays off the reply path.

Publish with `Publisher` or `AsyncPublisher` (through Redis), read with `Client` or `AsyncClient` (over HTTP).
Doubles for tests are in `sidestream.testing`, the API's models in `sidestream.api_models`.
"""

from sidestream.aio import AsyncPublisher
from sidestream.aio_client import AsyncClient
from sidestream.client import Client
from sidestream.errors import (
    ApiError,
    ApiUnavailable,
    InvalidEvent,
    PublishError,
    RedisUnavailable,
    SidestreamError,
    SpoolFull,
    SpoolUnavailable,
)
from sidestream.events import (
    Event,
    MemoryAdjust,
    MemoryForget,
    MemoryRemember,
    MemoryUsed,
    Message,
    SessionEnded,
    SessionFlushed,
    SessionReset,
    SessionStarted,
    SubagentFinished,
    SubagentMessage,
    SubagentStarted,
)
from sidestream.publisher import Publisher
from sidestream.receipts import Receipt

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "ApiUnavailable",
    "AsyncClient",
    "AsyncPublisher",
    "Client",
    "Event",
    "InvalidEvent",
    "MemoryAdjust",
    "MemoryForget",
    "MemoryRemember",
    "MemoryUsed",
    "Message",
    "PublishError",
    "Publisher",
    "Receipt",
    "RedisUnavailable",
    "SessionEnded",
    "SessionFlushed",
    "SessionReset",
    "SessionStarted",
    "SidestreamError",
    "SpoolFull",
    "SpoolUnavailable",
    "SubagentFinished",
    "SubagentMessage",
    "SubagentStarted",
]
