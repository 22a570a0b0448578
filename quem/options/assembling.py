"""The lists of all systems, from rows of several tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from quem.errors import Mistake, StudyWarning, refuse
from quem.io.columns import column_of
from quem.io.tables import MOST_NAMED, SourceTable, stack
from quem.io.text import shown
from quem.options.lists import Answers
from quem.options.reading import RECORD, AnswerKey
from quem.wording import format_count, join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


# Default system where neither the study nor its files name one.
_UNNAMED = "system"
_LIST = ["system", "question"]


class Assembled(NamedTuple):
    """The lists of all systems."""

    systems: tuple[str, ...]
    answers: tuple[Answers, ...]
    warnings: tuple[StudyWarning, ...]


def assemble(
    tables: Sequence[tuple[SourceTable[Any], str]], key: AnswerKey, declared: Sequence[str] = ()
) -> Assembled:
    """Combine rows of tables, each with its only system if it has one."""
    mistakes: list[Mistake] = []
    systems = tuple(declared) or _systems(table for table, _ in tables)
    whole = stack([_owned(*one, systems, mistakes) for one in tables])
    of_table = np.repeat(np.arange(len(tables)), [len(table) for table, _ in tables])
    records = whole.column(RECORD)
    parts = of_table * len(records.values) + records.codes
    present = np.flatnonzero(~whole.lacking(("question", "system"), mistakes))
    whole = whole.only(present)
    # Options as codes of their texts.
    column = whole.column("option")
    coded = column_of(map(str, column.values))
    texts = coded.values
    frame = pd.DataFrame({"option": coded.codes[column.codes], "part": parts[present]})
    frame["blank"] = np.array([not text for text in texts], dtype=bool)[frame["option"]]
    for field, ids in (("question", key.ids), ("system", systems)):
        codes = {one: at for at, one in enumerate(ids)}
        frame[field] = whole.codes(field, codes, mistakes, f"the {field}s of the study")
    for field, such in (("position", "1"), ("confidence", "0.8")):
        frame[field] = whole.numbers(field, mistakes, such=such)

    def name(system: int, question: int) -> str:
        of = f" of {shown(systems[system])}" if len(systems) > 1 else ""
        return f"the list{of} for {shown(key.ids[question])}"

    mistakes = mistakes or list(_contradictions(whole, frame, name))
    refuse(mistakes)
    codes = {text: code for code, text in enumerate(texts)}
    right = [
        at * len(texts) + codes[text]
        for at, correct in enumerate(key.correct)
        for text in correct
        if text in codes
    ]
    frame["correct"] = np.isin(frame["question"] * len(texts) + frame["option"], right)
    warnings = (*whole.warnings, *_gaps(frame, name), *_nearly_correct(frame, texts, key))
    frame = frame.iloc[np.lexsort((_rank(frame), frame["question"]))]
    answers = (_answers(frame[frame["system"] == at], key) for at in range(len(systems)))
    return Assembled(systems, tuple(answers), warnings)


def _systems(tables: Iterable[SourceTable[Any]]) -> tuple[str, ...]:
    """The systems in the tables."""
    columns = [table.column("system") for table in tables]
    names = dict.fromkeys(str(column.values[code]) for column in columns for code in column.used())
    names.pop("", None)
    return tuple(names) or (_UNNAMED,)


def _owned(
    table: SourceTable[Any], owner: str, systems: tuple[str, ...], mistakes: list[Mistake]
) -> SourceTable[Any]:
    """The table with a column system; in a file of one system, it may name only that one."""
    if "system" in table.columns:
        if not owner:
            return table
        foreign = [cell not in ("", None, owner) for cell in table.columns["system"].values]
        table.refuse(
            "system",
            np.flatnonzero(table.columns["system"].lookup(foreign, np.bool_)),
            lambda cell: (
                f"this is a file of the system {shown(owner)}, and names "
                f"{shown(str(cell))}; name a file of several systems under `lists`"
            ),
            mistakes,
        )
    elif not owner and len(systems) > 1:
        message = (
            "has no column system, and the study has several; add the column, or name the file "
            "under its system"
        )
        mistakes.append(Mistake(table.name, message=message))
    column = column_of([owner or systems[0]] * len(table))
    return replace(table, columns={**table.columns, "system": column})


def _contradictions(
    whole: SourceTable[Any], frame: pd.DataFrame, name: Callable[[int, int], str]
) -> Iterator[Mistake]:
    """Errors: lists in two places, blank or repeated options, and invalid positions."""
    lists, position, blank = frame.groupby(_LIST), frame["position"], frame["blank"]
    size, numbered = lists["part"].transform("size"), lists["position"].transform("count")
    again = frame["part"] != lists["part"].transform("first")
    first = lists["part"].transform("idxmin")
    for field, wrong, message in (
        (
            "question",
            again & ~frame.duplicated([*_LIST, "part"]),
            "duplicate: {list} is also in {first}; keep one",
        ),
        (
            "option",
            blank & (size > 1),
            "is empty, and {list} has other lines; add the option, or remove the line",
        ),
        (
            "option",
            ~blank & ~again & frame.duplicated([*_LIST, "option"]),
            "duplicate: {cell} is twice in {list}; keep one",
        ),
        ("position", (position < 1) | (position % 1 > 0), "{cell} is not a whole number from 1"),
        (
            "position",
            position.isna() & (numbered > 0),
            "is empty, and {list} has positions; add it",
        ),
        (
            "position",
            position.notna() & frame.duplicated([*_LIST, "position"]),
            "duplicate: {cell} is twice in {list}; number its options 1, 2",
        ),
    ):
        for row in np.flatnonzero(wrong)[:MOST_NAMED].tolist():
            text = message.format(
                list=name(*frame[_LIST].iloc[row]),
                cell=shown(str(whole.column(field).cell(row))),
                first=replace(whole.place(int(first[row]), ""), column=0),
            )
            yield whole.mistake(row, field, text)


def _rank(frame: pd.DataFrame) -> pd.Series[float]:
    """Best first: by position, else by confidence if all have one, else in file order."""
    lists = frame.groupby(_LIST)
    sure = lists["confidence"].transform("count") == lists["option"].transform("size")
    return frame["position"].fillna((-frame["confidence"]).where(sure, 0))


def _gaps(frame: pd.DataFrame, name: Callable[[int, int], str]) -> Iterator[StudyWarning]:
    """Lists that skip positions."""
    lists = frame.groupby(_LIST)["position"]
    gaps = lists.max() > lists.size()
    if gaps.any():
        examples = join_words((name(*at) for at in gaps[gaps].index), 3)
        message = (
            f"{gaps.sum():,} of {len(gaps):,} lists skip positions, as if options were lost: "
            f"{examples}; only the order is used"
        )
        yield StudyWarning("gap-in-positions", message)


def _nearly_correct(
    frame: pd.DataFrame, texts: Sequence[str], key: AnswerKey
) -> Iterator[StudyWarning]:
    """Lists without the correct option that have one with nearly the same spelling."""
    folded = [_folded(text) for text in texts]
    right = {(at, _folded(one)): one for at, correct in enumerate(key.correct) for one in correct}
    wrong = frame[~frame.groupby(_LIST)["correct"].transform("any")]
    pairs = zip(wrong["question"].tolist(), wrong["option"].tolist(), strict=True)
    close = wrong[[(at, folded[option]) in right for at, option in pairs]]
    if len(close):
        question, option = close[["question", "option"]].iloc[0].tolist()
        lists = close.groupby(_LIST).ngroups
        message = (
            f"{format_count(lists, 'list')} without a correct option "
            f"ha{'s' if lists == 1 else 've'} one that differs from it only in upper and lower "
            f"case or blanks, and counts as wrong: {shown(texts[option])} for "
            f"{shown(right[question, folded[option]])}"
        )
        yield StudyWarning("nearly-correct", message)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _answers(rows: pd.DataFrame, key: AnswerKey) -> Answers:
    """The lists of a system; a row without an option is an empty list."""
    answered = np.zeros(len(key.ids), dtype=bool)
    answered[rows["question"]] = True
    rows = rows[~rows["blank"]]
    return Answers(
        answered,
        key.n_correct,
        rows["question"].to_numpy(),
        rows["correct"].to_numpy(),
        rows["confidence"].to_numpy(),
    )
