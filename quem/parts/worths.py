"""Worths instead of average ranks, for groups judged in blocks or by pairs.

A rank in a block is relative to the solutions of its block. Plackett-Luce puts all solvers on one
scale; win probabilities convert worths back to ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quem.errors import QuemError, StudyWarning, WarningRules
from quem.method.averages import Averages
from quem.method.decisions import DecisionCells
from quem.method.part import Check, Part, PartTable
from quem.method.plackett_luce import (
    Fit,
    PooledRankings,
    Scale,
    ScaleErrors,
    expected_ranks,
    fit_scale,
    infit,
    list_rankings,
    scale_errors,
)
from quem.method.variances import Variance
from quem.report.files import Section
from quem.report.rows import Row, col
from quem.wording import format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.method.cells import RankCells
    from quem.method.core import Core
    from quem.rankings.loading import Study
    from quem.studyfile import ExperienceSettings

    Floats = NDArray[np.float64]

_MOST_ROWS = 25
# Limit of rankings to fit, over all problems that are left out in turn.
_MOST_REFITTED = 10_000_000
# A scale is usable from .7 on; a judge's choices are odd beyond two standard deviations of the
# judges' infits, given enough choices (comparative judgment; Pollitt 2012).
_LOW_SEPARATION = 0.7
_DEVIATIONS, _FEWEST_CHOICES = 2, 20


class Worth(Row):
    """A solver's worth."""

    title: ClassVar[str] = "Worths, best first"
    solver: str = col("id; withheld solvers are left out", "Solver")
    expected_rank: float = col("1 + the sum of the chances of beating each other", "Expected rank")
    rank_error: float | None = col("its standard error; null for over 5,000 solvers", "Error", 2)
    log_worth: float = col("logarithm of the odds of being chosen, mean 0", "Worth", 2)
    error: float | None = col("its standard error; null for over 5,000 solvers", "Error", 2)


class JudgeFit(Row):
    """The fit of a judge's choices to the worths."""

    title: ClassVar[str] = "How well judges’ choices fit the worths, least first"
    judge: str = col("id", "Judge")
    n_choices: int = col("choices among two or more; of pairs, decisions", "Choices")
    infit: float | None = col("1 on average where the model is true, more if erratic", "Infit", 2)


class ScaleRow(Row):
    """The scale of worths."""

    n_rankings: int = col("rankings, or decisions, that it was fitted to")
    separation: float | None = col("separation reliability: 1 - mean squared error / variance")
    df: int = col("degrees of freedom of errors; 0 where rankings are treated as independent")
    solvers: tuple[Worth, ...] = col("one entry per solver")
    judges: tuple[JudgeFit, ...] = col("one entry per judge")


@dataclass(frozen=True, kw_only=True)
class WorthAverages(Averages):
    """Expected ranks in the form of average ranks."""

    called = "expected rank"
    cells: RankCells
    scale: Scale

    @cached_property
    def errors(self) -> ScaleErrors | None:
        """The errors of the worths, with a jackknife over problems if that is fast."""
        without = []
        different = len(self.scale.rankings.orders.times)
        if len(self.cells.problems) <= _MOST_REFITTED // different:
            for problem in range(len(self.cells.problems)):
                kept = self.cells.problem != problem
                if kept.any() and not kept.all():
                    left = _rankings(self.cells.keep(kept))
                    without.append(fit_scale(left, start=self.scale.model))
        return scale_errors(self.scale, without)

    @cached_property
    def fit(self) -> Fit:
        """The fit of each judge's choices."""
        return infit(self.scale)


_WARNINGS: WarningRules[WorthAverages, Core] = WarningRules()


