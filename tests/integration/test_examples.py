"""The examples run as they stand."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.integration.api_process import start_api
from tests.stack import ROOT, Stack

BACKEND = ROOT / "examples" / "backend.py"


def test_a_backend_publishes_through_redis_and_reads_over_http(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        stack.start_ingest()
        _, url = start_api(stack)
        command = [sys.executable, str(BACKEND), stack.server.url, url, "The spare key lies under the fern."]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The spare key lies under the fern." in done.stdout


def test_the_backend_is_fifteen_lines() -> None:
    text = BACKEND.read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(('"""', "#"))]
    assert len(lines) <= 15
    imported = {n.module for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom)}
    assert imported == {"sidestream"}
