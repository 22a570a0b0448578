"""A study of kind ``experience``. Its keys are explained in ``docs/reference/study-file.md``."""

from __future__ import annotations

import datetime as dt  # noqa: TC003  pydantic reads the annotation
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from quem.study.fields import (
    Count,
    Id,
    Level,
    Line,
    Numeral,
    OneOrMore,
    Part,
    Section,
    Seed,
    StudyPart,
    Years,
)

__all__ = [
    "Assisted",
    "BlockDesign",
    "Correction",
    "ExperienceSettings",
    "ExperienceSpec",
    "Judge",
    "Judging",
    "MissingSolution",
    "Organizer",
    "PreflibFile",
    "Problem",
    "RankingsSource",
    "Subject",
    "System",
]

Form = Literal["linear", "log", "sqrt", "quadratic", "cubic", "auto"]
Interval = Literal["prediction", "mean", "calibration"]


def _once(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(dict.fromkeys(values))


def _iso_date(value: object) -> object:
    # Left alone, pydantic takes a bare number for seconds since 1970.
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        message = f"{value[:60]!r} is not a date; use a value such as 1996-01-31"
        raise ValueError(message)
    return value


def _sha256(value: object) -> object:
    digits = value.strip().lower() if isinstance(value, str) else ""
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        message = "expected the 64 digits that sha256sum prints for the new file"
        raise ValueError(message)
    return digits


class Problem(StudyPart):
    """A problem that every solver solved."""

    id: Id
    title: Line = ""
    statement: Line = ""


class Judge(StudyPart):
    """An expert who ranks."""

    id: Id
    name: Line = ""
    experience: Years | None = None


class Organizer(StudyPart):
    """Somebody who runs the study, or watches how far it is."""

    id: Id
    name: Line = ""
    role: Literal["manager", "observer"] = "manager"


class Subject(StudyPart):
    """A human solver of known experience."""

    id: Id
    name: Line = ""
    experience: Years


class System(StudyPart):
    """A knowledge-based system, or one version of it."""

    id: Id
    name: Line = ""
    version: Line = ""
    of: Line = ""
    date: Annotated[dt.date, BeforeValidator(_iso_date)] | None = None


class Assisted(StudyPart):
    """A subject working with a system."""

    id: Id
    by: Id
    person: Id


class MissingSolution(StudyPart):
    """A solution that no judge was given, and why."""

    problem: Id
    solver: Id
    reason: Literal["absent", "failed"] = "absent"


class Correction(StudyPart):
    """A changed solution that takes the letter and the place of what it corrects."""

    problem: Id
    solver: Id
    sha256: Annotated[str, BeforeValidator(_sha256)]
    reason: Line


class PreflibFile(StudyPart):
    """One PrefLib file: the orders of all judges for one problem."""

    file: Line
    problem: Id


class RankingsSource(StudyPart):
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


class Judging(StudyPart):
    """How a judging session runs."""

    briefing: Line = ""
    consent: Line = ""
    practice: Line = ""
    repeat: Count = 0
    identity_words: Annotated[tuple[Line, ...], OneOrMore] = ()


class BlockDesign(StudyPart):
    """How solutions are dealt to judges."""

    block_size: Annotated[int, Field(ge=2), Numeral] | None = None
    blocks: Literal["balanced"] = "balanced"


class ExperienceSettings(StudyPart):
    """The settings of the analysis."""

    form: Form = Field("linear", description="Form of the skill function.")
    interval: Interval = Field("prediction", description="Interval of the headline.")
    level: Level = Field(0.95, description="Level of the intervals, such as 0.95.")
    score: Literal["rank", "blom", "pl"] = Field("rank", description="Score to average.")
    normalize: Literal["none", "expected", "percentile"] = Field(
        "none", description="Rescaling for groups of unequal size."
    )
    reference: Literal["all", "humans"] = Field(
        "all", description="Solvers each solution is ranked against."
    )
    at_least: Annotated[tuple[Years, ...], OneOrMore, AfterValidator(_once)] = Field(
        (5.0, 8.0), description="Report the probability of at least this many years."
    )
    bootstrap: Count = Field(2000, description="Bootstrap replicates; 0 for none.")
    permutations: Count = Field(
        9999, description="Random orders of permutation tests that are too large to enumerate."
    )
    seed: Seed = Field(0, description="Random seed.")

    @model_validator(mode="after")
    def _scores_stand_alone(self) -> ExperienceSettings:
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


class ExperienceSpec(StudyPart):
    """A QUEM study (Hayes & Parzen 1997): systems measured in years of human experience."""

    kind: Literal["experience"] = "experience"
    id: Id
    title: Line
    description: str = ""
    experience_unit: Line = "years"
    problems: Annotated[tuple[Problem, ...], Section] = ()
    organizers: Annotated[tuple[Organizer, ...], Section] = ()
    judges: Annotated[tuple[Judge, ...], Section] = ()
    subjects: Annotated[tuple[Subject, ...], Section] = ()
    systems: Annotated[tuple[System, ...], Section] = ()
    assisted: Annotated[tuple[Assisted, ...], Section] = ()
    withheld: Annotated[tuple[Id, ...], OneOrMore] = ()
    missing: Annotated[tuple[MissingSolution, ...], Section] = ()
    corrections: Annotated[tuple[Correction, ...], Section] = ()
    rankings: RankingsSource = RankingsSource()
    solutions: Line = "solutions"
    judging: Annotated[Judging, Part] = Judging()
    design: Annotated[BlockDesign, Part] = BlockDesign()
    analysis: Annotated[ExperienceSettings, Part] = ExperienceSettings()
