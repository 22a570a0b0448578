"""Warnings about a study and its estimates, as tables of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from quem.errors import StudyWarning, WarningRules
from quem.experience.control import FEWEST_LABELED
from quem.experience.judges import MISFIT
from quem.experience.machine_quality import RULES as OF_MACHINES
from quem.experience.skill import FEWEST_SUBJECTS, SIGNIFICANT
from quem.experience.virtual_placement import MOST_TIMES_AS_WIDE, times_as_wide
from quem.experience.wording import only_source, variation
from quem.wording import (
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
    join_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate
    from quem.experience.result import ExperienceFindings
    from quem.studyfile.runs import Run

    Floats = NDArray[np.float64]


_LOW_AGREEMENT = 0.25
# With a tau-b below this, less than half of what determines a judge's order is repeated.
_LOW_CONSISTENCY = 0.3
_FEWEST_REPEATED = 8
# Share of bootstrap replicates.
_MANY_DISCARDED = 1 / 20

_DATA: WarningRules[ExperienceFindings] = WarningRules()
_ESTIMATE: WarningRules[ExperienceFindings, Estimate] = WarningRules()
_INFLUENCE: WarningRules[ExperienceFindings, Estimate] = WarningRules()
_JUDGES: WarningRules[ExperienceFindings] = WarningRules()


def find_warnings(findings: ExperienceFindings) -> Iterator[StudyWarning]:
    """Yield the warnings of a result, those about the data first."""
    yield from findings.study.data.warnings
    yield from _DATA.find(findings)
    yield from OF_MACHINES.find(findings)
    # These are about years, of which there are none.
    for rules in (_ESTIMATE, _INFLUENCE) if findings.gate.passed else ():
        for estimate in findings.estimates:
            yield from rules.find(findings, estimate)
    yield from _JUDGES.find(findings)


def _has_ranks(findings: ExperienceFindings, solver: str) -> bool:
    at = findings.averages.solvers.index(solver)
    return bool(np.isfinite(findings.averages.average[at]))


def _n_ranked(findings: ExperienceFindings, kind: str) -> int:
    return len(findings.averages.of_kind(kind))


def _join_names(findings: ExperienceFindings, solvers: Iterable[int]) -> str:
    return join_words(findings.name_of(findings.averages.solvers[solver]) for solver in solvers)


# Subjects, judges and systems.


@_DATA.add("few-subjects", remedy="add subjects")
def _few_subjects(findings: ExperienceFindings) -> Iterator[str]:
    if (n := _n_ranked(findings, "subject")) < FEWEST_SUBJECTS:
        df = format_count(findings.function.df, "degree")
        yield f"only {n} subjects have ranks, so intervals are wide ({df} of freedom)"


@_DATA.add("judge-less-experienced", remedy="judges should have at least as much as every subject")
def _judge_less_experienced(findings: ExperienceFindings) -> Iterator[str]:
    spec = findings.study.spec
    for judge in spec.judges:
        above = [
            f"{subject.id} ({subject.experience:g} {spec.experience_unit})"
            for subject in spec.subjects
            if judge.experience is not None
            and subject.experience > judge.experience
            and _has_ranks(findings, subject.id)
        ]
        if above:
            yield (
                f"judge {judge.id} ({judge.experience:g} {spec.experience_unit}) has less "
                f"experience than {join_words(above)}"
            )


@_DATA.add("no-ranks")
def _no_ranks(findings: ExperienceFindings) -> Iterator[str]:
    # A system that assists people need not have solved anything alone.
    assisting = {assisted.by for assisted in findings.study.spec.assisted}
    unranked: dict[bool, list[str]] = {False: [], True: []}
    for solver, kind in findings.study.declared.solvers.items():
        if solver not in assisting and not _has_ranks(findings, solver):
            unranked[kind == "withheld"].append(solver)
    if names := unranked[False]:
        verbs = "has no ranks and is" if len(names) == 1 else "have no ranks and are"
        yield f"{join_words(names)} {verbs} excluded"
    if findings.cells and (names := unranked[True]):
        verb = "is in no ranking and matches" if len(names) == 1 else "are in no ranking and match"
        yield f"withheld {join_words(names)} {verb} no unused rank"


@_DATA.add("no-system")
def _no_system(findings: ExperienceFindings) -> Iterator[str]:
    if not _n_ranked(findings, "system"):
        yield "no system has ranks; only the skill function is reported"


@_DATA.add("many-systems", remedy="consider `reference: humans`")
def _many_systems(findings: ExperienceFindings) -> Iterator[str]:
    n_systems, n_subjects = _n_ranked(findings, "system"), _n_ranked(findings, "subject")
    if n_systems > n_subjects / 2 and findings.settings.reference == "all":
        yield f"{n_systems} systems among {n_subjects} subjects shift the subjects' ranks"


@_DATA.add("assisted", remedy="use `quem compare` to measure their gain")
def _assisted(findings: ExperienceFindings) -> Iterator[str]:
    if "assisted" in findings.study.declared.solvers.values():
        yield "assisted solvers keep their rank positions but are neither fitted nor estimated here"


# Machine judges.

# Shares: of calls without a valid ranking; and of rankings that tie everybody.
_MANY_FAILED = 0.05


@_DATA.add("machine-not-run", remedy="run `quem judge`")
def _machine_not_run(findings: ExperienceFindings) -> Iterator[str]:
    if findings.machines and findings.machines.without:
        names = findings.machines.without
        yield f"{join_words(names)} {'has' if len(names) == 1 else 'have'} ranked nothing yet"


@_DATA.add("machine-failures", remedy="mend the machine judge, and run it again")
def _machine_failures(findings: ExperienceFindings) -> Iterator[str]:
    for run in findings.machines.runs if findings.machines else ():
        if run.failed <= _MANY_FAILED:
            continue
        kinds = Counter(call.status for call in run.made if call.status != "ok")
        each = ", ".join(f"{count:,} {status}" for status, count in kinds.items())
        unused = "; it is not used" if run.judge in findings.machines.refused else ""  # type: ignore[union-attr]
        yield (
            f"{run.judge} gave no valid ranking in {format_percent(round(run.failed, 2))} of "
            f"{format_count(len(run.made), 'call')} ({each}){_where(findings, run)}{unused}"
        )


def _where(findings: ExperienceFindings, run: Run) -> str:
    """Say whether calls failed more often on the experts' problems."""
    cells = findings.cells
    if cells is None:
        return ""
    labeled = {cells.problems[problem] for problem in np.unique(cells.problem)}
    parts = {
        is_labeled: [call for call in run.made if (call.problem in labeled) == is_labeled]
        for is_labeled in (True, False)
    }
    if not all(parts.values()):
        return ""
    on, off = (sum(call.status != "ok" for call in part) / len(part) for part in parts.values())
    return (
        f": {format_percent(round(on, 2))} on problems that experts ranked, "
        f"{format_percent(round(off, 2))} on the others"
    )


