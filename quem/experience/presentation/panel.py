"""What is said of a reference panel, and of how its people and the systems were placed on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.experience.virtual_placement import MOST_TIMES_AS_WIDE, times_as_wide
from quem.report.columns import (
    COUNT,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    TEXT,
    Column,
    Columns,
    each,
    null_or,
    of,
)
from quem.report.files import Section
from quem.wording import format_count, format_number, join_words

if TYPE_CHECKING:
    from quem.experience.result import ExperienceFindings
    from quem.experience.virtual_placement import Drift, PanelPlacement, PlacedAnchor


def panel_text(findings: ExperienceFindings) -> str:
    """Say who ranked whom, in a sentence; empty where people were ranked with the systems."""
    on_panel = findings.on_panel
    if on_panel is None:
        return ""
    spec, several = on_panel.panel.spec, len(findings.estimates) > 1
    source = findings.study.spec.panel
    count = source.anchors if source else 0
    who = format_count(on_panel.judges, "new judge")
    when = f", up to {spec.last_ranked_on}" if spec.last_ranked_on else ""
    return (
        f"{who} ranked {'each system' if several else 'it'} with {count} of the "
        f"{len(spec.people)} people of the panel “{spec.title}” on each of "
        f"{format_count(len(on_panel.problems), 'problem')}; "
        f"{format_count(len(spec.judges), 'judge')} had ranked all these people{when}."
    )


def panel_texts(findings: ExperienceFindings) -> list[str]:
    """Say how systems were placed on a panel, and how the new judges see its people."""
    on_panel = findings.on_panel
    if on_panel is None:
        return []
    return [panel_text(findings), *_drift_texts(findings, on_panel), *wide_text(findings)]


def _drift_texts(findings: ExperienceFindings, on_panel: PanelPlacement) -> list[str]:
    drift, unit = on_panel.drift, findings.study.spec.experience_unit
    years = _years(findings, drift)
    if np.isnan(drift.variance):
        texts = [
            "Nobody was an anchor twice, so it is unknown whether the new judges see people "
            "differently; the interval allows for the taste of judges alone."
        ]
    elif drift.variance:
        texts = [
            f"The new judges see people differently by ± {format_number(years)} {unit} (τ); the "
            "interval allows for that."
        ]
    else:
        texts = [
            "Nothing shows that the new judges see people differently (τ = 0), but a shift of 2 "
            "years would be noticed in only about half of such sessions."
        ]
    if np.isfinite(drift.agreement_new):
        text = (
            "Their orders of the panel’s people agree with the old consensus with a mean τ-b of "
            f"{format_number(drift.agreement_new, 2)}"
        )
        if np.isfinite(drift.agreement_old):
            old = format_number(drift.agreement_old, 2)
            text += f"; those of each old judge with the other old judges, {old}"
        texts.append(f"{text}.")
    return texts


def _years(findings: ExperienceFindings, drift: Drift) -> float:
    """Give τ in years, by the slope of the line in the middle of the people."""
    x = np.array([float(findings.function.x.mean())])
    step = 1e-4
    (low,), (high,) = (findings.function.predict(x + way * step) for way in (-1, 1))
    return float(abs(high - low) / (2 * step) * np.sqrt(drift.variance))


def wide_text(findings: ExperienceFindings) -> list[str]:
    """Say of which systems the interval is much wider for other judges."""
    df, level = findings.function.df, findings.settings.level
    wide = [
        findings.name_of(one.system)
        for one in findings.estimates
        if findings.on_panel and times_as_wide(one, df, level) > MOST_TIMES_AS_WIDE
    ]
    if not wide:
        return []
    return [
        f"These judges see the people otherwise, so that the interval of {join_words(wide)} is "
        f"more than {MOST_TIMES_AS_WIDE:g} times as wide; have them rank all people."
    ]


def panel_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on the panel; None where people were ranked with the systems."""
    on_panel = findings.on_panel
    if on_panel is None:
        return None
    text = [
        "The people were not asked again. Judges ranked each system with a few of them, one drawn "
        "from each stratum of consensus rank; its place among these gives a rank among all. Each "
        "person is placed in the same way by the old judges’ rankings, and the line goes through "
        "these virtual places. Agreement, variants by judge, ANOVA, and bootstrap need ranks of "
        "whole groups and are left out.",
        *panel_texts(findings),
        f"Digest of the panel: {on_panel.panel.digest}.",
    ]
    table = _ANCHORS.text_table("Anchors, and how judges place them", on_panel.anchors, findings)
    return Section("panel", "Reference panel", text, (), [table])


