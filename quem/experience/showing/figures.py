"""The figures of an analysis, by file stem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.experience.showing.influence_figures import influence, sensitivity
from quem.experience.showing.judge_figures import agreement, ranks
from quem.experience.showing.skill_figures import estimate, skill_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from quem.experience.findings import Findings

__all__ = ["all_figures"]


def all_figures(found: Findings) -> dict[str, Figure]:
    """Draw every figure that the study has data for.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By file stem.
    """
    draw: dict[str, Callable[[Findings], Figure | None]] = {
        "skill-function": skill_function,
        "estimate": estimate,
        "sensitivity": sensitivity,
        "influence": influence,
        "agreement": agreement,
        "ranks": ranks,
    }
    drawn = {stem: function(found) for stem, function in draw.items()}
    return {stem: figure for stem, figure in drawn.items() if figure is not None}
