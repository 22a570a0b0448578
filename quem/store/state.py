"""A state of a ranking: where each solution is, and what else a judge says of the task.

The fields of `State` are the one place that names them: pages, store, archive, exports, and the
dashboard follow from it. "A new question on the ranking page" in CONTRIBUTING.md says what
to do for another field.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

LONGEST_REASON, LONGEST_COMMENT = 500, 4000
MOST_COMPARISONS = 1000
MOST_QUESTIONS = 100
LONGEST_ANSWER = 1000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class InvalidStateError(ValueError):
    """What was sent is not a state of the ranking; the message says why."""


def labels(count: int) -> list[str]:
    """Name solutions: A, B, ..., Z, AA, AB, ..."""
    return [_label(number) for number in range(count)]


def _label(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, len(_LETTERS))
        text = _LETTERS[letter] + text
    return text


Verdict = Literal["better", "equal", "worse"]
Side = Literal["left", "right"]


@dataclass(frozen=True)
class Comparison:
    """A judge's answer to which of two solutions is better, by which one of them got its place."""

    # The solution that was to be placed, and the one that had a place
    new: str
    other: str
    verdict: Verdict  # of `new` against `other`
    side: Side  # where `new` stood
    seconds: float  # how long the two were in view until the answer

    @property
    def solutions(self) -> tuple[str, str]:
        """Both of them."""
        return self.new, self.other

    def renamed(self, names: Mapping[str, str]) -> Comparison:
        """Call both solutions by other names."""
        return replace(self, new=names[self.new], other=names[self.other])


@dataclass(frozen=True)
class Field:
    """A field of a state, as `State` declares it."""

    name: str
    # What it holds: tie groups, solutions, a text of some solutions, a text on the task, the choice
    # that was made for the task or for some solutions, or answers on pairs of solutions. "answers"
    # and "answer texts" hold, by question of the study file, what was answered by solution; under
    # the empty name on the task.
    kind: str
    label: str = ""  # what the dashboard calls it; empty for what it does not show
    choices: tuple[str, ...] = ()
    longest: int = 0  # characters of a text

    def read(self, data: Mapping[str, Any]) -> Any:  # noqa: ANN401  of the field's kind
        """Take the value out of what was sent or stored; the default where it is lacking."""
        if self.name not in data:
            return _BLANK[self.kind]()
        return _READERS[self.kind](data[self.name], self)

    def cell(self, state: State, solution: str) -> str:
        """Give the value for a solution as a table shows it: a mark is 1."""
        value = getattr(state, self.name)
        if isinstance(value, str):
            return value
        return (
            ("1" if solution in value else "")
            if isinstance(value, tuple)
            else value.get(solution, "")
        )

    def renamed(self, value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401  of the kind
        """Call the solutions in a value by other names; those that have none are left out."""
        if not self.is_of_questions:
            return _renamed(value, names)
        # What is said of the task has no solution's name.
        by_question = {id_: _renamed(given, {**names, "": ""}) for id_, given in value.items()}
        return {id_: given for id_, given in by_question.items() if given}

    def solutions(self, state: State) -> list[str]:
        """Name the solutions that it says something of, where it is not on the task."""
        value = getattr(state, self.name)
        if self.kind == "comparisons":
            return list(chain.from_iterable(entry.solutions for entry in value))
        if self.is_of_questions:
            return [name for given in value.values() for name in given if name]
        return list(value) if self.is_per_solution else []

    @property
    def is_words(self) -> bool:
        """Whether the judge wrote it, so that it goes when personal data is erased."""
        return self.kind in ("text", "texts", "answer texts")

    @property
    def is_of_questions(self) -> bool:
        """Whether it holds answers to the questions of the study file."""
        return self.kind in ("answers", "answer texts")

    @property
    def is_per_solution(self) -> bool:
        """Whether it says something of solutions, not of the task."""
        return self.kind not in ("text", "choice")

    @property
    def has_cells(self) -> bool:
        """Whether a table with a row for each solution has a column of it."""
        return not self.is_words and self.kind not in ("comparisons", "answers")


def _declared(kind: str, **more: Any) -> Any:  # noqa: ANN401  as `dataclasses.field` gives
    return dataclasses.field(default_factory=_BLANK[kind], metadata={"kind": kind, **more})


_BLANK: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("groups", "solutions", "comparisons"), tuple),
    **dict.fromkeys(("texts", "choices", "answers", "answer texts"), dict),
    **dict.fromkeys(("text", "choice"), str),
}


