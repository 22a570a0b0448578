"""Confidences of options: calibration, the accuracy by confidence, and thresholds.

Every option counts, not only the best of a list. Options of one question are dependent, so all
intervals resample whole questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quem.options.lists import Answers, score_lists
from quem.report.rows import Interval, Row, col
from quem.scores.inference import Inference, drawn_queries, percentile_interval, query_means
from quem.scores.rows import ends, known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.lists import Measure

    Floats = NDArray[np.float64]

_BINS = 10
_MOST_THRESHOLDS = 50


class Bin(Row):
    """Options of similar confidence."""

    title: ClassVar[str] = "Reliability"
    system: str = col("id")
    lowest: float = col("confidence in the bin")
    highest: float = col("confidence in the bin")
    confidence: float = col("mean confidence in the bin")
    options: int = col("options in the bin")
    correct: float = col("share of them that is correct")
    interval: Interval | None = col("of that share")


class Calibration(Row):
    """The calibration of a system's confidences."""

    title: ClassVar[str] = "Calibration of confidences"
    system: str = col("id")
    name: str = col("name of the system", "System", kind="csv")
    options: int = col("options of the system", "Options")
    questions: int = col("the questions that they are of")
    base_rate: float = col("share of options that are correct", "Base rate", digits=3)
    brier: float = col("mean of (confidence - correct)^2 over the options", "Brier", digits=3)
    brier_interval: Interval | None = col("of the Brier score")
    ece: float = col(
        "expected calibration error: mean distance of mean confidence and share of correct "
        "options over the bins, weighted by their options",
        "ECE",
        digits=3,
    )
    chance_most: float | None = col(
        "what the ECE of true probabilities is below, at the level of the intervals",
        "By chance up to",
        digits=3,
    )


def calibration(
    ids: tuple[str, str], answers: Answers, inference: Inference
) -> tuple[Calibration, list[Bin]]:
    """Compare the confidences of a system with the accuracy of its options.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly
    Weather Review, 78(1), 1-3. Naeini, M. P., Cooper, G. F., & Hauskrecht, M. (2015). Obtaining
    well calibrated probabilities using Bayesian binning. AAAI, 2901-2907. Broecker, J., & Smith,
    L. A. (2007). Increasing the reliability of reliability diagrams. Weather and Forecasting,
    22(3), 651-661.
    """
    confidence, correct = answers.confidence, answers.correct
    _, question = np.unique(answers.question, return_inverse=True)
    # Bins of about equal size; options of one confidence stay together.
    edges = np.quantile(confidence, np.arange(1, _BINS) / _BINS, method="higher")
    _, of_bin = np.unique(np.searchsorted(edges, confidence, side="right"), return_inverse=True)
    n, bins = int(question.max()) + 1, int(of_bin.max()) + 1
    # Per question: its sums in the bins, and its squared distances.
    counts, rights, confidences = (
        np.bincount(question * bins + of_bin, weights=weight, minlength=n * bins).reshape(n, bins)
        for weight in (None, correct, confidence)
    )
    squares = np.bincount(question, weights=(confidence - correct) ** 2)
    columns = np.column_stack([counts, rights, confidences, squares])
    brier, ece, *shares = _measured(columns.sum(axis=0, keepdims=True))[0].tolist()
    several = inference if n > 1 else inference._replace(samples=0)
    drawn = [_measured(times @ columns) for times in drawn_queries(n, several)]
    intervals = percentile_interval(
        np.concatenate([np.empty((0, bins + 2)), *drawn]), inference.level
    )
    brier_interval, _, *share_intervals = map(ends, *intervals)
    found = Calibration(
        system=ids[0],
        name=ids[1],
        options=len(confidence),
        questions=n,
        base_rate=float(correct.mean()),
        brier=brier,
        brier_interval=brier_interval,
        ece=ece,
        chance_most=_by_chance(confidence, of_bin, inference),
    )
    return found, [
        Bin(
            system=ids[0],
            lowest=float(confidence[of_bin == at].min()),
            highest=float(confidence[of_bin == at].max()),
            confidence=float(confidence[of_bin == at].mean()),
            options=int(counts[:, at].sum()),
            correct=shares[at],
            interval=share_intervals[at],
        )
        for at in range(bins)
    ]


def _by_chance(confidence: Floats, of_bin: NDArray[np.intp], inference: Inference) -> float | None:
    """The upper end of the ECE under perfect calibration, simulated."""
    if not inference.samples:
        return None
    spread = np.bincount(of_bin, weights=confidence * (1 - confidence)) / len(confidence) ** 2
    rng = np.random.default_rng(inference.seed)
    drawn = np.abs(rng.normal(size=(inference.replicates, len(spread))) * np.sqrt(spread))
    return float(np.quantile(drawn.sum(axis=1), inference.level))


def _measured(sums: Floats) -> Floats:
    """Brier score, ECE, and accuracy in each bin.

    Shapes: `sums` (r, 3 b + 1); the result has (r, 2 + b).
    """
    counts, rights, confidences = np.split(sums[:, :-1], 3, axis=1)
    options = counts.sum(axis=1)
    with np.errstate(invalid="ignore"):
        share = rights / counts
    ece = np.abs(rights - confidences).sum(axis=1) / options
    return np.column_stack([sums[:, -1] / options, ece, share])


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
