"""Paired decisions: the better one of two solutions, or a tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.errors import Mistake, StudyWarning
from quem.io.tables import SourceTable, read_table
from quem.rankings.entries import known_ids, marks, positions

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.studyfile import Declared

    Codes = NDArray[np.signedinteger[Any]]

_REQUIRED = ("judge", "problem", "winner", "loser")
FIELDS = (*_REQUIRED, "tie", "count")
# Beyond this number, finding the line of a decision is too slow.
_FEW_ROWS = 1_000_000


@dataclass(frozen=True)
class Decisions:
    """Every decision of a study, as columns of equal length.

    Codes use the smallest type, since there may be ten million decisions.
    """

    # The ids of the codes
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    # Of shape (n,): codes into them. In a tie, winner and loser are in any order.
    judge: Codes
    problem: Codes
    winner: Codes
    loser: Codes
    tied: NDArray[np.bool_]  # of shape (n,)
    times: NDArray[np.int64]  # of shape (n,): multiplicity of a row
    warnings: tuple[StudyWarning, ...] = ()

    def __len__(self) -> int:
        """Number of rows."""
        return int(self.times.sum())

    def to_frame(self) -> pd.DataFrame:
        """The documented table: judge, problem, winner, loser, tie, count."""
        ids = {"judge": self.judges, "problem": self.problems}
        ids |= dict.fromkeys(("winner", "loser"), self.solvers)
        columns: dict[str, Any] = {
            name: pd.Categorical.from_codes(getattr(self, name), pd.Index(words))
            for name, words in ids.items()
        }
        return pd.DataFrame(columns | {"tie": self.tied, "count": self.times})


def read_decisions(path: Path, name: str, declared: Declared) -> tuple[Decisions, list[Mistake]]:
    """Read a table of decisions, one line per decision."""
    table = read_table(
        path,
        name,
        what="decisions",
        fields=FIELDS,
        required=_REQUIRED,
        otherwise="; if there is one line per ranked solution, write from: long",
    )
    mistakes = list(table.mistakes)
    if not len(table.without_blank_rows()):
        message = "holds no decisions below the header; write one line per decision"
        mistakes.append(Mistake(name, message=message))
    decisions, more = _checked(table.without_blank_rows(), declared)
    return decisions, mistakes + more


def _checked(table: SourceTable[str], declared: Declared) -> tuple[Decisions, list[Mistake]]:
    """Convert cells to codes, and collect errors."""
    mistakes: list[Mistake] = []
    sources = {"judge": ("judge",), "problem": ("problem",), "solver": ("winner", "loser")}
    known = known_ids(declared, table, sources)
    lacking = table.lacking(_REQUIRED, mistakes)
    if lacking.any():
        table = table.only(np.flatnonzero(~lacking))
    columns: dict[str, Codes] = {}
    for what, names in sources.items():
        places = {word: code for code, word in enumerate(known[what])}
        for name in names:
            where = f"the {what}s of the study"
            columns[name] = table.codes(
                name, places, mistakes, where, noun=what, dtype=_smallest(len(places))
            )
    tied = marks(table, "tie", mistakes, "where the two tie")
    times = positions(table, "count", mistakes)
    if not mistakes:
        _refuse_itself(table, columns, known["solver"], mistakes)
        _refuse_missing(table, columns, known, declared, mistakes)
    warnings = table.warnings
    if not mistakes:
        warnings += _repeated(table, columns, tied, len(known["problem"]), len(known["solver"]))
    ids = known["judge"], known["problem"], known["solver"]
    codes = columns["judge"], columns["problem"], columns["winner"], columns["loser"]
    decisions = Decisions(*ids, *codes, tied, times, warnings)
    return decisions, mistakes


def _smallest(n: int) -> type[np.signedinteger[Any]]:
    """The smallest type for codes below n, and -1."""
    for kind in (np.int8, np.int16):
        if n <= np.iinfo(kind).max:
            return kind
    return np.int32


def _refuse_itself(
    table: SourceTable[str],
    columns: dict[str, Codes],
    solvers: tuple[str, ...],
    mistakes: list[Mistake],
) -> None:
    rows = np.flatnonzero(columns["winner"] == columns["loser"])
    for solver in dict.fromkeys(columns["winner"][rows].tolist()):
        same = rows[columns["winner"][rows] == solver]
        message = f"{solvers[solver]} cannot win against itself; name two different solvers"
        more = table.more_lines(same, "loser")
        mistakes.append(table.mistake(int(same[0]), "loser", message + more))


def _refuse_missing(
    table: SourceTable[str],
    columns: dict[str, Codes],
    known: dict[str, tuple[str, ...]],
    declared: Declared,
    mistakes: list[Mistake],
) -> None:
    """Refuse decisions on solutions that the study declares missing."""
    for problem, solver in sorted(declared.failed | declared.absent):
        if problem not in known["problem"] or solver not in known["solver"]:
            continue
        here = columns["problem"] == known["problem"].index(problem)
        code = known["solver"].index(solver)
        for name in ("winner", "loser"):
            rows = np.flatnonzero(here & (columns[name] == code))
            if len(rows):
                reason = "failed" if (problem, solver) in declared.failed else "absent"
                message = (
                    f"the study declares {solver}'s solution of {problem} {reason}, yet it was "
                    f"decided on here; remove one of the two{table.more_lines(rows, name)}"
                )
                mistakes.append(table.mistake(int(rows[0]), name, message))


def _repeated(
    table: SourceTable[str],
    columns: dict[str, Codes],
    tied: NDArray[np.bool_],
    n_problems: int,
    n_solvers: int,
) -> tuple[StudyWarning, ...]:
    """A warning on duplicate rows."""
    size = (int(columns["judge"].max(initial=0)) + 1) * n_problems * n_solvers**2 * 2
    key: NDArray[Any] = columns["judge"].astype(np.uint32 if size < 2**32 else np.int64)
    for codes, n in (
        (columns["problem"], n_problems),
        (columns["winner"], n_solvers),
        (columns["loser"], n_solvers),
        (tied, 2),
    ):
        key *= n
        # Signed codes need an explicit conversion to an unsigned type.
        np.add(key, codes, out=key, casting="unsafe")
    rows = len(key)
    some = key.copy() if rows <= _FEW_ROWS else None
    key.sort()
    again = key[1:][key[1:] == key[:-1]]
    if not len(again):
        return ()
    such = ""
    if some is not None:
        second = table.place(int(np.flatnonzero(some == again[0])[1]), "judge")
        such = f", such as {second.path}:{second.line}"
    verb = "repeats" if len(again) == 1 else "repeat"
    message = (
        f"{len(again):,} of {rows:,} rows {verb} an earlier one (same judge, problem, winner, and "
        f"loser){such}; each counts as a separate decision, so remove them if they are copies"
    )
    return (StudyWarning("repeated-decisions", message),)
