"""The sections of the report of an experience study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.experience.concordance import W_TESTS
from quem.experience.judges import MISFIT
from quem.experience.machine_quality import quality_section
from quem.experience.presentation.cards import basis, before_quoting, counts
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
from quem.experience.presentation.judge_columns import JUDGES
from quem.experience.presentation.machines import machines_section
from quem.experience.presentation.methods import (
    methods_paragraph,
    references,
    results_paragraphs,
)
from quem.experience.presentation.panel import panel_section
from quem.experience.presentation.scale import NARROW, WIDE, legend, scale_svg
from quem.experience.presentation.session_columns import (
    JUDGING,
    PROBLEM_TIMES,
    REPLIES,
    SCORED,
    SCORES,
    SURE,
    WAYS,
)
from quem.experience.presentation.summary import averaged, data_notes, equation, f_text, system_name
from quem.experience.presentation.verdict import best_first, verdict
from quem.experience.presentation.worths import worths_section
from quem.experience.wording import INTERVALS, model_text, only_source, statement
from quem.report.files import Section
from quem.store.care import care_sentence
from quem.wording import (
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_probability,
    format_signed,
    join_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.experience.agreement import JudgeAgreement
    from quem.experience.estimate import Estimate
    from quem.experience.influence import LeaveOneOut, Recognized
    from quem.experience.result import ExperienceFindings
    from quem.report.files import TextTable


@dataclass(frozen=True)
class Dependence:
    """The range of the estimate when one thing is changed."""

    what: str
    # `low`, `high`: The lowest and highest estimate
    low: str = ""
    # `low_by`, `high_by`: Which change gives them
    low_by: str = ""
    high: str = ""
    high_by: str = ""
    words: str = ""  # what is said instead, where there is no range


@dataclass(frozen=True)
class Answer:
    """A system's result, as a notebook and the section on its numbers say it."""

    name: str
    value: str  # the result in one phrase
    model: str  # what the model of persons, problems, and judges gives, or nothing
    chances: list[tuple[str, str]]  # years, and the probability of at least that many
    dependences: list[Dependence]


def report_context(findings: ExperienceFindings) -> dict[str, Any]:
    """Give what the template ``report/experience.html`` shows."""
    spec = findings.study.spec
    states_years = bool(findings.estimates) and findings.gate.passed
    said = verdict(findings)
    return {
        "title": spec.title,
        "seal": findings.seal,
        "study_id": spec.id,
        "description": spec.description,
        "unit": spec.experience_unit,
        "verdict": said,
        "scales": [scale_svg(findings, room) for room in (WIDE, NARROW)],
        "counts": counts(findings),
        "basis": basis(findings),
        "before": before_quoting(findings),
        "answers": [_answer(findings, e) for e in best_first(findings)] if states_years else [],
        "interval_name": (
            f"{format_percent(findings.settings.level)} {INTERVALS[findings.settings.interval]}"
        ),
        "n_systems": len(findings.estimates),
        "equation": equation(findings),
        "first_figure": "estimate" if states_years else "skill-function",
        "how": _how(findings),
        "sections": sections(findings),
        "methods": methods_paragraph(findings),
        "results": results_paragraphs(findings, said),
        "references": references(findings),
        "citation": _citation(findings),
        "states_years": states_years,
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in findings.settings.model_dump(mode="json").items()
        ],
        "captions": _captions(findings),
        "names_people": not findings.study.named,
    }


def _how(findings: ExperienceFindings) -> str:
    """Say how the years come about, or why there are none."""
    ranks = averaged(findings) if findings.pooled else "average rank"
    if not findings.gate.passed:
        return (
            f"Years come from a line through the people’s {ranks}s. These people give no line that "
            "clearly rises, so that a rank has no years."
        )
    line = "A line" if findings.function.form.name == "linear" else "A curve"
    together = "Judges ranked the solutions of people and systems together."
    if findings.on_panel:
        together = (
            "Judges ranked the systems with a few people of a panel; people and systems were "
            "placed among these in the same way."
        )
    unit = findings.study.spec.experience_unit
    return (
        f"{together} {line} through the people’s {ranks}s says how many {unit} "
        f"go with which rank; each system is read off it: {equation(findings)}."
    )


