"""Archive files in a bucket of any S3-compatible store, through obstore."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from store.errors import ArchiveDamaged, ArchiveUnavailable

if TYPE_CHECKING:
    from obstore.store import S3Config

_TIMEOUT = timedelta(seconds=60)
_RETRYING = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class S3Place:
    """A bucket. `endpoint` is a base URL, None for the service of the region."""

    bucket: str
    prefix: str = ""
    endpoint: str | None = None
    region: str = "us-east-1"
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)


class S3Archive:
    """As `store.archive_folder.ArchiveFolder`. A put is whole or not at all by S3's own promise."""

    def __init__(self, place: S3Place) -> None:
        self.place = f"s3://{place.bucket}/{place.prefix}".rstrip("/")
        config: S3Config = {"region": place.region}
        if place.endpoint is not None:
            config["endpoint"] = place.endpoint
        if place.access_key is not None and place.secret_key is not None:
            config["access_key_id"], config["secret_access_key"] = place.access_key, place.secret_key
        self._store = S3Store(
            place.bucket,
            prefix=place.prefix or None,
            config=config,
            client_options={"timeout": _TIMEOUT, "allow_http": (place.endpoint or "").startswith("http://")},
            retry_config={"max_retries": 3, "retry_timeout": _RETRYING},
        )

    def put(self, name: str, data: bytes) -> None:
        """As `ArchiveFolder.put`."""
        with self._told("written", name):
            obstore.put(self._store, name, data)

    def get(self, name: str) -> bytes:
        """As `ArchiveFolder.get`."""
        with self._told("read", name):
            try:
                return bytes(obstore.get(self._store, name).bytes())
            except FileNotFoundError as error:
                raise ArchiveDamaged(f"{self.place}/{name}: is not there") from error

    def delete(self, name: str) -> None:
        """As `ArchiveFolder.delete`."""
        with self._told("removed", name):
            try:
                obstore.delete(self._store, name)
            except FileNotFoundError:
                return

    def names(self) -> list[str]:
        """As `ArchiveFolder.names`."""
        with self._told("listed", ""):
            return sorted(meta["path"] for page in obstore.list(self._store) for meta in page)

    @contextmanager
    def _told(self, what: str, name: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ArchiveUnavailable(f"{self.place}/{name}: cannot be {what}: {first}") from error
