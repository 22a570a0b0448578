"""Every value of a plan: analysis.json and the CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.planning.settings import COMPONENTS
from quem.report.columns import (
    COUNT,
    FLAG,
    INTERVAL,
    NOT_NEGATIVE,
    NUMBER,
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
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.planning.components import PilotNoise
    from quem.planning.planner import SimulatedDesign
    from quem.planning.result import PlanFindings

_COUNTS = each(COUNT, 1)
_COMPONENT = choice(*COMPONENTS)
_DEVIATIONS = {
    "person": "between persons of equal experience",
    "solution": "person × problem",
    "judge": "residual of a judge's rating",
    "taste": "judge × solver",
}


def _deviations(what: str, attribute: str) -> tuple[Column[Any, PlanFindings], ...]:
    return tuple(
        Column(
            name, NOT_NEGATIVE, f"standard deviation {what}: {meaning}", of=f"{attribute}.{name}"
        )
        for name, meaning in _DEVIATIONS.items()
    )


# A row is a plan.
_SETTINGS: Columns[PlanFindings, PlanFindings] = Columns(
    Column("width", null_or(NUMBER), "target half-width; null without one", of="settings.width"),
    Column(
        "level",
        Type({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
        "of the interval",
    ),
    Column("judges", _COUNTS, "numbers tried", of="settings.judges"),
    Column("subjects", _COUNTS, "numbers tried", of="settings.subjects"),
    Column("problems", _COUNTS, "numbers tried", of="settings.problems"),
    Column("experience", INTERVAL, "range of the subjects", of="assumptions.experience"),
    Column("experience_unit", TEXT, "such as `years`", of="unit"),
    Column("systems", COUNT, "ranked among the subjects", of="assumptions.systems"),
    Column(
        "power_for",
        null_or(NUMBER),
        "difference between two systems, in the unit of experience; null without one",
        of="assumptions.difference",
    ),
    Column("cost_solution", NOT_NEGATIVE, "of one problem by one subject", of="costs.solution"),
    Column("minutes", NOT_NEGATIVE, "per solution and judge", of="costs.minutes"),
    Column(
        "minutes_measured",
        FLAG,
        "whether these are from the pilot's judging session",
        of="measured",
    ),
    Column(
        "cost_solution_measured",
        FLAG,
        "whether the cost of a solution is the time that the pilot's subjects took",
        of="solution_measured",
    ),
    Column("simulate", COUNT, "simulated studies per design shown", of="settings.simulate"),
    Column("seed", COUNT, "of the simulation", of="settings.seed"),
)
_NOISE: Columns[PlanFindings, PlanFindings] = Columns(
    Column("source", choice("low", "high", "pilot"), "where it is from"),
    Column("replaced", each(_COMPONENT), "components that were given instead"),
    *_deviations("as used", "assumptions.noise"),
)
_PILOT: Columns[PilotNoise, PlanFindings] = Columns(
    Column("judges", COUNT, "of the pilot"),
    Column("problems", COUNT, "of the pilot"),
    Column("subjects", COUNT, "of the pilot"),
    Column(
        "ranks_per_year", NOT_NEGATIVE, "how much the average rank rises per unit of experience"
    ),
    Column("p_value", SHARE, "of the test of that"),
    *_deviations("as estimated", "noise"),
    Column("person_interval", INTERVAL, "about 90% for `person`"),
    Column("df", COUNT, "its degrees of freedom"),
    Column(
        "negative_variance",
        each(_COMPONENT),
        "components whose estimated variance was negative and was set to 0",
    ),
    Column(
        "missing_dimension",
        choice("judge", "problem", None),
        "`judge` or `problem` where a second one is missing, so shares were assumed; else null",
        of=lambda row, _: row.missing_dimension or None,
    ),
    Column("experience", INTERVAL, "uniform range with mean and variance of its subjects"),
)
_LIMITS: Columns[PlanFindings, PlanFindings] = Columns(
    Column(
        "any_number",
        NOT_NEGATIVE,
        "half-width with unlimited subjects, judges, and problems",
        of="half_width_limit",
    ),
    Column(
        "most_subjects",
        NOT_NEGATIVE,
        "the same with the most subjects tried",
        of="limit_of_subjects",
    ),
)
_SIMULATED: Columns[SimulatedDesign, PlanFindings] = Columns(
    Column("studies", COUNT, "how many"),
    Column("half_width", null_or(NUMBER), "mean half-width"),
    Column("half_width_error", null_or(NUMBER), "its standard error; null for a single study"),
    Column("coverage", SHARE, "share of intervals that include the truth"),
    Column("power", null_or(SHARE), "null without a difference"),
)


def _of_designs(name: str) -> Callable[[int, PlanFindings], float]:
    return lambda index, plan: float(getattr(plan.designs, name).flat[index])


def _of_trial(name: str) -> Callable[[int, PlanFindings], float]:
    return lambda index, plan: getattr(plan.trials[index], name) if index in plan.trials else np.nan


def _size(name: str) -> Callable[[int, PlanFindings], int]:
    return lambda index, plan: int(getattr(plan.design(index), name))


# A row is the place of a design.
_BY_FORMULA = (
    ("half_width", "half_width", NOT_NEGATIVE, "by the closed form"),
    (
        "power",
        "power",
        null_or(SHARE),
        "by the closed form; null without a difference and on one problem",
    ),
    ("false_alarms", "false_alarms", null_or(SHARE), "type I error rate; null as `power`"),
    ("cost", "cost", NOT_NEGATIVE, "of the study"),
    ("hours_per_judge", "hours", NOT_NEGATIVE, "to rank all solutions once"),
)
_DESIGN: Columns[int, PlanFindings] = Columns(
    *(
        Column[int, "PlanFindings"](name, COUNT, f"number of {name}", of=_size(name))
        for name in ("subjects", "judges", "problems")
    ),
    *(
        Column[int, "PlanFindings"](name, kind, meaning, of=_of_designs(attribute))
        for name, attribute, kind, meaning in _BY_FORMULA
    ),
    *(
        Column[int, "PlanFindings"](
            f"simulated_{name}",
            NUMBER,
            "from simulated studies; empty where none were simulated",
            of=_of_trial(name),
            only="csv",
        )
        for name in ("half_width", "coverage", "power")
    ),
    Column(
        "reaches",
        null_or(FLAG),
        "whether it meets the target, in simulation where that was done; null without one",
        of=lambda index, plan: None if plan.settings.width is None else plan.reaches(index),
    ),
    Column(
        "simulated",
        null_or(of(_SIMULATED)),
        "null where nothing was simulated",
        of=lambda index, plan: plan.trials.get(index),
        only="json",
    ),
)


def _axis(name: str) -> Callable[[PlanFindings, PlanFindings], NDArray[np.int64]]:
    def axis(plan: PlanFindings, _: PlanFindings) -> NDArray[np.int64]:
        axes = ("judges", "subjects", "problems")
        grid = np.meshgrid(*(getattr(plan.designs, each) for each in axes), indexing="ij")
        return np.asarray(grid[axes.index(name)].ravel())

    return axis


def _raveled(name: str) -> Callable[[PlanFindings, PlanFindings], NDArray[np.float64]]:
    return lambda plan, _: getattr(plan.designs, name).ravel()


_ALL_DESIGNS: Columns[PlanFindings, PlanFindings] = Columns(
    *(
        Column(name, COUNT, f"number of {name}", of=_axis(name))
        for name in ("subjects", "judges", "problems")
    ),
    *(
        Column(name, kind, meaning, of=_raveled(attribute))
        for name, attribute, kind, meaning in _BY_FORMULA
    ),
)

DOCUMENT: Columns[PlanFindings, PlanFindings] = Columns(
    *head("plan"),
    Column(
        "study",
        null_or(of(STUDY)),
        "null without a pilot",
        of=lambda row, _: row.pilot.spec if row.pilot else None,
    ),
    Column(
        "settings",
        of(_SETTINGS),
        "what was requested, with all that was filled in",
        of=lambda row, _: row,
    ),
    WARNINGS,
    Column("noise", of(_NOISE), "standard deviations, as used", of=lambda row, _: row),
    Column("pilot", null_or(of(_PILOT)), "null without a pilot", of="components"),
    Column(
        "limits",
        of(_LIMITS),
        "half-widths that only more similar people make narrower",
        of=lambda row, _: row,
    ),
    Column(
        "recommended",
        null_or(of(_DESIGN)),
        "the first of `designs` that meets the target; null where none does",
    ),
    Column("nearest", of(_DESIGN), "the design tried with the narrowest interval"),
    Column(
        "designs",
        each(_DESIGN),
        "designs worth showing, cheapest first; all-designs.csv has all",
        of="shown",
    ),
)

TABLES: tuple[Table[Any, PlanFindings], ...] = (
    Table("designs", "one row per design shown, cheapest first", _DESIGN, lambda plan: plan.shown),
    WholeTable(
        "all-designs", "one row per design, by the closed form", _ALL_DESIGNS, lambda p: [p]
    ),
)
