"""The prompts of the workers, as Markdown files: one's own in `prompts_dir`, else those beside this module."""

from pathlib import Path

from config.errors import InvalidSettings

DEFAULTS = Path(__file__).parent / "prompts"


def load_prompt(name: str, folder: Path | None = None) -> str:
    """The text of `<name>.md` in `folder`, or the default one where there is none. It has fields in braces.

    Raises:
        InvalidSettings: it cannot be read.
    """
    path = DEFAULTS / f"{name}.md"
    if folder is not None and (folder / f"{name}.md").exists():
        path = folder / f"{name}.md"
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"prompts_dir: {path} cannot be read: {error}") from error
