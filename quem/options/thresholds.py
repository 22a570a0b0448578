"""The lists that thresholds of confidence leave, and what measures say of them.

A list is made of the options whose confidence reaches a threshold, and of the best one in any case.
No measure says which threshold to use: for lists in the order of true probabilities LAR is highest
with one option (``docs/explanation/list-length.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.lists.inference import percentile_ends, resample_means
from quem.options.lists import Ways, ways_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.options.lists import Answers, Scorer
    from quem.studyfile.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

# Options of distinct lists that are scored at most.
_MOST_OPTIONS = 20_000_000
# Thresholds whose scores are held at once.
_AT_ONCE = 50


MOST_THRESHOLDS = 200


@dataclass(frozen=True)
class Sweep:
    """The scores of one system at each threshold."""

    system: int
    threshold: Floats  # of shape (t,): rising
    # Of shape (t,): of the lists that each threshold leaves: their mean length, and the share that
    # has a correct option
    mean_length: Floats
    share: Floats
    scores: Floats  # of shape (t, measures): means over the questions where a measure is defined
    # Of shape (t,): bootstrap intervals of the headline, threshold by threshold
    low: Floats
    high: Floats
    coarse: bool  # whether fewer thresholds were tried than asked for, to bound the work


def sweep(system: int, lists: CutLists, scorer: Scorer, settings: OptionsSettings) -> Sweep:
    """Score the lists of a system at each threshold."""
    scored = scorer.score(lists.length, lists.ways)
    every = scored.values[scored.which]
    headline = every[:, scorer.headline]
    # Where some lists are undefined, which takes more memory, fewer are held at once.
    at_once = _AT_ONCE // 3 if np.isnan(headline).any() else _AT_ONCE
    drawn = resampled(
        lambda rows: headline[lists.which[rows]].T, len(lists.which), settings, at_once
    )
    # How often each distinct list is there, at each threshold.
    times = np.stack([np.bincount(row, minlength=len(every)) for row in lists.which])
    defined = times @ ~np.isnan(headline)
    low, high = percentile_ends(drawn, defined, settings.level)
    n = max(lists.which.shape[1], 1)
    return Sweep(
        system=system,
        threshold=lists.threshold,
        mean_length=times @ lists.length / n,
        share=times @ lists.hit / n,
        scores=_weighted_means(every, times),
        low=low,
        high=high,
        coarse=lists.coarse,
    )


@dataclass(frozen=True)
class CutLists:
    """The lists that thresholds leave; many are alike, and the distinct ones are held once."""

    threshold: Floats  # of shape (t,): rising
    length: Integers  # of shape (d,): of each distinct list
    ways: Ways  # how the correct options are placed in each distinct list
    # Of shape (t, q): which of them each list is, of the questions that count; of a type as small
    # as will do, since this is large.
    which: NDArray[np.integer[Any]]
    coarse: bool  # whether fewer thresholds were tried than asked for

    @property
    def hit(self) -> NDArray[np.bool_]:
        """Whether each distinct list has a correct option, shape (d,)."""
        has = np.array([bool(places) for places in self.ways.places], dtype=bool)
        return np.asarray(has[self.ways.which])


def cut_lists(answers: Answers, counted: NDArray[np.bool_]) -> CutLists:
    """Choose the thresholds, and make the list of each question at each.

    Shapes: `counted` (q,).
    """
    distinct = np.unique(answers.confidence)
    coarse, most = False, MOST_THRESHOLDS
    width = int(answers.length.max(initial=0)) + 1
    of_lists = ways_of([answers])
    ways, left = of_lists.cut()
    given = of_lists.which[0][counted]
    places = answers.places[counted]
    while True:
        at = np.unique(np.linspace(0, len(distinct) - 1, min(most, len(distinct))).round())
        threshold = distinct[at.astype(np.int64)]
        shape = len(threshold), int(counted.sum())
        codes = np.empty(shape, dtype=np.min_scalar_type(width * len(ways)))
        for row, t in zip(codes, threshold.tolist(), strict=True):
            length = np.maximum(_reaching(answers, t), np.minimum(answers.length, 1))[counted]
            held = ((places > 0) & (places <= length[:, np.newaxis])).sum(axis=1)
            row[:] = length * len(ways) + left[given, held]
        lists = np.unique(np.concatenate([np.unique(row) for row in codes])).astype(np.int64)
        options = int((lists // len(ways)).sum())
        if options <= _MOST_OPTIONS or len(threshold) <= 2:  # noqa: PLR2004  the two ends
            break
        coarse, most = True, len(threshold) // 2
    for row in codes:
        row[:] = np.searchsorted(lists, row)
    cut = Ways(ways.places, ways.n_correct, lists % len(ways))
    return CutLists(threshold, lists // len(ways), cut, codes, coarse)


def _reaching(answers: Answers, threshold: float) -> Integers:
    """Count the options of each list whose confidence reaches a threshold, shape (q,)."""
    reached = answers.question[answers.confidence >= threshold]
    return np.bincount(reached, minlength=len(answers.answered))


def resampled(
    scores: Callable[[slice], Floats],
    thresholds: int,
    settings: OptionsSettings,
    at_once: int = _AT_ONCE,
) -> Floats:
    """Give mean scores over resampled questions, some thresholds at a time."""
    parts = [
        resample_means(
            scores(slice(start, start + at_once)),
            replicates=settings.bootstrap,
            seed=settings.seed,
        )
        for start in range(0, thresholds, at_once)
    ]
    return np.hstack(parts)


def _weighted_means(values: Floats, times: Integers) -> Floats:
    """Means over the questions where a measure is defined, shape (t, measures).

    Shapes: `values` (d, measures); `times` (t, d).
    """
    known = ~np.isnan(values)
    defined = times @ known
    total = times @ np.where(known, values, 0)
    return np.where(defined > 0, total / np.maximum(defined, 1), np.nan)
