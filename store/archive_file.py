"""The form of an archive file: JSON lines in zstd frames, readable with `zstd -dc` and any JSON reader.

The first line is a header: `{"format": "sidestream-archive", "version": 1, "schema": ..., "namespace": ...,
"kind": ..., "rows": ...}`; each further line is one item. Each frame holds whole lines and has a checksum of its
own, so that a damaged part costs its frame alone and what stands before and behind it can still be read.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import zstandard

Item: TypeAlias = dict[str, Any]

FORMAT: Final = "sidestream-archive"
VERSION: Final = 1
FRAME_ITEMS: Final = 64
_MAGIC = b"\x28\xb5\x2f\xfd"
_LEVEL = 9
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Contents:
    """What could be read. `damage` says what could not, in words; empty where all is whole."""

    header: Mapping[str, Any]
    items: list[Item]
    damage: list[str] = field(default_factory=list)


def encode(header: Mapping[str, Any], items: Sequence[Item]) -> bytes:
    """The file; the same header and items give the same bytes."""
    full = {"format": FORMAT, "version": VERSION, **header, "rows": len(items)}
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, write_content_size=True)
    frames = [compressor.compress(_lines([full]))]
    for start in range(0, len(items), FRAME_ITEMS):
        frames.append(compressor.compress(_lines(items[start : start + FRAME_ITEMS])))
    return b"".join(frames)


def decode(data: bytes) -> Contents:
    """Everything that can be read of the file, with what cannot be."""
    header: Mapping[str, Any] = {}
    items: list[Item] = []
    damage: list[str] = []
    for offset, text in _frames(data):
        if text is None:
            damage.append(f"the part at byte {offset} cannot be read")
            continue
        for line in text.splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                damage.append(f"a line in the part at byte {offset} is no JSON")
                continue
            if found.get("format") == FORMAT and "kind" in found and "row" not in found:
                header = found
            else:
                items.append(found)
    return Contents(header, items, damage + _missing(header, items))


def checksum(data: bytes) -> str:
    """SHA-256 of the file's bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def _missing(header: Mapping[str, Any], items: Sequence[Item]) -> list[str]:
    if not header:
        return ["the header cannot be read"]
    if header.get("version") != VERSION:
        return [f"version {header.get('version')!r} is not known, {VERSION} is"]
    if len(items) != header["rows"]:
        return [f"{header['rows'] - len(items)} of {header['rows']} items are missing"]
    return []


def _lines(values: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False, sort_keys=True).encode() + b"\n" for value in values)


def _frames(data: bytes) -> Iterator[tuple[int, bytes | None]]:
    """Offset and text of each frame; None where one is damaged, and on with the next that begins behind it."""
    offset = 0
    while offset < len(data):
        found = _frame(data, offset)
        if found is None:
            yield offset, None
            following = data.find(_MAGIC, offset + 1)
            offset = len(data) if following < 0 else following
        else:
            text, length = found
            yield offset, text
            offset += length


def _frame(data: bytes, offset: int) -> tuple[bytes, int] | None:
    reader = zstandard.ZstdDecompressor().decompressobj()
    parts: list[bytes] = []
    position = offset
    try:
        while not reader.eof:
            chunk = data[position : position + _CHUNK]
            if not chunk:
                return None
            parts.append(reader.decompress(chunk))
            position += len(chunk)
    except zstandard.ZstdError:
        return None
    return b"".join(parts), position - len(reader.unused_data) - offset
