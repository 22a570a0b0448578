"""A plan, as what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quem.report.result import BaseResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import StudyWarning
    from quem.planning.findings import PlanFindings

__all__ = ["PlanResult"]


@dataclass(frozen=True, repr=False)
class PlanResult(BaseResult):
    """How large a study has to be.

    Parameters
    ----------
    findings : PlanFindings
        Every number, as plain results.
    """

    findings: PlanFindings
    kind = "plan"
    figure_stems = ("reach", "growth")
    table_stems = ("designs", "all-designs")

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        found = self.findings
        design = found.design(found.reference)
        return (
            f"<PlanResult: ± {found.best_half_width(found.reference):.2f} {found.unit} with "
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
        found = replace(self.findings, settings=settings)
        return PlanResult(simulate_plan(found, workers=Workers(jobs, cluster), done=done))

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
        """One row a design worth showing, the cheapest first."""
        from quem.planning.presentation.tables import designs_table

        return designs_table(self.findings)

    @property
    def all_designs(self) -> pd.DataFrame:
        """One row a design that was looked at, by the closed form."""
        from quem.planning.presentation.tables import all_designs_table

        return all_designs_table(self.findings)

    def summary(self, *, warnings: bool = True) -> str:
        """Say the plan, what it rests on and, unless told not to, the warnings, as text."""
        from quem.planning.presentation.summary import summary_text

        return summary_text(self.findings, warnings=warnings)

    def simulation_summary(self) -> str:
        """Say what simulation adds to the closed form, as text."""
        from quem.planning.presentation.summary import simulation_text

        return simulation_text(self.findings)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem."""
        return {"designs": self.designs, "all-designs": self.all_designs}

    def figures(self) -> dict[str, Figure]:
        """Draw every figure, by file stem."""
        drawn = {"reach": self.plot_reach(), "growth": self.plot_growth()}
        return {stem: figure for stem, figure in drawn.items() if figure is not None}

    def plot_reach(self) -> Figure | None:
        """Draw the half-width over subjects and problems, a panel for each number of judges.

        None where only one number of subjects or of problems was looked at.
        """
        from quem.planning.presentation.figures import reach

        return reach(self.findings)

    def plot_growth(self) -> Figure:
        """Draw what more subjects, more problems and more judges would give."""
        from quem.planning.presentation.figures import growth

        return growth(self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Give the content of analysis.json."""
        from quem.planning.presentation.tables import plan_dict

        return plan_dict(self.findings)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        from quem.planning.presentation.sections import report_context

        return report_context(self.findings)
