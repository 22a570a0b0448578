"""Gain from assistance: the same subjects with and without the help of a system.

Everybody is placed among subjects who were never assisted: together, assisted ranks would push
each other down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr, stdtrit

from quem.comparison.pairs import years_between
from quem.comparison.result import GainRow, PersonRow
from quem.comparison.systems import Trial
from quem.errors import Mistake, QuemError
from quem.method.averages import average_cells
from quem.method.ranks import adjusted_ranks
from quem.method.reference import calibrated, fit_people, posterior, read_posterior
from quem.method.variances import Variance, variations
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.method.cells import RankCells
    from quem.method.core import Core
    from quem.studyfile.models import Assisted

    Floats = NDArray[np.float64]

# Unassisted subjects in a group: a constant set, and the minimum.
LEAST_COMMON, LEAST_REFERENCES = 3, 2
_NO_TEST = "too few problems: a test needs more problems than there are sets of them"
_NO_SPREAD = "the gain is the same on every problem, so there is no spread to compare it with"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Placed:
    """The ranks of all solvers among unassisted subjects."""

    core: Core  # with the averages of these ranks, and the fitted line
    cells: RankCells  # `size` counts these subjects
    # Of shape (n_problems, n_solvers): mean rank over the judges, as in the largest group; NaN
    # where a solver was not ranked.
    ranks: Floats
    common: bool  # whether these subjects were never assisted and are constant

    def of(self, solver: str) -> Floats:
        """A solver's rank on each problem."""
        return self.ranks[:, self.cells.solvers.index(solver)]

    def problems(self, solver: str) -> list[str]:
        """The problems on which a solver was ranked."""
        return [self.cells.problems[at] for at in np.flatnonzero(np.isfinite(self.of(solver)))]


def gains_of(core: Core) -> list[GainRow]:
    """The gain from assistance by each system, if there is any."""
    study, cells = core.study, core.cells
    if not study.spec.assisted or cells is None or not cells.has_ranks:
        return []
    if cells.is_blocked:
        message = (
            "this study was judged in blocks, and a gain needs ranks of whole groups; compare its "
            "systems by --systems"
        )
        raise QuemError(study.mistake(("assisted",), message))
    placed = _placed(core, cells)
    if mistakes := list(_solved_twice(placed)):
        raise QuemError(mistakes)
    by_system: dict[str, list[Assisted]] = {}
    for one in study.spec.assisted:
        if placed.problems(one.id) and placed.problems(one.person):
            by_system.setdefault(one.by, []).append(one)
    return [_of_system(placed, system, of) for system, of in by_system.items()]


def missing_half(core: Core, one: Assisted) -> str:
    """Which half of a subject's work lacks ranks, so that no gain can be computed."""
    ranks = dict(zip(core.averages.solvers, core.averages.rank, strict=True))
    missing = [
        f"{solver} ({how})"
        for solver, how in ((one.id, "assisted"), (one.person, "unassisted"))
        if not np.isfinite(ranks.get(solver, np.nan))
    ]
    verb = "has" if len(missing) == 1 else "have"
    return (
        f"the gain of {one.person} is the difference between assisted and unassisted solutions, "
        f"and {join_words(missing)} {verb} no ranks; have each assisted person solve some problems "
        "in either way"
    )


def _placed(core: Core, cells: RankCells) -> _Placed:
    """Rank everybody among those who were never assisted.

    If some relevant group has fewer than three of them: among all unassisted on its problem,
    excluding the solver.
    """
    cells = cells.keep(cells.of_kind("subject", "assisted")[cells.solver])
    concerned = [name for one in core.study.spec.assisted for name in (one.id, one.person)]
    is_concerned = np.isin(cells.solvers, concerned)
    among = cells.of_kind("subject") & ~is_concerned
    size = np.bincount(cells.group[among[cells.solver]], minlength=cells.n_groups)
    common = bool((size[cells.group[is_concerned[cells.solver]]] >= LEAST_COMMON).all())
    rank, size = _ranks_among(cells, among if common else cells.of_kind("subject"))
    few = is_concerned[cells.solver] & (size < LEAST_REFERENCES)
    if few.any():
        problems = join_words(cells.problems[at] for at in np.unique(cells.problem[few]))
        message = (
            f"fewer than {LEAST_REFERENCES} people without help were ranked on {problems}, so that "
            "there is nobody to measure help against; let some people solve every problem without "
            "help"
        )
        raise QuemError(core.study.mistake(("assisted",), message))
    cells = replace(cells, adjusted=rank, score=rank, size=size)
    averages = average_cells(cells, core.averages.years)
    subjects = averages.of_kind("subject")
    years = calibrated(averages.years[subjects], core.settings.years_error)
    core = replace(core, averages=averages, people=fit_people(averages.z[subjects], years))
    expected = replace(cells, score=rank * (size.max(initial=0) + 1) / (size + 1))
    sums = average_cells(expected, averages.years).problems
    assert sums is not None  # noqa: S101  cells have them
    ranks = sums.rank / np.where(sums.count > 0, sums.count, np.nan)
    return _Placed(core, cells, ranks, common)


