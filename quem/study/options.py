"""A study of kind ``options``. Its keys are explained in ``docs/reference/study-options.md``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

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
)

__all__ = ["MEASURES", "OptionsSettings", "OptionsSpec", "OptionsSystem", "Question"]

# Those of Table 1 of Atanasova et al., in its order.
MEASURES = (
    "F1",
    "F1s",
    "LAR",
    "AP",
    "APL",
    "APs",
    "RR",
    "nDCG",
    "nDCGL",
    "RBP",
    "RBPL",
    "OLAR",
)
Whole = Annotated[int, Numeral, Field(ge=1, le=1_000_000)]


class Question(StudyPart):
    """A question, and the one option that is right."""

    id: Id
    title: Line = ""
    correct: Id


class OptionsSystem(StudyPart):
    """A system that answers with lists of options, or one version of it."""

    id: Id
    name: Line = ""
    version: Line = ""
    lists: Annotated[tuple[Line, ...], OneOrMore] = ()


class OptionsSettings(StudyPart):
    """The settings of the analysis."""

    measures: Annotated[tuple[Line, ...], OneOrMore] = MEASURES
    headline: Line = "OLAR"
    max_length: Whole | None = None
    missing: Literal["empty", "leave-out"] = "empty"
    least: Whole = 1
    thresholds: Annotated[int, Numeral, Field(ge=2, le=10_000)] = 200
    folds: Annotated[int, Numeral, Field(ge=2, le=1000)] = 10
    level: Level = 0.95
    bootstrap: Count = 2000
    permutations: Count = 9999
    seed: Seed = 0


class OptionsSpec(StudyPart):
    """Systems that answer questions with lists of options (Atanasova et al. 2019)."""

    kind: Literal["options"] = "options"
    id: Id
    title: Line
    description: str = ""
    questions: Annotated[
        Annotated[Line, Tag("name")] | Annotated[tuple[Question, ...], Section, Tag("list")],
        Discriminator(lambda value: "name" if isinstance(value, str) else "list"),
    ]
    systems: Annotated[tuple[OptionsSystem, ...], Section] = ()
    lists: Annotated[tuple[Line, ...], OneOrMore] = ()
    analysis: Annotated[OptionsSettings, Part] = OptionsSettings()
