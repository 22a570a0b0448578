"""How the answer changes without the solutions whose author a judge recognized."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.averages import average_cells
from quem.experience.cells import score_cells
from quem.experience.estimate import estimate_system
from quem.experience.expected_ranks import averages_without
from quem.experience.influence import LeaveOneOut
from quem.experience.ranks import adjusted_ranks
from quem.experience.skill import fit, refusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.cells import RankCells
    from quem.experience.estimate import Estimate
    from quem.experience.skill import SkillForm, SkillFunction
    from quem.study import ExperienceSettings

__all__ = ["Recognized", "leave_out_recognized", "without_recognized"]

_SAME = 1e-9


@dataclass(frozen=True)
class Recognized:
    """The estimates without the ranks that judges gave to authors whom they recognized.

    Parameters
    ----------
    n_ranks, n_judges : int
        How many ranks these are, and of how many judges.
    of_ranks : int
        How many ranks the judges gave in all.
    fitted : bool
        Whether a skill function can be fitted to what is left.
    estimates : tuple of LeaveOneOut
        One a system; NaN where nothing can be fitted, or no rank of the system is left.
    """

    n_ranks: int
    n_judges: int
    of_ranks: int
    fitted: bool
    estimates: tuple[LeaveOneOut, ...]


def leave_out_recognized(
    cells: RankCells,
    averages: Averages,
    form: SkillForm,
    found: list[Estimate],
    settings: ExperienceSettings,
) -> Recognized | None:
    """Estimate each system without what judges ranked and recognized.

    Parameters
    ----------
    averages : Averages
        With all ranks.
    form : SkillForm
        The headline's.
    found : list of Estimate
        With all ranks.

    Returns
    -------
    Recognized or None
        None where nobody was recognized.
    """
    marked = _marked(cells)
    if not marked.any():
        return None
    if settings.score == "pl":
        others = averages_without(cells, averages.experience, ~marked)
    else:
        left = without_recognized(cells)
        left = score_cells(left, score=settings.score, normalize=settings.normalize)
        others = average_cells(left, averages.experience)
    function = _function(form, others)
    return Recognized(
        n_ranks=int(marked.sum()),
        n_judges=len(np.unique(cells.judge[marked])),
        of_ranks=int(cells.judged().sum()),
        fitted=function is not None,
        estimates=tuple(_without(e, function, others, settings.level) for e in found),
    )


def without_recognized(cells: RankCells) -> RankCells:
    """Rank what is left of each group as if what its judge recognized had not been in it.

    Withheld solvers, who are in no result, keep their places whether they were recognized or
    not.

    Returns
    -------
    RankCells
        The same cells; those taken out have the size 0 and a rank of NaN, which no average
        takes in. ``score`` is equal to ``adjusted``.
    """
    marked = _marked(cells)
    touched = np.zeros(cells.n_groups, dtype=bool)
    touched[cells.group[marked]] = True
    rows = np.flatnonzero(touched[cells.group] & ~marked)
    group = np.unique(cells.group[rows], return_inverse=True)[1]
    humans = cells.reference == "humans"
    counted = cells.of_kind("subject")[cells.solver[rows]] if humans else None
    adjusted, size = cells.adjusted.copy(), cells.size.copy()
    adjusted[marked], size[marked] = np.nan, 0
    adjusted[rows], size[rows] = adjusted_ranks(group, cells.given[rows], counted)
    return replace(cells, adjusted=adjusted, size=size, score=adjusted)


def _marked(cells: RankCells) -> NDArray[np.bool_]:
    """Which ranks count in the result and are of a recognized author."""
    # A study without marks has one False for all its cells, and need not look further.
    return cells.recognized & cells.judged() if cells.recognized.any() else cells.recognized


def _function(form: SkillForm, averages: Averages) -> SkillFunction | None:
    """The skill function of what is left; None where none can be fitted."""
    x, y = averages.fitted()
    if refusal(form, x, averages.average[averages.of_kind("system")]):
        return None
    if min(np.ptp(x), np.ptp(y)) <= _SAME:
        return None
    return fit(form, x, y)


def _without(
    found: Estimate, function: SkillFunction | None, averages: Averages, level: float
) -> LeaveOneOut:
    """A system's estimate by what is left."""
    years, low, high = np.nan, np.nan, np.nan
    if function and np.isfinite(averages.average[averages.solvers.index(found.system)]):
        other = estimate_system(found.system, function, averages, level=level, at_least=())
        years, (low, high) = other.experience, other.prediction
    change = years - found.experience
    return LeaveOneOut("recognized", "recognized authors", found.system, years, low, high, change)
