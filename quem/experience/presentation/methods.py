"""The methods paragraph of a report, ready to be pasted into a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem import __version__
from quem.experience.presentation.summary import averaged, data_notes, equation, f_text, system_name
from quem.experience.wording import caveat, statement
from quem.wording import format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.findings import ExperienceFindings

__all__ = ["REFERENCES", "methods_paragraph", "references"]

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


def references(found: ExperienceFindings) -> tuple[str, ...]:
    """Give the references of the methods paragraph.

    Parameters
    ----------
    found : ExperienceFindings
    """
    first, *own = REFERENCES
    return (first, *(_OF_WORTHS if found.pooled else ()), *own)


def methods_paragraph(found: ExperienceFindings) -> str:
    """Describe what was done and found in the words of a paper.

    Parameters
    ----------
    found : ExperienceFindings
    """
    sentences = [*_design(found), *_fit(found), *_agreement(found), *_retest(found)]
    sentences += [*_results(found), *_recognised(found)]
    sentences.append(f"Analyses were done with quem {__version__}.")
    return " ".join(filter(None, sentences))


def _design(found: ExperienceFindings) -> list[str]:
    spec, function = found.study.spec, found.function
    years = f"{function.y.min():g} to {function.y.max():g} {spec.experience_unit}"
    who = f"{function.n} subjects with {years} of experience"
    if found.estimates:
        who += f" and of {join_words(system_name(found, e.system) for e in found.estimates)}"
    text = "Experience was estimated with QUEM (Hayes & Parzen, 1997). "
    if found.cells is None:
        return [f"{text}Average ranks of solutions of {who}, computed elsewhere, were used."]
    judges, problems = (len(np.unique(codes)) for codes in (found.cells.judge, found.cells.problem))
    text += (
        f"Solutions of {who} were ranked by {judges} expert judge{'s' if judges != 1 else ''} on "
        f"{problems} problem{'s' if problems != 1 else ''}, ties allowed"
    )
    text += "" if found.pooled else "; tied ranks were averaged"
    how = {
        "expected": ", and ranks r in groups of n were scaled to r(N + 1)/(n + 1)",
        "percentile": ", and ranks r in groups of n were scaled to (r − 1/2)/n",
        "none": "",
    }[found.settings.normalize]
    if found.settings.score == "blom":
        how = ", and ranks were turned into Blom's normal scores"
    if found.pooled:
        how = ""
    if found.settings.reference == "humans":
        how += ", and each solution was ranked against those of the subjects only"
    notes = join_words(data_notes(found))
    told = [f"{text}{how}.", f"{notes[:1].upper()}{notes[1:]}." if notes else ""]
    return [*told, _worths(found.pooled)] if found.pooled else told


def _worths(pooled: ExpectedRanks) -> str:
    ties = ", with ties as in Turner et al. (2020)" if pooled.model.ties else ""
    return (
        f"A Plackett-Luce model{ties} was fitted to the {pooled.n_rankings:,} rankings, one worth "
        f"a solver (ridge penalty {pooled.ridge:g} on log worths); each solver's score is the rank "
        "to be expected among all, 1 + the sum of the probabilities of beating each other solver."
    )


def _fit(found: ExperienceFindings) -> list[str]:
    function = found.function
    form = {
        "linear": "linear least-squares regression",
        "log": "least-squares regression on the logarithm",
        "sqrt": "least-squares regression on the square root",
        "quadratic": "quadratic least-squares regression",
        "cubic": "cubic least-squares regression",
    }[function.form.name]
    chosen = " (chosen by AICc)" if found.settings.form == "auto" else ""
    test = f"{f_text(function, 2)}, {format_p(found.p_value)}"
    if found.permutation:
        kind = "exact" if found.permutation.exact else "Monte Carlo"
        test += f"; {kind} permutation test of the correlation, {format_p(found.permutation.p)}"
    return [
        f"The skill function was fitted by {form} of experience on {averaged(found)}{chosen}: "
        f"{equation(found)} (R² = {format_number(function.r_squared, 3)}, residual "
        f"standard deviation {format_number(function.residual_sd, 2)}; {test})."
    ]


def _retest(found: ExperienceFindings) -> list[str]:
    if found.retest is None:
        return []
    overall, n_judges = found.retest.overall, len(found.retest.judges)
    who = "One judge" if n_judges == 1 else f"{n_judges} judges"
    groups = "one group" if overall.n_groups == 1 else f"{overall.n_groups} groups"
    return [
        f"{who} ranked {groups} twice ({overall.n_solutions} solutions), of which the first "
        "ranking was used; between first and second ranking, Kendall's tau-b was on average "
        f"{format_number(overall.mean_tau_b, 2)}, {format_percent(round(overall.same_order, 2))} "
        "of the pairs "
        "were in the same order, and adjusted ranks differed by "
        f"{format_number(overall.mean_rank_difference, 2)}."
    ]


def _recognised(found: ExperienceFindings) -> list[str]:
    without = found.recognised
    if without is None:
        return []
    verb, of = ("was", "a solution") if without.n_ranks == 1 else ("were", "solutions")
    text = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks {verb} of {of} whose author the judge "
        "recognised"
    )
    if not without.estimates:
        return [f"{text}."]
    if not without.fitted:
        return [f"{text}; without, no skill function could be fitted."]
    each = join_words(
        f"{system_name(found, left.system)} at {format_number(left.estimate)}"
        if np.isfinite(left.estimate)
        else f"{system_name(found, left.system)} without an estimate"
        for left in without.estimates
    )
    unit = found.study.spec.experience_unit
    return [f"{text}; leaving {'it' if without.n_ranks == 1 else 'them'} out put {each} {unit}."]


def _agreement(found: ExperienceFindings) -> list[str]:
    agreement = found.agreement
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


def _results(found: ExperienceFindings) -> list[str]:
    unit = found.study.spec.experience_unit
    told = []
    for estimate in found.estimates:
        text = statement(
            estimate, interval=found.settings.interval, level=found.settings.level, unit=unit
        )
        name = system_name(found, estimate.system)
        fewer = ""
        if estimate.widened:
            fewer = f", widened for having been judged on {estimate.n_problems} problems only"
        at = "" if text.startswith("at ") else "at "
        told.append(f"The experience of {name} was estimated {at}{text}{fewer}.")
    if told and (doubtful := caveat(found.p_value, found.function.falling_share)):
        told.append(doubtful)
    if found.bootstrap and found.estimates:
        told.append(
            f"A bootstrap over judges, problems and subjects ({found.bootstrap.replicates:,} "
            "replicates) served as a sensitivity check; the intervals come from the regression."
        )
    return told
