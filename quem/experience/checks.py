"""What a reader of the result must know. Every code is explained in ``docs/reference/warnings``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning
from quem.experience.wording import SIGNIFICANT
from quem.wording import format_interval, format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.estimate import Estimate
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.findings import ExperienceFindings
    from quem.experience.recognized import Recognised

__all__ = ["find_warnings", "judge_doubts", "pooled_doubts"]


_FEW_SUBJECTS = 5


def find_warnings(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    """Collect the doubts about a result, those about the data first.

    Parameters
    ----------
    findings : ExperienceFindings
    """
    yield from findings.study.data.warnings
    yield from _people(findings)
    yield from _groups(findings)
    yield from _function(findings)
    for estimate in findings.estimates:
        yield from _estimate(findings, estimate)
    yield from _decisive(findings)
    yield from judge_doubts(findings)
    yield from _left_undone(findings)


def _people(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    ranked = {findings.averages.solvers[i] for i in findings.averages.of_kind("subject")}
    subjects = [subject for subject in findings.study.spec.subjects if subject.id in ranked]
    if len(subjects) < _FEW_SUBJECTS:
        message = (
            f"only {len(subjects)} subjects have ranks; with fewer than 5 the interval is wide"
        )
        yield StudyWarning("few-subjects", message)
    unit = findings.study.spec.experience_unit
    for judge in findings.study.spec.judges:
        above = [
            s for s in subjects if judge.experience is not None and s.experience > judge.experience
        ]
        if above:
            names = join_words(f"{subject.id} ({subject.experience:g})" for subject in above)
            verb = "has" if len(above) == 1 else "have"
            message = (
                f"the judge {judge.id} has {judge.experience:g} {unit} of experience, and {names} "
                f"{verb} more; judges should have at least as much as every subject"
            )
            yield StudyWarning("judge-less-experienced", message)
    # A system that helps people need not have solved anything by itself.
    helping = {assisted.by for assisted in findings.study.spec.assisted}
    unranked = [
        solver
        for solver, kind in findings.study.declared.solvers.items()
        if kind != "withheld"
        and solver not in helping
        and not np.isfinite(_average(findings, solver))
    ]
    if unranked:
        verb = "has" if len(unranked) == 1 else "have"
        yield StudyWarning(
            "no-ranks", f"{join_words(unranked)} {verb} no ranks and {verb} no part in the result"
        )
    if idle := [
        solver
        for solver, kind in findings.study.declared.solvers.items()
        if kind == "withheld" and findings.cells and not np.isfinite(_average(findings, solver))
    ]:
        verb = "is" if len(idle) == 1 else "are"
        message = (
            f"the withheld {join_words(idle)} {verb} not in the rankings, and no gap is theirs"
        )
        yield StudyWarning("no-ranks", message)
    n_systems = len(findings.averages.of_kind("system"))
    if n_systems == 0:
        message = "no system has ranks; the skill function of the subjects stands alone"
        yield StudyWarning("no-system", message)
    if n_systems > len(subjects) / 2 and findings.settings.reference == "all":
        message = (
            f"there are {n_systems} systems and {len(subjects)} subjects: the systems shift the "
            "subjects' ranks; consider `reference: humans`, which ranks each against people only"
        )
        yield StudyWarning("many-systems", message)
    if any(kind == "assisted" for kind in findings.study.declared.solvers.values()):
        message = (
            "assisted solvers hold their places in the groups, but are neither fitted nor "
            "estimated by this analysis; `quem compare` measures what they gain"
        )
        yield StudyWarning("assisted", message)


def _average(findings: ExperienceFindings, solver: str) -> float:
    return float(findings.averages.average[findings.averages.solvers.index(solver)])


def _groups(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    cells = findings.cells
    if cells is None:
        message = (
            "the study has average ranks only: the agreement of the judges, the influence of each "
            "judge, the analysis of variance and the bootstrap are unknown"
        )
        yield StudyWarning("averages-only", message)
        return
    if cells.gaps:
        gap = cells.gaps[0]
        ranks = join_words(map(str, gap.ranks))
        noun = "rank" if len(gap.ranks) == 1 else "ranks"
        others = [f"{other.judge} on {other.problem}" for other in cells.gaps[1:]]
        more = f"; gaps also in {join_words(others)}" if others else ""
        remedy = "declare it as withheld if there was one"
        if "withheld" in findings.study.declared.solvers.values():
            remedy = "the declared withheld solvers do not account for it"
        message = (
            f"{gap.judge} on {gap.problem} left the {noun} {ranks} unused, as if a solution were "
            f"not in the data; {remedy}{more}"
        )
        yield StudyWarning("rank-gap", message)
    sizes = Counter(np.bincount(cells.group).tolist())
    comparable = findings.settings.normalize != "none" or findings.settings.score != "rank"
    if len(sizes) > 1 and not comparable:
        counts = join_words(f"{sizes[size]} of {size}" for size in sorted(sizes))
        message = (
            f"the groups are of unequal size ({counts} solutions), so that the same rank means "
            "different things; compare `normalize: expected`"
        )
        yield StudyWarning("unequal-groups", message)
    if findings.pooled:
        yield from pooled_doubts(findings, findings.pooled)
    unused = [
        f"{noun} {name}"
        for noun, names, codes in (
            ("judge", cells.judges, cells.judge),
            ("problem", cells.problems, cells.problem),
        )
        for name, count in zip(names, np.bincount(codes, minlength=len(names)), strict=True)
        if not count
    ]
    if unused:
        yield StudyWarning("not-in-rankings", f"the rankings hold nothing of {join_words(unused)}")


def _function(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    falling = findings.function.falling_share
    if falling == 1:
        message = (
            f"{findings.study.spec.experience_unit} of experience fall with quality, so the skill "
            "function does not measure skill here; were the ranks entered upside down (1 is the "
            "worst)?"
        )
        yield StudyWarning("falling", message)
    elif falling > 0:
        message = (
            f"the skill function turns: over {format_percent(round(falling, 2))} of the subjects' "
            "range "
            "experience falls with quality; prefer a form that does not turn, such as linear"
        )
        yield StudyWarning("falling", message)
    if not findings.p_value < SIGNIFICANT:
        message = (
            f"the skill function is not significant ({format_p(findings.p_value)}): these data do "
            "not "
            "show that experience goes with quality"
        )
        yield StudyWarning("not-significant", message)
    if findings.settings.form == "auto":
        message = (
            f"the form {findings.function.form.name} was chosen by AICc on these data; after such "
            "a "
            "choice a 95% interval covers 93 to 94%"
        )
        yield StudyWarning("form-chosen", message)


def _estimate(findings: ExperienceFindings, estimate: Estimate) -> Iterator[StudyWarning]:
    unit, settings = findings.study.spec.experience_unit, findings.settings
    name = findings.name_of(estimate.system)
    if estimate.side != "inside":
        told = {
            "above": "; only the lower bound is to be trusted",
            "below": "; only the upper bound is to be trusted",
            "outside": " on different sides by rank and by estimate; nothing can be said of it",
        }[estimate.side]
        message = (
            f"{name} lies {estimate.side} the subjects' range (average rank "
            f"{format_number(estimate.average_rank, 2)}, {format_number(estimate.experience)} "
            f"{unit}){told}"
        )
        yield StudyWarning("outside-range", message)
    if estimate.experience < 0:
        message = (
            f"the estimate of {name} is negative ({format_number(estimate.experience)} {unit}): "
            "the skill "
            "function reaches below 0 there, where nobody's experience is"
        )
        yield StudyWarning("negative-estimate", message)
    if 0 < estimate.n_problems < findings.averages.study_problems:
        told = (
            "its prediction interval is widened for that"
            if estimate.widened
            else "its intervals are not wider for that, since worths are pooled over problems"
            if findings.pooled
            else "its intervals are not wider for that, since no subject was judged on two problems"
        )
        message = (
            f"{name} was judged on {estimate.n_problems} of "
            f"{findings.averages.study_problems} problems; {told}"
        )
        yield StudyWarning("fewer-problems", message)
    if settings.interval == "calibration":
        if estimate.calibration is None:
            message = (
                f"the form {findings.function.form.name} has no calibration interval; the headline "
                f"of {name} has none"
            )
            yield StudyWarning("no-interval", message)
        elif not estimate.calibration.bounded:
            message = (
                f"the calibration interval of {name} is unbounded, since the slope is not "
                f"significant at {format_percent(1 - settings.level)}"
            )
            yield StudyWarning("no-interval", message)


def _decisive(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    """Leaving one out moves the estimate by more than the interval's half-width."""
    unit = findings.study.spec.experience_unit
    for estimate in findings.estimates:
        # What is left out moves the regression estimate, so its own interval is the measure.
        mean = findings.settings.interval == "mean"
        low, high = estimate.mean if mean else estimate.prediction
        half = (high - low) / 2
        for left in (*findings.judges, *findings.subjects):
            if left.system == estimate.system and abs(left.change) > half:
                message = (
                    f"the {left.what} {left.id} decides the answer: without, "
                    f"{findings.name_of(left.system)} is at {format_number(left.estimate)} instead "
                    "of "
                    f"{format_number(estimate.experience)} {unit}, more than the interval's "
                    "half-width "
                    f"({format_number(half)}) away"
                )
                yield StudyWarning(f"decisive-{left.what}", message)


