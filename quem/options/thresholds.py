"""Lists cut at thresholds of confidence.

A cut list has the options whose confidence reaches a threshold, and always the best one. No
measure chooses the threshold: for lists in the order of true probabilities LAR is highest with one
option (``docs/how-to/options.md``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quem.options.lists import score_lists
from quem.report.rows import Interval, Row, col
from quem.scores.inference import query_means
from quem.scores.rows import ends, known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.options.lists import Answers
    from quem.scores.inference import Inference

_MOST_THRESHOLDS = 50


class Threshold(Row):
    """The lists of a system at a threshold."""

    title: ClassVar[str] = "Thresholds"
    system: str = col("id")
    threshold: float = col("confidence from which an option is shown")
    length: float = col("mean number of options shown")
    correct: float = col("share of lists with a correct option")
    mean: float | None = col("of the headline")
    interval: Interval | None = col("of the mean")


def sweep(
    system: str,
    answers: Answers,
    counted: NDArray[np.bool_],
    headline: Measure,
    inference: Inference,
) -> Iterator[Threshold]:
    """Score the lists of a system at each threshold.

    Shapes: `counted` (questions,).
    """
    answers = answers.by_confidence()
    distinct = np.unique(answers.confidence)
    steps = np.linspace(0, len(distinct) - 1, min(_MOST_THRESHOLDS, len(distinct)))
    thresholds = distinct[steps.round().astype(np.int64)].tolist()
    lists = [one for one, counts in zip(answers.lists, counted, strict=True) if counts]
    n_correct = answers.n_correct[counted].tolist()
    cut: list[list[str]] = []
    for threshold in thresholds:
        reached = answers.question[answers.confidence >= threshold]
        lengths = np.bincount(reached, minlength=len(counted))[counted].tolist()
        cut.append([one[: max(length, 1)] for one, length in zip(lists, lengths, strict=True)])
    every = (pair for shown in cut for pair in zip(shown, n_correct, strict=True))
    scores, _ = score_lists(every, [headline])
    means = query_means(scores.reshape(len(cut), -1).T, inference)
    for at, (threshold, shown) in enumerate(zip(thresholds, cut, strict=True)):
        yield Threshold(
            system=system,
            threshold=threshold,
            length=float(np.mean([len(one) for one in shown])),
            correct=float(np.mean(["c" in one for one in shown])),
            mean=known(means.mean[at]),
            interval=ends(means.low[at], means.high[at]),
        )
