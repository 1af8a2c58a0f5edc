"""How far an interrupted import has come, so that the next try goes on there.

It only saves time: ids are made from the files, so publishing an event again changes nothing.
"""

import contextlib
import hashlib
import json
from pathlib import Path

from cli.importing import ChatFile


class ImportProgress:
    """How many events of one file were accepted, kept in `<data_dir>/imports`; void once the file changes."""

    def __init__(self, data_dir: Path, file: ChatFile) -> None:
        what = "\0".join((str(file.path.resolve()), file.source, file.user_id or "", file.namespace))
        self._path = data_dir / "imports" / f"{hashlib.sha256(what.encode('utf-8', 'replace')).hexdigest()[:16]}.json"
        self._content = _digest(file.path)

    def accepted(self) -> int:
        """How many events of this very content were accepted by an import that did not end."""
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return 0
        return int(found["events"]) if found.get("content") == self._content else 0

    def save(self, events: int) -> None:
        """Records that so many events, from the file's start, are accepted."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(".tmp")
        temporary.write_text(json.dumps({"content": self._content, "events": events}))
        temporary.replace(self._path)

    def end(self) -> None:
        """The import is complete; a later one looks at every event again."""
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
