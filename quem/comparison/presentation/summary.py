"""The terminal summary of a comparison: estimates, differences, and their basis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.presentation.phrases import (
    TEST_NAMES,
    apart_text,
    entry_text,
    inferences_of,
    names_of,
    no_years_text,
    rank_text,
    step_p_text,
    step_text,
    test_text,
    undefined_texts,
    uplift_text,
    won_text,
    years_text,
)
from quem.experience.wording import statement
from quem.wording import join_words, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.comparison.result import ComparisonFindings
    from quem.comparison.versions import Progression

INDEPENDENCE = (
    "Assumes independent studies of comparable populations, in which a year of experience means "
    "the same."
)
UPLIFT_MEANING = (
    "Assumes assisted and unassisted problems are equally hard. Inference: other problems, same "
    "people and judges."
)


def title_of(comparison: ComparisonFindings) -> str:
    """Name a comparison after its study, or after all of them."""
    titles = [study.study.spec.title for study in comparison.studies]
    return titles[0] if len(titles) == 1 else f"Compared: {join_words(titles)}"


def summary_text(comparison: ComparisonFindings) -> str:
    """Write the summary of a comparison as text."""
    lines = [
        title_of(comparison),
        *_estimates(comparison),
        *_pairs(comparison),
        *_differences(comparison),
    ]
    for progression in comparison.progressions:
        lines += _progression(comparison, progression)
    lines += _uplifts(comparison)
    return "\n".join(lines)


def _estimates(comparison: ComparisonFindings) -> Iterator[str]:
    names = [comparison.name_of(entry) for entry in comparison.system_estimates]
    if names:
        yield ""
    width = max(map(len, names), default=0)
    for name, entry in zip(names, comparison.system_estimates, strict=True):
        if not comparison.allows_years(entry):
            yield from wrap(no_years_text(comparison, entry))
            continue
        text = statement(
            entry.estimate, interval="prediction", level=comparison.level, unit=comparison.unit
        )
        yield f"  {name:<{width}}  {text}"


def _pairs(comparison: ComparisonFindings) -> Iterator[str]:
    if not comparison.pairs:
        return
    several = len(comparison.pairs) > 1
    adjusted = f"; Holm-adjusted p, {len(comparison.pairs)} pairs" if several else ""
    names = names_of(comparison)
    yield from ("", f"Pairwise differences ({TEST_NAMES[comparison.test]}{adjusted})")
    for pair in comparison.pairs:
        yield f"  {names[pair.b]} − {names[pair.a]}"
        if pair.paired.n_cells == 0:
            yield f"    {pair.test.reason}"
            continue
        yield f"    {rank_text(pair, comparison.level, several=several)}"
        if pair.why:
            yield f"    {test_text(pair)}"
        if years := years_text(comparison, pair):
            yield f"    {years}"
        yield f"    {won_text(pair)}"
    yield from (f"  {text}" for text in inferences_of(comparison))
    yield from (f"  {text}" for text in undefined_texts(comparison))


def _differences(comparison: ComparisonFindings) -> Iterator[str]:
    if not comparison.differences:
        return
    several = len(comparison.differences) > 1
    adjusted = f"; Holm-adjusted p, {len(comparison.differences)} pairs" if several else ""
    tested = any(np.isfinite(difference.p) for difference in comparison.differences)
    how = f"Welch's t test of independent estimates{adjusted}" if tested else "one-sided bounds"
    yield from ("", f"Pairwise differences ({how})")
    for difference in comparison.differences:
        yield f"  {comparison.name_of(difference.b)} − {comparison.name_of(difference.a)}"
        yield f"    {apart_text(comparison, difference, several=several)}"
    yield f"  {INDEPENDENCE}"


def _progression(comparison: ComparisonFindings, progression: Progression) -> Iterator[str]:
    yield from ("", f"Versions of {progression.of}")
    names = [comparison.name_of(version) for version in progression.versions]
    width = max(map(len, names))
    for at, (name, version) in enumerate(zip(names, progression.versions, strict=True)):
        date = f"  {version.date}" if version.date else ""
        line = f"  {name:<{width}}{date}  {entry_text(comparison, version)}"
        if at:
            step = progression.steps[at - 1]
            gained = step_text(comparison, step)
            line += f", {gained} over the previous version ({step_p_text(comparison, step)})"
        yield line
    if comparison.mode == "time":
        yield f"  {INDEPENDENCE}"


def _uplifts(comparison: ComparisonFindings) -> Iterator[str]:
    none = float("nan")
    for uplift in comparison.uplifts:
        yield from ("", f"People assisted by {comparison.studies[0].name_of(uplift.system)}")
        people = uplift.people
        who = f"all {len(people)}" if len(people) > 1 else people[0].person
        width = max(len(who), *(len(person.person) for person in people))
        yield f"  {who:<{width}}  {uplift_text(comparison, uplift, none)}"
        for person in people if len(people) > 1 else ():
            text = uplift_text(comparison, person, person.p_holm)
            yield f"  {person.person:<{width}}  {text}"
    if comparison.uplifts:
        yield f"  {UPLIFT_MEANING}"
