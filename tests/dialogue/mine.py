"""A strategy, a user and a choice of questions of one's own, as a study would hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.users import CandidateList


def no_difference(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """DD for categories that are all there, written as one would."""
    far = np.zeros((len(answers), len(cases)))
    for a, weight in enumerate(cases.weights / cases.weights.sum()):
        answer = answers[:, a, np.newaxis]
        value = cases.values[:, a]
        apart = (answer != value).astype(float)
        far += weight * np.where(np.isnan(answer), 0.0, apart)
    return far


def first_below(shown: CandidateList) -> NDArray[np.int64]:
    """T5, written as one would."""
    places = []
    for row in shown.distance[:, :5]:
        near = [place for place, distance in enumerate(row) if distance < shown.threshold]
        places.append(near[0] if near else -1)
    return np.array(places)


def last_first(
    cases: EncodedCases,
    answers: NDArray[np.float64],
    asked: NDArray[np.bool_],
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """Ask for the last attribute first."""
    del cases, answers, random
    return np.asarray(asked.shape[1] - 1 - asked[:, ::-1].argmin(axis=1))


def broken(*_: Any) -> Any:  # noqa: ANN401
    """Raise."""
    raise KeyError("missing")


def text(*_: Any) -> str:  # noqa: ANN401
    """Give nonsense."""
    return "near"


def wide(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give one column too many."""
    return np.zeros((len(answers), len(cases) + 1))


def far(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give a distance above 1."""
    return np.full((len(answers), len(cases)), 1.5)


def unknown(cases: EncodedCases, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give NaN."""
    return np.full((len(answers), len(cases)), np.nan)


def beyond(shown: CandidateList) -> NDArray[np.int64]:
    """Select what is not in the list."""
    return np.full(len(shown.cases), 10)


def half(shown: CandidateList) -> NDArray[np.float64]:
    """Select half positions."""
    return np.full(len(shown.cases), 0.5)


def again(
    cases: EncodedCases,
    answers: NDArray[np.float64],
    asked: NDArray[np.bool_],
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """Ask for the first attribute again and again."""
    del cases, answers, random
    return np.zeros(len(asked), dtype=int)
