"""The sections of the report of an experience study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.experience.presentation.methods import methods_paragraph, references
from quem.experience.presentation.summary import averaged, data_notes, equation, f_text, system_name
from quem.experience.wording import INTERVALS, caveat
from quem.report.layout import Section, TextTable
from quem.wording import (
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_probability,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.experience.agreement import JudgeAgreement
    from quem.experience.estimate import Estimate
    from quem.experience.findings import ExperienceFindings
    from quem.experience.influence import LeaveOneOut
    from quem.experience.recognized import Recognized
    from quem.experience.retest import Retest

__all__ = [
    "Answer",
    "Dependence",
    "agreement_section",
    "recognized_sentence",
    "report_context",
    "sections",
]


@dataclass(frozen=True)
class Dependence:
    """How far the estimate moves when one thing is changed.

    Parameters
    ----------
    what : str
    low, high : str
        The lowest and highest estimate.
    low_by, high_by : str
        Which change gives them.
    """

    what: str
    low: str
    low_by: str
    high: str
    high_by: str


@dataclass(frozen=True)
class Answer:
    """A system's result, as the first screen says it.

    Parameters
    ----------
    name : str
    lead : str
        "at least", "at most" or nothing.
    value : str
        The number.
    interval : str
        The headline's, "one-sided" where there is only a bound.
    detail : str
        The interval in words, or why there is only a bound.
    chances : list of (str, str)
        Years, and the probability of at least so many.
    dependences : list of Dependence
    """

    name: str
    lead: str
    value: str
    interval: str
    detail: str
    chances: list[tuple[str, str]]
    dependences: list[Dependence]


def report_context(findings: ExperienceFindings) -> dict[str, Any]:
    """Give what the template ``report/experience.html`` shows.

    Parameters
    ----------
    findings : ExperienceFindings
    """
    spec = findings.study.spec
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "unit": spec.experience_unit,
        "answers": [_answer(findings, estimate) for estimate in findings.estimates],
        "interval_name": (
            f"{format_percent(findings.settings.level)} {INTERVALS[findings.settings.interval]}"
        ),
        "n_systems": len(findings.estimates),
        "equation": equation(findings),
        "first_figure": "estimate" if findings.estimates else "skill-function",
        "sections": sections(findings),
        "methods": methods_paragraph(findings),
        "references": references(findings),
        "caveat": caveat(findings.p_value, findings.function.falling_share),
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in findings.settings.model_dump(mode="json").items()
        ],
        "captions": _captions(findings),
    }


def _captions(findings: ExperienceFindings) -> dict[str, str]:
    """What stands below each figure, with the name of what the skill function is fitted to."""
    if not findings.pooled:
        return CAPTIONS
    return {
        stem: text.replace("average rank", averaged(findings)) for stem, text in CAPTIONS.items()
    }


CAPTIONS = {
    "estimate": "Skill function with its bands. The dashed line leads from a system's average rank "
    "to its experience; the bar at the left is its prediction interval, or all "
    "that its one-sided bound leaves.",
    "skill-function": "The subjects' experience against their average rank, and the "
    "skill function.",
    "sensitivity": "The estimate and its prediction interval without each judge, subject and "
    "problem, and under other settings, one at a time.",
    "influence": "How far each subject lies from the skill function, and how much each bends it.",
    "agreement": "Rank correlation of the judges on each problem: 1 is the same order, "
    "−1 the reverse.",
    "ranks": "Every rank that each solver got; the larger the dot, the more often.",
}


def _answer(findings: ExperienceFindings, estimate: Estimate) -> Answer:
    settings = findings.settings
    unit = findings.study.spec.experience_unit
    if estimate.side in ("above", "below"):
        lead = "at least" if estimate.side == "above" else "at most"
        value, interval = format_number(estimate.bound), "one-sided"
        detail = (
            f"with {format_percent(settings.level)} confidence, one-sided: the system lies "
            f"{estimate.side} the subjects' range, where only this bound holds. The line alone "
            f"would say {format_number(estimate.experience)}."
        )
    else:
        lead, value = "", format_number(estimate.headline(settings.interval))
        interval = format_interval(estimate.interval(settings.interval))
        detail = f"{format_percent(settings.level)} {INTERVALS[settings.interval]}: {interval}"
    return Answer(
        system_name(findings, estimate.system),
        lead,
        value,
        interval,
        detail,
        [(f"{years:g} {unit}", format_probability(p)) for years, p in estimate.at_least],
        list(_dependences(findings, estimate.system)),
    )


def _dependences(findings: ExperienceFindings, system: str) -> Iterator[Dependence]:
    """The range of a system's estimate over all changes of a sort."""
    groups = {
        f"each {what}": [
            (left.estimate, f"without {left.id}") for left in lefts if left.system == system
        ]
        for what, lefts in (
            ("judge", findings.judges),
            ("subject", findings.subjects),
            ("problem", findings.problems),
        )
    }
    groups["each setting"] = [
        (variant.estimate, variant.label)
        for variant in findings.variants
        if variant.system == system
    ]
    for what, changes in groups.items():
        known = sorted(change for change in changes if np.isfinite(change[0]))
        if known:
            (low, low_by), (high, high_by) = known[0], known[-1]
            yield Dependence(what, format_number(low), low_by, format_number(high), high_by)
    if findings.bootstrap and system in findings.bootstrap.intervals:
        low, high = findings.bootstrap.intervals[system]
        by = f"{format_percent(findings.settings.level)} of resamples"
        yield Dependence("all drawn anew", format_number(low), "", format_number(high), by)


