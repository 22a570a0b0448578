"""Warnings about a comparison. Every code is explained in ``docs/reference/warnings``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.assistance import no_gain
from quem.errors import StudyWarning
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.findings import ComparisonFindings
    from quem.comparison.pairs import Pair
    from quem.comparison.versions import Progression

__all__ = ["find_warnings"]

# What a comparison answers itself.
_ANSWERED = ("assisted", "no-system")


def find_warnings(comparison: ComparisonFindings) -> Iterator[StudyWarning]:
    """Collect the doubts about the studies, and those about their comparison.

    Parameters
    ----------
    comparison : ComparisonFindings
    """
    several = len(comparison.studies) > 1
    # People are located anew to measure their gain, whatever the size of the groups.
    gains_only = bool(comparison.uplifts) and not comparison.pairs
    answered = (*_ANSWERED, *(["unequal-groups"] if gains_only else []))
    for study in comparison.studies:
        for doubt in study.warnings:
            if doubt.code not in answered:
                said = f"{study.study.spec.id}: {doubt.message}" if several else doubt.message
                yield replace(doubt, message=said)
    yield from _same_study(comparison)
    yield from _pairs([*comparison.pairs, *_pairs_of_steps(comparison)])
    for progression in comparison.progressions:
        yield from _undated(comparison, progression)
    yield from _no_gain(comparison)


def _same_study(comparison: ComparisonFindings) -> Iterator[StudyWarning]:
    ids = [study.study.spec.id for study in comparison.studies]
    for name in dict.fromkeys(ids):
        if ids.count(name) > 1:
            message = (
                f"{ids.count(name)} of the studies have the id {name}: if they share people, "
                "judges or solutions they are not independent, and neither intervals nor p "
                "values hold"
            )
            yield StudyWarning("same-study", message)


def _pairs_of_steps(comparison: ComparisonFindings) -> Iterator[Pair]:
    """The pairs of a system over time; those of one study are among its pairs."""
    if comparison.mode == "time":
        for progression in comparison.progressions:
            for step in progression.steps:
                if step.pair is not None:
                    yield step.pair


def _pairs(pairs: list[Pair]) -> Iterator[StudyWarning]:
    if incomplete := [pair for pair in pairs if pair.paired.alone and pair.paired.n_cells]:
        each = join_words(
            f"{pair.a} and {pair.b} ({pair.paired.alone} rankings hold one of them)"
            for pair in incomplete
        )
        message = f"not always ranked together: {each}; only rankings that hold both "
        message += "are compared (worths are of all rankings)"
        yield StudyWarning("not-always-together", message)
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        if not np.isfinite(pair.test.p):
            reasons.setdefault(pair.test.reason, []).append(f"{pair.a} and {pair.b}")
    for reason, names in reasons.items():
        yield StudyWarning("no-test", f"there is no test of {join_words(names)}: {reason}")


def _undated(comparison: ComparisonFindings, progression: Progression) -> Iterator[StudyWarning]:
    """Versions over time, and those of which others have a date, should have one."""
    without = [comparison.name_of(version) for version in progression.versions if not version.date]
    if without and (comparison.mode == "time" or len(without) < len(progression.versions)):
        verb = "has" if len(without) == 1 else "have"
        message = (
            f"{join_words(without)} {verb} no `date`, so that the versions of {progression.of} "
            "stand "
            "in the order in which they are given, at equal distances"
        )
        yield StudyWarning("undated", message)


def _no_gain(comparison: ComparisonFindings) -> Iterator[StudyWarning]:
    """Help whose effect cannot be told."""
    if comparison.mode != "systems" or comparison.chosen:
        return
    measured = {person.assisted for uplift in comparison.uplifts for person in uplift.people}
    for one in comparison.studies[0].study.spec.assisted:
        if one.id not in measured:
            told = no_gain(comparison.studies[0].study, one)
            yield StudyWarning("no-gain", f"{one.id} is left out: {told}")
    for uplift in comparison.uplifts:
        if not uplift.common:
            message = (
                "too few people worked alone on every problem, so that solutions with the help of "
                f"{uplift.system} are measured against other people than those without; the gain "
                "is off if these differ"
            )
            yield StudyWarning("changing-references", message)
        for what, test in [
            (f"the gain by {uplift.system}", uplift.test),
            *((f"the gain of {person.person}", person.test) for person in uplift.people),
        ]:
            if test.reason:
                yield StudyWarning("no-test", f"there is no test of {what}: {test.reason}")
