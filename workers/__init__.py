"""Celery workers and the stream consumer. The only importer of celery.

A checkout runs with its own folder on the path, and `config` is a name that other programs use too. So the
first import of any worker process checks which one it got.
"""

from pathlib import Path

import config
from workers.errors import ForeignConfig

_found = Path(config.__file__ or "").resolve()
if _found.parent.parent != Path(__file__).resolve().parent.parent:
    raise ForeignConfig(
        f"the package `config` was imported from {_found}, not from this checkout; start the worker in the "
        "checkout's folder and keep other packages of that name off PYTHONPATH"
    )