_MOST_ROWS = 25


def sections(findings: ExperienceFindings) -> list[Section]:
    """Make the sections of the report below its first screen.

    Parameters
    ----------
    findings : ExperienceFindings
    """
    made = [
        _estimates(findings),
        _solvers(findings),
        _experience_matters(findings),
        agreement_section(findings),
        _influence(findings),
        _settings(findings),
    ]
    return [section for section in made if section is not None]


def _estimates(findings: ExperienceFindings) -> Section:
    unit = findings.study.spec.experience_unit
    level = format_percent(findings.settings.level)
    rows = []
    for estimate in findings.estimates:
        calibration = estimate.calibration
        bound = {"above": "at least ", "below": "at most "}.get(estimate.side, "")
        rows.append(
            (
                system_name(findings, estimate.system),
                format_number(estimate.average_rank, 2),
                format_number(estimate.experience, 2),
                format_interval(estimate.prediction),
                format_interval(estimate.mean),
                format_number(calibration.experience, 2) if calibration else "–",
                format_interval(calibration.interval) if calibration else "–",
                f"{bound}{format_number(estimate.bound)}" if bound else "–",
            )
        )
    columns = (
        "System",
        _ranks(findings),
        f"Estimate ({unit})",
        "Prediction interval",
        "Band of the mean",
        "Calibrated estimate",
        "Calibration interval",
        "One-sided",
    )
    if not rows:
        return Section("estimates", "Skill function", [], ("skill-function",), [])
    text = [
        "The prediction interval says where a human peer with that quality would be; the band of "
        "the mean, which the QUEM paper calls the experience interval, says where the mean of all "
        "such people lies, and is too narrow for one of them. The calibration estimate regresses "
        f"{averaged(findings) if findings.pooled else 'average rank'} on experience and inverts: "
        "the "
        "typical human with that quality."
    ]
    if any(estimate.side != "inside" for estimate in findings.estimates):
        text.append(
            "Outside the subjects' range the two-sided intervals cover far too seldom; there only "
            "the one-sided bound is to be used."
        )
    table = TextTable(f"Estimates with {level} intervals", columns, rows)
    figures = ("estimate", "skill-function")
    return Section("estimates", "Estimates and skill function", text, figures, [table])


def _ranks(findings: ExperienceFindings) -> str:
    """What the tables of solvers call their ranks."""
    return "Expected rank" if findings.pooled else "Average rank"


def _solvers(findings: ExperienceFindings) -> Section:
    averages, cells = findings.averages, findings.cells
    order = sorted(
        (i for i in range(len(averages.solvers)) if np.isfinite(averages.average[i])),
        key=lambda i: -averages.average[i],
    )
    names = {subject.id: subject.name for subject in findings.study.spec.subjects}
    rows = [
        (
            system_name(findings, averages.solvers[i])
            if averages.kinds[i] == "system"
            else " ".join(filter(None, [averages.solvers[i], names.get(averages.solvers[i], "")])),
            averages.kinds[i],
            f"{averages.experience[i]:g}" if np.isfinite(averages.experience[i]) else "–",
            format_number(averages.average[i], 2),
            f"{averages.n_ranks[i]:,}" if cells else "–",
        )
        for i in order
        if averages.kinds[i] != "withheld"
    ]
    unit = findings.study.spec.experience_unit
    columns = ("Solver", "Kind", f"Experience ({unit})", _ranks(findings), "Ranks")
    table = TextTable(f"{_ranks(findings)}s, best first", columns, rows, words=frozenset({1}))
    notes = "; ".join(data_notes(findings))
    text = [f"{notes[:1].upper()}{notes[1:]}."] if notes else []
    if findings.pooled:
        text.append(
            "The expected rank is 1 and the sum of the probabilities of beating each other solver, "
            "by worths that Plackett-Luce pools over all rankings."
        )
    return Section("solvers", "Solvers", text, ("ranks",) if cells else (), [table])


