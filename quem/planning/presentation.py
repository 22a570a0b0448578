"""Presentation of plans: analysis.json, tables, terminal, page, and figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from quem.planning.designs import Design
from quem.planning.pilot import Pilot
from quem.planning.settings import PlanSettings
from quem.report.drawing import INK, LINE, MUTED, SYSTEMS, tidy, with_style
from quem.report.result import Presentation
from quem.report.rows import Entry, RowDocument, RowTable, StudyRecord
from quem.wording import align_columns, format_count, format_number, format_percent, join_words

if TYPE_CHECKING:
    from quem.planning.result import PlanFindings

_SDS = {
    "person": "between persons of equal experience",
    "solution": "person × problem",
    "judge": "judge residual",
    "taste": "judge × solver",
}
_TABLE = "Narrowest interval for the hours, fewest first"
_WANTED = SYSTEMS[0]
_CAPTION = (
    "Half-width by the closed form when one number changes and the other two stay. Dashed: what is "
    "wanted; dotted: what no number of anything goes below. A circle is the simulated half-width."
)


def _title(plan: PlanFindings) -> str:
    """The title of the plan."""
    text = f"Plan for {format_percent(plan.used.level)} intervals"
    width = plan.asked.width
    return text if width is None else f"{text} of ± {width:g} {plan.unit} or less (half-width)"


def _answer(plan: PlanFindings) -> list[str]:
    """Sentences on the design and its expected results."""
    of, has_width = plan.suggested, plan.asked.width is not None
    how = "by the closed form" if of.says is None else "in simulation"
    text = f"{of.design}: ± {format_number(of.half_width, 2)} {plan.unit} {how}."
    if not has_width:
        text = f"For example {text}"
    elif plan.recommended is None:
        text = f"No design in the search reaches the target. Nearest: {text}"
    hours = f"{format_number(of.hours_per_subject)} hours per subject and "
    hours += f"{format_number(of.hours_per_judge)} hours per judge."
    if of.says is None:
        return [text, hours]
    return [text, f"Years are stated in {100 * of.says:.0f}% of the studies; {hours}"]


def _basis(plan: PlanFindings) -> list[str]:
    """The assumptions of the plan, one per line."""
    used, of = plan.used, plan.used.population
    sds = ", ".join(
        f"{what} {format_number(getattr(used.noise, name), 2)}" for name, what in _SDS.items()
    )
    source = "estimated from the pilot" if plan.pilot else f"assumed: {plan.asked.noise or 'low'}"
    if plan.replaced:
        source += f"; {join_words(plan.replaced)} as given"
    low, high = (f"{end:.3g}" for end in used.experience)
    whom = "drawn as the subjects are, since no population is declared"
    if of:
        whom = f"drawn from the declared population, {of.low:g} to {of.high:g} {plan.unit}"
    lines = [
        f"SDs in {plan.unit}: {sds} ({source})",
        f"subjects' experience drawn uniformly from {low} to {high} {plan.unit}",
        f"{format_count(used.systems, 'system')}, {whom}",
        f"{used.minutes:.3g} minutes to place a solution, {used.solving_minutes:.3g} to solve a "
        "problem",
        f"no number of subjects, judges, and problems goes below ± {format_number(used.limit, 2)}",
    ]
    simulated = f"{plan.asked.simulate:,} simulated studies of each design"
    return [*lines, f"{simulated} (seed {plan.asked.seed})"] if plan.asked.simulate else lines


def summary_text(plan: PlanFindings) -> str:
    """The terminal summary."""
    table = Design.text_table(plan.designs)
    lines = align_columns([tuple(map(str.lower, table.columns)), *table.rows])
    parts = [_title(plan), "", *(f"  {line}" for line in _answer(plan)), "", _TABLE]
    parts += [*(f"  {line}" for line in lines), "", "Based on"]
    return "\n".join([*parts, *(f"  {line}" for line in _basis(plan))])


def report_context(plan: PlanFindings) -> dict[str, Any]:
    """The variables of the template ``report/plan.html``."""
    spec = plan.study.spec if plan.study else None
    note = (
        "Half-width: of the interval that is stated, the median of simulated studies. Years "
        "stated: the share of studies that state any. Cover: the share of their intervals that "
        "include the truth. Hours per judge: to rank all solutions once."
    )
    return {
        "title": _title(plan),
        "study_id": spec.id if spec else "",
        "study_title": spec.title if spec else "",
        "unit": plan.unit,
        "lead": _answer(plan)[1:],
        "design": plan.suggested.design,
        "half_width": format_number(plan.suggested.half_width, 2),
        "table_of_designs": Design.text_table(plan.designs, _TABLE, note),
        "basis": _basis(plan),
        "captions": {"growth": _CAPTION},
    }


def growth(plan: PlanFindings) -> Figure:
    """The half-width by number of subjects, problems, or judges, with the others fixed."""
    design, used, width = plan.suggested, plan.used, plan.asked.width or 0.0
    size = dict(zip(("subjects", "judges", "problems"), design.size, strict=True))
    now = design.by_formula
    height = 1.6 * max(now, min(width, 2 * now))
    with with_style():
        figure = Figure(figsize=(7.4, 2.75))
        axes = figure.subplots(1, 3, sharey=True)
        figure.subplots_adjust(left=0.085, right=0.985, bottom=0.19, top=0.87, wspace=0.1)
        for at, name in zip(axes, ("subjects", "problems", "judges"), strict=True):
            count = size[name]
            counts = np.arange(min(4 if name == "subjects" else 1, count), 2 * count + 7)
            curve = used.half_width(*(counts if of == name else size[of] for of in size))
            at.plot(counts, curve, color=LINE, linewidth=2)
            at.plot([count], [now], "D", color=_WANTED, markersize=6.5)
            if design.says is not None:
                at.plot([count], [design.half_width], "o", color="none", markeredgecolor=INK)
            for value, style, color, text in (
                (width, "--", _WANTED, "wanted"),
                (used.limit, ":", MUTED, "limit"),
            ):
                if value and value < height:
                    at.axhline(value, linestyle=style, color=color, linewidth=1.2)
                    label = f"{text} ± {format_number(value, 2)}"
                    place = {"xycoords": at.get_yaxis_transform(), "fontsize": 7.5, "ha": "right"}
                    at.annotate(label, (1, value), (1, value), color=color, va="bottom", **place)
            others = [f"{n} {what}" for what, n in size.items() if what != name]
            at.set_title(" and ".join(others), fontweight="normal")
            at.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
            tidy(at, x=name, grid="both")
        axes[0].set_ylim(0, height or 1)
        axes[0].set_ylabel(f"half-width, ± {plan.unit}")
    return figure


_DOCUMENT = RowDocument(
    "plan",
    PlanSettings,
    study=Entry(
        "study",
        "the pilot; null without one",
        StudyRecord,
        lambda plan: plan.study and StudyRecord.taken_from(plan.study.spec),
        many=False,
        always=True,
        null=True,
    ),
    entries=(
        Entry("pilot", "only with a pilot", Pilot, lambda plan: plan.pilot, many=False),
        Entry(
            "recommended",
            "the first of `designs` that meets the target; only where one does",
            Design,
            lambda plan: plan.recommended,
            many=False,
        ),
        Entry(
            "designs",
            "designs worth showing, fewest hours first",
            Design,
            lambda plan: plan.designs,
        ),
    ),
)
PRESENTATION: Presentation[Any] = Presentation(
    _DOCUMENT,
    (
        RowTable(
            "designs",
            "one row per design shown, fewest hours first",
            Design,
            lambda plan: plan.designs,
        ),
    ),
    {"growth": growth},
    summary_text,
    report_context,
)
