"""What the parts of the ingestion benchmark share."""

import sys
from pathlib import Path

from tests.stack import Stack

SEED = 20_240_601


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def stack(folder: str, **settings: str | float | int) -> Stack:
    """A stack with the settings of production, but for where it lives."""
    own = {
        "ingest_lease": 10.0,
        "ingest_block": 0.5,
        "job_lease": 60.0,
        "embed_wait": 2.0,
        "sweep_every": 30.0,
    }
    return Stack(Path(folder), **{**own, "heartbeat_every": 10.0, "visibility_timeout": 300.0, **settings})
