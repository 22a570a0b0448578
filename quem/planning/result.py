"""What a plan consists of, and the result that people read, draw and save."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.planning import closed_form
from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pandas as pd

    from quem.errors import StudyWarning
    from quem.experience.simulation import Noise
    from quem.planning.components import PilotNoise
    from quem.planning.designs import Costs, Designs, StudyDesign
    from quem.planning.planner import PlanAssumptions, SimulatedDesign
    from quem.planning.settings import PlanSettings
    from quem.rankings.loading import Study


@dataclass(frozen=True)
class PlanFindings:
    """A plan."""

    settings: PlanSettings  # what was asked
    source: str  # where the noise is from
    replaced: tuple[str, ...]  # components of it that were given instead
    assumptions: PlanAssumptions
    costs: Costs
    measured: bool  # whether the minutes are those of the pilot's judging session
    # Whether the cost of a solution is the minutes that the pilot's subjects took.
    solution_measured: bool
    unit: str  # of experience
    pilot: Study | None
    components: PilotNoise | None  # of the pilot
    designs: Designs
    shown: tuple[int, ...]  # places of designs worth showing, the cheapest first
    trials: Mapping[int, SimulatedDesign]  # what simulation gave for them
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def level(self) -> float:
        """The level of the interval."""
        return self.assumptions.level

    @property
    def experience_variance(self) -> float:
        """The variance of the subjects' experience, which is taken for uniform."""
        low, high = self.assumptions.experience
        return (high - low) ** 2 / 12

    @property
    def assumed(self) -> bool:
        """Whether nobody said what the noise is."""
        all_replaced = set(self.replaced) == {"person", "solution", "judge", "taste"}
        return self.pilot is None and self.settings.noise is None and not all_replaced

    @property
    def half_width_limit(self) -> float:
        """Half of the interval that no number of subjects, judges and problems makes narrower."""
        noise, variance = self.assumptions.noise, self.experience_variance
        return closed_form.least_half_width(noise, variance, self.level)

    @property
    def limit_of_subjects(self) -> float:
        """The same with no more than the most subjects that were tried."""
        noise, variance = self.assumptions.noise, self.experience_variance
        most = float(self.designs.subjects[-1])
        return closed_form.least_half_width(noise, variance, self.level, most)

    @property
    def person_variance_share(self) -> float:
        """The share of persons in the variance of average quality, in the design to begin with."""
        design, noise = self.designs.at(self.suggested_index), self.assumptions.noise
        total = closed_form.average_variance(noise, design.judges, design.problems)
        return noise.person**2 / float(total) if total else np.nan

    @property
    def recommended(self) -> int | None:
        """The cheapest design that reaches the width, in simulation where that was done."""
        if self.settings.width is None:
            return None
        return next((index for index in self.shown if self.reaches(index)), None)

    @property
    def suggested_index(self) -> int:
        """The design to talk about: recommended, or the nearest, or one in the middle."""
        if self.recommended is not None:
            return self.recommended
        if self.settings.width is not None:
            return self.nearest
        return self.shown[len(self.shown) // 2]

    @property
    def nearest(self) -> int:
        """The design with the narrowest interval: the one with most of everything."""
        return self.designs.largest

    def best_half_width(self, index: int) -> float:
        """Half of the interval: by simulation where it was done, else by the closed form."""
        if index in self.trials:
            return self.trials[index].half_width
        return float(self.designs.half_width.flat[index])

    def reaches(self, index: int) -> bool:
        """Tell whether a design reaches the width: by simulation, where it was done.

        Simulation is read to two decimals, as it is shown: its error is of that order.
        """
        width = self.settings.width
        half_width = self.best_half_width(index)
        if index in self.trials:
            half_width = round(half_width, 2)
        return width is not None and half_width <= width

    @property
    def simulation_error(self) -> float:
        """The largest standard error of a simulated half-width; NaN where unknown."""
        return float(np.max([trial.half_width_error for trial in self.trials.values()] or [np.nan]))

    def design(self, index: int) -> StudyDesign:
        """Give a design by its place."""
        return self.designs.at(index)

    def formula(self, design: StudyDesign, noise: Noise | None = None) -> float:
        """Half of the interval of any design, and with any noise, by the closed form."""
        noise = noise or self.assumptions.noise
        variance = closed_form.average_variance(noise, design.judges, design.problems)
        width = closed_form.half_width(
            design.subjects, variance, self.experience_variance, self.level
        )
        return float(width)


@dataclass(frozen=True, repr=False)
class PlanResult(BaseResult["PlanFindings"]):
    """How large a study has to be."""

    findings: PlanFindings
    kind = "plan"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        plan = self.findings
        design = plan.design(plan.suggested_index)
        return (
            f"<PlanResult: ± {plan.best_half_width(plan.suggested_index):.2f} {plan.unit} with "
            f"{design.subjects} subjects, {design.judges} judges, {design.problems} problems>"
        )

    def simulated(
        self,
        studies: int,
        *,
        jobs: int = 1,
        cluster: str | None = None,
        done: Callable[[], object] = lambda: None,
    ) -> PlanResult:
        """Try the designs shown on simulated studies."""
        from quem.parallel import Workers
        from quem.planning.planner import simulate_plan

        settings = self.findings.settings.model_copy(update={"simulate": studies})
        plan = replace(self.findings, settings=settings)
        return PlanResult(simulate_plan(plan, workers=Workers(jobs, cluster), done=done))

    @staticmethod
    def presentation() -> Presentation[PlanFindings]:
        """Say how the results are shown."""
        from quem.planning.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: those of the pilot."""
        return self.findings.pilot.files if self.findings.pilot else ()

    @property
    def designs(self) -> pd.DataFrame:
        """One row per design worth showing, the cheapest first."""
        return self.table("designs")

    @property
    def all_designs(self) -> pd.DataFrame:
        """One row per design that was tried, by the closed form."""
        return self.table("all-designs")

    def simulation_summary(self) -> str:
        """Say what simulation adds to the closed form, as text."""
        from quem.planning.presentation.summary import simulation_text

        return simulation_text(self.findings)
