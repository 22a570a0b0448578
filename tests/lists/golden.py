"""The printed and published numbers that the measures have to give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden.json").read_text(encoding="utf-8")
)
# The data sets of the papers, which are not part of the project.
DATA = Path(__file__).parents[3] / "shared" / "data"
