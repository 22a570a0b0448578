"""The state of a task at one time: a judge's ranking with all answers, or a subject's answer.

Only `State` declares the fields: pages, store, archive, exports, and the dashboard derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import chain, count, islice, product
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import ConfigDict, Strict, StringConstraints, TypeAdapter, ValidationError
from pydantic import Field as Limit

from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST_REASON, LONGEST_COMMENT = 500, 4000
MOST_COMPARISONS = 1000
MOST_QUESTIONS = 100
LONGEST_ANSWER = 1000


class InvalidStateError(ValueError):
    """The data are not a valid state of the task; the message says why."""


def labels(size: int) -> list[str]:
    """Labels of solutions: A, B, ..., Z, AA, AB, ..."""
    names = (map("".join, product(ascii_uppercase, repeat=length)) for length in count(1))
    return list(islice(chain.from_iterable(names), size))


# PostgreSQL's text holds no NUL; pydantic refuses half a surrogate pair, which no encoding holds.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
Seconds = Annotated[float, Strict(), Limit(ge=0, allow_inf_nan=False)]
Verdict = Literal["better", "equal", "worse"]
Side = Literal["left", "right"]
Means = Literal["compare", "drag", "menu", "key"]
Sureness = Literal["unsure", "fairly", "sure"]
_SAID = r"^[^\x00]*[^\s\x00][^\x00]*$"  # more than spaces
_Reason = Annotated[str, StringConstraints(pattern=_SAID, max_length=LONGEST_REASON)]
_Comment = Annotated[str, StringConstraints(pattern=_SAID, max_length=LONGEST_COMMENT)]
_Answer = Annotated[str, StringConstraints(pattern=_SAID, max_length=LONGEST_ANSWER)]
_CLOSED = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Comparison:
    """A judge's answer to which of two solutions is better, used to place one of them."""

    __pydantic_config__ = _CLOSED

    # The solution to place, and the placed one
    new: str
    other: str
    verdict: Verdict  # of `new` over `other`
    side: Side  # side of `new`
    seconds: Seconds  # time in view until the answer

    @property
    def solutions(self) -> tuple[str, str]:
        """Both of them."""
        return self.new, self.other


_Groups = tuple[Annotated[tuple[str, ...], Limit(min_length=1)], ...]
_OneComment = Annotated[Text, Limit(max_length=LONGEST_COMMENT)]
_Comparisons = Annotated[tuple[Comparison, ...], Limit(max_length=MOST_COMPARISONS)]
_Answers = Annotated[
    dict[Text, Annotated[dict[str, _Answer], Limit(min_length=1)]], Limit(max_length=MOST_QUESTIONS)
]
_Written = Annotated[
    dict[Text, Annotated[dict[str, _Comment], Limit(min_length=1)]],
    Limit(max_length=MOST_QUESTIONS),
]
_COMPARED = ", ".join(sorted(one.name for one in fields(Comparison)))
# Types of fields. "answers" and "answer texts" hold answers by question of the study file and by
# solution; those on the task have an empty name.
_MUST = {
    "groups": "must be a list of tie groups, none of them empty",
    "solutions": "must be a list of solutions",
    "texts": "must be an object of solutions and texts, none of them empty or too long",
    "text": "must be a text that is not too long",
    "choices": "must be an object of solutions and choices",
    "comparisons": f"must be a list of at most {MOST_COMPARISONS} objects of {_COMPARED}",
    "answers": f"must be an object of at most {MOST_QUESTIONS} questions and answers",
    "answer texts": f"must be an object of at most {MOST_QUESTIONS} questions and texts",
}


@dataclass(frozen=True)
class Field:
    """A field of a state, as `State` declares it."""

    name: str
    kind: str
    label: str = ""  # on the dashboard; empty if not shown there
    choices: tuple[str, ...] = ()

    @property
    def must(self) -> str:
        """The expected type, for error messages."""
        choices = f" out of {', '.join(self.choices)}" if self.choices else ""
        return f"{self.name} {_MUST[self.kind]}{choices}"

    def cell(self, state: State, solution: str) -> str:
        """The value for a solution in a table; a mark is 1."""
        value = getattr(state, self.name)
        if self.kind == "solutions":
            return "1" if solution in value else ""
        return str(value.get(solution, "") if self.is_per_solution else value)

    def renamed(self, state: State, names: Mapping[str, str]) -> Any:  # noqa: ANN401  of the kind
        """The value with renamed solutions; those without a name are dropped."""
        value = getattr(state, self.name)
        if not self.is_of_questions:
            return _renamed(value, names)
        # Fields on the task have no names of solutions.
        by_question = {id_: _renamed(given, {**names, "": ""}) for id_, given in value.items()}
        return {id_: given for id_, given in by_question.items() if given}

    def solutions(self, state: State) -> list[str]:
        """The solutions in the value of a field that is not on the task."""
        value = getattr(state, self.name)
        if self.kind == "comparisons":
            return list(chain.from_iterable(entry.solutions for entry in value))
        if self.is_of_questions:
            return [name for given in value.values() for name in given if name]
        return list(value) if self.is_per_solution else []

    @property
    def is_words(self) -> bool:
        """Whether it is free text, which is deleted when personal data is erased."""
        return self.kind in ("text", "texts", "answer texts")

    @property
    def is_of_questions(self) -> bool:
        """Whether it holds answers to the questions of the study file."""
        return self.kind in ("answers", "answer texts")

    @property
    def is_per_solution(self) -> bool:
        """Whether it is about solutions, not the task."""
        return self.kind != "text"

    @property
    def has_cells(self) -> bool:
        """Whether it is a column of a table with one row per solution."""
        return not self.is_words and self.kind not in ("comparisons", "answers")


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401  of any kind of field
    """A renamed value, or nothing if none of its solutions has a name."""
    match value:
        case tuple():
            entries = (names.get(e) if isinstance(e, str) else _renamed(e, names) for e in value)
            return tuple(filter(None, entries))
        case dict():
            return {names[name]: said for name, said in value.items() if name in names}
        case Comparison(new=new, other=other):
            known = new in names and other in names
            said = value.verdict, value.side, value.seconds
            return Comparison(names[new], names[other], *said) if known else None
    return value


