"""The estimate for the population against quadrature by brute force, at the edges too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from quem.parts import analyze_experience
from tests.made import random_ranks, study_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.method.core import SystemEstimate
    from quem.parts.result import ExperienceResult

    Floats = NDArray[np.float64]

YEARS = (1.0, 2.0, 4.0, 6.0, 8.0, 11.0, 12.0)
LEVEL = 0.95


def places(ranks: Floats) -> tuple[Floats, Floats]:
    """Mean places, and their logits, one cell after the other."""
    each: list[list[float]] = [[] for _ in range(ranks.shape[2])]
    for of_judge in ranks:
        for cell in of_judge:
            held = np.flatnonzero(np.isfinite(cell))
            adjusted = stats.rankdata(cell[held])
            for solver, rank in zip(held, adjusted, strict=True):
                each[solver].append((rank - 0.5) / len(held))
    p = np.array([np.mean(one) for one in each])
    return p, np.log(p / (1 - p))


def by_brute_force(
    ranks: Floats, years: Sequence[float], low: float, high: float, added: float, df: float
) -> dict[str, Any]:
    """Median, interval, and whether an end is near, on 20,001 points."""
    y = np.array(years)
    p, z = places(ranks)
    n, k = len(y), len(y)
    fitted = stats.linregress(y, z[:n])
    s2 = max(float(((z[:n] - fitted.intercept - fitted.slope * y) ** 2).sum()) / (n - 2), 1e-9)
    grid = np.linspace(low, high, 20_001)
    base = s2 * (1 + 1 / n + (grid - y.mean()) ** 2 / ((y - y.mean()) ** 2).sum())
    v = base + added / max(p[k] * (1 - p[k]), 0.0196)
    more = v - base
    nu = np.minimum(n - 2, v**2 / (base**2 / (n - 2) + (more**2 / df if added else 0)))
    logs = stats.t.logpdf(z[k], nu, fitted.intercept + fitted.slope * grid, np.sqrt(v))
    weights = np.exp(logs - logs.max())
    below = np.concatenate([[0], np.cumsum((weights[1:] + weights[:-1]) / 2)])
    below /= below[-1]
    near = logs > logs.max() - stats.chi2.ppf(LEVEL, 1) / 2
    return {
        "ends": [float(np.interp(q, below, grid)) for q in (0.025, 0.5, 0.975)],
        "near": (bool(near[0]), bool(near[-1])),
        "slope": fitted.slope,
    }


def analyzed(ranks: Floats, years: Sequence[float] = YEARS, **analysis: object) -> ExperienceResult:
    """The result of ranks with one system."""
    return analyze_experience(study_of(ranks, years, analysis=analysis))


def agrees(of: SystemEstimate, want: dict[str, Any]) -> None:
    """The quadrature on 2,001 points is close to that on 20,001."""
    low, median, high = want["ends"]
    assert of.reference.experience == pytest.approx(median, abs=2e-3)
    assert of.reference.interval[0] == pytest.approx(low, abs=2e-3)
    if of.reference.interval[1] is not None:
        assert of.reference.interval[1] == pytest.approx(high, abs=2e-3)


@pytest.mark.parametrize("shape", [(3, 6), (1, 6), (3, 1), (1, 1)])
@pytest.mark.parametrize("system", [1.5, 6.0, 14.0, 25.0])
def test_one_judge_or_one_problem(shape: tuple[int, int], system: float) -> None:
    """Each is defined, open ends too; what is added is checked elsewhere."""
    rng = np.random.default_rng(hash((shape, system)) % 1000)
    ranks = random_ranks(rng, YEARS, [system], judges=shape[0], problems=shape[1])
    (of,) = analyzed(ranks).core.estimates
    added = of.variation.added
    want = by_brute_force(ranks, YEARS, 0.0, 18.0, added.value, added.df)
    agrees(of, want)
    near_low, near_high = want["near"]
    assert of.reference.open == near_high
    assert of.reference.says == (want["slope"] > 0 and not (near_low and near_high))
    assert (of.reference.interval[1] is None) == near_high
    assert (of.variation.ratio_judges is None) == (shape[0] == 1)
    assert (of.variation.ratio_problems is None) == (shape[1] == 1)


def test_a_declared_population_is_never_open() -> None:
    """It is taken at its word."""
    ranks = random_ranks(np.random.default_rng(1), YEARS, [30.0])
    (assumed,) = analyzed(ranks).core.estimates
    assert assumed.reference.open
    declared = {"years": [2, 20]}
    (of,) = analyzed(ranks, reference_population=declared).core.estimates
    added = of.variation.added
    agrees(of, by_brute_force(ranks, YEARS, 2.0, 20.0, added.value, added.df))
    assert not of.reference.open
    assert of.reference.interval[1] is not None


@pytest.mark.parametrize(("most", "warned"), [(18, False), (18.1, True)])
def test_a_declared_population_far_beyond_the_subjects_is_warned_of(
    most: float, *, warned: bool
) -> None:
    """Ranks do not tell apart who is better than all people."""
    ranks = random_ranks(np.random.default_rng(1), YEARS, [6.0])
    result = analyzed(ranks, reference_population={"years": [0, most]})
    assert ("population-beyond-subjects" in {one.code for one in result.warnings}) == warned


def test_years_that_go_against_quality_say_nothing() -> None:
    """No years are stated where ranks fall with experience, and the paper's numbers stay."""
    ranks = random_ranks(np.random.default_rng(2), [13 - y for y in YEARS], [6.0])
    result = analyzed(ranks)
    (of,) = result.core.estimates
    assert not of.reference.says
    assert of.leads is None
    (said,) = result.statements
    assert said.sentence.startswith("No experience estimate for K1: average rank does not rise")
    assert result.estimates.loc[0, "paper_experience"] == pytest.approx(of.experience)
    assert {one.code for one in result.warnings} >= {"decreasing-skill-function"}


def test_ranks_that_everybody_ties_but_the_people() -> None:
    """People who never vary add nothing, and a system that does is called uneven."""
    order = np.arange(1.0, 9.0)
    ranks = np.tile(order, (2, 4, 1))
    # The system alone changes its place, between the two people on its sides.
    ranks[:, ::2, 7], ranks[:, 1::2, 7] = 3.5, 5.5
    (of,) = analyzed(ranks).core.estimates
    assert of.variation.ratio_problems is not None
    assert of.leads != "paper"
