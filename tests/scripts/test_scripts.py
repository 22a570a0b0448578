"""Runs the tests of the page scripts that need no page."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted(Path(__file__).parent.glob("*.test.js"))


@pytest.mark.skipif(not shutil.which("node"), reason="node is missing; `nox -s tests` provides it")
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_script(path: Path) -> None:
    """All tests of a file hold, in node's test runner."""
    done = subprocess.run(["node", "--test", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
