"""What the report of a plan shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.planning.presentation.figures import CAPTIONS
from quem.planning.presentation.summary import (
    answer,
    basis,
    columns,
    growth,
    power_text,
    rows,
    simulated_text,
    table_title,
    title,
)
from quem.report.layout import TextTable
from quem.wording import format_number, format_p, format_percent

if TYPE_CHECKING:
    from quem.planning.findings import PlanFindings

__all__ = ["report_context"]


def report_context(found: PlanFindings) -> dict[str, Any]:
    """Give what the template ``report/plan.html`` shows.

    Parameters
    ----------
    found : PlanFindings
    """
    index = found.reference
    reached = found.settings.width is None or found.recommended is not None
    return {
        "title": title(found),
        "study_id": found.pilot.spec.id if found.pilot else "",
        "study_title": found.pilot.spec.title if found.pilot else "",
        "unit": found.unit,
        "lead": answer(found),
        "details": _details(found),
        "reached": reached,
        "design": found.design(index).words,
        "half_width": format_number(found.best_half_width(index), 2),
        "simulated": bool(found.trials),
        "table_of_designs": _designs_table(found),
        "growth": growth(found),
        "basis": basis(found),
        "noise": _noise_table(found),
        "pilot": _pilot_text(found),
        "captions": CAPTIONS,
    }


def _details(found: PlanFindings) -> list[str]:
    """What the number in large letters is, as sentences."""
    index, width = found.reference, found.settings.width
    by = "in simulation" if index in found.trials else "by the closed form"
    what = f"Expected half-width of the {format_percent(found.level)} prediction interval, {by}"
    if width is not None and found.recommended is not None:
        what += f"; ± {width:g} or less is wanted, and no cheaper design shown gives it"
    told = [f"{what}."]
    if found.circumstances.difference is not None:
        told.append(f"{power_text(found)}.")
    return told


def _designs_table(found: PlanFindings) -> TextTable:
    """The designs shown, each named by its size."""
    return TextTable(
        table_title(found),
        ("design", *columns(found)[3:]),
        [
            (found.design(index).words, *row[3:])
            for index, row in zip(found.shown, rows(found), strict=True)
        ],
        _note(found),
    )


def _note(found: PlanFindings) -> str:
    text = "Half-width: by the closed form; the interval is the estimate ± so much. "
    if found.trials:
        text += (
            f"{simulated_text(found)}, with systems that differ from their experience as people "
            "do; simulated: their mean half-width, whose standard error is at most "
            f"{format_number(found.simulation_error, 2)}; covers: the share of intervals that held "
            "the "
            "truth. "
        )
    if found.circumstances.difference is not None:
        text += (
            "Power: how often the t test over problems (two-sided, at 5%) finds the better of two "
            f"systems that are {found.circumstances.difference:g} {found.unit} apart. "
        )
    return f"{text}Hours a judge: to place all solutions once."


def _noise_table(found: PlanFindings) -> TextTable:
    """Each component, with what it means and what averages it out."""
    noise = found.circumstances.noise
    meanings = {
        "person": ("better or worse than others of that experience", "nothing"),
        "solution": ("better or worse on one problem", "problems"),
        "judge": ("one judge's impression of one solution", "judges, problems"),
        "taste": ("one judge's liking for one solver's style", "judges"),
    }
    return TextTable(
        f"The noise, as standard deviations in {found.unit}",
        ("component", found.unit, "what it is", "averaged out by"),
        [
            (name, format_number(getattr(noise, name), 2), meaning, by)
            for name, (meaning, by) in meanings.items()
        ],
        words=frozenset({2, 3}),
    )


def _pilot_text(found: PlanFindings) -> str:
    told = found.components
    if told is None or found.pilot is None:
        return ""
    low, high = told.person_interval
    return (
        f"The noise was estimated from {found.pilot.spec.title}: {told.subjects} subjects, "
        f"{told.judges} judge{'s' if told.judges != 1 else ''}, {told.problems} "
        f"problem{'s' if told.problems != 1 else ''}. There the average rank rose by "
        f"{format_number(told.ranks_per_year, 2)} a unit of experience ({format_p(told.p_value)}), "
        "by which "
        f"the variance components of its ranks were brought to {found.unit}. That of persons is "
        f"between {format_number(low, 2)} and {format_number(high, 2)} with about 90% confidence."
    )
