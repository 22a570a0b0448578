"""The terminal summary of a comparison: estimates, differences, what they rest on, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.pair_tests import GENERALISES
from quem.comparison.presentation.phrases import (
    TEST_NAMES,
    apart_text,
    estimate_text,
    names_of,
    rank_text,
    step_p_text,
    step_text,
    uplift_text,
    won_text,
    years_text,
)
from quem.experience.wording import statement
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.findings import ComparisonFindings
    from quem.comparison.versions import Progression

__all__ = ["INDEPENDENCE", "UPLIFT_MEANING", "summary_text", "title_of"]

INDEPENDENCE = (
    "This takes the studies for independent, with people of comparable populations: that a year "
    "of experience means the same in both."
)
UPLIFT_MEANING = (
    "This takes the problems solved with help and those solved without for equally hard, and "
    "generalises to other problems, for these people and these judges."
)


def title_of(found: ComparisonFindings) -> str:
    """Name a comparison after its study, or after all of them."""
    titles = [study.study.spec.title for study in found.studies]
    return titles[0] if len(titles) == 1 else f"Compared: {join_words(titles)}"


def summary_text(found: ComparisonFindings, *, warnings: bool) -> str:
    """Write the summary of a comparison as text.

    Parameters
    ----------
    found : ComparisonFindings
    warnings : bool
        Whether the warnings are part of it.
    """
    lines = [title_of(found), *_estimates(found), *_pairs(found), *_apart(found)]
    for progression in found.progressions:
        lines += _progression(found, progression)
    lines += _uplifts(found)
    if warnings and found.doubts:
        lines += ["", "Warnings", *(f"  {d.code}: {d.message}" for d in found.doubts)]
    return "\n".join(lines)


def _estimates(found: ComparisonFindings) -> Iterator[str]:
    names = [found.name_of(standing) for standing in found.standings]
    if names:
        yield ""
    width = max(map(len, names), default=0)
    for name, standing in zip(names, found.standings, strict=True):
        told = statement(
            standing.estimate, interval="prediction", level=found.level, unit=found.unit
        )
        yield f"  {name:<{width}}  {told}"


def _pairs(found: ComparisonFindings) -> Iterator[str]:
    if not found.pairs:
        return
    several = len(found.pairs) > 1
    adjusted = f"; p adjusted for {len(found.pairs)} pairs (Holm)" if several else ""
    names = names_of(found)
    yield from ("", f"Differences ({TEST_NAMES[found.test]}{adjusted})")
    for pair in found.pairs:
        yield f"  {names[pair.b]} against {names[pair.a]}"
        if pair.paired.n_cells == 0:
            yield f"    {pair.test.reason}"
            continue
        yield f"    {rank_text(pair, found.level, several=several)}"
        yield f"    {years_text(pair, found.level, found.unit)}"
        yield f"    {won_text(pair)}"
    yield f"  {GENERALISES[found.test]}"
    for reason in dict.fromkeys(pair.years.reason for pair in found.pairs):
        if reason:
            yield f"  No interval in {found.unit}: {reason}."


def _apart(found: ComparisonFindings) -> Iterator[str]:
    if not found.apart:
        return
    several = len(found.apart) > 1
    adjusted = f"; p adjusted for {len(found.apart)} pairs (Holm)" if several else ""
    tested = any(np.isfinite(apart.p) for apart in found.apart)
    how = f"Welch's t test of independent estimates{adjusted}" if tested else "one-sided bounds"
    yield from ("", f"Differences ({how})")
    for apart in found.apart:
        yield f"  {found.name_of(apart.b)} against {found.name_of(apart.a)}"
        yield f"    {apart_text(apart, found.level, found.unit, several=several)}"
    yield f"  {INDEPENDENCE}"


def _progression(found: ComparisonFindings, progression: Progression) -> Iterator[str]:
    yield from ("", f"Versions of {progression.of}")
    names = [found.name_of(version) for version in progression.versions]
    width = max(map(len, names))
    for at, (name, version) in enumerate(zip(names, progression.versions, strict=True)):
        date = f"  {version.date}" if version.date else ""
        line = f"  {name:<{width}}{date}  {estimate_text(version)} {found.unit}"
        if at:
            step = progression.steps[at - 1]
            line += f", {step_text(step)} on the one before ({step_p_text(step)})"
        yield line
    if found.mode == "time":
        yield f"  {INDEPENDENCE}"


def _uplifts(found: ComparisonFindings) -> Iterator[str]:
    none = float("nan")
    for uplift in found.uplifts:
        yield from ("", f"People with the help of {found.studies[0].name_of(uplift.system)}")
        people = uplift.people
        who = f"all {len(people)}" if len(people) > 1 else people[0].person
        width = max(len(who), *(len(person.person) for person in people))
        yield f"  {who:<{width}}  {uplift_text(uplift, found.level, found.unit, none)}"
        for person in people if len(people) > 1 else ():
            told = uplift_text(person, found.level, found.unit, person.p_holm)
            yield f"  {person.person:<{width}}  {told}"
    if found.uplifts:
        yield f"  {UPLIFT_MEANING}"
