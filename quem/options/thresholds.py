"""The lists that thresholds of confidence leave.

A list is made of the options whose confidence reaches a threshold, and of the best one in any case.
No measure says which threshold to use: for lists in the order of true probabilities LAR is highest
with one option (``docs/explanation/list-length.md``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quem.options.lists import score_shapes
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
    """The lists of a system that a threshold leaves."""

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
    shapes, which = answers.shapes()
    cut = []
    for threshold in thresholds:
        reached = answers.question[answers.confidence >= threshold]
        length = np.bincount(reached, minlength=len(counted))
        length = np.maximum(length, np.minimum(answers.length, 1))[counted]
        pairs = zip(which[counted].tolist(), length.tolist(), strict=True)
        cut.append([shapes[at].cut(length) for at, length in pairs])
    scores, _ = score_shapes([shape for lists in cut for shape in lists], [headline])
    means = query_means(scores.reshape(len(cut), -1).T, inference)
    for at, (threshold, lists) in enumerate(zip(thresholds, cut, strict=True)):
        yield Threshold(
            system=system,
            threshold=threshold,
            length=float(np.mean([shape.length for shape in lists])),
            correct=float(np.mean([bool(shape.places) for shape in lists])),
            mean=known(means.mean[at]),
            interval=ends(means.low[at], means.high[at]),
        )
