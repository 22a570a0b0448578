"""What came out, in one table for the first screen of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.experience.comparison.showing.phrases import (
    TEST_NAMES,
    bare_p,
    bound_text,
    estimate_text,
    names_of,
    rank_interval,
    step_text,
    years_interval,
)
from quem.experience.wording import percent, signed
from quem.report.canvas import short
from quem.report.layout import TextTable

if TYPE_CHECKING:
    from quem.experience.comparison.findings import Comparison

__all__ = ["answers_table", "less", "steps_table"]

_FIRST = 10
_LONGEST = 36


def less(b: str, a: str) -> str:
    """Name a difference: "Bot 2 − Bot 1", shortened where names are long."""
    return f"{short(b, _LONGEST)} − {short(a, _LONGEST)}"


def answers_table(found: Comparison) -> TextTable | None:
    """Say what came out in one table, for the first screen; None where help alone is measured."""
    if found.pairs:
        return _answers_of_pairs(found)
    if found.apart:
        rows = [
            (
                less(found.name_of(apart.b), found.name_of(apart.a)),
                signed(apart.years),
                bound_text(apart),
                bare_p(apart.p_holm),
            )
            for apart in found.apart[:_FIRST]
        ]
        columns = (
            "Difference",
            found.unit.capitalize(),
            f"{percent(found.level)} interval",
            "Adjusted p",
        )
        return TextTable("Independent estimates", columns, rows, _more(len(found.apart)))
    if found.progressions:
        return steps_table(found)
    return None


def _answers_of_pairs(found: Comparison) -> TextTable:
    """The differences in rank, and in years with their intervals if there are any."""
    names = names_of(found)
    shown = found.pairs[:_FIRST]
    by_worths = any(pair.years.interval for pair in shown)
    rows = [
        (
            less(names[pair.b], names[pair.a]),
            signed(pair.paired.mean, 2),
            *(
                (signed(pair.years.by_worths), years_interval(pair))
                if by_worths
                else (rank_interval(pair.interval), signed(pair.years.years))
            ),
            bare_p(pair.p_holm),
        )
        for pair in shown
    ]
    unit, interval = found.unit.capitalize(), f"{percent(found.level)} interval"
    middle = (f"{unit} by worths", interval) if by_worths else (interval, unit)
    columns = ("Difference", "Average rank", *middle, "Adjusted p")
    title = TEST_NAMES[found.test]
    return TextTable(title[:1].upper() + title[1:], columns, rows, _more(len(found.pairs)))


def _more(count: int) -> str:
    return f"The first {_FIRST} of {count:,}; all are below." if count > _FIRST else ""


def steps_table(found: Comparison) -> TextTable:
    """List the versions of every system in order, with the step to each from the one before."""
    rows = []
    for progression in found.progressions:
        for version, step in zip(progression.versions, (None, *progression.steps), strict=True):
            rows.append(
                (
                    found.name_of(version),
                    str(version.date) if version.date else "–",
                    estimate_text(version),
                    step_text(step) if step else "–",
                    bare_p(step.p) if step else "–",
                    bare_p(step.p_holm) if step else "–",
                )
            )
    columns = ("Version", "Date", found.unit.capitalize(), "Step", "p", "Adjusted p")
    return TextTable("Versions in order", columns, rows, words=frozenset({1}))
