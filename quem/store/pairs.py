"""What judges answered when they were asked which of two solutions is better."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.store.exporting import SubmittedRanking


@dataclass(frozen=True)
class Pair:
    """One answer; see `quem.store.state.Comparison`."""

    judge: str
    problem: str
    block: int
    occasion: int
    number: int  # counts the answers of a ranking from 1, in the order in which they were given
    new: str
    other: str
    verdict: str
    side: str
    seconds: float


def pairs_of(rankings: Iterable[SubmittedRanking]) -> Iterator[Pair]:
    """Give all answers, ranking by ranking."""
    for ranking in rankings:
        place = (ranking.judge, ranking.problem, ranking.block, ranking.occasion)
        for number, answer in enumerate(ranking.state.comparisons, 1):
            yield Pair(*place, number, **vars(answer))


def pairs_table(pairs: Iterable[Pair]) -> str:
    """Write pairs as CSV, one row per answer."""
    text = StringIO()
    names = [field.name for field in fields(Pair)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(vars, pairs))
    return text.getvalue()
