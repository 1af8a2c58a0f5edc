"""structlog for every process: one event name and fields a line, JSON unless a person is watching.

Log events are listed in docs/operations.md; a test holds the two in step.
"""

import logging
import sys
from pathlib import Path

import structlog

from config.settings import Settings


def configure(settings: Settings, *, file: Path | None = None) -> None:
    """Sets up structlog for this process; libraries that use the standard module go the same way.

    To stderr, or into `file` where a person looks at the terminal for something else; its folder is made.
    """
    wanted = settings.log_format
    console = wanted == "console" or (wanted == "auto" and file is None and sys.stderr.isatty())
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(file) if file is not None else logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.getLogger("httpx").setLevel(max(level, logging.WARNING))


def get_logger(name: str) -> structlog.typing.FilteringBoundLogger:
    """A logger bound to the component's name."""
    # Bound at its first use, so that a logger made at import obeys what `configure` sets later.
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger(component=name)
    return logger
