"""What systems answered: which list of options for which question, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quem.lists import Measure, evaluate
from quem.lists.inference import query_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.studyfile.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Offered:
    """The options that all systems offered, list after list, best first.

    A list has a number: that of its system, times the number of questions, plus that of its
    question.
    """

    n_systems: int
    n_questions: int
    # Of shape (systems, questions): whether there is a list at all; an empty one counts.
    answered: NDArray[np.bool_]
    of_list: Integers  # of shape (n,): the list of each option; rising
    correct: NDArray[np.bool_]  # of shape (n,): whether it is a right one
    confidence: Floats  # of shape (n,): NaN where the system told none
    n_correct: Integers  # of shape (questions,): how many right options each question has

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
            self.n_correct,
        )


@dataclass(frozen=True)
class Answers:
    """The lists of one system, a list a question."""

    answered: NDArray[np.bool_]  # of shape (q,): whether there is a list; an empty one counts
    # Of shape (n,): the question of each option; rising, and in each list best first.
    question: Integers
    correct: NDArray[np.bool_]  # of shape (n,)
    confidence: Floats  # of shape (n,)
    n_correct: Integers  # of shape (q,): how many right options each question has

    @cached_property
    def length(self) -> Integers:
        """How many options each list has, shape (q,)."""
        return np.bincount(self.question, minlength=len(self.answered))

    @cached_property
    def position(self) -> Integers:
        """The place of each option in its list, from 1, shape (n,)."""
        starts = np.cumsum(self.length) - self.length
        return np.arange(len(self.question)) - starts[self.question] + 1

    @property
    def place(self) -> Integers:
        """Position of the first correct option in each list, from 1; 0 without one, shape (q,)."""
        return self.places[:, 0]

    @cached_property
    def places(self) -> Integers:
        """Positions of all correct options of each list, rising, and then 0, shape (q, h)."""
        question, position = self.question[self.correct], self.position[self.correct]
        held = np.bincount(question, minlength=len(self.answered))
        places = np.zeros((len(held), max(int(held.max(initial=0)), 1)), dtype=np.int64)
        starts = np.cumsum(held) - held
        places[question, np.arange(len(question)) - starts[question]] = position
        return places

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
        return Answers(
            self.answered,
            self.question,
            self.correct[order],
            self.confidence[order],
            self.n_correct,
        )


@dataclass(frozen=True)
class Ways:
    """How the correct options are placed in lists, each way once."""

    places: tuple[tuple[int, ...], ...]  # the positions of the correct options, rising
    n_correct: tuple[int, ...]  # how many correct options the question has, in the list or not
    which: Integers  # for each list, in which way

    def __len__(self) -> int:
        """Count the ways."""
        return len(self.places)

    def cut(self) -> tuple[Ways, Integers]:
        """Give the ways of lists of which only the first options are left.

        Shapes: `left` (ways, h + 1).
        """
        known: dict[tuple[tuple[int, ...], int], int] = {}
        most = max(map(len, self.places), default=0)
        left = [
            [known.setdefault((places[:count], n_correct), len(known)) for count in range(most + 1)]
            for places, n_correct in zip(self.places, self.n_correct, strict=True)
        ]
        table = np.array(left, dtype=np.int64).reshape(len(self), most + 1)
        places, n_correct = zip(*known, strict=True) if known else ((), ())
        return Ways(places, n_correct, table[self.which, most]), table


def ways_of(systems: Sequence[Answers]) -> Ways:
    """Find the ways of the lists of systems that answered the same questions."""
    n_correct = np.concatenate([answers.n_correct for answers in systems])
    columns = [n_correct]
    for at in range(max(answers.places.shape[1] for answers in systems)):
        parts = [
            answers.places[:, at]
            if at < answers.places.shape[1]
            else np.zeros(len(answers.answered), dtype=np.int64)
            for answers in systems
        ]
        columns.append(np.concatenate(parts))
    code = np.zeros(len(n_correct), dtype=np.int64)
    for column in columns:
        if int(code.max(initial=0)) > _LARGE_CODE:
            code = np.unique(code, return_inverse=True)[1]
        code = code * (int(column.max(initial=0)) + 1) + column
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    places = zip(*(column[first].tolist() for column in columns[1:]), strict=True)
    return Ways(
        tuple(tuple(filter(None, row)) for row in places),
        tuple(n_correct[first].tolist()),
        which.reshape(len(systems), -1),
    )


# Codes up to this can be multiplied by a length of a list.
_LARGE_CODE = 2**31


# Columns that are resampled at once.
_COLUMNS = 256


@dataclass(frozen=True)
class LengthGroup:
    """The lists of one length of one system."""

    system: int
    length: int
    # How many lists there are, and how many of them have a correct option
    count: int
    correct: int
    share: float  # of lists with a correct option
    share_interval: tuple[float, float]
    scores: tuple[float, ...]  # the mean of each measure
    headline_interval: tuple[float, float]


def by_length(
    lengths: Integers,
    places: Integers,
    scores: Floats,
    headline: int,
    settings: OptionsSettings,
) -> tuple[LengthGroup, ...]:
    """Group the lists of each system by their length.

    Shapes: `lengths` (systems, questions); `scores` (systems, questions, measures).
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
    """The measures of an analysis."""

    names: tuple[str, ...]  # as the settings spell them
    measures: tuple[Measure, ...]
    headline: int  # which of them is the headline
    max_length: int  # the longest list that there can be, for measures whose definition asks for it

    def score(self, length: Integers, ways: Ways) -> Scored:
        """Score lists by every measure."""
        codes, back = np.unique((length * len(ways) + ways.which).ravel(), return_inverse=True)
        run, truth = {}, {}
        for code in codes.tolist():
            options, way = divmod(code, len(ways))
            name = _in_words(options, ways.places[way], ways.n_correct[way])
            run[name] = _options(options, ways.places[way])
            truth[name] = range(-1, -1 - ways.n_correct[way], -1)
        scores = evaluate(run, truth, self.measures)
        return Scored(
            scores.values, scores.reason_codes, scores.reasons, back.reshape(length.shape)
        )


@dataclass(frozen=True)
class Scored:
    """The scores of lists, each distinct list once."""

    values: Floats  # of shape (distinct lists, measures): NaN where a measure is undefined
    codes: NDArray[np.intp]  # where in `reasons` it is said why
    reasons: tuple[str, ...]  # the first is empty
    which: Integers  # for each list that was scored, which of the distinct ones it is


def _in_words(length: int, places: Sequence[int], n_correct: int) -> str:
    """Name a list in an error of a measure."""
    held = f"number {', '.join(map(str, places))} correct" if places else "none correct"
    return f"{length} options, {held}" + (f" of {n_correct}" if n_correct > 1 else "")


def _options(length: int, places: Sequence[int]) -> list[int]:
    """Make a list of options, of which the correct ones are -1, -2, and so on."""
    options = list(range(length))
    for number, place in enumerate(places, 1):
        options[place - 1] = -number
    return options
