"""Prompts are files: those that come along, and one's own in their place."""

from pathlib import Path

import pytest

from config.errors import InvalidSettings
from config.prompt_files import DEFAULTS, load_prompt
from config.settings import load
from memory.compaction.parts import TITLES
from workers.compact import compact_options


def test_a_prompt_of_ones_own_takes_the_place_of_the_default(tmp_path: Path) -> None:
    assert "ten keys" in load_prompt("checkpoint")
    assert load_prompt("checkpoint", tmp_path) == load_prompt("checkpoint")
    (tmp_path / "checkpoint.md").write_text("Write {words} words in {language}.\n")
    assert load_prompt("checkpoint", tmp_path) == "Write {words} words in {language}."
    assert compact_options(load(prompts_dir=tmp_path)).template == "Write {words} words in {language}."


def test_a_prompt_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "timeline.md").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSettings, match=r"prompts_dir: .*timeline\.md cannot be read"):
        load_prompt("timeline", tmp_path)


def test_the_prompt_names_every_part_of_a_checkpoint() -> None:
    text = load_prompt("checkpoint")
    assert [part for part in TITLES if f'"{part}"' not in text] == []
    assert {path.stem for path in DEFAULTS.glob("*.md")} >= {"checkpoint", "timeline"}
