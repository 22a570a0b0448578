"""A plan as text for a terminal, in words that the report uses too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.wording import (
    align_columns,
    format_number,
    format_percent,
    format_probability,
    join_words,
)

if TYPE_CHECKING:
    from quem.planning.result import PlanFindings

_SDS = {
    "person": "between persons of equal experience",
    "solution": "person × problem",
    "judge": "judge residual",
    "taste": "judge × solver",
}


def summary_text(plan: PlanFindings) -> str:
    """Write the plan, what it is based on, and its warnings, as text."""
    lines = [title(plan), "", *(f"  {line}" for line in answer(plan)), "", table_title(plan)]
    lines += [f"  {line}" for line in align_columns([columns(plan), *rows(plan)], words=())]
    lines += ["", "Based on", *(f"  {line}" for line in basis(plan))]
    lines += ["", "Effect of doubling each count (closed form)"]
    lines += [f"  {line}" for line in growth(plan)]
    return "\n".join(lines)


def simulation_text(plan: PlanFindings) -> str:
    """Say what simulation adds to the closed form."""
    lines = [simulated_text(plan), ""]
    lines += [f"  {line}" for line in answer(plan)]
    lines += ["", *(f"  {line}" for line in align_columns([columns(plan), *rows(plan)], words=()))]
    return "\n".join(lines)


def simulated_text(plan: PlanFindings) -> str:
    """How many studies were simulated."""
    studies = next(iter(plan.trials.values())).studies
    return f"{studies:,} simulated stud{'y' if studies == 1 else 'ies'} of each design"


def title(plan: PlanFindings) -> str:
    """What is planned for."""
    text = f"Plan for a {format_percent(plan.level)} prediction interval"
    if plan.settings.width is not None:
        text += f" of ± {plan.settings.width:g} {plan.unit} or less (half-width)"
    return text


def answer(plan: PlanFindings) -> list[str]:
    """What to do, in a line or two."""
    index, width = plan.suggested_index, plan.settings.width
    by = "in simulation" if index in plan.trials else "by the closed form"
    gives = f"± {format_number(plan.best_half_width(index), 2)} {plan.unit} {by}"
    design = plan.design(index).words
    if width is None:
        return [f"For example {design}: {gives}"]
    if plan.recommended is None:
        return [f"No design in the search reaches the target. Nearest: {design}, {gives}"]
    lines = [f"{design}: {gives}"]
    return [*lines, power_text(plan)] if plan.assumptions.difference is not None else lines


def power_text(plan: PlanFindings) -> str:
    """The power of the suggested design."""
    index = plan.suggested_index
    trial = plan.trials.get(index)
    power = trial.power if trial else float(plan.designs.power.flat[index])
    if power != power:  # noqa: PLR0124  NaN: one problem
        return "This design cannot test two systems, which needs two problems"
    return (
        f"Power to detect a difference of {plan.assumptions.difference:g} {plan.unit}, in the "
        "right direction, with the test that `quem compare` chooses, two-sided at 5%: "
        f"{format_probability(power)}"
    )


def table_title(plan: PlanFindings) -> str:
    """What the designs shown are."""
    if plan.settings.width is None:
        return "Narrowest interval at each cost, cheapest first"
    if plan.recommended is None:
        return "Narrowest interval at each cost, cheapest first (none reaches the target)"
    return "Minimal designs that reach the target (no count can be reduced), cheapest first"


def columns(plan: PlanFindings) -> tuple[str, ...]:
    """The columns of the table of designs."""
    names = ["subjects", "judges", "problems", "half-width"]
    with_power = plan.assumptions.difference is not None
    if plan.trials:
        names += ["simulated", "coverage"]
    if with_power:
        names.append(f"power for {plan.assumptions.difference:g}")
    if plan.settings.width is not None:
        names.append("meets target")
    return (*names, "hours per judge", "cost")


def rows(plan: PlanFindings) -> list[tuple[str, ...]]:
    """The designs shown, as texts."""
    designs = plan.designs
    table = []
    for index in plan.shown:
        trial = plan.trials.get(index)
        row = [f"{count}" for count in plan.design(index)]
        row.append(f"± {format_number(float(designs.half_width.flat[index]), 2)}")
        power = float(designs.power.flat[index])
        if plan.trials:
            row += (
                [f"± {format_number(trial.half_width, 2)}", f"{100 * trial.coverage:.1f}%"]
                if trial
                else ["–", "–"]
            )
            power = trial.power if trial else power
        if plan.assumptions.difference is not None:
            row.append("–" if power != power else format_probability(power))  # noqa: PLR0124  NaN
        if plan.settings.width is not None:
            row.append("yes" if plan.reaches(index) else "no")
        row += [format_number(float(designs.hours.flat[index])), f"{designs.cost.flat[index]:,.0f}"]
        table.append(tuple(row))
    return table


def basis(plan: PlanFindings) -> list[str]:
    """What the plan is based on, one line each."""
    used, unit = plan.assumptions, plan.unit
    noise = ", ".join(
        f"{what} {format_number(getattr(used.noise, name), 2)}" for name, what in _SDS.items()
    )
    low, high = map(format_number, used.experience)
    of_pilot = plan.components is not None and not plan.settings.experience
    like = " (mean and variance are those of the pilot's)" if of_pilot else ""
    lines = [
        f"SDs in {unit}: {noise} ({_source(plan)})",
        f"subjects' experience drawn uniformly from {low} to {high} {unit}{like}; "
        f"{used.systems} system{'s' if used.systems != 1 else ''}",
        _cost_text(plan),
    ]
    if plan.trials:
        lines.append(f"{simulated_text(plan)} (seed {plan.settings.seed})")
    return lines


def _source(plan: PlanFindings) -> str:
    source = plan.source if plan.source != "pilot" else "estimated from the pilot"
    if plan.assumed:
        source = f"assumed: {source}"
    if len(plan.replaced) == len(_SDS):
        return "as given"
    if plan.replaced:
        source += f"; {join_words(plan.replaced)} as given"
    return source


def _cost_text(plan: PlanFindings) -> str:
    costs, settings = plan.costs, plan.settings
    how = f"{costs.minutes:.3g} minutes"
    how += " as measured in the pilot's judging session" if plan.measured else ""
    return (
        f"cost in minutes of work: {costs.solution:.3g} for a subject's solution "
        f"({'as measured in the pilot' if plan.solution_measured else 'assumed'}), "
        f"{how} to place a solution{'' if plan.measured or settings.minutes else ' (assumed)'}"
    )


def growth(plan: PlanFindings) -> list[str]:
    """The effect of doubling each count, and the limit of all designs, one line each."""
    design = plan.design(plan.suggested_index)
    lines = [f"{design.words}: ± {format_number(plan.formula(design), 2)} {plan.unit}"]
    for name in ("subjects", "problems", "judges"):
        twice = design._replace(**{name: 2 * getattr(design, name)})
        lines.append(f"2 × {name}: ± {format_number(plan.formula(twice), 2)}")
    if plan.half_width_limit == 0:
        why = "because the between-person SD, which sets the limit, is 0"
    else:
        why = (
            "set by differences between people of equal experience "
            f"({100 * plan.person_variance_share:.0f}% of the error variance of an average rank)"
        )
    limit = f"± {format_number(plan.half_width_limit, 2)}, {why}"
    return [*lines, f"limit with unlimited subjects, judges, and problems: {limit}"]
