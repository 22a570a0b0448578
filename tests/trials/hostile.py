"""What a parser that a file took over can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.blinding.workers import held
from tests.blinding.hostile import ATTEMPTS, NEEDED, succeeding, surroundings
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path


@registered("hostile", count=1)
def hostile(_: random.Random, folder: Path) -> dict[str, Any]:
    """Ways out of a confined parser, and what parsers need there."""
    with surroundings(folder) as around:
        reached = succeeding(ATTEMPTS, around)
        lacking = set(NEEDED) - succeeding(NEEDED, around)
    assert not reached, f"reached: {', '.join(sorted(reached))} ({held()['why']})"
    assert not lacking, f"no longer works: {', '.join(sorted(lacking))}"
    return {"attempts": len(ATTEMPTS), "reached": 0, "needed": len(NEEDED), "lacking": 0}
