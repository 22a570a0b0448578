"""The terminal summary: the answer first, then what it rests on, then the warnings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.wording import caveat, statement
from quem.wording import (
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_probability,
    join_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.findings import ExperienceFindings
    from quem.experience.retest import Retest
    from quem.experience.skill import SkillFunction

__all__ = [
    "averaged",
    "data_notes",
    "equation",
    "f_text",
    "recognised_text",
    "retest_text",
    "summary_text",
    "system_name",
    "warnings_text",
]

_WIDTH = 96


def summary_text(found: ExperienceFindings, *, warnings: bool) -> str:
    """Write the summary of an analysis as text.

    Parameters
    ----------
    found : ExperienceFindings
    warnings : bool
        Whether the warnings are part of it.
    """
    lines = [found.study.spec.title, "", *_answer(found), "", "It rests on"]
    lines += [f"  {line}" for line in _basis(found)]
    lines += [f"  {line}" for line in _sensitivity(found)]
    if warnings and found.doubts:
        lines += ["", warnings_text(found)]
    return "\n".join(lines)


def warnings_text(found: ExperienceFindings) -> str:
    """Write the warnings of an analysis, each with its code."""
    count = len(found.doubts)
    lines = [f"{count} warning{'s' if count > 1 else ''}"]
    for doubt in found.doubts:
        lines += textwrap.wrap(
            f"{doubt.code}: {doubt.message}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
        )
    return "\n".join(lines)


def _answer(found: ExperienceFindings) -> Iterator[str]:
    unit = found.study.spec.experience_unit
    names = [system_name(found, estimate.system) for estimate in found.estimates]
    if not names:
        yield "  No system; the skill function of the subjects stands alone."
    width = max(map(len, names), default=0)
    for name, estimate in zip(names, found.estimates, strict=True):
        told = statement(
            estimate, interval=found.settings.interval, level=found.settings.level, unit=unit
        )
        yield f"  {name:<{width}}  {told}"
        least = [
            f"at least {years:g} {unit}: {format_probability(p)}" for years, p in estimate.at_least
        ]
        if least:
            yield f"  {'':<{width}}  {', '.join(least)}"
    if names and (doubtful := caveat(found.p_value, found.function.falling_share)):
        yield f"  {doubtful}"


def system_name(found: ExperienceFindings, system: str) -> str:
    """Name a system as the study file does, with its version."""
    return found.name_of(system)


def averaged(found: ExperienceFindings) -> str:
    """Name what is averaged and fitted: "average rank", or what the settings make of it."""
    if found.settings.score == "blom":
        return "average normal score"
    if found.pooled:
        return "expected rank"
    return {
        "none": "average rank",
        "expected": "average expected rank",
        "percentile": "average percentile",
    }[found.settings.normalize]


def equation(found: ExperienceFindings) -> str:
    """Write the skill function out."""
    return found.function.equation(found.study.spec.experience_unit, averaged(found))


def f_text(function: SkillFunction, digits: int) -> str:
    """Write the F test over subjects: "F(1, 5) = 26.9"."""
    f = (
        format_number(function.f_value, digits)
        if np.isfinite(function.f_value)
        else "∞ (a perfect fit)"
    )
    return f"F({function.form.degree}, {function.df}) = {f}"


def data_notes(found: ExperienceFindings) -> list[str]:
    """Say what a reader must know of the data: failures, withheld solvers, missing ranks."""
    cells = found.cells
    if cells is None:
        return []
    notes = []
    failed = np.isneginf(cells.given)
    if failed.any():
        solutions = len(
            np.unique(cells.solver[failed] * len(cells.problems) + cells.problem[failed])
        )
        verb = "is" if solutions == 1 else "are"
        notes.append(f"{_count(solutions, 'solution')} failed and {verb} tied last")
    withheld = cells.of_kind("withheld")
    held = [cells.solvers[i] for i in np.unique(cells.solver[withheld[cells.solver]])]
    if held:
        verb = "keeps its place" if len(held) == 1 else "keep their places"
        notes.append(f"the withheld {join_words(held)} {verb} in the groups")
    counted = ~withheld & np.isfinite(found.averages.average)
    expected = cells.n_groups * int(counted.sum())
    missing = expected - int(counted[cells.solver].sum())
    if cells.is_blocked:
        sizes = np.bincount(cells.group)
        each = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        notes.append(f"judges ranked {len(sizes):,} blocks of {each} solutions")
    elif missing > 0:
        notes.append(f"{missing:,} of {expected:,} solutions have no rank")
    return notes


def _basis(found: ExperienceFindings) -> Iterator[str]:
    unit = found.study.spec.experience_unit
    function = found.function
    years = f"{function.y.min():g} to {function.y.max():g} {unit}"
    data = f"{function.n} subjects ({years})"
    if found.cells:
        active = [len(np.unique(codes)) for codes in (found.cells.judge, found.cells.problem)]
        data += f", {_count(active[0], 'judge')}, {_count(active[1], 'problem')}, "
        data += _count(int(found.cells.judged().sum()), "rank")
    yield data
    if notes := data_notes(found):
        yield "; ".join(notes)
    yield (
        f"skill function: {equation(found)}  (R² {format_number(function.r_squared, 2)}, "
        f"residual sd {format_number(function.residual_sd, 2)})"
    )
    test = f"experience and quality: {f_text(function, 1)}, {format_p(found.p_value)}"
    if found.permutation:
        of = "distinct" if found.permutation.exact else "random"
        test += f"; permutation {format_p(found.permutation.p)} "
        test += f"({found.permutation.extreme:,} of {found.permutation.orders:,} {of} orders)"
    yield test
    if found.agreement and found.agreement.overall.n_judges > 1:
        overall = found.agreement.overall
        each = [format_number(c.kendall_w, 2) for c in found.agreement.problems.values()]
        by_problem = f" ({', '.join(each)} by problem)" if 1 < len(each) <= 8 else ""  # noqa: PLR2004
        yield (
            f"judges' agreement: Kendall's W {format_number(overall.kendall_w, 2)}{by_problem}, "
            f"Krippendorff's alpha {format_number(overall.krippendorff_alpha, 2)}, "
            f"ICC(2,1) {format_number(overall.icc_2_1, 2)}"
        )
    if found.retest:
        yield retest_text(found.retest)


def retest_text(retest: Retest) -> str:
    """Say how alike the first and second rankings of repeated groups are."""
    overall = retest.overall
    return (
        f"judges repeated {_count(overall.n_groups, 'group')} "
        f"({_count(overall.n_solutions, 'solution')}): tau-b "
        f"{format_number(overall.mean_tau_b, 2)}, "
        f"{format_percent(round(overall.same_order, 2))} of pairs in the same order, ranks differ "
        "by "
        f"{format_number(overall.mean_rank_difference, 2)}"
    )


def recognised_text(found: ExperienceFindings, system: str) -> str:
    """Say where a system comes out without the authors whom judges recognised, if any."""
    if found.recognised is None:
        return ""
    (years,) = (left.estimate for left in found.recognised.estimates if left.system == system)
    ranks = _count(found.recognised.n_ranks, "rank")
    author = "a recognised author" if found.recognised.n_ranks == 1 else "recognised authors"
    return (
        f"without the {ranks} of {author} {format_number(years) if np.isfinite(years) else 'none'}"
    )


def _sensitivity(found: ExperienceFindings) -> Iterator[str]:
    for estimate in found.estimates:
        ranges = []
        for name, left in (
            ("judge", found.judges),
            ("subject", found.subjects),
            ("problem", found.problems),
        ):
            values = [e.estimate for e in left if e.system == estimate.system]
            values = [value for value in values if np.isfinite(value)]
            if len(values) > 1:
                ranges.append(f"{name} {format_interval((min(values), max(values)))}")
        told = f"without any one {', '.join(ranges)}" if ranges else ""
        others = [v.estimate for v in found.variants if v.system == estimate.system]
        others = [value for value in others if np.isfinite(value)]
        if others:
            told += "; " if told else ""
            told += f"other settings {format_interval((min(others), max(others)))}"
        if recognised := recognised_text(found, estimate.system):
            told += f"; {recognised}" if told else recognised
        if told:
            of = f"{system_name(found, estimate.system)}: " if len(found.estimates) > 1 else ""
            yield f"{of}{told}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
