"""A study of kind ``options``. Its keys are explained in ``docs/how-to/options.md``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from quem.studyfile.fields import (
    FileName,
    Id,
    Line,
    Numeral,
    OneOrMore,
    Part,
    Section,
    StudyPart,
    StudySpec,
    allowed,
)
from quem.studyfile.measures import MeasureNames, ScoredSettings

MEASURES = ("OLAR", "LAR", "F1", "AP", "RR", "nDCG")
Whole = Annotated[int, Field(ge=1, le=1_000_000), Numeral]


def some_correct(options: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a question without a correct option."""
    if not options:
        raise ValueError("is empty; add the correct option")
    return options


class Question(StudyPart):
    """A question, and the options that are right."""

    id: Id = Field(description="As in the lists.")
    correct: Annotated[tuple[Id, ...], AfterValidator(some_correct), OneOrMore] = Field(
        description="The correct option, or all correct ones."
    )


def _each_once(systems: tuple[OptionsSystem, ...]) -> tuple[OptionsSystem, ...]:
    ids = [system.id for system in systems]
    if twice := [one for one in ids if ids.count(one) > 1]:
        raise ValueError(f"the id {twice[0]!r} is used twice; give each system its own")
    return systems


class OptionsSystem(StudyPart):
    """A system that answers with lists of options, or one version of it."""

    id: Id = Field(description="As in the lists.")
    name: Line = Field("", description="Name in the report; by default the id.")
    lists: Annotated[tuple[FileName, ...], OneOrMore] = Field(
        (), description="Files with the lists of this system alone."
    )


class OptionsSettings(ScoredSettings):
    """The settings of the analysis."""

    measures: MeasureNames = Field(
        MEASURES, description=ScoredSettings.model_fields["measures"].description
    )
    max_length: Whole | None = Field(
        None,
        description="Greatest length of a list, on which OLAR depends; by default the length "
        "of the longest list.",
    )
    missing: Literal["empty", "leave-out"] = Field(
        "empty",
        description="Whether a question without a list counts as an empty list or is left out.",
    )


class OptionsSpec(StudySpec):
    """Systems that answer questions with lists of options (Atanasova et al. 2019)."""

    kind: Literal["options"] = Field("options", description="Kind of study.")
    questions: Annotated[
        Annotated[Line, Tag("name")] | Annotated[tuple[Question, ...], Section, Tag("list")],
        Discriminator(lambda value: "name" if isinstance(value, str) else "list"),
        allowed("file name, or list"),
    ] = Field(description="The questions and their correct options.")
    systems: Annotated[tuple[OptionsSystem, ...], AfterValidator(_each_once), Section] = Field(
        (), description="What is evaluated; by default, the systems in the lists."
    )
    lists: Annotated[tuple[FileName, ...], OneOrMore] = Field(
        (), description="Files with lists of all systems."
    )
    analysis: Annotated[OptionsSettings, Part] = Field(
        OptionsSettings(), description="Settings of the analysis."
    )
