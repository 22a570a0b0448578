"""Warnings about a comparison, as a table of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.assistance import missing_half
from quem.errors import StudyWarning, WarningRules
from quem.wording import format_number, format_p, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.pairs import Pair
    from quem.comparison.result import ComparisonFindings

# Warnings of a study that its comparison answers.
_ANSWERED = ("assisted", "no-system")

# Of the test that judges do not differ on two systems.
_DIFFERENT = 0.05

_RULES: WarningRules[ComparisonFindings] = WarningRules()


def find_warnings(comparison: ComparisonFindings) -> Iterator[StudyWarning]:
    """Yield the warnings of the studies, and those of their comparison."""
    several = len(comparison.studies) > 1
    # People are located again to measure their gain, whatever the size of the groups.
    gains_only = bool(comparison.uplifts) and not comparison.pairs
    answered = (*_ANSWERED, *(["unequal-groups"] if gains_only else []))
    for study in comparison.studies:
        for warning in study.warnings:
            if warning.code not in answered:
                of = f"{study.study.spec.id}: " if several else ""
                yield replace(warning, message=of + warning.message)
    yield from _RULES.find(comparison)


@_RULES.add("same-study")
def _same_study(comparison: ComparisonFindings) -> Iterator[str]:
    ids = [study.study.spec.id for study in comparison.studies]
    for name in dict.fromkeys(ids):
        if ids.count(name) > 1:
            yield (
                f"{ids.count(name)} studies have the ID {name}; if they share people, judges, or "
                "solutions they are not independent, and intervals and p values are invalid"
            )


def _tested_pairs(comparison: ComparisonFindings) -> list[Pair]:
    """All pairs; over time, those of successive versions too."""
    steps = [step for progression in comparison.progressions for step in progression.steps]
    over_time = [step.pair for step in steps if step.pair] if comparison.mode == "time" else []
    return [*comparison.pairs, *over_time]


@_RULES.add("not-always-together")
def _not_always_together(comparison: ComparisonFindings) -> Iterator[str]:
    incomplete = [
        f"{pair.a} and {pair.b} ({pair.paired.alone} ranking{'s' * (pair.paired.alone != 1)})"
        for pair in _tested_pairs(comparison)
        if pair.paired.alone and pair.paired.n_cells
    ]
    if incomplete:
        yield (
            "rankings that include only one of two systems are not used to compare them, except "
            f"for worths: {join_words(incomplete)}"
        )


@_RULES.add("no-test")
def _no_test_of_pair(comparison: ComparisonFindings) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for pair in _tested_pairs(comparison):
        if not np.isfinite(pair.test.p):
            reasons.setdefault(pair.test.reason, []).append(f"{pair.a} and {pair.b}")
    for reason, names in reasons.items():
        yield f"no test of {join_words(names)}: {reason}"


@_RULES.add(
    "judges-differ-on-pair",
    remedy="see in rankings.csv who prefers which; the claim is about judges like these, so more "
    "of them help most",
)
def _judges_differ(comparison: ComparisonFindings) -> Iterator[str]:
    for pair in _tested_pairs(comparison):
        of = pair.automatic
        if of.p_judges < _DIFFERENT:
            yield (
                f"judges do not agree on how far {pair.a} and {pair.b} are apart (F({of.df[0]}, "
                f"{of.df[1]}) = {format_number(of.f, 2)}, {format_p(of.p_judges)})"
            )


@_RULES.add("gain-not-measurable")
def _gain_not_measurable(comparison: ComparisonFindings) -> Iterator[str]:
    if comparison.mode != "systems" or comparison.chosen:
        return
    measured = {person.assisted for uplift in comparison.uplifts for person in uplift.people}
    for one in comparison.studies[0].study.spec.assisted:
        if one.id not in measured:
            yield f"{one.id} is left out: {missing_half(comparison.studies[0].study, one)}"


@_RULES.add("changing-references")
def _changing_references(comparison: ComparisonFindings) -> Iterator[str]:
    for uplift in comparison.uplifts:
        if not uplift.common:
            yield (
                "fewer than 3 people worked alone on every problem, so solutions assisted by "
                f"{uplift.system} are measured against other people than unassisted ones; the "
                "gain is biased if these people differ"
            )


@_RULES.add("no-test")
def _no_test_of_gain(comparison: ComparisonFindings) -> Iterator[str]:
    for uplift in comparison.uplifts:
        for what, test in [
            (f"the gain by {uplift.system}", uplift.test),
            *((f"the gain of {person.person}", person.test) for person in uplift.people),
        ]:
            if test.reason:
                yield f"no test of {what}: {test.reason}"
