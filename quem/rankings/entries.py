"""The rankings table, checked and converted from cells of files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.errors import Mistake, StudyWarning
from quem.io.numbers import BLANKS, finite_number, parse_number
from quem.io.tables import SourceTable, repeats, stack
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from quem.store.answers import Answer
    from quem.store.care import Care
    from quem.store.reviewing import RecordedBlinding
    from quem.studyfile import Declared

# The columns of a long table.
FIELDS = ("judge", "problem", "block", "occasion", "solver", "rank", "reason", "recognized")

_MISSING = BLANKS | {"-", "–", "—", "none", ".", "absent", "failed"}
_MARKED, _UNMARKED = {"1", "true", "yes", "x"}, {"", "0", "false", "no", "-"}
_POSITION = re.compile(r"0*[1-9]\d{0,8}", re.ASCII)
# Larger ranks are meaningless, and sums of squares stay finite.
_LARGEST_RANK = 1e9


@dataclass(frozen=True)
class Rankings:
    """Every judged solution of a study, as columns of equal length; rank 1 is the worst."""

    # The ids of the codes
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    # Of shape (n,): codes into them
    judge: NDArray[np.int64]
    problem: NDArray[np.int64]
    solver: NDArray[np.int64]
    # Of shape (n,)
    block: NDArray[np.int64]
    occasion: NDArray[np.int64]
    rank: NDArray[np.float64]  # of shape (n,): as the judge wrote it; NaN where missing
    failed: NDArray[np.bool_]  # of shape (n,): whether a missing rank means a failed solution
    recognized: NDArray[np.bool_]  # of shape (n,): whether the judge recognized the author
    warnings: tuple[StudyWarning, ...] = ()
    # Answers of judges to the study's own questions, from a judging session.
    answers: tuple[Answer, ...] = ()
    # Blinding as recorded by a judging session; None for rankings from a file.
    blinding: RecordedBlinding | None = None
    # Conduct of each judge; empty without records.
    cares: tuple[Care, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """The documented table: judge, problem, block, ..., rank, reason."""
        reason = np.where(self.failed, "failed", np.where(np.isnan(self.rank), "absent", ""))
        frame = pd.DataFrame(
            {
                "judge": pd.Categorical.from_codes(self.judge, pd.Index(self.judges)),
                "problem": pd.Categorical.from_codes(self.problem, pd.Index(self.problems)),
                "block": self.block,
                "occasion": self.occasion,
                "solver": pd.Categorical.from_codes(self.solver, pd.Index(self.solvers)),
                "rank": self.rank,
                "reason": reason,
            }
        )
        return frame.assign(recognized=self.recognized) if self.recognized.any() else frame


def _checked(
    table: SourceTable[str], known: dict[str, tuple[str, ...]], mistakes: list[Mistake]
) -> tuple[SourceTable[str], dict[str, Any]]:
    """Convert cells to codes and numbers; blank rows are left out."""
    table = table.without_blank_rows()
    # Averages have neither judge nor problem.
    lacking = table.lacking([name for name, ids in known.items() if "" not in ids], mistakes)
    table = table.only(np.flatnonzero(~lacking))
    columns: dict[str, Any] = {}
    for name, ids in known.items():
        codes = {word: code for code, word in enumerate(ids)}
        columns[name] = table.codes(name, codes, mistakes, f"the {name}s of the study")
    for name in ("block", "occasion"):
        columns[name] = positions(table, name, mistakes)
    columns["rank"], columns["failed"] = _ranks(table, mistakes)
    columns["recognized"] = marks(
        table, "recognized", mistakes, "where the judge recognized the author"
    )
    return table, columns


def positions(table: SourceTable[str], name: str, mistakes: list[Mistake]) -> NDArray[np.int64]:
    """Parse blocks and occasions: whole numbers from 1, by default 1."""
    column = table.column(name)
    good = [not word or _POSITION.fullmatch(word) is not None for word in column.values]
    _refuse(table, name, [not is_good for is_good in good], mistakes, _not_a_position)
    numbers = [
        int(word) if word and is_good else 1
        for word, is_good in zip(column.values, good, strict=True)
    ]
    return column.lookup(numbers, np.int64)


def _ranks(
    table: SourceTable[str], mistakes: list[Mistake]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The numbers of the rank cells, and which of the missing ones failed."""
    ranks, reasons = table.column("rank"), table.column("reason")
    numbers = [_rank(word) for word in ranks.values]
    wrong = _refuse(table, "rank", [number is None for number in numbers], mistakes, _not_a_rank)
    rank = ranks.lookup((np.nan if number is None else number for number in numbers), np.float64)
    absent = np.isnan(rank)

    folded = [word.casefold() for word in reasons.values]
    known = {"", "-", "absent", "failed", "withheld"}
    _refuse(table, "reason", [word not in known for word in folded], mistakes, _not_a_reason)
    failed = reasons.lookup((word == "failed" for word in folded), np.bool_)
    reason_absent = reasons.lookup((word == "absent" for word in folded), np.bool_)
    failed_rank = ranks.lookup((word.casefold() == "failed" for word in ranks.values), np.bool_)
    ranked = ~absent & ~wrong
    for contradicted in (failed & ranked, reason_absent & (ranked | failed_rank)):
        table.refuse("reason", np.flatnonzero(contradicted), _contradicted, mistakes)
    return rank, (failed | failed_rank) & absent