@dataclass(frozen=True)
class State:
    """A judge's ranking of one block at one time."""

    __pydantic_config__ = _CLOSED

    # Tie groups, best first
    ranked: _Groups = field(default=(), metadata={"kind": "groups"})
    tray: tuple[str, ...] = field(default=(), metadata={"kind": "solutions"})  # not ranked yet
    # Solutions that the judge cannot judge, with the reason.
    cannot: dict[str, _Reason] = field(default_factory=dict, metadata={"kind": "texts"})
    # Solutions whose author the judge recognized.
    recognized: tuple[str, ...] = field(
        default=(), metadata={"kind": "solutions", "label": "recognized the author"}
    )
    # By solution.
    comments: dict[str, _Comment] = field(
        default_factory=dict, metadata={"kind": "texts", "label": "comment"}
    )
    # On the task.
    comment: _OneComment = field(default="", metadata={"kind": "text", "label": "comment"})
    # In order of creation.
    comparisons: _Comparisons = field(default=(), metadata={"kind": "comparisons"})
    # The way in which solutions were placed.
    placed_by: dict[str, Means] = field(
        default_factory=dict, metadata={"kind": "choices", "choices": get_args(Means)}
    )
    # The judge's confidence in places.
    sure: dict[str, Sureness] = field(
        default_factory=dict,
        metadata={"kind": "choices", "label": "how sure", "choices": get_args(Sureness)},
    )
    # Chosen and written answers to the study file's own questions.
    answers: _Answers = field(default_factory=dict, metadata={"kind": "answers"})
    written: _Written = field(default_factory=dict, metadata={"kind": "answer texts"})

    PLACES: ClassVar = ("ranked", "tray", "cannot")

    @classmethod
    def parse(cls, data: object, block: Iterable[str]) -> State:
        """Parse a state as sent or stored.

        Missing fields have their defaults.
        """
        state = _read(data)
        _check(state, set(block))
        return state

    @classmethod
    def stored(cls, data: Mapping[str, Any]) -> State:
        """Parse a stored state without validation."""
        try:
            return _read(data)
        except InvalidStateError as error:
            raise QuemError(f"a ranking in the database cannot be read: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """Plain data for `parse`."""
        data: dict[str, Any] = _STATE.dump_python(self, mode="json")
        return data

    def renamed(self, names: Mapping[str, str], new: Iterable[str] = ()) -> State:
        """The state with other names of solutions, such as solvers for labels."""
        values = {one.name: one.renamed(self, names) for one in FIELDS}
        return State(**{**values, "tray": (*values["tray"], *new)})

    def ranks(self) -> dict[str, int | None]:
        """Each solution's rank, 1 for the worst; None if it could not be judged."""
        count = len(self.ranked)
        placed: dict[str, int | None] = {
            name: count - place for place, group in enumerate(self.ranked) for name in group
        }
        return placed | dict.fromkeys(self.cannot)


_STATE = TypeAdapter(State)
# The fields of `State` in order.
FIELDS = tuple(Field(one.name, **one.metadata) for one in fields(State))
# A judge's input besides the order.
QUESTIONS = tuple(one for one in FIELDS if one.name not in State.PLACES)


def _read(data: object) -> State:
    try:
        return _STATE.validate_python(data)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
    if not wrong["loc"]:
        raise InvalidStateError("a state must be an object")
    name = str(wrong["loc"][0])
    must = next((one.must for one in FIELDS if one.name == name), "")
    raise InvalidStateError(must or f"{name!r} is not part of a state")


def _check(state: State, block: set[str]) -> None:
    placed = [*chain.from_iterable(state.ranked), *state.tray, *state.cannot]
    if len(placed) != len(block) or set(placed) != block:
        raise InvalidStateError("each solution of the task must be in it exactly once")
    if any(entry.new == entry.other for entry in state.comparisons):
        raise InvalidStateError("each of comparisons must name two solutions")
    for one in QUESTIONS:
        solutions = one.solutions(state) if getattr(state, one.name) else []
        doubled = one.kind == "solutions" and len(solutions) != len(set(solutions))
        if doubled or not block.issuperset(solutions):
            raise InvalidStateError(
                f"{one.name} names a solution twice, or one that is not in the task"
            )


def without_words(data: Mapping[str, Any]) -> dict[str, Any]:
    """A stored state without free text; reasons become "not told"."""
    blank = {one.name: "" if one.kind == "text" else {} for one in FIELDS if one.is_words}
    return {**data, **blank, "cannot": dict.fromkeys(data["cannot"], "not told")}


@dataclass(frozen=True)
class AnswerState:
    """A subject's answer to a problem at one time."""

    __pydantic_config__ = _CLOSED

    text: Text = ""
    files: tuple[str, ...] = ()  # public ids of uploads, in order

    @classmethod
    def parse(cls, data: object) -> AnswerState:
        """Parse an answer as sent or stored."""
        try:
            return _ANSWER.validate_python(data)
        except ValidationError:
            raise InvalidStateError("an answer must be an object of text and files") from None

    def to_json(self) -> dict[str, Any]:
        """Plain data for `parse`."""
        return {"text": self.text, "files": list(self.files)}


_ANSWER = TypeAdapter(AnswerState)
