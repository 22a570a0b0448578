"""In which order the questions of a dialogue are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.space import Problem

_BINS = 4


@dataclass(frozen=True)
class Questions:
    """How questions are ordered."""

    rule: Literal["random", "fixed", "gain"] = "random"
    order: tuple[int, ...] = ()  # the attributes, for "fixed"

    def dialogues(self, orders: int) -> int:
        """How many dialogues each target has: one, if its question order is always the same."""
        return orders if self.rule == "random" else 1


def question_orders(
    questions: Questions,
    cases: EncodedCases,
    problem: Problem,
    values: NDArray[np.float64],
    orders: int,
    random: np.random.Generator,
) -> NDArray[np.intp]:
    """Order the questions of a target's dialogues.

    Shapes: `values` (m,).
    """
    m = len(cases.attributes)
    rows = questions.dialogues(orders)
    if questions.rule == "random":
        return random.permuted(np.tile(np.arange(m), (rows, 1)), axis=1)
    if questions.rule == "fixed":
        return np.array([questions.order], dtype=np.intp)
    others = cases if problem.left_out is None else cases.without(problem.left_out)
    answers = np.full((rows, m), np.nan)
    asked = np.zeros((rows, m), dtype=bool)
    sequences = np.empty((rows, m), dtype=np.intp)
    every = np.arange(rows)
    for step in range(m):
        following = information_gain(others, answers, asked)
        sequences[:, step] = following
        asked[every, following] = True
        answers[every, following] = values[following]
    return sequences


def information_gain(
    cases: EncodedCases,
    answers: NDArray[np.float64],
    asked: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Ask for the attribute with most information about the class.

    The gain in information about the class among the cases that agree with all answers so far; a
    number agrees if it lies in the same quarter of its values. Where fewer than two cases
    agree, or all that agree have one class, all cases count. Of equal gains, the attribute that
    is first in the case base.
    """
    grouped, answered = _grouped(cases, answers)
    known = ~np.isnan(answers)
    attributes = np.empty(len(answers), dtype=np.intp)
    for row in range(len(answers)):
        at = np.flatnonzero(known[row])
        agree = (grouped[:, at] == answered[row, at]).all(axis=1)
        if len(np.unique(cases.classes[agree])) < 2:  # noqa: PLR2004  one class tells nothing
            agree[:] = True
        gains = np.full(len(cases.attributes), -np.inf)
        for attribute in np.flatnonzero(~asked[row]):
            gains[attribute] = _gain(grouped[agree, attribute], cases.classes[agree])
        attributes[row] = np.round(gains, 9).argmax()
    return attributes


def _grouped(
    cases: EncodedCases, answers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Categories, and quarters of numbers; -1 where missing."""
    grouped = np.where(cases.known, cases.values, -1.0)
    answered = np.where(np.isnan(answers), -1.0, answers)
    for attribute in cases.numeric:
        known = cases.known[:, attribute]
        if not known.any():
            continue
        edges = np.quantile(cases.values[known, attribute], np.arange(1, _BINS) / _BINS)
        grouped[known, attribute] = np.searchsorted(edges, cases.values[known, attribute])
        there = ~np.isnan(answers[:, attribute])
        answered[there, attribute] = np.searchsorted(edges, answers[there, attribute])
    return grouped.astype(np.int64), answered.astype(np.int64)


def _gain(values: NDArray[np.int64], classes: NDArray[np.int64]) -> float:
    """Information that a value gives about the class, in bits; a missing one is a value too."""
    table = np.zeros((values.max() + 2, classes.max() + 1))
    np.add.at(table, (values + 1, classes), 1)
    whole = table.sum(axis=0)
    within = table.sum(axis=1)
    return _entropy(whole) - float(
        sum(count / len(values) * _entropy(row) for row, count in zip(table, within, strict=True))
    )


def _entropy(counts: NDArray[np.float64]) -> float:
    share = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(share * np.log2(share)).sum())
