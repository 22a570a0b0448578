"""The control variate: another computation, and its laws."""

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
from tests.trials.estimates import cells_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEEDS = st.integers(0, 2**32 - 1)


def averages(h: Floats, control: Control) -> Floats:
    return np.asarray(np.nanmean(h, axis=0) + control.shift)


def made(seed: int, *, k: int = 1, n: int = 4, of: int = 9) -> tuple[Floats, Floats]:
    """Ranks of seven solvers by experts on n problems, and by k machines on all."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, 7) + rng.normal(0, 0.7, (of, 7))
    orders = quality + rng.normal(0, 1, (k + 1, of, 7))
    ranks = np.apply_along_axis(stats.rankdata, -1, np.round(orders, 1))
    h = ranks[0].copy()
    h[n:] = np.nan
    return h, ranks[1:]


def loops(h: Floats, m: Floats) -> Floats:
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
    h, m = made(5, n=6, of=12)
    m[0, :6, :6] = h[:6, :6]
    h[:6, 6] = np.tile([1.0, 7.0], 3)
    control = control_variate(h, m)
    tested = erratic(control, np.arange(7) < 6, 6)
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
