"""Whether confidences are probabilities: how often options of a confidence are correct.

Each option that was offered counts, not only the best of a list. Options of one question depend on
each other, so all intervals draw whole questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.inference import draw_queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.options.lists import Answers
    from quem.studyfile.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

Interval = tuple[float, float]


@dataclass(frozen=True)
class Bin:
    """Options of about one confidence."""

    # The confidences there
    low: float
    high: float
    mean: float
    n: int  # options
    share: float  # of correct ones
    share_interval: Interval


@dataclass(frozen=True)
class Calibration:
    """How well the confidences of a system are calibrated."""

    system: int
    # Options, and the questions that they are of
    n_options: int
    n_questions: int
    base_rate: float  # the share of options that are correct
    brier: float  # the mean of (confidence - correct)^2 over the options; 0 is perfect
    brier_interval: Interval
    # 1 less the Brier score over that of the base rate as every option's confidence; NaN where all
    # options are correct or none is.
    skill: float
    skill_interval: Interval
    # The expected calibration error: the mean over the bins of the distance of mean confidence and
    # share of correct options, weighted by their options. It is above 0 by chance alone.
    ece: float
    # The mean of what chance alone makes of it, and what it is below at the level of the intervals,
    # if confidences were true probabilities.
    ece_by_chance: Interval
    ece_corrected: float  # the ECE less its bias, by bootstrap, and 0 at least
    # Of the ECE, with the bias taken off; from 0 on where chance alone makes as much of it.
    ece_interval: Interval
    bins: tuple[Bin, ...]


def are_probabilities(confidence: Floats) -> bool:
    """Say whether all confidences lie between 0 and 1."""
    return bool(((confidence >= 0) & (confidence <= 1)).all())


def calibration(system: int, answers: Answers, settings: OptionsSettings) -> Calibration:
    """Compare the confidences of a system with how often its options are correct.

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
    of_bin = _bins(confidence)
    n, n_bins = int(question.max()) + 1, int(of_bin.max()) + 1
    # Of each question: what the sums over questions give all results of.
    columns = np.empty((n, 3 * n_bins + 1))
    cell = question * n_bins + of_bin
    for at, weight in enumerate((None, correct, confidence)):
        sums = np.bincount(cell, weights=weight, minlength=n * n_bins)
        columns[:, at * n_bins : (at + 1) * n_bins] = sums.reshape(n, n_bins)
    columns[:, -1] = np.bincount(question, weights=(confidence - correct) ** 2)
    total = _measured(columns.sum(axis=0, keepdims=True))
    replicates = settings.bootstrap if n > 1 else 0
    parts = [
        _measured(times @ columns)
        for times in draw_queries(n, replicates=replicates, seed=settings.seed)
    ]
    drawn = {key: np.concatenate([part[key] for part in parts or [total]]) for key in total}
    tails = [(1 - settings.level) / 2, (1 + settings.level) / 2]

    def interval(values: Floats) -> Interval:
        known = values[~np.isnan(values)] if parts else np.empty(0)
        low, high = np.quantile(known, tails).tolist() if len(known) else (np.nan, np.nan)
        return low, high

    ece = float(total["ece"][0])
    spread = np.bincount(of_bin, weights=confidence * (1 - confidence))
    chance = _by_chance(spread / len(confidence) ** 2, settings)
    bias = float(drawn["ece"].mean()) - ece if parts else np.nan
    low, high = interval(drawn["ece"] - 2 * bias)
    if ece <= chance[1]:
        # As true probabilities have it: 0 cannot be excluded.
        low = 0.0 * low
    return Calibration(
        system=system,
        n_options=len(confidence),
        n_questions=n,
        base_rate=float(correct.mean()),
        brier=float(total["brier"][0]),
        brier_interval=interval(drawn["brier"]),
        skill=float(total["skill"][0]),
        skill_interval=interval(drawn["skill"]),
        ece=ece,
        ece_by_chance=chance,
        ece_corrected=float(np.maximum(ece - bias, 0)),
        ece_interval=(float(np.maximum(low, 0)), float(np.maximum(high, 0))),
        bins=tuple(
            Bin(
                low=float(confidence[of_bin == at].min()),
                high=float(confidence[of_bin == at].max()),
                mean=float(total["mean"][0, at]),
                n=int((of_bin == at).sum()),
                share=float(total["share"][0, at]),
                share_interval=interval(drawn["share"][:, at]),
            )
            for at in range(n_bins)
        ),
    )


# How many the reliability diagram and the ECE have, of about one size.
_BINS = 10


def _bins(confidence: Floats) -> Integers:
    """Divide options into bins of about one size; those of one confidence are together."""
    ends = np.quantile(confidence, np.arange(1, _BINS) / _BINS, method="higher")
    _, of_bin = np.unique(np.searchsorted(ends, confidence, side="right"), return_inverse=True)
    return of_bin


def _by_chance(variance: Floats, settings: OptionsSettings) -> Interval:
    """Give mean and upper end of the ECE of true probabilities, by random draws.

    Shapes: `variance` (b,).
    """
    if not settings.bootstrap:
        return np.nan, np.nan
    rng = np.random.default_rng(settings.seed)
    drawn = np.abs(rng.normal(size=(settings.bootstrap, len(variance))) * np.sqrt(variance))
    ece = drawn.sum(axis=1)
    return float(ece.mean()), float(np.quantile(ece, settings.level))


def _measured(sums: Floats) -> dict[str, Floats]:
    """Compute what is measured from sums over questions.

    Shapes: `sums` (r, 3 b + 1).
    """
    counts, rights, confidences = np.split(sums[:, :-1], 3, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share, mean = rights / counts, confidences / counts
        brier = sums[:, -1] / counts.sum(axis=1)
        base = rights.sum(axis=1) / counts.sum(axis=1)
        skill = 1 - brier / (base * (1 - base))
    weight = counts / counts.sum(axis=1, keepdims=True)
    skill[~np.isfinite(skill)] = np.nan
    ece = np.nansum(weight * np.abs(share - mean), axis=1)
    return {"brier": brier, "skill": skill, "ece": ece, "share": share, "mean": mean}
