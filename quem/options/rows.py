"""Lists of options: from what files say to arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, StudyWarning
from quem.io.columns import column_of
from quem.io.numbers import finite_number
from quem.io.records import is_json, read_records, text_of
from quem.io.tables import MOST_NAMED, SourceTable, read_table, repeats, stack
from quem.io.text import shown
from quem.options.key import unknown_keys
from quem.options.lists import Answers
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.options.key import AnswerKey

    Integers = NDArray[np.int64]

_FIELDS = {
    "question": ("question",),
    "system": ("system",),
    "option": ("option",),
    "position": ("position",),
    "confidence": ("confidence", "score"),
}

_KEYS = ("question", "system", "options")


def read_rows(path: Path, name: str) -> SourceTable[object]:
    """Read lists: CSV with one line per option, or JSON or JSON Lines with one record per list."""
    if is_json(path):
        return _rows_of_json(path, name)
    required = ("question", "option")
    table = read_table(path, name, what="table of lists", fields=_FIELDS, required=required)
    return table.without_blank_rows()


def _rows_of_json(path: Path, name: str) -> SourceTable[object]:
    example = '{"question": "Q1", "options": ["a", "b"]}'
    records = read_records(path, name, what="lists", example=example, key="question")
    questions: list[object] = []
    systems: list[object] = []
    options: list[str] = []
    confidences: list[float | None] = []
    lines: list[int] = []
    mistakes: list[Mistake] = []
    first: dict[tuple[object, object], int] = {}
    for line, record in zip(records.lines(), records.entries, strict=True):
        pairs, wrong = _options(record)
        question, system = text_of(record.get("question")), text_of(record.get("system", "-"))
        if question is None:
            wrong.append(("question", "must be the id of a question"))
        if system is None:
            wrong.append(("system", "must be the id of a system"))
        wrong += unknown_keys(record, _KEYS)
        if not wrong and (of := first.setdefault((question, system), line)) != line:
            wrong.append(("question", f"duplicate: this list is also on line {of}; keep one"))
        mistakes += [Mistake(name, line, key=key, message=message) for key, message in wrong]
        pairs = pairs or [("", None)]
        options += [option for option, _ in pairs]
        confidences += [confidence for _, confidence in pairs]
        questions += [question] * len(pairs)
        systems += [system] * len(pairs)
        lines += [line] * len(pairs)
    cells: dict[str, list[Any]] = {"question": questions, "option": options}
    cells |= {"confidence": confidences}
    if any("system" in record for record in records.entries):
        cells["system"] = systems
    return SourceTable(
        name,
        {key: column_of(column) for key, column in cells.items()},
        lambda row, key: Mistake(name, lines[row], key=key),
        mistakes=tuple(mistakes[:MOST_NAMED]),
    )


def _options(
    record: dict[str, object],
) -> tuple[list[tuple[str, float | None]], list[tuple[str, str]]]:
    """The options of one list with their confidences; and the key and fault of what is wrong."""
    entries = record.get("options")
    if not isinstance(entries, list):
        return [], [("options", "must be a list of options, empty where there are none")]
    options = []
    for number, entry in enumerate(entries, 1):
        option = _option(entry)
        if isinstance(option, str):
            return [], [(f"options[{number}]", option)]
        options.append(option)
    return options, []


def _option(entry: object) -> tuple[str, float | None] | str:
    """An option with its confidence, None where it has none; or what is wrong with it."""
    confidence: object = None
    if isinstance(entry, dict):
        unknown = entry.keys() - {"option", "confidence", "score"}
        if unknown or "option" not in entry or {"confidence", "score"} <= entry.keys():
            return "must be an option or {option: ..., confidence: ...}"
        confidence = entry.get("confidence", entry.get("score"))
        entry = entry["option"]
    option = text_of(entry)
    if option is None:
        return "must be the text of an option, or a whole number"
    number = None if isinstance(confidence, str) else finite_number(confidence)
    if confidence is not None and number is None:
        return f"the confidence must be a finite number, not {str(confidence)[:60]}"
    return option, number


# Who answered, where neither the study nor its files name a system.
_UNNAMED = "system"


@dataclass(frozen=True)
class _Rows:
    """The rows of all files; those that hold a mistake are left out."""

    table: SourceTable[object]
    files: tuple[str, ...]  # the name of each file
    systems: tuple[str, ...]
    key: AnswerKey
    # Of shape (n,): which file each row is in, and the list it belongs to
    file: Integers
    list: Integers
    # Of shape (n,): NaN where there is none
    position: NDArray[np.float64]
    confidence: NDArray[np.float64]

    @property
    def option(self) -> NDArray[np.integer]:
        """The code of each row's option."""
        return self.table.columns["option"].codes

    @property
    def texts(self) -> Sequence[object]:
        """The options that the codes stand for."""
        return self.table.columns["option"].values

    def name(self, place: int) -> str:
        """Name a list: the question, and the system where there are several."""
        system, question = divmod(place, len(self.key.ids))
        of = f" of {shown(self.systems[system])}" if len(self.systems) > 1 else ""
        return f"the list{of} for {shown(self.key.ids[question])}"

    def mistake(self, row: int, field: str, message: str) -> Mistake:
        """Describe what is wrong with one row, of whose list the message speaks as {list}."""
        named = message.replace("{list}", self.name(int(self.list[row])))
        return self.table.mistake(row, field, named)