def _citation(findings: ExperienceFindings) -> str:
    size = [f"{count} {noun}" for count, noun in counts(findings)]
    return (
        f"{findings.study.spec.title.rstrip('.')}. QUEM study with {join_words(size)}. Report made "
        f"with quem {__version__}."
    )


def _captions(findings: ExperienceFindings) -> dict[str, str]:
    """The caption of each figure, with the name of what the skill function is fitted to."""
    captions = CAPTIONS | {"scale": legend(findings)}
    if not findings.pooled:
        return captions
    return {
        stem: text.replace("average rank", averaged(findings)) for stem, text in captions.items()
    }


CAPTIONS = {
    "scale": "Estimates and intervals on a scale of years, with the people as dots.",
    "estimate": "Dots: people. Diamonds: systems; an arrow begins at a bound. Line: skill "
    "function, with the confidence interval for the mean (dark) and the prediction interval for "
    "one further person (light), both pointwise.",
    "skill-function": "Experience and average rank of each subject, with the fitted skill "
    "function.",
    "ranks": "All ranks of each solver; larger dots are more frequent ranks.",
}


def _answer(findings: ExperienceFindings, estimate: Estimate) -> Answer:
    settings, unit = findings.settings, findings.study.spec.experience_unit
    value = statement(estimate, interval=settings.interval, level=settings.level, unit=unit)
    return Answer(
        system_name(findings, estimate.system),
        value,
        model_text(estimate.model, settings.level, unit),
        [(f"{years:g} {unit}", format_probability(p)) for years, p in estimate.at_least],
        list(_dependences(findings, estimate.system)),
    )


def _dependences(findings: ExperienceFindings, system: str) -> Iterator[Dependence]:
    """The range of a system's estimate over all changes of one kind."""
    groups = {
        f"Leave out one {what}": (
            [(left.estimate, f"without {left.id}") for left in lefts if left.system == system],
            only_source(lefts, system),
        )
        for what, lefts in (
            ("judge", findings.judges),
            ("subject", findings.subjects),
            ("problem", findings.problems),
        )
    }
    of_settings = [(v.estimate, v.label) for v in findings.variants if v.system == system]
    groups["One other setting"] = (of_settings, "")
    for what, (changes, words) in groups.items():
        known = sorted(change for change in changes if np.isfinite(change[0]))
        if words or len(known) == 1:
            yield Dependence(what, words=words or f"{format_number(known[0][0])} {known[0][1]}")
        elif known:
            (low, low_by), (high, high_by) = known[0], known[-1]
            yield Dependence(what, format_number(low), low_by, format_number(high), high_by)
        elif changes:
            yield Dependence(what, words="no skill function can be fitted")
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
        _influence(findings),
        _settings(findings),
        agreement_section(findings),
        _solvers(findings),
        worths_section(findings),
        _experience_matters(findings),
        judging_section(findings),
        placing_section(findings),
        answering_section(findings),
        times_section(findings),
        machines_section(findings),
        quality_section(findings),
        panel_section(findings),
    ]
    return [section for section in parts if section is not None]


def _estimates(findings: ExperienceFindings) -> Section | None:
    if not findings.estimates:
        return None
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
        return Section("estimates", "What the line would give", text, (), [table])
    return Section("estimates", "The numbers", text, (), [table])


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
    figures = ("ranks",) if findings.cells and findings.cells.has_ranks else ()
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
    title = "What could change it: single judges, subjects, and problems"
    return Section("influence", title, text, (), tables)


