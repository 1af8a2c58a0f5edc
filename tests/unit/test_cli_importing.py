"""What an import reads before it publishes, and where it goes on."""

import json
from pathlib import Path

import pytest

from cli.import_progress import ImportProgress
from cli.importing import ChatFile, name_sources, scan


def chat(path: Path, *lines: str | bytes) -> ChatFile:
    path.write_bytes(b"".join(line if isinstance(line, bytes) else f"{line}\n".encode() for line in lines))
    return ChatFile(path, path.stem, "ann", "default")


def message(content: str, role: str = "user") -> str:
    return json.dumps({"role": role, "content": content})


def test_a_scan_counts_events_and_names_bad_lines(tmp_path: Path) -> None:
    file = chat(
        tmp_path / "a.jsonl",
        message("The kettle is blue."),
        "{broken",
        message("Noted.", "assistant"),
        message("", "user"),
        b'{"role": "user", "content": "\xff\xfe"}\n',
        json.dumps({"role": "pilot", "content": "hm"}),
    )
    found = scan(file)
    assert (found.messages, found.events) == (2, 3)
    assert [bad.line_no for bad in found.bad] == [2, 4, 5, 6]


def test_what_lies_ahead_of_the_clock_is_named_with_its_line(tmp_path: Path) -> None:
    lines = [
        {"session_id": s, "role": "user", "content": "x", "ts": t}
        for s, t in (("a", "2024-01-01"), ("b", "2999-01-01"))
    ]
    found = scan(chat(tmp_path / "a.jsonl", *map(json.dumps, lines)))
    assert (found.messages, found.events) == (1, 2)
    assert [bad.line_no for bad in found.bad] == [2, 2]
    assert "ahead of the clock" in found.bad[0].reason


def test_an_interrupted_import_goes_on_while_the_file_is_the_same(tmp_path: Path) -> None:
    file = chat(tmp_path / "a.jsonl", message("one"), message("two"))
    ImportProgress(tmp_path / "data", file).save(1)
    assert ImportProgress(tmp_path / "data", file).accepted() == 1
    chat(file.path, message("one"), message("two"), message("three"))
    assert ImportProgress(tmp_path / "data", file).accepted() == 0


def test_progress_belongs_to_a_file_a_user_and_a_namespace(tmp_path: Path) -> None:
    file = chat(tmp_path / "a.jsonl", message("one"))
    ImportProgress(tmp_path / "data", file).save(1)
    other = ChatFile(file.path, file.source, "ben", file.namespace)
    assert ImportProgress(tmp_path / "data", other).accepted() == 0


def test_a_complete_import_leaves_no_progress(tmp_path: Path) -> None:
    progress = ImportProgress(tmp_path / "data", chat(tmp_path / "a.jsonl", message("one")))
    progress.save(1)
    progress.end()
    progress.end()
    assert progress.accepted() == 0
    assert list((tmp_path / "data" / "imports").iterdir()) == []


def test_damaged_progress_means_the_whole_file(tmp_path: Path) -> None:
    progress = ImportProgress(tmp_path / "data", chat(tmp_path / "a.jsonl", message("one")))
    progress.save(1)
    [path] = (tmp_path / "data" / "imports").iterdir()
    path.write_text("half a li")
    assert progress.accepted() == 0


def test_two_files_do_not_get_one_name() -> None:
    assert name_sources([Path("a/x.jsonl"), Path("b/y.json")], None) == {
        Path("a/x.jsonl"): "x",
        Path("b/y.json"): "y",
    }
    with pytest.raises(ValueError, match="--source"):
        name_sources([Path("a/x.jsonl"), Path("b/x.json")], None)