def _encode(
    tables: Sequence[tuple[SourceTable[object], str]],
    key: AnswerKey,
    declared: Sequence[str],
    mistakes: list[Mistake],
) -> _Rows:
    systems = _systems(tables, declared)
    own = []
    for table, owner in tables:
        if owner or "system" not in table.columns:
            _refuse_foreign(table, owner, mistakes)
            if not owner and len(systems) > 1:
                message = (
                    "has no column system, and the study has several; add the column, or name "
                    "the file under its system"
                )
                mistakes.append(Mistake(table.name, message=message))
            column = column_of([owner or systems[0]] * len(table))
            own.append(replace(table, columns={**table.columns, "system": column}))
        else:
            own.append(table)
    all_rows = stack(own)
    mistakes += all_rows.mistakes
    position = all_rows.numbers("position", mistakes, such="1")
    confidence = all_rows.numbers("confidence", mistakes, such="0.8")
    complete = ~all_rows.lacking(("question", "system"), mistakes)
    rows = np.flatnonzero(complete)
    table = all_rows.only(rows)
    ids = {name: code for code, name in enumerate(key.ids)}
    question = table.codes("question", ids, mistakes, "the questions of the study")
    ids = {name: code for code, name in enumerate(systems)}
    system = table.codes("system", ids, mistakes, "the systems of the study")
    known = np.flatnonzero((question >= 0) & (system >= 0))
    file = np.repeat(np.arange(len(own)), [len(table) for table in own])
    return _Rows(
        table.only(known),
        tuple(table.name for table in own),
        systems,
        key,
        file[rows][known],
        (system * len(key.ids) + question)[known],
        position[rows][known],
        confidence[rows][known],
    )


def _refuse_foreign(table: SourceTable[object], owner: str, mistakes: list[Mistake]) -> None:
    """A file of one system may name it, and no other."""
    column = table.column("system")
    foreign = [cell not in ("", None, owner) for cell in column.values]
    if rows := np.flatnonzero(column.lookup(foreign, np.bool_))[:1].tolist():
        message = (
            f"this is a file of the system {shown(owner)}, and names "
            f"{shown(str(column.cell(rows[0])))}; name a file of several systems under `lists`"
        )
        mistakes.append(table.mistake(rows[0], "system", message))


def _systems(
    tables: Iterable[tuple[SourceTable[object], str]], declared: Sequence[str]
) -> tuple[str, ...]:
    """The systems of the study, or those that the files name."""
    if declared:
        return tuple(declared)
    columns = [table.column("system") for table, _ in tables]
    names = dict.fromkeys(str(column.values[code]) for column in columns for code in column.used())
    names.pop("", None)
    return tuple(names) or (_UNNAMED,)


def _contradictions(rows: _Rows) -> Iterator[Mistake]:
    """Lists in two files, blank and repeated options, and positions that number nothing."""
    yield from _in_two_files(rows)
    blank = np.flatnonzero(rows.option == _code(rows, ""))
    sizes = np.bincount(rows.list)
    # A row without an option stands for an empty list, and alone.
    for row in blank[sizes[rows.list[blank]] > 1][:MOST_NAMED].tolist():
        message = "is empty, and {list} has other lines; add the option, or remove the line"
        yield rows.mistake(row, "option", message)
    for row, _ in repeats(rows.list * len(rows.texts) + rows.option)[0]:
        text = shown(str(rows.texts[int(rows.option[row])]))
        yield rows.mistake(row, "option", f"duplicate: {text} is twice in {{list}}; keep one")
    yield from _positions(rows)


def _code(rows: _Rows, text: str) -> int:
    return rows.texts.index(text) if text in rows.texts else -1


def _in_two_files(rows: _Rows) -> Iterator[Mistake]:
    """A list is in one file."""
    if len(rows.files) == 1:
        return
    first = np.full(rows.list.max(initial=-1) + 1, len(rows.files))
    np.minimum.at(first, rows.list, rows.file)
    later = np.flatnonzero(rows.file > first[rows.list])
    _, at = np.unique(rows.list[later], return_index=True)
    for row in later[np.sort(at)][:MOST_NAMED].tolist():
        other = rows.files[int(first[rows.list[row]])]
        yield rows.mistake(row, "question", f"duplicate: {{list}} is also in {other}; keep one")


