"""How much faster many simulated studies are estimated at once than one by one.

Run with ``nox -s bench -- simulated``. Exits with 1 where the demand is missed.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import quem
from quem.comparison.years import difference_interval, worth_differences
from quem.experience.batch import batch_estimates
from quem.experience.simulation import Scenario, simulate

STUDIES, ALONE, DEMAND = 2_000, 60, 200
SCENARIO = Scenario(subjects=12, judges=3, problems=6, systems=(5.0, 8.0))


def at_once() -> None:
    """Simulate all studies and compute all of their intervals."""
    simulated = simulate(SCENARIO, STUDIES, seed=1)
    batch_estimates(simulated)
    years = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
    worth_differences(simulated.ranks, years, 12, 13, level=0.95)


def one_by_one() -> None:
    """Analyze some of them with the same intervals, without bootstrap and permutations."""
    simulated = simulate(SCENARIO, ALONE, seed=1)
    for index in range(ALONE):
        findings = quem.analyze(simulated.study(index), bootstrap=0, permutations=0).findings
        difference_interval(
            findings.cells, findings.averages, findings.function, "K1", "K2", level=0.95
        )


def seconds(work: object) -> float:
    """Measure the best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Measure both in one run."""
    at_once()
    one_by_one()
    ours, alone = seconds(at_once), seconds(one_by_one) / ALONE * STUDIES
    print(f"{STUDIES:,} simulated studies of 12 subjects x 3 judges x 6 problems, all intervals")
    print(f"  at once      {ours:8.2f} s, simulating included")
    print(f"  one by one   {alone:8.2f} s, by quem.analyze ({ALONE} studies, scaled)")
    good = alone / ours >= DEMAND
    print(f"  {alone / ours:.0f} times faster; demand {DEMAND}{'' if good else '  MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
