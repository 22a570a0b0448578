"""The methods paragraph of a report for a paper, and the citation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem import __version__
from quem.method.statement import agreement_text, amounts, assumption, equation
from quem.wording import format_count, format_number, format_p, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.method.core import Core
    from quem.method.result import ExperienceFindings

PAPER = (
    "Hayes, C. C. and Parzen, M. I. (1997). An achievement test for knowledge-based systems: QUEM. "
    "University of Illinois and University of Chicago."
)
QUEM = (
    f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
    "package."
)


def methods_paragraph(findings: ExperienceFindings) -> str:
    """Methods and findings in the words of a paper."""
    core, said = findings.core, findings.statements
    sentences = [_design(core), *_data(core)]
    sentences += [part.about(found, core) for part, found in findings.parts.items()]
    sentences.append(_fit(core))
    if agreed := agreement_text(core):
        sentences.append(f"Judges’ agreement: {agreed}.")
    if any(of.reference.says for of in core.estimates):
        sentences.append(_population(core))
    for one in said:
        sentences += [one.sentence, one.other]
    sentences.append(f"Analyses were done with quem {__version__}.")
    return " ".join(filter(None, sentences))


def _design(core: Core) -> str:
    line = core.line
    who = (
        f"by {len(line.y)} subjects with {line.y.min():g} to {line.y.max():g} {core.unit} of "
        "experience"
    )
    if core.estimates:
        who += f" and by {join_words(of.name for of in core.estimates)}"
    text = "Experience was estimated with QUEM (Hayes & Parzen, 1997)."
    if core.cells is None and core.averages.n_ranks.any():
        return text  # a part describes the groups
    if core.cells is None:
        return f"{text} Average ranks of solutions {who}, computed elsewhere, were used."
    (judges, noun), (problems, _), *_ = amounts(core)
    did = "ranked" if core.cells.has_ranks else "compared pairs of"
    return (
        f"{text} {format_count(judges, f'expert {noun}')} {did} solutions to "
        f"{format_count(problems, 'problem')} {who}; ties received mid-ranks."
    )


def _data(core: Core) -> Iterator[str]:
    """Failures, withheld solvers, missing ranks."""
    cells, averages = core.cells, core.averages
    if cells is None or not cells.has_ranks:
        return
    if failed := len(
        {
            *zip(
                *(of[np.isneginf(cells.given)].tolist() for of in (cells.solver, cells.problem)),
                strict=True,
            )
        }
    ):
        yield f"{format_count(failed, 'failed solution')} tied last."
    withheld = cells.of_kind("withheld")
    names = [cells.solvers[i] for i in np.unique(cells.solver[withheld[cells.solver]])]
    if names:
        noun = "solver" if len(names) == 1 else "solvers"
        yield f"Withheld {noun} {join_words(names)} kept rank positions."
    counted = ~withheld & np.isfinite(averages.rank)
    expected = cells.n_groups * int(counted.sum())
    missing = expected - int(counted[cells.solver].sum())
    if missing > 0 and not cells.is_blocked:
        yield f"{missing:,} of {expected:,} possible ranks are missing."


def _fit(core: Core) -> str:
    """The fit of the paper's line, with its numbers if years are stated."""
    line = core.line
    called = core.averages.called
    form = {"linear": called, "log": f"the logarithm of {called}"}
    on = form.get(line.form, f"{called} and its square")
    text = f"Experience was regressed on {on} by least squares"
    if core.estimates and not core.states_years:
        return f"{text}."
    test = (
        f"R² = {format_number(line.r_squared, 2)}, residual standard deviation "
        f"{format_number(line.residual_sd, 2)}, {format_p(line.p_value)}"
    )
    return f"{text}: {equation(core)} ({test})."


def _population(core: Core) -> str:
    leads = any(of.leads == "reference" for of in core.estimates)
    uses = f" {assumption(core)}" if leads or core.population.declared else ""
    return (
        "For the population, the logit of the mean place was regressed on experience, with a "
        f"system as one further person plus what it varies more.{uses}"
    )


def citation(core: Core) -> str:
    """The citation of the report."""
    size = [f"{len(core.line.y):,} people", *(format_count(*of) for of in amounts(core))]
    return (
        f"{core.study.spec.title.rstrip('.')}. QUEM study with {join_words(size)}. Report made "
        f"with quem {__version__}."
    )
