"""Every page in every view."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.views import EVERY_VIEW
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random


# Axe looks.
CHECKS = "accessible"


@registered("views", count=1)
def views(_: random.Random, __: Path) -> dict[str, Any]:
    """Axe looks at all pages and reports; at each state of judges' pages in four languages, too."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "tests/browser", "-k", CHECKS]
    environment = {**os.environ, EVERY_VIEW: "1"}
    ran = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return {"summary": ran.stdout.splitlines()[-1]}
