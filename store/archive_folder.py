"""Where archive files lie: a local folder. `store/archive_s3.py` is the same over an S3-compatible store."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from store.errors import ArchiveDamaged, ArchiveUnavailable

HALF_WRITTEN: Final = ".part"


class ArchiveFolder(Protocol):
    """Files by name; a name is made of plain letters, digits and `/._-`."""

    @property
    def place(self) -> str:
        """Where it is, for people."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Writes a file whole or not at all, durable when this returns.

        Raises:
            ArchiveUnavailable: it cannot be written.
        """
        ...

    def get(self, name: str) -> bytes:
        """The file's bytes.

        Raises:
            ArchiveDamaged: there is none of this name.
            ArchiveUnavailable: it cannot be read.
        """
        ...

    def delete(self, name: str) -> None:
        """Removes a file; one that is not there does no harm.

        Raises:
            ArchiveUnavailable: it cannot be removed.
        """
        ...

    def names(self) -> list[str]:
        """All files, in order.

        Raises:
            ArchiveUnavailable: it cannot be listed.
        """
        ...


class LocalArchive:
    """Archive files under one folder, readable by their owner alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def place(self) -> str:
        """The folder's path."""
        return str(self._folder)

    def put(self, name: str, data: bytes) -> None:
        """As `ArchiveFolder.put`: written beside, fsynced, renamed, and the folder fsynced."""
        path = self._folder / name
        part = path.with_name(path.name + HALF_WRITTEN)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            _sync_folder(path.parent)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise ArchiveUnavailable(f"{path}: cannot be written: {error.strerror}") from error

    def get(self, name: str) -> bytes:
        """As `ArchiveFolder.get`."""
        path = self._folder / name
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise ArchiveDamaged(f"{path}: is not there") from error
        except OSError as error:
            raise ArchiveUnavailable(f"{path}: cannot be read: {error.strerror}") from error

    def delete(self, name: str) -> None:
        """As `ArchiveFolder.delete`."""
        path = self._folder / name
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise ArchiveUnavailable(f"{path}: cannot be removed: {error.strerror}") from error

    def names(self) -> list[str]:
        """As `ArchiveFolder.names`; what a killed writer left half-written is among them."""
        if not self._folder.exists():
            return []
        try:
            return sorted(self._walk())
        except OSError as error:
            raise ArchiveUnavailable(f"{self._folder}: cannot be listed: {error.strerror}") from error

    def _walk(self) -> Iterator[str]:
        for path in self._folder.rglob("*"):
            if path.is_file():
                yield path.relative_to(self._folder).as_posix()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
