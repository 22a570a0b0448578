"""The settings of a plan."""

from __future__ import annotations

import re
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
from quem.studyfile.document import dotted
from quem.studyfile.fields import Level, Numeral, Seed, Years
from quem.studyfile.schema import complaints

_MOST_NUMBERS = 10_000
COMPONENTS = ("person", "solution", "judge", "taste")
MOST_DESIGNS = 100_000


def _several(value: object) -> object:
    """One number or several, also as text: "12", "6-20", "6-20:2" (every second), "8,12"."""
    if isinstance(value, str):
        value = {number for part in value.split(",") for number in _range(part, value)}
    if isinstance(value, int):
        return (value,)
    if isinstance(value, range | set | list | tuple):
        return tuple(sorted(value))
    raise ValueError("must be a whole number, or several")


def _range(part: str, text: str) -> range:
    read = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?\s*", part, re.ASCII)
    if not read:
        raise ValueError(
            f"{text!r} is not a number such as 12, and not one of 6-20, 6-20:2, or 8,12"
        )
    first, last, step = int(read[1]), int(read[2] or read[1]), int(read[3] or 1)
    if last < first or not step:
        raise ValueError(
            f"{part.strip()!r} holds no number; use an increasing range: 6-20 or 6-20:2"
        )
    numbers = range(first, last + 1, step)
    if len(numbers) > _MOST_NUMBERS:
        raise ValueError(f"{part.strip()!r} has too many numbers; use at most {_MOST_NUMBERS:,}")
    return numbers


def _distinct(values: tuple[int, ...]) -> tuple[int, ...]:
    if not values:
        raise ValueError("is empty; give a number, or several")
    return tuple(dict.fromkeys(values))


def _positive(value: float) -> float:
    if not (isfinite(value) and value > 0):
        raise ValueError(f"{value:g} is not a finite number above 0")
    return value


def _span(value: object) -> object:
    """Two numbers, also as text: "1-12"."""
    if not isinstance(value, str):
        return value
    low, dash, high = value.partition("-")
    if not dash:
        raise ValueError(
            f"{value!r} is not a range from least to most experience; use one such as 1-12"
        )
    return low.strip(), high.strip()


def _spread(value: tuple[float, float]) -> tuple[float, float]:
    low, high = value
    if not low < high:
        raise ValueError(
            f"must increase from least to most experience; {low:g} to {high:g} does not"
        )
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
    """The settings of a plan; None where a pilot, or else an assumption, fills in.

    Experience is in the study's unit, by default years.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: Positive | None = Field(
        None,
        description="Target half-width of the prediction interval in years: 2 is for estimates "
        "± 2.",
    )
    judges: Ones = Field(
        tuple(range(2, 6)),
        title="NUMBERS",
        description="Numbers of judges to try: 3, 2-5, or 2,4.",
    )
    subjects: Threes = Field(
        tuple(range(6, 21)), title="NUMBERS", description="Numbers of subjects to try."
    )
    problems: Ones = Field(
        tuple(range(3, 13)), title="NUMBERS", description="Numbers of problems to try."
    )
    experience: (
        Annotated[tuple[Years, Years], BeforeValidator(_span), AfterValidator(_spread)] | None
    ) = Field(
        None,
        title="FROM-TO",
        description="Range of the subjects' experience in years, drawn uniformly from it.  "
        "[default: 1-12, or the pilot's range]",
    )
    noise: Literal["low", "high"] | None = Field(
        None,
        description="SDs to assume: 1 year each (low) or 2 years (high), judge × solver half of "
        "it.  [default: low]",
    )
    person: Years | None = Field(
        None, description="Between-person SD at equal experience, in years."
    )
    solution: Years | None = Field(None, description="Person × problem SD, in years.")
    judge: Years | None = Field(None, description="Residual SD of a judge's rating, in years.")
    taste: Years | None = Field(None, description="Judge × solver SD, in years.")
    systems: Annotated[int, Field(ge=1, le=100), Numeral] | None = Field(
        None, description="Number of systems ranked among the subjects."
    )
    power_for: Positive | None = Field(
        None,
        title="YEARS",
        description="Report the power to detect a difference of YEARS between two systems.",
    )
    minutes: Positive | None = Field(
        None,
        description="Minutes a judge takes to place one solution.  [default: as in the pilot's "
        "judging session, else 5]",
    )
    level: Level | None = Field(
        None,
        description="Level of the interval, such as 0.95.  [default: that of the pilot, else 0.95]",
    )
    simulate: Annotated[int, Field(ge=0, le=1_000_000), Numeral] = Field(
        1000, title="N", description="Studies to simulate of each design shown; 0 for none."
    )
    seed: Seed = Field(0, description="Random seed of the simulation.")

    @model_validator(mode="after")
    def _fit_each_other(self) -> PlanSettings:
        count = prod(map(len, (self.judges, self.subjects, self.problems)))
        if count > MOST_DESIGNS:
            raise ValueError(
                f"{count:,} designs are too many ({MOST_DESIGNS:,} at most); give fewer numbers "
                "of judges, subjects, or problems"
            )
        if self.power_for is not None and self.systems == 1:
            raise ValueError(
                "power_for compares two systems; give systems: 2 or more, or leave it out"
            )
        return self


def plan_settings(values: dict[str, Any]) -> PlanSettings:
    """Check the settings of a plan, of which None means not given."""
    wanted = {key: value for key, value in values.items() if value is not None}
    try:
        return PlanSettings.model_validate(wanted)
    except ValidationError as error:
        mistakes = complaints(error, PlanSettings, wanted, what="setting")
    raise QuemError(Mistake("", key=dotted(loc), message=message) for loc, message, _ in mistakes)
