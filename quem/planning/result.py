"""A plan, as what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from quem.errors import StudyWarning
    from quem.planning.findings import PlanFindings

__all__ = ["PlanResult"]


@dataclass(frozen=True, repr=False)
class PlanResult(BaseResult["PlanFindings"]):
    """How large a study has to be."""

    findings: PlanFindings
    kind = "plan"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        plan = self.findings
        design = plan.design(plan.reference)
        return (
            f"<PlanResult: ± {plan.best_half_width(plan.reference):.2f} {plan.unit} with "
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
        """Try the designs shown on simulated studies.

        Parameters
        ----------
        studies : int
            How many of each design.
        jobs : int
            Processes.
        cluster : str, optional
            Address of a Dask scheduler, whose workers simulate instead.
        done : callable
            Called after each design.
        """
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
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.warnings

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
