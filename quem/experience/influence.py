"""On whom the answer depends: leaving out each judge, subject and problem; residuals.

And how it changes without the solutions whose author a judge recognized.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.experience.averages import average_cells
from quem.experience.batch import fit_batch
from quem.experience.cells import score_cells
from quem.experience.components import spread_without
from quem.experience.estimate import estimate_system
from quem.experience.expected_ranks import averages_without, expected_ranks
from quem.experience.judges import turn_around
from quem.experience.ranks import adjusted_ranks
from quem.experience.skill import fit, refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.cells import RankCells
    from quem.experience.estimate import Estimate
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.ranks import Normalization, Score
    from quem.experience.skill import FormFit, SkillForm, SkillFunction
    from quem.studyfile import ExperienceSettings

Reason = Literal["", "no-other-ranks", "not-fitted"]
REASONS: tuple[Reason, ...] = ("no-other-ranks", "not-fitted")
_ROUNDING = 1e-10


@dataclass(frozen=True)
class LeaveOneOut:
    """A system's estimate without one judge, subject or problem."""

    what: str
    id: str
    system: str
    estimate: float  # NaN where too few subjects remain
    # The prediction interval. Where it is wider for a system with fewer cells, the variance
    # components are those of the whole study.
    low: float
    high: float
    change: float  # estimate without, less the estimate with
    # Why there is no estimate: all ranks of the system are of what is left out, or no skill
    # function can be fitted to the rest.
    reason: Reason = ""


@dataclass(frozen=True)
class SubjectDiagnostic:
    """How far a subject lies from the skill function, and how much it bends it."""

    subject: str
    experience: float
    average_rank: float
    fitted: float
    residual: float
    # The externally studentized residual; NaN where the other subjects lie on a curve and leave
    # nothing to measure it by.
    studentized: float
    leverage: float
    cooks_distance: float


def leave_out_subjects(
    averages: Averages, function: SkillFunction, estimates: dict[str, float], level: float
) -> list[LeaveOneOut]:
    """Estimate each system without each subject.

    The others keep the ranks that they had with the subject in their groups.
    """
    subjects = averages.of_kind("subject")
    weights = 1 - np.eye(len(subjects))
    every = np.broadcast_to(averages.average, (len(subjects), len(averages.average)))
    names = [averages.solvers[subject] for subject in subjects]
    widened = np.zeros((len(subjects), len(averages.of_kind("system"))))
    if averages.components:
        for index, subject in enumerate(subjects):
            others = averages.average.copy()
            others[subject] = np.nan
            widened[index] = replace(averages, average=others).widening()
    alone = np.zeros(every.shape, dtype=bool)
    left = _Left("subject", names, every, weights, widened, alone)
    return _left_out(left, averages, function.form, estimates, level)


