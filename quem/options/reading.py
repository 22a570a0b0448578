"""Questions with their correct options, and lists of options, out of files and of memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, ValidationError

from quem.errors import Mistake, QuemError
from quem.io.columns import column_of
from quem.io.memory import id_text, plain, whole_table
from quem.io.records import is_json, read_records
from quem.io.tables import MOST_NAMED, SourceTable, named_columns, read_table
from quem.io.text import shown
from quem.lists.registry import read_items
from quem.studyfile.document import dotted
from quem.studyfile.fields import OneOrMore, StudyPart
from quem.studyfile.options import some_correct
from quem.studyfile.schema import complaints

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quem.errors import StudyWarning

FIELDS = {
    **{name: (name,) for name in ("question", "system", "option", "position")},
    "confidence": ("confidence", "score"),
}
_CORRECT = ("question", "correct")

Record = TypeVar("Record", bound=StudyPart)


def _name(value: object) -> str:
    """A name, which JSON and Python may have as a number."""
    try:
        return id_text(value)
    except QuemError as error:
        raise ValueError(str(error)) from None


def _with_confidence(entry: object) -> object:
    if not isinstance(entry, dict):
        return entry, None
    known = {"option", "confidence", "score"}
    if "option" not in entry or entry.keys() - known or len(entry) == len(known):
        raise ValueError("an option must be a text, or {option: ..., confidence: ...}")
    return entry["option"], entry.get("confidence", entry.get("score"))


def _options(given: Any) -> dict[str, object]:  # noqa: ANN401  as it comes
    """The options of a list with their confidences, best first; None where there is none."""
    if isinstance(given, list) and any(isinstance(entry, dict) for entry in given):
        given = [_with_confidence(entry) for entry in given]
    try:
        items, scored = read_items(given, best_first=True)
    except QuemError as error:
        raise ValueError(str(error)) from None
    options = {_name(option): plain(value) if scored else None for option, value in items.items()}
    if "" in options or len(options) < len(items):
        raise ValueError("each option must be a text of its own")
    return options


Name = Annotated[str, BeforeValidator(_name), Field(min_length=1)]


class _Answered(StudyPart):
    """A question with its correct options."""

    question: Name
    correct: Annotated[tuple[Name, ...], AfterValidator(some_correct), OneOrMore]


class _Listed(StudyPart):
    """A list of options."""

    question: Name
    system: Name = ""
    options: Annotated[dict[str, FiniteFloat | None], BeforeValidator(_options)]


def _checked(
    model: type[Record], records: Iterable[tuple[Mistake, object]]
) -> list[tuple[Mistake, Record]]:
    """Records with their places."""
    read: list[tuple[Mistake, Record]] = []
    mistakes: list[Mistake] = []
    for place, record in records:
        try:
            read.append((place, model.model_validate(record)))
        except ValidationError as error:
            mistakes += [
                _at(place, dotted(loc), message)
                for loc, message, _ in complaints(error, model, record)
            ]
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    return read


def _at(place: Mistake, key: str, message: str) -> Mistake:
    return replace(place, key=", ".join(filter(None, (place.key, key))), message=message)


def _records(path: Path, name: str, what: str, example: str) -> Iterable[tuple[Mistake, object]]:
    records = read_records(path, name, what=what, example=example, key="question")
    places = (Mistake(name, line) for line in records.lines())
    return zip(places, records.entries, strict=True)


def _of_kind(given: object, name: str, wanted: str) -> QuemError:
    message = f"should be a DataFrame, or a dict of {wanted}, and not {type(given).__name__}"
    return QuemError(Mistake(name, message=message))


def read_lists(given: object, name: str) -> SourceTable[Any]:
    """Lists with a row an option: a file, a DataFrame, or a dict of system to question to list."""
    required = ("question", "option")
    if isinstance(given, pd.DataFrame):
        return named_columns(whole_table(given, name), FIELDS, required)
    if isinstance(given, Path) and not is_json(given):
        table = read_table(given, name, what="table of lists", fields=FIELDS, required=required)
        return table.without_blank_rows()
    if isinstance(given, Path):
        records = _records(given, name, "lists", '{"question": "Q1", "options": ["a", "b"]}')
    elif isinstance(given, Mapping):
        records = _nested(given, name)
    else:
        raise _of_kind(given, name, "system to question to list")
    return _of_lists(_checked(_Listed, records), name)


def _nested(given: Mapping[Any, Any], name: str) -> Iterable[tuple[Mistake, object]]:
    for system, lists in given.items():
        if not isinstance(lists, Mapping):
            raise _of_kind(lists, f"{name}: system {system!r}", "question to list")
        for question, options in lists.items():
            place = Mistake(name, key=f"question {question!r}, system {system!r}")
            yield place, {"question": question, "system": system, "options": options}


def _of_lists(records: Sequence[tuple[Mistake, _Listed]], name: str) -> SourceTable[Any]:
    """A row for each option; for an empty list one without an option."""
    first: dict[tuple[str, str], Mistake] = {}
    for place, one in records:
        if (known := first.setdefault((one.question, one.system), place)) is not place:
            also = f"on line {known.line}" if known.line else f"that of {known.key}"
            raise QuemError(_at(place, "", f"duplicate: this list is also {also}; keep one"))
    rows = [
        (place, one.question, one.system, option, confidence)
        for place, one in records
        for option, confidence in (one.options or {"": None}).items()
    ]
    places, questions, systems, options, confidences = zip(*rows, strict=True) if rows else [()] * 5
    columns: dict[str, Sequence[Any]] = {
        "question": questions,
        "option": options,
        "confidence": confidences,
        **({"system": systems} if any(systems) else {}),
    }
    coded = {key: column_of(column) for key, column in columns.items()}
    return SourceTable(name, coded, lambda row, key: _at(places[row], key, ""))


@dataclass(frozen=True)
class AnswerKey:
    """The questions, in their order."""

    ids: tuple[str, ...]
    correct: tuple[tuple[str, ...], ...]  # of each question its right options
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def n_correct(self) -> NDArray[np.int64]:
        """How many right options each question has, shape (q,)."""
        return np.fromiter(map(len, self.correct), dtype=np.int64, count=len(self.correct))


def read_key(given: object, name: str) -> AnswerKey:
    """Questions: a file, a DataFrame, or a dict of question to its correct option, or options."""
    table = None
    if isinstance(given, pd.DataFrame):
        table = named_columns(whole_table(given, name), _CORRECT, _CORRECT)
    elif isinstance(given, Path) and not is_json(given):
        table = read_table(
            given, name, what="table of questions", fields=_CORRECT, required=_CORRECT
        ).without_blank_rows()
    elif isinstance(given, Path):
        records = _records(given, name, "questions", '{"question": "Q1", "correct": "a"}')
    elif hasattr(given, "items"):
        records = (
            (
                Mistake(name, key=f"question {question!r}"),
                {"question": question, "correct": _plain(correct)},
            )
            for question, correct in given.items()
        )
    else:
        raise _of_kind(given, name, "question to option")
    if table is None:
        read = _checked(_Answered, records)
        return key_of(
            [(at, one.question, text) for at, one in read for text in one.correct], Mistake(name)
        )
    mistakes: list[Mistake] = []
    table.lacking(_CORRECT, mistakes)
    if mistakes:
        raise QuemError(mistakes)
    cells = zip(*(table.column(field).cells() for field in _CORRECT), strict=True)
    entries = [(table.place(row, "question"), *pair) for row, pair in enumerate(cells)]
    return replace(key_of(entries, Mistake(name)), warnings=table.warnings)


def _plain(correct: object) -> object:
    """Options as they are in a file; a set has no order."""
    if isinstance(correct, set | frozenset):
        return sorted(map(str, correct))
    return correct if isinstance(correct, list | tuple) else plain(correct)


def key_of(entries: Sequence[tuple[Mistake, str, str]], whole: Mistake) -> AnswerKey:
    """The questions of pairs of question and correct option, each with its place."""
    if not entries:
        message = "there is no question; add questions, each with its correct option"
        raise QuemError(replace(whole, message=message))
    first: dict[tuple[str, str], Mistake] = {}
    mistakes = []
    correct: dict[str, list[str]] = {}
    for place, question, option in entries:
        known = first.setdefault((question, option), place)
        correct.setdefault(question, []).append(option)
        if known is not place or len(correct[question]) > len({*correct[question]}):
            line = f" on line {known.line}" if known.line else ""
            message = (
                f"duplicate: the question {shown(question)} with the correct option "
                f"{shown(option)} is already{line or ' there'}; keep one"
            )
            mistakes.append(replace(place, message=message))
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    return AnswerKey(tuple(correct), tuple(map(tuple, correct.values())))
