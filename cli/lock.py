"""One stack a data folder, held by flock: the kernel lets go of it when the holder dies, however it dies."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from cli.errors import AlreadyRunning


class FolderLock:
    """The right to run the stack of one data folder, as a context manager.

    Raises:
        AlreadyRunning: names the process that holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "up.lock"
        self._descriptor: int | None = None

    def __enter__(self) -> "FolderLock":
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise AlreadyRunning(
                f"Sidestream already runs on {self._folder.resolve()} (process {holder}); stop it first, "
                "or set SIDESTREAM_DATA_DIR to another folder"
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            # The file stays: removing it would let two processes lock two files of one name.
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
