"""The estimate of a system as one study found it, and differences between independent studies.

Each study has its own problems, judges and skill function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from quem.lists.inference import holm

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from quem.experience.estimate import Estimate, Interval
    from quem.experience.result import ExperienceFindings


@dataclass(frozen=True)
class SystemEstimate:
    """A system with its estimate in one study."""

    study: int  # which of the compared studies, from 0
    name: str  # with its version
    version: str
    of: str  # what versions of one system share; the id where nothing is said
    date: dt.date | None
    estimate: Estimate

    @property
    def system(self) -> str:
        """The system's id."""
        return self.estimate.system

    @property
    def error(self) -> float:
        """The standard error of the prediction."""
        return self.estimate.error

    @property
    def df(self) -> float:
        """Its degrees of freedom."""
        return self.estimate.df


def estimates_of(study: int, findings: ExperienceFindings) -> list[SystemEstimate]:
    """List the systems of a study that have ranks, versions of one system in their order."""
    declared = {system.id: system for system in findings.study.spec.systems}
    system_estimates = []
    for estimate in findings.estimates:
        system = declared[estimate.system]
        system_estimates.append(
            SystemEstimate(
                study,
                findings.name_of(system.id),
                system.version,
                system.of or system.id,
                system.date,
                estimate,
            )
        )
    return in_order(system_estimates)


def in_order(system_estimates: list[SystemEstimate]) -> list[SystemEstimate]:
    """Put versions of one system beside each other, by date if all have one.

    Without, they keep the order in which they are given; so do systems.
    """
    families: dict[str, list[SystemEstimate]] = {}
    for entry in system_estimates:
        families.setdefault(entry.of, []).append(entry)
    return [entry for family in families.values() for entry in by_date(family)]


def by_date(versions: list[SystemEstimate]) -> list[SystemEstimate]:
    """Sort versions by date, if all have one; equal dates keep their order."""
    dated = [(version.date, at) for at, version in enumerate(versions) if version.date]
    return [versions[at] for _, at in sorted(dated)] if len(dated) == len(versions) else versions


_NONE = float("nan")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class IndependentDifference:
    """Two systems of two independent studies; the difference is b less a."""

    a: SystemEstimate
    b: SystemEstimate
    years: float
    # Standard error, and Welch's degrees of freedom
    error: float
    df: float
    interval: Interval  # NaN where one of the two lies outside its subjects' range
    # A one-sided bound in place of the interval, where there is one; else NaN
    lower: float
    upper: float
    # NaN without an interval
    p: float
    p_holm: float
    reason: str = ""  # why there is no interval; empty where there is one

    @property
    def t(self) -> float:
        """The difference in standard errors; NaN without a test."""
        if not np.isfinite(self.p) or self.error == 0:
            return _NONE
        return self.years / self.error


def compare_studies(
    system_estimates: Sequence[SystemEstimate], level: float
) -> list[IndependentDifference]:
    """Compare every two systems of different studies."""
    pairs = ((a, b) for a, b in combinations(system_estimates, 2) if a.study != b.study)
    return adjusted(compare_apart(a, b, level) for a, b in pairs)


def adjusted(compared: Iterable[IndependentDifference]) -> list[IndependentDifference]:
    """Adjust the p values for their number."""
    differences = list(compared)
    p_values = holm([difference.p for difference in differences])
    return [
        replace(difference, p_holm=p) for difference, p in zip(differences, p_values, strict=True)
    ]


def compare_apart(a: SystemEstimate, b: SystemEstimate, level: float) -> IndependentDifference:
    r"""Compare two systems that were measured independently.

    The variance of the difference is the sum of both prediction variances, and

    .. math:: \nu = (v_a + v_b)^2/(v_a^2/\nu_a + v_b^2/\nu_b)

    (Welch 1947). Outside its subjects' range an estimate is only a bound, and so is the
    difference: from below where b lies above its range or a below its own, from above in the
    mirrored case.

    References
    ----------
    Welch, B. L. (1947). The generalization of Student's problem when several different
    population variances are involved. Biometrika, 34(1-2), 28-35.
    """
    years = b.estimate.experience - a.estimate.experience
    variances = np.array([a.error**2, b.error**2])
    error = float(np.sqrt(variances.sum()))
    spread = float((variances**2 / [a.df, b.df]).sum())
    df = float(variances.sum()) ** 2 / spread if spread else float(a.df + b.df)
    far = [s for s in (a, b) if s.estimate.side != "inside"]
    if not far:
        half = float(stdtrit(df, (1 + level) / 2)) * error
        interval = (years - half, years + half)
        p = _p_value(years, error, df)
        return IndependentDifference(a, b, years, error, df, interval, _NONE, _NONE, p, p)
    one_sided = float(stdtrit(df, level)) * error
    pulls = {_pull(a) * -1, _pull(b)} - {0}
    if len(far) > 1:
        reason = "both lie outside their subjects' ranges"
    else:
        (one,) = far
        name = one.name if a.name != b.name else "the first" if one is a else "the second"
        reason = f"{name} lies outside the subjects' range"
    return IndependentDifference(
        a,
        b,
        years,
        error,
        df,
        (_NONE, _NONE),
        years - one_sided if pulls == {1} else _NONE,
        years + one_sided if pulls == {-1} else _NONE,
        _NONE,
        _NONE,
        reason,
    )


def _pull(entry: SystemEstimate) -> float:
    """Where the truth may be, as seen from the estimate: 1 for above, -1 for below.

    NaN where rank and estimate leave the range on different sides.
    """
    return {"inside": 0, "above": 1, "below": -1, "outside": _NONE}[entry.estimate.side]


def _p_value(years: float, error: float, df: float) -> float:
    """Two-sided; a perfect fit leaves no error to compare a difference with."""
    if error <= _ROUNDING * abs(years) or error == 0:
        return float(years == 0)
    return 2 * float(stdtr(df, -abs(years) / error))