@dataclass(frozen=True)
class State:
    """One judge's ranking of one block, at one time."""

    ranked: tuple[tuple[str, ...], ...] = _declared("groups")  # tie groups, best first
    tray: tuple[str, ...] = _declared("solutions")  # not ranked yet
    # Solutions that the judge cannot judge, with the reason.
    cannot: Mapping[str, str] = _declared("texts", longest=LONGEST_REASON)
    # Solutions whose author the judge recognized.
    recognized: tuple[str, ...] = _declared("solutions", label="recognized the author")
    # By solution.
    comments: Mapping[str, str] = _declared("texts", label="comment", longest=LONGEST_COMMENT)
    comment: str = _declared("text", label="comment", longest=LONGEST_COMMENT)  # on the task
    # In the order in which they were made.
    comparisons: tuple[Comparison, ...] = _declared("comparisons")
    # How solutions got their places.
    placed_by: Mapping[str, str] = _declared("choices", choices=("compare", "drag", "menu", "key"))
    # How sure the judge is of places.
    sure: Mapping[str, str] = _declared(
        "choices", label="how sure", choices=("unsure", "fairly", "sure")
    )
    # What was chosen and what was written in answer to the study file's own questions: by question,
    # and then by solution, or under the empty name on the task
    answers: Mapping[str, Mapping[str, str]] = _declared("answers", longest=LONGEST_ANSWER)
    written: Mapping[str, Mapping[str, str]] = _declared("answer texts", longest=LONGEST_COMMENT)

    PLACES: ClassVar = ("ranked", "tray", "cannot")

    @classmethod
    def parse(cls, data: object, block: Iterable[str]) -> State:
        """Read a state as it is sent and stored.

        Fields that it lacks have their defaults.
        """
        if not isinstance(data, dict):
            raise InvalidStateError("a state must be an object")
        if unknown := set(data) - _KEYS:
            raise InvalidStateError(f"{min(unknown)!r} is not part of a state")
        state = cls(**{field.name: field.read(data) for field in FIELDS})
        state._check(set(block))
        return state

    @classmethod
    def stored(cls, data: Mapping[str, Any]) -> State:
        """Read a state that was checked when it was saved."""
        try:
            return cls(**{field.name: field.read(data) for field in FIELDS})
        except InvalidStateError as error:
            raise QuemError([f"a ranking in the database cannot be read: {error}"]) from None

    def _check(self, block: set[str]) -> None:
        if not all(self.ranked):
            raise InvalidStateError("a tie group is empty")
        placed = [*chain.from_iterable(self.ranked), *self.tray, *self.cannot]
        if len(placed) != len(block) or set(placed) != block:
            raise InvalidStateError("each solution of the task must be in it exactly once")
        for field in QUESTIONS:
            solutions = field.solutions(self)
            doubled = field.kind == "solutions" and len(solutions) != len(set(solutions))
            if doubled or not block.issuperset(solutions):
                raise InvalidStateError(
                    f"{field.name} names a solution twice, or one that is not in the task"
                )

    def to_json(self) -> dict[str, Any]:
        """Give plain data, as `parse` takes it."""
        return {field.name: _plain(getattr(self, field.name)) for field in FIELDS}

    def renamed(self, names: Mapping[str, str], new: Iterable[str] = ()) -> State:
        """Call the solutions by other names, such as solvers by labels."""
        values = {field.name: field.renamed(getattr(self, field.name), names) for field in FIELDS}
        ranked = tuple(group for group in values["ranked"] if group)
        return State(**{**values, "ranked": ranked, "tray": (*values["tray"], *new)})

    def ranks(self) -> dict[str, int | None]:
        """Give each solution's rank, 1 for the worst; None where it could not be judged."""
        count = len(self.ranked)
        placed: dict[str, int | None] = {
            name: count - place for place, group in enumerate(self.ranked) for name in group
        }
        return placed | dict.fromkeys(self.cannot)


# Each field of `State`, in its order.
FIELDS = tuple(Field(field.name, **field.metadata) for field in dataclasses.fields(State))
# What a judge says besides the order.
QUESTIONS = tuple(field for field in FIELDS if field.name not in State.PLACES)
# What a judge wrote: the keys of a state whose texts can be erased.
WORDS = tuple(field.name for field in FIELDS if field.is_words)
_KEYS = {field.name for field in FIELDS}


