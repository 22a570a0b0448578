"""Versions between sessions of experts: analysis.json, CSV files, text, and page."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.report.columns import (
    COUNT,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    STUDY,
    TEXT,
    WARNINGS,
    Column,
    Columns,
    Table,
    choice,
    each,
    head,
    null_or,
    of,
)
from quem.report.files import TextTable
from quem.wording import (
    WIDTH,
    format_count,
    format_interval,
    format_number,
    format_percent,
    join_words,
)

if TYPE_CHECKING:
    from quem.machines.tracking import Saying, TrackFindings, Version

CAPTIONS = {
    "course": "Experience of each version with its interval: by experts (black), and by the "
    "machine judge between their sessions (red). An arrow is a bound alone; dashed, what was said "
    "before experts ranked.",
}
_TOO_GENEROUS = (
    "Too generous by: what the machine judge alone gives a version beyond the experts. The years "
    "of the others are corrected for the mean of this."
)


def ends_of(version: Version) -> tuple[float, float]:
    """Give the ends of a version's interval; infinite above a bound, NaN for none."""
    if version.estimate:
        if version.estimate.side == "above":
            return version.estimate.bound, float("inf")
        if version.estimate.side == "below":
            return float("-inf"), version.estimate.bound
        return version.estimate.prediction
    if version.tracked is None:
        return float("nan"), float("nan")
    if version.tracked.side == "above":
        return version.tracked.bound, float("inf")
    return version.tracked.interval


def years_of(version: Version) -> float:
    """Give years where an interval has two ends."""
    if version.estimate:
        return version.estimate.experience if version.estimate.side == "inside" else np.nan
    if version.tracked and version.tracked.side == "inside":
        return version.tracked.years
    return np.nan


def _bound(version: Version) -> float | None:
    low, high = ends_of(version)
    return low if high == float("inf") else None


_VERSIONS: Columns[Version, TrackFindings] = Columns(
    Column("system", NAME, "id", of="system.id"),
    Column("version", TEXT, "as in the study file, or empty", of="system.version"),
    Column("date", TEXT, "of the version, or empty", of=lambda row, _: str(row.system.date or "")),
    Column(
        "by",
        choice("experts", "machine", "nobody"),
        "who gives years: nobody where the machine judge cannot",
        of=lambda row, _: "experts" if row.estimate else "machine" if row.tracked else "nobody",
    ),
    Column(
        "experience",
        null_or(NUMBER),
        "the estimate; null where there is a bound alone, or nothing",
        of=lambda row, _: years_of(row),
    ),
    Column(
        "interval",
        OPEN_INTERVAL,
        "prediction interval; an end is null where a bound is one-sided",
        of=lambda row, _: ends_of(row),
    ),
    Column(
        "lower_bound",
        null_or(NUMBER),
        "one-sided bound where the version is above what is calibrated; else null",
        of=lambda row, _: _bound(row),
    ),
    Column(
        "generous",
        null_or(NUMBER),
        "years too many that the machine judge gives a version that experts ranked too; else null",
    ),
    Column("refused", TEXT, "why the machine judge gives no years, and what to do; or empty"),
)
_SAID: Columns[Saying, TrackFindings] = Columns(
    Column("system", NAME, "id"),
    Column("run", COUNT, "number of the run"),
    Column("said_on", TEXT, "day"),
    Column("experience", null_or(NUMBER), "what was said; null for a bound", of="years"),
    Column("interval", OPEN_INTERVAL, "its interval", of=lambda row, _: (row.low, row.high)),
    Column("lower_bound", null_or(NUMBER), "null for an interval", of="bound"),
)
DOCUMENT: Columns[TrackFindings, TrackFindings] = Columns(
    *head("track"),
    Column("study", of(STUDY), "the study", of="study.spec"),
    Column("judge", NAME, "id of the machine judge", of="run.judge"),
    Column("run", COUNT, "number of the run", of="run.number"),
    Column("of", NAME, "name that the versions share, or the id of the only one"),
    WARNINGS,
    Column(
        "calibrated",
        each(NAME),
        "versions that experts and the machine judge ranked",
        of=lambda row, _: list(row.calibrated),
    ),
    Column("generous", null_or(NUMBER), "years too many that it gives these; null for none"),
    Column("spread", null_or(NUMBER), "standard deviation of that; null for fewer than 2"),
    Column("versions", each(_VERSIONS), "by date, or in the order of the study file"),
    Column("said", each(_SAID), "what was said of versions that experts ranked later"),
)
TABLES: tuple[Table[Any, TrackFindings], ...] = (
    Table("versions", "one row per version", _VERSIONS, lambda f: f.versions, always=True),
    Table("said", "one row per version that experts ranked later", _SAID, lambda f: f.said),
)


