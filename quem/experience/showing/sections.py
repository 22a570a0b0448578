"""The sections of a report: each a heading, a few sentences, figures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.experience.showing.judge_sections import agreement_section, recognised_sentence
from quem.experience.showing.summary import averaged, data_notes, f_text, system_name
from quem.experience.wording import interval_text, number, p_text, percent
from quem.report.layout import Section, TextTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.experience.findings import Findings
    from quem.experience.influence import LeftOut

__all__ = ["sections"]

_MOST_ROWS = 25


def sections(found: Findings) -> list[Section]:
    """Make the sections of the report below its first screen.

    Parameters
    ----------
    found : Findings
    """
    made = [
        _estimates(found),
        _solvers(found),
        _experience_matters(found),
        agreement_section(found),
        _influence(found),
        _settings(found),
    ]
    return [section for section in made if section is not None]


def _estimates(found: Findings) -> Section:
    unit = found.study.spec.experience_unit
    level = percent(found.settings.level)
    rows = []
    for estimate in found.estimates:
        calibration = estimate.calibration
        bound = {"above": "at least ", "below": "at most "}.get(estimate.side, "")
        rows.append(
            (
                system_name(found, estimate.system),
                number(estimate.average_rank, 2),
                number(estimate.experience, 2),
                interval_text(estimate.prediction),
                interval_text(estimate.mean),
                number(calibration.experience, 2) if calibration else "–",
                interval_text(calibration.interval) if calibration else "–",
                f"{bound}{number(estimate.bound)}" if bound else "–",
            )
        )
    columns = (
        "System",
        _ranks(found),
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
        f"{averaged(found) if found.pooled else 'average rank'} on experience and inverts: the "
        "typical human with that quality."
    ]
    if any(estimate.side != "inside" for estimate in found.estimates):
        text.append(
            "Outside the subjects' range the two-sided intervals cover far too seldom; there only "
            "the one-sided bound is to be used."
        )
    table = TextTable(f"Estimates with {level} intervals", columns, rows)
    figures = ("estimate", "skill-function")
    return Section("estimates", "Estimates and skill function", text, figures, [table])


def _ranks(found: Findings) -> str:
    """What the tables of solvers call their ranks."""
    return "Expected rank" if found.pooled else "Average rank"


def _solvers(found: Findings) -> Section:
    averages, cells = found.averages, found.cells
    order = sorted(
        (i for i in range(len(averages.solvers)) if np.isfinite(averages.average[i])),
        key=lambda i: -averages.average[i],
    )
    names = {subject.id: subject.name for subject in found.study.spec.subjects}
    rows = [
        (
            system_name(found, averages.solvers[i])
            if averages.kinds[i] == "system"
            else " ".join(filter(None, [averages.solvers[i], names.get(averages.solvers[i], "")])),
            averages.kinds[i],
            f"{averages.experience[i]:g}" if np.isfinite(averages.experience[i]) else "–",
            number(averages.average[i], 2),
            f"{averages.n_ranks[i]:,}" if cells else "–",
        )
        for i in order
        if averages.kinds[i] != "withheld"
    ]
    unit = found.study.spec.experience_unit
    columns = ("Solver", "Kind", f"Experience ({unit})", _ranks(found), "Ranks")
    table = TextTable(f"{_ranks(found)}s, best first", columns, rows, words=frozenset({1}))
    notes = "; ".join(data_notes(found))
    text = [f"{notes[:1].upper()}{notes[1:]}."] if notes else []
    if found.pooled:
        text.append(
            "The expected rank is 1 and the sum of the probabilities of beating each other solver, "
            "by worths that Plackett-Luce pools over all rankings."
        )
    return Section("solvers", "Solvers", text, ("ranks",) if cells else (), [table])


def _experience_matters(found: Findings) -> Section:
    function = found.function
    text = [f"Over subjects, {f_text(function, 2)}, {p_text(found.p_value)}."]
    if found.permutation:
        kind = "distinct" if found.permutation.exact else "random"
        text[0] += (
            f" Of {found.permutation.orders:,} {kind} orders of the subjects' experience, "
            f"{found.permutation.extreme:,} correlate with the {_ranks(found).lower()}s at least "
            f"as strongly ({p_text(found.permutation.p)}, two-sided)."
        )
    tables = []
    if found.anova:
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
                number(row.f, 3),
                p_text(row.p).removeprefix("p ").removeprefix("= "),
            )
            for row in found.anova
            if np.isfinite(row.f)
        ]
        columns = ("Term", "Model", "df", "F", "p")
        tables.append(
            TextTable("Analysis of variance, type II", columns, rows, words=frozenset({1}))
        )
    return Section("experience", "Does experience matter?", text, (), tables)


def _influence(found: Findings) -> Section:
    tables = [
        _left_out_table(found, title, left_out)
        for title, left_out in (
            ("Without one judge", found.judges),
            ("Without one subject", found.subjects),
            ("Without one problem", found.problems),
        )
        if left_out
    ]
    if found.recognised and found.recognised.estimates:
        title = "Without the authors whom judges recognised"
        tables.append(_left_out_table(found, title, found.recognised.estimates))
    diagnostics = sorted(found.diagnostics, key=lambda d: -np.nan_to_num(d.cooks_distance))
    rows = [
        (
            d.subject,
            f"{d.experience:g}",
            number(d.fitted, 2),
            number(d.residual, 2),
            number(d.studentized, 2),
            number(d.leverage, 2),
            number(d.cooks_distance, 3),
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
    if found.pooled:
        text.append("Without a judge or a problem, all worths are fitted anew.")
    if found.recognised:
        text.append(recognised_sentence(found.recognised))
    return Section("influence", "Who decides the answer?", text, ("influence",), tables)


def _left_out_table(found: Findings, title: str, left_out: Iterable[LeftOut]) -> TextTable:
    ordered = list(left_out)
    if len(ordered) > _MOST_ROWS:
        ordered = sorted(ordered, key=lambda left: -np.nan_to_num(abs(left.change)))
    rows = [
        (
            left.id,
            system_name(found, left.system),
            number(left.estimate, 2),
            number(left.change, 2) if not left.change > 0 else f"+{number(left.change, 2)}",
            interval_text((left.low, left.high)),
        )
        for left in ordered[:_MOST_ROWS]
    ]
    columns = ("Without", "System", "Estimate", "Change", "Prediction interval")
    return TextTable(title, columns, rows, _left_over(len(ordered)), words=frozenset({1}))


def _left_over(count: int) -> str:
    if count <= _MOST_ROWS:
        return ""
    return f"The {_MOST_ROWS} of {count:,} that matter most; analysis.json has all."


def _settings(found: Findings) -> Section:
    tables = []
    rows = [
        (
            v.label,
            system_name(found, v.system),
            number(v.estimate, 2),
            interval_text((v.low, v.high)),
        )
        for v in found.variants
    ]
    if rows:
        columns = ("Setting", "System", "Estimate", "Interval")
        tables.append(
            TextTable("Estimates under other settings", columns, rows, words=frozenset({1}))
        )
    rows = [
        (
            name,
            number(fitted.function.r_squared, 3),
            number(fitted.aicc, 2),
            number(fitted.loo_rmse, 3),
        )
        for name, fitted in found.forms.items()
    ]
    columns = ("Form", "R²", "AICc", "Leave-one-out error")
    note = "The lower the AICc and the error, the better. R² always favours the more flexible form."
    tables.append(TextTable("Forms of the skill function", columns, rows, note))
    text = ["Each row changes one setting and leaves the others as they are."]
    if found.bootstrap and found.bootstrap.intervals:
        each = "; ".join(
            f"{system_name(found, system)} {interval_text(interval)}"
            for system, interval in found.bootstrap.intervals.items()
        )
        text.append(
            "When judges, problems and subjects are drawn anew "
            f"{found.bootstrap.replicates:,} times, {percent(found.settings.level)} of the "
            f"estimates lie in: {each} ({found.bootstrap.discarded:,} replicates had fewer than 3 "
            "different averages and were discarded). As an interval this would cover too seldom; "
            "it shows sensitivity."
        )
    return Section("settings", "Other settings", text, (), tables)
