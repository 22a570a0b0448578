"""Every value of the result of an experience study: analysis.json, CSV files, report tables."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from quem.experience.influence import REASONS
from quem.experience.machine_quality import QUALITY
from quem.experience.presentation.blinding import BLINDING
from quem.experience.presentation.estimate_columns import (
    ESTIMATES,
    PROFILE,
    averaged_ranks,
    headline_columns,
    in_unit,
)
from quem.experience.presentation.judge_columns import JUDGES, W_INTERVAL, W_TEST
from quem.experience.presentation.machines import MACHINES
from quem.experience.presentation.panel import PANEL
from quem.experience.presentation.session_columns import (
    ANSWERING,
    JUDGING,
    PLACING,
    TIMES,
    name_column,
)
from quem.experience.presentation.worths import PLACKETT_LUCE, WORTH_TABLES
from quem.experience.skill import FORMS as SKILL_FORMS
from quem.report.columns import (
    COUNT,
    FLAG,
    INTERVAL,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    STUDY,
    TEXT,
    WARNINGS,
    Column,
    Columns,
    Table,
    Type,
    WholeTable,
    choice,
    each,
    head,
    null_or,
    of,
    settings,
)
from quem.studyfile.models import ExperienceSettings
from quem.wording import format_p, format_percent, format_signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from quem.experience.agreement import Concordance
    from quem.experience.cells import RankCells
    from quem.experience.influence import LeaveOneOut, SubjectDiagnostic, Variant
    from quem.experience.result import ExperienceFindings
    from quem.experience.retest import Consistency
    from quem.experience.significance import AnovaRow
    from quem.experience.skill import FormFit

Row = TypeVar("Row")

_FORM = choice(*SKILL_FORMS)
_COEFFICIENTS = Type(
    {
        "type": "object",
        "required": ["intercept", "slope"],
        "properties": {
            name: {"type": "number"}
            for name in (
                "intercept",
                "slope",
                "quadratic",
                "cubic",
                "exponential_intercept",
                "exponential_slope",
                "exponential_weight",
            )
        },
        "additionalProperties": False,
    }
)


def _second(name: str) -> Callable[[tuple[str, Any], ExperienceFindings], object]:
    """Give an attribute of what a name belongs to."""
    of_value = attrgetter(name)
    return lambda row, _: of_value(row[1])


class Solver(NamedTuple):
    """A solver, as a row of averages."""

    id: str
    kind: str
    # NaN where unknown
    experience: float
    average_rank: float
    # None for a study of averages
    n_ranks: int | None
    n_problems: int | None


def solvers(findings: ExperienceFindings) -> Iterator[Solver]:
    """Give the solvers in the order of the study file."""
    averages, known = findings.averages, findings.is_ranked
    for at, solver in enumerate(averages.solvers):
        ranked = bool(np.isfinite(averages.average[at]))
        yield Solver(
            solver,
            averages.kinds[at],
            float(averages.experience[at]),
            float(averages.average[at]),
            (int(averages.n_ranks[at]) if ranked else 0) if known else None,
            int(averages.n_problems[at]) if known else None,
        )


def _judged(findings: ExperienceFindings) -> list[Solver]:
    return [solver for solver in solvers(findings) if solver.kind != "withheld"]


def _name(solver: Solver, findings: ExperienceFindings) -> str:
    if solver.kind == "system":
        return findings.name_of(solver.id)
    names = {subject.id: subject.name for subject in findings.study.spec.subjects}
    return " ".join(filter(None, [solver.id, names.get(solver.id, "")]))


SOLVERS: Columns[Solver, ExperienceFindings] = Columns(
    Column("name", TEXT, "id and name", of=_name, heading="Solver", only="report"),
    Column("solver", NAME, "id", of="id"),
    Column(
        "kind",
        choice("subject", "system", "assisted"),
        "`subject`, `system` or `assisted`; the CSV file also has `withheld`",
        heading="Kind",
    ),
    Column(
        "experience",
        null_or(NUMBER),
        "null for all but subjects",
        heading=in_unit("Experience"),
        text=lambda years: f"{years:g}" if np.isfinite(years) else "–",
    ),
    Column(
        "average_rank",
        null_or(NUMBER),
        "mean of the adjusted ranks, 1 is the worst; null for a solver without ranks; where "
        "`settings.score` is `pl`, here and below the expected rank",
        heading=averaged_ranks,
    ),
    Column("n_ranks", null_or(COUNT), "null for a study of averages", heading="Ranks"),
    Column("n_problems", null_or(COUNT), "problems with ranks", only="csv"),
)

_SKILL_FUNCTION: Columns[ExperienceFindings, ExperienceFindings] = Columns(
    Column("form", _FORM, "the form used, never `auto`", of="function.form.name"),
    Column(
        "coefficients",
        _COEFFICIENTS,
        "`intercept` and `slope`; `quadratic` and `cubic` where the form has them. They belong to "
        "1, g, g², and g³, where g is the average rank, its square root (`sqrt`) or its natural "
        "logarithm (`log`). With `exponential` they give ln(experience + 1); with `averaged` they "
        "are those of the line, beside those of the exponential and its weight",
        of="function.coefficients",
    ),
    Column(
        "r_squared",
        Type({"type": "number", "maximum": 1}),
        "share of the variance of experience explained",
        of="function.r_squared",
    ),
    Column(
        "residual_sd",
        NOT_NEGATIVE,
        "residual standard deviation, in the unit of experience",
        of="function.residual_sd",
    ),
    Column(
        "n",
        Type({"type": "integer", "minimum": 3}),
        "number of subjects in the fit",
        of="function.n",
    ),
    Column(
        "f_value",
        null_or(NUMBER),
        "F test over subjects, with `averaged` that of the line; null where the subjects lie "
        "exactly on the function",
        of="function.f_value",
    ),
    Column(
        "df",
        Type({**each(Type({"type": "integer", "minimum": 1}), 2).schema, "maxItems": 2}),
        "its degrees of freedom: of the function, of the residuals",
        of=lambda row, _: [row.function.form.degree, row.function.df],
    ),
    Column("p_value", SHARE, "its p value"),
    Column(
        "permutation_p",
        null_or(SHARE),
        "permutation test; null, as the three keys below, where no orders were drawn",
        of=lambda row, _: row.permutation and row.permutation.p,
    ),
    Column(
        "permutation_extreme",
        null_or(COUNT),
        "orders that correlate at least as strongly",
        of=lambda row, _: row.permutation and row.permutation.extreme,
    ),
    Column(
        "permutation_orders",
        null_or(COUNT),
        "orders drawn",
        of=lambda row, _: row.permutation and row.permutation.orders,
    ),
    Column(
        "permutation_exact",
        null_or(FLAG),
        "whether these are all distinct orders",
        of=lambda row, _: row.permutation and row.permutation.exact,
    ),
)

FORMS: Columns[tuple[str, FormFit], ExperienceFindings] = Columns(
    Column("form", _FORM, "name", of=lambda row, _: row[0], heading="Form"),
    Column(
        "coefficients",
        _COEFFICIENTS,
        "as in `skill_function`",
        of=_second("function.coefficients"),
    ),
    Column(
        "r_squared",
        Type({"type": "number", "maximum": 1}),
        "share of the variance of experience explained",
        of=_second("function.r_squared"),
        heading="R²",
        digits=3,
    ),
    Column(
        "aicc",
        null_or(NUMBER),
        "corrected Akaike criterion; null with too few subjects",
        of=_second("aicc"),
        heading="AICc",
    ),
    Column(
        "loo_rmse",
        null_or(NUMBER),
        "leave-one-out root mean squared error, in the unit of experience",
        of=_second("loo_rmse"),
        heading="Leave-one-out RMSE",
        digits=3,
    ),
)

_STATISTICS: tuple[Column[tuple[str, Concordance], ExperienceFindings], ...] = tuple(
    Column(
        name,
        null_or(NUMBER),
        f"{meaning}; null where undefined",
        of=_second(name),
        heading=heading,
    )
    for name, heading, meaning in (
        ("kendall_w", "Kendall's W", "Kendall's coefficient of concordance, corrected for ties"),
        ("mean_tau_b", "tau-b", "mean Kendall's tau-b over pairs of judges"),
        ("mean_spearman", "Spearman", "mean Spearman correlation over pairs of judges"),
        ("krippendorff_alpha", "Krippendorff's alpha", "with the ordinal metric"),
        ("icc_2_1", "ICC(2,1)", "absolute agreement of one judge"),
        ("icc_2_k", "ICC(2,k)", "absolute agreement of the mean of all judges"),
    )
)
_N_JUDGES: Column[tuple[str, Concordance], ExperienceFindings] = Column(
    "n_judges", COUNT, "judges compared", of=_second("n_judges"), heading="Judges"
)


def _n_solutions(name: str) -> Column[tuple[str, Concordance], ExperienceFindings]:
    meaning = "solutions compared"
    return Column(name, COUNT, meaning, of=_second("n_solutions"), heading="Solutions")


_W, *_OTHERS = _STATISTICS
AGREEMENT: Columns[tuple[str, Concordance], ExperienceFindings] = Columns(
    Column("problem", NAME, "id", of=lambda row, _: row[0], heading="Problem"),
    _N_JUDGES,
    _n_solutions("n_solutions"),
    _W,
    *W_TEST,
    *_OTHERS,
)
_OVERALL = Columns(_N_JUDGES, _n_solutions("n_units"), _W, *W_TEST, *_OTHERS, W_INTERVAL)

_CONSISTENCY: tuple[Column[tuple[str, Consistency], ExperienceFindings], ...] = (
    Column(
        "n_groups",
        COUNT,
        "repeat tasks in which at least two solutions were ranked both times",
        of=_second("n_groups"),
        heading="Repeat tasks",
    ),
    Column(
        "n_ranks",
        COUNT,
        "repeated ranks: a solution counts once for each judge who ranked it both times",
        of=_second("n_ranks"),
        heading="Ranks",
    ),
    Column(
        "mean_tau_b",
        null_or(NUMBER),
        "mean tau-b over the tasks; null where it is undefined in every task",
        of=_second("mean_tau_b"),
        heading="tau-b",
    ),
    Column(
        "mean_rank_difference",
        NUMBER,
        "mean absolute difference of adjusted ranks over these ranks",
        of=_second("mean_rank_difference"),
        heading="Mean rank difference",
    ),
    Column(
        "same_order",
        SHARE,
        "share of pairs of solutions that both rankings order, or tie, alike",
        of=_second("same_order"),
        heading="Pairs in the same order",
        text=lambda share: format_percent(round(share, 2)),
    ),
)
RETEST: Columns[tuple[str, Consistency], ExperienceFindings] = Columns(
    Column("judge", NAME, "id", of=lambda row, _: row[0], heading="Judge"), *_CONSISTENCY
)
_RETEST: Columns[Any, ExperienceFindings] = Columns(
    Column(
        "judges",
        each(RETEST),
        "one entry per judge with a repeat task",
        of=lambda row, _: row.judges.items(),
    ),
    Column(
        "overall",
        of(
            Columns(
                Column("n_judges", COUNT, "judges", of=lambda row, _: int(row[0])), *_CONSISTENCY
            )
        ),
        "the same over the tasks of all of them",
        of=lambda row, _: (str(len(row.judges)), row.overall),
    ),
)
_AGREEMENT: Columns[ExperienceFindings, ExperienceFindings] = Columns(
    Column(
        "problems",
        each(AGREEMENT),
        "one entry per problem; empty where only `retest` is known",
        of=lambda row, _: row.agreement.problems.items() if row.agreement else [],
    ),
    Column(
        "overall",
        null_or(of(_OVERALL)),
        "Kendall's W, tau-b, and Spearman's correlation are means over the problems; alpha and ICC "
        "use all solutions; null where only `retest` is known",
        of=lambda row, _: ("", row.agreement.overall) if row.agreement else None,
    ),
    Column(
        "judges",
        each(JUDGES),
        "one entry per judge who ranked; empty for one judge, and where only `retest` is known",
        of="judge_fits",
    ),
    Column(
        "retest",
        null_or(of(_RETEST)),
        "consistency of repeat rankings: first against second of the same judge; null without "
        "repeat tasks",
    ),
)


_WITHOUT: tuple[Column[LeaveOneOut, ExperienceFindings], ...] = (
    Column("system", NAME, "whose estimate it is"),
    name_column("system"),
    Column(
        "estimate",
        null_or(NUMBER),
        "estimate without; null where there is none",
        heading="Estimate",
    ),
    Column(
        "reason",
        choice(*REASONS, None),
        "why there is no estimate: `no-other-ranks` where the system has none, `not-fitted` where "
        "no skill function can be fitted to the rest",
        of=lambda row, _: row.reason or None,
    ),
    Column(
        "interval",
        OPEN_INTERVAL,
        "its prediction interval",
        of=lambda row, _: (row.low, row.high),
    ),
    Column(
        "change",
        null_or(NUMBER),
        "estimate without, minus the estimate with",
        heading="Change",
        text=lambda change: format_signed(change, 2),
    ),
    Column(
        "shown_interval",
        OPEN_INTERVAL,
        "prediction interval",
        of=lambda row, _: (row.low, row.high),
        heading="Prediction interval",
        only="report",
    ),
)
LEAVE_ONE_OUT: Columns[LeaveOneOut, ExperienceFindings] = Columns(
    Column("id", NAME, "what is left out", heading="Left out"), *_WITHOUT
)
_RECOGNIZED: Columns[Any, ExperienceFindings] = Columns(
    Column("n_ranks", COUNT, "ranks of solutions whose author the judge recognized"),
    Column("n_judges", COUNT, "judges who gave them"),
    Column(
        "estimates",
        each(Columns(*_WITHOUT)),
        "each system's estimate without these ranks; empty without a system",
    ),
)


def _if_ranked(
    rows: Callable[[ExperienceFindings], tuple[LeaveOneOut, ...]],
) -> Callable[[ExperienceFindings, ExperienceFindings], tuple[LeaveOneOut, ...] | None]:
    return lambda findings, _: rows(findings) if findings.cells else None


_INFLUENCE: Columns[ExperienceFindings, ExperienceFindings] = Columns(
    Column(
        "judges",
        null_or(each(LEAVE_ONE_OUT)),
        "estimates without each judge; null for a study of averages",
        of=_if_ranked(lambda findings: findings.judges),
    ),
    Column("subjects", each(LEAVE_ONE_OUT), "estimates without each subject"),
    Column(
        "problems",
        null_or(each(LEAVE_ONE_OUT)),
        "estimates without each problem; null for a study of averages",
        of=_if_ranked(lambda findings: findings.problems),
    ),
    Column(
        "recognized",
        null_or(of(_RECOGNIZED)),
        "estimates without the ranks of authors whom judges recognized; null where there are none",
    ),
)

RESIDUALS: Columns[SubjectDiagnostic, ExperienceFindings] = Columns(
    Column("subject", NAME, "id", heading="Subject"),
    Column("experience", NUMBER, "of the subject", heading="Experience", text="{:g}".format),
    Column("average_rank", NUMBER, "of the subject"),
    Column("fitted", NUMBER, "value of the skill function", heading="Fitted"),
    Column("residual", NUMBER, "experience minus fitted", heading="Residual"),
    Column(
        "studentized",
        null_or(NUMBER),
        "externally studentized residual; null where no degree of freedom is left for it",
        heading="Studentized",
    ),
    Column(
        "leverage",
        NUMBER,
        "diagonal element of the hat matrix; with `averaged`, as the residual before and Cook's "
        "distance, that of the line",
        heading="Leverage",
    ),
    Column(
        "cooks_distance",
        null_or(NUMBER),
        "Cook's distance",
        heading="Cook's distance",
        digits=3,
    ),
)

VARIANTS: Columns[Variant, ExperienceFindings] = Columns(
    Column("label", TEXT, "the setting changed", heading="Setting", only="report"),
    Column("setting", NAME, "the setting changed"),
    Column("value", TEXT, "its other value"),
    Column("system", NAME, "id"),
    name_column("system"),
    Column("estimate", null_or(NUMBER), "its estimate then", heading="Estimate"),
    Column(
        "interval",
        OPEN_INTERVAL,
        "its interval",
        of=lambda row, _: (row.low, row.high),
        heading="Interval",
        only="report",
    ),
    Column(
        "low",
        null_or(NUMBER),
        "lower end of its prediction interval; for `interval: calibration`, of the calibration "
        "interval",
    ),
    Column("high", null_or(NUMBER), "upper end"),
)

ANOVA: Columns[AnovaRow, ExperienceFindings] = Columns(
    Column("model", NAME, "`main` or `interactions`"),
    Column("term", NAME, "of the model", heading="Term"),
    Column("model_shown", NAME, "model", of="model", heading="Model", only="report"),
    Column("df", COUNT, "degrees of freedom", heading="df"),
    Column("F", null_or(NUMBER), "null for the residuals", of="f", heading="F", digits=3),
    Column(
        "p",
        null_or(SHARE),
        "null for the residuals",
        heading="p",
        text=lambda p: format_p(p).removeprefix("p ").removeprefix("= "),
    ),
)

_BOOTSTRAPPED: Columns[str, ExperienceFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, _: row),
    Column(
        "interval",
        INTERVAL,
        "sensitivity range, at `settings.level`",
        of=lambda row, findings: findings.bootstrap and findings.bootstrap.intervals[row],
    ),
    Column(
        "standard_deviation",
        NUMBER,
        "of the estimates",
        of=lambda row, findings: findings.bootstrap and findings.bootstrap.spread[row],
    ),
)
_BOOTSTRAP: Columns[Any, ExperienceFindings] = Columns(
    Column("replicates", COUNT, "resamples of judges, problems, and subjects"),
    Column("discarded", COUNT, "of them, discarded for fewer than 3 different averages"),
    Column(
        "approximate",
        FLAG,
        "whether the effects of judges and problems were added, in a very large study",
    ),
    Column("systems", each(_BOOTSTRAPPED), "one entry per system", of="intervals"),
)

DOCUMENT: Columns[ExperienceFindings, ExperienceFindings] = Columns(
    *head("experience"),
    Column(
        "study",
        of(Columns(*STUDY.columns, Column("experience_unit", TEXT, "such as `years`"))),
        "the study",
        of="study.spec",
    ),
    settings(ExperienceSettings),
    WARNINGS,
    Column(
        "seal",
        of(
            Columns(
                Column("headline", TEXT, "what the report opens with"),
                Column("sealed_at", TEXT, "time of the seal", of=lambda s, _: str(s.sealed_at)),
                Column("hash", TEXT, "SHA-256 of the record"),
                Column("differences", each(TEXT), "all that differs from it", of="texts"),
            )
        ),
        "whether study and settings are as they were sealed; only for a sealed study",
        optional=True,
    ),
    Column(
        "averages",
        each(SOLVERS),
        "one entry per solver; withheld solvers are left out",
        of=lambda row, _: _judged(row),
    ),
    Column(
        "plackett_luce",
        of(PLACKETT_LUCE),
        "the worths behind expected ranks; only where `settings.score` is `pl`",
        of="pooled",
        only_with=("settings", "score", "pl"),
    ),
    Column(
        "skill_function",
        of(_SKILL_FUNCTION),
        "the headline's fit of experience on average rank",
        of=lambda row, _: row,
    ),
    *headline_columns(),
    Column(
        "forms",
        each(FORMS),
        "every form that the data allow",
        of=lambda row, _: row.forms.items(),
    ),
    Column(
        "estimates", each(ESTIMATES), "one entry per system that has ranks; empty without a system"
    ),
    Column(
        "profiles",
        each(PROFILE),
        "each system from problem to problem; empty for a study of averages, one judged in "
        "blocks, and a very large one",
        of=lambda row, _: row.profiles.values(),
    ),
    Column(
        "agreement",
        null_or(of(_AGREEMENT)),
        "agreement between judges; null for a study of averages, one judged in blocks, and a very "
        "large one; where tasks of these were repeated, only `retest` is known",
        of=lambda row, _: row if row.agreement or row.retest else None,
    ),
    Column(
        "judging",
        each(JUDGING),
        "how each judge went about it; only for a judging session whose pages recorded times",
        of=lambda row, _: row.cares or None,
        optional=True,
    ),
    Column(
        "placing",
        of(PLACING),
        "how solutions got their places; only for a judging session whose pages recorded it",
        optional=True,
    ),
    Column(
        "answering",
        of(ANSWERING),
        "what judges answered to the questions of `judging.questions`; only where they did",
        optional=True,
    ),
    Column(
        "blinding",
        null_or(of(BLINDING)),
        "what is known of whether judges could tell who made the solutions; null for averages, "
        "decisions, and a study that is placed on a reference panel",
    ),
    Column(
        "times",
        of(TIMES),
        "how long subjects took; only where the study knows it, as from a solving session",
        optional=True,
    ),
    Column(
        "machine",
        of(MACHINES),
        "what machine judges add; only where the study uses them",
        of="machines",
        optional=True,
    ),
    Column(
        "machine_quality",
        each(QUALITY),
        "how each machine judge ranks; only where the study uses them",
        of=lambda row, _: row.machine_quality or None,
        optional=True,
    ),
    Column(
        "panel",
        of(PANEL),
        "how systems were placed; only for a study that is placed on a reference panel",
        of="on_panel",
        optional=True,
    ),
    Column("influence", of(_INFLUENCE), "leave-one-out estimates", of=lambda row, _: row),
    Column("residuals", each(RESIDUALS), "one entry per subject in the fit", of="diagnostics"),
    Column("variants", each(VARIANTS), "the estimates with one setting changed"),
    Column(
        "anova",
        null_or(each(ANOVA)),
        "factorial analysis of variance; null for a study of averages, where `settings.score` is "
        "`pl`, and for a very large study",
    ),
    Column(
        "bootstrap",
        null_or(of(_BOOTSTRAP)),
        "null for a study of averages, where `settings.score` is `pl`, for `bootstrap: 0`, and "
        "for a very large study with gaps",
    ),
)


def _ids(name: str) -> Callable[[RankCells, ExperienceFindings], pd.Categorical]:
    """Give ids as categories, in the order of the study file."""

    def ids(cells: RankCells, _: ExperienceFindings) -> pd.Categorical:
        import pandas as pd

        words = pd.Index(getattr(cells, f"{name}s"), dtype=object)
        return pd.Categorical.from_codes(getattr(cells, name), words)

    return ids


RANKS: Columns[RankCells, ExperienceFindings] = Columns(
    Column("judge", NAME, "id", of=_ids("judge")),
    Column("problem", NAME, "id", of=_ids("problem")),
    Column("block", COUNT, "block of the task, from 1"),
    Column("occasion", COUNT, "first or later ranking of the task, from 1"),
    Column("solver", NAME, "id", of=_ids("solver")),
    Column(
        "kind",
        choice("subject", "system", "assisted", "withheld"),
        "of the solver",
        of=lambda row, _: np.array(row.kinds, dtype=object)[row.solver],
    ),
    Column(
        "rank",
        NUMBER,
        "as the judge gave it; empty where the solution failed",
        of=lambda row, _: np.where(np.isneginf(row.given), np.nan, row.given),
    ),
    Column("adjusted_rank", NUMBER, "mid-rank in its group, 1 is the worst", of="adjusted"),
    Column("score", NUMBER, "what is averaged"),
    Column(
        "reason",
        choice("", "failed", "withheld"),
        "why there is no rank, or why it was placed",
        of=lambda row, _: np.where(
            np.isneginf(row.given), "failed", np.where(row.placed, "withheld", "")
        ),
    ),
    Column(
        "recognized",
        FLAG,
        "whether the judge recognized the author; only where some author was recognized",
        of=lambda row, _: row.recognized if row.recognized.any() else None,
    ),
)

TABLES: tuple[Table[Any, ExperienceFindings], ...] = (
    WholeTable(
        "ranks",
        "one row per judged solution",
        RANKS,
        lambda findings: [findings.cells] if findings.cells and findings.cells.has_ranks else [],
        order=("judge", "problem", "block", "solver"),
    ),
    Table("averages", "one row per solver", SOLVERS, solvers),
    Table("judges", "one row per judge who ranked with others", JUDGES, lambda f: f.judge_fits),
    Table(
        "estimates", "one row per system with ranks", ESTIMATES, lambda f: f.estimates, always=True
    ),
    *WORTH_TABLES,
)
