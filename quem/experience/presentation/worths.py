"""Worths with their errors, and how well judges' choices fit them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.experience.presentation.session_columns import name_column
from quem.experience.standard_errors import FEWEST_PROBLEMS
from quem.report.columns import (
    COUNT,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    OPEN_INTERVAL,
    Column,
    Columns,
    Table,
    Type,
    each,
    null_or,
    of,
)
from quem.report.files import Section
from quem.wording import format_count, format_number, format_percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.result import ExperienceFindings
    from quem.experience.standard_errors import WorthErrors

    Floats = NDArray[np.float64]

_MOST_ROWS = 25


@dataclass(frozen=True)
class SolverWorth:
    """The worth of one solver; NaN where an error is unknown."""

    solver: str
    log_worth: float
    error: float  # the larger of those by information and by problems
    interval: tuple[float, float]
    by_information: float
    by_problems: float
    by_ranking: float
    by_judge: float
    conditional: float
    # How far it is above the next lower worth, and the error of that; NaN for the lowest
    lead: float
    lead_error: float
    n: int
    infit: float
    outfit: float


@dataclass(frozen=True)
class JudgeFit:
    """How well one judge's choices fit."""

    judge: str
    n: int
    infit: float
    outfit: float


def worths(findings: ExperienceFindings) -> list[SolverWorth]:
    """Give the worths of the ranked solvers in the order of the study file.

    Withheld solvers are left out.
    """
    pooled, errors, fit = findings.pooled, findings.worth_errors, findings.worth_fit
    if pooled is None or fit is None:
        return []
    kinds = findings.averages.kinds
    shown = [at for at in np.flatnonzero(pooled.ranked).tolist() if kinds[at] != "withheld"]
    best_first = sorted(shown, key=lambda at: -pooled.model.log_worth[at])
    lower = dict(pairwise(best_first))
    columns = _columns(findings, pooled.model.log_worth, errors)
    return [
        SolverWorth(
            solver=findings.averages.solvers[at],
            interval=(float(columns["low"][at]), float(columns["high"][at])),
            **{name: float(values[at]) for name, values in columns.items() if name not in _ENDS},
            lead=float(pooled.model.log_worth[at] - pooled.model.log_worth[lower[at]])
            if at in lower
            else np.nan,
            lead_error=errors.difference(at, lower[at]) if errors and at in lower else np.nan,
            n=int(fit.solvers.n[at]),
            infit=float(fit.solvers.infit[at]),
            outfit=float(fit.solvers.outfit[at]),
        )
        for at in shown
    ]


_ENDS = ("low", "high")


def _columns(
    findings: ExperienceFindings, log_worth: Floats, errors: WorthErrors | None
) -> dict[str, Floats]:
    """Worths and what is known of their errors, by solver."""
    unknown = np.full(len(log_worth), np.nan)
    low, high = errors.interval(findings.settings.level) if errors else (unknown, unknown)
    return {
        "log_worth": log_worth,
        "low": low,
        "high": high,
        "error": errors.error() if errors else unknown,
        "by_information": errors.by_information() if errors else unknown,
        "by_problems": errors.by_problems() if errors else unknown,
        "by_ranking": errors.sandwich if errors else unknown,
        "by_judge": errors.clustered if errors else unknown,
        "conditional": errors.conditional if errors else unknown,
    }


def judge_fits(findings: ExperienceFindings) -> list[JudgeFit]:
    """Give the fit of each judge who chose."""
    if findings.worth_fit is None or findings.cells is None:
        return []
    fit = findings.worth_fit.judges
    return [
        JudgeFit(
            findings.cells.judges[at], int(fit.n[at]), float(fit.infit[at]), float(fit.outfit[at])
        )
        for at in np.flatnonzero(fit.n).tolist()
    ]


_FIT: tuple[Column[Any, ExperienceFindings], ...] = (
    Column("n_choices", COUNT, "choices among two or more; of pairs, decisions", of="n"),
    Column(
        "infit",
        null_or(NOT_NEGATIVE),
        "how far these choices are from what the worths lead one to expect, weighted by "
        "information; 1 on average where the model is true, more where they are more erratic",
        heading="Infit",
    ),
    Column(
        "outfit",
        null_or(NOT_NEGATIVE),
        "the same without weights, which a few surprising choices move more",
        heading="Outfit",
    ),
)


def _error(name: str, meaning: str, of_row: str, **shown: Any) -> Column[Any, ExperienceFindings]:  # noqa: ANN401
    return Column(name, null_or(NOT_NEGATIVE), meaning, of=of_row, **shown)


