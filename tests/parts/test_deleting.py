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
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.parts import PARTS

if TYPE_CHECKING:
    from quem.method.part import Part

ROOT = Path(quem.__file__).parents[1]
STUDY = ROOT / "studies" / "p3-1997" / "study.yaml"


def analyzed(folder: Path) -> Any:  # noqa: ANN401  JSON
    """analysis.json of P3 by the package in a folder."""
    run = subprocess.run(
        [sys.executable, "-c", "from quem.cli import run; run()", "analyze", STUDY, "--json"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@cache
def whole() -> Any:  # noqa: ANN401  JSON
    """analysis.json of P3 with all parts."""
    return analyzed(ROOT)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_can_be_deleted(part: Part[Any], tmp_path: Path) -> None:
    """Without it P3's analysis.json is the same but for the part's keys."""
    for name in ("quem", "templates"):
        shutil.copytree(ROOT / name, tmp_path / name)
    kind = type(part)
    tmp_path.joinpath(*kind.__module__.split(".")).with_suffix(".py").unlink()
    listed = tmp_path / "quem" / "parts" / "__init__.py"
    text = listed.read_text(encoding="utf-8")
    entry, named = rf"\b{kind.__name__}\(\),?", rf"from {kind.__module__} import {kind.__name__}\n"
    for pattern in (entry, named):
        text, n = re.subn(pattern, "", text)
        assert n == 1, pattern
    listed.write_text(text, encoding="utf-8")
    keys = {table.name for table in part.tables}
    assert analyzed(tmp_path) == {key: of for key, of in whole().items() if key not in keys}


def test_the_parts_have_keys_in_it() -> None:
    """Of P3 there are a profile and checks, so that the test above can fail."""
    assert {"problems", "checks"} <= whole().keys()
    assert len({part.name for part in PARTS}) == len(PARTS)
