"""Systems of known truth on a leaderboard: how often equal ones are called different."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.lists.groups import joint_test
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

_LEVEL = 0.05


def _rarely_wrong(results: list[dict[str, Any]]) -> str:
    missed = []
    for kind in ("all equal", "beside others"):
        wrong = [result["wrong"] for result in results if result["truth"] == kind]
        most = math.ceil(_LEVEL * len(wrong) + 3 * math.sqrt(_LEVEL * (1 - _LEVEL) * len(wrong)))
        if sum(wrong) > most:
            missed.append(f"{kind}: {sum(wrong)} of {len(wrong)}; at most {most}")
    return "; ".join(missed)


def _table(results: list[dict[str, Any]]) -> str:
    lines = ["| truth | samples | any equal pair called different |", "|---|---|---|"]
    for kind in ("all equal", "beside others"):
        wrong = [result["wrong"] for result in results if result["truth"] == kind]
        if wrong:
            lines.append(f"| {kind} | {len(wrong):,} | {100 * sum(wrong) / len(wrong):.1f}% |")
    return "\n".join(lines)


@registered("equal-systems", count=2000, bar=_rarely_wrong, table=_table)
def equal_systems(rng: random.Random, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    """Equal systems on a leaderboard, alone or beside a bad and an erratic one, rarely differ."""
    drawn = np.random.default_rng(rng.getrandbits(64))
    queries, equal = rng.choice([20, 50, 100]), rng.choice([3, 5, 10])
    truth = rng.choice(["all equal", "beside others"])
    # Scores in steps, as precision has them, on queries of different difficulty.
    skill = drawn.normal(size=(1, queries)) + drawn.normal(scale=0.7, size=(equal, queries))
    if truth == "beside others":
        bad = drawn.normal(-3, 0.7, size=(1, queries))
        erratic = drawn.normal(scale=3.0, size=(1, queries))
        skill = np.concatenate([skill, bad, erratic])
    scores = np.round(1 / (1 + np.exp(-skill)), 1)[:, :, np.newaxis]
    testable = np.broadcast_to(~np.eye(len(scores), dtype=bool), (1, len(scores), len(scores)))
    p = joint_test(scores, testable, permutations=499, seed=rng.getrandbits(31))[0]
    return {"truth": truth, "wrong": bool(np.nanmin(p[:equal, :equal]) <= _LEVEL)}
