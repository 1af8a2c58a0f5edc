"""What commands share: settings, the address of Redis, and the environment of processes that they start."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from cli.errors import Misconfigured
from config.errors import InvalidSettings
from config.logging import configure
from config.settings import Settings, load
from store.embedded import EmbeddedRedis

ROOT = Path(__file__).resolve().parent.parent
"""The checkout. Processes start there, so that `workers`, `api` and `config` are this program's own."""


def settings() -> Settings:
    """The settings of this command, logging set up by them.

    Raises:
        Misconfigured: names each setting that is wrong.
    """
    try:
        found = load()
    except InvalidSettings as error:
        raise Misconfigured(str(error)) from error
    configure(found)
    return found


def redis_url(found: Settings) -> str:
    """The configured Redis, else the embedded one of the data folder, whether it runs or not."""
    return found.redis_url or EmbeddedRedis(found.data_dir).url


def without_password(url: str) -> str:
    """A Redis address that may be shown."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return urlunsplit(parts._replace(netloc=f"***@{parts.netloc.rpartition('@')[2]}"))


def child_environment(found: Settings, **own: str) -> Mapping[str, str]:
    """The environment of a process that runs in `ROOT` with this command's settings.

    Paths are made absolute, since the process has another working folder; `own` are settings by their names.
    """
    config = Path(os.environ.get("SIDESTREAM_CONFIG", "sidestream.toml"))
    paths = {"SIDESTREAM_DATA_DIR": str(found.data_dir.resolve()), "SIDESTREAM_REDIS_URL": redis_url(found)}
    if found.archive_url is not None and "://" not in found.archive_url:
        paths["SIDESTREAM_ARCHIVE_URL"] = str(found.archive_dir.resolve())
    if config.is_file():
        paths["SIDESTREAM_CONFIG"] = str(config.resolve())
    return {**os.environ, **paths, **{f"SIDESTREAM_{name.upper()}": value for name, value in own.items()}}
