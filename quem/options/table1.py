"""Properties of measures of option lists: all short lists in gold order, with scores.

The table is that of Atanasova, P., et al. (2019), Table 1. A list with the correct option is
better than one without, then a shorter one is better, then one that has the correct option sooner.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quem.errors import QuemError
from quem.lists.properties import option_lists, properties
from quem.options.lists import score_lists
from quem.report.files import Section, TextTable
from quem.report.rows import Row, col

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_LONGEST, _LONGEST_SHOWN = 8, 5  # options of enumerated and of shown lists
_DIGITS = {"OLAR": 3}
_ROUNDING = 1e-12
_CORRELATIONS = "tau-b and rho: correlations of the printed scores with the gold order"


class Promise(Row):
    """A property of a measure on lists with at most one correct option."""

    title: ClassVar[str] = "Properties of the measures"
    measure: str = col("as it is spelled")
    max_length: int = col("options of the longest lists that were tried")
    ordered: bool = col("whether its scores depend on the order of options")
    correctness: bool = col("preferred: lists with the correct option to those without")
    confidence: bool = col("preferred: to all longer lists with the same correct responses")
    priority: bool = col("preferred: of lists of one length, the correct option sooner")
    counterexample: str = col("lists in the wrong order; empty where all three hold")
    tau: float | None = col("Kendall's tau-b of the printed scores with the gold order")
    rho: float | None = col("Spearman's rank correlation of the same")


class ListScore(Row):
    """The score of a list; c is the correct option, w a wrong one, the best first."""

    title: ClassVar[str] = "Every list"
    measure: str = col("as it is spelled")
    list: str = col("its options")
    gold: int = col("rank in the gold order; without places, for a measure that ignores them")
    score: float = col("by the measure")
    printed: str = col("the same, rounded half up")
    star: bool = col("whether a list that gold puts before it has no higher score")


def table1(
    measures: Mapping[str, Measure], max_length: int
) -> tuple[list[Promise], list[ListScore]]:
    """Score all lists of up to `max_length` options with at most one correct.

    Measures that are undefined for one of them, and measures of cost, are left out.
    """
    longest = min(max_length, _LONGEST)
    lists = sorted(option_lists(longest), key=lambda one: ("c" not in one, len(one), one))
    # Less is better: no correct option, wrong options, position.
    unplaced, placed = (
        np.array([1 + sum(key(other) < key(one) for other in lists) for one in lists])
        for key in (
            lambda one: ("c" not in one, one.count("w")),
            lambda one: ("c" not in one, one.count("w"), one.find("c")),
        )
    )
    promises: list[Promise] = []
    scores: list[ListScore] = []
    for name, measure in measures.items():
        try:
            held = properties(measure, longest)
        except QuemError:
            continue
        values = score_lists([(one, 1) for one in lists], [measure])[0][:, 0]
        ordered = any(np.ptp(values[unplaced == rank]) > _ROUNDING for rank in unplaced)
        gold = placed if ordered else unplaced
        printed = [_half_up(value, _DIGITS.get(measure.definition.name, 2)) for value in values]
        tau, rho = _correlations(gold, [float(one) for one in printed])
        failures = [str(one.counterexample) for one in held if not one.holds]
        promises.append(
            Promise(
                measure=name,
                max_length=longest,
                ordered=ordered,
                correctness=held.correctness.holds,
                confidence=held.confidence.holds,
                priority=held.priority.holds,
                counterexample=next(iter(failures), ""),
                tau=tau,
                rho=rho,
            )
        )
        scores += [
            ListScore(
                measure=name,
                list=one,
                gold=int(gold[at]),
                score=float(values[at]),
                printed=printed[at],
                star=bool((values[gold < gold[at]] <= values[at] + _ROUNDING).any()),
            )
            for at, one in enumerate(lists)
        ]
    return promises, scores


def _half_up(value: float, digits: int) -> str:
    unit = Decimal(1).scaleb(-digits)
    return str(Decimal(repr(round(float(value), 12))).quantize(unit, ROUND_HALF_UP))


def _correlations(gold: Integers, printed: list[float]) -> tuple[float | None, float | None]:
    from scipy.stats import kendalltau, spearmanr

    if len({*printed}) < 2:  # noqa: PLR2004  a constant has no order
        return None, None
    found = (of(-gold, printed).statistic for of in (kendalltau, spearmanr))
    return next(found), next(found)


def sections(
    promises: Sequence[Promise], scores: Sequence[ListScore], *, lists: bool
) -> Iterator[Section]:
    """The properties of the measures, and the scores of all lists as in the paper."""
    if not promises:
        return
    longest = promises[0].max_length
    text = (
        "Preferred is a list with the correct option to one without (Correctness), to all longer "
        "lists with the same correct responses (Confidence), and to one of the same length that "
        "has the correct option later (Priority)."
    )
    if lists and longest <= _LONGEST_SHOWN:
        groups = ([one for one in promises if one.ordered is ordered] for ordered in (False, True))
        tables = [_every_list(group, scores) for group in groups if group]
    else:
        heading = ("", *(promise.measure for promise in promises))
        rows = [(name, *cells) for name, cells in _held(promises)]
        caption = f"What the measures promise, on all lists of up to {longest} options"
        note = f"{_CORRELATIONS}; table1.csv has the scores."
        tables = [TextTable(caption, heading, rows, note)]
    yield Section("promises", "What the measures promise", [text], tables=tables)


def _held(promises: Sequence[Promise]) -> Iterator[tuple[str, list[str]]]:
    """The rows under the scores."""
    for name in ("correctness", "confidence", "priority"):
        yield name.title(), ["yes" if getattr(one, name) else "no" for one in promises]
    for title, name in (("tau-b", "tau"), ("rho", "rho")):
        found = (getattr(one, name) for one in promises)
        yield title, ["–" if one is None else f"{one:.3f}" for one in found]


def _every_list(group: Sequence[Promise], scores: Sequence[ListScore]) -> TextTable:
    """The scores of all lists by measures of one gold order."""
    names = [promise.measure for promise in group]
    rows: dict[str, tuple[str, ...]] = {}
    for one in scores:
        if one.measure in names:
            start = rows.get(one.list, (one.list, str(one.gold)))
            rows[one.list] = (*start, f"{'*' if one.star else ''}{one.printed}")
    return TextTable(
        f"Measures that {'use' if group[0].ordered else 'ignore'} the order of options",
        ("List", "Gold", *names),
        [*rows.values(), *((name, "", *cells) for name, cells in _held(group))],
        f"*: no lower than a list that gold puts before it; {_CORRELATIONS}.",
        is_open=True,
    )
