"""What pilots show, against statsmodels, brute force and known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from statsmodels.formula.api import ols

from quem.planning.pilot import estimate_noise
from quem.simulation import HIGH, LOW, NOISES, Noise, Scenario, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def _pilots(
    count: int = 1,
    seed: int = 0,
    **scenario: Any,  # noqa: ANN401  the fields of Scenario
) -> list[tuple[Floats, Floats]]:
    """The places and the years of the subjects of simulated pilots."""
    simulated = simulate(Scenario(**scenario), count, seed)
    size = np.isfinite(simulated.ranks).sum(axis=-1, keepdims=True)
    place = ((simulated.ranks - 0.5) / size)[..., : simulated.scenario.subjects]
    return list(zip(place, simulated.experience, strict=True))


def test_components_are_those_of_the_analysis_of_variance() -> None:
    """In a complete pilot the mean squares of statsmodels give all four components."""
    noise = Noise(person=2, solution=2, judge=1, taste=2)
    ((place, years),) = _pilots(subjects=10, judges=3, problems=4, noise=noise, seed=6)
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
    """Pilots tell the truth in the median; judges too much, as rounding to ranks is noise."""
    noise = {"low": LOW, "high": HIGH}[name]
    found = [estimate_noise(*pilot) for pilot in _pilots(150, 7, subjects=20, noise=noise)]
    for component, low, high in (
        ("person", 0.85, 1.08),
        ("solution", 0.9, 1.05),
        ("judge", 1.0, 1.2),
        ("taste", 0.8, 1.1),
    ):
        median = np.median([getattr(one, component) for one in found])
        assert low < median / getattr(noise, component) < high, component
    assert (
        0.8 < np.mean([one.person_low <= noise.person <= one.person_high for one in found]) < 0.98
    )


@pytest.mark.parametrize(("judges", "problems", "missing"), [(1, 5, "judge"), (4, 1, "problem")])
def test_one_judge_or_problem_tells_a_sum(judges: int, problems: int, missing: str) -> None:
    """Of a sum the shares are assumed, and the sum is kept: by brute force over all pairs."""
    ((place, years),) = _pilots(subjects=12, judges=judges, problems=problems, seed=2)
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


def test_hopeless_pilots_are_refused() -> None:
    """One judge and one problem tell nothing; nor do ranks that fall with experience."""
    ((place, years),) = _pilots(judges=1, problems=1)
    with pytest.raises(ValueError, match="one judge and one problem"):
        estimate_noise(place, years)
    ((place, years),) = _pilots()
    with pytest.raises(ValueError, match="do not rise with experience"):
        estimate_noise(1 - place, years)