def _left_undone(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    """What was sampled, skipped or discarded."""
    if findings.cells is None:
        return
    if findings.agreement and findings.agreement.sampled:
        message = (
            "there are too many pairs of judges to compare all: the Spearman and tau-b "
            "correlations are means over a random sample of 200 pairs a problem"
        )
        yield StudyWarning("pairs-sampled", message)
    if findings.agreement is None and not findings.cells.is_blocked:
        yield StudyWarning(
            "agreement-skipped", "the study is too large to measure the judges' agreement"
        )
    if findings.anova is None and not findings.pooled:
        message = "the study is too large for the factorial analysis of variance, which is left out"
        yield StudyWarning("anova-skipped", message)
    if (
        findings.bootstrap is None
        and not findings.pooled
        and findings.settings.bootstrap
        and findings.estimates
    ):
        yield StudyWarning(
            "bootstrap-skipped", "the study is too large for the bootstrap, which is left out"
        )
    if findings.bootstrap and findings.bootstrap.discarded > findings.bootstrap.replicates / 20:
        intervals = [format_interval(i) for i in findings.bootstrap.intervals.values()]
        message = (
            f"{findings.bootstrap.discarded} of {findings.bootstrap.replicates} bootstrap "
            "replicates "
            f"were discarded for fewer than 3 different averages; the bootstrap interval "
            f"({join_words(intervals) or 'none'}) says little"
        )
        yield StudyWarning("bootstrap-discarded", message)


_LOW_AGREEMENT = 0.25


# With a tau-b below this, less than half of what makes a judge's order came back.
_LOW_CONSISTENCY = 0.3


_FEWEST_REPEATED = 8


def judge_doubts(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    """Collect the doubts about the judges.

    Parameters
    ----------
    findings : ExperienceFindings
    """
    yield from _disagreeing(findings)
    yield from _inconsistent(findings)
    if findings.recognised:
        yield StudyWarning("recognised-authors", _recognised(findings, findings.recognised))


def _disagreeing(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    if findings.agreement is None:
        return
    if findings.agreement.overall.n_judges < 2:  # noqa: PLR2004  nobody to agree with
        yield StudyWarning(
            "one-judge", "there is one judge only, so agreement between judges is unknown"
        )
    low = [
        f"{problem} ({format_number(concordance.mean_spearman, 2)})"
        for problem, concordance in findings.agreement.problems.items()
        if concordance.mean_spearman < _LOW_AGREEMENT
    ]
    if low:
        message = f"the judges disagree (mean Spearman correlation below .25) on {join_words(low)}"
        yield StudyWarning("judges-disagree", message)


def _inconsistent(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    for judge, own in findings.retest.judges.items() if findings.retest else ():
        if own.n_solutions >= _FEWEST_REPEATED and own.mean_tau_b < _LOW_CONSISTENCY:
            groups = "a repeated group" if own.n_groups == 1 else f"{own.n_groups} repeated groups"
            message = (
                f"the judge {judge} ranked {groups} quite differently the second time (mean tau-b "
                f"{format_number(own.mean_tau_b, 2)}, {own.n_solutions} solutions)"
            )
            yield StudyWarning("inconsistent-judge", message)


def _recognised(findings: ExperienceFindings, without: Recognised) -> str:
    one = without.n_ranks == 1
    message = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks {'is' if one else 'are'} of "
        f"{'a solution' if one else 'solutions'} whose author the judge recognised"
    )
    pronoun = "it" if one else "them"
    if not without.fitted:
        return f"{message}; without {pronoun} no skill function can be fitted"
    years = {estimate.system: estimate.experience for estimate in findings.estimates}
    changes = [
        f"{findings.name_of(left.system)} comes out at {format_number(left.estimate)} instead of "
        f"{format_number(years[left.system])} {findings.study.spec.experience_unit}"
        if np.isfinite(left.estimate)
        else f"{findings.name_of(left.system)} has no ranks"
        for left in without.estimates
    ]
    return f"{message}; without {pronoun} {join_words(changes)}" if changes else message


def pooled_doubts(findings: ExperienceFindings, pooled: ExpectedRanks) -> Iterator[StudyWarning]:
    """Collect the doubts about worths.

    Parameters
    ----------
    findings : ExperienceFindings
    pooled : ExpectedRanks
        Of the same.
    """
    blocked = findings.cells is not None and findings.cells.is_blocked
    if blocked:
        message = (
            "some groups were judged in several blocks, whose ranks do not compare: solvers are "
            "scored by worths instead (Plackett-Luce), as ranks to be expected among all; the "
            "judges' agreement, the analysis of variance and the bootstrap, which need ranks of "
            "whole groups, are left out"
        )
        yield StudyWarning("blocks", message)
    else:
        message = (
            "worths are pooled over all rankings, so that no rank has a score of its own: the "
            "analysis of variance and the bootstrap are left out"
        )
        yield StudyWarning("pooled", message)
    several = findings.cells is not None and len(set(findings.cells.judge.tolist())) > 1
    if several and findings.estimates and not findings.judges:
        message = (
            "the study is too large to fit worths without each judge and each problem in turn; how "
            "far the answer rests on one of them is unknown"
        )
        yield StudyWarning("influence-skipped", message)
    told = [
        f"{_names(findings, solvers)} {'was' if len(solvers) == 1 else 'were'} always ranked "
        f"{where} "
        "all others compared with"
        for where, sets in (("above", pooled.connection.above), ("below", pooled.connection.below))
        for solvers in sets
    ]
    if told:
        message = f"{'; '.join(told)}; how far apart, only the small penalty on worths says"
        yield StudyWarning("always-above", message)


def _names(findings: ExperienceFindings, solvers: tuple[int, ...]) -> str:
    return join_words(findings.name_of(findings.averages.solvers[solver]) for solver in solvers)
