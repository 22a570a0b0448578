"""What a reader must know of worths: why they are there, and where they rest on little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.errors import Doubt
from quem.experience.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.findings import Findings
    from quem.experience.pooled import Pooled

__all__ = ["pooled_doubts"]


def pooled_doubts(found: Findings, pooled: Pooled) -> Iterator[Doubt]:
    """Collect the doubts about worths.

    Parameters
    ----------
    found : Findings
    pooled : Pooled
        Of the same.
    """
    blocked = found.cells is not None and found.cells.is_blocked
    if blocked:
        message = (
            "some groups were judged in several blocks, whose ranks do not compare: solvers are "
            "scored by worths instead (Plackett-Luce), as ranks to be expected among all; the "
            "judges' agreement, the analysis of variance and the bootstrap, which need ranks of "
            "whole groups, are left out"
        )
        yield Doubt("blocks", message)
    else:
        message = (
            "worths are pooled over all rankings, so that no rank has a score of its own: the "
            "analysis of variance and the bootstrap are left out"
        )
        yield Doubt("pooled", message)
    several = found.cells is not None and len(set(found.cells.judge.tolist())) > 1
    if several and found.estimates and not found.judges:
        message = (
            "the study is too large to fit worths without each judge and each problem in turn; how "
            "far the answer rests on one of them is unknown"
        )
        yield Doubt("influence-skipped", message)
    told = [
        f"{_names(found, solvers)} {'was' if len(solvers) == 1 else 'were'} always ranked {where} "
        "all others compared with"
        for where, sets in (("above", pooled.connection.above), ("below", pooled.connection.below))
        for solvers in sets
    ]
    if told:
        message = f"{'; '.join(told)}; how far apart, only the small penalty on worths says"
        yield Doubt("always-above", message)


def _names(found: Findings, solvers: tuple[int, ...]) -> str:
    return joined(found.name_of(found.averages.solvers[solver]) for solver in solvers)
