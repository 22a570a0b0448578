"""The control variate: golden values, another computation, and its laws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quem.method.averages import average_cells
from quem.parts.machines import Control, control_variate, erratic
from tests.machines.made import GOLDEN
from tests.trials.estimates import cells_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STUDY = GOLDEN["study"]
SOLVERS = STUDY["solvers"]
PEOPLE = np.array([solver != "system" for solver in SOLVERS])
SEEDS = st.integers(0, 2**32 - 1)


def golden_ranks() -> tuple[Floats, Floats]:
    """Give the experts' mean ranks, and those of three machines."""
    h = np.full((8, 9), np.nan)
    h[:4] = np.mean([[one["ranks"][s] for s in SOLVERS] for one in STUDY["experts"]], axis=0).T
    name = "mean_adjusted_ranks_of_two_repeats"
    return h, np.array([np.array([one[name][s] for s in SOLVERS]).T for one in STUDY["machines"]])


def averages(h: Floats, control: Control) -> Floats:
    """Average ranks with what machines add."""
    return np.asarray(np.nanmean(h, axis=0) + control.shift)


def made(
    seed: int, *, k: int = 1, n: int = 4, of: int = 9, solvers: int = 7
) -> tuple[Floats, Floats]:
    """Give ranks of experts on n problems, and of k machines on all."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, solvers) + rng.normal(0, 0.7, (of, solvers))
    orders = quality + rng.normal(0, 1, (k + 1, of, solvers))
    ranks = np.apply_along_axis(stats.rankdata, -1, np.round(orders, 1))
    h = ranks[0].copy()
    h[n:] = np.nan
    return h, ranks[1:]


def test_golden_values_of_one_machine() -> None:
    """Weights, averages, their variances, and the test of an erratic machine."""
    h, m = golden_ranks()
    golden = GOLDEN["control_variate"]
    control = control_variate(h, m[:1])
    assert control.beta[0] == pytest.approx(golden["beta"], abs=1e-6)
    assert control.share == pytest.approx(golden["lambda"], abs=1e-6)
    assert control.correlation == pytest.approx(golden["within_correlation"], abs=1e-6)
    assert control.effective_problems == pytest.approx(golden["effective_problems"], abs=1e-6)
    assert averages(h, control) == pytest.approx(golden["x"], abs=1e-6)
    assert control.variance == pytest.approx(golden["variance"], abs=1e-6)
    own = golden["own_variance"]
    tested = erratic(control, PEOPLE, 8)
    assert tested.f == pytest.approx(own["F"], abs=1e-5)
    assert (tested.variance, tested.df) == (own["extra"], own["df_extra"])
    half = stats.t.ppf(0.975, 3) * np.sqrt(control.variance[8])
    assert golden["average_rank_interval_of_the_system"] == pytest.approx(
        [6.125 - half, 6.125 + half], abs=1e-6
    )


def test_golden_values_of_three_machines() -> None:
    """The ridge leaves the third one out."""
    h, m = golden_ranks()
    golden = GOLDEN["jury_of_three_kappa_0.1"]
    control = control_variate(h, m)
    assert control.beta == pytest.approx(golden["beta"], abs=1e-6)
    assert averages(h, control) == pytest.approx(golden["x"], abs=1e-6)


def loops(h: Floats, m: Floats) -> Floats:
    """Compute the averages cell by cell, with gaps as METHOD has them."""
    n_all, solvers = h.shape
    counted = [p for p in range(n_all) if np.isfinite(m[p]).any()]
    labeled = [p for p in counted if np.isfinite(h[p]).any()]
    c = v = 0.0
    dc = dv = 0
    means = []
    for s in range(solvers):
        on = [p for p in labeled if np.isfinite(h[p, s]) and np.isfinite(m[p, s])]
        every = [p for p in counted if np.isfinite(m[p, s]) and (p not in labeled or p in on)]
        hs, ml = np.mean([h[p, s] for p in on]), np.mean([m[p, s] for p in on])
        ms = np.mean([m[p, s] for p in every])
        c += sum((h[p, s] - hs) * (m[p, s] - ml) for p in on)
        v += sum((m[p, s] - ms) ** 2 for p in every)
        dc, dv = dc + len(on) - 1, dv + len(every) - 1
        means.append(ms - ml)
    top = len(counted) / (len(counted) - len(labeled))
    beta = min(max(c / dc / (v / dv), 0), top)
    return np.asarray(np.nanmean(h, axis=0) + beta * np.array(means))


@given(seed=SEEDS, gaps=st.integers(0, 6))
def test_agrees_with_loops(seed: int, gaps: int) -> None:
    """With whole tables, and with gaps on either side."""
    h, m = made(seed, n=5, of=11)
    rng = np.random.default_rng(seed)
    for _ in range(gaps):
        if rng.random() < 0.5:
            h[rng.integers(3), rng.integers(7)] = np.nan
        else:
            m[0, rng.integers(3, 11), rng.integers(7)] = np.nan
    assert averages(h, control_variate(h, m)) == pytest.approx(loops(h, m[0]))


@given(seed=SEEDS, k=st.integers(1, 3))
def test_laws(seed: int, k: int) -> None:
    """Names mean nothing, ranks add up, and weights stay in their bounds."""
    h, m = made(seed, k=k)
    control = control_variate(h, m)
    x = averages(h, control)
    order = np.random.default_rng(seed).permutation(7)
    assert averages(h[:, order], control_variate(h[:, order], m[..., order])) == pytest.approx(
        x[order]
    )
    assert x.sum() == pytest.approx(7 * 8 / 2)
    assert 0 <= control.share <= 1 + 1e-12
    assert (control.beta >= 0).all()
    assert control.effective_problems >= control.n_labeled - 1e-9


def test_a_system_on_which_the_machine_is_erratic() -> None:
    """Its variance beyond that of people counts, where the F test at 5% says so."""
    h, m = made(5, n=6, of=12)
    m[0, :6, :6] = h[:6, :6]
    h[:6, 6] = np.tile([1.0, 7.0], 3)
    control = control_variate(h, m)
    people = np.arange(7) < 6
    tested = erratic(control, people, 6)
    residual = h[:6] - control.beta[0] * m[0, :6]
    variance = residual.var(axis=0, ddof=1) * (1 / 6 - 1 / 12)
    usual = variance[:6].mean()
    assert tested.f == pytest.approx(variance[6] / usual)
    p = stats.f.sf(variance[6] / usual, 5, 0.7 * 6 * 5)
    assert tested.p == pytest.approx(p)
    assert p < 0.05
    assert tested.variance == pytest.approx(variance[6] - usual)


def test_no_place_is_beyond_the_first_or_the_last() -> None:
    """Whatever a machine adds to a rank: the line of the population stays defined."""
    cells = cells_of(np.tile(np.arange(1.0, 6.0), (2, 3, 1)))
    moved = replace(cells, score=cells.score + np.array([-0.9, 0, 0, 0, 0.9])[cells.solver])
    averages = average_cells(moved, np.array([1.0, 2, 3, 4, np.nan]))
    assert averages.rank == pytest.approx([0.1, 2, 3, 4, 5.9])
    assert averages.place == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
