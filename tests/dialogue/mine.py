"""Strategies of one's own, as a study would hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases


def no_difference(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """DD for categories that are all there, written as one would."""
    far = np.zeros((len(answers), len(cases)))
    for a, weight in enumerate(cases.weights / cases.weights.sum()):
        answer = answers[:, a, np.newaxis]
        value = cases.values[:, a]
        apart = (answer != value).astype(float)
        far += weight * np.where(np.isnan(answer), 0.0, apart)
    return far


def broken(*_: Any) -> Any:  # noqa: ANN401
    raise KeyError("missing")


def text(*_: Any) -> str:  # noqa: ANN401
    return "near"


def wide(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.zeros((len(answers), len(cases) + 1))


def far(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full((len(answers), len(cases)), 1.5)


def unknown(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full((len(answers), len(cases)), np.nan)
