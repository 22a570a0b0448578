"""Every page in every view, and results on data that are not part of the project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.views import EVERY_VIEW
from tests.golden.outcomes import DATA, DATA_RUNS, departures, kept, outcome
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random


@registered("views", count=1)
def views(_: random.Random, __: Path) -> dict[str, Any]:
    """Axe looks at all pages and reports; at each state of judges' pages in four languages, too."""
    # Axe looks, and fourteen solutions are ranked by keys, mouse, and touch.
    checks = "accessible or fourteen"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "tests/browser", "-k", checks]
    place: dict[str, Any] = {"env": {**os.environ, EVERY_VIEW: "1"}}
    place["cwd"] = Path(__file__).parents[2]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, **place)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return {"summary": ran.stdout.splitlines()[-1]}


def _said(results: list[dict[str, Any]]) -> str:
    return "; ".join(result["said"] for result in results)


@registered("golden-data", count=1, table=_said, resumed=False)
def golden_data(_: random.Random, __: Path) -> dict[str, Any]:
    """Zoo, spect and pima give what tests/golden keeps of them; skipped without their data."""
    if not DATA.is_dir():
        return {"said": f"skipped: there is no folder {DATA}; see studies/ccbr/README.md"}
    found = [departures(name, kept(name), outcome(run)) for name, run in DATA_RUNS.items()]
    wanted = f"`python -m tests.golden {' '.join(DATA_RUNS)}` keeps what they are now:"
    assert not any(found), "\n".join([wanted, *filter(None, found)])
    return {"said": f"nothing departs: {', '.join(DATA_RUNS)}"}