def without_words(data: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a stored state what the judge wrote; reasons are kept as "not told"."""
    blank = {field.name: _BLANK[field.kind]() for field in FIELDS if field.is_words}
    return {**data, **blank, "cannot": dict.fromkeys(data["cannot"], "not told")}


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401  of any kind of field
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return tuple(_renamed_entries(value, names))
    return {names[name]: text for name, text in value.items() if name in names}


def _renamed_entries(entries: tuple[Any, ...], names: Mapping[str, str]) -> Iterator[Any]:
    """Leave out solutions that are gone, and comparisons with one that is."""
    for entry in entries:
        if isinstance(entry, tuple):
            yield _renamed(entry, names)
        elif isinstance(entry, Comparison):
            if names.keys() >= set(entry.solutions):
                yield entry.renamed(names)
        elif entry in names:
            yield names[entry]


def _plain(value: Any) -> Any:  # noqa: ANN401  of any kind of field
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Comparison):
        return dataclasses.asdict(value)
    if isinstance(value, str):
        return value
    return {name: _plain(entry) for name, entry in value.items()}


def _groups(value: object, field: Field) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list):
        raise InvalidStateError(f"{field.name} must be a list of tie groups")
    return tuple(_solutions(group, field) for group in value)


def _solutions(value: object, field: Field) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidStateError(f"{field.name} must list solutions")
    return tuple(value)


def _texts(value: object, field: Field) -> dict[str, str]:
    """A text or choice of some solutions, none of them empty."""
    if not isinstance(value, dict):
        raise InvalidStateError(f"{field.name} must be an object of solutions and texts")
    texts = {name: _text(text, field) for name, text in value.items()}
    if not all(text.strip() for text in texts.values()):
        raise InvalidStateError(f"{field.name} has an empty text")
    return texts


def _text(value: object, field: Field) -> str:
    # PostgreSQL's text holds no NUL, and no encoding holds half a surrogate pair.
    if not isinstance(value, str) or "\0" in value or not _encodable(value):
        raise InvalidStateError(f"{field.name} must be a text")
    if field.choices and value not in ("", *field.choices):
        raise InvalidStateError(f"{field.name} must be one of {', '.join(field.choices)}")
    if field.longest and len(value) > field.longest:
        raise InvalidStateError(f"{field.name} must have at most {field.longest} characters")
    return value


def _answers(value: object, field: Field) -> dict[str, dict[str, str]]:
    """What was answered by question, none of it empty."""
    if not isinstance(value, dict) or len(value) > MOST_QUESTIONS:
        raise InvalidStateError(
            f"{field.name} must be an object of at most {MOST_QUESTIONS} questions"
        )
    answers = {_text(name, field): _texts(given, field) for name, given in value.items()}
    if not all(answers.values()):
        raise InvalidStateError(f"{field.name} has a question without an answer")
    return answers


def _comparisons(value: object, field: Field) -> tuple[Comparison, ...]:
    if not isinstance(value, list) or len(value) > MOST_COMPARISONS:
        raise InvalidStateError(
            f"{field.name} must be a list of at most {MOST_COMPARISONS} answers"
        )
    return tuple(_comparison(entry, field) for entry in value)


def _comparison(value: object, field: Field) -> Comparison:
    if not isinstance(value, dict) or set(value) != _COMPARED:
        raise InvalidStateError(
            f"each of {field.name} must be an object of {', '.join(sorted(_COMPARED))}"
        )
    new, other = value["new"], value["other"]
    if not isinstance(new, str) or not isinstance(other, str) or new == other:
        raise InvalidStateError(f"each of {field.name} must name two solutions")
    for key, words in (("verdict", get_args(Verdict)), ("side", get_args(Side))):
        if value[key] not in words:
            raise InvalidStateError(f"{key} of {field.name} must be one of {', '.join(words)}")
    seconds = seconds_of(value["seconds"])
    if seconds is None:
        raise InvalidStateError(f"seconds of {field.name} must be a number from 0")
    return Comparison(new, other, value["verdict"], value["side"], seconds)


_COMPARED = {field.name for field in dataclasses.fields(Comparison)}


def seconds_of(value: object) -> float | None:
    """Give a number of seconds that was sent or stored; None where it is none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


_READERS: dict[str, Callable[[object, Field], Any]] = {
    "groups": _groups,
    "solutions": _solutions,
    "texts": _texts,
    "choices": _texts,
    "text": _text,
    "choice": _text,
    "comparisons": _comparisons,
    "answers": _answers,
    "answer texts": _answers,
}


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
