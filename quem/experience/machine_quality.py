"""How each machine judge ranks: agreement with experts, consistency, bias for positions, failures.

The unit is the problem, because ranks of one problem depend on each other. None of these numbers
switches a machine judge on or off; that is what its weight in the estimate is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit
from scipy.stats import kendalltau

from quem.errors import WarningRules
from quem.experience.cells import judged_cells
from quem.experience.machines import machine_cells
from quem.rankings import Rankings
from quem.report.columns import NAME, NUMBER, OPEN_INTERVAL, SHARE, Column, Columns, null_or
from quem.report.files import Section
from quem.wording import format_bare_p, format_interval, format_number, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from numpy.typing import ArrayLike

    from quem.experience.cells import RankCells
    from quem.experience.result import ExperienceFindings
    from quem.rankings.loading import Study
    from quem.studyfile.runs import Run

_REPLICATES = 2000
_FEWEST_FOR_INTERVAL = 5  # problems to resample
_LEVEL = 0.95
_UNSTEADY = 0.5
# What rounding leaves of a mean of ranks, and of its error.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Mean:
    """A mean over problems; NaN is unknown."""

    value: float
    interval: tuple[float, float]  # at 95%
    p: float = np.nan  # two-sided, that it is 0


@dataclass(frozen=True)
class MachineQuality:
    """How a machine judge ranks."""

    run: Run  # the last one, which the estimate uses
    agreement: Mean  # Kendall's tau-b with the experts on the problems that both ranked
    consistency: Mean  # tau-b between the orders in which it saw a problem
    position: Mean  # ranks per standard deviation of place, within solvers


def machine_quality(study: Study, runs: tuple[Run, ...]) -> tuple[MachineQuality, ...]:
    """Measure the machine judges of a study; nothing where ranks are not of whole groups."""
    experts = expert_ranks(study)
    if experts is None:
        return ()
    problems, solvers = list(study.declared.problems), frozenset(experts.columns)
    found = []
    for run in runs:
        if run.blocked or (machine := ranks_of_run(run, study, solvers)).empty:
            continue
        own = machine.groupby("problem").mean().reindex(columns=experts.columns)
        both = experts[experts.index.isin(own.index, level="problem")]
        where = both.index.get_level_values("problem")
        each = zip(where, both.to_numpy(), strict=True)
        tau = pd.Series([_tau_b(own.loc[p], ranks) for p, ranks in each], where, dtype=float)
        repeated = {
            problem: pd.Series(
                [_tau_b(a, b) for a, b in combinations(ranks.to_numpy(), 2)], dtype=float
            ).mean()
            for problem, ranks in machine.groupby("problem")
        }
        agreement = tau.groupby("problem").mean().reindex(problems)
        consistency = pd.Series(repeated).reindex(problems)
        position = _by_position(machine, run).reindex(problems)
        found.append(
            MachineQuality(run, _resampled(agreement), _resampled(consistency), _tested(position))
        )
    return tuple(found)


def expert_ranks(study: Study, reference: Literal["all", "humans"] = "all") -> pd.DataFrame | None:
    """Give adjusted ranks, a row per problem and judge; None without ranks of whole groups."""
    if not isinstance(study.data, Rankings):
        return None
    cells = judged_cells(study.data, study.declared, reference=reference)
    return None if cells.is_blocked else _table(cells)


def ranks_of_run(
    run: Run, study: Study, solvers: frozenset[str], reference: Literal["all", "humans"] = "all"
) -> pd.DataFrame:
    """Give adjusted ranks among some solvers, a row per problem and repeat of a run."""
    withheld = {solver for solver, kind in study.declared.solvers.items() if kind == "withheld"}
    return _table(machine_cells(run, study.declared, solvers | withheld, reference))


def _table(cells: RankCells) -> pd.DataFrame:
    rows = {
        "problem": np.array(cells.problems, dtype=object)[cells.problem],
        "judge": np.array(cells.judges, dtype=object)[cells.judge],
        "solver": np.array(cells.solvers, dtype=object)[cells.solver],
        "rank": cells.adjusted,
    }
    shown = pd.DataFrame(rows)[~cells.of_kind("withheld")[cells.solver]]
    return shown.pivot_table("rank", ["problem", "judge"], "solver")


def _tau_b(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b over what both ranked; NaN where either does not vary."""
    pair = np.array([a, b], dtype=float)
    pair = pair[:, np.isfinite(pair).all(axis=0)]
    if pair.shape[1] < 2:  # noqa: PLR2004  there is no order of one
        return np.nan
    with np.errstate(invalid="ignore"):
        return float(kendalltau(*pair).statistic)


