"""The rows of one rankings file, from what its cells say to codes and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from quem.errors import Doubt, Mistake
from quem.rankings.delimited import Column, column_of
from quem.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["FIELDS", "MOST_OF_A_KIND", "Entries", "Part", "part_of"]

FIELDS = ("judge", "problem", "block", "occasion", "solver", "rank", "reason", "recognised")
Scalar = TypeVar("Scalar", bound=np.generic)
MOST_OF_A_KIND = 20
_MISSING = {"", "-", "–", "—", "na", "n/a", "nan", "null", "none", ".", "absent"}
_MARKED, _UNMARKED = {"1", "true", "yes", "x"}, {"", "0", "false", "no", "-"}
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_POSITION = re.compile(r"0*[1-9]\d{0,8}", re.ASCII)
# Sums of squares stay finite, and no rank that means one is larger.
_LARGEST_RANK = 1e9


@dataclass(frozen=True)
class Entries:
    """What one file says, before anything is known to be right.

    Parameters
    ----------
    name : str
        The file as the user named it.
    columns : dict of str to Column
        By the names in `FIELDS`; judge, problem, solver and rank at least.
    place : callable
        From row and field to line and column.
    doubts : tuple of Doubt
    mistakes : tuple of Mistake
        What is wrong with the file as a whole.
    titles : dict of str to str
        What the file calls a column, where it is not the name in `FIELDS`.
    """

    name: str
    columns: dict[str, Column]
    place: Callable[[int, str], tuple[int, int]]
    doubts: tuple[Doubt, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)

    def mistake(self, row: int, field_name: str, message: str) -> Mistake:
        """Describe what is wrong with one cell."""
        title = self.titles.get(field_name, field_name)
        return Mistake(self.name, *self.place(row, field_name), title, message)

    def more_lines(self, rows: NDArray[np.int64], field_name: str) -> str:
        """Say on how many lines besides the first the cells of these rows stand."""
        more = len({self.place(row, field_name)[0] for row in rows.tolist()}) - 1
        return f" (and on {more} more line{'' if more == 1 else 's'})" if more else ""


@dataclass
class Part:
    """The rows of one file that hold something, as codes and numbers."""

    entries: Entries
    row: Sequence[int] | NDArray[np.int64]
    judge: NDArray[np.int64]
    problem: NDArray[np.int64]
    solver: NDArray[np.int64]
    block: NDArray[np.int64]
    occasion: NDArray[np.int64]
    rank: NDArray[np.float64]
    failed: NDArray[np.bool_]
    recognised: NDArray[np.bool_]


def part_of(entries: Entries, known: dict[str, tuple[str, ...]], mistakes: list[Mistake]) -> Part:
    """Check the cells of one file, and leave out its empty rows.

    Parameters
    ----------
    entries : Entries
    known : dict of str to tuple of str
        The ids of the study, by judge, problem and solver.
    mistakes : list of Mistake
        What is wrong is added to it.
    """
    columns = entries.columns
    n_rows = len(columns["rank"].codes)
    blank = column_of([""])
    for name in FIELDS:
        if name not in columns:
            columns[name] = Column(np.broadcast_to(blank.codes[0], n_rows), blank.values)
    empty = np.ones(n_rows, dtype=bool)
    for column in columns.values():
        empty &= _lookup(column, [not value for value in column.values], dtype=np.bool_)
    mistakes += entries.mistakes
    if empty.all():
        message = "holds no ranks below the header; write a line a rank"
        mistakes.append(Mistake(entries.name, message=message))
    empty |= _incomplete(entries, empty, known, mistakes)
    row: Sequence[int] | NDArray[np.int64] = range(n_rows)
    if empty.any():
        row = kept = np.flatnonzero(~empty)
        columns = {name: Column(c.codes[kept], c.values) for name, c in columns.items()}
    inner = replace(entries, columns=columns, place=lambda r, f: entries.place(int(row[r]), f))

    ids = {name: _ids(inner, name, known[name], mistakes) for name in known}
    block, occasion = (_positions(inner, name, mistakes) for name in ("block", "occasion"))
    rank, failed = _ranks(inner, mistakes)
    recognised = _marks(inner, "recognised", mistakes)
    return Part(
        inner,
        row,
        **ids,
        block=block,
        occasion=occasion,
        rank=rank,
        failed=failed,
        recognised=recognised,
    )


def _incomplete(
    entries: Entries,
    empty: NDArray[np.bool_],
    known: dict[str, tuple[str, ...]],
    mistakes: list[Mistake],
) -> NDArray[np.bool_]:
    """The rows that lack an id; each set of lacking ids is a mistake, named once."""
    lacking = np.zeros(len(empty), dtype=np.int64)
    for bit, (name, ids) in enumerate(known.items()):
        column = entries.columns[name]
        blank = [not word and word not in ids for word in column.values]
        if any(blank):
            lacking |= _lookup(column, blank, np.bool_).astype(np.int64) << bit
    lacking[empty] = 0
    for pattern in np.unique(lacking[lacking > 0]).tolist():
        names = [name for bit, name in enumerate(known) if pattern >> bit & 1]
        rows = np.flatnonzero(lacking == pattern)
        others = f", as is the {' and the '.join(names[1:])}" if names[1:] else ""
        remedy = "complete the line or remove it" if others else f"name the {names[0]}"
        more = entries.more_lines(rows, names[0])
        message = f"is empty{others}; {remedy}{more}"
        mistakes.append(entries.mistake(int(rows[0]), names[0], message))
    return lacking > 0


def _lookup(column: Column, values: Sequence[object], dtype: type[Scalar]) -> NDArray[Scalar]:
    """What each cell of a column means, given what each distinct cell does."""
    meaning = np.array(values, dtype=dtype)
    if len(column.codes) and (meaning == meaning[0]).all():
        # One value seen many times takes no memory.
        return np.broadcast_to(meaning[0], len(column.codes))
    return np.asarray(meaning[column.codes])


def _ids(
    entries: Entries, name: str, known: tuple[str, ...], mistakes: list[Mistake]
) -> NDArray[np.int64]:
    """Codes into the known ids; each unknown one is a mistake, named once."""
    column = entries.columns[name]
    index = {word: code for code, word in enumerate(known)}
    for code in column.used():
        word = column.values[code]
        if word in index:
            continue
        rows = column.rows_of(code)
        hint = nearest(word, known) or f"; add it to the {name}s of the study"
        more = entries.more_lines(rows, name)
        message = f"the study has no {name} {shown(word)}{hint}{more}"
        mistakes.append(entries.mistake(int(rows[0]), name, message))
    return _lookup(column, [index.get(word, 0) for word in column.values], np.int64)


def _positions(entries: Entries, name: str, mistakes: list[Mistake]) -> NDArray[np.int64]:
    """Blocks and occasions: whole numbers from 1, 1 where nothing is said."""
    column = entries.columns[name]
    numbers = []
    for code, word in enumerate(column.values):
        good = not word or _POSITION.fullmatch(word) is not None
        numbers.append(int(word) if word and good else 1)
        if not good and len(rows := column.rows_of(code)):
            message = f"{shown(word)} is no whole number from 1"
            mistakes.append(entries.mistake(int(rows[0]), name, message))
    return _lookup(column, numbers, np.int64)


def _ranks(
    entries: Entries, mistakes: list[Mistake]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The numbers of the rank cells, and which of the missing ones failed."""
    ranks, reasons = entries.columns["rank"], entries.columns["reason"]
    numbers = [_number(word) for word in ranks.values]
    wrong = _lookup(ranks, [number is None for number in numbers], np.bool_)
    _complain(entries, "rank", np.flatnonzero(wrong), mistakes, _no_rank)
    rank = _lookup(ranks, [np.nan if n is None else n for n in numbers], np.float64)
    absent = np.isnan(rank)

    given = [word.casefold() for word in reasons.values]
    known = {"", "-", "absent", "failed", "withheld"}
    strange = _lookup(reasons, [word not in known for word in given], np.bool_)
    _complain(entries, "reason", np.flatnonzero(strange), mistakes, _no_reason)
    failed = _lookup(reasons, [word == "failed" for word in given], np.bool_)
    said_absent = _lookup(reasons, [word == "absent" for word in given], np.bool_)
    failed_rank = _lookup(ranks, [word.casefold() == "failed" for word in ranks.values], np.bool_)
    ranked = ~absent & ~wrong
    for reason in (failed & ranked, said_absent & (ranked | failed_rank)):
        _complain(entries, "reason", np.flatnonzero(reason), mistakes, _contradicted)
    return rank, (failed | failed_rank) & absent


