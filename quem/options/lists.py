"""Option lists of systems as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quem.lists import Measure, evaluate
from quem.report.rows import Interval, Row, col
from quem.scores.inference import Inference, query_means
from quem.scores.rows import ends, known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """The lists of one system, one per question."""

    # Of shape (q,): whether there is a list; an empty one counts.
    answered: NDArray[np.bool_]
    n_correct: NDArray[np.int64]  # of shape (q,): correct options of a question, listed or not
    question: NDArray[np.int64]  # of shape (n,): of each option; increasing, each list best first
    correct: NDArray[np.bool_]  # of shape (n,)
    confidence: Floats  # of shape (n,): NaN where missing

    @cached_property
    def lists(self) -> list[str]:
        """Each question's list as text: c is a correct option, w a wrong one."""
        signs = "".join(np.where(self.correct, "c", "w").tolist())
        ends = np.searchsorted(self.question, np.arange(len(self.answered) + 1)).tolist()
        return [signs[start:end] for start, end in pairwise(ends)]

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """The length of each list, shape (q,)."""
        return np.array(list(map(len, self.lists)))

    @cached_property
    def has_correct(self) -> NDArray[np.bool_]:
        """Which lists have a correct option, shape (q,)."""
        return np.array(["c" in one for one in self.lists])

    @property
    def has_confidences(self) -> bool:
        """Whether there are options and each has a confidence."""
        return bool(len(self.confidence)) and not np.isnan(self.confidence).any()

    @property
    def has_probabilities(self) -> bool:
        """Whether all confidences are between 0 and 1."""
        between = (self.confidence >= 0) & (self.confidence <= 1)
        return self.has_confidences and bool(between.all())

    @property
    def rises(self) -> int:
        """The number of lists in which a higher confidence follows a lower one."""
        same = self.question[1:] == self.question[:-1]
        return len(np.unique(self.question[1:][same & (np.diff(self.confidence) > 0)]))

    def by_confidence(self) -> Answers:
        """The lists sorted by decreasing confidence."""
        order = np.lexsort((-self.confidence, self.question))
        return replace(self, correct=self.correct[order], confidence=self.confidence[order])


def score_lists(
    lists: Iterable[tuple[str, int]], measures: Sequence[Measure]
) -> tuple[Floats, dict[str, str]]:
    """Score lists, NaN where a measure is undefined, with the reason per measure.

    Each list comes as its text and the number of correct options of its question. Shapes: the
    scores have (lists, measures).
    """
    places: dict[tuple[str, int], int] = {}
    which = [places.setdefault(one, len(places)) for one in lists]
    run = {(signs, n): _options(signs) for signs, n in places}
    truth = {(signs, n): range(-1, -1 - n, -1) for signs, n in places}
    scores = evaluate(run, truth, measures)
    return scores.values[which], {name: reason for _, name, reason in scores.undefined()}


def _options(signs: str) -> list[int]:
    """The options of a list; the correct ones are -1, -2, and so on."""
    correct = count(-1, -1)
    return [next(correct) if sign == "c" else at for at, sign in enumerate(signs)]


class System(Row):
    """Properties of a system's lists besides their scores."""

    title: ClassVar[str] = "Systems"
    system: str = col("id")
    name: str = col("name in the report", "System")
    lists: int = col("questions with a list")
    missing: int = col("questions without one", "Missing")
    empty: int = col("lists without an option")
    correct: float | None = col("share of lists with a correct option", "Correct", digits=3)
    length: float | None = col("options per list", "Options", digits=2)


def described(ids: tuple[str, str], answers: Answers, counts: NDArray[np.bool_]) -> System:
    """The properties of a system's lists besides their scores."""
    some = counts.any()
    return System(
        system=ids[0],
        name=ids[1],
        lists=int(answers.answered.sum()),
        missing=int((~answers.answered).sum()),
        empty=int((answers.answered & (answers.length == 0)).sum()),
        correct=float(answers.has_correct[counts].mean()) if some else None,
        length=float(answers.length[counts].mean()) if some else None,
    )


class Length(Row):
    """The lists of one length of one system."""

    title: ClassVar[str] = "Lists by their length"
    system: str = col("id")
    name: str = col("name of the system", "System", kind="csv")
    length: int = col("options in a list", "Options")
    lists: int = col("lists of that length", "Lists")
    correct: int = col("of them, with a correct option", "With a correct one")
    mean: float | None = col("of the headline", "Mean", digits=3)
    interval: Interval | None = col("of the mean", "Interval", digits=3)


def by_length(
    ids: tuple[str, str],
    answers: Answers,
    counts: NDArray[np.bool_],
    headline: Floats,
    inference: Inference,
) -> Iterator[Length]:
    """Group the lists of a system by their length.

    Shapes: `counts`, `headline` (questions,).
    """
    distinct, which = np.unique(answers.length[counts], return_inverse=True)
    inside = which[:, np.newaxis] == np.arange(len(distinct))
    means = query_means(np.where(inside, headline[counts, np.newaxis], np.nan), inference)
    correct = np.bincount(which, weights=answers.has_correct[counts])
    for at, length in enumerate(distinct.tolist()):
        yield Length(
            system=ids[0],
            name=ids[1],
            length=length,
            lists=int(inside[:, at].sum()),
            correct=int(correct[at]),
            mean=known(means.mean[at]),
            interval=ends(means.low[at], means.high[at]),
        )