def _experience_matters(findings: ExperienceFindings) -> Section:
    function = findings.function
    text = [f"Over subjects, {f_text(function, 2)}, {format_p(findings.p_value)}."]
    if findings.permutation:
        kind = "distinct" if findings.permutation.exact else "random"
        text[0] += (
            f" Of {findings.permutation.orders:,} {kind} orders of the subjects' experience, "
            f"{findings.permutation.extreme:,} correlate with the {_ranks(findings).lower()}s at "
            "least "
            f"as strongly ({format_p(findings.permutation.p)}, two-sided)."
        )
    tables = []
    if findings.anova:
        text.append(
            "The factorial analysis of the QUEM paper is shown for comparison. Its judge and "
            "problem effects are about 0 by construction, since every complete group has the same "
            "mean rank, and it takes the ranks of one subject for replicates: with no effect of "
            "experience at all it still finds one in 12 to 37% of small studies."
        )
        rows = [
            (
                row.term,
                row.model,
                f"{row.df}",
                format_number(row.f, 3),
                format_p(row.p).removeprefix("p ").removeprefix("= "),
            )
            for row in findings.anova
            if np.isfinite(row.f)
        ]
        columns = ("Term", "Model", "df", "F", "p")
        tables.append(
            TextTable("Analysis of variance, type II", columns, rows, words=frozenset({1}))
        )
    return Section("experience", "Does experience matter?", text, (), tables)


def _influence(findings: ExperienceFindings) -> Section:
    tables = [
        _left_out_table(findings, title, left_out)
        for title, left_out in (
            ("Without one judge", findings.judges),
            ("Without one subject", findings.subjects),
            ("Without one problem", findings.problems),
        )
        if left_out
    ]
    if findings.recognized and findings.recognized.estimates:
        title = "Without the authors whom judges recognized"
        tables.append(_left_out_table(findings, title, findings.recognized.estimates))
    diagnostics = sorted(findings.diagnostics, key=lambda d: -np.nan_to_num(d.cooks_distance))
    rows = [
        (
            d.subject,
            f"{d.experience:g}",
            format_number(d.fitted, 2),
            format_number(d.residual, 2),
            format_number(d.studentized, 2),
            format_number(d.leverage, 2),
            format_number(d.cooks_distance, 3),
        )
        for d in diagnostics[:_MOST_ROWS]
    ]
    columns = (
        "Subject",
        "Experience",
        "Fitted",
        "Residual",
        "Studentised",
        "Leverage",
        "Cook's distance",
    )
    tables.append(TextTable("Residuals and influence", columns, rows, _left_over(len(diagnostics))))
    text = ["Each row leaves one out and estimates anew; the others keep their ranks."]
    if findings.pooled:
        text.append("Without a judge or a problem, all worths are fitted anew.")
    if findings.recognized:
        text.append(recognized_sentence(findings.recognized))
    return Section("influence", "Who decides the answer?", text, ("influence",), tables)


def _left_out_table(
    findings: ExperienceFindings, title: str, left_out: Iterable[LeaveOneOut]
) -> TextTable:
    ordered = list(left_out)
    if len(ordered) > _MOST_ROWS:
        ordered = sorted(ordered, key=lambda left: -np.nan_to_num(abs(left.change)))
    rows = [
        (
            left.id,
            system_name(findings, left.system),
            format_number(left.estimate, 2),
            format_number(left.change, 2)
            if not left.change > 0
            else f"+{format_number(left.change, 2)}",
            format_interval((left.low, left.high)),
        )
        for left in ordered[:_MOST_ROWS]
    ]
    columns = ("Without", "System", "Estimate", "Change", "Prediction interval")
    return TextTable(title, columns, rows, _left_over(len(ordered)), words=frozenset({1}))


def _left_over(count: int) -> str:
    if count <= _MOST_ROWS:
        return ""
    return f"The {_MOST_ROWS} of {count:,} that matter most; analysis.json has all."