def marks(
    table: SourceTable[str], name: str, mistakes: list[Mistake], where: str
) -> NDArray[np.bool_]:
    """Which cells of a column hold a mark, such as 1 or yes."""
    column = table.column(name)
    folded = [word.casefold() for word in column.values]
    wrong = [word not in _MARKED | _UNMARKED for word in folded]
    remedy = f"is not a mark; write 1 {where}, else leave the cell empty"
    _refuse(table, name, wrong, mistakes, lambda word: f"{shown(word)} {remedy}")
    return column.lookup((word in _MARKED for word in folded), np.bool_)


def _refuse(
    table: SourceTable[str],
    name: str,
    wrong: list[bool],
    mistakes: list[Mistake],
    message: Callable[[str], str],
) -> NDArray[np.bool_]:
    """Report the wrong distinct cells of a column, and return which rows have them."""
    rows = table.column(name).lookup(wrong, np.bool_)
    if any(wrong):
        table.refuse(name, np.flatnonzero(rows), message, mistakes)
    return rows


def _rank(word: str) -> float | None:
    """A rank cell as a number: NaN where missing, None where invalid."""
    if word.casefold() in _MISSING:
        return float("nan")
    number = finite_number(word)
    return number if number is not None and 0 <= number <= _LARGEST_RANK else None


def _not_a_rank(word: str) -> str:
    number = parse_number(word)
    if number is not None and number < 0:
        return (
            f"{shown(word)} is negative; ranks start at 1 (worst). Leave the cell empty if the "
            "rank is missing, or write `failed`"
        )
    if number is not None:
        return f"{shown(word)} is too large for a rank; the worst solution has rank 1"
    return f"{shown(word)} is not a number; use a rank such as 3, or leave the cell empty"


def _not_a_position(word: str) -> str:
    return f"{shown(word)} is not a whole number from 1"


def _not_a_reason(word: str) -> str:
    return f"{shown(word)} is not one of absent, failed"


def _contradicted(word: str) -> str:
    return f"{word} contradicts the rank cell; empty one of the two cells"


_GROUP = ["judge", "problem", "block"]
_MOST_NAMED = 3


def repeated(rankings: Rankings) -> pd.DataFrame:
    """The rows of groups with ranks of a later occasion than 1.

    Few rows in a large study with few repeats.
    """
    rows = np.flatnonzero(rankings.occasion > 1)
    if len(rows):
        key = rankings.judge * len(rankings.problems) + rankings.problem
        rows = np.flatnonzero(np.isin(key, np.unique(key[rows])))
    names = (*_GROUP, "occasion", "solver", "rank")
    frame = pd.DataFrame({name: getattr(rankings, name)[rows] for name in names}, index=rows)
    return frame[frame.groupby(_GROUP)["occasion"].transform("max") > 1] if len(rows) else frame


