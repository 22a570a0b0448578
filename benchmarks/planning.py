"""How good plans are: the closed form against simulation, and pilots against the truth.

``python benchmarks/planning.py`` prints two tables of docs/explanation/simulations.md, in two
minutes.
"""

from __future__ import annotations

import numpy as np

from quem.experience.simulation import NOISES, Noise, Scenario, simulate
from quem.planning.closed_form import average_variance, half_width
from quem.planning.closed_form import power as power_by_formula
from quem.planning.components import ComponentsError, estimate_components
from quem.planning.designs import StudyDesign
from quem.planning.planner import PlanAssumptions, try_design

_RANGE = (1.0, 12.0)
_VARIANCE = (_RANGE[1] - _RANGE[0]) ** 2 / 12
_STUDIES = 4000
_PILOTS = 1000
_DIFFERENCE = 2.0
_PLANNED = StudyDesign(12, 3, 6)


def main() -> None:
    """Print both tables as Markdown."""
    print("| subjects | judges | problems | low noise | high noise | power, low | power, high |")
    print("|---|---|---|---|---|---|---|")
    for subjects in (5, 7, 12, 20, 40):
        for judges, problems in ((2, 3), (3, 6), (5, 12)):
            print(_against_simulation(StudyDesign(subjects, judges, problems)))
    print()
    print("| noise | pilot | person | solution | judge | taste | interval covers | planned |")
    print("|---|---|---|---|---|---|---|---|")
    for name, noise in NOISES.items():
        print(_truth(name, noise))
        for pilot in (
            StudyDesign(7, 2, 3),
            StudyDesign(12, 3, 6),
            StudyDesign(20, 3, 6),
            StudyDesign(20, 5, 12),
        ):
            print(_recovered(name, noise, pilot))


def _against_simulation(design: StudyDesign) -> str:
    widths, powers = [], []
    for noise in NOISES.values():
        trial = try_design(design, PlanAssumptions(noise, _RANGE, 1, _DIFFERENCE), studies=_STUDIES)
        formula = _formula(design, noise)
        percent = 100 * (trial.half_width / formula - 1)
        widths.append(f"{formula:.2f}, {trial.half_width:.2f} ({percent:+.0f}%)")
        power = float(power_by_formula(noise, design.judges, design.problems, _DIFFERENCE))
        powers.append(f"{100 * power:.0f}, {100 * trial.power:.0f}")
    return f"| {' | '.join([*map(str, design), *widths, *powers])} |"


def _formula(design: StudyDesign, noise: Noise, variance: float = _VARIANCE) -> float:
    return float(
        half_width(
            design.subjects, average_variance(noise, design.judges, design.problems), variance
        )
    )


def _truth(name: str, noise: Noise) -> str:
    values = [noise.person, noise.solution, noise.judge, noise.taste]
    width = f"{_formula(_PLANNED, noise):.2f}"
    return f"| {' | '.join([name, 'the truth', *map(str, values), '', width])} |"


def _recovered(name: str, noise: Noise, pilot: StudyDesign) -> str:
    """Medians over simulated pilots, and what they would plan."""
    scenario = Scenario(pilot.subjects, pilot.judges, pilot.problems, noise=noise)
    simulated = simulate(scenario, _PILOTS, seed=1)
    components, planned, covered = [], [], []
    for ranks, experience in zip(simulated.ranks, simulated.experience, strict=True):
        try:
            estimate = estimate_components(ranks[..., : pilot.subjects], experience)
        except ComponentsError:
            continue
        own = estimate.noise
        components.append([own.person, own.solution, own.judge, own.taste])
        low, high = estimate.experience
        planned.append(_formula(_PLANNED, own, (high - low) ** 2 / 12))
        covered.append(estimate.person_interval[0] <= noise.person <= estimate.person_interval[1])
    medians = [f"{value:.2f}" for value in np.median(components, axis=0)]
    tenth, middle, ninetieth = np.quantile(planned, [0.1, 0.5, 0.9])
    size = f"{pilot.subjects} × {pilot.judges} × {pilot.problems}"
    planned_text = f"{middle:.2f} ({tenth:.2f} to {ninetieth:.2f})"
    share = f"{100 * np.mean(covered):.0f}%"
    return f"| {' | '.join([name, size, *medians, share, planned_text])} |"


if __name__ == "__main__":
    main()
