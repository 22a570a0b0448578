"""What systems answered: which list of options for which question, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quem.lists import Measure, evaluate
from quem.lists.inference import query_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.study.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Answers", "LengthGroup", "Offered", "Scored", "Scorer", "by_length", "distinct_lists"]


@dataclass(frozen=True)
class Offered:
    """The options that all systems offered, list after list, best first.

    A list has a number: that of its system, times the number of questions, plus that of its
    question.

    Parameters
    ----------
    answered : array of bool, shape (systems, questions)
        Whether there is a list at all; an empty one counts.
    of_list : array of int, shape (n,)
        The list of each option; rising.
    correct : array of bool, shape (n,)
        Whether it is the right one.
    confidence : array of float, shape (n,)
        NaN where the system told none.
    """

    n_systems: int
    n_questions: int
    answered: NDArray[np.bool_]
    of_list: Integers
    correct: NDArray[np.bool_]
    confidence: Floats

    def of_system(self, system: int) -> Answers:
        """Give the lists of one system."""
        start, end = np.searchsorted(
            self.of_list, [system * self.n_questions, (system + 1) * self.n_questions]
        )
        part = slice(int(start), int(end))
        return Answers(
            self.answered[system],
            self.of_list[part] - system * self.n_questions,
            self.correct[part],
            self.confidence[part],
        )


@dataclass(frozen=True)
class Answers:
    """The lists of one system, a list a question.

    Parameters
    ----------
    answered : array of bool, shape (q,)
        Whether there is a list; an empty one counts.
    question : array of int, shape (n,)
        The question of each option; rising, and in each list best first.
    correct : array of bool, shape (n,)
    confidence : array of float, shape (n,)
    """

    answered: NDArray[np.bool_]
    question: Integers
    correct: NDArray[np.bool_]
    confidence: Floats

    @cached_property
    def length(self) -> Integers:
        """How many options each list has, shape (q,)."""
        return np.bincount(self.question, minlength=len(self.answered))

    @cached_property
    def position(self) -> Integers:
        """The place of each option in its list, from 1, shape (n,)."""
        starts = np.cumsum(self.length) - self.length
        return np.arange(len(self.question)) - starts[self.question] + 1

    @cached_property
    def place(self) -> Integers:
        """Position of the correct option in each list, from 1; 0 where it does not, shape (q,)."""
        place = np.zeros(len(self.answered), dtype=np.int64)
        place[self.question[self.correct]] = self.position[self.correct]
        return place

    @property
    def has_confidences(self) -> bool:
        """Whether each option has a confidence, and there are any."""
        return bool(len(self.confidence)) and not np.isnan(self.confidence).any()

    @property
    def falls(self) -> NDArray[np.bool_]:
        """Whether the confidences of each list fall from first to last, or stay, shape (q,)."""
        falls = np.ones(len(self.answered), dtype=bool)
        same = self.question[1:] == self.question[:-1]
        falls[self.question[1:][same & (self.confidence[1:] > self.confidence[:-1])]] = False
        return falls

    def by_confidence(self) -> Answers:
        """The same lists with the options of the highest confidence first."""
        order = np.lexsort((-self.confidence, self.question))
        return Answers(self.answered, self.question, self.correct[order], self.confidence[order])


# Columns that are resampled at once.
_COLUMNS = 256


@dataclass(frozen=True)
class LengthGroup:
    """The lists of one length of one system.

    Parameters
    ----------
    count, correct : int
        How many lists there are, and how many of them have the correct option.
    share : float
        Of lists with the correct option.
    share_interval : (float, float)
    scores : tuple of float
        The mean of each measure.
    headline_interval : (float, float)
    """

    system: int
    length: int
    count: int
    correct: int
    share: float
    share_interval: tuple[float, float]
    scores: tuple[float, ...]
    headline_interval: tuple[float, float]


def by_length(
    lengths: Integers,
    places: Integers,
    scores: Floats,
    headline: int,
    settings: OptionsSettings,
) -> tuple[LengthGroup, ...]:
    """Group the lists of each system by their length.

    Parameters
    ----------
    lengths : array of int, shape (systems, questions)
        -1 where there is no list.
    places : array of int, the same shape
        Place of the correct option, from 1; 0 where it does not.
    scores : array of float, shape (systems, questions, measures)

    Returns
    -------
    tuple of LengthGroup
        System by system, the shorter first. Bootstrap intervals draw all questions, so that
        how many lists have a length varies too.
    """
    groups = [
        (system, length)
        for system in range(len(lengths))
        for length in np.unique(lengths[system][lengths[system] >= 0]).tolist()
    ]
    length_groups = []
    for start in range(0, len(groups), _COLUMNS // 2):
        part = groups[start : start + _COLUMNS // 2]
        inside = np.stack([lengths[system] == length for system, length in part], axis=1)
        has = np.stack([places[system] > 0 for system, _ in part], axis=1)
        best = np.stack([scores[system, :, headline] for system, _ in part], axis=1)
        columns = np.hstack([np.where(inside, has, np.nan), np.where(inside, best, np.nan)])
        means = query_means(
            columns, level=settings.level, replicates=settings.bootstrap, seed=settings.seed
        )
        ends = list(zip(means.low.tolist(), means.high.tolist(), strict=True))
        for at, (system, length) in enumerate(part):
            members = inside[:, at]
            length_groups.append(
                LengthGroup(
                    system,
                    length,
                    int(members.sum()),
                    int((places[system][members] > 0).sum()),
                    float(means.mean[at]),
                    ends[at],
                    tuple(_column_means(scores[system][members]).tolist()),
                    ends[len(part) + at],
                )
            )
    return tuple(length_groups)


def _column_means(scores: Floats) -> Floats:
    return query_means(scores, level=0.5, replicates=0, seed=0).mean


@dataclass(frozen=True)
class Scorer:
    """The measures of an analysis.

    Parameters
    ----------
    names : tuple of str
        As the settings spell them.
    headline : int
        Which of them is the headline.
    max_length : int
        The longest list that there can be, for measures whose definition asks for it.
    """

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    headline: int
    max_length: int

    def score(self, length: Integers, place: Integers) -> Scored:
        """Score lists by every measure.

        Parameters
        ----------
        length : array of int
            How many options each list has.
        place : array of int, the same shape
            Place of the correct option, from 1; 0 where it does not.
        """
        pairs, which = distinct_lists(length, place)
        run = {_in_words(*pair): _options(*pair) for pair in pairs}
        scores = evaluate(run, dict.fromkeys(run, (0,)), self.measures)
        return Scored(scores.values, scores.reason_codes, scores.reasons, which)


@dataclass(frozen=True)
class Scored:
    """The scores of lists, each distinct list once.

    Parameters
    ----------
    values : array of float, shape (distinct lists, measures)
        NaN where a measure is undefined.
    codes : array of int, the same shape
        Where in `reasons` it is said why.
    reasons : tuple of str
        The first is empty.
    which : array of int
        For each list that was scored, which of the distinct ones it is.
    """

    values: Floats
    codes: NDArray[np.intp]
    reasons: tuple[str, ...]
    which: Integers


def distinct_lists(length: Integers, place: Integers) -> tuple[list[tuple[int, int]], Integers]:
    """Give the distinct lists, as length and place, and which of them each list is."""
    width = int(length.max(initial=0)) + 1
    codes, back = np.unique((length * width + place).ravel(), return_inverse=True)
    return [divmod(code, width) for code in codes.tolist()], back.reshape(length.shape)


def _in_words(length: int, place: int) -> str:
    """Name a list in an error of a measure."""
    return f"{length} options, " + (f"number {place} correct" if place else "none correct")


def _options(length: int, place: int) -> list[int]:
    """Make a list of options, of which 0 is the correct one."""
    options = list(range(1, length + 1))
    if place:
        options[place - 1] = 0
    return options