_ANCHORS: Columns[PlacedAnchor, ExperienceFindings] = Columns(
    Column("problem", NAME, "id", heading="Problem"),
    Column("person", NAME, "id in the panel", heading="Person"),
    Column("level", NUMBER, "consensus rank by the old judges", heading="Consensus rank"),
    Column("old", NUMBER, "mean score among the other anchors, old judges", heading="Old judges"),
    Column("new", NUMBER, "the same by the new judges", heading="New judges"),
)
_SCORES: Columns[Any, ExperienceFindings] = Columns(
    Column("judge", NAME, "id", of=lambda row, _: row[0][0]),
    Column("problem", NAME, "id", of=lambda row, _: row[0][1]),
    Column("system", NAME, "id", of=lambda row, _: row[0][2]),
    Column("score", NUMBER, "rank among all people", of=lambda row, _: row[1]),
)
_WIDENING: Columns[Any, ExperienceFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, _: row[0]),
    Column("w", NOT_NEGATIVE, "for fewer new judges than old ones", of=lambda row, _: row[1]),
)
_DRIFT: Columns[Drift, ExperienceFindings] = Columns(
    Column(
        "tau2",
        null_or(NOT_NEGATIVE),
        "variance of how the new judges see people otherwise, in squared ranks; null where nobody "
        "was an anchor twice",
        of="variance",
    ),
    Column(
        "years",
        null_or(NOT_NEGATIVE),
        "its root in units of experience",
        of=lambda row, findings: _years(findings, row),
    ),
    Column("ms_between", null_or(NOT_NEGATIVE), "between people", of="between"),
    Column("ms_within", null_or(NOT_NEGATIVE), "within people", of="within"),
    Column("n0", null_or(NOT_NEGATIVE), "values a person", of="values"),
    Column(
        "tau_b_new",
        null_or(NUMBER),
        "mean, of the new judges' orders of anchors with the old consensus",
        of="agreement_new",
    ),
    Column(
        "tau_b_old",
        null_or(NUMBER),
        "mean, of each old judge's with the consensus of the others",
        of="agreement_old",
    ),
)
PANEL: Columns[PanelPlacement, ExperienceFindings] = Columns(
    Column("digest", TEXT, "of the panel", of=lambda row, _: row.panel.digest),
    Column("id", NAME, "of the study that it was made of", of=lambda row, _: row.panel.spec.id),
    Column("people", COUNT, "in the panel", of=lambda row, _: len(row.panel.people)),
    Column("old_judges", COUNT, "who ranked them", of=lambda row, _: len(row.panel.spec.judges)),
    Column("new_judges", COUNT, "who ranked the systems", of="judges"),
    Column("problems", each(NAME), "on which every system was placed"),
    Column("people_as_anchors", COUNT, "people who were an anchor", of=lambda row, _: row.people),
    Column(
        "judge_variance",
        NOT_NEGATIVE,
        "between old judges, of a person's mean score; mean over people, in squared ranks",
    ),
    Column(
        "widening",
        each(_WIDENING),
        "one entry per system; the larger of w and tau2 widens its interval",
        of=lambda row, _: row.widening.items(),
    ),
    Column("drift", of(_DRIFT), "how the new judges see people"),
    Column("anchors", each(_ANCHORS), "one entry per problem and anchor"),
    Column(
        "scores",
        each(_SCORES),
        "one entry per judge, problem, and system",
        of=lambda row, _: row.scores.items(),
    ),
)
