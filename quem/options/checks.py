"""Warnings about an analysis of option lists, as tables of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import WarningRules
from quem.options.calibration import are_probabilities
from quem.wording import join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.options.result import OptionsFindings, SystemScores

_FEW = 30
_NEEDS_TO_BE_NOT_EMPTY = "the list is empty"

_QUESTIONS: WarningRules[OptionsFindings] = WarningRules()
_LISTS: WarningRules[OptionsFindings, SystemScores] = WarningRules()
_MEASURES: WarningRules[OptionsFindings] = WarningRules()
_CONFIDENCES: WarningRules[OptionsFindings, int] = WarningRules()


def find_warnings(findings: OptionsFindings) -> Iterator[StudyWarning]:
    """Find all warnings about an analysis."""
    yield from _QUESTIONS.find(findings)
    for scores in findings.system_scores:
        yield from _LISTS.find(findings, scores)
    yield from _MEASURES.find(findings)
    for system in range(len(findings.data.systems)):
        yield from _CONFIDENCES.find(findings, system)


@_QUESTIONS.add("few-questions", remedy=f"use {_FEW} or more")
def _few_questions(findings: OptionsFindings) -> Iterator[str]:
    n = len(findings.data.key.ids)
    if n < _FEW and findings.settings.bootstrap:
        yield (
            f"only {n} question{' has' if n == 1 else 's have'} been evaluated, so bootstrap "
            "intervals are too narrow"
        )


@_LISTS.add("missing-lists")
def _missing_lists(findings: OptionsFindings, scores: SystemScores) -> Iterator[str]:
    if scores.n_missing:
        as_what = {
            "empty": "each counts as an empty list",
            "leave-out": "they are left out of its means",
        }[findings.settings.missing]
        yield (
            f"{findings.name_of(scores.system)} has no list for {scores.n_missing:,} of "
            f"{len(findings.data.key.ids):,} questions; {as_what}"
        )


@_LISTS.add("empty-lists")
def _empty_lists(findings: OptionsFindings, scores: SystemScores) -> Iterator[str]:
    empty = int((findings.lengths[scores.system] == 0).sum())
    lost = [
        findings.scorer.names[undefined.measure]
        for undefined in findings.undefined
        if undefined.system == scores.system and undefined.reason == _NEEDS_TO_BE_NOT_EMPTY
    ]
    if empty and lost:
        yield (
            f"{empty:,} of {len(findings.data.key.ids):,} lists of "
            f"{findings.name_of(scores.system)} {'is' if empty == 1 else 'are'} empty, where "
            f"{join_words(lost)} {'is' if len(lost) == 1 else 'are'} undefined; the mean excludes "
            "them, which favors systems that answer only when confident"
        )


@_LISTS.add("never-correct", remedy="check that options are named as in the questions")
def _never_correct(findings: OptionsFindings, scores: SystemScores) -> Iterator[str]:
    if len(findings.data.key.ids) > 1 and not (findings.places[scores.system] > 0).any():
        yield f"no list of {findings.name_of(scores.system)} has a correct option"


@_MEASURES.add("beyond-max-length")
def _beyond_max_length(findings: OptionsFindings) -> Iterator[str]:
    longest = int(findings.lengths.max(initial=0))
    if longest > findings.scorer.max_length:
        over = int((findings.lengths > findings.scorer.max_length).sum())
        yield (
            f"{over:,} list{'' if over == 1 else 's'} have more options than max_length, "
            f"{findings.scorer.max_length}, and no score by measures that depend on it; the "
            f"longest has {longest:,}"
        )


@_MEASURES.add("few-defined")
def _few_defined(findings: OptionsFindings) -> Iterator[str]:
    few = [
        f"{name} of {findings.name_of(scores.system)} ({scores.defined[at]:,})"
        for at, name in enumerate(findings.scorer.names)
        for scores in findings.system_scores
        if 0 < scores.defined[at] < findings.fewest
    ]
    if few:
        yield (
            f"means over fewer than half of the {len(findings.data.key.ids):,} questions are not "
            f"ranked and not tested: {join_words(few, 3)}"
        )


@_MEASURES.add("undefined-measure")
def _undefined_measure(findings: OptionsFindings) -> Iterator[str]:
    for at, name in enumerate(findings.scorer.names):
        if all(scores.defined[at] == 0 for scores in findings.system_scores):
            reasons = dict.fromkeys(u.reason for u in findings.undefined if u.measure == at)
            why = join_words(reasons, 2) or "there is no list"
            yield f"{name} is undefined for every list: {why}"


@_CONFIDENCES.add("partial-confidence")
def _partial_confidence(findings: OptionsFindings, system: int) -> Iterator[str]:
    lacking = np.isnan(findings.data.offered.of_system(system).confidence)
    if lacking.any() and not lacking.all():
        yield (
            f"{int(lacking.sum()):,} of {len(lacking):,} options of {findings.name_of(system)} "
            "have no confidence, so confidences are not evaluated"
        )


@_CONFIDENCES.add("no-probabilities")
def _no_probabilities(findings: OptionsFindings, system: int) -> Iterator[str]:
    answers = findings.data.offered.of_system(system)
    if answers.has_confidences and not are_probabilities(answers.confidence):
        low, high = answers.confidence.min(), answers.confidence.max()
        yield (
            f"confidences of {findings.name_of(system)} go from {measured(low)} to "
            f"{measured(high)}, and probabilities from 0 to 1, so calibration is not evaluated; "
            "their order and thresholds are used as they are"
        )


@_CONFIDENCES.add("order-against-confidence")
def _order_against_confidence(findings: OptionsFindings, system: int) -> Iterator[str]:
    against = int((~findings.data.offered.of_system(system).falls).sum())
    if against and any(sweep.system == system for sweep in findings.sweeps):
        yield (
            f"{against:,} lists of {findings.name_of(system)} are not in the order of their "
            "confidences; measures use the positions, and thresholds the confidences"
        )
