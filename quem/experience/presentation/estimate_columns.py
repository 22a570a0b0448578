"""Columns of what is said of a system: its estimate, and how it does from problem to problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quem.experience.hierarchical import FALLBACKS
from quem.experience.presentation.machines import ALONE
from quem.experience.presentation.session_columns import name_column
from quem.experience.skill import REASONS
from quem.experience.wording import format_ends
from quem.report.columns import (
    COUNT,
    FLAG,
    INTERVAL,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    TEXT,
    Column,
    Columns,
    Type,
    choice,
    each,
    null_or,
    of,
)
from quem.wording import format_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.experience.estimate import Estimate
    from quem.experience.profile import ProblemPlace, Profile
    from quem.experience.result import ExperienceFindings
    from quem.experience.skill import Gate

Row = TypeVar("Row")


def averaged_ranks(findings: ExperienceFindings) -> str:
    """Name what the tables of solvers show of their ranks."""
    return "Expected rank" if findings.pooled else "Average rank"


def in_unit(heading: str) -> Callable[[ExperienceFindings], str]:
    """Give a heading with the unit of experience."""
    return lambda findings: f"{heading} ({findings.study.spec.experience_unit})"


_CALIBRATION: Columns[Any, ExperienceFindings] = Columns(
    Column("experience", NUMBER, "of a typical person with this average rank"),
    Column("interval", OPEN_INTERVAL, "calibration interval; the ends are null if unbounded"),
)
_MODEL: Columns[Any, ExperienceFindings] = Columns(
    Column("experience", NUMBER, "its estimate"),
    Column(
        "typical_interval",
        OPEN_INTERVAL,
        "of a typical person of that quality; an end is null if it is open, both if there is none",
        of="typical",
    ),
    Column("peer_interval", OPEN_INTERVAL, "of one further person of that quality", of="peer"),
    Column(
        "fallback",
        choice(*FALLBACKS),
        "why the first interval is the second; empty where it is its own",
    ),
)
_AT_LEAST: Columns[tuple[float, float], ExperienceFindings] = Columns(
    Column("years", NUMBER, "one entry for each of `settings.at_least`", of=lambda row, _: row[0]),
    Column("p", SHARE, "probability of at least that many", of=lambda row, _: row[1]),
)


def bound_columns(
    estimate: Callable[[Row], Estimate],
) -> tuple[Column[Row, Any], ...]:
    """The columns of an estimate inside the subjects' range or not, and of its bound."""

    def bound(side: str) -> Callable[[Row, object], float | None]:
        return lambda row, _: estimate(row).bound if estimate(row).side == side else None

    def one_sided(row: Row, _: object) -> str:
        lead = {"above": "at least", "below": "at most"}.get(estimate(row).side)
        return f"{lead} {format_number(estimate(row).bound)}" if lead else "–"

    return (
        Column(
            "bound", TEXT, "one-sided bound", of=one_sided, heading="One-sided bound", only="report"
        ),
        Column(
            "lower_bound",
            null_or(NUMBER),
            "one-sided prediction bound; only above the subjects' range, else null",
            of=bound("above"),
        ),
        Column(
            "upper_bound",
            null_or(NUMBER),
            "one-sided prediction bound; only below the subjects' range, else null",
            of=bound("below"),
        ),
        Column(
            "inside_range",
            FLAG,
            "false if the average rank or the estimate is outside the subjects' range",
            of=lambda row, _: estimate(row).side == "inside",
        ),
    )


_GATE: Columns[Gate, Any] = Columns(
    Column("passed", FLAG, "whether it is so"),
    Column("reasons", each(choice(*REASONS)), "why not, as codes; empty if it is so"),
)


def headline_columns() -> tuple[Column[ExperienceFindings, Any], ...]:
    """Give the columns that say whether a study states years."""
    return (
        Column(
            "headline",
            choice("years", "position"),
            "whether the outputs state years, or each system's position among the subjects",
            of=lambda row, _: "years" if row.gate.passed else "position",
        ),
        Column(
            "gate",
            of(_GATE),
            "whether the data allow years: a skill function that rises, significantly (p < .05), "
            "over 5 subjects or more; the numbers below are then what the line would give",
        ),
    )


def _version(estimate: Estimate, findings: ExperienceFindings) -> str:
    versions = {system.id: system.version for system in findings.study.spec.systems}
    return versions.get(estimate.system, "")


def _by_model(name: str, heading: str) -> Column[Estimate, ExperienceFindings]:
    """Give the column of an interval of the model."""

    def shown(estimate: Estimate, _: object) -> str:
        if estimate.model is None or np.isnan(getattr(estimate.model, name)).any():
            return "–"
        if name == "typical" and estimate.model.fallback:
            return f"none ({estimate.model.fallback})"
        return format_ends(getattr(estimate.model, name))

    meaning = "by the model of persons, problems, and judges"
    return Column(f"shown_{name}", TEXT, meaning, of=shown, heading=heading, only="report")


