"""How long tests wait: for conditions, with limits that hold on a machine with a load of 15."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

# No test waits so long where all is well.
SECONDS = 120


def until(done: Callable[[], object], what: str) -> None:
    """Wait until something holds; fail, saying what, when it never does."""
    deadline = time.monotonic() + SECONDS
    while not done():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {SECONDS} s for {what}")
        time.sleep(0.02)
