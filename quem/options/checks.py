"""Warnings about an analysis of option lists; ``docs/reference/warnings.md`` explains each code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning
from quem.wording import format_count, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.options.result import Found
    from quem.scores.table import ScoreTable


def find_warnings(found: Found, table: ScoreTable) -> Iterator[StudyWarning]:
    """All warnings about an analysis."""
    for system in range(len(table.systems)):
        yield from _of_lists(found, table, system)
        yield from _of_confidences(found, system)
    yield from _of_measures(found, table)


def _of_lists(found: Found, table: ScoreTable, system: int) -> Iterator[StudyWarning]:
    name, n = table.labels[system], len(table.queries)
    answers, counts = found.study.answers[system], found.counted[system]
    if missing := found.systems[system].missing:
        as_what = {
            "empty": "each counts as an empty list",
            "leave-out": "they are left out of its means",
        }[found.settings.missing]
        message = f"{name} has no list for {missing:,} of {n:,} questions; {as_what}"
        yield StudyWarning("missing-lists", message)
    empty = counts & (answers.length == 0)
    lost = np.isnan(table.values[system, empty]).all(axis=0)
    if empty.any() and lost.any():
        measures = [name for name, one in zip(table.columns, lost, strict=True) if one]
        yield StudyWarning(
            "empty-lists",
            f"{empty.sum():,} of {n:,} lists of {name} {'is' if empty.sum() == 1 else 'are'} "
            f"empty, where {join_words(measures)} {'is' if len(measures) == 1 else 'are'} "
            "undefined; the mean excludes them, which favors systems that answer only when "
            "confident",
        )
    if n > 1 and not answers.has_correct.any():
        yield StudyWarning(
            "never-correct",
            f"no list of {name} has a correct option; check that options are named as in the "
            "questions",
        )


def _of_measures(found: Found, table: ScoreTable) -> Iterator[StudyWarning]:
    if over := sum(int((one.length > found.max_length).sum()) for one in found.study.answers):
        yield StudyWarning(
            "beyond-max-length",
            f"{format_count(over, 'list')} ha{'s' if over == 1 else 've'} more options than "
            f"max_length, {found.max_length}, and no score by measures that depend on it; the "
            f"longest has {found.longest:,}",
        )
    for layer, (column, one) in enumerate(found.measures.items()):
        if not table.means.n[:, layer].any():
            why = found.reasons.get(one.name, "there is no list")
            message = f"{column} is undefined for every list: {why}"
            yield StudyWarning("undefined-measure", message)


def _of_confidences(found: Found, system: int) -> Iterator[StudyWarning]:
    name, answers = found.study.names[system], found.study.answers[system]
    lacking = np.isnan(answers.confidence)
    if lacking.any() and not lacking.all():
        yield StudyWarning(
            "partial-confidence",
            f"{lacking.sum():,} of {len(lacking):,} options of {name} have no confidence, so "
            "confidences are not evaluated",
        )
    if not answers.has_confidences:
        return
    if not answers.has_probabilities:
        low, high = answers.confidence.min(), answers.confidence.max()
        yield StudyWarning(
            "no-probabilities",
            f"confidences of {name} go from {measured(low)} to {measured(high)}, and probabilities "
            "from 0 to 1, so calibration is not evaluated; their order and thresholds are used as "
            "they are",
        )
    if answers.rises:
        yield StudyWarning(
            "order-against-confidence",
            f"{answers.rises:,} lists of {name} are not in the order of their confidences; "
            "measures use the positions, and thresholds the confidences",
        )
