"""The rankings table: one row a judged solution, rank 1 = worst."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from quem.errors import Doubt, Mistake
from quem.rankings.delimited import Column, column_of
from quem.text import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from quem.study import Declared

__all__ = ["FIELDS", "Entries", "Rankings", "assemble"]

FIELDS = ("judge", "problem", "block", "occasion", "solver", "rank", "reason")
_MISSING = {"", "-", "–", "—", "na", "n/a", "nan", "null", "none", "."}
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_MOST_OF_A_KIND = 20


@dataclass(frozen=True)
class Rankings:
    """Every judged solution of a study, as columns of equal length.

    Parameters
    ----------
    judges, problems, solvers : tuple of str
        The ids that the codes stand for.
    judge, problem, solver : array of int, shape (n,)
        Codes into them.
    block, occasion : array of int, shape (n,)
    rank : array of float, shape (n,)
        As the judge wrote it; NaN where there is none.
    failed : array of bool, shape (n,)
        Whether a missing rank means a solution that failed.
    doubts : tuple of Doubt
    """

    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    judge: NDArray[np.int64]
    problem: NDArray[np.int64]
    solver: NDArray[np.int64]
    block: NDArray[np.int64]
    occasion: NDArray[np.int64]
    rank: NDArray[np.float64]
    failed: NDArray[np.bool_]
    doubts: tuple[Doubt, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Give the table of the contract: judge, problem, block, ..., rank, reason.

        Returns
        -------
        DataFrame, shape (n, 7)
        """
        reason = np.where(self.failed, "failed", np.where(np.isnan(self.rank), "absent", ""))
        return pd.DataFrame(
            {
                "judge": pd.Categorical.from_codes(self.judge, list(self.judges)),
                "problem": pd.Categorical.from_codes(self.problem, list(self.problems)),
                "block": self.block,
                "occasion": self.occasion,
                "solver": pd.Categorical.from_codes(self.solver, list(self.solvers)),
                "rank": self.rank,
                "reason": reason,
            }
        )


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
    """

    name: str
    columns: dict[str, Column]
    place: Callable[[int, str], tuple[int, int]]
    doubts: tuple[Doubt, ...] = field(default=())

    def mistake(self, row: int, field_name: str, message: str) -> Mistake:
        """Describe what is wrong with one cell."""
        return Mistake(self.name, *self.place(row, field_name), field_name, message)


@dataclass
class _Part:
    """The rows of one file that hold something, as codes and numbers."""

    entries: Entries
    row: NDArray[np.int64]
    judge: NDArray[np.int64]
    problem: NDArray[np.int64]
    solver: NDArray[np.int64]
    block: NDArray[np.int64]
    occasion: NDArray[np.int64]
    rank: NDArray[np.float64]
    failed: NDArray[np.bool_]


def assemble(
    files: Iterable[Entries], declared: Declared, judges: tuple[str, ...] | None = None
) -> tuple[Rankings, list[Mistake]]:
    """Check what the files say against the study, and make one table of it.

    Parameters
    ----------
    files : iterable of Entries
    declared : Declared
        The ids of the study.
    judges : tuple of str, optional
        The judges, where the study declares none.

    Returns
    -------
    rankings : Rankings
        Worth using only where there are no mistakes.
    mistakes : list of Mistake
        Unknown ids, ranks that are no numbers, the same cell twice.
    """
    known = {
        "judge": judges or declared.judges,
        "problem": declared.problems,
        "solver": tuple(declared.solvers),
    }
    mistakes: list[Mistake] = []
    files = list(files)
    parts = [_part(entries, known, mistakes) for entries in files]
    if not mistakes:
        mistakes += _repeated(parts, known)
        mistakes += _contradictions(parts, known, declared)
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("judge", "problem", "solver", "block", "occasion", "rank", "failed")
    }
    doubts = tuple(doubt for entries in files for doubt in entries.doubts)
    table = Rankings(known["judge"], known["problem"], known["solver"], **columns, doubts=doubts)
    return table, mistakes


def _part(entries: Entries, known: dict[str, tuple[str, ...]], mistakes: list[Mistake]) -> _Part:
    columns = entries.columns
    n_rows = len(columns["rank"].codes)
    blank = column_of([""])
    for name in FIELDS:
        if name not in columns:
            columns[name] = Column(np.zeros(n_rows, dtype=np.int64), blank.values)
    empty = np.ones(n_rows, dtype=bool)
    for column in columns.values():
        empty &= _lookup(column, [not value for value in column.values], dtype=np.bool_)
    row = np.arange(n_rows)
    if empty.any():
        row = np.flatnonzero(~empty)
        columns = {name: Column(c.codes[row], c.values) for name, c in columns.items()}
    inner = Entries(entries.name, columns, lambda r, f: entries.place(int(row[r]), f))

    ids = {name: _ids(inner, name, known[name], mistakes) for name in known}
    block, occasion = (_positions(inner, name, mistakes) for name in ("block", "occasion"))
    rank, failed = _ranks(inner, mistakes)
    return _Part(inner, row, **ids, block=block, occasion=occasion, rank=rank, failed=failed)


def _lookup(column: Column, values: list[object], dtype: type) -> NDArray[np.generic]:
    if not len(column.codes):
        return np.empty(0, dtype=dtype)
    return np.array(values, dtype=dtype)[column.codes]


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
        more = f" (and on {len(rows) - 1} more lines)" if len(rows) > 1 else ""
        if word:
            hint = nearest(word, known) or f"; add it to the {name}s of the study"
            message = f"the study has no {name} {word!r}{hint}{more}"
        else:
            message = f"is empty; name the {name}{more}"
        mistakes.append(entries.mistake(int(rows[0]), name, message))
    return _lookup(column, [index.get(word, 0) for word in column.values], np.int64)


def _positions(entries: Entries, name: str, mistakes: list[Mistake]) -> NDArray[np.int64]:
    """Blocks and occasions: whole numbers from 1, 1 where nothing is said."""
    column = entries.columns[name]
    numbers = []
    for code, word in enumerate(column.values):
        good = not word or (word.isascii() and word.isdigit() and 0 < int(word[:9]) == int(word))
        numbers.append(int(word[:9]) if word and good else 1)
        if not good and len(rows := column.rows_of(code)):
            message = f"{word[:60]!r} is no whole number from 1"
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
    both = np.flatnonzero(failed & ~absent & ~wrong)
    _complain(entries, "reason", both, mistakes, _failed_with_rank)
    failed = failed | _lookup(
        ranks, [word.casefold() == "failed" for word in ranks.values], np.bool_
    )
    return rank, failed & absent


def _number(word: str) -> float | None:
    """A rank cell as a number: NaN where it is missing, None where it is no number."""
    if word.casefold() in _MISSING or word.casefold() == "failed":
        return float("nan")
    if not _NUMBER.fullmatch(word):
        return None
    number = float(word.replace(",", "."))
    return number if abs(number) < float("inf") else None


def _no_rank(word: str) -> str:
    return f"{word[:60]!r} is no number; write a rank such as 3, or leave the cell empty"


def _no_reason(word: str) -> str:
    return f"{word[:60]!r} is not one of absent, failed"


def _failed_with_rank(_: str) -> str:
    return "a solution that failed has no rank; empty one of the two cells"


def _complain(
    entries: Entries,
    name: str,
    rows: NDArray[np.int64],
    mistakes: list[Mistake],
    message: Callable[[str], str],
) -> None:
    """One mistake a row, up to a number that a person still reads."""
    column = entries.columns[name]
    for row in rows[:_MOST_OF_A_KIND].tolist():
        mistakes.append(entries.mistake(row, name, message(column.text(row))))
    if len(rows) > _MOST_OF_A_KIND:
        more = f"and {len(rows) - _MOST_OF_A_KIND} more cells like these"
        mistakes.append(Mistake(entries.name, key=name, message=more))


def _repeated(parts: list[_Part], known: dict[str, tuple[str, ...]]) -> list[Mistake]:
    """The same judge, problem, block, occasion and solver twice."""
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("judge", "problem", "block", "occasion", "solver")
    }
    key = np.zeros(len(joined["judge"]), dtype=np.int64)
    for name in ("block", "occasion"):
        codes, distinct = pd.factorize(joined[name])
        key = key * len(distinct) + codes
    for name in known:
        key = key * max(len(known[name]), 1) + joined[name]
    again = np.flatnonzero(pd.Series(key).duplicated().to_numpy())
    starts = np.cumsum([0, *(len(part.row) for part in parts)])
    mistakes = []
    for index in again[:_MOST_OF_A_KIND].tolist():
        first = int(np.flatnonzero(key == key[index])[0])
        (file, row), (first_file, first_row) = (
            (parts[at], i - int(starts[at]))
            for i in (index, first)
            for at in [int(np.searchsorted(starts, i, side="right")) - 1]
        )
        where = first_file.entries.mistake(first_row, "solver", "")
        judge, problem, solver = (known[n][joined[n][index]] for n in known)
        other = f" of {first_file.entries.name}" if file is not first_file else ""
        message = (
            f"{judge}'s rank of {solver} on {problem} is already on line {where.line}{other}; "
            "keep one of them"
        )
        mistakes.append(file.entries.mistake(row, "solver", message))
    if len(again) > _MOST_OF_A_KIND:
        more = f"and {len(again) - _MOST_OF_A_KIND} more cells that stand twice"
        mistakes.append(Mistake(parts[0].entries.name, message=more))
    return mistakes


def _contradictions(
    parts: list[_Part], known: dict[str, tuple[str, ...]], declared: Declared
) -> list[Mistake]:
    """Ranks of solutions that the study declares missing."""
    mistakes = []
    for problem, solver in sorted(declared.failed | declared.absent):
        reason = "failed" if (problem, solver) in declared.failed else "absent"
        if problem not in known["problem"] or solver not in known["solver"]:
            continue
        p, s = known["problem"].index(problem), known["solver"].index(solver)
        for part in parts:
            here = (part.problem == p) & (part.solver == s) & ~np.isnan(part.rank)
            for row in np.flatnonzero(here).tolist():
                message = (
                    f"the study declares {solver}'s solution of {problem} {reason}, yet it has "
                    "a rank here; remove one of the two"
                )
                mistakes.append(part.entries.mistake(row, "rank", message))
    return mistakes
