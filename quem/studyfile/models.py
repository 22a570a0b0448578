"""A study of kind ``experience``. Its keys are explained in ``docs/reference/study-file.md``."""

from __future__ import annotations

import datetime as dt
import re
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from quem.studyfile.fields import (
    Count,
    EmailAddress,
    FileId,
    FileName,
    FolderName,
    HeaderLine,
    HttpsUrl,
    Id,
    Level,
    Line,
    Numeral,
    OneOrMore,
    Part,
    ProblemId,
    Section,
    SolverId,
    StudyPart,
    StudySpec,
    SubjectId,
    SystemId,
    Years,
    allowed,
)
from quem.studyfile.machines import Machines, MachineUse  # noqa: TC001  pydantic reads them

Form = Literal["linear", "log", "quadratic"]
# Of judges' pages; `webjudge.languages` has their names.
LanguageCode = Literal["en", "de", "es", "fr", "ja", "zh-Hans"]
_SCALE = (1, 5)
# Greatest number of a scale's buttons on a phone.
_STEPS = 10


def _once(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(dict.fromkeys(values))


def _iso_date(value: object) -> object:
    # By default, pydantic reads a bare number as seconds since 1970.
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        raise ValueError(f"{value[:60]!r} is not a date; use a value such as 1996-01-31")
    return value


Date = Annotated[
    Annotated[dt.date, BeforeValidator(_iso_date)] | None, allowed("a date such as 1996-01-31")
]


Minutes = Annotated[int, Field(ge=1, le=100_000), Numeral]


def _sha256(value: object) -> object:
    digits = value.strip().lower() if isinstance(value, str) else ""
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        raise ValueError("expected 64 hexadecimal digits, as sha256sum prints them")
    return digits


class Problem(StudyPart):
    """A problem that every solver solved."""

    id: Id = Field(description="As in the rankings.")
    title: Line = Field("", description="For people.")
    statement: FileName = Field("", description="File with the text of the problem.")


class Invited(StudyPart):
    """Somebody who is asked to judge or to solve."""

    id: Id = Field(description="As in the rankings.")
    name: HeaderLine = Field("", description="For people.")
    address: HeaderLine = Field(
        "", description="How pages and messages address them; else by name."
    )
    language: LanguageCode | None = Field(
        None, description="Language of their pages, unless they choose another."
    )
    email: EmailAddress = Field("", description="Where their invitation goes; or in `people.csv`.")


class Judge(Invited):
    """An expert who ranks."""

    experience: Years | None = Field(
        None,
        description="Experience in the study's unit.",
    )


class Person(Invited):
    """Somebody who is asked to solve the problems."""

    id: FileId = Field(description="As in `subjects.csv`, which closing the session writes.")


class Organizer(StudyPart):
    """Somebody who runs the study."""

    id: Id = Field(description="As in the activity log.")
    name: Line = Field("", description="For people.")


class Contact(StudyPart):
    """Who asks the judges, and answers their questions."""

    text_key = "name"

    name: Line = Field("", description="Who asks.")
    institution: Line = Field("", description="Where they work.")
    email: EmailAddress = Field("", description="Where judges can write to.")
    phone: Line = Field("", description="Where judges can call.")


class Invitation(StudyPart):
    """How judges are invited, and what their first page begins with."""

    text_key = "title"

    title: HeaderLine = Field(
        "", description="The question that judges answer; otherwise the title."
    )
    text: FileName = Field(
        "",
        description="File with the [text of invitations](../how-to/invitations.md#your-own-text).",
    )


class Subject(StudyPart):
    """A human solver of known experience."""

    id: Id = Field(description="As in the rankings.")
    name: Line = Field("", description="For people.")
    experience: Years = Field(description="Experience in the study's unit.")
    seconds: Annotated[dict[str, Years], Part, allowed("mapping of problems to seconds")] = Field(
        {}, description="How long they worked on each problem."
    )
    reuse: bool = Field(
        default=False,
        description="Whether they agreed to be in a"
        " [reference panel](../how-to/machines.md#reuse-people-in-a-panel).",
    )


class System(StudyPart):
    """A knowledge-based system, or one version of it."""

    id: Id = Field(description="As in the rankings.")
    name: Line = Field("", description="For people.")
    version: Line = Field("", description="Two versions are two systems, each with its id.")
    of: Line = Field("", description="Name that versions of one system share.")
    date: Date = Field(None, description="Date of the version.")
    architecture: Line = Field(
        "", description="How it is built; `quem track` carries no years from one to another."
    )


class PanelSource(StudyPart):
    """The reference panel that systems are placed on; `quem panel place` writes it."""

    file: FileName = Field(description="The panel, a ZIP archive.")
    digest: Annotated[str, BeforeValidator(_sha256), allowed("64 hexadecimal digits")] = Field(
        description="Its digest, by which anchors are drawn."
    )
    anchors: Annotated[int, Field(ge=2), Numeral] = Field(
        4, description="People ranked with the systems, per problem."
    )


class Assisted(StudyPart):
    """A subject working with a system."""

    id: Id = Field(description="As in the rankings.")
    by: SystemId = Field(description="The system that helped.")
    person: SubjectId = Field(description="The assisted subject.")


class MissingSolution(StudyPart):
    """A solution that no judge was given, and why."""

    problem: ProblemId = Field(description="The problem.")
    solver: SolverId = Field(description="The solver.")
    reason: Literal["absent", "failed"] = Field("absent", description="Why there is no solution.")


class PreflibFile(StudyPart):
    """One PrefLib file: the orders of all judges for one problem."""

    file: FileName = Field(description="A PrefLib file.")
    problem: ProblemId = Field(description="The problem that its orders are for.")


class RankingsSource(StudyPart):
    """Where the rankings are."""

    text_key = "file"

    source: Literal["long", "wide", "preflib", "averages", "decisions", "store"] = Field(
        "long", alias="from", description="The layout."
    )
    file: Annotated[
        Annotated[Line, Tag("name")] | Annotated[tuple[PreflibFile, ...], Tag("list")],
        Discriminator(lambda value: "list" if isinstance(value, list | tuple) else "name"),
        allowed("file name, or list"),
    ] = Field("", description="The file; for `preflib` a list.")

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:  # noqa: ANN401  whatever the YAML holds
        return {"from": "preflib", "file": data} if isinstance(data, list) else data


class Question(StudyPart):
    """A question that judges answer besides ranking."""

    id: Id = Field(description="As in the answers.")
    about: Literal["placement", "solution", "task", "study"] = Field(
        description="Unit of the question."
    )
    kind: Literal["choice", "scale", "flag", "text"] | None = Field(
        None, description="Type of the answer; not for `placement`."
    )
    text: Line = Field("", description="Text for judges.")
    options: tuple[Line, ...] = Field((), description="The answers of a `choice`.")
    range: Annotated[tuple[Annotated[int, Numeral], ...], allowed("two whole numbers")] = Field(
        _SCALE, description="The ends of a `scale`."
    )
    ends: Annotated[tuple[Line, ...], allowed("two texts")] = Field(
        (), description="What the ends of a `scale` mean."
    )
    required: bool = Field(default=False, description="Whether submitting needs an answer.")

    @property
    def values(self) -> tuple[str, ...]:
        """All possible answers, as they are stored; empty for a text."""
        if self.kind == "scale":
            low, high = self.range
            return tuple(map(str, range(low, high + 1)))
        if self.about == "placement":
            return ("unsure", "fairly", "sure")
        return ("yes",) if self.kind == "flag" else self.options

    @model_validator(mode="after")
    def _is_one(self) -> Question:
        is_placement, is_choice = self.about == "placement", self.kind == "choice"
        given, options = self.model_fields_set, self.options
        # The first match is reported.
        wrong = {
            "about: placement asks how sure judges are; leave out kind, text, and options": (
                is_placement and given - {"id", "about", "required"}
            ),
            "kind is missing; add it": not is_placement and not self.kind,
            "text is missing; add it": not is_placement and not self.text,
            "range and ends are of a scale; use kind: scale, or leave them out": (
                self.kind != "scale" and given & {"range", "ends"}
            ),
            "give the options to choose from": is_choice and not options,
            "options are of a choice; use kind: choice": options and not is_choice,
            "a flag that is not set is an answer too; leave out required, or use a choice": (
                self.kind == "flag" and self.required
            ),
            "options needs two different texts at least, each of them once": (
                is_choice and not 1 < len(set(options)) == len(options)
            ),
            "options has an empty text": not all(option.strip() for option in options),
            "ends needs two texts, such as [unclear, clear]": len(self.ends)
            not in (0, len(_SCALE)),
            f"range needs two whole numbers, such as [1, 5], at most {_STEPS} apart": (
                len(self.range) != len(_SCALE) or not 0 < self.range[1] - self.range[0] <= _STEPS
            ),
        }
        if message := next((message for message, is_wrong in wrong.items() if is_wrong), ""):
            raise ValueError(message)
        return self


def _each_once(asked: tuple[Question, ...]) -> tuple[Question, ...]:
    ids = [question.id for question in asked]
    if doubled := next((one for one in ids if ids.count(one) > 1), None):
        raise ValueError(f"has the id {doubled!r} twice; give each its own")
    if sum(question.about == "placement" for question in asked) > 1:
        raise ValueError("asks about placements twice; leave one out")
    return asked


Questions = Annotated[tuple[Question, ...], Section, AfterValidator(_each_once)]


def _words(value: str) -> str:
    if not re.search(r"\w", value):
        raise ValueError(
            "words needs a letter or a digit; write the words as they are in the solution"
        )
    return value


class Reviewed(StudyPart):
    """Words in a solution that could reveal its solver, and what to do about them."""

    problem: Line = Field("", description="The problem; every one if left out.")
    solver: Line = Field(
        "", description="The solver; everyone if left out, and the problem's statement too."
    )
    words: Annotated[Line, AfterValidator(_words)] = Field(
        description="The words, as `quem check` names them."
    )
    decision: Literal["redact", "accept"] = Field(
        description="Replace them by a mark for judges, or show them and warn of them no more."
    )

    @model_validator(mode="after")
    def _redacts_one_solution(self) -> Reviewed:
        if self.decision == "redact" and not (self.problem and self.solver):
            raise ValueError(
                "redact changes one solution; name its problem and its solver, in an entry for "
                "each (statements and the briefing are yours to edit)"
            )
        if self.solver and not self.problem:
            raise ValueError("problem is missing; name it, or leave out solver too")
        return self


class Judging(StudyPart):
    """How a judging session runs."""

    briefing: FileName = Field("", description="File with the briefing of judges.")
    consent: FileName = Field("", description="File with the judges' consent form.")
    language: LanguageCode | None = Field(
        None, description="Language where a judge's is not known; else English."
    )
    practice: Line = Field("", description="Problem to practice on.")
    repeat: Count = Field(0, description="Number of repeat tasks per judge.")
    identity_words: Annotated[tuple[Line, ...], OneOrMore] = Field(
        (), description="Words that would reveal a solver."
    )
    reviewed: Annotated[tuple[Reviewed, ...], Section] = Field(
        (),
        description="[Words redacted or accepted](../how-to/blinding.md#redact-or-accept-words).",
    )
    keep_headers: bool = Field(
        default=False,
        description="Whether judges see headers and footers of documents.",
    )
    same_look: bool = Field(
        default=False,
        description="Whether [texts lose accidents of format](../how-to/blinding.md"
        "#review-the-solutions); fixed once judges rank.",
    )
    questions: Questions = Field(
        (),
        description="What judges are [asked besides order](../how-to/invitations.md#questions).",
    )

    ask_maker: bool = Field(
        default=False,
        description="Whether judges [guess who made solutions](../how-to/blinding.md#measure-it).",
    )
    after: HttpsUrl = Field(
        "", description="Where judges and subjects continue, by a button on their last page."
    )


_UPLOADS = ("pdf", "docx", "xlsx", "pptx", "png", "md", "py")


def _endings(values: tuple[str, ...]) -> tuple[str, ...]:
    endings = tuple(dict.fromkeys(value.strip().casefold().lstrip(".") for value in values))
    if wrong := next((one for one in endings if not re.fullmatch(r"[a-z0-9]{1,12}", one)), None):
        raise ValueError(f"{wrong[:20]!r} is not an ending; use values such as pdf")
    return endings


class Solving(StudyPart):
    """How subjects solve the problems in their browsers."""

    people: Annotated[tuple[Person, ...], Section] = Field(
        (), description="The people who are asked; more can be added in the dashboard."
    )
    briefing: FileName = Field("", description="File with the briefing of subjects.")
    consent: FileName = Field("", description="File with the subjects' consent form.")
    questions: Questions = Field(
        (),
        description="What subjects are asked at the start (`study`) or after a problem (`task`).",
    )
    practice: Line = Field("", description="Problem to practice on; nobody judges it.")
    order: Literal["balanced", "fixed", "random"] = Field(
        "balanced",
        description="Order of the problems.",
    )
    time_limit: Minutes | None = Field(None, description="Minutes for a problem; none if left out.")
    pause: bool = Field(default=True, description="Whether subjects can pause the clock.")
    uploads: Annotated[tuple[Line, ...], OneOrMore, AfterValidator(_endings)] = Field(
        _UPLOADS, description="Endings of files that can be uploaded; `[]` for none."
    )
    tools: Line = Field("", description="Which tools are allowed; shown beside each problem.")

    @field_validator("questions")
    @classmethod
    def _can_be_answered(cls, asked: tuple[Question, ...]) -> tuple[Question, ...]:
        if wrong := next((q for q in asked if q.about not in ("study", "task")), None):
            raise ValueError(
                f"question {wrong.id!r} needs about: study, or about: task for each problem"
            )
        return asked

    @property
    def asked_once(self) -> tuple[Question, ...]:
        """The questions at the start."""
        return tuple(one for one in self.questions if one.about == "study")

    @property
    def asked_after(self) -> tuple[Question, ...]:
        """The questions after each problem."""
        return tuple(one for one in self.questions if one.about == "task")


class HumanBaseline(StudyPart):
    """What readers should know of how people came to solve the problems."""

    recruitment: Line = Field("", description="Recruitment and selection of the subjects.")
    payment: Line = Field("", description="Their compensation, or that there was none.")
    instructions: Line = Field("", description="Their instructions and tools.")


class BlockDesign(StudyPart):
    """How solutions are dealt to judges."""

    block_size: Annotated[int, Field(ge=2), Numeral] | None = Field(
        None, description="Number of solutions per list."
    )


class ReferencePopulation(StudyPart):
    """Whom the years of a system should speak about."""

    years: Annotated[tuple[Years, ...], allowed("2 numbers or more, rising")] = Field(
        ..., description="From the fewest to the most years; with `share`, breaks between them."
    )
    share: Annotated[tuple[float, ...], allowed("a number, 0 or more, for each class")] = Field(
        (),
        description="How many of the people are between each two breaks; equal density if empty.",
    )

    @model_validator(mode="after")
    def _rises(self) -> ReferencePopulation:
        if len(self.years) < 2 or any(b <= a for a, b in pairwise(self.years)):  # noqa: PLR2004
            raise ValueError("years need two numbers at least, each larger than the one before")
        if self.share and len(self.share) != len(self.years) - 1:
            raise ValueError(
                f"share needs a number for each class: {len(self.years) - 1}, one less than years"
            )
        if self.share and (min(self.share) < 0 or not sum(self.share) > 0):
            raise ValueError("share needs numbers of 0 or more, and one above 0")
        return self


class ExperienceSettings(StudyPart):
    """The settings of the analysis."""

    gone: ClassVar[dict[str, str]] = {
        "interval": "leave it out; both intervals are always reported, and "
        "`reference_population` decides which estimate leads",
        **dict.fromkeys(
            ("score", "normalize"),
            "leave it out; the estimate for the population compares places in groups of any size",
        ),
        "reference": "leave it out; every solution is ranked among all of its group",
        "bootstrap": "leave it out; the report says what the estimate depends on",
        **dict.fromkeys(
            ("permutations", "seed"), "leave it out; permutations are always the same 9,999"
        ),
    }

    form: Form = Field("linear", description="Predictor of the years in the paper's line.")
    level: Level = Field(0.95, description="Level of the intervals, such as 0.95.")
    reference_population: ReferencePopulation | None = Field(
        None,
        description="Reference population of the years; assumed: 0 to 1.5 times the most years.",
    )
    at_least: Annotated[
        tuple[Years, ...],
        OneOrMore,
        AfterValidator(_once),
        allowed(
            "number, 0 or more; one, or a list",
            "half and four fifths of the highest subject's experience, unless below the lowest's, "
            "where the unit is years",
        ),
    ] = Field((), description="Report the probability of at least this many years.")
    years_error: Annotated[float, Field(ge=0, le=1), Numeral] = Field(
        0.0, description="Relative error of the years that people report, such as 0.3."
    )


class SessionSpec(StudySpec):
    """What a judging session needs, whatever its judges are asked."""

    problems: Annotated[tuple[Problem, ...], Section] = Field((), description="What was solved.")
    organizers: Annotated[tuple[Organizer, ...], Section] = Field(
        (),
        description="Who runs the study; else one with the id `organizer`.",
    )
    organizer: Annotated[Contact, Part] = Field(
        Contact(), description="Who asks the judges; their first page shows it."
    )
    invitation: Annotated[Invitation, Part] = Field(
        Invitation(), description="What the judges' first page begins with."
    )
    deadline: Date = Field(
        None,
        description="When judges are asked to be done; nothing closes automatically.",
    )
    minutes: Minutes | None = Field(
        None,
        description="Minutes that a judge needs; else estimated.",
    )
    judges: Annotated[tuple[Judge, ...], Section] = Field((), description="Who ranked.")
    solutions: FolderName = Field(
        "solutions", description="Folder of the solutions, for the judging app."
    )
    judging: Annotated[Judging, Part] = Field(Judging(), description="How a judging session runs.")
    design: Annotated[BlockDesign, Part] = Field(
        BlockDesign(), description="How solutions are assigned to judges."
    )

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions to judges besides the order."""
        return self.judging.questions

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of grades, lowest first; empty if judges rank."""
        return ()


class ExperienceSpec(SessionSpec):
    """A QUEM study (Hayes & Parzen 1997): systems measured in years of human experience."""

    kind: Literal["experience"] = Field("experience", description="Kind of study.")
    experience_unit: Line = Field("years", description="Unit of experience.")
    verb: Line = Field(
        "performs",
        description="What systems do, as in “P3 plans like a person”.",
    )
    machines: Machines = Field(
        (),
        description="[Machine judges](../how-to/machines.md), five at most.",
    )
    machine: MachineUse | None = Field(
        None, description="How machine judges are used; `{}` where the defaults suit."
    )
    subjects: Annotated[tuple[Subject, ...], Section] = Field(
        (),
        description="People of known experience, three or more, or a table such as `subjects.csv`.",
    )
    systems: Annotated[tuple[System, ...], Section] = Field((), description="What is measured.")
    assisted: Annotated[tuple[Assisted, ...], Section] = Field(
        (),
        description="[People working with a system](../how-to/comparing.md#the-help-of-a-system).",
    )
    baseline: Annotated[HumanBaseline, Part] = Field(
        HumanBaseline(), description="What the report says of how people came to take part."
    )
    panel: PanelSource | None = Field(
        None,
        description="The [reference panel](../how-to/machines.md#reuse-people-in-a-panel)"
        " of the subjects.",
    )
    withheld: Annotated[tuple[SolverId, ...], OneOrMore] = Field(
        (), description="Solvers who were ranked but are not in the result."
    )
    missing: Annotated[tuple[MissingSolution, ...], Section] = Field(
        (), description="Solutions that no judge was given."
    )
    rankings: Annotated[
        RankingsSource,
        allowed("mapping, or a file name, or a list of PrefLib files", "required"),
    ] = Field(RankingsSource(), description="Where the ranks are.")
    solving: Solving | None = Field(
        None,
        description="How a [solving session](../how-to/solving.md) runs.",
    )
    analysis: Annotated[ExperienceSettings, Part] = Field(
        ExperienceSettings(), description="Settings of the analysis."
    )

    @property
    def taken_ids(self) -> frozenset[str]:
        """The ids of judges and solvers, which people who solve must not have."""
        judges = {one.id for one in self.judges}
        systems = {one.id for one in self.systems}
        return frozenset(judges | systems | {one.id for one in self.assisted} | {*self.withheld})

    @property
    def awaits_subjects(self) -> bool:
        """Whether the subjects are still to come from a solving session."""
        return self.solving is not None and not self.subjects
