"""The figure of an evaluation of dialogues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from quem.report.drawing import INK, LINE, MUTED, PAPER, SYSTEMS, tidy, with_style

if TYPE_CHECKING:
    from quem.dialogue.outcomes import Evaluation
    from quem.report.result import Drawers
    from quem.scores.result import Scored

# As in the paper's Figure 2, where each strategy has its marker.
_SIGNS = {"RA": "o", "ND": "P", "DD": "s", "NF": "X", "FA": "^"}
_COLORS = {"RA": LINE, "ND": SYSTEMS[2], "DD": SYSTEMS[0], "NF": SYSTEMS[1], "FA": SYSTEMS[3]}
_MORE = (SYSTEMS[4], SYSTEMS[5], INK, MUTED)
_MANY_ANSWERS = 40


def _look(strategies: list[str], place: int) -> tuple[str, str]:
    """Color and marker of a strategy."""
    name = strategies[place]
    own = [one for one in strategies if one not in _SIGNS]
    if name in _SIGNS:
        return _COLORS[name], _SIGNS[name]
    return _MORE[own.index(name) % len(_MORE)], "Dvph*"[own.index(name) % 5]


def rank_quality(findings: Scored) -> Figure:
    """Rank quality by number of answers."""
    found: Evaluation = findings.found
    answers = found.answers
    points = np.arange(answers.mean.shape[1])
    with with_style():
        figure = Figure(figsize=(7.2, 4.1))
        axes = figure.add_axes((0.085, 0.13, 0.9, 0.84))
        for place, name in enumerate(found.strategies):
            color, sign = _look(found.strategies, place)
            axes.fill_between(
                points, answers.low[place], answers.high[place], color=color, alpha=0.16, lw=0
            )
            axes.plot(
                points,
                answers.mean[place],
                color=color,
                marker=sign,
                markersize=5.5,
                markeredgecolor=PAPER,
                markeredgewidth=0.7,
                markevery=max(1, len(points) // _MANY_ANSWERS),
                linewidth=1.5,
                label=name,
                clip_on=False,
            )
        axes.set_xlim(0, points[-1])
        axes.set_ylim(min(0.0, float(np.nanmin(answers.mean))), max(1.0, answers.mean.max()))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        tidy(axes, x="questions answered", y="rank quality", grid="both")
        axes.legend(loc="lower right", ncols=2 if len(found.strategies) > 3 else 1)  # noqa: PLR2004
    return figure


FIGURES: Drawers[Scored] = {"rank-quality": rank_quality}
