"""Everything that a comparison finds, as plain results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from quem.comparison.assistance import Uplift
    from quem.comparison.independent import Apart
    from quem.comparison.pairs import Pair
    from quem.comparison.system_estimates import Standing
    from quem.comparison.versions import Progression
    from quem.errors import Doubt
    from quem.experience.findings import Findings

__all__ = ["Comparison", "Mode"]

Mode = Literal["systems", "studies", "time"]


@dataclass(frozen=True)
class Comparison:
    """What was compared, and what came out.

    Parameters
    ----------
    mode : {"systems", "studies", "time"}
        The systems of one study, unrelated systems of independent studies, or one system in
        several studies.
    studies : tuple of Findings
    standings : tuple of Standing
        The systems that were compared, in order.
    test : {"problem", "twoway", "signflip"}
        For systems of the same study.
    chosen : tuple of str
        The systems that the caller named; empty for all.
    level : float
    pairs : tuple of Pair
        Only of mode "systems".
    apart : tuple of Apart
        Only of mode "studies".
    progressions : tuple of Progression
    uplifts : tuple of Uplift
        Only of mode "systems".
    doubts : tuple of Doubt
    """

    mode: Mode
    studies: tuple[Findings, ...]
    standings: tuple[Standing, ...]
    test: str
    chosen: tuple[str, ...]
    level: float
    pairs: tuple[Pair, ...] = ()
    apart: tuple[Apart, ...] = ()
    progressions: tuple[Progression, ...] = ()
    uplifts: tuple[Uplift, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def unit(self) -> str:
        """The unit of experience, in which all studies agree."""
        return self.studies[0].study.spec.experience_unit

    def study_of(self, standing: Standing) -> str:
        """Give the id of the study that a system was measured in."""
        return self.studies[standing.study].study.spec.id

    def name_of(self, standing: Standing) -> str:
        """Name a system, with its study where there are several."""
        if len(self.studies) == 1:
            return standing.name
        return f"{standing.name} ({self.study_of(standing)})"
