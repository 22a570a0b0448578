"""The closed form, which designs are shown, and what pilots show: against other computations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.formula.api import ols

from quem.method.reference import Population
from quem.planning.designs import Assumptions, efficient
from quem.planning.pilot import estimate_noise
from quem.simulation import NOISES, Noise, Scenario, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

deviations = st.floats(0.1, 5)
noises = st.builds(Noise, deviations, deviations, deviations, deviations)
counts = st.integers(1, 30)


def _assumptions(noise: Noise = NOISES["low"], **more: Any) -> Assumptions:  # noqa: ANN401  fields
    of = {"experience": (1.0, 12.0), "population": None, "systems": 2, "level": 0.95, **more}
    return Assumptions(noise, minutes=6.0, solving_minutes=80.0, **of)


def test_half_width_is_that_of_a_regression() -> None:
    """Regressions of experience on blurred averages have intervals of that width."""
    rng = np.random.default_rng(0)
    noise, judges, problems, n = Noise(1.5, 2.0, 3.0, 1.2), 3, 4, 20
    half_widths = []
    for y in rng.uniform(1, 12, (700, n + 1)):
        quality = y + rng.normal(0, noise.person, n + 1)
        quality = quality + rng.normal(0, noise.solution, (1, problems, n + 1))
        quality = quality + rng.normal(0, noise.taste, (judges, 1, n + 1))
        x = (quality + rng.normal(0, noise.judge, (judges, problems, n + 1))).mean(axis=(0, 1))
        fit = stats.linregress(x[:n], y[:n])
        rest = y[:n] - fit.intercept - fit.slope * x[:n]
        off = x - x[:n].mean()
        spread = 1 + 1 / n + off[n] ** 2 / (off[:n] ** 2).sum()
        half_widths.append(stats.t.ppf(0.975, n - 2) * np.sqrt(rest @ rest / (n - 2) * spread))
    assert_allclose(_assumptions(noise).half_width(n, judges, problems), np.mean(half_widths), 0.04)


@given(st.integers(3, 60), counts, counts, noises, st.integers(0, 2))
def test_more_is_never_wider(n: int, judges: int, problems: int, noise: Noise, what: int) -> None:
    of, size = _assumptions(noise), [n, judges, problems]
    now = float(of.half_width(*size))
    size[what] += 1
    assert of.limit < float(of.half_width(*size)) < now


def test_a_wider_population_is_a_wider_interval() -> None:
    """The declared population counts by its variance: of classes, that of what is drawn of it."""
    classes = Population((0.0, 5.0, 20.0), (0.75, 0.25))
    rng = np.random.default_rng(1)
    drawn = np.where(
        rng.random(400_000) < 0.75, rng.uniform(0, 5, 400_000), rng.uniform(5, 20, 400_000)
    )
    same = np.sqrt(12 * drawn.var())
    expected = _assumptions(experience=(0.0, float(same))).half_width(12, 3, 6)
    assert_allclose(_assumptions(population=classes).half_width(12, 3, 6), expected, rtol=2e-3)


def test_hours_add_up() -> None:
    subject, judge, total = _assumptions().hours(10, 3, 5)
    assert subject == 80 * 5 / 60
    assert judge == 6 * 5 * 12 / 60
    assert total == pytest.approx(10 * subject + 3 * judge)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=20))
def test_efficient_designs_are_not_beaten(pairs: list[tuple[int, int]]) -> None:
    half_width, hours = np.array(pairs, dtype=float).T
    found = {pairs[place] for place in efficient(half_width, hours)}
    beaten = {
        (w, h) for w, h in pairs if any(a <= w and b <= h and (a, b) != (w, h) for a, b in pairs)
    }
    assert found == set(pairs) - beaten


def _pilots(of: Scenario, count: int = 1, seed: int = 0) -> list[tuple[Floats, Floats]]:
    """The places and the years of the subjects of simulated pilots."""
    simulated = simulate(of, count, seed)
    size = np.isfinite(simulated.ranks).sum(axis=-1, keepdims=True)
    place = ((simulated.ranks - 0.5) / size)[..., : simulated.scenario.subjects]
    return list(zip(place, simulated.experience, strict=True))


def test_components_are_those_of_the_analysis_of_variance() -> None:
    """In a complete pilot the mean squares of statsmodels give all four components."""
    noise = Noise(person=2, solution=2, judge=1, taste=2)
    ((place, years),) = _pilots(Scenario(10, 3, 4, noise=noise), seed=6)
    judge, problem, subject = (axis.ravel() for axis in np.indices(place.shape))
    frame = pd.DataFrame({"q": place.ravel(), "j": judge, "p": problem, "s": subject})
    table = frame.astype({"j": str, "p": str, "s": str})
    # Of a ranking only who is better counts: sums of places are the same in each.
    full = ols("q ~ j*p + s + s:j + s:p", table).fit()
    rest = full.mse_resid
    squares = {}
    for term, without in (("s:j", "q ~ j*p + s + s:p"), ("s:p", "q ~ j*p + s + s:j")):
        less = ols(without, table).fit()
        squares[term] = (less.ssr - full.ssr) / (less.df_resid - full.df_resid)
    taste, solution = (squares["s:j"] - rest) / 4, (squares["s:p"] - rest) / 3
    line = ols("x ~ y", pd.DataFrame({"x": place.mean(axis=(0, 1)), "y": years})).fit()
    of_average = solution / 4 + taste / 3 + rest / 12
    person = line.scale - of_average
    found = estimate_noise(place, years)
    expected = np.sqrt([person, solution, rest, taste]) / line.params["y"]
    assert_allclose([found.person, found.solution, found.judge, found.taste], expected)
    low, high = found.person_low, found.person_high
    assert low < found.person < high
    assert (found.df, found.subjects, found.judges, found.problems) == (8, 10, 3, 4)
    assert_allclose(np.mean(found.experience), years.mean())
    assert_allclose(np.diff(found.experience)[0] ** 2 / 12, years.var(ddof=1))


@pytest.mark.parametrize("name", NOISES)
def test_truth_is_found_on_average(name: str) -> None:
    """Pilots estimate the truth in the median; judge noise is too high, as ranks are rounded."""
    noise = NOISES[name]
    found = [estimate_noise(*pilot) for pilot in _pilots(Scenario(20, noise=noise), 150, 7)]
    for component, low, high in (
        ("person", 0.85, 1.08),
        ("solution", 0.9, 1.05),
        ("judge", 1.0, 1.2),
        ("taste", 0.8, 1.1),
    ):
        median = np.median([getattr(one, component) for one in found])
        assert low < median / getattr(noise, component) < high, component
    covered = [one.person_low <= noise.person <= one.person_high for one in found]
    assert 0.8 < np.mean(covered) < 0.98


@pytest.mark.parametrize(("judges", "problems", "missing"), [(1, 5, "judge"), (4, 1, "problem")])
def test_one_judge_or_problem_tells_a_sum(judges: int, problems: int, missing: str) -> None:
    """Of a sum the shares are assumed, and the sum is kept: by brute force over all pairs."""
    ((place, years),) = _pilots(Scenario(12, judges, problems), seed=2)
    found = estimate_noise(place, years)
    assert found.missing_dimension == missing
    cells = place.reshape(-1, 12)
    changes = [
        ((a[s] - a[t]) - (b[s] - b[t])) ** 2
        for i, a in enumerate(cells)
        for b in cells[i + 1 :]
        for s in range(12)
        for t in range(s)
    ]
    off = years - years.mean()
    slope = off @ place.mean(axis=(0, 1)) / (off @ off)
    other = found.solution if missing == "judge" else found.taste
    assert_allclose(found.judge**2 + other**2, np.mean(changes) / 4 / slope**2)
    assert_allclose([found.solution, found.taste], [found.judge, found.judge / 2])
