"""The result of a plan."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from quem.planning.settings import COMPONENTS, PlanSettings
from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.errors import StudyWarning
    from quem.planning.designs import Assumptions, Design
    from quem.planning.pilot import Pilot
    from quem.rankings.loading import Study
    from quem.studyfile.models import ReferencePopulation


@dataclass(frozen=True)
class PlanFindings:
    """A plan."""

    asked: PlanSettings
    declared: ReferencePopulation | None
    study: Study | None  # the pilot
    pilot: Pilot | None
    used: Assumptions
    designs: tuple[Design, ...]  # to show, those of fewest hours first
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def settings(self) -> PlanSettings:
        """The settings as used."""
        names = ("experience", "systems", "minutes", "solving_minutes", "level")
        used = {name: getattr(self.used, name) for name in names}
        used["reference_population"] = self.declared
        used["noise"] = None if self.pilot else self.asked.noise or "low"
        return self.asked.model_copy(update=used | asdict(self.used.noise))

    @property
    def unit(self) -> str:
        """The unit of experience."""
        return self.study.spec.experience_unit if self.study else "years"

    @property
    def replaced(self) -> tuple[str, ...]:
        """The components of the noise that were given."""
        return tuple(name for name in COMPONENTS if getattr(self.asked, name) is not None)

    @property
    def recommended(self) -> Design | None:
        """The design of fewest hours that reaches the width."""
        return next((design for design in self.designs if design.reaches), None)

    @property
    def nearest(self) -> Design:
        """The design with the narrowest interval."""
        return min(self.designs, key=lambda design: design.half_width)

    @property
    def suggested(self) -> Design:
        """The design in the text: recommended, or the nearest, or one in the middle."""
        if self.asked.width is None:
            return self.designs[len(self.designs) // 2]
        return self.recommended or self.nearest


@dataclass(frozen=True, repr=False)
class PlanResult(BaseResult["PlanFindings"]):
    """The necessary size of a study."""

    findings: PlanFindings
    kind = "plan"

    def __repr__(self) -> str:
        """One line; see `summary`."""
        of = self.findings.suggested
        return f"<PlanResult: ± {of.half_width:.2f} {self.findings.unit} with {of.design}>"

    @staticmethod
    def presentation() -> Presentation[PlanFindings]:
        """The presentation of the results."""
        from quem.planning.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The input files: those of the pilot."""
        return self.findings.study.files if self.findings.study else ()

    @property
    def designs(self) -> pd.DataFrame:
        """One row per shown design, that of fewest hours first."""
        return self.table("designs")
