"""The rows of one rankings file, from what its cells say to codes and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from quem.errors import Mistake, StudyWarning
from quem.io.tables import Column, column_of
from quem.io.text import nearest, shown
from quem.rankings.table import Rankings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.study import Declared

__all__ = [
    "FIELDS",
    "MOST_OF_A_KIND",
    "Entries",
    "Part",
    "assemble",
    "occasion_warnings",
    "part_of",
    "repeated",
]


FIELDS = ("judge", "problem", "block", "occasion", "solver", "rank", "reason", "recognized")


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
    warnings : tuple of StudyWarning
    mistakes : tuple of Mistake
        What is wrong with the file as a whole.
    titles : dict of str to str
        What the file calls a column, where it is not the name in `FIELDS`.
    """

    name: str
    columns: dict[str, Column]
    place: Callable[[int, str], tuple[int, int]]
    warnings: tuple[StudyWarning, ...] = ()
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
    recognized: NDArray[np.bool_]


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
    recognized = _marks(inner, "recognized", mistakes)
    return Part(
        inner,
        row,
        **ids,
        block=block,
        occasion=occasion,
        rank=rank,
        failed=failed,
        recognized=recognized,
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
    return f"{shown(word)} is no mark; write 1 where the judge recognized the author, else nothing"


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


_GROUP = ["judge", "problem", "block"]


_MOST_NAMED = 3


def repeated(rankings: Rankings) -> pd.DataFrame:
    """Give the rows of the groups that hold ranks of a later occasion than 1.

    Of a large study that repeats a few groups these are few rows.

    Parameters
    ----------
    rankings : Rankings

    Returns
    -------
    DataFrame
        Columns judge, problem, block, occasion, solver (codes) and rank; indexed by row.
    """
    rows = np.flatnonzero(rankings.occasion > 1)
    if len(rows):
        key = rankings.judge * len(rankings.problems) + rankings.problem
        rows = np.flatnonzero(np.isin(key, np.unique(key[rows])))
    names = (*_GROUP, "occasion", "solver", "rank")
    frame = pd.DataFrame({name: getattr(rankings, name)[rows] for name in names}, index=rows)
    return frame[frame.groupby(_GROUP)["occasion"].transform("max") > 1]


def occasion_warnings(rankings: Rankings) -> Iterator[StudyWarning]:
    """Tell which groups and which single ranks are of a later occasion only.

    A group without a first occasion is analysed by the earliest that it has. A solution that
    the judge was not given on the first occasion of its group has no rank there.

    Parameters
    ----------
    rankings : Rankings
    """
    frame = repeated(rankings)
    if frame.empty:
        return
    frame["ranked"] = np.isfinite(frame["rank"]) | rankings.failed[frame.index]
    frame["first"] = frame.groupby(_GROUP)["occasion"].transform("min")
    frame["own"] = frame.groupby([*_GROUP, "solver"])["occasion"].transform("min")
    late = frame[frame["first"] > 1].drop_duplicates(_GROUP)
    if len(late):
        firsts = zip(late.index.tolist(), late["first"].tolist(), strict=True)
        named = [f"{_group(rankings, row)} (occasion {first})" for row, first in firsts]
        verb = "has" if len(late) == 1 else "have"
        message = f"{_few(named)} {verb} no first occasion; the earliest counts as the first"
        yield StudyWarning("first-occasion-missing", message)
    alone = frame[frame["ranked"] & (frame["own"] > frame["first"])]
    rows = alone.drop_duplicates([*_GROUP, "solver"]).index.tolist()
    if rows:
        named = [f"{rankings.solvers[rankings.solver[r]]} by {_group(rankings, r)}" for r in rows]
        verb, ranks = ("is", "this rank does") if len(rows) == 1 else ("are", "these ranks do")
        message = (
            f"{_few(named)} {verb} ranked on a later occasion only, though the group has an "
            f"earlier one; {ranks} not count"
        )
        yield StudyWarning("first-occasion-missing", message)


def _group(rankings: Rankings, row: int) -> str:
    """Name the group of a row: judge, problem and, where there are several, block."""
    judge, problem = rankings.judges[rankings.judge[row]], rankings.problems[rankings.problem[row]]
    several = rankings.block.max(initial=1) > 1
    return f"{judge} on {problem}{f', block {rankings.block[row]}' if several else ''}"


def _few(words: list[str]) -> str:
    """List the first few of some names."""
    shown = ", ".join(words[:_MOST_NAMED])
    return f"{shown} and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else shown


_KEY = ("judge", "problem", "block", "occasion", "solver")


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
    for name in declared.broken:
        # What is missing here may stand in a list that could not be read.
        found = {word for entries in files for word in entries.columns[name].values if word}
        known[name] += tuple(sorted(found.difference(known[name])))
    parts = [part_of(entries, known, mistakes) for entries in files]
    if not mistakes:
        mistakes += _repeated(parts, known)
        mistakes += _contradictions(parts, known, declared)
    columns = {name: _joined(parts, name) for name in (*_KEY, "rank", "failed", "recognized")}
    warnings = tuple(doubt for entries in files for doubt in entries.warnings)
    table = Rankings(
        known["judge"], known["problem"], known["solver"], **columns, warnings=warnings
    )
    if not mistakes:
        table = replace(table, warnings=(*warnings, *occasion_warnings(table)))
    return table, mistakes


def _joined(parts: list[Part], name: str) -> NDArray[Any]:
    """A column of all files; that of a single file is not copied."""
    columns = [getattr(part, name) for part in parts]
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _repeated(parts: list[Part], known: dict[str, tuple[str, ...]]) -> list[Mistake]:
    """The same judge, problem, block, occasion and solver twice."""
    joined = {name: _joined(parts, name) for name in _KEY}
    key = np.zeros(len(joined["judge"]), dtype=np.int64)
    for name in ("block", "occasion"):
        if joined[name].max(initial=1) > 1:
            codes, distinct = pd.factorize(joined[name])
            key = key * len(distinct) + codes
    for name, ids in known.items():
        key = key * max(len(ids), 1) + joined[name]
    again = np.flatnonzero(pd.Series(key).duplicated().to_numpy())
    starts = np.cumsum([0, *(len(part.row) for part in parts)])
    mistakes = []
    for index in again[:MOST_OF_A_KIND].tolist():
        first = int(np.flatnonzero(key == key[index])[0])
        (file, row), (first_file, first_row) = (
            (parts[at], i - int(starts[at]))
            for i in (index, first)
            for at in [int(np.searchsorted(starts, i, side="right")) - 1]
        )
        where = first_file.entries.mistake(first_row, "solver", "")
        judge, problem, solver = (known[n][joined[n][index]] for n in known)
        other = f" of {first_file.entries.name}" if file is not first_file else ""
        cell = f"{judge}'s rank of {solver} on {problem}" if judge else solver
        message = f"{cell} is already on line {where.line}{other}; keep one of them"
        mistakes.append(file.entries.mistake(row, "solver", message))
    if len(again) > MOST_OF_A_KIND:
        more = f"and {len(again) - MOST_OF_A_KIND} more cells that stand twice"
        mistakes.append(Mistake(parts[0].entries.name, message=more))
    return mistakes


def _contradictions(
    parts: list[Part], known: dict[str, tuple[str, ...]], declared: Declared
) -> list[Mistake]:
    """Ranks of solutions that the study declares missing."""
    mistakes = []
    for problem, solver in sorted(declared.failed | declared.absent):
        reason = "failed" if (problem, solver) in declared.failed else "absent"
        if problem not in known["problem"] or solver not in known["solver"]:
            continue
        p, s = known["problem"].index(problem), known["solver"].index(solver)
        for part in parts:
            here = (part.problem == p) & (part.solver == s)
            other = ~np.isnan(part.rank) | (part.failed & (reason == "absent"))
            for row in np.flatnonzero(here & other).tolist():
                found = "failed" if part.failed[row] else "has a rank"
                message = (
                    f"the study declares {solver}'s solution of {problem} {reason}, yet it "
                    f"{found} here; remove one of the two"
                )
                mistakes.append(part.entries.mistake(row, "rank", message))
    return mistakes
