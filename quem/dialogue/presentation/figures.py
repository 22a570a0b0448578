"""The figures of an evaluation of dialogues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from quem.report.drawing import INK, LINE, MUTED, PAPER, SYSTEMS, tidy, with_style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from quem.dialogue.outcomes import DialogueFindings

CAPTIONS = {
    "rank-quality": "Rank quality of the list of candidates after each answer, with a bootstrap "
    "band over targets. 1 is the list of a system that knows all; 0, a list in no order.",
}
# As in the paper's Figure 2, where each strategy has its sign.
_SIGNS = {"RA": "o", "ND": "P", "DD": "s", "NF": "X", "FA": "^"}
_COLOURS = {"RA": LINE, "ND": SYSTEMS[2], "DD": SYSTEMS[0], "NF": SYSTEMS[1], "FA": SYSTEMS[3]}
_MORE = (SYSTEMS[4], SYSTEMS[5], INK, MUTED)
_MANY_ANSWERS = 40


def _look(findings: DialogueFindings, place: int) -> tuple[str, str]:
    """Color and sign of a strategy."""
    name = findings.strategies[place]
    own = [s for s in findings.strategies if s not in _SIGNS]
    if name in _SIGNS:
        return _COLOURS[name], _SIGNS[name]
    return _MORE[own.index(name) % len(_MORE)], "Dvph*"[own.index(name) % 5]


def rank_quality(findings: DialogueFindings) -> Figure:
    """Draw rank quality over the number of answers."""
    estimate = findings.quality
    points = np.arange(estimate.mean.shape[1])
    with with_style():
        figure = Figure(figsize=(7.2, 4.1))
        axes = figure.add_axes((0.085, 0.13, 0.9, 0.84))
        for place in range(len(findings.strategies)):
            color, sign = _look(findings, place)
            axes.fill_between(
                points, estimate.low[place], estimate.high[place], color=color, alpha=0.16, lw=0
            )
            axes.plot(
                points,
                estimate.mean[place],
                color=color,
                marker=sign,
                markersize=5.5,
                markeredgecolor=PAPER,
                markeredgewidth=0.7,
                markevery=max(1, len(points) // _MANY_ANSWERS),
                linewidth=1.5,
                label=findings.strategies[place],
                clip_on=False,
            )
        axes.set_xlim(0, points[-1])
        axes.set_ylim(min(0.0, float(np.nanmin(estimate.mean))), max(1.0, estimate.mean.max()))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        tidy(axes, x="questions answered", y="rank quality", grid="both")
        axes.legend(loc="lower right", ncols=2 if len(findings.strategies) > 3 else 1)  # noqa: PLR2004
    return figure


# By file stem.
FIGURES: Mapping[str, Callable[[DialogueFindings], Figure | None]] = {
    "rank-quality": rank_quality,
}
