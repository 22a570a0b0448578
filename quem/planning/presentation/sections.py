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
from quem.report.files import TextTable
from quem.wording import format_number, format_p, format_percent

if TYPE_CHECKING:
    from quem.planning.result import PlanFindings


def report_context(plan: PlanFindings) -> dict[str, Any]:
    """Give what the template ``report/plan.html`` shows."""
    index = plan.suggested_index
    reached = plan.settings.width is None or plan.recommended is not None
    return {
        "title": title(plan),
        "study_id": plan.pilot.spec.id if plan.pilot else "",
        "study_title": plan.pilot.spec.title if plan.pilot else "",
        "unit": plan.unit,
        "lead": answer(plan),
        "details": _details(plan),
        "reached": reached,
        "design": plan.design(index).words,
        "half_width": format_number(plan.best_half_width(index), 2),
        "simulated": bool(plan.trials),
        "table_of_designs": _designs_table(plan),
        "growth": growth(plan),
        "basis": basis(plan),
        "noise": _noise_table(plan),
        "pilot": _pilot_text(plan),
        "captions": CAPTIONS,
    }


def _details(plan: PlanFindings) -> list[str]:
    """What the number in large letters is, as sentences."""
    index, width = plan.suggested_index, plan.settings.width
    by = "in simulation" if index in plan.trials else "by the closed form"
    what = f"Expected half-width of the {format_percent(plan.level)} prediction interval, {by}"
    if width is not None and plan.recommended is not None:
        what += f"; ± {width:g} or less is wanted, and no cheaper design shown gives it"
    sentences = [f"{what}."]
    if plan.assumptions.difference is not None:
        sentences.append(f"{power_text(plan)}.")
    return sentences


def _designs_table(plan: PlanFindings) -> TextTable:
    """The designs shown, each named by its size."""
    return TextTable(
        table_title(plan),
        ("design", *columns(plan)[3:]),
        [
            (plan.design(index).words, *row[3:])
            for index, row in zip(plan.shown, rows(plan), strict=True)
        ],
        _note(plan),
    )


def _note(plan: PlanFindings) -> str:
    text = "Half-width: by the closed form; the interval is the estimate ± half-width. "
    if plan.trials:
        text += (
            f"{simulated_text(plan)}, with systems that differ from their experience as people "
            "do; simulated: their mean half-width, whose standard error is at most "
            f"{format_number(plan.simulation_error, 2)}; covers: the share of intervals that held "
            "the "
            "truth. "
        )
    if plan.assumptions.difference is not None:
        text += (
            "Power: how often the test that `quem compare` chooses (two-sided, at 5%) finds the "
            "better of two "
            f"systems that are {plan.assumptions.difference:g} {plan.unit} apart. "
        )
    return f"{text}Hours a judge: to place all solutions once."


def _noise_table(plan: PlanFindings) -> TextTable:
    """Each component, with what it means and what averages it out."""
    noise = plan.assumptions.noise
    meanings = {
        "person": ("better or worse than others of that experience", "nothing"),
        "solution": ("better or worse on one problem", "problems"),
        "judge": ("one judge's impression of one solution", "judges, problems"),
        "taste": ("one judge's liking for one solver's style", "judges"),
    }
    return TextTable(
        f"The noise, as standard deviations in {plan.unit}",
        ("component", plan.unit, "what it is", "averaged out by"),
        [
            (name, format_number(getattr(noise, name), 2), meaning, by)
            for name, (meaning, by) in meanings.items()
        ],
        words=frozenset({2, 3}),
    )


def _pilot_text(plan: PlanFindings) -> str:
    pilot = plan.components
    if pilot is None or plan.pilot is None:
        return ""
    low, high = pilot.person_interval
    return (
        f"The noise was estimated from {plan.pilot.spec.title}: {pilot.subjects} subjects, "
        f"{pilot.judges} judge{'s' if pilot.judges != 1 else ''}, {pilot.problems} "
        f"problem{'s' if pilot.problems != 1 else ''}. There the average rank rose by "
        f"{format_number(pilot.ranks_per_year, 2)} a unit of experience "
        f"({format_p(pilot.p_value)}), by which "
        f"the variance components of its ranks were brought to {plan.unit}. That of persons is "
        f"between {format_number(low, 2)} and {format_number(high, 2)} with about 90% confidence."
    )
