"""A part is a file and an entry of one list: both can be deleted, and nothing else changes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import quem
from quem.parts import PARTS

ROOT = Path(quem.__file__).parents[1]
STUDY = ROOT / "studies" / "p3-1997" / "study.yaml"


@cache
def analyzed(folder: Path) -> Any:  # noqa: ANN401  JSON
    """analysis.json of P3 by the package in a folder."""
    run = subprocess.run(
        [sys.executable, "-m", "quem", "analyze", STUDY, "--json"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("first", [0, 1])
def test_parts_can_be_deleted(first: int, tmp_path: Path) -> None:
    """Without every second one P3's analysis.json is the same but for their keys."""
    gone = PARTS[first::2]
    for name in ("quem", "templates"):
        shutil.copytree(ROOT / name, tmp_path / name)
    listed = tmp_path / "quem" / "parts" / "__init__.py"
    text = listed.read_text(encoding="utf-8")
    for kind in map(type, gone):
        tmp_path.joinpath(*kind.__module__.split(".")).with_suffix(".py").unlink()
        named = rf"from {kind.__module__} import {kind.__name__}\n"
        for pattern in (rf"\b{kind.__name__}\(\),?", named):
            text, n = re.subn(pattern, "", text)
            assert n == 1, pattern
    listed.write_text(text, encoding="utf-8")
    whole, keys = analyzed(ROOT), {table.name for part in gone for table in part.tables}
    assert whole.keys() & keys
    assert analyzed(tmp_path) == {key: of for key, of in whole.items() if key not in keys}


def test_no_part_imports_another() -> None:
    modules = {type(part).__module__ for part in PARTS}
    assert len(modules) == len({part.name for part in PARTS}) == len(PARTS)
    for module in modules:
        text = ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
        assert not modules & {*re.findall(r"(?:from|import) (quem\.parts\.\w+)", text)}