def _positions(rows: _Rows) -> Iterator[Mistake]:
    """Positions are whole numbers from 1, each once in a list, and given for all or none."""
    known = ~np.isnan(rows.position)
    if not known.any():
        return
    with np.errstate(invalid="ignore"):
        wrong = known & ((rows.position < 1) | (rows.position != np.floor(rows.position)))
    for row in np.flatnonzero(wrong)[:MOST_NAMED].tolist():
        message = f"{rows.position[row]:g} is not a whole number from 1"
        yield rows.mistake(row, "position", message)
    some = np.bincount(rows.list, weights=known)[rows.list] > 0
    for row in np.flatnonzero(~known & some)[:MOST_NAMED].tolist():
        yield rows.mistake(row, "position", "is empty, and {list} has positions; add it")
    order = np.lexsort((rows.position, rows.list))
    same = np.flatnonzero((np.diff(rows.list[order]) == 0) & (np.diff(rows.position[order]) == 0))
    for row in order[same + 1][:MOST_NAMED].tolist():
        message = f"duplicate: {rows.position[row]:g} is twice in {{list}}; number its options 1, 2"
        yield rows.mistake(row, "position", message)


@dataclass(frozen=True)
class Assembled:
    """The lists of all systems."""

    systems: tuple[str, ...]
    answers: tuple[Answers, ...]
    warnings: tuple[StudyWarning, ...]


def assemble(
    tables: Sequence[tuple[SourceTable[object], str]], key: AnswerKey, declared: Sequence[str]
) -> tuple[Assembled, list[Mistake]]:
    """Put the rows of all files together."""
    mistakes: list[Mistake] = []
    rows = _encode(tables, key, declared, mistakes)
    if not mistakes:
        mistakes += _contradictions(rows)
    order, warnings = _order(rows)
    # The rows of empty lists hold no option.
    order = order[rows.option[order] != _code(rows, "")]
    answered = np.zeros(len(rows.systems) * len(key.ids), dtype=bool)
    answered[rows.list] = True
    n, lists, confidence = len(key.ids), rows.list[order], rows.confidence[order]
    codes = {str(text): code for code, text in enumerate(rows.texts)}
    correct = key.among(codes, lists % max(n, 1), rows.option[order])
    ends = np.searchsorted(lists, np.arange(len(rows.systems) + 1) * n)
    answers = tuple(
        Answers(
            answered[at * n : (at + 1) * n],
            lists[start:end] - at * n,
            correct[start:end],
            confidence[start:end],
            key.n_correct,
        )
        for at, (start, end) in enumerate(pairwise(ends.tolist()))
    )
    warnings += rows.table.warnings
    warnings += _nearly_right(rows, key, lists[correct])
    return Assembled(rows.systems, answers, tuple(warnings)), mistakes


def _order(rows: _Rows) -> tuple[Integers, list[StudyWarning]]:
    """Best first: by position, else by confidence, else in the order of the rows."""
    n = len(rows.list)
    by_position = ~np.isnan(rows.position)
    unsure = np.bincount(rows.list, weights=np.isnan(rows.confidence))[rows.list] > 0
    rank = np.where(by_position, rows.position, np.where(unsure, 0, -rows.confidence))
    order = np.lexsort((np.arange(n), rank, rows.list))
    warnings = []
    starts = np.flatnonzero(np.diff(rows.list[order], prepend=-1))
    sizes = np.diff(starts, append=n)
    gaps = by_position[order][starts] & (
        np.maximum.reduceat(np.nan_to_num(rows.position[order]), starts) > sizes
        if n
        else np.zeros(0, dtype=bool)
    )
    if gaps.any():
        examples = join_words((rows.name(int(i)) for i in rows.list[order][starts][gaps]), 3)
        message = (
            f"{int(gaps.sum()):,} of {len(starts):,} lists skip positions, as if options were "
            f"lost: {examples}; only the order is used"
        )
        warnings.append(StudyWarning("gap-in-positions", message))
    return order, warnings


def _nearly_right(rows: _Rows, key: AnswerKey, with_one: Integers) -> Iterator[StudyWarning]:
    """Lists without the correct option that have one which is written nearly the same."""
    folded = column_of(_folded(str(text)) for text in rows.texts)
    question = rows.list % max(len(key.ids), 1)
    written = replace(key, correct=tuple(tuple(map(_folded, texts)) for texts in key.correct))
    codes = {text: code for code, text in enumerate(folded.values)}
    near = written.among(codes, question, folded.codes[rows.option])
    close = np.flatnonzero(near & ~np.isin(rows.list, with_one))
    if len(close):
        row = int(close[0])
        text = str(rows.texts[int(rows.option[row])])
        right = next(
            one for one in key.correct[int(question[row])] if _folded(one) == _folded(text)
        )
        lists = len(np.unique(rows.list[close]))
        message = (
            f"{lists:,} list{'' if lists == 1 else 's'} without a correct option "
            f"ha{'s' if lists == 1 else 've'} one that differs from it only in upper and lower "
            f"case or blanks, and counts as wrong: {shown(text)} for {shown(right)}"
        )
        yield StudyWarning("nearly-correct", message)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