def _settings(findings: ExperienceFindings) -> Section:
    tables = []
    rows = [
        (
            v.label,
            system_name(findings, v.system),
            format_number(v.estimate, 2),
            format_interval((v.low, v.high)),
        )
        for v in findings.variants
    ]
    if rows:
        columns = ("Setting", "System", "Estimate", "Interval")
        tables.append(
            TextTable("Estimates under other settings", columns, rows, words=frozenset({1}))
        )
    rows = [
        (
            name,
            format_number(fitted.function.r_squared, 3),
            format_number(fitted.aicc, 2),
            format_number(fitted.loo_rmse, 3),
        )
        for name, fitted in findings.forms.items()
    ]
    columns = ("Form", "R²", "AICc", "Leave-one-out error")
    note = "The lower the AICc and the error, the better. R² always favours the more flexible form."
    tables.append(TextTable("Forms of the skill function", columns, rows, note))
    text = ["Each row changes one setting and leaves the others as they are."]
    if findings.bootstrap and findings.bootstrap.intervals:
        each = "; ".join(
            f"{system_name(findings, system)} {format_interval(interval)}"
            for system, interval in findings.bootstrap.intervals.items()
        )
        text.append(
            "When judges, problems and subjects are drawn anew "
            f"{findings.bootstrap.replicates:,} times, {format_percent(findings.settings.level)} "
            "of the "
            f"estimates lie in: {each} ({findings.bootstrap.discarded:,} replicates had fewer than "
            "3 "
            "different averages and were discarded). As an interval this would cover too seldom; "
            "it shows sensitivity."
        )
    return Section("settings", "Other settings", text, (), tables)


def agreement_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on the judges' agreement; None where nothing is known of it.

    Parameters
    ----------
    findings : ExperienceFindings
    """
    text: list[str] = []
    tables: list[TextTable] = []
    if findings.agreement:
        text.append(
            "Ranks are renumbered among the solvers that all compared judges ranked; withheld "
            "solvers and solutions that failed are left out. Overall, W, tau-b and Spearman's "
            "correlation are means over the problems, and alpha and ICC are taken over all "
            "solutions of all problems."
        )
        tables.append(_between(findings.agreement))
    if findings.retest:
        text.append(
            "Some groups were shown to the same judge again, in fresh order. The estimates rest on "
            "the first ranking; the second tells how well judges repeat themselves, and so how "
            "well they can be expected to agree with others."
        )
        tables.append(_within(findings.retest))
    if not tables:
        return None
    figures = ("agreement",) if findings.agreement and findings.agreement.pairs else ()
    return Section("agreement", "Do the judges agree?", text, figures, tables)


def _between(agreement: JudgeAgreement) -> TextTable:
    rows = [
        (
            name,
            f"{concordance.n_judges:,}",
            f"{concordance.n_solutions:,}",
            *(format_number(value, 2) for value in concordance.statistics().values()),
        )
        for name, concordance in [*agreement.problems.items(), ("overall", agreement.overall)]
    ]
    columns = (
        "Problem",
        "Judges",
        "Solutions",
        "Kendall's W",
        "tau-b",
        "Spearman",
        "Krippendorff's alpha",
        "ICC(2,1)",
        "ICC(2,k)",
    )
    return TextTable("Agreement between judges", columns, rows)


def _within(retest: Retest) -> TextTable:
    rows = [
        (
            name,
            f"{own.n_groups:,}",
            f"{own.n_solutions:,}",
            format_number(own.mean_tau_b, 2),
            format_number(own.mean_rank_difference, 2),
            format_percent(round(own.same_order, 2)),
        )
        for name, own in [*retest.judges.items(), ("overall", retest.overall)]
    ]
    columns = (
        "Judge",
        "Groups repeated",
        "Solutions",
        "tau-b",
        "Difference in rank",
        "Pairs in the same order",
    )
    return TextTable("Agreement of first and second ranking", columns, rows)


def recognized_sentence(without: Recognized) -> str:
    """Say what the estimates without recognized authors are, and whether there are any.

    Parameters
    ----------
    without : Recognized
    """
    one = without.n_ranks == 1
    judges = "one judge" if without.n_judges == 1 else f"{without.n_judges} judges"
    text = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks, by {judges}, "
        f"{'is of a solution' if one else 'are of solutions'} whose author the judge recognized. "
        f"{'It counts' if one else 'They count'}; "
    )
    if not without.fitted:
        return f"{text}without {'it' if one else 'them'} no skill function can be fitted."
    return (
        f"{text}the estimate without takes {'it' if one else 'them'} out as if these solutions "
        "had not been in that judge's group, and ranks the others among themselves."
    )
