"""A study of kind ``relevance``, in which judges grade how relevant cases are to queries.

Its keys are explained in ``docs/how-to/pooling.md``.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from quem.studyfile.fields import (
    Count,
    FileName,
    Id,
    Level,
    Line,
    OneOrMore,
    Part,
    ProblemId,
    Section,
    Seed,
    StudyPart,
    allowed,
)
from quem.studyfile.machines import Machine, MachineUse  # noqa: TC001  pydantic reads them
from quem.studyfile.models import (
    Assisted,
    ExperienceSpec,
    MissingSolution,
    PanelSource,
    Problem,
    Question,
    RankingsSource,
    SessionSpec,
    Solving,
    Subject,
    System,
)

# The id of the grade's question in the answers.
GRADE = "grade"
# Keys of grades: 0 to 9.
MOST_GRADES = 10
# Default labels of grades, by their number.
LABELS: dict[int, tuple[str, ...]] = {
    2: ("Not relevant", "Relevant"),
    3: ("Not relevant", "Partly relevant", "Relevant"),
    4: ("Not relevant", "Partly relevant", "Relevant", "Highly relevant"),
}


def _differ(values: tuple[str, ...]) -> tuple[str, ...]:
    if not 1 < len(values) <= MOST_GRADES:
        raise ValueError(f"needs 2 to {MOST_GRADES} labels, the lowest grade first")
    if len({one.casefold() for one in values}) < len(values) or not all(map(str.strip, values)):
        raise ValueError("has a label twice, or an empty one; give each grade its own")
    return values


class Candidate(StudyPart):
    """A case that judges see for a query."""

    problem: ProblemId = Field(description="The query, as under `problems`.")
    id: Id = Field(description="Its file is named after it.")
    query: str = Field("", description="Id of the query where it comes from; else `problem`.")
    case: str = Field("", description="Id of the case where it comes from; else `id`.")


class RelevanceSettings(StudyPart):
    """The settings of the analysis."""

    gone: ClassVar[dict[str, str]] = {"bootstrap": "`samples: 0` leaves out the interval of alpha"}

    consensus: Literal["median", "mode"] = Field(
        "median",
        description="Grade of several judges; of two that are in the middle, or equally frequent, "
        "the lower.",
    )
    level: Level = Field(0.95, description="Level of the interval of alpha.")
    samples: Count = Field(
        2000, description="0 for no interval of alpha; else it has 2,000 bootstrap samples."
    )
    seed: Seed = Field(0, description="Random seed.")


class RelevanceSpec(SessionSpec):
    """Judges grade how relevant the candidates of queries are; see `quem score --pool`."""

    kind: Literal["relevance"] = Field("relevance", description="Kind of study.")
    problems: Annotated[tuple[Problem, ...], Section] = Field((), description="The queries.")
    candidates: Annotated[tuple[Candidate, ...], Section, allowed("file name, or list")] = Field(
        (), description="What is judged; a CSV file with these columns, or a list."
    )
    grades: Annotated[
        tuple[Line, ...], OneOrMore, AfterValidator(_differ), allowed("texts, 2 to 10")
    ] = Field(description="Labels of the grades 0, 1, 2, ….")
    judgments: FileName = Field(
        "",
        description="A table of judgments with the columns query, case, judge, and grade, instead "
        "of a judging session.",
    )
    judged: FileName = Field(
        "", description="Relevance judgments made before, which the qrels of the result hold too."
    )
    analysis: Annotated[RelevanceSettings, Part] = Field(
        RelevanceSettings(), description="Settings of the analysis."
    )

    # Attributes of experience studies; sessions of both kinds are run alike.
    experience_unit: ClassVar[str] = "years"
    subjects: ClassVar[tuple[Subject, ...]] = ()
    systems: ClassVar[tuple[System, ...]] = ()
    assisted: ClassVar[tuple[Assisted, ...]] = ()
    withheld: ClassVar[tuple[str, ...]] = ()
    missing: ClassVar[tuple[MissingSolution, ...]] = ()
    machines: ClassVar[tuple[Machine, ...]] = ()
    machine: ClassVar[MachineUse | None] = None
    panel: ClassVar[PanelSource | None] = None
    solving: ClassVar[Solving | None] = None
    awaits_subjects: ClassVar[bool] = False
    taken_ids: ClassVar[frozenset[str]] = frozenset()

    @property
    def rankings(self) -> RankingsSource:
        """The source of judgments: a table, or a judging session."""
        if self.judgments:
            return RankingsSource.model_validate(self.judgments)
        return RankingsSource.model_validate({"from": "store"})

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of grades, lowest first."""
        return self.grades

    @property
    def questions(self) -> tuple[Question, ...]:
        """The grade, and further questions to judges."""
        asked = Question(
            id=GRADE,
            about="solution",
            kind="scale",
            text="Grade",
            range=(0, len(self.grades) - 1),
            required=True,
        )
        return (asked, *self.judging.questions)

    @model_validator(mode="after")
    def _fits_together(self) -> RelevanceSpec:
        if any(one.id == GRADE for one in self.judging.questions):
            raise ValueError(
                f"judging.questions has the id {GRADE!r}, which the grades have; rename it"
            )
        return self


# The kinds of judging sessions.
JudgedSpec: TypeAlias = ExperienceSpec | RelevanceSpec
