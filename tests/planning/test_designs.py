"""The closed form, against regressions and simulated studies; and which designs are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from quem.method.reference import Population
from quem.planning.designs import Assumptions, efficient
from quem.simulation import LOW, Noise

deviations = st.floats(0.1, 5)
noises = st.builds(Noise, deviations, deviations, deviations, deviations)
counts = st.integers(1, 30)


def _assumptions(noise: Noise = LOW, **more: Any) -> Assumptions:  # noqa: ANN401  fields
    of: dict[str, Any] = {
        "experience": (1.0, 12.0),
        "population": None,
        "systems": 2,
        "level": 0.95,
    }
    return Assumptions(noise, minutes=6.0, solving_minutes=80.0, **{**of, **more})


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
    """One more of anything makes the interval narrower, never narrower than the limit."""
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
    """A design takes its subjects' solutions, and its judges' placing of all solutions."""
    subject, judge, total = _assumptions().hours(10, 3, 5)
    assert subject == 80 * 5 / 60
    assert judge == 6 * 5 * 12 / 60
    assert total == pytest.approx(10 * subject + 3 * judge)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=20))
def test_efficient_designs_are_not_beaten(pairs: list[tuple[int, int]]) -> None:
    """No design is both quicker and narrower than one that is shown, and all such are shown."""
    half_width, hours = np.array(pairs, dtype=float).T
    found = {pairs[place] for place in efficient(half_width, hours)}
    beaten = {
        (w, h) for w, h in pairs if any(a <= w and b <= h and (a, b) != (w, h) for a, b in pairs)
    }
    assert found == set(pairs) - beaten