@_DATA.add("machine-changed", remedy="run it again from the start, if the service allows it")
def _machine_changed(findings: ExperienceFindings) -> Iterator[str]:
    for run in findings.machines.runs if findings.machines else ():
        servers = {(call.model, call.fingerprint) for call in run.made if call.status == "ok"}
        if len(servers) > 1:
            names = sorted(" ".join(filter(None, server)) or "unnamed" for server in servers)
            yield f"the service of {run.judge} answered as {join_words(names)} in one run"


@_DATA.add("few-expert-problems", remedy="have experts rank more problems")
def _few_expert_problems(findings: ExperienceFindings) -> Iterator[str]:
    control = findings.machines.control if findings.machines else None
    if control and control.n_labeled < FEWEST_LABELED:
        counted = format_count(control.n_labeled, "problem")
        yield (
            f"experts ranked {counted} of the machine judges' {control.n_problems}, and "
            f"{FEWEST_LABELED} are needed; machine judges add nothing"
        )


@_DATA.add("labeled-not-drawn", remedy="let quem draw them with `machine.experts_on`")
def _labeled_not_drawn(findings: ExperienceFindings) -> Iterator[str]:
    use = findings.machines
    if use and use.share and use.draw and not use.draw.holds:
        yield (
            f"experts ranked {join_words(use.draw.labeled)}, and the draw from the solutions "
            f"gives {join_words(use.draw.problems)}"
        )


