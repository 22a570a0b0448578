"""Does experience matter? The honest test over subjects, and the paper's factorial analysis."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import factorial, prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells

_MOST_EXACT = 9
_MOST_ELEMENTS = 4_000_000
_WIDEST = 500
_TOLERANCE = 1e-9
Terms = dict[tuple[str, ...], "NDArray[np.float64]"]


@dataclass(frozen=True)
class PermutationTest:
    """A two-sided test of |r| between experience and average rank."""

    p: float
    # How many of the orders of experience correlate at least as strongly
    extreme: int
    orders: int
    exact: bool  # whether these are all distinct orders, or random ones


def permutation_test(
    x: NDArray[np.float64], y: NDArray[np.float64], *, permutations: int, seed: int
) -> PermutationTest | None:
    """Permute experience over the subjects.

    Exact up to 9 subjects; above, p = (1 + extreme)/(1 + permutations).

    Shapes: `x`, `y` (n,).
    """
    x, y = x - x.mean(), y - y.mean()
    rounding = _TOLERANCE * float(np.linalg.norm(x) * np.linalg.norm(y))
    least = abs(float(x @ y)) - rounding
    n = len(x)
    if n <= _MOST_EXACT:
        extreme = int((np.abs(all_orders(y) @ x) >= least).sum())
        # Every distinct order appears this many times among all n! of them.
        times = prod(factorial(count) for count in np.unique(y, return_counts=True)[1].tolist())
        distinct = factorial(n) // times
        return PermutationTest(extreme / factorial(n), extreme // times, distinct, exact=True)
    if permutations == 0:
        return None
    rng = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, permutations, step := max(1, _MOST_ELEMENTS // n)):
        size = min(step, permutations - start)
        orders = rng.permuted(np.broadcast_to(y, (size, n)), axis=1)
        extreme += int((np.abs(orders @ x) >= least).sum())
    p = (1 + extreme) / (1 + permutations)
    return PermutationTest(p, extreme, permutations, exact=False)


def all_orders(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give all n! orders of n values, shape (n!, n)."""
    index = np.zeros((1, 1), dtype=np.int8)
    for size in range(2, len(y) + 1):
        # Put the new element at each place of every order of the others.
        index = np.concatenate([np.insert(index, place, size - 1, axis=1) for place in range(size)])
    return y[index]


@dataclass(frozen=True)
class AnovaRow:
    """One line of an analysis of variance."""

    model: str
    term: str
    df: int
    # NaN for the residual
    f: float
    p: float


def factorial_anova(cells: RankCells, experience: NDArray[np.float64]) -> list[AnovaRow] | None:
    """Reproduce the paper's factorial analysis, type II, over the cells of the subjects.

    Two models: ``score ~ experience + judge + problem``, and the same with all interactions
    of two. Judge and problem effects are about 0 by construction (every complete group has
    the same mean rank), and cells of one subject are not replicates, so the test over
    subjects is the one to trust.

    Shapes: `experience` (n_solvers,).
    """
    keep = cells.of_kind("subject")[cells.solver] & np.isfinite(cells.score)
    y = cells.score[keep]
    # The larger model has two columns fewer than this.
    width = (1 + len(cells.judges)) * (1 + len(cells.problems))
    if width > _WIDEST or width * len(y) > _MOST_ELEMENTS:
        return None
    years = experience[cells.solver[keep]]
    years = years - years.mean()
    main: Terms = {
        # Standardized, or years in the billions would hide the other columns.
        ("experience",): (years / (np.abs(years).max() or 1.0))[:, np.newaxis],
        ("judge",): _dummies(cells.judge[keep]),
        ("problem",): _dummies(cells.problem[keep]),
    }
    products = {
        a + b: (main[a][:, :, np.newaxis] * main[b][:, np.newaxis, :]).reshape(len(y), -1)
        for a, b in combinations(main, 2)
    }
    return [
        *_type_two("main effects", y, main),
        *_type_two("two-way interactions", y, main | products),
    ]


def _dummies(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """One column a level that occurs, but for the first."""
    return np.asarray(codes[:, np.newaxis] == np.unique(codes)[1:], dtype=np.float64)


def _type_two(model: str, y: NDArray[np.float64], terms: Terms) -> list[AnovaRow]:
    """Test each term against the model of all terms that do not contain it."""
    intercept, columns, rotated = _rotated(terms, y)
    # What rounding leaves of a sum of squares is none.
    rounding = _TOLERANCE**2 * float(y @ y)
    full_rss, full_rank = _residual(rotated, [intercept, *columns.values()])
    df_residual = len(y) - full_rank
    mean_square = full_rss * (full_rss > rounding) / df_residual if df_residual else np.nan
    rows = []
    for term, own in columns.items():
        others = [c for name, c in columns.items() if not set(term) <= set(name)]
        rss_without, rank_without = _residual(rotated, [intercept, *others])
        rss_with, rank_with = _residual(rotated, [intercept, *others, own])
        gain, df = rss_without - rss_with, rank_with - rank_without
        with np.errstate(divide="ignore", invalid="ignore"):
            f = np.divide(gain * (gain > rounding) / df if df else np.nan, mean_square)
        p = float(fdtrc(df, df_residual, f)) if df and df_residual else np.nan
        rows.append(AnovaRow(model, " × ".join(term), df, float(f), p))
    return [*rows, AnovaRow(model, "residual", df_residual, np.nan, np.nan)]


def _rotated(
    terms: Terms, y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Terms, NDArray[np.float64]]:
    """Intercept, terms and y in other axes, of which all but the first few are 0 and left out.

    A rotation changes no sum of squares, and the fits then cost the same for any number of
    cells.
    """
    columns = np.column_stack([np.ones(len(y)), *terms.values(), y])
    ends = np.cumsum([1, *(values.shape[1] for values in terms.values())])
    intercept, *parts, last = np.split(np.linalg.qr(columns, mode="r"), ends, axis=1)
    return intercept, dict(zip(terms, parts, strict=True)), last[:, 0]


def _residual(y: NDArray[np.float64], terms: list[NDArray[np.float64]]) -> tuple[float, int]:
    """Residual sum of squares and rank of a model."""
    design = np.column_stack(terms)
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=_TOLERANCE)
    return float(((y - design @ solution) ** 2).sum()), int(rank)
