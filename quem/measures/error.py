"""Errors: how far the similarities in a list are from the true ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition, Parameter
from quem.measures.ragged import sum_by
from quem.measures.wording import NO_SIMILARITIES, PROCAKE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.measures.lists import Lists
    from quem.measures.measure import Outcome

__all__ = ["MEASURES"]

_BY = Parameter(
    "by",
    "position",
    "what is compared: the similarities at the same position, or of the same case",
    kind=str,
    choices=("position", "case"),
)
_NO_PAIR = {
    "position": "the list or the ground truth is empty",
    "case": "list and ground truth have no item in common",
}


def _mae(lists: Lists, by: str) -> Outcome:
    return _mean(lists, by, np.abs)


def _mse(lists: Lists, by: str) -> Outcome:
    return _mean(lists, by, np.square)


def _mean(lists: Lists, by: str, loss: np.ufunc) -> Outcome:
    compared, truth = _by_case(lists) if by == "case" else _by_position(lists)
    lost = loss(lists.score[compared] - truth)
    row = lists.run.row[compared]
    count = np.bincount(row, minlength=len(lists))
    total = sum_by(row, lost, len(lists))
    undefined = ((~lists.scored, NO_SIMILARITIES), (count == 0, _NO_PAIR[by]))
    return total / np.maximum(count, 1), undefined


def _by_case(lists: Lists) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    return lists.known, lists.value[lists.known]


def _by_position(lists: Lists) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    run, truth = lists.run, lists.truth
    compared = run.position <= truth.sizes[run.row]
    at = truth.starts[run.row[compared]] + run.position[compared] - 1
    return compared, lists.true_value[at]


def _definition(name: str, noun: str, formula: str, compute: Callable[..., Outcome]) -> Definition:
    return Definition(
        name=name,
        family="retrieval",
        summary=f"The mean {noun} of the similarities, by position or by case.",
        formula=formula,
        compute=compute,
        low=0,
        high=1,
        better="lower",
        truth="grades",
        ties="By position they do not matter, nor by case.",
        short="By position, as many positions are compared as both have; by case, the common ones.",
        unknown="By position its similarity counts like any other; by case it is left out.",
        undefined="Where nothing can be compared, and for a list without similarities.",
        citation=PROCAKE,
        parameters=(_BY,),
        shown_with=("", "(by=case)"),
    )


MEASURES = (
    _definition("MAE", "absolute error", "Σ |sim - true sim| / number compared", _mae),
    _definition("MSE", "squared error", "Σ (sim - true sim)² / number compared", _mse),
)