def _sentence(findings: TrackFindings, version: Version) -> str:
    """Say what is known of a version."""
    unit, level = findings.study.spec.experience_unit, format_percent(findings.level)
    low, high = ends_of(version)
    name = findings_name(version)
    if version.refused:
        return f"{name}: no {unit}, as {version.refused}."
    by = "by experts" if version.estimate else f"by {findings.run.judge}"
    if np.isinf([low, high]).any():
        side, bound = ("at least", low) if np.isinf(high) else ("at most", high)
        return f"{name}: {side} {format_number(bound)} {unit} {by} (one-sided {level} bound)."
    years = format_number(years_of(version))
    ends = format_interval((low, high))
    return f"{name}: {years} {unit} {by} ({level} prediction interval {ends})."


def findings_name(version: Version) -> str:
    """Name a version by its id and its number."""
    return " ".join(filter(None, [version.system.id, version.system.version]))


def _calibration(findings: TrackFindings) -> str:
    unit = findings.study.spec.experience_unit
    if not findings.calibrated:
        return "Experts have ranked no version that the machine judge ranked."
    side = "generous" if findings.generous > 0 else "strict"
    text = (
        f"{findings.run.judge} has been {format_number(abs(findings.generous))} {unit} too {side} "
        f"over {format_count(len(findings.calibrated), 'version')}"
    )
    if np.isfinite(findings.spread):
        text += f" (SD {format_number(findings.spread, 2)})"
    return f"{text}: {join_words(findings.calibrated)}. The years above are corrected for that."


def _pays(findings: TrackFindings) -> list[str]:
    """Say what a session of experts would give."""
    unit = findings.study.spec.experience_unit
    texts = []
    for version in findings.tracked:
        name, tracked = findings_name(version), version.tracked
        if tracked is None:
            texts.append(f"{name}: only experts can give it {unit} now.")
        elif tracked.side == "inside":
            half = format_number(float(np.diff(tracked.interval)[0]) / 2)
            theirs = format_number(tracked.half_of_experts)
            texts.append(f"{name}: ± {half} {unit} now; experts would give ± {theirs}.")
        else:
            texts.append(f"{name}: a lower bound now; experts would show whether people reach it.")
    return texts


def _said(findings: TrackFindings) -> list[str]:
    """Hold what was said against what experts found."""
    unit = findings.study.spec.experience_unit
    found = {version.system.id: version for version in findings.versions if version.estimate}
    texts = []
    for saying in findings.said:
        if saying.system not in found:
            continue
        estimate = found[saying.system].estimate
        assert estimate  # noqa: S101  found holds no others
        now = format_number(estimate.experience)
        if estimate.side != "inside":
            now = f"{_ends(found[saying.system])} (one-sided)"
        before = f"at least {format_number(saying.bound)}"
        if np.isfinite(saying.years):
            ends = format_interval((saying.low, saying.high))
            before = f"{format_number(saying.years)} ({ends})"
        texts.append(
            f"{saying.system}: {saying.judge} said {before} {unit} on {saying.said_on}; experts "
            f"found {now}."
        )
    return texts


def summary_text(findings: TrackFindings) -> str:
    """Write what is known of the versions as text."""
    lines = [f"Versions of {findings.of} in {findings.study.spec.title}", ""]
    for version in findings.versions:
        lines += textwrap.wrap(
            _sentence(findings, version), WIDTH, initial_indent="  ", subsequent_indent="    "
        )
    lines += ["", *textwrap.wrap(_calibration(findings), WIDTH)]
    for text in [*_pays(findings), *_said(findings)]:
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def _ends(version: Version) -> str:
    low, high = ends_of(version)
    if np.isnan([low, high]).all():
        return "–"
    if np.isinf(high):
        return f"at least {format_number(low)}"
    return f"at most {format_number(high)}" if np.isinf(low) else format_interval((low, high))


def report_context(findings: TrackFindings) -> dict[str, Any]:
    """Give what the template ``report/track.html`` shows."""
    noted = any(version.refused for version in findings.versions)
    rows = [
        (
            findings_name(version),
            str(version.system.date or "–"),
            "experts" if version.estimate else findings.run.judge,
            format_number(years_of(version)),
            _ends(version),
            format_number(version.generous),
            *([version.refused] if noted else []),
        )
        for version in findings.versions
    ]
    unit = findings.study.spec.experience_unit
    headings = ("Version", "Date", "By", unit.capitalize(), "Interval or bound", "Too generous by")
    columns = (*headings, "Note") if noted else headings
    newest, before = findings.tracked[-1], findings.tracked[:-1]
    return {
        "title": f"Versions of {findings.of}",
        "study_id": findings.study.spec.id,
        "study_title": findings.study.spec.title,
        "verdict": _sentence(findings, newest),
        "lead": " ".join(_sentence(findings, version) for version in before),
        "calibration": _calibration(findings),
        "pays": _pays(findings),
        "said": _said(findings),
        "numbers": TextTable("Versions", columns, rows, _TOO_GENEROUS, frozenset({1, 2, 6})),
        "captions": CAPTIONS,
        "first_figure": "course",
    }
