"""The page of an experience study, in order."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.method import statement as words
from quem.method.line import SIGNIFICANT
from quem.method.methods import PAPER, QUEM, citation, methods_paragraph
from quem.method.result import JudgeRow, agreement_row
from quem.method.scale import NARROW, WIDE, legend, scale_svg
from quem.report.files import Check, Section, TextTable
from quem.wording import format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.method.core import Core
    from quem.method.result import ExperienceFindings

# A test that passes by less is weak evidence.
_CLEARLY = 0.01
# Kendall's W: lower bounds of good and of moderate agreement.
_AGREE, _PARTLY = 0.7, 0.4
_MOST_COLUMNS = 4  # systems side by side
_MOST_SAID = 2  # warnings of one kind
# Warnings on cards: sign and title.
_BASIS: dict[str, tuple[Any, str]] = {
    "few-subjects": ("warn", "Few people"),
    "judge-reversed": ("bad", "A judge may have ranked from best to worst"),
    "decisive": ("warn", "One judge, problem, or person matters much"),
}
_BEFORE: dict[str, tuple[Any, str]] = {
    "uneven-system": ("warn", "It has fewer ranks than people, or varies more"),
    "no-reference": ("warn", "Nobody said whom to compare with"),
}
_ALONE = {
    "judge": "Nobody knows how another judge would have ranked.",
    "problem": "Nobody knows the ranks on another problem.",
}
_ON_CARDS = {*_BASIS, *_BEFORE, "decreasing-skill-function", "not-significant"}


def report_context(findings: ExperienceFindings) -> dict[str, Any]:
    """The variables of the templates."""
    core, said = findings.core, findings.statements
    spec = findings.study.spec
    parts: dict[str, list[Section]] = {"result": [], "basis": [], "appendix": []}
    for part, found in findings.parts.items():
        parts[part.place] += part.sections(found, core)
    every = [section for sections in parts.values() for section in sections]
    drawn = {stem: section.title for section in every for stem in section.figures}
    drawn["line"] = f"People and systems by average rank and {core.unit} of experience"
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "notices": [*findings.of_parts("headline")],
        "are_good": all(part.is_good(found) for part, found in findings.parts.items()),
        "headline": words.headline(core, said),
        "lead": words.lead(core, said),
        "scales": [scale_svg(findings, room) for room in (WIDE, NARROW)],
        "states_years": core.states_years,
        "has_systems": bool(said),
        "counts": _counts(core),
        "basis": [*_basis(findings), *findings.of_parts("basis")],
        "before": [*_before(findings), *findings.of_parts("before_quoting")],
        "others": [one for one in findings.warnings if one.code not in _ON_CARDS],
        "how": _how(core),
        "result": [*_estimates(findings), *parts["result"]],
        "columns": [*_rests(core), *_agreement(core)],
        "more": parts["basis"],
        "appendix": parts["appendix"],
        "methods": methods_paragraph(findings),
        "references": [PAPER, *findings.of_parts("references"), QUEM],
        "citation": citation(core),
        "first_figure": "line",
        "legend": legend(findings),
        "captions": dict.fromkeys(drawn, ""),
        "labels": drawn,
        "names_people": not findings.study.named,
    }


def _counts(core: Core) -> list[tuple[str, str]]:
    """Sample sizes of a result: number and noun."""
    known = ((n, noun if n == 1 else f"{noun}s") for n, noun in words.amounts(core))
    return [(f"{n:,}", noun) for n, noun in [(len(core.line.y), "people"), *known]]


def _basis(findings: ExperienceFindings) -> Iterator[Check]:
    """Checks of the data behind a result."""
    core = findings.core
    yield _experience(core)
    yield from _agreeing(core)
    yield from _warned(findings, _BASIS)
    decided = any(one.code == "decisive" for one in findings.warnings)
    left_out = dict.fromkeys(one.what for of in core.estimates for one in of.rests_on)
    if core.states_years and not decided and core.cells is not None and left_out:
        text = "Without any one, the estimate moves by less than a third of its interval’s half."
        whom = join_words("person" if what == "subject" else what for what in left_out)
        yield Check("good", f"No {whom.replace(' and ', ' or ')} decides the result", text)


def _experience(core: Core) -> Check:
    line, p = core.line, format_p(core.line.p_value)
    if not line.p_value < SIGNIFICANT:
        text = f"{p}. Add people, or people who differ more in experience."
        return Check("bad", "Experience and rank are not clearly related", text)
    if not line.rises:
        text = f"{p}. Did the judges give 1 to the worst?"
        return Check("bad", "More experienced people were ranked lower", text)
    explained = f"the line explains {format_percent(round(line.r_squared, 2))} of"
    text = f"{p}; {explained} the differences between the people."
    if line.p_value < _CLEARLY:
        return Check("good", "More experienced people were ranked higher", text)
    text = f"{p}, only just; with {len(line.y)} people this is weak evidence."
    return Check("warn", "More experienced people were ranked higher, but not clearly", text)


def _agreeing(core: Core) -> Iterator[Check]:
    for n, noun in words.amounts(core):
        if n == 1 and noun in _ALONE:
            yield Check("warn", f"Everything depends on one {noun}", _ALONE[noun])
    of = core.agreement
    if of is not None and np.isfinite(of.kendall_w):
        signs: list[tuple[float, Any, str]] = [
            (_AGREE, "good", "The judges agree"),
            (_PARTLY, "warn", "The judges agree only in part"),
            (-1.0, "bad", "The judges hardly agree"),
        ]
        sign, title = next((s, t) for least, s, t in signs if of.kendall_w >= least)
        yield Check(sign, title, f"{words.agreement_text(core)}.")


def _before(findings: ExperienceFindings) -> Iterator[Check]:
    """Checks before quoting a result."""
    core = findings.core
    if core.states_years:
        yield from _range(findings)
        yield from _warned(findings, _BEFORE)
        yield from _wide(findings)
        if core.population.declared:
            text = words.assumption(core)
            yield Check("good", "The study says whom to compare with", text)
    elif core.estimates:
        yield from _warned(findings, _BEFORE)
        text = words.why_silent(core)
        text = f"{text[:1].upper()}{text[1:]}"
        yield Check("warn", "This does not say that a system is bad", text)
        text = "Include more people, people who differ more, or use another yardstick."
        yield Check("warn", "What to do", text)
    text = "Other judges, or another kind of problem, can give another answer."
    yield Check("warn", "Holds for these judges and problems", text)


def _range(findings: ExperienceFindings) -> Iterator[Check]:
    core = findings.core
    low, high = (f"{of:g}" for of in (core.line.y.min(), core.line.y.max()))
    sides: dict[int, list[str]] = {1: [], -1: []}
    for of in core.estimates:
        side = core.is_within(of.rank)
        if not side and not of.inside:
            side = 1 if of.experience > core.line.y.max() else -1
        if side and of.leads:
            sides[side].append(of.name)
    outside = sides[1] + sides[-1]
    if not outside:
        text = f"The people had {low} to {high} {core.unit}, so the line is not extrapolated."
        ends = [(one.name, *one.interval) for one in findings.statements if one.value]
        least, most = core.line.y.min(), core.line.y.max()
        if beyond := [name for name, a, b in ends if a < least or b is None or b > most]:
            text += f" The interval of {join_words(beyond)} reaches beyond these {core.unit}."
        yield Check("good", "Inside the range of the people", text)
        return
    names = f": {join_words(outside)}" if len(core.estimates) > 1 else ""
    texts = [
        f"The {most} experienced person had {end} {core.unit}; include people with {more}."
        for side, most, end, more in ((1, "most", high, "more"), (-1, "least", low, "less"))
        if sides[side]
    ]
    yield Check("warn", f"Outside the range of the people{names}", " ".join(texts))


def _wide(findings: ExperienceFindings) -> Iterator[Check]:
    """Checks for intervals wider than the range of the subjects."""
    span = float(np.ptp(findings.core.line.y))
    for one in findings.statements:
        low, high = one.interval
        if one.value and high is not None and high - low >= span:
            title = f"Do not quote the {one.value} of {one.name} without the interval"
            yield Check("bad", title, f"{one.qualifier} {findings.core.unit}.")
            return


def _warned(findings: ExperienceFindings, titles: dict[str, tuple[Any, str]]) -> Iterator[Check]:
    """Warnings on estimates, by kind."""
    known = sorted(
        (one for one in findings.warnings if one.code in titles),
        key=lambda one: list(titles).index(one.code),
    )
    for code, each in groupby(known, key=lambda one: one.code):
        texts = [_sentence(one) for one in each]
        if len(texts) > _MOST_SAID:
            texts[_MOST_SAID:] = [f"{len(texts) - _MOST_SAID} more are in analysis.json."]
        yield Check(*titles[code], " ".join(texts))


def _sentence(of: StudyWarning) -> str:
    return f"{of.message[:1].upper()}{of.message[1:]}."


def _how(core: Core) -> str:
    """How the years are computed, or why there are none."""
    if core.estimates and not core.states_years:
        why = "It does not narrow them down." if core.line.holds else "They do not support one."
        return (
            "Years would come from a line through these people, higher up for more experienced "
            f"ones. {why}"
        )
    beside = [of.name for of in core.best_first if of.leads == "reference"]
    ranked = "Judges ranked the solutions of people and systems together. " if core.cells else ""
    text = (
        f"{ranked}A line through the people’s {core.averages.called}s says how many {core.unit} "
        f"go with which rank: {words.equation(core)}."
    )
    if not beside:
        return text
    verb = "is" if len(beside) == 1 else "are"
    whom = "declared" if core.population.declared else "assumed"
    return (
        f"{text} {join_words(beside)} {verb} estimated for the {whom} population, beside the line."
    )


def _estimates(findings: ExperienceFindings) -> Iterator[Section]:
    """Both estimates of each system, if there are several."""
    core = findings.core
    if not core.states_years or len(core.estimates) == 1:
        return
    rows = [
        (
            of.name,
            format_number(of.rank),
            words.paper_text(core, of) if of.leads else "–",
            words.population_text(core, of) if of.reference.says else "–",
        )
        for of in core.best_first
    ]
    named = words.population_name(core)
    headings = ("System", "Average rank", "Regression as in the paper", f"For {named}")
    table = TextTable("Estimates", headings, rows, words=frozenset([2, 3]))
    yield Section("estimates", "Each system", tables=[table])


def _rests(core: Core) -> Iterator[Section]:
    """The most influential units of the paper's estimates; empty if no years are stated."""
    shown = [of for of in core.best_first if of.leads and of.rests_on]
    if not shown:
        return
    columns = shown[:_MOST_COLUMNS]
    rows = [("nobody", *(format_number(of.experience) for of in columns))]
    for what in ("judge", "problem", "subject"):
        moved = [next((one for one in of.rests_on if one.what == what), None) for of in columns]
        if any(moved):
            cells = (f"{format_number(m.experience)} ({m.id})" if m else "–" for m in moved)
            rows.append((f"one {what}", *cells))
    note = ""
    if len(shown) > _MOST_COLUMNS:
        note = f"{len(shown) - _MOST_COLUMNS} more systems are in estimates.csv."
    headings = ("Left out", *(of.name for of in columns))
    title = f"The paper’s estimate without the one that moves it most, in {core.unit}"
    yield Section("rests", "What it depends on", tables=[TextTable(title, headings, rows, note)])


def _agreement(core: Core) -> Iterator[Section]:
    row = agreement_row(core)
    if row is None or not row.judges:
        return
    text = words.agreement_text(core)
    table = JudgeRow.text_table(row.judges, "Correlation of a judge’s mean ranks with the others’")
    yield Section("agreement", "Agreement", [f"{text}."] * bool(text), tables=[table])
