"""Consistency of judges with their own repeat rankings."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from quem.errors import StudyWarning
from quem.method.part import Part, PartTable
from quem.method.ranks import adjusted_ranks, tau_b
from quem.rankings import Rankings
from quem.rankings.entries import repeated
from quem.report.files import Section
from quem.report.rows import Row, col
from quem.wording import format_count, format_number, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.method.core import Core
    from quem.studyfile import Declared

_GROUP = ["judge", "problem", "block"]
_FEWEST, _LOW = 8, 0.3  # ranks, and tau-b of an inconsistent judge


class Retest(Row):
    """First and second rankings of the same groups by the same judge."""

    title: ClassVar[str] = "Repeat rankings"
    judge: str = col("id; empty for all of them", "Judge")
    n_groups: int = col(
        "rankings with at least two solutions that were ranked both times", "Rankings"
    )
    n_ranks: int = col("ranks that were repeated; a solution counts once for each judge", "Ranks")
    tau_b: float = col("Kendall's tau-b of both, mean over rankings; null without order", "τ-b", 2)
    rank_difference: float = col("mean absolute difference of ranks", "Rank difference", 2)
    same_order: float = col(
        "share of the pairs of solutions that both order, or tie, alike", "Pairs alike", 2
    )


class _Group(NamedTuple):
    """A ranking and its repeat: sums over solutions, and over pairs of solutions."""

    judge: int
    n_ranks: int
    tau_b: float
    difference: float
    alike: int

    @property
    def n_pairs(self) -> int:
        return self.n_ranks * (self.n_ranks - 1) // 2


def _groups(rankings: Rankings, declared: Declared) -> Iterator[_Group]:
    """Compare the first ranking of each repeated group with the second; later ones are ignored."""
    frame = repeated(rankings)
    if frame.empty:
        return
    # The second occasion of a group may have other numbers.
    frame["time"] = frame.groupby(_GROUP)["occasion"].rank(method="dense")
    withheld = np.array([declared.solvers[solver] == "withheld" for solver in rankings.solvers])
    judged = np.isfinite(frame["rank"]) & ~withheld[frame["solver"]]
    first, second = (frame[judged & (frame["time"] == time)] for time in (1, 2))
    both = first.merge(second, on=[*_GROUP, "solver"], suffixes=("_first", "_second"))
    both["group"] = both.groupby(_GROUP).ngroup()
    both = both.sort_values("group", kind="stable")
    group, orders = both["group"].to_numpy(), both[["rank_first", "rank_second"]].to_numpy()
    adjusted = [adjusted_ranks(group, order)[0] for order in orders.T]
    judge = both["judge"].to_numpy()
    for start, end in pairwise(np.searchsorted(group, np.arange(group.max(initial=-1) + 2))):
        if end - start > 1:
            yield _compare(int(judge[start]), *(ranks[start:end] for ranks in adjusted))


def _compare(judge: int, first: NDArray[np.float64], second: NDArray[np.float64]) -> _Group:
    a, b = (np.sign(ranks[:, np.newaxis] - ranks) for ranks in (first, second))
    # The square has each pair twice, and every solution once with itself.
    alike = int((a == b).sum() - len(first)) // 2
    tau = tau_b(first, second)
    return _Group(judge, len(first), tau, float(np.abs(first - second).sum()), alike)


def _row(judge: str, groups: list[_Group]) -> Retest:
    tau = [group.tau_b for group in groups if np.isfinite(group.tau_b)]
    n_ranks = sum(group.n_ranks for group in groups)
    return Retest(
        judge=judge,
        n_groups=len(groups),
        n_ranks=n_ranks,
        tau_b=float(np.mean(tau)) if tau else np.nan,
        rank_difference=sum(group.difference for group in groups) / n_ranks,
        same_order=sum(group.alike for group in groups) / sum(group.n_pairs for group in groups),
    )


class RetestPart(Part[tuple[Retest, ...]]):
    """Repeat rankings: the consistency of each judge."""

    name = "retest"
    tables = (PartTable(name, "judges who ranked twice, then all", Retest, stem=name),)

    def find(self, core: Core) -> tuple[Retest, ...] | None:
        """One row per judge with repeat rankings, then one of all."""
        data = core.study.data
        groups = list(_groups(data, core.study.declared)) if isinstance(data, Rankings) else []
        if not groups or not isinstance(data, Rankings):
            return None
        judges = sorted({group.judge for group in groups})
        each = [_row(data.judges[at], [one for one in groups if one.judge == at]) for at in judges]
        return (*each, _row("", groups))

    def warn(self, found: tuple[Retest, ...], core: Core) -> Iterator[StudyWarning]:
        """Warnings on judges who do not repeat their order."""
        for of in found[:-1]:
            if of.n_ranks >= _FEWEST and of.tau_b < _LOW:
                yield StudyWarning(
                    "inconsistent-judge",
                    f"judge {of.judge}'s repeat rankings are inconsistent "
                    f"({format_count(of.n_groups, 'ranking')}, {format_count(of.n_ranks, 'rank')}, "
                    f"mean tau-b {format_number(of.tau_b, 2)}, below {_LOW:g})",
                )

    def lines(self, found: tuple[Retest, ...], core: Core) -> Iterator[str]:
        """All repeat rankings in one line."""
        yield f"repeat rankings: {_found_text(found[-1])}"

    def about(self, found: tuple[Retest, ...], core: Core) -> str:
        """All repeat rankings in one sentence."""
        who = format_count(len(found) - 1, "judge")
        return f"The first ranking counts where {who} ranked twice: {_found_text(found[-1])}."

    def sections(self, found: tuple[Retest, ...], core: Core) -> Iterator[Section]:
        """The table; judges who cannot repeat their order cannot agree with others either."""
        text = [
            "Estimates use the first ranking; the second shows how well judges repeat their own "
            "order, which limits how well they can agree with each other."
        ]
        rows = [*found[:-1], found[-1].model_copy(update={"judge": "all"})]
        yield Section("retest", "Repeat rankings", text, (), [Retest.text_table(rows)])


def _found_text(of: Retest) -> str:
    return (
        f"{format_count(of.n_groups, 'ranking')} and {format_count(of.n_ranks, 'rank')}, mean "
        f"tau-b {format_number(of.tau_b, 2)}, {format_percent(round(of.same_order, 2))} of pairs "
        f"in the same order, mean rank difference {format_number(of.rank_difference, 2)}"
    )