def _marks(entries: Entries, name: str, mistakes: list[Mistake]) -> NDArray[np.bool_]:
    """Which cells of a column hold a mark, such as 1 or yes."""
    column = entries.columns[name]
    given = [word.casefold() for word in column.values]
    strange = _lookup(column, [word not in _MARKED | _UNMARKED for word in given], np.bool_)
    _complain(entries, name, np.flatnonzero(strange), mistakes, _no_mark)
    return _lookup(column, [word in _MARKED for word in given], np.bool_)


def _number(word: str) -> float | None:
    """A rank cell as a number: NaN where it is missing, None where it is no number."""
    if word.casefold() in _MISSING or word.casefold() == "failed":
        return float("nan")
    if not _NUMBER.fullmatch(word):
        return None
    number = float(word.replace(",", "."))
    return number if 0 <= number <= _LARGEST_RANK else None


def _no_rank(word: str) -> str:
    if word.startswith("-") and _NUMBER.fullmatch(word):
        return (
            f"{shown(word)} is less than 0, and 1 is the worst; leave the cell empty for a "
            "missing rank, or write failed"
        )
    if _NUMBER.fullmatch(word):
        return f"{shown(word)} is too large for a rank; the worst solution has rank 1"
    return f"{shown(word)} is no number; write a rank such as 3, or leave the cell empty"


def _no_reason(word: str) -> str:
    return f"{shown(word)} is not one of absent, failed"


def _no_mark(word: str) -> str:
    return f"{shown(word)} is no mark; write 1 where the judge recognised the author, else nothing"


def _contradicted(word: str) -> str:
    return f"{word} contradicts the rank cell; empty one of the two cells"


def _complain(
    entries: Entries,
    name: str,
    rows: NDArray[np.int64],
    mistakes: list[Mistake],
    message: Callable[[str], str],
) -> None:
    """One mistake a row, up to a number that a person still reads."""
    column = entries.columns[name]
    mistakes += [
        entries.mistake(row, name, message(column.text(row)))
        for row in rows[:MOST_OF_A_KIND].tolist()
    ]
    if len(rows) > MOST_OF_A_KIND:
        more = f"and {len(rows) - MOST_OF_A_KIND} more cells like these"
        mistakes.append(Mistake(entries.name, key=entries.titles.get(name, name), message=more))
