"""The figures of a comparison, by file stem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.experience.comparison.showing.estimate_figures import estimates
from quem.experience.comparison.showing.pair_figures import differences, wins
from quem.experience.comparison.showing.progression_figure import progression
from quem.experience.comparison.showing.uplift_figure import uplift

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from quem.experience.comparison.findings import Comparison

__all__ = ["all_figures"]


def all_figures(found: Comparison) -> dict[str, Figure]:
    """Draw every figure that the comparison has data for.

    Parameters
    ----------
    found : Comparison

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By file stem.
    """
    draw: dict[str, Callable[[Comparison], Figure | None]] = {
        "estimates": estimates,
        "differences": differences,
        "wins": wins,
        "progression": progression,
        "uplift": uplift,
    }
    drawn = {stem: function(found) for stem, function in draw.items()}
    return {stem: figure for stem, figure in drawn.items() if figure is not None}