def _left_out_table(
    findings: ExperienceFindings, title: str, left_out: Sequence[LeaveOneOut]
) -> TextTable:
    # What has no estimate is said in words.
    ordered = [left for left in left_out if not left.reason]
    notes = [
        f"Everything said of {system_name(findings, left.system)} depends on {left.id} alone."
        for left in left_out
        if left.reason == "no-other-ranks"
    ]
    if unfitted := sorted({left.id for left in left_out if left.reason == "not-fitted"}):
        notes.append(f"Without {join_words(unfitted)} no skill function can be fitted.")
    if len(ordered) > _MOST_ROWS:
        ordered = sorted(ordered, key=lambda left: -np.nan_to_num(abs(left.change)))
    note = " ".join(filter(None, [*notes, _left_over(len(ordered))]))
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
    return Section("settings", "What could change it: settings", text, (), tables)


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
        text += _w_text(agreement)
        rows = [*agreement.problems.items(), ("overall", agreement.overall)]
        tables.append(AGREEMENT.text_table("Agreement on each problem", rows, findings))
        if findings.judge_fits:
            tables.append(_judges_table(findings))
    if retest:
        text.append(
            "Estimates use the first ranking. The second shows each judge's consistency, which "
            "limits how well judges can agree with each other."
        )
        repeats = [*retest.judges.items(), ("overall", retest.overall)]
        tables.append(RETEST.text_table("Consistency of repeat rankings", repeats, findings))
    if not tables:
        return None
    return Section("agreement", "Agreement between judges", text, (), tables)


def _w_text(agreement: JudgeAgreement) -> Iterator[str]:
    """Say how the p values of Kendall's W were computed, and where its mean lies."""
    overall = agreement.overall
    tests = {c.w_test.by for c in (*agreement.problems.values(), overall)}
    if how := [words for name, words in W_TESTS.items() if name in tests]:
        yield f"p of W is for judges who rank at random: {join_words(how)}."
    if np.isfinite(overall.w_interval[0]):
        yield (
            f"The mean W over the problems is {format_number(overall.kendall_w, 2)} (about 95%: "
            f"{format_interval(overall.w_interval, 2)})."
        )


def _judges_table(findings: ExperienceFindings) -> TextTable:
    """Make the table of the judges by name."""
    judges = list(findings.judge_fits)
    note = (
        "r with the other judges: correlation of mean ranks over the solvers whom all judges "
        "ranked. Misfit: mean squared difference from the others' mean rank, as a ratio to that "
        f"of the other judges; above {MISFIT:g} a judge ranks unlike the others."
    )
    if len(judges) > _MOST_ROWS:
        note += f" The {_MOST_ROWS} of {len(judges):,} that agree least; all are in judges.csv."
        judges = sorted(judges, key=lambda fit: np.nan_to_num(fit.others, nan=2.0))[:_MOST_ROWS]
    return JUDGES.text_table("Judges", judges, findings, note)


def judging_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on each judge's reading and placing; None where nothing is known of it."""
    if not (cares := findings.cares):
        return None
    text = [
        "Active time and what was in view are those of the judges' pages; reading is estimated at "
        "230 words a minute. Short times need not mean carelessness: a judge may have read on "
        "paper. Nobody is excluded for them; the last column has the estimate without each judge.",
        *(f"{care_sentence(care)}." for care in cares if care.is_hasty),
    ]
    tables = [JUDGING.text_table("Time, reading, and order of each judge", cares, findings)]
    return Section("judging", "How the judging was done", text, (), tables)


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


def times_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on solving times; None where none is known."""
    times = findings.times
    if times is None:
        return None
    level = format_percent(findings.settings.level)
    people = "One person" if times.n_subjects == 1 else f"{times.n_subjects:,} people"
    interval = (
        f" ({level} confidence interval {format_interval(times.interval, 1)})"
        if times.interval
        else ""
    )
    text = [
        f"{people} took {format_number(times.typical, 1)} minutes of work for a solution{interval}"
        " in the geometric mean, and "
        f"{format_number(times.hours, 1)} hours together. Time in which the page was not in view, "
        "and pauses, are left out."
    ]
    if np.isfinite(times.tau):
        text.append(
            "Kendall's τ-b of experience and time is "
            f"{format_signed(times.tau, 2)}: {_tendency(times.tau)}."
        )
    table = PROBLEM_TIMES.text_table("Minutes of work by problem", times.problems, findings)
    return Section("times", "How long people took", text, (), [table])


def _tendency(tau: float) -> str:
    if tau == 0:
        return "more experience goes with neither more nor less time"
    return f"more experience goes with {'less' if tau < 0 else 'more'} time"


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
