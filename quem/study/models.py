"""What a study is: one model a kind. Every key is explained in ``docs/study-file.md``."""

from __future__ import annotations

import datetime as dt  # noqa: TC003  pydantic reads the annotation
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from quem.text import percent_hint, shown

__all__ = [
    "Analysis",
    "Assisted",
    "Design",
    "ExperienceStudy",
    "Judge",
    "Judging",
    "MissingSolution",
    "PreflibFile",
    "Problem",
    "RankingsSource",
    "Subject",
    "System",
]

# Squares of it stay finite.
_MOST_YEARS = 1_000_000_000
_ALL = 100
_DECIMAL_COMMA = re.compile(r"\s*([+-]?\d+),(\d+)\s*", re.ASCII)
_PERCENT = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*%\s*", re.ASCII)

Form = Literal["linear", "log", "sqrt", "quadratic", "cubic", "auto"]
Interval = Literal["prediction", "mean", "calibration"]


def _printable(text: str) -> str:
    if not text.isprintable():
        message = "should be one line of printable text"
        raise ValueError(message)
    return text


def _years(value: float) -> float:
    if not 0 <= value < float("inf"):
        message = "should be a finite number, 0 or more"
        raise ValueError(message)
    if value > _MOST_YEARS:
        message = f"should be at most {_MOST_YEARS:,}; choose a longer experience_unit"
        raise ValueError(message)
    return value


def _share(value: float) -> float:
    if not 0 < value < 1:
        message = f"should be between 0 and 1{percent_hint(value)}"
        raise ValueError(message)
    return value


def _numeral(value: object) -> object:
    """Refuse what Python reads as a number and people do not, and the other way round."""
    if isinstance(value, str):
        if comma := _DECIMAL_COMMA.fullmatch(value):
            message = f"{shown(value)} has a decimal comma; write it as {comma[1]}.{comma[2]}"
            raise ValueError(message)
        if "_" in value:
            message = f"{shown(value)} is no number; write one such as 7"
            raise ValueError(message)
    return value


def _no_percent(value: object) -> object:
    if isinstance(value, str) and (percent := _PERCENT.fullmatch(value)):
        number = float(percent[1].replace(",", "."))
        message = f"{shown(value)} is no number; write it as {number / _ALL:g}"
        raise ValueError(message)
    return value


def _once(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(dict.fromkeys(values))


Id = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_printable)]
Line = Annotated[str, AfterValidator(_printable)]
Numeral = BeforeValidator(_numeral)
Years = Annotated[float, Numeral, AfterValidator(_years)]
Level = Annotated[float, Numeral, BeforeValidator(_no_percent), AfterValidator(_share)]


def _iso_date(value: object) -> object:
    # Left alone, pydantic takes a bare number for seconds since 1970.
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        message = f"{value[:60]!r} is no date; write it as 1996-01-31"
        raise ValueError(message)
    return value


def _none_is_empty(value: object) -> object:
    return () if value is None else value


def _none_is_default(value: object) -> object:
    return {} if value is None else value


def _one_is_a_list(value: object) -> object:
    return (value,) if isinstance(value, str | float | int) else _none_is_empty(value)


Section = BeforeValidator(_none_is_empty)
Part = BeforeValidator(_none_is_default)
OneOrMore = BeforeValidator(_one_is_a_list)
Count = Annotated[int, Numeral, Field(ge=0, le=10_000_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Problem(_Part):
    """A problem that every solver solved."""

    id: Id
    title: Line = ""
    statement: Line = ""


class Judge(_Part):
    """An expert who ranks."""

    id: Id
    name: Line = ""
    experience: Years | None = None


class Subject(_Part):
    """A human solver of known experience."""

    id: Id
    name: Line = ""
    experience: Years


class System(_Part):
    """A knowledge-based system, or one version of it."""

    id: Id
    name: Line = ""
    version: Line = ""
    of: Line = ""
    date: Annotated[dt.date, BeforeValidator(_iso_date)] | None = None


class Assisted(_Part):
    """A subject working with a system."""

    id: Id
    by: Id
    person: Id


class MissingSolution(_Part):
    """A solution that no judge was given, and why."""

    problem: Id
    solver: Id
    reason: Literal["absent", "failed"] = "absent"


class PreflibFile(_Part):
    """One PrefLib file: the orders of all judges for one problem."""

    file: Line
    problem: Id


class RankingsSource(_Part):
    """Where the rankings are."""

    source: Literal["long", "wide", "preflib", "averages", "store"] = Field("long", alias="from")
    file: Annotated[
        Annotated[Line, Tag("name")] | Annotated[tuple[PreflibFile, ...], Tag("list")],
        Discriminator(lambda value: "list" if isinstance(value, list | tuple) else "name"),
    ] = ""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:  # noqa: ANN401  whatever the YAML holds
        if isinstance(data, str):
            return {"from": "long", "file": data}
        if isinstance(data, list):
            return {"from": "preflib", "file": data}
        return data


class Judging(_Part):
    """How a judging session runs."""

    briefing: Line = ""
    consent: Line = ""
    practice: Line = ""
    repeat: Count = 0
    identity_words: Annotated[tuple[Line, ...], OneOrMore] = ()


class Design(_Part):
    """How solutions are dealt to judges."""

    block_size: Annotated[int, Numeral, Field(ge=2)] | None = None
    blocks: Literal["balanced"] = "balanced"


class Analysis(_Part):
    """The settings of the analysis."""

    form: Form = "linear"
    interval: Interval = "prediction"
    level: Level = 0.95
    score: Literal["rank", "blom", "pl"] = "rank"
    normalize: Literal["none", "expected", "percentile"] = "none"
    reference: Literal["all", "humans"] = "all"
    at_least: Annotated[tuple[Years, ...], OneOrMore, AfterValidator(_once)] = (5.0, 8.0)
    bootstrap: Count = 2000
    permutations: Count = 9999
    seed: Annotated[int, Numeral, Field(ge=0, le=2**63 - 1)] = 0

    @model_validator(mode="after")
    def _scores_stand_alone(self) -> Analysis:
        if self.score == "blom":
            if self.normalize != "none":
                message = "blom scores are normalized already; leave out normalize or the score"
                raise ValueError(message)
            if self.form in ("log", "sqrt"):
                message = (
                    f"blom scores can be 0 or less, where {self.form} is not defined; "
                    "use the score rank or another form"
                )
                raise ValueError(message)
        if self.score == "pl" and self.normalize != "none":
            message = "pl scores know the size of each group; leave out normalize or the score"
            raise ValueError(message)
        return self


class ExperienceStudy(_Part):
    """A QUEM study (Hayes & Parzen 1997): systems measured in years of human experience."""

    kind: Literal["experience"] = "experience"
    id: Id
    title: Line
    description: str = ""
    experience_unit: Line = "years"
    problems: Annotated[tuple[Problem, ...], Section] = ()
    judges: Annotated[tuple[Judge, ...], Section] = ()
    subjects: Annotated[tuple[Subject, ...], Section] = ()
    systems: Annotated[tuple[System, ...], Section] = ()
    assisted: Annotated[tuple[Assisted, ...], Section] = ()
    withheld: Annotated[tuple[Id, ...], OneOrMore] = ()
    missing: Annotated[tuple[MissingSolution, ...], Section] = ()
    rankings: RankingsSource = RankingsSource()
    solutions: Line = "solutions"
    judging: Annotated[Judging, Part] = Judging()
    design: Annotated[Design, Part] = Design()
    analysis: Annotated[Analysis, Part] = Analysis()
