"""The methods paragraph of a report, ready to be pasted into a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem import __version__
from quem.experience.wording import joined, number, p_text

if TYPE_CHECKING:
    from quem.experience.findings import Findings

__all__ = ["REFERENCES", "methods_paragraph"]

REFERENCES = (
    "Hayes, C. C. and Parzen, M. I. (1997). An achievement test for knowledge-based systems: QUEM. "
    "University of Illinois and University of Chicago.",
    f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
    "package.",
)


def methods_paragraph(found: Findings) -> str:
    """Describe what was done and found in the words of a paper.

    Parameters
    ----------
    found : Findings
    """
    return " ".join(
        [
            *_design(found),
            *_fit(found),
            *_agreement(found),
            *_results(found),
            f"Analyses were done with quem {__version__}.",
        ]
    )


def _design(found: Findings) -> list[str]:
    spec = found.study.spec
    function = found.function
    names = joined(system.name or system.id for system in spec.systems)
    years = f"{function.y.min():g} to {function.y.max():g} {spec.experience_unit}"
    who = f"{function.n} subjects with {years} of experience"
    text = [f"Experience was estimated with QUEM (Hayes & Parzen, 1997). Solutions of {who}"]
    text[0] += f" and of {names} were ranked" if found.estimates else " were ranked"
    if found.cells is None:
        text[0] += "; average ranks were taken from a published table."
        return text
    judges, problems = (len(np.unique(codes)) for codes in (found.cells.judge, found.cells.problem))
    text[0] += (
        f" by {judges} expert judge{'s' if judges != 1 else ''} on {problems} "
        f"problem{'s' if problems != 1 else ''}, ties allowed; tied ranks were averaged"
    )
    how = {
        "expected": ", and ranks r in groups of n were scaled to r(N + 1)/(n + 1)",
        "percentile": ", and ranks r in groups of n were scaled to (r − 1/2)/n",
        "none": "",
    }[found.settings.normalize]
    if found.settings.score == "blom":
        how = ", and ranks were turned into Blom's normal scores"
    if found.settings.reference == "humans":
        how += ", and each solution was ranked against those of the subjects only"
    text[0] += f"{how}."
    return text


def _fit(found: Findings) -> list[str]:
    unit = found.study.spec.experience_unit
    function = found.function
    form = {
        "linear": "linear least-squares regression",
        "log": "least-squares regression on the logarithm",
        "sqrt": "least-squares regression on the square root",
        "quadratic": "quadratic least-squares regression",
        "cubic": "cubic least-squares regression",
    }[function.form.name]
    chosen = " (chosen by AICc)" if found.settings.form == "auto" else ""
    f = number(function.f_value, 2)
    test = f"F({function.form.degree}, {function.df}) = {f}, {p_text(found.p_value)}"
    if found.permutation:
        kind = "exact" if found.permutation.exact else "Monte Carlo"
        test += f"; {kind} permutation test of the correlation, {p_text(found.permutation.p)}"
    return [
        f"The skill function was fitted by {form} of experience on average rank{chosen}: "
        f"{function.equation(unit)} (R² = {number(function.r_squared, 3)}, residual "
        f"standard deviation {number(function.residual_sd, 2)}; {test})."
    ]


def _agreement(found: Findings) -> list[str]:
    agreement = found.agreement
    if agreement is None or agreement.overall.n_judges < 2:  # noqa: PLR2004  nobody to agree with
        return []
    each = [
        number(concordance.kendall_w, 2)
        for concordance in agreement.problems.values()
        if np.isfinite(concordance.kendall_w)
    ]
    return [
        f"Kendall's W of the judges was {joined(each, 12)} on the problems; Krippendorff's ordinal "
        f"alpha was {number(agreement.overall.krippendorff_alpha, 2)} and ICC(2,1) "
        f"{number(agreement.overall.icc_2_1, 2)} over all of them."
    ]


def _results(found: Findings) -> list[str]:
    from quem.experience.showing.summary import system_name
    from quem.experience.wording import statement

    unit = found.study.spec.experience_unit
    told = []
    for estimate in found.estimates:
        text = statement(
            estimate, interval=found.settings.interval, level=found.settings.level, unit=unit
        )
        name = system_name(found, estimate.system)
        told.append(f"The experience of {name} was estimated at {text}.")
    if found.bootstrap and found.estimates:
        told.append(
            f"A bootstrap over judges, problems and subjects ({found.bootstrap.replicates:,} "
            "replicates) served as a sensitivity check; the intervals come from the regression."
        )
    return told
