"""The estimate of a system, as one study found it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy.special import stdtrit

if TYPE_CHECKING:
    import datetime as dt

    from quem.experience.estimate import Estimate
    from quem.experience.result import ExperienceFindings

__all__ = ["SystemEstimate", "by_date", "in_order", "standings_of"]


@dataclass(frozen=True)
class SystemEstimate:
    """A system with its estimate in one study.

    Parameters
    ----------
    study : int
        Which of the compared studies, from 0.
    name : str
        With its version.
    of : str
        What versions of one system share; the id where nothing is said.
    error : float
        The standard error of the prediction.
    df : int
        Residual degrees of freedom of the skill function.
    """

    study: int
    name: str
    version: str
    of: str
    date: dt.date | None
    estimate: Estimate
    error: float
    df: int

    @property
    def system(self) -> str:
        """The system's id."""
        return self.estimate.system


def standings_of(study: int, findings: ExperienceFindings) -> list[SystemEstimate]:
    """List the systems of a study that have ranks, versions of one system in their order."""
    declared = {system.id: system for system in findings.study.spec.systems}
    t = float(stdtrit(findings.function.df, (1 + findings.settings.level) / 2))
    standings = []
    for estimate in findings.estimates:
        system = declared[estimate.system]
        low, high = estimate.prediction
        standings.append(
            SystemEstimate(
                study,
                findings.name_of(system.id),
                system.version,
                system.of or system.id,
                system.date,
                estimate,
                (high - low) / 2 / t,
                findings.function.df,
            )
        )
    return in_order(standings)


def in_order(standings: list[SystemEstimate]) -> list[SystemEstimate]:
    """Put versions of one system beside each other, by date if all have one.

    Without, they keep the order in which they are given; so do systems.
    """
    families: dict[str, list[SystemEstimate]] = {}
    for standing in standings:
        families.setdefault(standing.of, []).append(standing)
    return [standing for family in families.values() for standing in by_date(family)]


def by_date(versions: list[SystemEstimate]) -> list[SystemEstimate]:
    """Sort versions by date, if all have one; equal dates keep their order."""
    dated = [(version.date, at) for at, version in enumerate(versions) if version.date]
    return [versions[at] for _, at in sorted(dated)] if len(dated) == len(versions) else versions
