"""Settings of where things live and of the log; part of `config.settings.Settings`."""

from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field


class PlaceSettings(BaseModel):
    """The data folder with what stands in it, the Redis server, prompts, and the log."""

    data_dir: Path = Field(Path("data"), description="Folder of the database, the spool, the embedded Redis and logs.")
    redis_url: str | None = Field(None, description="Your own Redis; absent: the embedded one in the data folder.")
    redis_prefix: str = Field("sidestream:", min_length=1, description="Prefix of every Redis key and Celery queue.")
    prompts_dir: Path | None = Field(
        None, description="Folder of your own prompts, by the names in config/prompts; absent ones as there."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    log_format: Literal["auto", "json", "console"] = Field(
        "auto", description="auto: console on a terminal, else JSON."
    )

    @cached_property
    def database(self) -> Path:
        """The SQLite file."""
        return self.data_dir / "sidestream.db"

    @cached_property
    def spool_dir(self) -> Path:
        """Folder of the publishers' spool files."""
        return self.data_dir / "spool"
