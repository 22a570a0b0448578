"""The settings of a plan."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)

from quem.studyfile.fields import Level, Numeral, Seed, Years
from quem.studyfile.models import ReferencePopulation  # noqa: TC001  pydantic reads it

COMPONENTS = ("person", "solution", "judge", "taste")
_MOST_NUMBERS = 100


def _several(value: object) -> object:
    """One number or several, also as text: "12", "6-20", or "8,12,16-20"."""
    if isinstance(value, str):
        value = [number for part in value.split(",") for number in _range(part)]
    numbers = (value,) if isinstance(value, int) else value
    if not isinstance(numbers, range | set | list | tuple):
        raise ValueError("must be a whole number, or several")  # noqa: TRY004  pydantic's
    if not 1 <= len(numbers) <= _MOST_NUMBERS:
        raise ValueError(f"must be 1 to {_MOST_NUMBERS} numbers")
    return tuple(sorted(set(numbers)))


def _range(text: str) -> range:
    ends = [end.strip() for end in text.split("-")]
    if len(ends) > 2 or not all(end.isdecimal() and len(end) < 10 for end in ends):  # noqa: PLR2004
        raise ValueError(f"{text!r} is not a number such as 12, and not a range such as 6-20")
    numbers = range(int(ends[0]), int(ends[-1]) + 1)
    if not 1 <= len(numbers) <= _MOST_NUMBERS:
        raise ValueError(f"{text!r} is not a rising range of at most {_MOST_NUMBERS} numbers")
    return numbers


def _positive(value: float) -> float:
    if not (isfinite(value) and value > 0):
        raise ValueError(f"{value:g} is not a finite number above 0")
    return value


def _span(value: object) -> object:
    """Two numbers, also as text: "1-12"."""
    return tuple(value.split("-")) if isinstance(value, str) else value


def _rising(value: tuple[float, float]) -> tuple[float, float]:
    if not value[0] < value[1]:
        raise ValueError("must increase from least to most experience, as 1-12 does")
    return value


def _population(value: object) -> object:
    """A population, also as text: "0-15", or "0-5-15:60-40" with a share for each class."""
    if not isinstance(value, str):
        return value
    years, _, share = value.partition(":")
    return {"years": years.split("-"), "share": share.split("-") if share else ()}


Positive = Annotated[float, AfterValidator(_positive)]
Ones = Annotated[tuple[Annotated[int, Field(ge=1, le=1000)], ...], BeforeValidator(_several)]
Threes = Annotated[tuple[Annotated[int, Field(ge=3, le=1000)], ...], BeforeValidator(_several)]


class PlanSettings(BaseModel):
    """The settings of a plan; None for values from a pilot or an assumption.

    Experience is in the study's unit, by default years.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: Positive | None = Field(
        None,
        description="Target half-width of the interval in years: 2 is for estimates ± 2.",
    )
    subjects: Threes = Field(
        tuple(range(6, 21)),
        title="NUMBERS",
        description="Numbers of subjects to try: 8, 6-20, or 8,12,16.",
    )
    judges: Ones = Field(
        tuple(range(2, 6)), title="NUMBERS", description="Numbers of judges to try."
    )
    problems: Ones = Field(
        tuple(range(3, 13)), title="NUMBERS", description="Numbers of problems to try."
    )
    experience: (
        Annotated[tuple[Years, Years], BeforeValidator(_span), AfterValidator(_rising)] | None
    ) = Field(
        None,
        title="FROM-TO",
        description="Range of the subjects' experience in years, drawn uniformly from it.  "
        "[default: 1-12, or the pilot's range]",
    )
    reference_population: Annotated[ReferencePopulation, BeforeValidator(_population)] | None = (
        Field(
            None,
            title="FROM-TO",
            description="Reference population of the years: 0-15, or 0-5-15:60-40 with shares.  "
            "[default: the pilot's, else none is declared]",
        )
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
        None,
        description="Number of systems ranked among the subjects.  [default: the pilot's, or 1]",
    )
    minutes: Positive | None = Field(
        None,
        description="Minutes a judge takes to place one solution.  [default: the pilot's, or 5]",
    )
    solving_minutes: Positive | None = Field(
        None,
        description="Minutes a subject takes to solve a problem.  [default: the pilot's, or 60]",
    )
    level: Level | None = Field(
        None,
        description="Level of the interval, such as 0.95.  [default: the pilot's, or 0.95]",
    )
    simulate: Annotated[int, Field(ge=0, le=1_000_000), Numeral] = Field(
        1000, title="N", description="Studies to simulate of each design shown; 0 for none."
    )
    seed: Seed = Field(0, description="Random seed of the simulation.")
