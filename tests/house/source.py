"""What the house tests look at: the repository's files and their syntax trees."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sidestream", "config", "memory", "llm", "recall", "store", "actors", "workers", "api", "cli")


@cache
def files() -> tuple[Path, ...]:
    """Every file that is or could be committed, relative to the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return tuple(sorted(path for name in set(listed) if (ROOT / (path := Path(name))).is_file()))


@cache
def python_files(*tops: str) -> tuple[Path, ...]:
    """Python files, all or those under the named top folders."""
    return tuple(p for p in files() if p.suffix == ".py" and (not tops or p.parts[0] in tops))


@cache
def text(path: Path) -> str:
    """A file's text; `path` is relative to the root."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """A Python file's syntax tree."""
    return ast.parse(text(path), filename=str(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file, nested ones too."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a file with the last part of what is called: `log.info(...)` gives `info`."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr, node
            elif isinstance(node.func, ast.Name):
                yield node.func.id, node


def doc(name: str) -> str:
    """The text of a page in docs/."""
    return text(Path("docs") / name)


def docs() -> str:
    """README and all pages of docs/, one after the other."""
    pages = [p for p in files() if p.suffix == ".md" and (p.parts[0] == "docs" or p.name == "README.md")]
    return "\n".join(text(p) for p in pages)
