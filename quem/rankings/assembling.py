"""From what files say to one rankings table, checked against the study."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.errors import Mistake
from quem.rankings.entries import MOST_OF_A_KIND, part_of
from quem.rankings.occasions import occasion_doubts
from quem.rankings.table import Rankings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from quem.rankings.entries import Entries, Part
    from quem.study import Declared

__all__ = ["assemble"]

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
    columns = {name: _joined(parts, name) for name in (*_KEY, "rank", "failed", "recognised")}
    doubts = tuple(doubt for entries in files for doubt in entries.doubts)
    table = Rankings(known["judge"], known["problem"], known["solver"], **columns, doubts=doubts)
    if not mistakes:
        table = replace(table, doubts=(*doubts, *occasion_doubts(table)))
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
