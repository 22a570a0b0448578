"""Steps 3 and 4: the judged solutions of a study, one per row, with adjusted ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from quem.method.ranks import adjusted_ranks, unused_ranks
from quem.rankings.decisions import Decisions
from quem.rankings.entries import repeated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.rankings import Rankings
    from quem.studyfile import Declared

    _Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Gap:
    """An unused rank in one judge's order of one group."""

    judge: str
    problem: str
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class RankCells:
    """Every judged solution."""

    # The ids of the codes
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    kinds: tuple[str, ...]  # the kind of each solver: subject, system, assisted or withheld
    # Of shape (n,)
    judge: NDArray[np.int64]
    problem: NDArray[np.int64]
    solver: NDArray[np.int64]
    # Of shape (n,): the ranking (judge, problem, and block) of a cell, from 0.
    group: NDArray[np.int64]
    # Of shape (n,)
    block: NDArray[np.int64]
    occasion: NDArray[np.int64]
    # Of shape (n,): the judge's rank; ``-inf`` for a failed solution.
    given: NDArray[np.float64]
    adjusted: NDArray[np.float64]  # of shape (n,)
    size: NDArray[np.int64]  # of shape (n,): number of counted solutions in the cell's group
    # Of shape (n,): the averaged value: the adjusted rank with the adjustment by machine judges.
    score: NDArray[np.float64]
    # Of shape (n,): whether the study, not a judge, set the rank.
    placed: NDArray[np.bool_]
    # Of shape (n,): whether the judge recognized the author.
    recognized: NDArray[np.bool_]
    gaps: tuple[Gap, ...] = ()
    # Single ranks of paired decisions have no meaning.
    has_ranks: ClassVar[bool] = True

    @property
    def place(self) -> NDArray[np.float64]:
        """The place of each solution in its group, 0 worst and 1 best: (score - 1/2)/N."""
        return (self.score - 0.5) / self.size

    def keep(self, rows: NDArray[np.bool_]) -> RankCells:
        """Some of the cells; ranks and sizes stay.

        Shapes: `rows` (n,).
        """
        columns = ("judge", "problem", "solver", "block", "occasion", "given", "adjusted")
        more = ("size", "score", "placed", "recognized")
        kept = {name: getattr(self, name)[rows] for name in (*columns, *more)}
        group = np.unique(self.group[rows], return_inverse=True)[1]
        return replace(self, **kept, group=group, gaps=())

    @property
    def n_groups(self) -> int:
        """The number of rankings."""
        return int(self.group.max()) + 1 if len(self.group) else 0

    @property
    def is_blocked(self) -> bool:
        """Whether some judge ranked some problem in several blocks."""
        if self.block.max(initial=1) == 1:
            return False
        pairs = pd.unique(self.judge * len(self.problems) + self.problem)
        return len(pairs) < self.n_groups

    def of_kind(self, *kinds: str) -> NDArray[np.bool_]:
        """Which solvers are of one of the kinds, shape (number of solvers,)."""
        return np.array([kind in kinds for kind in self.kinds], dtype=bool)

    def judged(self) -> NDArray[np.bool_]:
        """Which cells a judge ranked among solvers who are not withheld."""
        return ~self.placed & ~self.of_kind("withheld")[self.solver]


def judged_cells(rankings: Rankings | Decisions, declared: Declared) -> RankCells:
    """Group the solutions and compute adjusted ranks.

    Of a repeat task, only the first occasion counts. A failed solution is tied last in its group.
    A withheld solver that is not in the data takes the one rank that its group leaves unused.
    """
    if isinstance(rankings, Decisions):
        from quem.method.decisions import decision_cells

        return decision_cells(rankings, declared)
    rows = _first_occasions(rankings)
    ranks = rankings.rank
    if rankings.failed.any():
        ranks = np.where(rankings.failed, -np.inf, ranks)
    if np.isnan(ranks).any():
        rows = np.flatnonzero(~np.isnan(ranks)) if rows is None else rows[~np.isnan(ranks[rows])]
    columns = {
        name: getattr(rankings, name) if rows is None else getattr(rankings, name)[rows]
        for name in ("judge", "problem", "solver", "block", "occasion", "recognized")
    }
    columns["given"] = ranks if rows is None else ranks[rows]
    columns["placed"] = np.isneginf(columns["given"])
    if columns["recognized"].any():
        columns["recognized"] = columns["recognized"] & ~columns["placed"]
    columns["group"] = _groups(columns, len(rankings.problems))
    columns = _with_failed(columns, rankings, declared)
    adjusted, size = adjusted_ranks(columns["group"], columns["given"])
    columns, gaps = _with_withheld(columns, adjusted, rankings, declared)

    kinds = tuple(declared.solvers[solver] for solver in rankings.solvers)
    if len(adjusted) < len(columns["given"]):
        adjusted, size = adjusted_ranks(columns["group"], columns["given"])
    return RankCells(
        rankings.judges,
        rankings.problems,
        rankings.solvers,
        kinds,
        **columns,
        adjusted=adjusted,
        size=size,
        score=adjusted,
        gaps=gaps,
    )