def _ranks_among(cells: RankCells, among: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.int64]]:
    """Rank some solvers among themselves, and place each other one among them.

    With b of S below, ties one half, the rank is 1 + b (S - 1)/S.

    Shapes: `among` (n_solvers,).
    """
    rank, size = np.empty(len(cells.given)), np.empty(len(cells.given), dtype=np.int64)
    own = among[cells.solver]
    rank[own], size[own] = adjusted_ranks(cells.group[own], cells.given[own])
    for solver in np.unique(cells.solver[~own]):
        is_solver = cells.solver == solver
        rows = own | is_solver
        with_solver = adjusted_ranks(cells.group[rows], cells.given[rows])
        below, n = (of[is_solver[rows]] - 1 for of in with_solver)
        rank[is_solver], size[is_solver] = 1 + below * (n - 1) / np.maximum(n, 1), n
    return rank, size


def _solved_twice(placed: _Placed) -> Iterator[Mistake]:
    """Nobody may solve a problem twice."""
    assisted = placed.core.study.spec.assisted
    for at, one in enumerate(assisted):
        own = placed.problems(one.id)
        earlier = (other.id for other in assisted[:at] if other.person == one.person)
        for other in (one.person, *earlier):
            if both := [problem for problem in placed.problems(other) if problem in own]:
                other_way = "alone" if other == one.person else f"as {other}"
                message = (
                    f"{one.person} solved {join_words(both)} twice, as {one.id} and {other_way}. "
                    "A person who solves a problem again has learned from the first time, which "
                    "cannot be separated from the help; use other problems with and without help"
                )
                yield placed.core.study.mistake(("assisted", at), message)


def _of_system(placed: _Placed, system: str, assisted: Sequence[Assisted]) -> GainRow:
    name, level = placed.core.name_of(system), placed.core.settings.level
    alone, helped = (
        np.array([placed.of(getattr(one, key)) for one in assisted]) for key in ("person", "id")
    )
    people = []
    for one, rank, with_help in zip(
        assisted, np.nanmean(alone, axis=1), np.nanmean(helped, axis=1), strict=True
    ):
        first, second = f"{one.person} alone", f"{one.person} with {name}"
        of = years_between(_trial(placed, one.person, first), _trial(placed, one.id, second))
        ids = {"first": first, "second": second, "a": one.person, "b": one.id}
        people.append(PersonRow(**ids, **of, alone=rank, helped=with_help))
    gain = float(np.mean([person.helped - person.alone for person in people]))
    test, common = gain_test(alone, helped, level), placed.common
    return GainRow(system=system, name=name, gain=gain, common=common, people=people, **test)


def _trial(placed: _Placed, solver: str, name: str) -> Trial:
    """A subject's assisted or unassisted work, as a system with these cells alone."""
    core, averages = placed.core, placed.core.averages
    at = averages.solvers.index(solver)
    variation = variations(placed.cells, averages, np.array([at]))[solver]
    weight, z = float(averages.weight[at]), float(averages.z[at])
    added, error = (Variance(of.value / weight, of.df) for of in (variation.added, variation.error))
    of = posterior(core.people, z, core.population, added)
    slope, level = core.people.slope, core.settings.level
    reference = read_posterior(of, core.population, slope=slope, level=level)
    return Trial(name, core, z, error, reference)


def gain_test(alone: Floats, helped: Floats, level: float) -> dict[str, Any]:
    r"""Test the mean gain of subjects; for one subject, Student's two-sample t test.

    Problems are sampled; they fall into sets s by who solved them and how. Of n subjects i has
    help on A_i problems (rank a) and none on U_i (rank u); a set has P_s problems p.

    .. math:: G = \sum_s \bar y_s, \quad
              y_p = \frac{P_s}{n} \sum_i \left(\frac{a_{ip}}{A_i} - \frac{u_{ip}}{U_i}\right)

    With k_s the sum of the squared weights of a set, times :math:`P_s^2/n^2`, the variance of G is
    s^2 times the sum of k_s/P_s, with s^2 the mean of the squares of y within the sets over k_s.

    Shapes: `alone`, `helped` (n_people, n_problems).
    """
    is_helped, is_alone = np.isfinite(helped), np.isfinite(alone)
    used = (is_helped | is_alone).any(axis=0)
    is_helped, is_alone = is_helped[:, used], is_alone[:, used]
    weight = is_helped / is_helped.sum(axis=1, keepdims=True)
    weight = weight - is_alone / is_alone.sum(axis=1, keepdims=True)
    rank = np.where(is_helped, helped[:, used], np.where(is_alone, alone[:, used], 0.0))
    _, first, of_set, size = np.unique(
        np.sign(weight), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    of_set = of_set.ravel()
    y = size[of_set] * (weight * rank).mean(axis=0)
    mean = np.bincount(of_set, y) / size
    df = len(y) - len(size)
    if df < 1:
        return {"reason": _NO_TEST}
    # Within a set all problems have the same weights.
    spread = (size[of_set] ** 2 * (weight**2).sum(axis=0) / len(weight) ** 2)[first]
    within = float(((y - mean[of_set]) ** 2 / spread[of_set]).sum()) / df
    gain, error = float(mean.sum()), float(np.sqrt(within * (spread / size).sum()))
    if error <= _ROUNDING * float(np.abs(y).max()):
        return {"reason": _NO_SPREAD}
    t, half = gain / error, float(stdtrit(df, (1 + level) / 2)) * error
    interval = (gain - half, gain + half)
    return {"t": t, "df": df, "p_value": 2 * float(stdtr(df, -abs(t))), "interval": interval}
