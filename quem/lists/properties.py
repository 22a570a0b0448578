"""Properties of measures of option lists, checked on all short lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.lists.evaluation import evaluate
from quem.lists.names import Chosen, measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.lists.measure import Measure

# Smaller differences are rounding errors.
_SAME = 1e-12


@dataclass(frozen=True)
class Counterexample:
    """Two lists whose better one the measure does not prefer."""

    # c is the correct option, w a wrong one
    better: str
    worse: str
    better_score: float
    worse_score: float

    def __str__(self) -> str:
        """``wwc (0.42) should score better than cwww (0.7)``."""
        return (
            f"{self.better} ({self.better_score:.4g}) should score better than "
            f"{self.worse} ({self.worse_score:.4g})"
        )


@dataclass(frozen=True)
class Property:
    """Whether a measure has a property (Atanasova et al., section 2)."""

    name: str
    promise: str  # which of two lists should score better
    counterexample: Counterexample | None  # of the shortest lists; None if it holds

    @property
    def holds(self) -> bool:
        """Whether the property holds."""
        return self.counterexample is None


@dataclass(frozen=True)
class Properties:
    """The three properties of a measure, on lists of up to `max_length` options."""

    measure: Measure
    max_length: int
    correctness: Property
    confidence: Property
    priority: Property

    def __iter__(self) -> Iterator[Property]:
        """The three in this order."""
        return iter((self.correctness, self.confidence, self.priority))


def option_lists(max_length: int) -> list[str]:
    """All lists of options: c is the correct one, w a wrong one."""
    return [
        "w" * before + "c" + "w" * (length - before - 1) if before < length else "w" * length
        for length in range(1, max_length + 1)
        for before in range(length + 1)
    ]


def properties(by: Chosen, max_length: int = 5) -> Properties:
    """Check by enumeration whether a measure has the properties of Atanasova et al.

    *Correctness*: a list with the correct option is better than one without. *Confidence*: of
    two lists that both have it, or both do not, that with fewer wrong options is better.
    *Priority*: of two lists as long as each other, that which has the correct option sooner is
    better.

    Parameters
    ----------
    max_length : int
        Lists of up to this number of options are compared, of which at most one is correct.

    Returns
    -------
    Properties

    Raises
    ------
    QuemError
        The measure is unknown, or undefined for such lists.
    """
    if isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1:
        raise QuemError(
            f"max_length: should be a whole number of at least 1, and not {max_length!r}"
        )
    chosen = measure(by)
    if chosen.definition.better == "lower":
        raise QuemError(
            f"{chosen}: lower is better, and the properties are of measures where higher is"
        )
    lists = option_lists(max_length)
    gain = _scores(chosen, lists)
    correct = np.array([kind.count("c") for kind in lists])
    wrong = np.array([kind.count("w") for kind in lists])
    place = np.array([kind.find("c") for kind in lists])

    def check(name: str, promise: str, better: NDArray[np.bool_]) -> Property:
        """The shortest pair whose first list should be better, and is not."""
        pairs = np.argwhere(better & (gain[:, np.newaxis] - gain <= _SAME))
        if not len(pairs):
            return Property(name, promise, None)
        first, second = pairs[np.argmin((correct + wrong)[pairs].sum(axis=1))].tolist()
        scores = float(gain[first]), float(gain[second])
        return Property(name, promise, Counterexample(lists[first], lists[second], *scores))

    more_correct = correct[:, np.newaxis] - correct
    fewer_wrong = wrong - wrong[:, np.newaxis]
    both = correct[:, np.newaxis] * correct == 1
    sooner = place[:, np.newaxis] < place
    return Properties(
        chosen,
        max_length,
        check(
            "Correctness",
            "a list with the correct option is better than one without",
            more_correct > 0,
        ),
        check(
            "Confidence",
            "of lists with, or of lists without the correct option, a shorter one is better",
            (more_correct == 0) & (fewer_wrong > 0),
        ),
        check(
            "Priority",
            "of lists of one length, that is better which has the correct option sooner",
            both & (fewer_wrong == 0) & sooner,
        ),
    )


def _scores(chosen: Measure, lists: list[str]) -> NDArray[np.float64]:
    run = {
        kind: [f"{sign}{i}" if sign == "w" else sign for i, sign in enumerate(kind)]
        for kind in lists
    }
    scores = evaluate(run, {kind: ["c"] for kind in lists}, [chosen])
    for query, name, reason in scores.undefined():
        raise QuemError(f"{name}: has no score for the list {query}: {reason}")
    return scores.values[:, 0]
