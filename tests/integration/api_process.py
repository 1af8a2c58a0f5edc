"""The API as a process of a test's stack."""

import sys
import time

import httpx

from cli.ports import free_port
from tests.stack import Process, Stack


def start_api(stack: Stack, **settings: str) -> tuple[Process, str]:
    """`sidestream serve` on a free port, once it answers; the process and its address."""
    port = free_port("127.0.0.1")
    extra = {f"SIDESTREAM_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "sidestream", "serve"]
    process = stack.start("api", command, SIDESTREAM_API_PORT=str(port), **extra)
    url = f"http://127.0.0.1:{port}"
    stack.wait(lambda: answers(process, url), "the API answers")
    return process, url


def answers(process: Process, url: str) -> bool:
    """Whether it does; one that has ended never will."""
    assert process.exit_code is None, process.log()
    try:
        return httpx.get(f"{url}/health/live", trust_env=False, timeout=1.0).status_code == 200
    except httpx.HTTPError:
        time.sleep(0.05)
        return False
