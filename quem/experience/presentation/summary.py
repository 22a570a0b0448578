"""The terminal summary: the result first, then what it is based on."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.presentation.machines import alone_texts, machine_texts
from quem.experience.presentation.panel import panel_texts
from quem.experience.wording import jagged_text, model_text, only_source, position_text, statement
from quem.wording import (
    WIDTH,
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_probability,
    join_words,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.result import ExperienceFindings
    from quem.experience.retest import Retest
    from quem.experience.skill import SkillFunction

# Of a text beside the name of a system.
_NARROWEST = 40


def summary_text(findings: ExperienceFindings) -> str:
    """Write the summary of an analysis as text."""
    lines = [*_seal(findings), findings.study.spec.title, ""]
    lines += [*_answer(findings), "", "Based on"]
    lines += [f"  {line}" for line in _basis(findings)]
    if findings.gate.passed:
        lines += [f"  {line}" for line in _sensitivity(findings)]
    return "\n".join(lines)


def _seal(findings: ExperienceFindings) -> Iterator[str]:
    """Say whether the study is as it was sealed, above all else."""
    if seal := findings.seal:
        yield f"{seal.headline}{':' if seal.texts else ''}"
        for text in seal.texts:
            yield from textwrap.wrap(text, WIDTH, initial_indent="  - ", subsequent_indent="    ")
        yield f"  Seal {seal.hash}; it does not attest rankings."
        yield ""


def _answer(findings: ExperienceFindings) -> Iterator[str]:
    unit = findings.study.spec.experience_unit
    names = [system_name(findings, estimate.system) for estimate in findings.estimates]
    if not names:
        yield "  No system has ranks; only the skill function is reported."
    width = max(map(len, names), default=0)
    alone = dict(alone_texts(findings))
    for name, estimate in zip(names, findings.estimates, strict=True):
        if not findings.gate.passed:
            yield from wrap(position_text(findings, estimate))
            continue
        text = statement(
            estimate, interval=findings.settings.interval, level=findings.settings.level, unit=unit
        )
        if jagged := jagged_text(name, findings.profiles.get(estimate.system)):
            yield from wrap(jagged)
            text = f"on average over these problems {text}"
        yield f"  {name:<{width}}  {text}"
        least = [
            f"at least {years:g} {unit}: {format_probability(p)}" for years, p in estimate.at_least
        ]
        if least:
            yield f"  {'':<{width}}  probability of {', '.join(least)}"
        if estimate.system in alone:
            yield f"  {'':<{width}}  experts alone: {alone[estimate.system]}"
        model = model_text(estimate.model, findings.settings.level, unit)
        for line in textwrap.wrap(model, max(WIDTH - width - 4, _NARROWEST)):
            yield f"  {'':<{width}}  {line}"


def system_name(findings: ExperienceFindings, system: str) -> str:
    """Name a system as the study file does, with its version."""
    return findings.name_of(system)


def averaged(findings: ExperienceFindings) -> str:
    """Name what is averaged and fitted: "average rank", or what the settings make of it."""
    if findings.settings.score == "blom":
        return "average normal score"
    if findings.pooled:
        return "expected rank"
    return {
        "none": "average rank",
        "expected": "average expected rank",
        "percentile": "average percentile",
    }[findings.settings.normalize]


def equation(findings: ExperienceFindings) -> str:
    """Write the skill function out."""
    return findings.function.equation(findings.study.spec.experience_unit, averaged(findings))


def f_text(function: SkillFunction, digits: int) -> str:
    """Write the F test over subjects: "F(1, 5) = 26.9"."""
    f = (
        format_number(function.f_value, digits)
        if np.isfinite(function.f_value)
        else "∞ (a perfect fit)"
    )
    return f"F({function.form.degree}, {function.df}) = {f}"


def data_notes(findings: ExperienceFindings) -> list[str]:
    """Say what a reader must know of the data: failures, withheld solvers, missing ranks."""
    cells = findings.cells
    if cells is None:
        return []
    if not cells.has_ranks:
        return ["judges decided between pairs of solutions"]
    notes = []
    failed = np.isneginf(cells.given)
    if failed.any():
        solutions = len(
            np.unique(cells.solver[failed] * len(cells.problems) + cells.problem[failed])
        )
        notes.append(f"{format_count(solutions, 'failed solution')} tied last")
    withheld = cells.of_kind("withheld")
    names = [cells.solvers[i] for i in np.unique(cells.solver[withheld[cells.solver]])]
    if names:
        noun, verb = ("solver", "keeps its") if len(names) == 1 else ("solvers", "keep their")
        notes.append(f"withheld {noun} {join_words(names)} {verb} rank positions")
    counted = ~withheld & np.isfinite(findings.averages.average)
    expected = cells.n_groups * int(counted.sum())
    missing = expected - int(counted[cells.solver].sum())
    if cells.is_blocked:
        sizes = np.bincount(cells.group)
        each = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        notes.append(f"judges ranked {len(sizes):,} blocks of {each} solutions")
    elif missing > 0:
        notes.append(f"{missing:,} of {expected:,} possible ranks are missing")
    return notes


def amounts(findings: ExperienceFindings) -> list[tuple[int, str]]:
    """Count judges, problems, and ranks or decisions: each number with its noun."""
    averages, cells = findings.averages, findings.cells
    if cells is None:
        known = findings.is_ranked
        return [(averages.study_judges, "judge"), (averages.study_problems, "problem")] * known
    ranks = int(cells.judged().sum()) if cells.has_ranks else cells.n_groups
    return [
        (averages.study_judges, "judge"),
        (averages.study_problems, "problem"),
        (ranks, "rank" if cells.has_ranks else "decision"),
    ]


def _basis(findings: ExperienceFindings) -> Iterator[str]:
    unit = findings.study.spec.experience_unit
    function = findings.function
    years = f"{function.y.min():g} to {function.y.max():g} {unit}"
    data = f"{function.n} subjects ({years})"
    yield ", ".join([data, *(format_count(*amount) for amount in amounts(findings))])
    if notes := data_notes(findings):
        yield "; ".join(notes)
    yield (
        f"skill function: {equation(findings)}  (R² {format_number(function.r_squared, 2)}, "
        f"residual SD {format_number(function.residual_sd, 2)})"
    )
    test = f"experience vs. quality: {f_text(function, 1)}, {format_p(findings.p_value)}"
    if findings.permutation:
        of = "distinct" if findings.permutation.exact else "random"
        test += f"; permutation test {format_p(findings.permutation.p)} "
        test += (
            f"({findings.permutation.extreme:,} of {findings.permutation.orders:,} {of} orderings)"
        )
    yield test
    if findings.agreement and findings.agreement.overall.n_judges > 1:
        overall = findings.agreement.overall
        by = [c.kendall_w for c in findings.agreement.problems.values()]
        each = [format_number(w, 2) for w in by if np.isfinite(w)]
        by_problem = f" (by problem {', '.join(each)})" if 1 < len(each) <= 8 else ""  # noqa: PLR2004
        yield (
            "agreement between judges: mean Kendall's W "
            f"{format_number(overall.kendall_w, 2)}{by_problem}, Krippendorff's alpha "
            f"{format_number(overall.krippendorff_alpha, 2)}, ICC(2,1) "
            f"{format_number(overall.icc_2_1, 2)}"
        )
    if findings.retest:
        yield retest_text(findings.retest)
    for text in (*machine_texts(findings), *panel_texts(findings)):
        yield from textwrap.wrap(text, WIDTH - 2, subsequent_indent="  ")


def retest_text(retest: Retest) -> str:
    """Say how alike the first and second rankings of repeat tasks are."""
    overall = retest.overall
    return (
        f"consistency of repeat rankings ({format_count(overall.n_groups, 'task')}, "
        f"{format_count(overall.n_ranks, 'rank')}): mean tau-b "
        f"{format_number(overall.mean_tau_b, 2)}, "
        f"{format_percent(round(overall.same_order, 2))} of pairs in the same order, mean absolute "
        f"rank difference {format_number(overall.mean_rank_difference, 2)}"
    )


def recognized_text(findings: ExperienceFindings, system: str) -> str:
    """Say where a system comes out without the authors whom judges recognized, if any."""
    if findings.recognized is None:
        return ""
    (years,) = (left.estimate for left in findings.recognized.estimates if left.system == system)
    ranks = format_count(findings.recognized.n_ranks, "rank")
    estimate = format_number(years) if np.isfinite(years) else "none"
    return f"excluding {ranks} with a recognized author {estimate}"


def _sensitivity(findings: ExperienceFindings) -> Iterator[str]:
    for estimate in findings.estimates:
        ranges = []
        for name, left in (
            ("judges", findings.judges),
            ("subjects", findings.subjects),
            ("problems", findings.problems),
        ):
            values = [e.estimate for e in left if e.system == estimate.system]
            values = [value for value in values if np.isfinite(value)]
            if len(values) > 1:
                ranges.append(f"{name} {format_interval((min(values), max(values)))}")
        parts = [f"leave-one-out estimates: {', '.join(ranges)}"] if ranges else []
        others = [v.estimate for v in findings.variants if v.system == estimate.system]
        others = [value for value in others if np.isfinite(value)]
        if others:
            parts.append(f"other settings {format_interval((min(others), max(others)))}")
        if recognized := recognized_text(findings, estimate.system):
            parts.append(recognized)
        for left in (findings.judges, findings.problems):
            several_left = len({one.id for one in left}) > 1
            if several_left and (only := only_source(left, estimate.system)):
                parts.append(f"everything {only}")
        if parts:
            several = len(findings.estimates) > 1
            of = f"{system_name(findings, estimate.system)}: " if several else ""
            yield f"{of}{'; '.join(parts)}"