class Worths(Part[WorthAverages]):
    """Worths with their errors, and the fit of judges' choices."""

    name = "worths"
    tables = (
        PartTable("worths", "where groups were judged in blocks or by pairs", ScaleRow, many=False),
        PartTable("", "one row per solver, where worths were fitted", Worth, stem="worths"),
        PartTable("", "one row per judge, where worths were fitted", JudgeFit, stem="judge-fit"),
    )

    def average(
        self,
        study: Study,
        settings: ExperienceSettings,
        cells: RankCells | None,
        whole: Averages | None = None,
    ) -> WorthAverages | None:
        """Expected ranks of solvers in blocks or pairs."""
        if cells is None or not (whole or cells.is_blocked):
            return None
        start = whole.scale.model if isinstance(whole, WorthAverages) else None
        scale = fit_scale(_rankings(cells), start=start)
        if not scale.is_connected:
            raise QuemError(study.mistake(("rankings",), _apart(scale, cells.solvers)))
        known = {one.id: one.experience for one in study.spec.subjects}
        rank = expected_ranks(scale.model, scale.ranked)
        return WorthAverages(
            cells.solvers,
            cells.kinds,
            np.array([known.get(solver, np.nan) for solver in cells.solvers]),
            rank,
            (rank - 0.5) / scale.ranked.sum(),
            scale.rankings.n_ranks(),
            cells=cells,
            scale=scale,
        )

    def vary(
        self,
        study: Study,
        settings: ExperienceSettings,
        cells: RankCells | None,
        of: Averages,
    ) -> dict[str, Variance]:
        """The variance of systems' expected ranks beyond those of subjects."""
        return {system: beyond for system, (_, beyond) in _dispersions(of).items()}

    def own(self, of: Averages) -> dict[str, Variance]:
        """The variance of expected ranks: the subjects' mean, which is more stable."""
        return {system: own for system, (own, _) in _dispersions(of).items()}

    def find(self, core: Core) -> WorthAverages | None:
        """The expected ranks, if these are the averages."""
        return core.averages if isinstance(core.averages, WorthAverages) else None

    def rows(self, found: WorthAverages, core: Core) -> Sequence[Sequence[Row]]:
        """The scale, its solvers, and its judges."""
        worths, judges, errors = _worths(found), _judges(found), found.errors
        row = ScaleRow(
            n_rankings=found.scale.rankings.n_rankings,
            separation=errors and errors.separation,
            df=errors.df if errors else 0,
            solvers=tuple(worths),
            judges=tuple(judges),
        )
        return [row], worths, judges

    def warn(self, found: WorthAverages, core: Core) -> Iterable[StudyWarning]:
        """Warnings on the scale."""
        return _WARNINGS.find(found, core)

    def about(self, found: WorthAverages, core: Core) -> str:
        """The model and its scores."""
        ties = ", with ties as in Turner et al. (2020)" if found.scale.model.ties else ""
        return (
            f"A Plackett-Luce model{ties} was fitted to the {found.scale.rankings.n_rankings:,} "
            f"rankings, one worth per solver (ridge penalty {found.scale.ridge:g} on log worths); "
            "each solver's score is the expected rank among all, 1 + the sum of the probabilities "
            "of beating each other solver."
        )

    def basis(self, found: WorthAverages, core: Core) -> Iterable[Check]:
        """Whether worths differ significantly."""
        if found.errors:
            value = found.errors.separation
            low = not value >= _LOW_SEPARATION
            title = "The order of the solvers is mostly chance" if low else "Worths are apart"
            text = f"separation reliability {format_number(value, 2)}"
            yield Check("warn" if low else "good", title, text)

    def sections(self, found: WorthAverages, core: Core) -> Iterable[Section]:
        """Worths and the fit of judges."""
        judges = _judges(found)
        judges.sort(key=lambda row: -(row.infit or 0.0))
        count = len(judges)
        note = f"The {_MOST_ROWS} with the highest infit of {count:,}." * (count > _MOST_ROWS)
        worths = sorted(_worths(found), key=lambda row: -row.log_worth)
        tables = [Worth.text_table(worths), JudgeFit.text_table(judges[:_MOST_ROWS], note=note)]
        yield Section("worths", "Worths", _of_errors(found), (), tables)


def _rankings(cells: RankCells) -> PooledRankings:
    return cells.pooled if isinstance(cells, DecisionCells) else list_rankings(cells)


def _dispersions(of: Averages) -> dict[str, tuple[Variance, Variance]]:
    """Variances of each system's place over w: the mean of subjects, and the excess."""
    if not isinstance(of, WorthAverages) or of.errors is None:
        return {}
    ranked, people = of.scale.ranked, of.of_kind("subject")
    each = np.full(len(ranked), np.nan)
    each[ranked] = (of.errors.rank / ranked.sum()) ** 2 / of.weight[ranked]
    # Without the jackknife, errors assume independent rankings.
    df = of.errors.df or of.scale.rankings.n_rankings
    usual = Variance(float(each[people].mean()), df * len(people))
    return {
        of.solvers[at]: (usual, Variance(max(0.0, float(each[at]) - usual.value), df))
        for at in of.of_kind("system").tolist()
    }


