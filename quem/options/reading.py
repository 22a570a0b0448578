"""Questions with their correct options, and option lists, from files or memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, ValidationError

from quem.errors import Mistake, QuemError, StudyWarning, refuse
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
    from numpy.typing import NDArray


Row = tuple[Any, ...]
Form: TypeAlias = "type[Answered | Listed]"  # the record of some rows of a table
Nested: TypeAlias = "Mapping[Any, Any] | pd.Series[Any]"
RECORD = "record"  # column that groups rows into records


def _name(value: object) -> str:
    """A name, which may be a number in JSON and Python."""
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
    """The options of a list with their confidences, best first; None where missing."""
    if isinstance(given, list) and any(isinstance(entry, dict) for entry in given):
        given = [_with_confidence(entry) for entry in given]
    try:
        items, scored = read_items(given, best_first=True)
    except QuemError as error:
        raise ValueError(str(error)) from None
    options = {_name(option): plain(value) if scored else None for option, value in items.items()}
    if "" in options or len(options) < len(items):
        raise ValueError("each option must be a text that is there once")
    return options


Name = Annotated[str, BeforeValidator(_name), Field(min_length=1)]


class Answered(StudyPart):
    """A question with its correct options."""

    what: ClassVar = "questions"
    fields: ClassVar = {"question": ("question",), "correct": ("correct",)}
    required: ClassVar = ("question", "correct")
    example: ClassVar = '{"question": "Q1", "correct": "a"}'
    wanted: ClassVar = "question to correct option"

    question: Name
    correct: Annotated[tuple[Name, ...], AfterValidator(some_correct), OneOrMore]

    def rows(self) -> Iterator[Row]:
        """One row per correct option."""
        for option in self.correct:
            yield self.question, option

    @classmethod
    def nested(cls, given: Nested) -> Iterator[tuple[str, object]]:
        """One record per question; a set has no order."""
        for question, of in given.items():
            correct = sorted(map(str, of)) if isinstance(of, set | frozenset) else of
            yield f"question {question!r}", {"question": question, "correct": correct}


class Listed(StudyPart):
    """A list of options."""

    what: ClassVar = "lists"
    fields: ClassVar = {
        **{name: (name,) for name in ("question", "system", "option", "position")},
        "confidence": ("confidence", "score"),
    }
    required: ClassVar = ("question", "option")
    example: ClassVar = '{"question": "Q1", "options": ["a", "b"]}'
    wanted: ClassVar = "system to question to list"

    question: Name
    system: Name = ""
    options: Annotated[dict[str, FiniteFloat | None], BeforeValidator(_options)]

    def rows(self) -> Iterator[Row]:
        """One row per option; an empty list has one row without an option."""
        for option, confidence in (self.options or {"": None}).items():
            yield self.question, self.system, option, None, confidence

    @classmethod
    def nested(cls, given: Nested) -> Iterator[tuple[str, object]]:
        """One record per list."""
        for system, lists in given.items():
            if not isinstance(lists, Mapping):
                message = f"should be a dict of question to list, and not {type(lists).__name__}"
                raise QuemError(Mistake(cls.what, key=f"system {system!r}", message=message))
            for question, options in lists.items():
                record = {"question": question, "system": system, "options": options}
                yield f"question {question!r}, system {system!r}", record


def read(given: object, name: str, form: Form) -> SourceTable[Any]:
    """Rows from a file, a DataFrame, or a dict."""
    if isinstance(given, pd.DataFrame):
        return named_columns(whole_table(given, name), form.fields, form.required)
    if isinstance(given, Path) and not is_json(given):
        what = f"table of {form.what}"
        table = read_table(given, name, what=what, fields=form.fields, required=form.required)
        return table.without_blank_rows()
    records: Iterable[tuple[Mistake, object]]
    if isinstance(given, Path):
        read = read_records(given, name, what=form.what, example=form.example, key="question")
        places = (Mistake(name, line) for line in read.lines)
        records = zip(places, read.entries, strict=True)
    elif isinstance(given, Mapping | pd.Series):
        records = ((Mistake(name, key=key), record) for key, record in form.nested(given))
    else:
        kind = type(given).__name__
        message = f"should be a DataFrame, or a dict of {form.wanted}, and not {kind}"
        raise QuemError(Mistake(name, message=message))
    rows: list[tuple[Mistake, Row]] = []
    mistakes: list[Mistake] = []
    for number, (place, record) in enumerate(records):
        try:
            of_record = form.model_validate(record)
        except ValidationError as error:
            wrong = complaints(error, form, record)
            mistakes += [_at(place, dotted(loc), message) for loc, message, _ in wrong]
        else:
            rows += [(place, (*row, number)) for row in of_record.rows()]
    refuse(mistakes[:MOST_NAMED])
    return table_of(rows, name, (*form.fields, RECORD))


def _at(place: Mistake, key: str, message: str = "") -> Mistake:
    return replace(place, key=", ".join(filter(None, (place.key, key))), message=message)


def table_of(
    rows: Sequence[tuple[Mistake, Row]], name: str, columns: Iterable[str]
) -> SourceTable[Any]:
    """A table of rows with their locations, without empty columns."""
    cells = {key: [row[at] for _, row in rows] for at, key in enumerate(columns)}
    return SourceTable(
        name,
        {
            key: column_of(column)
            for at, (key, column) in enumerate(cells.items())
            if at == 0 or any(cell not in ("", None) for cell in column)
        },
        lambda row, key: _at(rows[row][0], key),
    )


@dataclass(frozen=True)
class AnswerKey:
    """The questions in order, with their correct options."""

    ids: tuple[str, ...]
    correct: tuple[tuple[str, ...], ...]  # correct options of each question
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def n_correct(self) -> NDArray[np.int64]:
        """The number of correct options of each question, shape (q,)."""
        return np.fromiter(map(len, self.correct), dtype=np.int64, count=len(self.correct))


def answer_key(table: SourceTable[Any]) -> AnswerKey:
    """The questions of a table with one row per correct option."""
    mistakes: list[Mistake] = []
    if not len(table):
        message = "there is no question; add questions, each with its correct option"
        mistakes.append(Mistake(table.name, message=message))
    table.lacking(("question", "correct"), mistakes)
    rows = pd.DataFrame({field: table.column(field).cells() for field in ("question", "correct")})
    for row in np.flatnonzero(rows.duplicated())[:MOST_NAMED].tolist():
        question, option = map(shown, rows.iloc[row])
        first = table.place(int((rows == rows.iloc[row]).all(axis=1).argmax()), "question")
        line = f"on line {first.line}" if first.line else "there"
        message = (
            f"duplicate: the question {question} with the correct option {option} is already "
            f"{line}; keep one"
        )
        mistakes.append(table.mistake(row, "question", message))
    refuse(mistakes)
    correct = rows.groupby("question", sort=False)["correct"].agg(tuple)
    return AnswerKey(tuple(correct.index), tuple(correct), table.warnings)