def _first_occasions(rankings: Rankings) -> NDArray[np.int64] | None:
    """Rows of each group's first occasion; None where that is all rows."""
    again = repeated(rankings)
    if again.empty:
        return None
    first = again.groupby(["judge", "problem", "block"])["occasion"].transform("min")
    later = again.index[again["occasion"] > first]
    if not len(later):
        return None
    mask = np.ones(len(rankings.occasion), dtype=bool)
    mask[later] = False
    return np.flatnonzero(mask)


def _groups(columns: _Columns, n_problems: int) -> NDArray[np.int64]:
    key = columns["judge"] * n_problems + columns["problem"]
    block = columns["block"]
    if len(block) and block.max() > 1:
        codes, blocks = pd.factorize(block)
        key = key * len(blocks) + codes
    return np.asarray(pd.factorize(key)[0], dtype=np.int64)


def _with_failed(
    columns: _Columns,
    rankings: Rankings,
    declared: Declared,
) -> _Columns:
    """Add the declared failed solutions in every judge's first block."""
    added = []
    for problem, solver in sorted(declared.failed):
        p, s = rankings.problems.index(problem), rankings.solvers.index(solver)
        rows = np.flatnonzero(columns["problem"] == p)
        rows = rows[np.argsort(columns["block"][rows], kind="stable")]
        judges, first = np.unique(columns["judge"][rows], return_index=True)
        raters = columns["judge"][rows[columns["solver"][rows] == s]]
        new = rows[first[~np.isin(judges, raters)]]
        added.append((new, s, np.full(len(new), -np.inf)))
    return _with_rows(columns, added)


def _with_withheld(
    columns: _Columns,
    adjusted: NDArray[np.float64],
    rankings: Rankings,
    declared: Declared,
) -> tuple[_Columns, tuple[Gap, ...]]:
    """Assign withheld solvers the unused ranks, where each has exactly one."""
    # If untied ranks leave none unused, they are adjusted already.
    suspect = np.unique(columns["group"][columns["given"] != adjusted])
    if not len(suspect):
        return columns, ()
    rows = np.flatnonzero(np.isin(columns["group"], suspect))
    unused = unused_ranks(columns["group"][rows], columns["given"][rows])
    withheld = [i for i, s in enumerate(rankings.solvers) if declared.solvers[s] == "withheld"]
    gaps = []
    added = []
    by_group = np.argsort(columns["group"], kind="stable") if unused else np.empty(0, np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(columns["group"]))])
    for group, ranks in unused.items():
        cells = by_group[starts[group] : starts[group + 1]]
        row = int(cells[0])
        solvers = columns["solver"][cells].tolist()
        away = [solver for solver in withheld if solver not in solvers]
        if len(away) == len(ranks) == 1:
            added.append((np.array([row]), away[0], np.array(ranks, dtype=float)))
        else:
            judge = rankings.judges[columns["judge"][row]]
            gaps.append(Gap(judge, rankings.problems[columns["problem"][row]], tuple(ranks)))
    return _with_rows(columns, added), tuple(gaps)


def _with_rows(
    columns: _Columns,
    added: list[tuple[NDArray[np.int64], int, NDArray[np.float64]]],
) -> _Columns:
    """Append copies of rows with another solver and ranks."""
    if not added:
        return columns
    rows = np.concatenate([rows for rows, _, _ in added])
    columns = {name: np.concatenate([values, values[rows]]) for name, values in columns.items()}
    start = len(columns["solver"]) - len(rows)
    columns["solver"][start:] = np.concatenate([np.full(len(r), s) for r, s, _ in added])
    columns["given"][start:] = np.concatenate([ranks for _, _, ranks in added])
    columns["placed"][start:] = True
    columns["recognized"][start:] = False
    return columns
