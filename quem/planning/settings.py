"""What is asked of a plan."""

from __future__ import annotations

from math import isfinite, prod
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from quem.errors import Mistake, QuemError
from quem.study.document import dotted
from quem.study.fields import Level, Years  # noqa: TC001  pydantic reads them
from quem.study.schema import complaints

__all__ = ["COMPONENTS", "MOST_DESIGNS", "PlanSettings", "plan_settings"]

COMPONENTS = ("person", "solution", "judge", "taste")
MOST_DESIGNS = 100_000


def _several(value: object) -> object:
    """One number, or any number of them; each once, in order."""
    if isinstance(value, int):
        return (value,)
    if isinstance(value, range | set | list | tuple):
        return tuple(sorted(value))
    message = "should be a whole number, or several"
    raise ValueError(message)


def _distinct(values: tuple[int, ...]) -> tuple[int, ...]:
    if not values:
        message = "is empty; give a number, or several"
        raise ValueError(message)
    return tuple(dict.fromkeys(values))


def _positive(value: float) -> float:
    if not (isfinite(value) and value > 0):
        message = "should be a finite number above 0"
        raise ValueError(message)
    return value


def _spread(value: tuple[float, float]) -> tuple[float, float]:
    low, high = value
    if not low < high:
        message = f"should rise, from least to most experience; {low:g} to {high:g} does not"
        raise ValueError(message)
    return value


Positive = Annotated[float, AfterValidator(_positive)]
Ones = Annotated[
    tuple[Annotated[int, Field(ge=1, le=1000)], ...],
    BeforeValidator(_several),
    AfterValidator(_distinct),
]
Threes = Annotated[
    tuple[Annotated[int, Field(ge=3, le=1000)], ...],
    BeforeValidator(_several),
    AfterValidator(_distinct),
]


class PlanSettings(BaseModel):
    """What is asked of a plan; None where a pilot, or else an assumption, fills in.

    Parameters
    ----------
    width : float, optional
        Half of the prediction interval that is wanted: estimate ± width.
    judges, subjects, problems : tuple of int
        The numbers that are tried, each with each.
    experience : (float, float), optional
        The range of the subjects' experience, which is taken for uniform.
    noise : {"low", "high"}, optional
    person, solution, judge, taste : float, optional
        Standard deviations that replace those of the noise; see `quem.experience.simulation`.
    systems : int, optional
        How many systems are ranked among the subjects.
    power_for : float, optional
        A difference between two systems, in units of experience.
    cost_solution : float, optional
        What the solution of one problem by one subject costs.
    cost_judgement : float, optional
        What it costs that one judge places one solution.
    minutes : float, optional
        How long a judge takes to place one solution.
    level : float, optional
        Of the interval.
    simulate : int
        How many studies of each design shown are simulated.
    seed : int
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: Positive | None = None
    judges: Ones = tuple(range(2, 6))
    subjects: Threes = tuple(range(6, 21))
    problems: Ones = tuple(range(3, 13))
    experience: Annotated[tuple[Years, Years], AfterValidator(_spread)] | None = None
    noise: Literal["low", "high"] | None = None
    person: Years | None = None
    solution: Years | None = None
    judge: Years | None = None
    taste: Years | None = None
    systems: Annotated[int, Field(ge=1, le=100)] | None = None
    power_for: Positive | None = None
    cost_solution: Years | None = None
    cost_judgement: Years | None = None
    minutes: Positive | None = None
    level: Level | None = None
    simulate: Annotated[int, Field(ge=0, le=1_000_000)] = 1000
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0

    @model_validator(mode="after")
    def _fit_each_other(self) -> PlanSettings:
        count = prod(map(len, (self.judges, self.subjects, self.problems)))
        if count > MOST_DESIGNS:
            message = (
                f"{count:,} designs are too many ({MOST_DESIGNS:,} at most); name fewer numbers "
                "of judges, subjects or problems"
            )
            raise ValueError(message)
        if self.cost_judgement is not None and self.cost_solution is None:
            message = "cost_judgement needs cost_solution beside it, in the same unit; add it"
            raise ValueError(message)
        if self.power_for is not None and self.systems == 1:
            message = "power_for compares two systems; give systems: 2 or more, or leave it out"
            raise ValueError(message)
        return self


def plan_settings(given: dict[str, Any]) -> PlanSettings:
    """Check what is asked; None stands for what is not.

    Parameters
    ----------
    given : dict

    Raises
    ------
    QuemError
        With all that is wrong, each with the name of its setting.
    """
    wanted = {key: value for key, value in given.items() if value is not None}
    try:
        return PlanSettings.model_validate(wanted)
    except ValidationError as error:
        found = complaints(error, PlanSettings, wanted, what="setting")
    raise QuemError(Mistake("", key=dotted(loc), message=message) for loc, message, _ in found)