WORTHS: Columns[SolverWorth, ExperienceFindings] = Columns(
    name_column("solver"),
    Column("solver", NAME, "id; withheld solvers are left out"),
    Column("log_worth", NUMBER, "θ, with mean 0", heading="Worth θ"),
    _error(
        "error",
        "standard error of θ: the larger of the next two; null, as all errors, for more than "
        "5,000 solvers",
        "error",
        heading="Error",
    ),
    _error("error_information", "by the observed information", "by_information", heading="(inf.)"),
    _error(
        "error_problems",
        "by the jackknife over problems; null with fewer than 3 problems, where worths could not "
        "be refitted without each, and for a solver ranked on one problem only",
        "by_problems",
        heading="(problems)",
    ),
    _error("error_rankings", "by the sandwich over rankings, for comparison", "by_ranking"),
    _error(
        "error_judges",
        "by the sandwich over judges, for comparison; null with one judge",
        "by_judge",
    ),
    _error(
        "error_conditional",
        "1/√H, as if the other worths were known: what some programs print; not used",
        "conditional",
    ),
    Column(
        "interval",
        OPEN_INTERVAL,
        "interval of θ at `settings.level`, by Student's t with `worth_df` degrees of freedom, or "
        "by the normal distribution where that is 0",
        heading="Interval",
    ),
    Column(
        "lead",
        null_or(NOT_NEGATIVE),
        "θ minus that of the next lower solver; null for the lowest",
        heading="Above the next by",
    ),
    _error(
        "lead_error", "standard error of that difference", "lead_error", heading="Error of that"
    ),
    *_FIT,
)
JUDGE_FIT: Columns[JudgeFit, ExperienceFindings] = Columns(
    Column("judge", NAME, "id", heading="Judge"),
    Column("n_choices_shown", COUNT, "choices", of="n", heading="Choices", only="report"),
    *_FIT,
)
_SEPARATION: Columns[Any, ExperienceFindings] = Columns(
    Column(
        "information",
        NUMBER,
        "1 − mean squared error / variance of the worths, with `error_information`",
        of=lambda row, _: row.separation(),
    ),
    Column(
        "conditional",
        NUMBER,
        "the same with `error_conditional`, as some programs compute it",
        of=lambda row, _: row.separation(conditional=True),
    ),
)
_TIES: Columns[tuple[int, float], ExperienceFindings] = Columns(
    Column(
        "size",
        Type({"type": "integer", "minimum": 2}),
        "one entry per size of ties",
        of=lambda row, _: row[0],
    ),
    Column(
        "delta",
        Type({"type": "number", "exclusiveMinimum": 0}),
        "parameter of ties of that size",
        of=lambda row, _: row[1],
    ),
)
PLACKETT_LUCE: Columns[Any, ExperienceFindings] = Columns(
    Column("n_rankings", Type({"type": "integer", "minimum": 1}), "number of rankings"),
    Column("ridge", Type({"type": "number", "exclusiveMinimum": 0}), "the penalty λ"),
    Column(
        "log_likelihood",
        Type({"type": "number", "maximum": 0}),
        "without the penalty",
        of="model.log_likelihood",
    ),
    Column("ties", each(_TIES), "of ties", of=lambda row, _: row.model.ties.items()),
    Column(
        "separation",
        null_or(of(_SEPARATION)),
        "separation reliability of the scale, at most 1; null for more than 5,000 solvers",
        of=lambda _, findings: findings.worth_errors,
    ),
    Column(
        "worth_df",
        COUNT,
        "degrees of freedom of the intervals of worths; 0 for the normal distribution",
        of=lambda _, findings: findings.worth_errors.df if findings.worth_errors else 0,
    ),
    Column("worths", each(WORTHS), "of solvers", of=lambda _, findings: worths(findings)),
    Column("judges", each(JUDGE_FIT), "of judges", of=lambda _, findings: judge_fits(findings)),
)

WORTH_TABLES: tuple[Table[Any, ExperienceFindings], ...] = (
    Table("worths", "one row per solver, where worths were fitted", WORTHS, worths),
    Table("judge-fit", "one row per judge, where worths were fitted", JUDGE_FIT, judge_fits),
)


def worths_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on worths; None where ranks were averaged."""
    if findings.pooled is None:
        return None
    errors = findings.worth_errors
    text = []
    if errors is not None:
        separation = format_number(errors.separation(), 2)
        text.append(
            "θ is the logarithm of the odds of being chosen; its mean is 0. Separation reliability "
            f"(1 − mean squared error / variance of θ, errors by information): {separation}. It is "
            "the share of the spread of worths that is not error."
        )
        text.append(_of_errors(findings, errors.df))
    level = format_percent(findings.settings.level)
    best_first = sorted(worths(findings), key=lambda row: -row.log_worth)
    tables = [WORTHS.text_table(f"Worths with {level} intervals, best first", best_first, findings)]
    least_fitting = sorted(judge_fits(findings), key=lambda row: -row.infit)[:_MOST_ROWS]
    count = len(judge_fits(findings))
    note = f"The {_MOST_ROWS} with the highest infit of {count:,}." if count > _MOST_ROWS else ""
    caption = "How well judges' choices fit the worths, least first"
    tables.append(JUDGE_FIT.text_table(caption, least_fitting, findings, note))
    return Section("worths", "Worths", text, (), tables)


def _of_errors(findings: ExperienceFindings, df: int) -> str:
    """Say which errors the intervals are of."""
    if df:
        return (
            "The error is the larger of two: by the observed information (inf.), which takes "
            "rankings as independent, and by the jackknife over problems, whose rankings share "
            f"their accidents. Intervals are by t({df})."
        )
    problems = findings.averages.study_problems
    why = (
        f"the study has {format_count(problems, 'problem')}"
        if problems < FEWEST_PROBLEMS
        else "the worths could not be refitted without each problem"
    )
    return (
        f"Errors are by the observed information and take rankings as independent; {why}, so what "
        "rankings of one problem have in common is not in them."
    )
