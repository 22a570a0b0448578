"""From studies to a comparison: composes the steps of this package."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from quem.comparison.assistance import missing_half, uplifts_of
from quem.comparison.checks import find_warnings
from quem.comparison.independent import compare_studies, estimates_of
from quem.comparison.pair_tests import refusal
from quem.comparison.pairs import compare_pairs
from quem.comparison.result import ComparisonFindings, ComparisonResult
from quem.comparison.selection import (
    chosen_of,
    one_system,
    refuse_studies,
)
from quem.comparison.settings import ComparisonSettings
from quem.comparison.versions import across_studies, progressions_of
from quem.errors import Mistake, QuemError
from quem.experience.analysis import analyze_experience
from quem.rankings import PrintedAverages
from quem.rankings.pseudonyms import pseudonymize
from quem.studyfile.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.comparison.independent import SystemEstimate
    from quem.comparison.pairs import Pair
    from quem.experience.result import ExperienceFindings
    from quem.rankings.loading import Study


def compare_experience(
    studies: Sequence[Study],
    *,
    systems: Sequence[str] = (),
    test: str = "auto",
    same_system: bool = False,
    **settings: Any,  # noqa: ANN401
) -> ComparisonResult:
    """Compare systems of studies of kind ``experience`` (see `quem.compare`)."""
    changed_settings(ComparisonSettings(), {"test": test})
    refuse_studies(studies)
    if len(studies) > 1 and any(study.named for study in studies):
        # Who is in several studies has one pseudonym.
        studies = pseudonymize(studies)
    settings["level"] = _level(studies, settings.get("level"))
    # Two systems of a study are compared by the experts' ranks, one by one.
    studies = [replace(study, machines=None) for study in studies]
    findings = tuple(analyze_experience(s, **settings, bootstrap=0).findings for s in studies)
    system_estimates = [s for at, f in enumerate(findings) for s in estimates_of(at, f)]
    chosen = chosen_of(system_estimates, systems, studies)
    start = ComparisonFindings(
        "systems", findings, tuple(chosen), test, tuple(systems), settings["level"]
    )
    if same_system:
        comparison = _over_time(start, studies)
    elif len(studies) > 1:
        comparison = _unrelated(start, studies)
    else:
        comparison = _in_one_study(start, studies[0])
    return ComparisonResult(replace(comparison, warnings=tuple(find_warnings(comparison))))


def _level(studies: Sequence[Study], level: float | None) -> float:
    """One level for all studies: that of the caller, or the one on which they agree."""
    if level is not None:
        return level
    levels = {study.spec.analysis.level: study.name for study in studies}
    if len(levels) > 1:
        each = " and ".join(f"{level:g} ({name})" for level, name in levels.items())
        raise QuemError(
            Mistake(
                "",
                key="level",
                message=f"the studies ask for different levels: {each}; give one by --level",
            )
        )
    return next(iter(levels))


def _in_one_study(start: ComparisonFindings, study: Study) -> ComparisonFindings:
    findings = start.studies[0]
    if study.panel:
        raise QuemError(
            study.mistake(
                ("panel",),
                (
                    "comparing systems of one study needs ranks of whole groups, and this "
                    "study is placed "
                    "on a panel; compare the intervals, or two placed studies"
                ),
            )
        )
    if isinstance(study.data, PrintedAverages):
        raise QuemError(
            study.mistake(
                ("rankings",),
                (
                    "comparing systems of one study needs the ranks, and this study has only "
                    "their "
                    "averages; give the ranks, or name a second study"
                ),
            )
        )
    _refuse_blocks(findings)
    # Naming systems asks for these and for nothing else.
    uplifts = [] if start.chosen else uplifts_of(study, findings.settings)
    names = [entry.system for entry in start.system_estimates]
    if len(names) < 2 and not uplifts:  # noqa: PLR2004  a comparison is of two
        raise QuemError(list(_nothing_to_compare(start, study, names)))
    pairs = compare_pairs(findings, names, start.test)
    _refuse_untestable(study, pairs)
    progressions = progressions_of(start.system_estimates, pairs)
    return replace(
        start,
        pairs=tuple(pairs),
        progressions=tuple(progressions),
        uplifts=tuple(uplifts),
    )


def _nothing_to_compare(
    start: ComparisonFindings, study: Study, names: list[str]
) -> Iterator[Mistake]:
    """Too few systems, and nobody whose gain from assistance can be measured."""
    what = f"only {names[0]} has" if names else "no system has"
    message = (
        f"a comparison needs two systems with ranks, and {what} any here; add a system, or "
        "name a second study"
    )
    if not study.spec.assisted or start.chosen:
        yield study.mistake(("systems",), message)
    else:
        for at, one in enumerate(study.spec.assisted):
            yield study.mistake(("assisted", at), missing_half(study, one))


def _refuse_blocks(findings: ExperienceFindings) -> None:
    """Ranks of different blocks do not compare."""
    if findings.cells is not None and findings.cells.is_blocked:
        raise QuemError(
            findings.study.mistake(
                ("rankings",),
                (
                    "this study was judged in blocks, and ranks of different blocks do not "
                    "compare; "
                    "`quem analyze` estimates each system by worths pooled over the blocks"
                ),
            )
        )


def _refuse_untestable(study: Study, pairs: Sequence[Pair]) -> None:
    """A test that was asked for and that the data do not allow; differences come without it."""
    names: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.chosen not in ("auto", "problem") and (why := refusal(pair.chosen, pair.paired)):
            names.setdefault(why, []).append(f"{pair.a} and {pair.b}")
    if names:
        raise QuemError(
            Mistake(study.name, key="test", message=f"{', '.join(of)}: {why}; {_REMEDY}")
            for why, of in names.items()
        )


_REMEDY = "choose another test, or leave one of them out by --systems"


def _unrelated(start: ComparisonFindings, studies: Sequence[Study]) -> ComparisonFindings:
    held = {entry.study for entry in start.system_estimates}
    empty = [study for at, study in enumerate(studies) if at not in held]
    if empty:
        what = "none of the named systems has" if start.chosen else "no system has"
        message = f"{what} ranks in this study, so that there is nothing to compare; leave it out"
        raise QuemError([study.mistake(("systems",), message) for study in empty])
    differences = compare_studies(start.system_estimates, start.level)
    return replace(start, mode="studies", differences=tuple(differences))


def _over_time(start: ComparisonFindings, studies: Sequence[Study]) -> ComparisonFindings:
    if len(studies) == 1:
        raise QuemError(
            Mistake(
                studies[0].name,
                message=(
                    "same_system needs two studies; versions in one study (`of`) are shown as "
                    "a "
                    "progression without it"
                ),
            )
        )
    of, versions = one_system(start.system_estimates, studies, named=bool(start.chosen))

    def within(before: SystemEstimate, after: SystemEstimate) -> Pair:
        findings: ExperienceFindings = start.studies[before.study]
        if findings.cells is None:
            raise QuemError(
                findings.study.mistake(
                    ("rankings",),
                    (
                        f"{before.name} and {after.name} are versions in one study that has no "
                        "ranks of whole groups, which comparing them needs; leave one out by "
                        "--systems"
                    ),
                )
            )
        _refuse_blocks(findings)
        (pair,) = compare_pairs(findings, [before.system, after.system], start.test)
        _refuse_untestable(findings.study, [pair])
        return pair

    progression = across_studies(of, versions, within, start.level)
    return replace(
        start, mode="time", system_estimates=progression.versions, progressions=(progression,)
    )
