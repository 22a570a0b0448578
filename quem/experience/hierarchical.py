r"""A model of persons, problems, and judges: two intervals for a system, in worths.

The worth of a subject rises in a straight line with experience; what is left of it is the person,
and the error of having been ranked by some judges on some problems. That error is known from the
cells, so that a *typical* person (as good as people of that experience are on average) and one
further person (a *peer*) each get an interval of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, stdtrit

from quem.experience.components import Incidence, average_variances, components
from quem.experience.expected_ranks import DRAWS, win_chances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankTable
    from quem.experience.components import Components
    from quem.experience.estimate import Interval
    from quem.experience.expected_ranks import Worths

    Floats = NDArray[np.float64]

# The error variance of a worth goes with information to the power of -1/2; the rest is that a
# rank is rounded. Both, and the limit below, were chosen on simulated studies (docs/explanation).
_ROUNDED = 1 / 24
# A standard deviation of the subjects' worths. Above, judges hardly ever differ.
_MOST_SPREAD = 4.0
# In AICc.
_CLEARLY_CURVED = 2.0
FALLBACKS = (
    "",
    "one-judge",
    "one-problem",
    "person-not-seen",
    "nearly-certain-order",
    "curved-skill",
)


@dataclass(frozen=True)
class Hierarchical:
    """Systems of b studies by the model."""

    # Of shape (b, solvers): information is the mean over the solver's cells
    worth: Floats
    information: Floats
    years: Floats  # of shape (b, systems)
    # Of shape (b, systems, 2): NaN where there is no interval; infinite where it is open
    typical: Floats
    peer: Floats
    # Of shape (b, systems): the error variance of a system's worth, and its degrees of freedom
    variance: Floats
    df: Floats
    # Of shape (b,): of worth on experience, over the subjects
    slope: Floats
    residual_variance: Floats
    # Of shape (b, systems): to the residual variance, for a system with fewer cells than the
    # subjects.
    added: Floats
    df_typical: Floats  # of shape (b, systems)
    # Of shape (b, systems): why the typical interval is the peer's, as an index into `FALLBACKS`.
    fallback: NDArray[np.int64]


def hierarchical(
    ranks: Floats, worths: Worths, experience: Floats, systems: NDArray[np.int64], *, level: float
) -> Hierarchical:
    r"""Estimate the systems of many studies by the model.

    Shapes: `ranks` (b, judges, problems, solvers); `experience` (b, solvers).
    """
    held = np.isfinite(ranks)
    n_judges, n_problems = ranks.shape[1:3]
    theta, information = worths.worth, worths.information
    of_error = components(cell_errors(ranks, worths))
    spread = Incidence.of(ranks).spread
    w = average_variances(of_error, spread)

    people = np.isfinite(experience[0])
    y, of_people = experience[:, people], theta[:, people]
    n = y.shape[1]
    mean, center = y.mean(axis=1, keepdims=True), of_people.mean(axis=1, keepdims=True)
    slope, residual, s_yy = worth_line(y, of_people)

    root = np.sqrt(information[:, systems])
    with np.errstate(invalid="ignore", divide="ignore"):
        own = w[:, systems] / root
        variance = own + _ROUNDED / root**4
        df = _freedom([of[:, systems] for of in spread], of_error, ranks.shape[1:])
        df = np.where(own > 0, (variance / own) ** 2 * df, np.inf)
        added = np.maximum(0, w[:, systems] - w[:, people].mean(axis=1, keepdims=True)) / root
        person = residual[:, np.newaxis] + added
        distance = theta[:, systems] - center
        off = distance / slope[:, np.newaxis]
        of_line = residual[:, np.newaxis] * (1 / n + off**2 / s_yy[:, np.newaxis])
        df_typical = (variance + of_line) ** 2 / (variance**2 / df + of_line**2 / (n - 2))
    line = (slope, residual, s_yy, n)
    peer = _solve(distance, person, n - 2.0, line, level) + mean[..., np.newaxis]
    typical = _solve(distance, variance, df_typical, line, level) + mean[..., np.newaxis]
    highest, lowest = _ends(ranks, held, people, systems)
    for ends in (peer, typical):
        bounded = np.isfinite(ends).all(axis=-1)
        ends[..., 1] = np.where(bounded & highest, np.inf, ends[..., 1])
        ends[..., 0] = np.where(bounded & lowest, -np.inf, ends[..., 0])
    fallback = np.zeros(variance.shape, dtype=np.int64)
    for reason, which in (
        (5, _is_curved(y, of_people)[:, np.newaxis]),
        (4, of_people.std(axis=1, ddof=1)[:, np.newaxis] > _MOST_SPREAD),
        (3, variance >= person),
        (2, np.full((1, 1), n_problems == 1)),
        (1, np.full((1, 1), n_judges == 1)),
    ):
        fallback = np.where(which, reason, fallback)
    return Hierarchical(
        theta,
        information,
        mean + off,
        np.where((fallback > 0)[..., np.newaxis], peer, typical),
        peer,
        variance,
        df,
        slope,
        residual,
        added,
        df_typical,
        fallback,
    )


def cell_errors(ranks: Floats, worths: Worths) -> Floats:
    r"""Give what each cell says of the worth beyond all others.

    On a scale on which that varies alike for all solvers:
    :math:`u = I^{1/4} H_G^{-1} (r - 1 - \text{expected})`, with the information matrix of the
    cell's own group.

    Shapes: `ranks` (b, judges, problems, solvers).
    """
    held, theta, information = np.isfinite(ranks), worths.worth, worths.information
    n_studies, n_judges, n_problems, n_solvers = ranks.shape
    study = np.repeat(np.arange(n_studies), n_judges * n_problems)
    there = held.reshape(-1, n_solvers)
    beats, each = win_chances(theta), np.arange(n_solvers)
    beats[:, each, each] = 0.0
    drawn = expit(theta)
    given = np.where(there, ranks.reshape(-1, n_solvers) - 1, 0.0)
    members = there.astype(np.float64)
    shape = (n_studies, n_judges * n_problems, n_solvers)
    expected = members.reshape(shape) @ beats.transpose(0, 2, 1)
    expected += (DRAWS * (drawn - 0.5))[:, np.newaxis]
    surplus = np.where(there, given - expected.reshape(given.shape), 0.0)
    errors = np.full(given.shape, np.nan)
    for rows, of in _alike(study, there):
        who = np.flatnonzero(there[rows[0]])
        if not len(who):
            continue
        won = beats[of][np.ix_(who, who)]
        matrix = won * won.T
        diagonal = matrix.sum(axis=1) + DRAWS * drawn[of, who] * (1 - drawn[of, who])
        matrix = np.diag(diagonal) - matrix
        solved = np.linalg.solve(matrix, surplus[np.ix_(rows, who)].T).T
        errors[np.ix_(rows, who)] = solved * information[of, who] ** 0.25
    return errors.reshape(ranks.shape)


def _alike(
    study: NDArray[np.int64], there: NDArray[np.bool_]
) -> list[tuple[NDArray[np.int64], int]]:
    """Groups of one study that hold the same solvers, and which study that is."""
    packed = np.packbits(there, axis=1)
    key = np.concatenate(
        [study[:, np.newaxis].view(np.uint8).reshape(len(study), -1), packed], axis=1
    )
    rows = np.ascontiguousarray(key).view(np.dtype((np.void, key.shape[1]))).ravel()
    _, codes = np.unique(rows, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order])) + 1
    return [(part, int(study[part[0]])) for part in np.split(order, starts)]


def worth_line(y: Floats, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """Regress worth on experience by least squares.

    Shapes: `y`, `theta` (b, subjects); `slope`, `residual_variance`, `s_yy` (b,).
    """
    off = y - y.mean(axis=1, keepdims=True)
    s_yy = (off**2).sum(axis=1)
    slope = (off * theta).sum(axis=1) / s_yy
    rest = theta - theta.mean(axis=1, keepdims=True) - slope[:, np.newaxis] * off
    return slope, (rest**2).sum(axis=1) / (y.shape[1] - 2), s_yy


def _is_curved(y: Floats, theta: Floats) -> NDArray[np.bool_]:
    """Whether worth clearly rises ever slower with experience, by AICc."""
    n = y.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = n * np.log(worth_line(y, theta)[1] / worth_line(np.log(y + 1), theta)[1])
    return np.asarray(gain > _CLEARLY_CURVED)


def _freedom(spread: list[Floats], of: Components, shape: tuple[int, ...]) -> Floats:
    """Satterthwaite's degrees of freedom of the error variance, without its rounding."""
    n_judges, n_problems, n_solvers = shape
    a, b, e = spread
    solution, taste, rest = (
        variance[:, np.newaxis] for variance in (of.solution, of.taste, of.rest)
    )
    problems, judges = n_problems - 1, n_judges - 1
    both, neither = (solution > 0) & (taste > 0), (solution == 0) & (taste == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (
            np.where(solution > 0, (solution * a + rest * e) ** 2 / problems, 0.0),
            np.where(taste > 0, (taste * b + rest * e) ** 2 / judges, 0.0),
            np.where(both | neither, (rest * e) ** 2 / (judges * problems), 0.0),
        )
        total = solution * a + taste * b + rest * e
        return np.asarray(total**2 * (n_solvers - 1) / sum(parts))


def _solve(
    distance: Floats,
    variance: Floats,
    df: Floats | float,
    line: tuple[Floats, Floats, Floats, int],
    level: float,
) -> Floats:
    r"""All :math:`\eta` with :math:`(d - c\eta)^2 \le t^2 (v + s^2/n + s^2\eta^2/S_{yy})`."""
    slope, residual, s_yy, n = (
        of[:, np.newaxis] if isinstance(of, np.ndarray) else of for of in line
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        t = stdtrit(df, (1 + level) / 2)
        a = slope**2 - t**2 * residual / s_yy
        inside = (slope * distance) ** 2 - a * (distance**2 - t**2 * (variance + residual / n))
        root = np.sqrt(inside)
        ends = np.stack([(slope * distance - root) / a, (slope * distance + root) / a], axis=-1)
    exists = (a > 0) & (slope > 0) & (inside >= 0)
    return np.where(exists[..., np.newaxis], ends, np.nan)


def _ends(
    ranks: Floats,
    held: NDArray[np.bool_],
    people: NDArray[np.bool_],
    systems: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which systems were above every subject in every cell, and which below."""
    of_people = ranks[..., people]
    best = np.where(held[..., people], of_people, -np.inf).max(axis=-1, keepdims=True)
    worst = np.where(held[..., people], of_people, np.inf).min(axis=-1, keepdims=True)
    own, there = ranks[..., systems], held[..., systems]
    above = ((own > best) | ~there).all(axis=(1, 2))
    return np.asarray(above), np.asarray(((own < worst) | ~there).all(axis=(1, 2)))


@dataclass(frozen=True)
class ModelEstimate:
    """A system by the model of persons, problems, and judges."""

    experience: float
    # For a typical person, and for one further person, of that quality; NaN where there is no
    # interval, infinite where an end is open
    typical: Interval
    peer: Interval
    fallback: str  # why the first is the second, as a code; else empty


def model_estimates(
    table: RankTable, worths: Worths, experience: Floats, systems: NDArray[np.int64], level: float
) -> list[ModelEstimate]:
    """Estimate the systems of a study of whole groups.

    Shapes: `experience` (solvers,).
    """
    of = hierarchical(table.ranks[np.newaxis], worths, experience[np.newaxis], systems, level=level)
    return [
        ModelEstimate(float(years), _pair(typical), _pair(peer), FALLBACKS[fallback])
        for years, typical, peer, fallback in zip(
            of.years[0], of.typical[0], of.peer[0], of.fallback[0], strict=True
        )
    ]


def _pair(ends: Floats) -> Interval:
    low, high = ends.tolist()
    return low, high
