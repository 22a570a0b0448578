"""What a reader of an analysis of option lists must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning
from quem.wording import format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.options.result import OptionsFindings

__all__ = ["find_warnings"]

_FEW = 30
_NEEDS_TO_BE_NOT_EMPTY = "the list is empty"
# From which share of the optimism to its score on a best threshold is called luck.
_MUCH = 0.05


def find_warnings(findings: OptionsFindings) -> Iterator[StudyWarning]:
    """Find all warnings about an analysis."""
    n = len(findings.data.key.ids)
    if n < _FEW and findings.settings.bootstrap:
        message = (
            f"only {n} question{' has' if n == 1 else 's have'} been evaluated, so bootstrap "
            "intervals "
            f"are too narrow; use {_FEW} or more"
        )
        yield StudyWarning("few-questions", message)
    yield from _lists(findings)
    yield from _measures(findings)
    yield from _confidences(findings)


def _lists(findings: OptionsFindings) -> Iterator[StudyWarning]:
    n = len(findings.data.key.ids)
    for standing in findings.standings:
        name = findings.name_of(standing.system)
        if standing.n_missing:
            as_what = {
                "empty": "each counts as an empty list",
                "leave-out": "they are left out of its means",
            }[findings.settings.missing]
            message = f"{name} has no list for {standing.n_missing:,} of {n:,} questions; {as_what}"
            yield StudyWarning("missing-lists", message)
        empty = int((findings.lengths[standing.system] == 0).sum())
        lost = [
            findings.scorer.names[u.measure]
            for u in findings.undefined
            if u.system == standing.system and u.reason == _NEEDS_TO_BE_NOT_EMPTY
        ]
        if empty and lost:
            are = "is" if empty == 1 else "are"
            message = (
                f"{empty:,} of {n:,} lists of {name} {are} empty, where {join_words(lost)} "
                f"{'is' if len(lost) == 1 else 'are'} undefined; the mean excludes them, which "
                "favors systems that answer only when confident"
            )
            yield StudyWarning("empty-lists", message)
        if n > 1 and not (findings.places[standing.system] > 0).any():
            message = (
                f"no list of {name} has a correct option; check that options are named as in the "
                "questions"
            )
            yield StudyWarning("never-correct", message)


def _measures(findings: OptionsFindings) -> Iterator[StudyWarning]:
    longest = int(findings.lengths.max(initial=0))
    if longest > findings.scorer.max_length:
        over = int((findings.lengths > findings.scorer.max_length).sum())
        message = (
            f"{over:,} list{'' if over == 1 else 's'} have more options than max_length, "
            f"{findings.scorer.max_length}, and no score by measures that depend on it; the "
            "longest "
            f"has {longest:,}"
        )
        yield StudyWarning("beyond-max-length", message)
    few = [
        f"{name} of {findings.name_of(standing.system)} ({standing.defined[at]:,})"
        for at, name in enumerate(findings.scorer.names)
        for standing in findings.standings
        if 0 < standing.defined[at] < findings.fewest
    ]
    if few:
        message = (
            f"means over fewer than half of the {len(findings.data.key.ids):,} questions are not "
            f"ranked and not tested: {join_words(few, 3)}"
        )
        yield StudyWarning("few-defined", message)
    for at, name in enumerate(findings.scorer.names):
        if all(standing.defined[at] == 0 for standing in findings.standings):
            reasons = dict.fromkeys(u.reason for u in findings.undefined if u.measure == at)
            why = join_words(reasons, 2) or "there is no list"
            yield StudyWarning("undefined-measure", f"{name} is undefined for every list: {why}")


def _confidences(findings: OptionsFindings) -> Iterator[StudyWarning]:
    swept = {sweep.system for sweep in findings.sweeps}
    for system in range(len(findings.data.systems)):
        answers = findings.data.offered.of_system(system)
        told = ~np.isnan(answers.confidence)
        name = findings.name_of(system)
        if told.any() and not told.all():
            message = (
                f"{int((~told).sum()):,} of {len(told):,} options of {name} have no confidence, "
                "so no threshold is estimated"
            )
            yield StudyWarning("partial-confidence", message)
        elif system in swept and (against := int((~answers.falls).sum())):
            message = (
                f"{against:,} lists of {name} are not in the order of their "
                "confidences; measures use the positions, and thresholds the confidences"
            )
            yield StudyWarning("order-against-confidence", message)
    for sweep in findings.sweeps:
        name, best = findings.name_of(sweep.system), sweep.threshold[sweep.best]
        if sweep.coarse:
            message = (
                f"the lists of {name} are so long that only {len(sweep.threshold)} thresholds "
                "were tried"
            )
            yield StudyWarning("coarse-thresholds", message)
        optimism = float(sweep.scores[sweep.best, findings.scorer.headline]) - sweep.cross_validated
        if np.isfinite(optimism) and optimism > _MUCH:
            message = (
                f"the best threshold of {name}, {best:.4g}, scores {format_number(optimism, 3)} "
                "less on "
                "other questions; use the cross-validated score, or more questions"
            )
            yield StudyWarning("optimistic-threshold", message)
    yield from _edges(findings)


def _edges(findings: OptionsFindings) -> Iterator[StudyWarning]:
    """Systems whose best threshold is the lowest or the highest that was tried."""
    several = [sweep for sweep in findings.sweeps if len(sweep.threshold) > 1]
    if lowest := [findings.name_of(s.system) for s in several if s.best == 0]:
        message = (
            f"the lowest threshold is the best for {join_words(lowest)}, so that no option that "
            "was "
            "offered should be held back; options of less confidence might help still more"
        )
        yield StudyWarning("threshold-at-the-edge", message)
    if highest := [findings.name_of(s.system) for s in several if s.best == len(s.threshold) - 1]:
        least = findings.settings.least
        shown = "the best option" if least == 1 else f"the best {least} options"
        message = (
            f"the highest threshold is the best for {join_words(highest)}, so that only {shown} "
            "should be shown, whatever the confidence"
        )
        yield StudyWarning("threshold-at-the-edge", message)
