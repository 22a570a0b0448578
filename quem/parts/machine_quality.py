"""Quality of machine judges: agreement with experts, consistency, position bias, failures.

The unit is the problem, because ranks of one problem are dependent. None of these numbers switches
a machine judge on or off; its weight in the estimate does that.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import stdtr

from quem.method.cells import RankCells, judged_cells
from quem.method.ranks import tau_b
from quem.rankings import Rankings
from quem.report.rows import Row, col
from quem.wording import format_percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from quem.rankings.loading import Study
    from quem.studyfile import Declared
    from quem.studyfile.runs import Run

_MOST_FAILED = 0.2  # of calls without a valid ranking
_ROUNDING = 1e-9  # of a mean of ranks, and of its error


class MachineQuality(Row):
    """The quality of a machine judge."""

    title = "Machine judges as instruments"
    judge: str = col("id of the machine judge", "Machine judge")
    agreement: float | None = col(
        "mean Kendall's tau-b with the experts, on the problems that both ranked", "Agreement", 2
    )
    consistency: float | None = col(
        "mean tau-b between its orders of a problem; null for one order", "Consistency", 2
    )
    position: float | None = col(
        "ranks per standard deviation of place, above 0 where what is shown last is ranked higher",
        "Position",
        2,
    )
    position_p: float | None = col(
        "that the place does not count, by Student's t over problems", "p", kind="p"
    )
    failed: float = col("share of its calls without a valid ranking")


def unusable(run: Run) -> str:
    """Why a run cannot be used; empty where it can."""
    if run.failed > _MOST_FAILED:
        return f"{format_percent(round(run.failed, 2))} of its calls have no valid ranking"
    return ""


def servers(run: Run) -> list[str]:
    """The models that answered in a run, as its service names them."""
    made = {(call.model, call.fingerprint) for call in run.calls if call.status == "ok"}
    return sorted(" ".join(filter(None, one)) or "unnamed" for one in made)


def run_ranks(run: Run, declared: Declared, solvers: Collection[str]) -> pd.DataFrame:
    """Adjusted ranks among some solvers, one row per problem and repeat of a run.

    Withheld solvers keep their ranks but have no column; failed solutions are tied last.
    """
    kept = {one for one, kind in declared.solvers.items() if one in solvers or kind == "withheld"}
    rows = {}
    for call in run.calls:
        if call.status != "ok" or call.problem not in declared.problems:
            continue
        order = dict.fromkeys((s for p, s in declared.failed if p == call.problem), 0)
        order |= {s: at for at, tied in enumerate(reversed(call.ranked), 1) for s in tied}
        ranks = pd.Series({s: at for s, at in order.items() if s in kept}, dtype=float).rank()
        rows[call.problem, str(call.repeat)] = ranks
    shown = [one for one in declared.solvers if one in solvers]
    index = pd.MultiIndex.from_tuples(rows, names=["problem", "judge"]) if rows else None
    return pd.DataFrame([*rows.values()], index, shown, dtype=float)


def expert_ranks(study: Study) -> pd.DataFrame | None:
    """Adjusted ranks, one row per problem and judge; None without ranks of whole groups."""
    if not isinstance(study.data, Rankings):
        return None
    cells = judged_cells(study.data, study.declared)
    return None if cells.is_blocked else rank_table(cells)


def rank_table(cells: RankCells) -> pd.DataFrame:
    """Adjusted ranks without those of withheld solvers, one row per problem and judge."""
    names = ("problem", "judge", "solver")
    rows = {
        name: np.array(getattr(cells, f"{name}s"), dtype=object)[getattr(cells, name)]
        for name in names
    }
    shown = pd.DataFrame({**rows, "rank": cells.adjusted})
    shown = shown[~cells.of_kind("withheld")[cells.solver]]
    return shown.pivot_table("rank", ["problem", "judge"], "solver")


def machine_quality(study: Study, runs: Iterable[Run]) -> list[MachineQuality]:
    """The quality of machine judges; empty where ranks are not of whole groups."""
    experts = expert_ranks(study)
    if experts is None:
        return []
    found = []
    for run in runs:
        machine = run_ranks(run, study.declared, frozenset(experts.columns))
        if run.blocked or machine.empty:
            continue
        machine = machine.reindex(columns=experts.columns)
        own = machine.groupby("problem").mean()
        both = experts[experts.index.isin(own.index, level="problem")]
        where = both.index.get_level_values("problem")
        pairs = zip(where, both.to_numpy(), strict=True)
        tau = pd.Series([tau_b(own.loc[p].to_numpy(), of) for p, of in pairs], where, dtype=float)
        repeated = machine.groupby("problem")[list(machine.columns)].apply(
            lambda of: pd.Series([tau_b(*two) for two in combinations(of.to_numpy(), 2)]).mean()
        )
        by_place = _by_position(machine, run).dropna()
        found.append(
            MachineQuality(
                judge=run.judge,
                agreement=tau.groupby("problem").mean().mean(),
                consistency=repeated.mean(),
                position=by_place.mean(),
                position_p=_p_of_mean(np.asarray(by_place)),
                failed=run.failed,
            )
        )
    return found


def _by_position(machine: pd.DataFrame, run: Run) -> pd.Series[float]:
    """The slope of rank on standardized position, within solvers over repeats, by problem."""
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


def _p_of_mean(values: NDArray[np.float64]) -> float | None:
    """The p value of Student's t test that a mean is 0; None for fewer than two."""
    n = len(values)
    if n < 2:  # noqa: PLR2004  one has no deviation
        return None
    mean, error = abs(float(values.mean())), float(values.std(ddof=1) / np.sqrt(n))
    if error <= _ROUNDING * (1 + mean):
        # The same on every problem, as for a machine that uses positions only.
        return float(mean <= _ROUNDING)
    return float(2 * stdtr(n - 1, -mean / error))