ESTIMATES: Columns[Estimate, ExperienceFindings] = Columns(
    name_column("system"),
    Column("system", NAME, "id"),
    Column("version", TEXT, "as in the study file, or empty", of=_version),
    Column("average_rank", NUMBER, "mean of its adjusted ranks", heading=averaged_ranks),
    Column(
        "n_problems",
        null_or(COUNT),
        "problems on which it was judged; null for a study of averages",
        of=lambda row, findings: row.n_problems if findings.is_ranked else None,
    ),
    Column(
        "n_judges",
        null_or(COUNT),
        "judges who ranked it; null for a study of averages",
        of=lambda row, findings: row.n_judges if findings.is_ranked else None,
    ),
    Column("experience", NUMBER, "the experience estimate", heading=in_unit("Estimate")),
    Column(
        "widened",
        NOT_NEGATIVE,
        "added to the prediction variance for fewer ranks than the subjects have; where the "
        "interval is not symmetric, to the square of half of it over the quantile of t",
        only="json",
    ),
    Column(
        "widened_jagged",
        NOT_NEGATIVE,
        "added because it varies more from problem to problem than people do",
        of="jagged",
        only="json",
    ),
    Column(
        "widened_erratic",
        NOT_NEGATIVE,
        "added instead because machine judges are erratic on it",
        of=lambda row, findings: row.added if findings.machines else 0.0,
        only="json",
    ),
    Column(
        "widened_judges",
        NOT_NEGATIVE,
        "added instead because other judges placed it on a panel than those who ranked its people",
        of=lambda row, findings: row.added if findings.on_panel else 0.0,
        only="json",
    ),
    Column(
        "prediction_interval",
        INTERVAL,
        "prediction interval for the experience of one person with this average rank, at "
        "`settings.level`",
        of="prediction",
        heading="Prediction interval",
    ),
    Column(
        "mean_interval",
        INTERVAL,
        "confidence interval for the mean experience of people with this average rank",
        of="mean",
        heading="CI for the mean",
    ),
    Column(
        "calibration",
        null_or(of(_CALIBRATION)),
        "inverse regression; null for the forms `quadratic`, `cubic`, and `averaged`",
        only="json",
    ),
    Column(
        "calibration_experience",
        NUMBER,
        "calibration estimate",
        of=lambda row, _: row.calibration.experience if row.calibration else np.nan,
        heading="Calibration estimate",
        only="csv",
    ),
    Column(
        "calibration_interval",
        OPEN_INTERVAL,
        "calibration interval",
        of=lambda row, _: row.calibration.interval if row.calibration else None,
        heading="Calibration interval",
        only="csv",
    ),
    Column(
        "hierarchical",
        null_or(of(_MODEL)),
        "by the model of persons, problems, and judges; null where it is not defined",
        of="model",
        only="json",
    ),
    Column(
        "experts_alone",
        null_or(of(ALONE)),
        "the estimate without machine judges; null where they add nothing",
        of="alone",
        only="json",
    ),
    _by_model("typical", "Typical person (model)"),
    _by_model("peer", "One further person (model)"),
    *bound_columns(lambda estimate: estimate),
    Column(
        "probability_at_least",
        each(_AT_LEAST),
        "probabilities of at least that much experience",
        of="at_least",
        only="json",
    ),
    Column(
        "p_at_least_YEARS",
        SHARE,
        "probability of at least YEARS, one column for each of `settings.at_least`",
        of=lambda row, _: [p for _, p in row.at_least],
        only="csv",
        spread=lambda findings: [
            f"p_at_least_{years:g}" for years in dict.fromkeys(findings.settings.at_least)
        ],
    ),
)

PLACES: Columns[ProblemPlace, ExperienceFindings] = Columns(
    Column("problem", NAME, "id", heading="Problem"),
    Column(
        "mean_rank",
        NUMBER,
        "mean over the judges who ranked the system there",
        heading="Mean rank",
    ),
    Column("below", COUNT, "subjects with a lower mean there"),
    Column("subjects", COUNT, "subjects with ranks there, by these judges"),
    Column(
        "position",
        TEXT,
        "position among them",
        of=lambda row, _: f"above {row.below} of {row.subjects}",
        heading="Position",
        only="report",
    ),
    Column(
        "z",
        null_or(NUMBER),
        "distance from the system's mean over problems, in standard deviations of people of that "
        "quality; null where these are unknown",
    ),
    Column(
        "shown_z",
        TEXT,
        "the same, marked beyond 2",
        of=lambda row, _: format_number(row.z) + ("*" if row.stands_out else ""),
        heading="z",
        only="report",
    ),
)
PROFILE: Columns[Profile, ExperienceFindings] = Columns(
    Column("system", NAME, "id"),
    Column("jagged", FLAG, "whether p is below .05", of="is_jagged"),
    Column(
        "f_value",
        null_or(NUMBER),
        "F test that it varies from problem to problem no more than people do; null where there "
        "is none",
        of="f",
    ),
    Column(
        "df",
        Type({**each(COUNT, 2).schema, "maxItems": 2}),
        "its degrees of freedom: of the system, of the subjects",
        of=lambda row, _: [row.df, row.df_people],
    ),
    Column("p_value", null_or(SHARE), "its p value", of="p"),
    Column("p_holm", null_or(SHARE), "adjusted for all systems of the study"),
    Column("variance", null_or(NOT_NEGATIVE), "of the system's mean ranks over problems"),
    Column(
        "expected_variance",
        null_or(NOT_NEGATIVE),
        "what it would be for people of that quality",
        of="expected",
    ),
    Column("problems", each(PLACES), "one entry per problem that it was ranked on", of="places"),
)
