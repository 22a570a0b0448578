"""The sections of the report of an experience study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.experience.presentation.columns import (
    AGREEMENT,
    ANOVA,
    FORMS,
    LEAVE_ONE_OUT,
    RESIDUALS,
    RETEST,
    SOLVERS,
    VARIANTS,
    solvers,
)
from quem.experience.presentation.estimate_columns import ESTIMATES, PLACES, averaged_ranks
from quem.experience.presentation.methods import methods_paragraph, references
from quem.experience.presentation.session_columns import REPLIES, SCORED, SCORES, SURE, WAYS
from quem.experience.presentation.summary import averaged, data_notes, equation, f_text, system_name
from quem.experience.wording import INTERVALS, format_ends, model_text, position_text, sentence
from quem.report.files import Section
from quem.wording import (
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_probability,
    format_signed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.experience.estimate import Estimate
    from quem.experience.influence import LeaveOneOut, Recognized
    from quem.experience.result import ExperienceFindings
    from quem.report.files import TextTable

__all__ = [
    "Answer",
    "Dependence",
    "agreement_section",
    "answering_section",
    "placing_section",
    "profile_section",
    "recognized_sentence",
    "report_context",
    "sections",
]


@dataclass(frozen=True)
class Dependence:
    """The range of the estimate when one thing is changed.

    Parameters
    ----------
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
    lead : str
        "at least", "at most" or nothing.
    value : str
        The number.
    interval : str
        The headline's, "one-sided" where there is only a bound.
    sentence : str
        The result for readers who have not heard of the method.
    detail : str
        The interval in words, or why there is only a bound.
    model : str
        What the model of persons, problems, and judges gives, or nothing.
    is_jagged : bool
        Whether no single number describes the system.
    chances : list of (str, str)
        Years, and the probability of at least that many.
    """

    name: str
    lead: str
    value: str
    interval: str
    sentence: str
    detail: str
    model: str
    is_jagged: bool
    chances: list[tuple[str, str]]
    dependences: list[Dependence]


def report_context(findings: ExperienceFindings) -> dict[str, Any]:
    """Give what the template ``report/experience.html`` shows."""
    spec = findings.study.spec
    states_years = bool(findings.estimates) and findings.gate.passed
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
        "first_figure": "estimate" if states_years else "skill-function",
        "sections": sections(findings),
        "methods": methods_paragraph(findings),
        "references": references(findings),
        "states_years": states_years,
        "positions": [position_text(findings, estimate) for estimate in findings.estimates],
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in findings.settings.model_dump(mode="json").items()
        ],
        "captions": _captions(findings),
    }


def _captions(findings: ExperienceFindings) -> dict[str, str]:
    """The caption of each figure, with the name of what the skill function is fitted to."""
    if not findings.pooled:
        return CAPTIONS
    return {
        stem: text.replace("average rank", averaged(findings)) for stem, text in CAPTIONS.items()
    }


CAPTIONS = {
    "estimate": "Skill function with the pointwise prediction interval (light) and the confidence "
    "interval for the mean (dark). Dashed: from the system's average rank to its estimate. Bar at "
    "left: its prediction interval or, outside the range, the values allowed by its one-sided "
    "bound.",
    "skill-function": "Experience and average rank of each subject, with the fitted skill "
    "function.",
    "sensitivity": "Estimate and prediction interval when one judge, subject, or problem is left "
    "out or one setting is changed.",
    "influence": "Studentized residual and Cook's distance of each subject.",
    "agreement": "Spearman correlation between judges per problem (1 = same order, −1 = reversed).",
    "ranks": "All ranks of each solver; larger dots are more frequent ranks.",
}


def _answer(findings: ExperienceFindings, estimate: Estimate) -> Answer:
    settings = findings.settings
    unit = findings.study.spec.experience_unit
    by_model = settings.interval == "hierarchical"
    if estimate.side in ("above", "below") and not by_model:
        lead = "at least" if estimate.side == "above" else "at most"
        value, interval = format_number(estimate.bound), "one-sided"
        detail = (
            f"The system is {estimate.side} the subjects' range, where two-sided intervals are "
            f"invalid. The extrapolated estimate is {format_number(estimate.experience)}."
        )
    else:
        lead, value = "", format_number(estimate.headline(settings.interval))
        interval = format_ends(estimate.interval(settings.interval))
        detail = f"{format_percent(settings.level)} {INTERVALS[settings.interval]}: {interval}"
    name = system_name(findings, estimate.system)
    profile = findings.profiles.get(estimate.system)
    text = sentence(
        name,
        estimate,
        profile,
        interval=settings.interval,
        level=settings.level,
        unit=unit,
    )
    return Answer(
        name,
        lead,
        value,
        interval,
        text,
        detail,
        model_text(estimate.model, settings.level, unit),
        bool(profile and profile.is_jagged),
        [(f"{years:g} {unit}", format_probability(p)) for years, p in estimate.at_least],
        list(_dependences(findings, estimate.system)),
    )


def _dependences(findings: ExperienceFindings, system: str) -> Iterator[Dependence]:
    """The range of a system's estimate over all changes of one kind."""
    groups = {
        f"Leave out one {what}": [
            (left.estimate, f"without {left.id}") for left in lefts if left.system == system
        ]
        for what, lefts in (
            ("judge", findings.judges),
            ("subject", findings.subjects),
            ("problem", findings.problems),
        )
    }
    groups["One other setting"] = [
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
        yield Dependence(
            "Bootstrap sensitivity range", format_number(low), "", format_number(high), by
        )


_MOST_ROWS = 25


def sections(findings: ExperienceFindings) -> list[Section]:
    """Make the sections of the report below its first screen."""
    parts = [
        _estimates(findings),
        profile_section(findings),
        _solvers(findings),
        _experience_matters(findings),
        agreement_section(findings),
        placing_section(findings),
        answering_section(findings),
        _influence(findings),
        _settings(findings),
    ]
    return [section for section in parts if section is not None]


def _estimates(findings: ExperienceFindings) -> Section:
    if not findings.estimates:
        return Section("estimates", "Skill function", [], ("skill-function",), [])
    ranks = averaged(findings) if findings.pooled else "average rank"
    text = [
        f"The prediction interval is for the experience of one person with the same {ranks}. The "
        "confidence interval for the mean (the QUEM paper's experience interval) is for the mean "
        "of all such people and is too narrow for one person. The calibration estimate comes from "
        "inverse regression (Fieller): the experience at which a typical person has this "
        f"{ranks}."
    ]
    if any(estimate.side != "inside" for estimate in findings.estimates):
        text.append(
            "Outside the subjects' range the two-sided intervals undercover badly; use only the "
            "one-sided bound."
        )
    caption = f"Estimates with {format_percent(findings.settings.level)} intervals"
    table = ESTIMATES.text_table(caption, findings.estimates, findings)
    if not findings.gate.passed:
        text = [
            "These data do not allow years (see the result). The numbers of the line are given for "
            "completeness; do not report them."
        ]
        return Section("estimates", "What the line would give", text, ("skill-function",), [table])
    figures = ("estimate", "skill-function")
    return Section("estimates", "Estimates and skill function", text, figures, [table])


def profile_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on each system from problem to problem; None where nothing is known."""
    if not findings.profiles:
        return None
    text = [
        "Ranks on a problem are means over the judges who ranked the system there. z is the "
        "distance from the system's mean over problems, in standard deviations of people of that "
        "quality; beyond 2 a problem stands out (*). Single problems have no years: they would be "
        "based on one rank per judge."
    ]
    tables = []
    for profile in findings.profiles.values():
        name = system_name(findings, profile.system)
        test = "No test: people do not vary enough over problems to compare with."
        if np.isfinite(profile.f):
            test = (
                f"{name} varies {format_number(profile.ratio, 2)} times as much from problem to "
                f"problem as people do: F({profile.df}, {profile.df_people}) = "
                f"{format_number(profile.f, 2)}, {format_p(profile.p)}"
            )
            several = len(findings.profiles) > 1
            adjusted = f" ({format_p(profile.p_holm)} adjusted for all systems, Holm)"
            test += f"{adjusted if several else ''}."
        places = sorted(profile.places, key=lambda place: -abs(np.nan_to_num(place.z)))
        note = f"{test} {_left_over(len(places))}".strip()
        places = places[:_MOST_ROWS] if len(places) > _MOST_ROWS else list(profile.places)
        tables.append(PLACES.text_table(name, places, findings, note))
    return Section("profile", "From problem to problem", text, (), tables)


def _solvers(findings: ExperienceFindings) -> Section:
    judged = [
        solver
        for solver in solvers(findings)
        if np.isfinite(solver.average_rank) and solver.kind != "withheld"
    ]
    best_first = sorted(judged, key=lambda solver: -solver.average_rank)
    caption = f"{averaged_ranks(findings)}s, best first"
    table = SOLVERS.text_table(caption, best_first, findings)
    notes = "; ".join(data_notes(findings))
    text = [f"{notes[:1].upper()}{notes[1:]}."] if notes else []
    if findings.pooled:
        text.append(
            "Expected rank = 1 + the sum of the probabilities of beating each other solver, from "
            "one Plackett–Luce model fitted to all rankings."
        )
    figures = ("ranks",) if findings.cells else ()
    return Section("solvers", "Solvers", text, figures, [table])


def _experience_matters(findings: ExperienceFindings) -> Section:
    text = [f"F test over subjects: {f_text(findings.function, 2)}, {format_p(findings.p_value)}."]
    permutation = findings.permutation
    if permutation:
        kind = "distinct" if permutation.exact else "random"
        text[0] += (
            f" In {permutation.extreme:,} of {permutation.orders:,} {kind} permutations of "
            "experience the absolute correlation is at least as large as observed (two-sided "
            f"{format_p(permutation.p)})."
        )
    tables = []
    if findings.anova:
        text.append(
            "The factorial analysis of the QUEM paper is shown for comparison. Its judge and "
            "problem effects are about 0 by construction, since every complete group has the same "
            "mean rank, and it treats ranks of one subject as independent (pseudoreplication): "
            "with no true effect it still rejects in 12% to 37% of small studies (2 judges, 3 "
            "problems)."
        )
        rows = [row for row in findings.anova if np.isfinite(row.f)]
        tables.append(ANOVA.text_table("Analysis of variance, type II", rows, findings))
    return Section("experience", "Is experience related to quality?", text, (), tables)


def _influence(findings: ExperienceFindings) -> Section:
    with_years = findings.gate.passed
    tables = [
        _left_out_table(findings, f"Leave out one {what}", left_out)
        for what, left_out in (
            ("judge", findings.judges),
            ("subject", findings.subjects),
            ("problem", findings.problems),
        )
        if left_out and with_years
    ]
    if findings.recognized and findings.recognized.estimates and with_years:
        title = "Excluding ranks with a recognized author"
        tables.append(_left_out_table(findings, title, findings.recognized.estimates))
    diagnostics = sorted(findings.diagnostics, key=lambda d: -np.nan_to_num(d.cooks_distance))
    note = _left_over(len(diagnostics))
    tables.append(
        RESIDUALS.text_table("Residuals and influence", diagnostics[:_MOST_ROWS], findings, note)
    )
    text = []
    if with_years:
        text.append(
            "Each row refits the model with one item left out; all other ranks are unchanged."
        )
    if findings.pooled and with_years:
        text.append("When a judge or problem is left out, all worths are refitted.")
    if findings.recognized and with_years:
        text.append(recognized_sentence(findings.recognized))
    title = "Influence of single judges, subjects, and problems"
    return Section("influence", title, text, ("influence",), tables)


def _left_out_table(
    findings: ExperienceFindings, title: str, left_out: Iterable[LeaveOneOut]
) -> TextTable:
    ordered = list(left_out)
    if len(ordered) > _MOST_ROWS:
        ordered = sorted(ordered, key=lambda left: -np.nan_to_num(abs(left.change)))
    note = _left_over(len(ordered))
    return LEAVE_ONE_OUT.text_table(title, ordered[:_MOST_ROWS], findings, note)


def _left_over(count: int) -> str:
    if count <= _MOST_ROWS:
        return ""
    return f"The {_MOST_ROWS} most influential of {count:,}; all are in analysis.json."


def _settings(findings: ExperienceFindings) -> Section:
    tables = []
    text = []
    with_years = findings.gate.passed
    if findings.variants and with_years:
        text.append("Each row changes one setting.")
        caption = "Estimates under other settings"
        tables.append(VARIANTS.text_table(caption, findings.variants, findings))
    note = "Lower AICc and RMSE are better. R² always favors the more flexible form."
    forms = findings.forms.items()
    tables.append(FORMS.text_table("Forms of the skill function", forms, findings, note))
    bootstrap = findings.bootstrap
    if bootstrap and bootstrap.intervals and with_years:
        each = "; ".join(
            f"{system_name(findings, system)} {format_interval(interval)}"
            for system, interval in bootstrap.intervals.items()
        )
        text.append(
            f"In {bootstrap.replicates:,} bootstrap resamples of judges, problems, and subjects, "
            f"{format_percent(findings.settings.level)} of estimates are in: {each}. "
            f"{bootstrap.discarded:,} resamples had fewer than 3 distinct averages and were "
            "discarded. This is a sensitivity range, not a confidence interval (it would "
            "undercover)."
        )
    return Section("settings", "Sensitivity to settings", text, (), tables)


def agreement_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on the judges' agreement; None where nothing is known of it."""
    text: list[str] = []
    tables: list[TextTable] = []
    agreement, retest = findings.agreement, findings.retest
    if agreement:
        text.append(
            "Ranks are recomputed using only solvers ranked by every judge compared; withheld "
            "solvers and failed solutions are excluded. Overall, W, tau-b, and Spearman's "
            "correlation are means over the problems, and alpha and ICC use all solutions of all "
            "problems."
        )
        rows = [*agreement.problems.items(), ("overall", agreement.overall)]
        tables.append(AGREEMENT.text_table("Agreement on each problem", rows, findings))
    if retest:
        text.append(
            "Estimates use the first ranking. The second shows each judge's consistency, which "
            "limits how well judges can agree with each other."
        )
        repeats = [*retest.judges.items(), ("overall", retest.overall)]
        tables.append(RETEST.text_table("Consistency of repeat rankings", repeats, findings))
    if not tables:
        return None
    figures = ("agreement",) if agreement and agreement.pairs else ()
    return Section("agreement", "Agreement between judges", text, figures, tables)


def placing_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on how solutions got their places; None where nothing is known of it."""
    placing = findings.placing
    if placing is None:
        return None
    text = [
        "A pair in the same order is one that another judge orders, or ties, like this one. The "
        "ways were not assigned by chance, so a difference between them can be one between "
        "solutions or judges."
    ]
    if answers := placing.answers:
        one = answers.n == 1
        text.append(
            f"Judges compared two solutions {'once' if one else f'{answers.n:,} times'}: "
            f"{format_percent(round(answers.share_equal, 2))} of the answers were “equally good”, "
            f"and the new solution stood left in {format_percent(round(answers.share_left, 2))}. "
            "Comparing asks about some pairs of a task only, so intransitive answers cannot show."
        )
    if queue := placing.queue:
        p = format_p(queue.p) if np.isfinite(queue.p) else "no p value"
        text.append(
            "Judges met the solutions of a task in different orders. For each position later, the "
            f"rank of the same solution changes by {format_signed(queue.slope, 2)} (standard error "
            f"{format_number(queue.standard_error, 2)}, {queue.df:,} degrees of freedom, {p})."
        )
    tables = [WAYS.text_table("Places by the way in which they came about", placing.ways, findings)]
    if placing.sure:
        caption = "Places by how sure the judge was"
        tables.append(SURE.text_table(caption, placing.sure, findings))
    return Section("placing", "How solutions were placed", text, (), tables)


def answering_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on the study's own questions; None where nobody answered any."""
    answering = findings.answering
    if answering is None:
        return None
    text = [
        "Answers do not enter the estimates. Those on repeat rankings and on withheld solvers are "
        "left out."
    ]
    tables = [REPLIES.text_table("Answers to the study’s questions", answering.replies, findings)]
    if answering.scores:
        text.append(
            "The mean of a mark is the share of a solver's ranks whose judge set it. τ-b says "
            "how far solvers with higher means also have higher average ranks: 1 if always, "
            "−1 if never."
        )
        tables += [
            SCORES.text_table("Scores and marks by solver", answering.scores, findings),
            SCORED.text_table("Scores and average ranks", answering.scored, findings),
        ]
    return Section("answering", "Answers to questions", text, (), tables)


def recognized_sentence(without: Recognized) -> str:
    """Say what the estimates without recognized authors are, and whether there are any."""
    one = without.n_ranks == 1
    judges = "one judge" if without.n_judges == 1 else f"{without.n_judges} judges"
    text = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks, by {judges}, "
        f"{'is of a solution' if one else 'are of solutions'} whose author the judge recognized. "
        f"{'This rank is' if one else 'These ranks are'} included. "
    )
    if not without.fitted:
        return f"{text}Without {'it' if one else 'them'} no skill function can be fitted."
    return (
        f"{text}The alternative estimate removes {'it' if one else 'them'} and re-ranks the "
        "remaining solutions of that judge."
    )