def leave_out_cells(
    what: Literal["judge", "problem"],
    cells: RankCells,
    averages: Averages,
    function: SkillFunction,
    estimates: dict[str, float],
    level: float,
) -> list[LeaveOneOut]:
    """Estimate each system without each judge, or without each problem."""
    names = cells.judges if what == "judge" else cells.problems
    codes = cells.judge if what == "judge" else cells.problem
    n = len(cells.solvers)
    known = np.isfinite(cells.score)
    key, score = codes * n + cells.solver, cells.score
    if not known.all():
        key, score = key[known], score[known]
    total = np.bincount(key, score, minlength=len(names) * n).reshape(-1, n)
    count = np.bincount(key, minlength=len(names) * n).reshape(-1, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        average = (total.sum(axis=0) - total) / (count.sum(axis=0) - count)
    active = np.flatnonzero(count.any(axis=1))
    widened = np.zeros((len(names), len(averages.of_kind("system"))))
    if averages.components:
        widened = averages.widening(spread_without(cells, what, averages.incidence))
    left = _Left(
        what,
        [names[index] for index in active],
        average[active],
        np.ones((len(active), len(averages.of_kind("subject")))),
        widened[active],
        _alone(what, averages)[active],
    )
    return _left_out(left, averages, function.form, estimates, level)


def leave_out_pooled(
    what: Literal["judge", "problem"],
    cells: RankCells,
    without: Mapping[int, ExpectedRanks],
    averages: Averages,
    function: SkillFunction,
    estimates: dict[str, float],
    level: float,
) -> list[LeaveOneOut]:
    """Do as `leave_out_cells`, by the worths without each judge or problem.

    An estimate is NaN where what is left falls into parts that were never compared.
    """
    if not without:
        return []
    names = cells.judges if what == "judge" else cells.problems
    humans = cells.of_kind("subject") if cells.reference == "humans" else None
    none = np.full(len(cells.solvers), np.nan)
    average = [
        expected_ranks(left.model, left.ranked, humans) if left.is_connected else none
        for left in without.values()
    ]
    subjects, systems = averages.of_kind("subject"), averages.of_kind("system")
    left = _Left(
        what,
        [names[index] for index in without],
        np.array(average),
        np.ones((len(without), len(subjects))),
        np.zeros((len(without), len(systems))),
        _alone(what, averages)[list(without)],
    )
    return _left_out(left, averages, function.form, estimates, level)


def _alone(what: Literal["judge", "problem"], averages: Averages) -> NDArray[np.bool_]:
    """Which solvers have all their ranks of one judge or problem, shape (what, solvers)."""
    incidence = averages.incidence
    ranked = (incidence.judges if what == "judge" else incidence.problems) > 0
    return np.asarray(ranked & (ranked.sum(axis=0) == 1))


@dataclass(frozen=True)
class _Left:
    """What is left after each omission."""

    what: str
    names: list[str]  # what was left out, one an omission
    average: NDArray[np.float64]  # of shape (len(names), n_solvers)
    weights: NDArray[np.float64]  # of shape (len(names), n_subjects)
    widened: NDArray[np.float64]  # of shape (len(names), n_systems)
    alone: NDArray[np.bool_]  # of shape (len(names), n_solvers): whose ranks are all left out


def _left_out(
    left: _Left,
    averages: Averages,
    form: SkillForm,
    estimates: dict[str, float],
    level: float,
) -> list[LeaveOneOut]:
    if not estimates:
        return []
    subjects = averages.of_kind("subject")
    systems = [averages.solvers.index(system) for system in estimates]
    fit = fit_batch(form, left.average[:, subjects], averages.experience[subjects], left.weights)
    x = left.average[:, systems]
    with np.errstate(invalid="ignore"):
        center = fit.predict(x)
        ends = fit.predictive(x, np.nan_to_num(left.widened)).interval(level)
    change = center - np.array(list(estimates.values()))
    alone = left.alone[:, systems]
    return [
        LeaveOneOut(
            left.what, name, system, float(c), float(e[0]), float(e[1]), float(d), _reason(c, one)
        )
        for name, row in zip(left.names, zip(center, ends, change, alone, strict=True), strict=True)
        for system, c, e, d, one in zip(estimates, *row, strict=True)
    ]


def _reason(estimate: float, of_one: bool) -> Reason:  # noqa: FBT001
    """Why there is no estimate, if there is none; all ranks may be of what is left out."""
    if of_one:
        return "no-other-ranks"
    return "" if np.isfinite(estimate) else "not-fitted"


def residuals(averages: Averages, function: SkillFunction) -> list[SubjectDiagnostic]:
    """Residual, leverage and Cook's distance of each subject.

    All but the residual are of the regression of the response; where a skill function is the
    average of two, of the line.
    """
    subjects = averages.of_kind("subject")
    regression = function.regressions[0]
    response = regression.form.response
    design = regression.form.design(function.x)
    k = design.shape[1]
    inverse = regression.results.normalized_cov_params
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    fitted = function.predict(function.x)
    residual = _rounded(function.y - fitted, function.y)
    known = response.transform(function.y)
    own = _rounded(known - response.transform(regression.predict(function.x)), known)
    rss = float(own @ own)
    with np.errstate(invalid="ignore", divide="ignore"):
        # A subject who alone bends the function to himself has no residual to speak of.
        leverage_left = np.where(1 - leverage < _ROUNDING, np.nan, 1 - leverage)
        without = rss - own**2 / leverage_left
        without[without < _ROUNDING * rss] = np.nan
        studentized = own / np.sqrt(without / (function.df - 1) * leverage_left)
        cooks = own**2 * leverage / (k * (rss / function.df) * leverage_left**2)
    columns = (function.y, function.x, fitted, residual, studentized, leverage, cooks)
    return [
        SubjectDiagnostic(averages.solvers[subject], *map(float, row))
        for subject, *row in zip(subjects, *columns, strict=True)
    ]


def _rounded(residual: NDArray[np.float64], of: NDArray[np.float64]) -> NDArray[np.float64]:
    """What rounding leaves of a residual is none, and sets no scale for the others."""
    return np.where(np.abs(residual) < _ROUNDING * np.ptp(of), 0.0, residual)


@dataclass(frozen=True)
class Variant:
    """The estimates under one other setting."""

    # Which setting, and what it was changed to
    setting: str
    value: str
    system: str
    # NaN ends where the interval is unbounded
    estimate: float
    low: float
    high: float

    @property
    def label(self) -> str:
        """The setting in a word or two."""
        return self.value if self.setting == "interval" else f"{self.setting}: {self.value}"


def vary(
    cells: RankCells | None,
    experience: NDArray[np.float64],
    averages: Averages,
    function: SkillFunction,
    forms: dict[str, FormFit],
    estimates: list[Estimate],
    settings: ExperienceSettings,
) -> list[Variant]:
    """Estimate each system under every other form, normalization and score, and calibrated.

    Shapes: `experience` (n_solvers,).
    """
    # The model stands for the linear form of ranks only.
    kind = "prediction" if settings.interval == "hierarchical" else settings.interval
    other = "prediction" if kind == "calibration" else "calibration"
    variants = [_variant("interval", other, e, other) for e in estimates if e.calibration]
    others = [("form", name, form_fit.function, averages) for name, form_fit in forms.items()]
    others = [o for o in others if o[1] not in ("cubic", function.form.name)]
    if cells is not None:
        others += _scored(cells, experience, function, settings)
    for setting, value, fitted, used in others:
        for estimate in estimates:
            system = estimate.system
            changed = estimate_system(system, fitted, used, level=settings.level, at_least=())
            variants.append(_variant(setting, value, changed, kind))
    return variants


def _variant(setting: str, value: str, estimate: Estimate, kind: str) -> Variant:
    """An estimate with the interval of a kind, as it would be the headline."""
    years, ends = estimate.headline(kind), estimate.interval(kind)
    return Variant(setting, value, estimate.system, years, *ends)


def _scored(
    cells: RankCells,
    experience: NDArray[np.float64],
    function: SkillFunction,
    settings: ExperienceSettings,
) -> Iterator[tuple[str, str, SkillFunction, Averages]]:
    """The skill function over scores made otherwise of the same adjusted ranks."""
    options: list[tuple[str, Score, Normalization]] = [
        ("normalize", "rank", "none"),
        ("normalize", "rank", "expected"),
        ("normalize", "rank", "percentile"),
        ("score", "blom", "none"),
    ]
    if cells.is_blocked:
        options = []  # ranks of different blocks cannot be averaged
    elif settings.score in ("blom", "pl"):
        options = [("score", "rank", "none")]
    for setting, score, normalize in options:
        if (score, normalize) == (settings.score, settings.normalize):
            continue
        averages = average_cells(score_cells(cells, score=score, normalize=normalize), experience)
        x, y = averages.fitted()
        if not refusal(function.form, x, averages.average[averages.of_kind("system")]):
            value = score if setting == "score" else normalize
            yield setting, value, fit(function.form, x, y), averages


_SAME = 1e-9


@dataclass(frozen=True)
class Recognized:
    """The estimates without the ranks that judges gave to authors whom they recognized."""

    # How many ranks these are, and of how many judges
    n_ranks: int
    n_judges: int
    of_ranks: int  # how many ranks the judges gave in all
    fitted: bool  # whether a skill function can be fitted to what is left
    # One a system; NaN where nothing can be fitted, or no rank of the system is left.
    estimates: tuple[LeaveOneOut, ...]


def leave_out_recognized(
    cells: RankCells,
    averages: Averages,
    form: SkillForm,
    estimates: list[Estimate],
    settings: ExperienceSettings,
) -> Recognized | None:
    """Estimate each system without what judges ranked and recognized."""
    marked = _marked(cells)
    if not marked.any():
        return None
    if settings.score == "pl":
        others = averages_without(cells, averages.experience, ~marked)
    else:
        others = _averages(without_recognized(cells), averages.experience, settings)
    function = _function(form, others)
    return Recognized(
        n_ranks=int(marked.sum()),
        n_judges=len(np.unique(cells.judge[marked])),
        of_ranks=int(cells.judged().sum()),
        fitted=function is not None,
        estimates=tuple(
            _without("recognized", "recognized authors", e, function, others, settings.level)
            for e in estimates
        ),
    )


def with_judge_turned(
    judge: str,
    cells: RankCells,
    averages: Averages,
    form: SkillForm,
    estimates: Iterable[Estimate],
    settings: ExperienceSettings,
) -> tuple[LeaveOneOut, ...]:
    """Estimate each system with all orders of a judge turned around."""
    others = _averages(turn_around(cells, judge), averages.experience, settings)
    function = _function(form, others)
    return tuple(
        _without("turned", judge, estimate, function, others, settings.level)
        for estimate in estimates
    )


def _averages(
    cells: RankCells, experience: NDArray[np.float64], settings: ExperienceSettings
) -> Averages:
    """Score and average cells that were changed."""
    if settings.score == "pl":
        return averages_without(cells, experience, np.ones(len(cells.judge), dtype=bool))
    scored = score_cells(cells, score=settings.score, normalize=settings.normalize)
    return average_cells(scored, experience)


def without_recognized(cells: RankCells) -> RankCells:
    """Rank what is left of each group as if what its judge recognized had not been in it.

    Withheld solvers, who are in no result, keep their places whether they were recognized or
    not.
    """
    marked = _marked(cells)
    touched = np.zeros(cells.n_groups, dtype=bool)
    touched[cells.group[marked]] = True
    rows = np.flatnonzero(touched[cells.group] & ~marked)
    group = np.unique(cells.group[rows], return_inverse=True)[1]
    humans = cells.reference == "humans"
    counted = cells.of_kind("subject")[cells.solver[rows]] if humans else None
    adjusted, size = cells.adjusted.copy(), cells.size.copy()
    adjusted[marked], size[marked] = np.nan, 0
    adjusted[rows], size[rows] = adjusted_ranks(group, cells.given[rows], counted)
    return replace(cells, adjusted=adjusted, size=size, score=adjusted)


def _marked(cells: RankCells) -> NDArray[np.bool_]:
    """Which ranks count in the result and are of a recognized author."""
    # A study without marks has one False for all its cells, and need not look further.
    return cells.recognized & cells.judged() if cells.recognized.any() else cells.recognized


def _function(form: SkillForm, averages: Averages) -> SkillFunction | None:
    """The skill function of what is left; None where none can be fitted."""
    x, y = averages.fitted()
    if refusal(form, x, averages.average[averages.of_kind("system")]):
        return None
    if min(np.ptp(x), np.ptp(y)) <= _SAME:
        return None
    return fit(form, x, y)


def _without(
    what: str,
    name: str,
    estimate: Estimate,
    function: SkillFunction | None,
    averages: Averages,
    level: float,
) -> LeaveOneOut:
    """A system's estimate by what is left, or changed."""
    years, low, high = np.nan, np.nan, np.nan
    has_ranks = bool(np.isfinite(averages.average[averages.solvers.index(estimate.system)]))
    if function and has_ranks:
        other = estimate_system(estimate.system, function, averages, level=level, at_least=())
        years, (low, high) = other.experience, other.prediction
    change = years - estimate.experience
    reason = _reason(years, of_one=not has_ranks)
    return LeaveOneOut(what, name, estimate.system, years, low, high, change, reason)
