"""How often intervals cover the truth: every interval, over many simulated studies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal
from zlib import crc32

import numpy as np
from scipy.special import stdtrit

from quem.experience.batch_estimates import batch_estimates
from quem.experience.comparison.worth_difference import worth_differences
from quem.experience.simulation import NOISES, Scenario, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.experience.simulation import Simulated

__all__ = ["Case", "Covered", "Taste", "Truth", "cover"]

Truth = Literal[
    "peer", "typical", "outside", "missing", "few problems", "blocks", "two studies", "difference"
]
Taste = Literal["none", "all", "systems"]
_LEVEL = 0.95
_BLOCK_SIZE = 8
# The bootstrap takes a thousand times as long as all others together.
_BOOTSTRAPPED, _REPLICATES = 20, 400


@dataclass(frozen=True)
class Case:
    """A cell of the coverage study.

    Parameters
    ----------
    truth : {"peer", "typical", "outside", "missing", "few problems", ...}
        What the intervals are to cover: the experience of a person who is not among the
        subjects (peer); a system that is as good as people of 6.5 or, outside their range, of
        14 years; a peer where a fifth of the solutions is absent, and one who solved only a
        third of the problems; a peer, judged in blocks of 8; the difference of the peers of two
        independent studies; the difference of two systems of one study.
    noise : {"low", "high"}
    subjects, judges, problems : int
    difference : float
        In years, around 6.5.
    taste : {"none", "all", "systems"}
        Whether judges have a persistent taste for nobody, for all solvers, or for systems.
    """

    truth: Truth
    noise: str
    subjects: int
    judges: int
    problems: int
    difference: float = 0.0
    taste: Taste = "all"

    @property
    def name(self) -> str:
        """The case in one line."""
        more = f" {self.difference:g} {self.taste}" if self.truth == "difference" else ""
        design = f"S{self.subjects} J{self.judges} P{self.problems}"
        return f"{self.truth}{more}, {self.noise}, {design}"

    @property
    def scenario(self) -> Scenario:
        """What is simulated."""
        noise = NOISES[self.noise]
        plain = Scenario(self.subjects, self.judges, self.problems, (None,), noise)
        if self.truth == "difference":
            half = self.difference / 2
            return replace(
                plain,
                systems=(6.5 + half, 6.5 - half),
                noise=noise if self.taste == "all" else replace(noise, taste=0.0),
                system_taste=noise.taste if self.taste == "systems" else None,
            )
        changes: dict[str, dict[str, object]] = {
            "typical": {"systems": (6.5,)},
            "outside": {"systems": (14.0,)},
            "missing": {"missing": 0.2},
            "few problems": {"system_problems": max(1, self.problems // 3)},
            "blocks": {"block_size": _BLOCK_SIZE},
        }
        return replace(plain, **changes.get(self.truth, {}))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Covered:
    """How one interval did in some studies of a case.

    Parameters
    ----------
    interval : str
    studies, defined, covered : int
        How many there were, in how many the interval has ends, and in how many of these the
        truth lies between them.
    width : float
        The median of the defined ones; infinite where one-sided, NaN where none is defined.
    error : float
        The median error of the estimate that goes with the interval; NaN where there is none.
    """

    interval: str
    studies: int
    defined: int
    covered: int
    width: float
    error: float


def cover(case: Case, studies: int, *, seed: int = 0, part: int = 0) -> list[Covered]:
    """Simulate studies of a case and count what each interval covers.

    Parameters
    ----------
    case : Case
    studies : int
    seed, part : int
        Each part of a case has random numbers of its own, whatever else is simulated.
    """
    key = (crc32(case.name.encode()), part)
    simulated = simulate(case.scenario, studies, np.random.SeedSequence(seed, spawn_key=key))
    if case.truth == "difference":
        return list(_of_differences(simulated))
    if case.truth == "two studies":
        return list(_of_two_studies(simulated))
    return list(_of_estimates(simulated))


def _of_estimates(simulated: Simulated) -> Iterator[Covered]:
    truth = simulated.truth[:, 0]
    found = batch_estimates(simulated, level=_LEVEL)
    infinite = np.full(found.lower.shape, np.inf)
    for name, estimate, ends in (
        ("prediction", found.experience, found.prediction),
        ("mean", found.experience, found.mean),
        ("calibration", found.calibrated, found.calibration),
        ("at least", None, np.stack([found.lower, infinite], axis=-1)),
        ("at most", None, np.stack([-infinite, found.upper], axis=-1)),
    ):
        at = None if estimate is None else estimate[:, 0]
        yield _count(name, ends[:, 0], truth, at)
    inside = found.inside[:, 0]
    of_inside = (found.prediction[inside, 0], truth[inside], found.experience[inside, 0])
    yield _count("prediction, inside", *of_inside)
    if simulated.scenario.block_size is not None:
        # What follows needs ranks of whole groups.
        return
    worths = batch_estimates(simulated, level=_LEVEL, score="worth")
    yield _count("prediction by worths", worths.prediction[:, 0], truth, worths.experience[:, 0])
    yield _count("calibration by worths", worths.calibration[:, 0], truth, worths.calibrated[:, 0])
    yield _count("bootstrap", _bootstrapped(simulated), truth[:_BOOTSTRAPPED])


def _of_differences(simulated: Simulated) -> Iterator[Covered]:
    n = simulated.experience.shape[1]
    truth = simulated.truth[:, 0] - simulated.truth[:, 1]
    y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
    found = worth_differences(simulated.ranks, y, n, n + 1, level=_LEVEL)
    yield _count("difference", np.stack([found.low, found.high], axis=-1), truth, found.years)
    # The other estimates have no interval, and the second none where the slope is weak.
    other = batch_estimates(simulated, level=_LEVEL)
    none = np.full((len(truth), 2), np.nan)
    significant = np.isfinite(other.calibration).all(axis=(1, 2))
    calibrated = np.where(significant, other.calibrated[:, 0] - other.calibrated[:, 1], np.nan)
    yield _count("difference by calibration", none, truth, calibrated)
    by_regression = other.experience[:, 0] - other.experience[:, 1]
    yield _count("difference by regression", none, truth, by_regression)


def _of_two_studies(simulated: Simulated) -> Iterator[Covered]:
    """Each study against the one after it: summed variances, Welch's degrees of freedom."""
    found = batch_estimates(simulated, level=_LEVEL)
    one, other = slice(0, len(simulated) // 2 * 2, 2), slice(1, None, 2)
    truth = simulated.truth[one, 0] - simulated.truth[other, 0]
    apart = found.experience[one, 0] - found.experience[other, 0]
    df = simulated.experience.shape[1] - 2
    for name in ("prediction", "mean"):
        ends = getattr(found, name)[:, 0]
        variance = ((ends[:, 1] - ends[:, 0]) / 2 / stdtrit(df, (1 + _LEVEL) / 2)) ** 2
        both = variance[one] + variance[other]
        freedom = both**2 / (variance[one] ** 2 / df + variance[other] ** 2 / df)
        half = stdtrit(freedom, (1 + _LEVEL) / 2) * np.sqrt(both)
        yield _count(name, np.stack([apart - half, apart + half], axis=-1), truth, apart)


def _bootstrapped(simulated: Simulated) -> NDArray[np.float64]:
    """Percentile intervals of the first studies."""
    from quem.experience.cells import judged_cells
    from quem.experience.resample import bootstrap
    from quem.experience.skill import FORMS
    from quem.rankings import Rankings

    found = []
    for index in range(min(_BOOTSTRAPPED, len(simulated))):
        study = simulated.study(index)
        assert isinstance(study.data, Rankings)  # noqa: S101  for the type checker
        years = np.concatenate([simulated.experience[index], [np.nan]])
        drawn = bootstrap(
            judged_cells(study.data, study.declared),
            years,
            FORMS["linear"],
            replicates=_REPLICATES,
            level=_LEVEL,
            seed=index,
        )
        found.append(drawn.intervals.get("K1", (np.nan, np.nan)) if drawn else (np.nan, np.nan))
    return np.array(found)


def _count(
    name: str,
    ends: NDArray[np.float64],
    truth: NDArray[np.float64],
    estimate: NDArray[np.float64] | None = None,
) -> Covered:
    low, high = ends[:, 0], ends[:, 1]
    defined = ~(np.isnan(low) | np.isnan(high))
    covered = defined & (low <= truth) & (truth <= high)
    width = _median((high - low)[defined])
    error = float("nan") if estimate is None else _median(estimate - truth)
    return Covered(name, len(truth), int(defined.sum()), int(covered.sum()), width, error)


def _median(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")
