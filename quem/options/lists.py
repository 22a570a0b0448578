"""What systems answered: which list of options for which question, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from quem.lists import evaluate
from quem.report.rows import Interval, Row, col
from quem.scores.inference import query_means
from quem.scores.rows import ends, known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.scores.inference import Inference

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """The lists of one system, a list a question."""

    # Of shape (q,): whether there is a list at all; an empty one counts.
    answered: NDArray[np.bool_]
    question: Integers  # of shape (n,): of each option; rising, and in each list best first
    correct: NDArray[np.bool_]  # of shape (n,)
    confidence: Floats  # of shape (n,): NaN where the system told none
    n_correct: Integers  # of shape (q,): how many correct options each question has

    @cached_property
    def length(self) -> Integers:
        """How many options each list has, shape (q,)."""
        return np.bincount(self.question, minlength=len(self.answered))

    @property
    def has_correct(self) -> NDArray[np.bool_]:
        """Which lists have a correct option, shape (q,)."""
        return self.places[:, 0] > 0

    @cached_property
    def places(self) -> Integers:
        """Positions of all correct options of each list from 1, rising, then 0, shape (q, h)."""
        starts = np.cumsum(self.length) - self.length
        position = np.arange(len(self.question)) - starts[self.question] + 1
        question = self.question[self.correct]
        held = np.bincount(question, minlength=len(self.answered))
        places = np.zeros((len(held), max(int(held.max(initial=0)), 1)), dtype=np.int64)
        starts = np.cumsum(held) - held
        places[question, np.arange(len(question)) - starts[question]] = position[self.correct]
        return places

    @property
    def has_confidences(self) -> bool:
        """Whether each option has a confidence, and there are any."""
        return bool(len(self.confidence)) and not np.isnan(self.confidence).any()

    @property
    def has_probabilities(self) -> bool:
        """Whether all of them lie between 0 and 1."""
        between = (self.confidence >= 0) & (self.confidence <= 1)
        return self.has_confidences and bool(between.all())

    @property
    def rises(self) -> int:
        """How many lists have an option of higher confidence after one of lower confidence."""
        same = self.question[1:] == self.question[:-1]
        return len(np.unique(self.question[1:][same & (np.diff(self.confidence) > 0)]))

    def by_confidence(self) -> Answers:
        """The same lists with the options of the highest confidence first."""
        order = np.lexsort((-self.confidence, self.question))
        return replace(self, correct=self.correct[order], confidence=self.confidence[order])

    def shapes(self) -> tuple[list[Shape], Integers]:
        """The distinct lists as measures see them, and which of them each list is."""
        import pandas as pd

        rows = pd.DataFrame(np.column_stack([self.length, self.n_correct, self.places]))
        which = rows.groupby(list(rows), sort=False).ngroup().to_numpy().astype(np.int64)
        distinct = rows.drop_duplicates().to_numpy().tolist()
        return [Shape(n, known, tuple(filter(None, at))) for n, known, *at in distinct], which


class Shape(NamedTuple):
    """A list as measures see it."""

    length: int
    n_correct: int  # how many correct options the question has, in the list or not
    places: tuple[int, ...]  # of those in the list, from 1, rising

    def cut(self, length: int) -> Shape:
        """The list of the first options."""
        return Shape(length, self.n_correct, tuple(at for at in self.places if at <= length))

    def __str__(self) -> str:
        """In words, for errors of measures."""
        held = ", ".join(map(str, self.places))
        of = f" of {self.n_correct}" if self.n_correct > 1 else ""
        return f"{self.length} options, " + (f"number {held} correct{of}" if held else "all wrong")

    def options(self) -> list[int]:
        """The options; the correct ones are -1, -2, and so on."""
        options = list(range(self.length))
        for number, place in enumerate(self.places, 1):
            options[place - 1] = -number
        return options


def score_shapes(
    shapes: Sequence[Shape], measures: Sequence[Measure]
) -> tuple[Floats, dict[str, str]]:
    """Score lists, NaN where a measure is undefined; and the reason why each measure is.

    Shapes: the scores have (lists, measures).
    """
    place = {shape: at for at, shape in enumerate(dict.fromkeys(shapes))}
    run = {shape: shape.options() for shape in place}
    truth = {shape: range(-1, -1 - shape.n_correct, -1) for shape in place}
    scores = evaluate(run, truth, measures)
    reasons = {name: reason for _, name, reason in scores.undefined()}
    return scores.values[[place[shape] for shape in shapes]], reasons


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
