"""The methods paragraph of a report, ready to be pasted into a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem import __version__
from quem.experience.presentation.blinding import blinding_sentences
from quem.experience.presentation.machines import alone_text, machine_texts
from quem.experience.presentation.panel import panel_texts
from quem.experience.presentation.summary import averaged, data_notes, equation, f_text, system_name
from quem.experience.presentation.verdict import best_first
from quem.experience.wording import (
    jagged_text,
    model_text,
    place_among_subjects,
    position_text,
    statement,
)
from quem.wording import format_count, format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from quem.experience.estimate import Estimate
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.presentation.verdict import Verdict
    from quem.experience.result import ExperienceFindings

REFERENCES = (
    "Hayes, C. C. and Parzen, M. I. (1997). An achievement test for knowledge-based systems: QUEM. "
    "University of Illinois and University of Chicago.",
    f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
    "package.",
)

_OF_WORTHS = (
    "Plackett, R. L. (1975). The analysis of permutations. Applied Statistics, 24(2), 193–202.",
    "Turner, H. L., van Etten, J., Firth, D. and Kosmidis, I. (2020). Modelling rankings in R: the "
    "PlackettLuce package. Computational Statistics, 35, 1027–1057.",
)

_OF_MACHINES = (
    "Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023). PPI++: efficient prediction-powered "
    "inference. arXiv:2311.01453.",
)


def references(findings: ExperienceFindings) -> tuple[str, ...]:
    """Give the references of the methods paragraph."""
    first, *own = REFERENCES
    of_machines = _OF_MACHINES if findings.machines and findings.machines.share else ()
    return (first, *(_OF_WORTHS if findings.pooled else ()), *of_machines, *own)


def results_paragraphs(findings: ExperienceFindings, said: Verdict) -> list[tuple[str, str]]:
    """Write the results, in the style of the APA and in plain words: heading and paragraph."""
    function = findings.function
    related = "was" if findings.gate.passed else "was not clearly"
    apa = [
        f"Experience {related} related to {averaged(findings)}, {f_text(function, 2)}, "
        f"{format_p(findings.p_value)}, R² = {format_number(function.r_squared, 2)}, "
        f"n = {function.n}."
    ]
    if findings.agreement and findings.agreement.overall.n_judges > 1:
        w = format_number(findings.agreement.overall.kendall_w, 2)
        apa.append(f"Judges agreed with a mean Kendall’s W of {w}.")
    apa += [_apa(findings, estimate) for estimate in best_first(findings)]
    plain = " ".join([said.title, *said.lead, *said.second]).replace("`", "")
    return [("In the style of the APA", " ".join(apa)), ("In plain words", plain)]


def _apa(findings: ExperienceFindings, estimate: Estimate) -> str:
    settings, unit = findings.settings, findings.study.spec.experience_unit
    name, rank = system_name(findings, estimate.system), format_number(estimate.average_rank, 2)
    if not findings.gate.passed:
        return place_among_subjects(findings, estimate)
    level = format_percent(settings.level)
    text = f"{name} (M = {rank}) corresponded to"
    profile = findings.profiles.get(estimate.system)
    jagged = ""
    if profile is not None and profile.is_jagged:
        jagged = (
            f", on average over problems, between which it varied more than people did, "
            f"F({profile.df}, {profile.df_people}) = {format_number(profile.f, 2)}, "
            f"{format_p(profile.p)}"
        )
    if estimate.side != "inside" and settings.interval != "hierarchical":
        value = statement(estimate, interval=settings.interval, level=settings.level, unit=unit)
        return f"{text} {value}{jagged}."
    kind = {"prediction": "PI", "mean": "CI", "calibration": "CI", "hierarchical": "CI"}
    low, high = estimate.interval(settings.interval)
    value = format_number(estimate.headline(settings.interval))
    ends = f"{level} {kind[settings.interval]} [{format_number(low)}, {format_number(high)}]"
    return f"{text} {value} {unit}, {ends}{jagged}."


def methods_paragraph(findings: ExperienceFindings) -> str:
    """Describe what was done and found in the words of a paper."""
    sentences = [*_design(findings), *_fit(findings), *_agreement(findings), *_retest(findings)]
    if findings.blinding is not None and findings.blinding.letters:
        sentences.append(blinding_sentences(findings.blinding))
    sentences += [*_results(findings), *_recognized(findings), *_machines(findings)]
    sentences.append(f"Analyses were done with quem {__version__}.")
    return " ".join(filter(None, sentences))


def _machines(findings: ExperienceFindings) -> list[str]:
    use = findings.machines
    if use is None or not use.share:
        return machine_texts(findings)
    return [
        *machine_texts(findings),
        "Their ranks entered as a control variate (Angelopoulos, Duchi & Zrnic, 2023), not as "
        "votes.",
        alone_text(findings),
    ]


def _design(findings: ExperienceFindings) -> list[str]:
    spec, function = findings.study.spec, findings.function
    years = f"{function.y.min():g} to {function.y.max():g} {spec.experience_unit}"
    who = f"by {function.n} subjects with {years} of experience"
    if findings.estimates:
        who += f" and by {join_words(system_name(findings, e.system) for e in findings.estimates)}"
    text = "Experience was estimated with QUEM (Hayes & Parzen, 1997). "
    if findings.on_panel:
        placed = " Each person was placed in the same way by the old judges’ rankings."
        first, *more = panel_texts(findings)
        return [f"{text}Systems were placed on a reference panel. {first}{placed}", *more]
    if findings.cells is None:
        return [f"{text}Average ranks of solutions {who}, computed elsewhere, were used."]
    judges, problems = findings.averages.study_judges, findings.averages.study_problems
    did = "ranked" if findings.cells.has_ranks else "compared pairs of"
    text += (
        f"{format_count(judges, 'expert judge')} {did} solutions to "
        f"{format_count(problems, 'problem')} {who}; ties were allowed"
    )
    text += "" if findings.pooled else " and received mid-ranks"
    how = {
        "expected": ", and ranks r in groups of n were scaled to r(N + 1)/(n + 1)",
        "percentile": ", and ranks r in groups of n were scaled to (r − 1/2)/n",
        "none": "",
    }[findings.settings.normalize]
    if findings.settings.score == "blom":
        how = ", and ranks were turned into Blom's normal scores"
    if findings.pooled:
        how = ""
    if findings.settings.reference == "humans":
        how += ", and each solution was ranked against those of the subjects only"
    notes = join_words(data_notes(findings))
    sentences = [f"{text}{how}.", f"{notes[:1].upper()}{notes[1:]}." if notes else ""]
    return [*sentences, _worths(findings.pooled)] if findings.pooled else sentences


def _worths(pooled: ExpectedRanks) -> str:
    ties = ", with ties as in Turner et al. (2020)" if pooled.model.ties else ""
    return (
        f"A Plackett-Luce model{ties} was fitted to the {pooled.n_rankings:,} rankings, one worth "
        f"per solver (ridge penalty {pooled.ridge:g} on log worths); each solver's score is the "
        "expected rank among all, 1 + the sum of the probabilities of beating each other solver."
    )


def _fit(findings: ExperienceFindings) -> list[str]:
    function = findings.function
    form = {
        "linear": "linear least-squares regression",
        "log": "least-squares regression on the logarithm",
        "sqrt": "least-squares regression on the square root",
        "quadratic": "quadratic least-squares regression",
        "cubic": "cubic least-squares regression",
        "exponential": "least-squares regression of the logarithm",
        "averaged": "a linear and an exponential least-squares regression, averaged by AICc "
        "weights,",
    }[function.form.name]
    chosen = " (chosen by AICc)" if findings.settings.form == "auto" else ""
    test = f"{f_text(function, 2)}, {format_p(findings.p_value)}"
    if findings.permutation:
        kind = "exact" if findings.permutation.exact else "Monte Carlo"
        test += f"; {kind} permutation test of the correlation, {format_p(findings.permutation.p)}"
    return [
        f"The skill function was fitted by {form} of experience on {averaged(findings)}{chosen}: "
        f"{equation(findings)} (R² = {format_number(function.r_squared, 3)}, residual "
        f"standard deviation {format_number(function.residual_sd, 2)}; {test})."
    ]


def _retest(findings: ExperienceFindings) -> list[str]:
    if findings.retest is None:
        return []
    overall, n_judges = findings.retest.overall, len(findings.retest.judges)
    who = "One judge" if n_judges == 1 else f"{n_judges} judges"
    groups = "one group" if overall.n_groups == 1 else f"{overall.n_groups} groups"
    return [
        f"{who} ranked {groups} twice ({format_count(overall.n_ranks, 'rank')}), of which the "
        "first ranking was used; between first and second ranking, Kendall's tau-b was on average "
        f"{format_number(overall.mean_tau_b, 2)}, {format_percent(round(overall.same_order, 2))} "
        "of the pairs "
        "were in the same order, and adjusted ranks differed by "
        f"{format_number(overall.mean_rank_difference, 2)}."
    ]


def _recognized(findings: ExperienceFindings) -> list[str]:
    without = findings.recognized
    if without is None:
        return []
    verb, of = ("was", "a solution") if without.n_ranks == 1 else ("were", "solutions")
    text = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks {verb} of {of} whose author the judge "
        "recognized"
    )
    if not without.estimates or not findings.gate.passed:
        return [f"{text}."]
    if not without.fitted:
        return [f"{text}; excluding them, no skill function could be fitted."]
    each = join_words(
        f"{format_number(left.estimate)} {findings.study.spec.experience_unit} for "
        f"{system_name(findings, left.system)}"
        if np.isfinite(left.estimate)
        else f"no estimate for {system_name(findings, left.system)}"
        for left in without.estimates
    )
    return [f"{text}; excluding {'it' if without.n_ranks == 1 else 'them'} gave {each}."]


def _agreement(findings: ExperienceFindings) -> list[str]:
    agreement = findings.agreement
    if agreement is None or agreement.overall.n_judges < 2:  # noqa: PLR2004  nobody to agree with
        return []
    each = [
        format_number(concordance.kendall_w, 2)
        for concordance in agreement.problems.values()
        if np.isfinite(concordance.kendall_w)
    ]
    return [
        f"Kendall's W of the judges was {join_words(each, 12)} on the problems; Krippendorff's "
        "ordinal "
        f"alpha was {format_number(agreement.overall.krippendorff_alpha, 2)} and ICC(2,1) "
        f"{format_number(agreement.overall.icc_2_1, 2)} over all of them."
    ]


def _results(findings: ExperienceFindings) -> list[str]:
    unit = findings.study.spec.experience_unit
    if not findings.gate.passed:
        return [position_text(findings, estimate) for estimate in findings.estimates]
    sentences = []
    for estimate in findings.estimates:
        text = statement(
            estimate, interval=findings.settings.interval, level=findings.settings.level, unit=unit
        )
        name = system_name(findings, estimate.system)
        fewer = ""
        if estimate.widened:
            fewer = ", widened because it has fewer ranks than the subjects"
        at = "" if text.startswith("at ") else "at "
        sentences.append(jagged_text(name, findings.profiles.get(estimate.system)))
        sentences.append(f"The experience of {name} was estimated {at}{text}{fewer}.")
        sentences.append(model_text(estimate.model, findings.settings.level, unit))
    if findings.bootstrap and findings.estimates:
        sentences.append(
            f"A bootstrap over judges, problems, and subjects ({findings.bootstrap.replicates:,} "
            "replicates) served as a sensitivity check; the intervals come from the regression."
        )
    return sentences