def _by_position(machine: pd.DataFrame, run: Run) -> pd.Series[float]:
    """Give the slope of rank on standardized place, within solvers over repeats, by problem."""
    shown = {
        (call.problem, str(call.repeat)): dict(
            zip(call.order, (np.arange(n) - (n - 1) / 2) / np.sqrt((n**2 - 1) / 12), strict=True)
        )
        for call in run.calls
        if call.status == "ok" and (n := len(call.order)) > 1
    }
    places = pd.DataFrame(shown).T.rename_axis(["problem", "judge"]).reindex_like(machine)
    known = machine.notna() & places.notna()
    each = [ranks.where(known) for ranks in (machine, places)]
    y, x = (values - values.groupby("problem").transform("mean") for values in each)
    spread = (x**2).sum(axis=1).groupby("problem").sum()
    return (x * y).sum(axis=1).groupby("problem").sum() / spread.where(spread > 0)


def _resampled(values: pd.Series[float]) -> Mean:
    """Give a mean with a percentile interval from resampling the problems."""
    known = values.dropna().to_numpy()
    n = len(known)
    if n < _FEWEST_FOR_INTERVAL:
        return Mean(float(values.mean()), (np.nan, np.nan))
    draws = np.random.default_rng(0).integers(0, n, (_REPLICATES, n))
    low, high = np.percentile(known[draws].mean(axis=1), [2.5, 97.5])
    return Mean(float(known.mean()), (float(low), float(high)))


def _tested(values: pd.Series[float]) -> Mean:
    """Give a mean with Student's interval and test that it is 0."""
    known = values.dropna().to_numpy()
    n, mean = len(known), float(values.mean())
    if n < 2:  # noqa: PLR2004  one has no deviation
        return Mean(mean, (np.nan, np.nan))
    error = float(known.std(ddof=1) / np.sqrt(n))
    if error <= _ROUNDING * (1 + abs(mean)):
        # The same on every problem, as of a machine that only looks at places.
        return Mean(mean, (mean, mean), float(abs(mean) <= _ROUNDING))
    half = float(stdtrit(n - 1, (1 + _LEVEL) / 2)) * error
    return Mean(mean, (mean - half, mean + half), float(2 * stdtr(n - 1, -abs(mean / error))))


def _mean(name: str, heading: str, meaning: str, how: str) -> tuple[Column[Any, Any], ...]:
    return (
        Column(name, null_or(NUMBER), meaning, of=f"{name}.value", heading=heading),
        Column(
            f"{name}_interval",
            OPEN_INTERVAL,
            f"at 95%, {how}",
            of=f"{name}.interval",
            heading="95% interval",
            text=lambda ends: format_interval(ends, 2) if np.isfinite(ends).all() else "–",
        ),
    )


_BY_RESAMPLING = "from resampling problems; null for fewer than 5"
QUALITY: Columns[MachineQuality, ExperienceFindings] = Columns(
    Column("judge", NAME, "id of the machine judge", of="run.judge", heading="Machine judge"),
    *_mean(
        "agreement",
        "Agreement",
        "mean Kendall's tau-b with the experts, on the problems that both ranked",
        _BY_RESAMPLING,
    ),
    *_mean(
        "consistency",
        "Consistency",
        "mean tau-b between its orders of a problem; null for one order",
        _BY_RESAMPLING,
    ),
    *_mean(
        "position",
        "Position",
        "ranks per standard deviation of place, above 0 where what is shown last is ranked higher",
        "by Student's t over problems",
    ),
    Column(
        "position_p",
        null_or(SHARE),
        "that the place does not count",
        of="position.p",
        heading="p",
        text=format_bare_p,
    ),
    Column(
        "failed",
        SHARE,
        "share of its calls without a valid ranking",
        of="run.failed",
        heading="Failures",
        text=lambda share: format_percent(round(share, 2)),
    ),
)


def quality_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on how machine judges rank; None where nothing is known."""
    if not findings.machine_quality:
        return None
    text = (
        "Agreement is the mean Kendall’s tau-b with the experts on the problems that both ranked, "
        "and consistency that between the orders in which the machine judge saw a problem. "
        "Position is how many ranks higher a solution is for each standard deviation of place that "
        "it is shown later. A machine judge can repeat itself and be biased: consistency is not "
        "validity."
    )
    table = QUALITY.text_table("Machine judges as instruments", findings.machine_quality, findings)
    return Section("machine-quality", "How the machine judges rank", [text], (), [table])


RULES: WarningRules[ExperienceFindings] = WarningRules()


@RULES.add("machine-unsteady", remedy="more repeats average out what is not steady")
def _unsteady(findings: ExperienceFindings) -> Iterator[str]:
    for one in findings.machine_quality:
        if one.consistency.value < _UNSTEADY:
            tau = format_number(one.consistency.value, 2)
            yield f"{one.run.judge} repeats itself with a mean tau-b of {tau} only"
