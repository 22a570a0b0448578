"""What the method states of a simulated system, from averages, and how often that is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import rankdata

from quem.method.analysis import leading
from quem.method.cells import RankCells
from quem.method.core import inside
from quem.method.line import fit_line
from quem.method.reference import default_population, fit_people, posterior, read_posterior
from quem.method.variances import Variance, Variation
from tests.trials.runner import markdown

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.method.averages import Averages
    from tests.trials.runner import Results

    Floats = NDArray[np.float64]

_LEVEL = 0.95
STUDIES = 250  # of each cell, in one trial


class Share(NamedTuple):
    """Of studies, the percentage with an interval; of these, that cover; their mean half."""

    says: float
    covers: float
    half: float


class Said(NamedTuple):
    """An interval of a system: whether there is one, whether it covers the truth, half of it."""

    says: bool
    covers: bool
    half: float


def cells_of(ranks: Floats) -> RankCells:
    """Cells of rankings of subjects and one system, the last solver.

    Shapes: `ranks` (judges, problems, solvers), NaN where there is none.
    """
    judge, problem, solver = np.nonzero(np.isfinite(ranks))
    n_judges, n_problems, n = ranks.shape
    group = np.unique(judge * n_problems + problem, return_inverse=True)[1]
    adjusted = rankdata(ranks, axis=-1, nan_policy="omit")[judge, problem, solver]
    one, no = np.ones_like(judge), np.zeros(len(judge), dtype=bool)
    return RankCells(
        tuple(f"J{at}" for at in range(n_judges)),
        tuple(f"P{at}" for at in range(n_problems)),
        tuple(f"S{at}" for at in range(n)),
        ("subject",) * (n - 1) + ("system",),
        judge,
        problem,
        solver,
        group,
        one,
        one,
        adjusted,
        adjusted,
        np.bincount(group)[group],
        adjusted,
        no,
        no,
    )


def said_of(averages: Averages, of: Variation, truth: float) -> dict[str, Said]:
    """What is said of the system, the last solver: for the population, and what leads."""
    (k,) = averages.of_kind("system")
    subjects = averages.of_kind("subject")
    x, years = averages.rank[subjects], averages.years[subjects]
    line, people = fit_line(x, years), fit_people(averages.z[subjects], years)
    population = default_population(years)
    added = Variance(of.added.value / averages.weight[k], of.added.df)
    found = posterior(people, averages.z[k], population, added)
    reference = read_posterior(found, population, slope=people.slope, level=_LEVEL)
    rank = float(averages.rank[k])
    interval, _ = line.intervals(rank, _LEVEL)
    is_inside = inside(line, rank, float(line.predict(np.array([rank]))[0]))
    may_lead = line.holds and is_inside and not of.is_uneven
    leads = leading(population, reference, may_lead=may_lead)

    def said(ends: tuple[float, float | None], *, says: bool) -> Said:
        low, high = ends[0], population.high if ends[1] is None else ends[1]
        return Said(says, low <= truth and (ends[1] is None or truth <= high), (high - low) / 2)

    return {
        "population": said(reference.interval, says=reference.says),
        "leads": said(interval if leads == "paper" else reference.interval, says=leads is not None),
    }


@dataclass(frozen=True)
class Tally:
    """Trials of simulated studies in cells: how often each way covers, and how wide it is."""

    head: str  # of the table
    ways: tuple[str, ...]
    claimed: str  # the way that says how often it speaks

    def run(
        self, simulate: Callable[[np.random.Generator], dict[str, Said]], rng: random.Random
    ) -> dict[str, list[float]]:
        """By way: how many intervals there are, how many cover, and the sum of their halves."""
        drawn = np.random.default_rng(rng.getrandbits(64))
        studies = [simulate(drawn) for _ in range(STUDIES)]
        found = {}
        for way in self.ways:
            there = [one[way] for one in studies if one[way].says]
            sums = len(there), sum(one.covers for one in there), sum(one.half for one in there)
            found[way] = [*map(float, sums)]
        return found

    def pooled(self, results: Results) -> dict[str, dict[str, Share]]:
        found = {}
        for name in results[0]["cells"]:
            sums = {
                way: np.sum([r["cells"][name][way] for r in results], axis=0) for way in self.ways
            }
            found[name] = {
                way: Share(100 * n / STUDIES / len(results), 100 * covers / n, half / n)
                for way, (n, covers, half) in sums.items()
            }
        return found

    def table(self, results: Results) -> str:
        return markdown(
            self.head,
            (
                (
                    name,
                    *(f"{cell[way].covers:.1f}, ± {cell[way].half:.2f}" for way in self.ways),
                    f"{cell[self.claimed].says:.0f}",
                )
                for name, cell in self.pooled(results).items()
            ),
        )
