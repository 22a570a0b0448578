"""From studies to a comparison: composes the steps of this package."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from quem.comparison.assistance import gains_of, missing_half
from quem.comparison.pairs import compare_pairs
from quem.comparison.result import ComparisonFindings, ComparisonResult
from quem.comparison.systems import chosen, for_all, measured
from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.text import shown
from quem.parts import analyze_experience
from quem.rankings.pseudonyms import pseudonymize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.method.core import Core
    from quem.rankings.loading import Study


def compare_experience(
    studies: Sequence[Study],
    *,
    systems: Sequence[str] = (),
    **settings: Any,  # noqa: ANN401  checked where a study is analyzed
) -> ComparisonResult:
    """Compare systems of studies of kind ``experience`` (see `quem.compare`)."""
    if mistakes := [*_named_twice(studies), *_other_units(studies)]:
        raise QuemError(mistakes)
    if len(studies) > 1 and any(study.named for study in studies):
        # A judge in several studies has one pseudonym.
        studies = pseudonymize(studies)
    settings["level"] = _level(studies, settings.get("level"))
    # Systems are compared by the experts' ranks.
    studies = [replace(study, machines=None) for study in studies]
    results = [analyze_experience(study, **settings) for study in studies]
    cores = for_all([result.core for result in results])
    found = chosen(measured(cores), systems, studies)
    # Named systems restrict the comparison to these.
    gains = gains_of(cores[0]) if len(cores) == 1 and not systems else ()
    comparison = ComparisonFindings(cores, tuple(systems), tuple(found), gains=tuple(gains))
    if mistakes := list(_nothing_to_compare(comparison)):
        raise QuemError(mistakes)
    warnings = [*_of_studies([result.warnings for result in results], cores), *_own(comparison)]
    pairs = tuple(compare_pairs(found, several=len(cores) > 1))
    return ComparisonResult(replace(comparison, pairs=pairs, warnings=tuple(warnings)))


def _named_twice(studies: Sequence[Study]) -> Iterator[Mistake]:
    for at, study in enumerate(studies):
        for other in studies[:at]:
            same = study is other
            if not same and study.path.exists() and other.path.exists():
                same = study.path.samefile(other.path)
            if same:
                message = (
                    "is named twice, and a study is not independent of itself; name another, or "
                    "name it once to compare the systems in it"
                )
                yield Mistake(study.name, message=message)
                break


def _other_units(studies: Sequence[Study]) -> Iterator[Mistake]:
    first = studies[0]
    for study in studies[1:]:
        units = [s.spec.experience_unit for s in (study, first)]
        if units[0].strip().casefold() != units[1].strip().casefold():
            yield study.mistake(
                ("experience_unit",),
                f"experience is counted in {shown(units[0])} here and in {shown(units[1])} in "
                f"{first.name}; state it in the same unit in both, numbers included",
            )


def _level(studies: Sequence[Study], level: float | None) -> float:
    """The common level: the caller's, or that of all studies."""
    if level is not None:
        return level
    levels = {study.spec.analysis.level: study.name for study in studies}
    if len(levels) > 1:
        each = " and ".join(f"{level:g} ({name})" for level, name in levels.items())
        message = f"the studies ask for different levels: {each}; give one by --level"
        raise QuemError(Mistake("", key="level", message=message))
    return studies[0].spec.analysis.level


def _nothing_to_compare(found: ComparisonFindings) -> Iterator[Mistake]:
    """The error for too few systems without anybody assisted."""
    if len(found.cores) > 1:
        held = {one.study for one in found.systems}
        what = "none of the named systems has" if found.chosen else "no system has"
        message = f"{what} ranks in this study, so that there is nothing to compare; leave it out"
        empty = (core for at, core in enumerate(found.cores) if at not in held)
        yield from (core.study.mistake(("systems",), message) for core in empty)
        return
    if len(found.systems) > 1 or found.gains:
        return
    study = found.cores[0].study
    if study.spec.assisted and not found.chosen:
        for at, one in enumerate(study.spec.assisted):
            yield study.mistake(("assisted", at), missing_half(found.cores[0], one))
        return
    what = f"only {found.systems[0].of.system} has" if found.systems else "no system has"
    message = (
        f"a comparison needs two systems with ranks, and {what} any here; add a system, or name a "
        "second study"
    )
    yield study.mistake(("systems",), message)


def _of_studies(
    warnings: Sequence[Sequence[StudyWarning]], cores: Sequence[Core]
) -> Iterator[StudyWarning]:
    """The warnings of the studies, except those that a comparison resolves."""
    several = len(cores) > 1
    answered = {"assisted", "no-system", *(["no-reference"] if several else [])}
    for core, own in zip(cores, warnings, strict=True):
        of = f"{core.study.spec.id}: " if several else ""
        for one in own:
            if one.code not in answered:
                yield replace(one, message=of + one.message)


def _own(found: ComparisonFindings) -> Iterator[StudyWarning]:
    """The warnings of the comparison; ``docs/reference/warnings.md`` explains every code."""
    ids = [core.study.spec.id for core in found.cores]
    for name in dict.fromkeys(ids):
        if (n := ids.count(name)) > 1:
            text = f"{n} studies have the ID {name}; if they share people, judges, or solutions "
            yield StudyWarning("same-study", f"{text}the intervals between them are wrong")
    for gain in found.gains:
        if not gain.common:
            text = (
                "fewer than 3 people worked alone on every problem, so solutions assisted by "
                f"{gain.system} are measured against other people than unassisted ones; the gain "
                "is biased if these people differ"
            )
            yield StudyWarning("changing-references", text)
        if gain.reason:
            yield StudyWarning("no-test", f"no test of the gain by {gain.system}: {gain.reason}")
    measured = {person.b for person in found.people}
    for one in found.cores[0].study.spec.assisted if not found.chosen and len(ids) == 1 else ():
        if one.id not in measured:
            text = f"{one.id} is left out: {missing_half(found.cores[0], one)}"
            yield StudyWarning("gain-not-measurable", text)
