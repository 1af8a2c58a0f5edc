"""Where the API can listen."""

import socket

from cli.errors import AlreadyRunning
from config.settings import Settings


def choose_port(found: Settings) -> int:
    """The configured port; a free one where it is 0, or where it is only the default and taken.

    Raises:
        AlreadyRunning: a port that was asked for is taken.
    """
    if found.api_port and is_free(found.api_host, found.api_port):
        return found.api_port
    if found.api_port and "api_port" in found.model_fields_set:
        raise AlreadyRunning(f"port {found.api_port} on {found.api_host} is taken; set SIDESTREAM_API_PORT to another")
    return free_port(found.api_host)


def is_free(host: str, port: int) -> bool:
    """Whether somebody could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str) -> int:
    """A port that nobody listened on a moment ago."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