def _apart(scale: Scale, solvers: Sequence[str]) -> str:
    parts = (f"({join_words(solvers[at] for at in part)})" for part in scale.connection.parts)
    return (
        "the solvers fall into parts that were never compared with each other: "
        f"{'; '.join(parts)}; let a judge rank solutions of different parts together, or analyze "
        "each part as a separate study"
    )


def _worths(found: WorthAverages) -> list[Worth]:
    ranked = np.flatnonzero(found.scale.ranked)
    unknown = np.full(len(ranked), np.nan)
    rank_error, error = (
        (found.errors.rank, found.errors.log_worth) if found.errors else (unknown, unknown)
    )
    return [
        Worth(
            solver=found.solvers[at],
            expected_rank=found.rank[at],
            rank_error=rank_error[row],
            log_worth=found.scale.model.log_worth[at],
            error=error[row],
        )
        for row, at in enumerate(ranked.tolist())
        if found.kinds[at] != "withheld"
    ]


def _judges(found: WorthAverages) -> list[JudgeFit]:
    judges = found.fit
    return [
        JudgeFit(judge=found.cells.judges[at], n_choices=judges.n[at], infit=judges.infit[at])
        for at in np.flatnonzero(judges.n).tolist()
    ]


def _of_errors(found: WorthAverages) -> list[str]:
    errors = found.errors
    if errors is None:
        return []
    how = (
        "Errors are the larger of two: by the observed information, which treats rankings as "
        "independent, and by the jackknife over problems, whose rankings are dependent."
        if errors.df
        else "Errors are by the observed information and treat rankings as independent; what "
        "rankings of one problem have in common is not in them."
    )
    separation = format_number(errors.separation, 2)
    return [
        "A worth is the logarithm of the odds of being chosen; the mean is 0. Separation "
        f"reliability, the share of the spread of worths that is not error: {separation}. {how}"
    ]


@_WARNINGS.add("blocks")
def _blocks(found: WorthAverages, core: Core) -> Iterator[str]:  # noqa: ARG001
    ranked = found.cells.has_ranks
    how = "some groups were judged in blocks" if ranked else "judges compared pairs"
    yield f"{how}, so solvers are scored by expected ranks, and agreement of judges is unknown"


@_WARNINGS.add("always-above")
def _always_above(found: WorthAverages, core: Core) -> Iterator[str]:
    separated = []
    for where in ("above", "below"):
        for solvers in getattr(found.scale.connection, where):
            names = join_words(core.name_of(found.solvers[at]) for at in solvers)
            were, they = ("was", "it was") if len(solvers) == 1 else ("were", "they were")
            separated.append(
                f"{names} {were} always ranked {where} all others {they} compared with"
            )
    if separated:
        yield (
            f"{'; '.join(separated)}; the distance is determined only by the ridge penalty "
            "(separation)"
        )


@_WARNINGS.add("low-separation", remedy="add judges' decisions, or report no order")
def _low_separation(found: WorthAverages, core: Core) -> Iterator[str]:  # noqa: ARG001
    if found.errors and found.errors.separation < _LOW_SEPARATION:
        yield (
            "the separation reliability of the worths is "
            f"{format_number(found.errors.separation, 2)}, below {_LOW_SEPARATION:g}: the order "
            "of the solvers is mostly chance"
        )


@_WARNINGS.add("inconsistent-judge", remedy="ask for their criteria")
def _inconsistent_judge(found: WorthAverages, core: Core) -> Iterator[str]:  # noqa: ARG001
    of = found.fit
    known = of.infit[of.n > 0]
    if len(known) < 2:  # noqa: PLR2004  one has no deviation
        return
    mean, limit = known.mean(), known.mean() + _DEVIATIONS * known.std(ddof=1)
    for judge in np.flatnonzero((of.n >= _FEWEST_CHOICES) & (of.infit > limit)):
        yield (
            f"judge {found.cells.judges[judge]}'s choices fit the worths less than those of "
            f"other judges: infit {format_number(float(of.infit[judge]), 2)}, mean of the judges "
            f"{format_number(float(mean), 2)} (above the mean by more than {_DEVIATIONS} standard "
            f"deviations, {of.n[judge]:,} choices)"
        )