def occasion_warnings(rankings: Rankings) -> Iterator[StudyWarning]:
    """Warnings on groups and single ranks of a later occasion only.

    A group without a first occasion is analyzed by its earliest one. A solution that was not in
    the first occasion of its group has no rank there.
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
    """The group of a row in words: judge, problem, and, if there are several, block."""
    judge, problem = rankings.judges[rankings.judge[row]], rankings.problems[rankings.problem[row]]
    several = rankings.block.max(initial=1) > 1
    return f"{judge} on {problem}{f', block {rankings.block[row]}' if several else ''}"


def _few(words: list[str]) -> str:
    """The first few of some names."""
    shown = ", ".join(words[:_MOST_NAMED])
    return f"{shown} and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else shown


def known_ids(
    declared: Declared, table: SourceTable[str], columns: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """The ids of judges, problems, and solvers, by column."""
    known = {
        "judge": declared.judges,
        "problem": declared.problems,
        "solver": tuple(declared.solvers),
    }
    for what in declared.broken:
        # Missing ids may be in a list that could not be read.
        words = {word for name in columns[what] for word in table.columns[name].values if word}
        known[what] += tuple(sorted(words.difference(known[what])))
    return known


def assemble(
    files: Sequence[SourceTable[str]], declared: Declared
) -> tuple[Rankings, list[Mistake]]:
    """Check rows against the study, and assemble the table."""
    mistakes: list[Mistake] = [mistake for table in files for mistake in table.mistakes]
    mistakes += [
        Mistake(table.name, message="holds no ranks below the header; write one line per rank")
        for table in files
        if not len(table.without_blank_rows())
    ]
    table = stack(files)
    known = known_ids(declared, table, {name: (name,) for name in ("judge", "problem", "solver")})
    table, columns = _checked(table, known, mistakes)
    if not mistakes:
        mistakes += _repeated(table, columns, known)
        mistakes += _contradictions(table, columns, known, declared)
    ids = known["judge"], known["problem"], known["solver"]
    rankings = Rankings(*ids, **columns, warnings=table.warnings)
    if not mistakes:
        warnings = (*table.warnings, *occasion_warnings(rankings))
        rankings = replace(rankings, warnings=warnings)
    return rankings, mistakes


def _repeated(
    table: SourceTable[str], columns: dict[str, NDArray[Any]], known: dict[str, tuple[str, ...]]
) -> list[Mistake]:
    """Errors on duplicate rows of judge, problem, block, occasion, and solver."""
    key = np.zeros(len(table), dtype=np.int64)
    for name in ("block", "occasion"):
        if columns[name].max(initial=1) > 1:
            codes, distinct = pd.factorize(columns[name])
            key = key * len(distinct) + codes
    for name, ids in known.items():
        key = key * max(len(ids), 1) + columns[name]
    pairs, count = repeats(key)
    mistakes = []
    for row, first in pairs:
        at, where = table.place(row, "solver"), table.place(first, "solver")
        judge, problem, solver = (known[name][columns[name][row]] for name in known)
        other = f" of {where.path}" if where.path != at.path else ""
        cell = f"{judge}'s rank of {solver} on {problem}" if judge else solver
        message = f"duplicate: {cell} is already on line {where.line}{other}; keep one"
        mistakes.append(replace(at, message=message))
    if count > len(pairs):
        message = f"and {count - len(pairs)} more duplicate cells"
        mistakes.append(Mistake(mistakes[0].path, message=message))
    return mistakes


def _contradictions(
    table: SourceTable[str],
    columns: dict[str, NDArray[Any]],
    known: dict[str, tuple[str, ...]],
    declared: Declared,
) -> list[Mistake]:
    """Errors on ranks of solutions that the study declares missing."""
    mistakes = []
    for problem, solver in sorted(declared.failed | declared.absent):
        reason = "failed" if (problem, solver) in declared.failed else "absent"
        if problem not in known["problem"] or solver not in known["solver"]:
            continue
        here = columns["problem"] == known["problem"].index(problem)
        here &= columns["solver"] == known["solver"].index(solver)
        failed = columns["failed"]
        other = ~np.isnan(columns["rank"]) | (failed & (reason == "absent"))
        for row in np.flatnonzero(here & other).tolist():
            message = (
                f"the study declares {solver}'s solution of {problem} {reason}, yet it "
                f"{'failed' if failed[row] else 'has a rank'} here; remove one of the two"
            )
            mistakes.append(table.mistake(row, "rank", message))
    return mistakes