@_DATA.add("solutions-changed-after-draw", remedy="say so with the results")
def _solutions_changed_after_draw(findings: ExperienceFindings) -> Iterator[str]:
    use = findings.machines
    if use and use.share and use.draw and use.draw.changed:
        yield (
            "machine judges saw other solutions than those that the experts' problems were drawn "
            "from"
        )


@_ESTIMATE.add("machine-erratic")
def _machine_erratic(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    use = findings.machines
    of = use.erratic.get(estimate.system) if use else None
    if of and of.variance:
        yield (
            f"what machine judges say of {estimate.system} goes less with the experts from "
            f"problem to problem than what they say of people (F = {format_number(of.f, 2)}, "
            f"{format_p(of.p)}); its interval is wider for it"
        )


# Reference panels.


@_DATA.add("panel-judges-differ")
def _panel_judges_differ(findings: ExperienceFindings) -> Iterator[str]:
    df, level = findings.function.df, findings.settings.level
    for one in findings.estimates if findings.on_panel else ():
        if (times := times_as_wide(one, df, level)) > MOST_TIMES_AS_WIDE:
            yield (
                f"the interval of {one.system} is {format_number(times)} times as wide because "
                "these judges see the people of the panel otherwise; have them rank all people"
            )


@_DATA.add("panel-not-drawn", remedy="`quem panel place` writes a study with those that are drawn")
def _panel_not_drawn(findings: ExperienceFindings) -> Iterator[str]:
    if findings.on_panel and not findings.on_panel.drawn:
        yield "judges ranked other people of the panel than those that are drawn for these systems"


@_DATA.add("panel-problems-left-out", remedy="let judges rank them")
def _panel_problems_left_out(findings: ExperienceFindings) -> Iterator[str]:
    on_panel = findings.on_panel
    out = [p for p in on_panel.panel.problems if p not in on_panel.problems] if on_panel else []
    if out:
        yield (
            f"nobody ranked all systems with their anchors on {join_words(out)}, so people and "
            "systems are placed without"
        )


# Groups and ranks.


@_DATA.add("averages-only")
def _averages_only(findings: ExperienceFindings) -> Iterator[str]:
    if not findings.is_ranked:
        yield (
            "only average ranks are available, so agreement, judge influence, ANOVA, and "
            "bootstrap cannot be computed"
        )


@_DATA.add("rank-gap")
def _rank_gap(findings: ExperienceFindings) -> Iterator[str]:
    if findings.cells is None or not findings.cells.gaps:
        return
    gap, *others = findings.cells.gaps
    ranks = f"rank{'' if len(gap.ranks) == 1 else 's'} {join_words(map(str, gap.ranks))}"
    remedy = (
        "the declared withheld solvers do not explain it"
        if "withheld" in findings.study.declared.solvers.values()
        else "if so, declare its solver under `withheld`"
    )
    also = join_words(f"{other.judge} on {other.problem}" for other in others)
    yield (
        f"{gap.judge}'s ranking of {gap.problem} skips {ranks}, which suggests a ranked solution "
        f"is missing from the data; {remedy}" + (f". Also: {also}" if others else "")
    )


@_DATA.add("unequal-groups", remedy="check the estimate with `normalize: expected`")
def _unequal_groups(findings: ExperienceFindings) -> Iterator[str]:
    normalized = findings.settings.normalize != "none" or findings.settings.score != "rank"
    if findings.cells is None or normalized:
        return
    sizes = Counter(np.bincount(findings.cells.group).tolist())
    if len(sizes) > 1:
        counts = join_words(
            f"{format_count(sizes[size], 'group')} of {size}" for size in sorted(sizes)
        )
        yield f"group sizes differ ({counts} solutions), so equal ranks are not comparable"


@_DATA.add("blocks")
def _blocks(findings: ExperienceFindings) -> Iterator[str]:
    if findings.cells is not None and findings.cells.is_blocked:
        how = (
            "some groups were judged in blocks"
            if findings.cells.has_ranks
            else "judges compared pairs"
        )
        yield (
            f"{how}, so solvers are scored by Plackett–Luce expected "
            "ranks; agreement, ANOVA, and bootstrap need complete groups and are omitted"
        )


@_DATA.add("plackett-luce")
def _plackett_luce(findings: ExperienceFindings) -> Iterator[str]:
    if findings.pooled and findings.cells is not None and not findings.cells.is_blocked:
        yield (
            "solvers are scored by Plackett–Luce expected ranks, so single ranks have no score; "
            "ANOVA and bootstrap are omitted"
        )


@_DATA.add("always-above")
def _always_above(findings: ExperienceFindings) -> Iterator[str]:
    if findings.pooled is None:
        return
    connection = findings.pooled.connection
    separated = [
        f"{_join_names(findings, solvers)} "
        + (
            f"was always ranked {where} all others it was compared with"
            if len(solvers) == 1
            else f"were always ranked {where} all others they were compared with"
        )
        for where, sets in (("above", connection.above), ("below", connection.below))
        for solvers in sets
    ]
    if separated:
        yield (
            f"{'; '.join(separated)}; the distance is determined only by the ridge penalty "
            "(separation)"
        )


@_DATA.add("not-in-rankings", remedy="add the ranks or remove the entries from the study file")
def _not_in_rankings(findings: ExperienceFindings) -> Iterator[str]:
    cells = findings.cells
    if cells is None:
        return
    unused = [
        f"{noun} {name}"
        for noun, names, counts in (
            ("judge", cells.judges, findings.averages.incidence.judges),
            ("problem", cells.problems, findings.averages.incidence.problems),
        )
        for name, count in zip(names, counts.sum(axis=1), strict=True)
        # Machine judges rank the problems that experts are not asked to.
        if not count and not (noun == "problem" and findings.study.spec.machine)
    ]
    if unused:
        yield f"{join_words(unused)} {'is' if len(unused) == 1 else 'are'} not in the rankings"


# The skill function.


@_DATA.add("decreasing-skill-function")
def _decreasing_skill_function(findings: ExperienceFindings) -> Iterator[str]:
    falling = findings.function.falling_share
    if falling == 1:
        yield (
            "experience decreases as quality increases, so the skill function does not measure "
            "skill; check the direction of the ranks (1 = worst)"
        )
    elif falling > 0:
        yield (
            f"over {format_percent(round(falling, 2))} of the subjects' range experience decreases "
            "as quality increases; use a form without a turning point, such as linear"
        )


@_DATA.add("not-significant")
def _not_significant(findings: ExperienceFindings) -> Iterator[str]:
    if not findings.p_value < SIGNIFICANT:
        yield (
            f"the skill function is not significant ({format_p(findings.p_value)}): these data do "
            "not show that quality is related to experience"
        )


@_DATA.add("form-chosen")
def _form_chosen(findings: ExperienceFindings) -> Iterator[str]:
    if findings.settings.form == "auto":
        yield (
            f"form {findings.function.form.name} was selected by AICc on these data; 95% "
            "intervals then cover about 93% to 94% in simulations"
        )


# Single subjects.


@_DATA.add("veteran")
def _veteran(findings: ExperienceFindings) -> Iterator[str]:
    y, unit = findings.function.y, findings.study.spec.experience_unit
    at = int(veteran(y))
    if at >= 0:
        subject = findings.diagnostics[at].subject
        next_to = y[np.argsort(y)[-2 if y[at] == y.max() else 1]]
        yield (
            f"{subject} has {y[at]:g} {unit} of experience, and the next subject {next_to:g}, "
            "which is more than half of the whole range; the skill function depends on one person"
            + _without_subject(findings, subject)
        )


@_DATA.add("outlying-subject", remedy="check that person's experience and ranks")
def _outlying_subject(findings: ExperienceFindings) -> Iterator[str]:
    studentized = np.array([subject.studentized for subject in findings.diagnostics])
    for at in np.flatnonzero(outlying(studentized, findings.function.df)):
        of = findings.diagnostics[at]
        yield (
            f"{of.subject} lies far from the skill function of the others: {of.experience:g} "
            f"{findings.study.spec.experience_unit} of experience, where it gives "
            f"{format_number(of.fitted)} (studentized residual {format_number(of.studentized)})"
            + _without_subject(findings, of.subject)
        )


def _without_subject(findings: ExperienceFindings, subject: str) -> str:
    """Give the estimates without a subject, where years may be stated."""
    unit = findings.study.spec.experience_unit
    estimates = [
        f"the estimate for {findings.name_of(left.system)} is {format_number(left.estimate)} {unit}"
        for left in findings.subjects
        if left.id == subject and not left.reason
    ]
    if not estimates or not findings.gate.passed:
        return ""
    return f". Without {subject} {join_words(estimates)}"


# A single estimate.


@_ESTIMATE.add("outside-range")
def _outside_range(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    name, side = findings.name_of(estimate.system), estimate.side
    at = (
        f"(average rank {format_number(estimate.average_rank, 2)}, "
        f"{format_number(estimate.experience)} {findings.study.spec.experience_unit})"
    )
    if side in ("above", "below"):
        bound = "lower" if side == "above" else "upper"
        yield f"{name} is {side} the subjects' range {at}; use only the {bound} bound"
    elif side == "outside":
        yield (
            f"average rank and estimate of {name} are on opposite sides of the subjects' range "
            f"{at}; no statement is possible"
        )


@_ESTIMATE.add("negative-estimate")
def _negative_estimate(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    if estimate.experience < 0:
        yield (
            f"the estimate for {findings.name_of(estimate.system)} is negative "
            f"({format_number(estimate.experience)} {findings.study.spec.experience_unit}), "
            "which is below the range of possible experience"
        )


@_ESTIMATE.add("fewer-judges")
def _fewer_judges(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    few = 0 < estimate.n_judges < findings.averages.study_judges
    on_all = estimate.n_problems == findings.averages.study_problems
    # On a panel the people have the ranks of other judges, which the interval allows for.
    if not findings.on_panel and (few or (on_all and estimate.widened)):
        yield _fewer(findings, estimate)


@_ESTIMATE.add("fewer-problems")
def _fewer_problems(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    by_all = estimate.n_judges == findings.averages.study_judges
    if by_all and 0 < estimate.n_problems < findings.averages.study_problems:
        yield _fewer(findings, estimate)


def _fewer(findings: ExperienceFindings, estimate: Estimate) -> str:
    """Where a system was ranked, what follows for its interval, and on whom all depends."""
    text = _widened(findings, estimate)
    name = findings.name_of(estimate.system)
    for lefts, few in (
        (findings.judges, estimate.n_judges < findings.averages.study_judges),
        (findings.problems, estimate.n_problems < findings.averages.study_problems),
    ):
        if few and (only := only_source(lefts, estimate.system)):
            text += f". Everything said of {name} {only}"
            text += _agreement_of(findings, estimate) if lefts is findings.judges else ""
    return text


def _agreement_of(findings: ExperienceFindings, estimate: Estimate) -> str:
    """How the only judge of a system agrees with the others, as far as it is known."""
    (only,) = (
        left.id
        for left in findings.judges
        if (left.system, left.reason) == (estimate.system, "no-other-ranks")
    )
    for fit in findings.judge_fits:
        if fit.judge == only and np.isfinite(fit.others):
            r = format_number(fit.others, 2)
            if np.isfinite(fit.interval[0]):
                r += f" ({format_interval(fit.interval, 2)})"
            return f", who agrees with the other judges at r = {r} on the other solvers"
    return ""


def _widened(findings: ExperienceFindings, estimate: Estimate) -> str:
    averages, cells = findings.averages, findings.cells
    at = averages.solvers.index(estimate.system)
    by = np.flatnonzero(averages.incidence.judges[:, at])
    parts = []
    if len(by) < averages.study_judges and cells is not None:
        who = join_words([cells.judges[judge] for judge in by], 3)
        parts.append(f"by {len(by)} of {format_count(averages.study_judges, 'judge')} ({who})")
    if estimate.n_problems < averages.study_problems:
        parts.append(f"on {estimate.n_problems} of {averages.study_problems} problems")
    if not parts and cells is not None:
        ranks = averages.n_ranks[at]
        parts.append(f"in {ranks:,} of {format_count(cells.n_groups, 'ranking')}")
    text = f"{findings.name_of(estimate.system)} was ranked {', '.join(parts)}"
    if findings.pooled:
        why = "worths are fitted to all problems at once"
        return f"{text}; its interval is not widened for that, because {why}"
    if not estimate.widened:
        why = (
            "the study is too large for it"
            if cells and cells.is_large
            else "those of the subjects vary as much"
        )
        if averages.components and not averages.components.rest:
            why = "no subject has two ranks that could be compared"
        return f"{text}; its interval is not widened for that, because {why}"
    t = float(stdtrit(estimate.df, (1 + findings.settings.level) / 2))
    wide = estimate.error**2 - estimate.jagged
    before, after = (t * np.sqrt(variance) for variance in (wide - estimate.widened, wide))
    text += (
        f"; its interval is widened from ±{format_number(before)} to ±{format_number(after)} "
        f"{findings.study.spec.experience_unit} for that"
    )
    for variant in findings.variants:
        chosen = (variant.setting, variant.value, variant.system)
        if chosen == ("normalize", "expected", estimate.system):
            text += (
                f". By `normalize: expected` it reads {format_number(variant.estimate)} "
                f"{findings.study.spec.experience_unit}"
            )
    return text


@_ESTIMATE.add("jagged", remedy="report it problem by problem")
def _jagged(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    profile = findings.profiles.get(estimate.system)
    if profile is not None and profile.is_jagged:
        yield (
            f"{findings.name_of(estimate.system)} {variation(profile)}, so no single level of "
            "experience describes it; its interval is widened for that"
        )


@_ESTIMATE.add("no-interval", remedy="report the prediction interval")
def _no_interval(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    name = findings.name_of(estimate.system)
    if findings.settings.interval == "hierarchical":
        if np.isnan(estimate.interval("hierarchical")).any():
            yield f"the model gives no interval for {name}, because the slope is not significant"
        return
    if findings.settings.interval != "calibration":
        return
    if estimate.calibration is None:
        yield (
            f"form {findings.function.form.name} has no calibration interval, so the headline for "
            f"{name} has no interval"
        )
    elif not estimate.calibration.bounded:
        yield (
            f"the calibration interval for {name} is unbounded, because the slope is not "
            f"significant at the {format_percent(1 - findings.settings.level)} level"
        )


@_INFLUENCE.add("decisive-judge")
def _decisive_judge(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    yield from _decisive(findings, estimate, "judge")


@_INFLUENCE.add("decisive-subject")
def _decisive_subject(findings: ExperienceFindings, estimate: Estimate) -> Iterator[str]:
    yield from _decisive(findings, estimate, "subject", DECISIVE)


def _decisive(
    findings: ExperienceFindings, estimate: Estimate, what: str, share: float = 1.0
) -> Iterator[str]:
    # Leaving one out changes the regression estimate, so its own interval is the yardstick.
    is_mean = findings.settings.interval == "mean"
    low, high = estimate.mean if is_mean else estimate.prediction
    half = (high - low) / 2
    than = "" if share == 1 else "a third of "
    for left in findings.judges if what == "judge" else findings.subjects:
        if left.system == estimate.system and abs(left.change) > share * half:
            yield (
                f"without {what} {left.id} the estimate for {findings.name_of(left.system)} is "
                f"{format_number(left.estimate)} instead of {format_number(estimate.experience)} "
                f"{findings.study.spec.experience_unit}, a change larger than {than}the interval's "
                f"half-width ({format_number(half)})"
            )


# Judges.


@_JUDGES.add("one-judge", remedy="add a judge")
def _one_judge(findings: ExperienceFindings) -> Iterator[str]:
    if findings.agreement and findings.agreement.overall.n_judges == 1:
        yield "only one judge ranked, so agreement between judges is unknown"


@_JUDGES.add("judges-disagree")
def _judges_disagree(findings: ExperienceFindings) -> Iterator[str]:
    if findings.agreement is None:
        return
    low = [
        f"{problem} ({format_number(concordance.mean_spearman, 2)})"
        for problem, concordance in findings.agreement.problems.items()
        if concordance.mean_spearman < _LOW_AGREEMENT
    ]
    if low:
        yield (
            f"judges disagree on {join_words(low)}: mean Spearman correlation below "
            f"{_LOW_AGREEMENT:g}"
        )


@_JUDGES.add("judge-reversed")
def _judge_reversed(findings: ExperienceFindings) -> Iterator[str]:
    unit = findings.study.spec.experience_unit
    for fit in findings.judge_fits:
        if not fit.is_reversed:
            continue
        text = (
            f"{fit.judge}'s order runs against the other judges' "
            f"(r = {format_number(fit.others, 2)}, {format_interval(fit.interval, 2)}) and against "
            f"experience (r = {format_number(fit.experience, 2)}). Did {fit.judge} give 1 to the "
            "best?"
        )
        turned = [
            f"the estimate for {findings.name_of(left.system)} would be "
            f"{format_number(left.estimate)} {unit}"
            for left in fit.turned
            if np.isfinite(left.estimate)
        ]
        if turned and findings.gate.passed:
            text += f" Turned around, {join_words(turned)}"
        yield text


@_JUDGES.add("judge-misfit", remedy="ask for their criteria")
def _judge_misfit(findings: ExperienceFindings) -> Iterator[str]:
    yield from _misfit_of_worths(findings)
    for fit in findings.judge_fits:
        if fit.misfit > MISFIT:
            yield (
                f"{fit.judge} ranks unlike the other judges: the mean squared difference from the "
                f"others' mean rank is {format_number(fit.misfit)} times that of the others"
            )


@_JUDGES.add("inconsistent-judge")
def _inconsistent_judge(findings: ExperienceFindings) -> Iterator[str]:
    for judge, own in findings.retest.judges.items() if findings.retest else ():
        if own.n_ranks >= _FEWEST_REPEATED and own.mean_tau_b < _LOW_CONSISTENCY:
            yield (
                f"judge {judge}'s repeat rankings are inconsistent "
                f"({format_count(own.n_groups, 'task')}, {format_count(own.n_ranks, 'rank')}, mean "
                f"tau-b {format_number(own.mean_tau_b, 2)}, below {_LOW_CONSISTENCY:g})"
            )


@_JUDGES.add("recognized-authors")
def _recognized_authors(findings: ExperienceFindings) -> Iterator[str]:
    without = findings.recognized
    if without is None:
        return
    one = without.n_ranks == 1
    observed = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks "
        f"{'is of a solution' if one else 'are of solutions'} whose author the judge recognized"
    )
    excluding = f"; excluding {'it' if one else 'them'}"
    if not without.fitted:
        yield f"{observed}{excluding}, no skill function can be fitted"
        return
    if not findings.gate.passed:
        yield observed
        return
    years = {estimate.system: estimate.experience for estimate in findings.estimates}
    changes = [
        f"the estimate for {findings.name_of(left.system)} is {format_number(left.estimate)} "
        f"instead of {format_number(years[left.system])} {findings.study.spec.experience_unit}"
        if np.isfinite(left.estimate)
        else f"{findings.name_of(left.system)} has no ranks"
        for left in without.estimates
    ]
    yield f"{observed}{excluding}, {join_words(changes)}" if changes else observed


# Worths.

# A scale is usable from .7 on; a judge's choices are odd beyond two standard deviations of the
# judges' infits, which takes some choices to say (comparative judgment; Pollitt 2012).
_LOW_SEPARATION = 0.7
_MISFIT_DEVIATIONS, _FEWEST_CHOICES = 2, 20


@_JUDGES.add("low-separation", remedy="add judges' decisions, or report no order")
def _low_separation(findings: ExperienceFindings) -> Iterator[str]:
    if findings.worth_errors is None:
        return
    separation = findings.worth_errors.separation()
    if separation < _LOW_SEPARATION:
        yield (
            f"the separation reliability of the worths is {format_number(separation, 2)}, below "
            f"{_LOW_SEPARATION:g}: the order of the solvers is mostly chance"
        )


def _misfit_of_worths(findings: ExperienceFindings) -> Iterator[str]:
    """Name the judges whose choices fit the worths much less than those of the others."""
    if findings.worth_fit is None or findings.cells is None:
        return
    fit = findings.worth_fit.judges
    infit = fit.infit[fit.n > 0]
    if len(infit) < 2:  # noqa: PLR2004  one has no deviation
        return
    limit = float(infit.mean() + _MISFIT_DEVIATIONS * infit.std(ddof=1))
    for judge in np.flatnonzero((fit.n >= _FEWEST_CHOICES) & (fit.infit > limit)):
        yield (
            f"judge {findings.cells.judges[judge]}'s choices fit the worths less than those of "
            f"other judges: infit {format_number(float(fit.infit[judge]), 2)}, mean of the judges "
            f"{format_number(float(infit.mean()), 2)} (above the mean by more than "
            f"{_MISFIT_DEVIATIONS} standard deviations, {fit.n[judge]:,} choices)"
        )


# What was sampled, skipped or discarded.


@_JUDGES.add("pairs-sampled")
def _pairs_sampled(findings: ExperienceFindings) -> Iterator[str]:
    if findings.agreement and findings.agreement.sampled:
        yield (
            "where judges ranked different solutions, Spearman and tau-b correlations are means "
            "over pairs of a random sample of the judges, because comparing all would take too long"
        )


@_JUDGES.add("too-large", remedy="analyze fewer judges or problems to measure it")
def _too_large(findings: ExperienceFindings) -> Iterator[str]:
    several = findings.averages.study_judges > 1
    if findings.pooled and several and findings.estimates and not findings.judges:
        yield (
            "the study is too large to refit worths without each judge and each problem, so the "
            "influence of single judges and problems is unknown"
        )
    if (cells := findings.cells) is None:
        return
    if findings.agreement is None and not cells.is_blocked:
        yield "the study is too large to measure agreement between judges"
    if findings.anova is None and not findings.pooled:
        yield "the study is too large for the factorial ANOVA, which is omitted"
    requested = findings.settings.bootstrap and findings.estimates
    if requested and findings.bootstrap is None and not findings.pooled:
        yield "the study is too large for the bootstrap, which is omitted"


@_JUDGES.add("bootstrap-approximate")
def _bootstrap_approximate(findings: ExperienceFindings) -> Iterator[str]:
    if findings.bootstrap and findings.bootstrap.approximate:
        yield (
            "the study is too large to draw its single ranks, so the bootstrap adds the effects of "
            "judges and of problems; its range is about 1 to 2% too narrow"
        )


@_JUDGES.add("bootstrap-discarded", remedy="add subjects")
def _bootstrap_discarded(findings: ExperienceFindings) -> Iterator[str]:
    bootstrap = findings.bootstrap
    if bootstrap and bootstrap.discarded > _MANY_DISCARDED * bootstrap.replicates:
        ranges = join_words(map(format_interval, bootstrap.intervals.values())) or "none"
        yield (
            f"{bootstrap.discarded} of {bootstrap.replicates} bootstrap replicates were discarded "
            "because they had fewer than 3 distinct averages; the bootstrap range "
            f"({ranges}) is unreliable"
        )


# Of the half-width of the interval, by how much one subject may change the estimate.
DECISIVE = 1 / 3
_FEWEST_SUBJECTS = 6
_LEVEL = 0.05


def veteran(experience: Floats) -> NDArray[np.int64]:
    """Find the subject who is far from all others in experience, in one study or many.

    The gap between the most, or least, experienced subject and the next exceeds half of the
    whole range.

    Shapes: `experience` (..., n).
    """
    n = experience.shape[-1]
    if n < _FEWEST_SUBJECTS:
        return np.full(experience.shape[:-1], -1)
    order = np.argsort(experience, axis=-1)
    ordered = np.take_along_axis(experience, order, axis=-1)
    half = (ordered[..., -1] - ordered[..., 0]) / 2
    most = ordered[..., -1] - ordered[..., -2] > half
    least = ordered[..., 1] - ordered[..., 0] > half
    return np.where(most, order[..., -1], np.where(least, order[..., 0], -1))


def outlying(studentized: Floats, df: int) -> NDArray[np.bool_]:
    r"""Tell which subjects lie too far from the skill function, by Bonferroni's test.

    Shapes: `studentized` (..., n).
    """
    n = studentized.shape[-1]
    if df < 2:  # noqa: PLR2004  nothing is left to measure by
        return np.zeros(studentized.shape, dtype=bool)
    return np.asarray(np.abs(studentized) > stdtrit(df - 1, 1 - _LEVEL / (2 * n)))
