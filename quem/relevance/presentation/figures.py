"""The figure of an analysis of relevance judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps

from quem.report.drawing import INK, label_inches, one_axes, tidy
from quem.wording import short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from quem.relevance.result import RelevanceFindings

_MOST_JUDGES = 20
_CONSENSUS = "consensus"


def _grades(findings: RelevanceFindings) -> Figure | None:
    """A bar for each judge, divided by grades, and one for the consensus."""
    if not findings.grades:
        return None
    judgments, labels = findings.judgments, findings.grades
    shown = judgments.judges[:_MOST_JUDGES]
    rows = [*judgments.first[: len(shown)], findings.consensus]
    names = [*map(short, shown), _CONSENSUS]
    shares = np.array([[(row == grade).sum() for grade in range(len(labels))] for row in rows])
    shares = 100 * shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)
    left = label_inches(names)
    right = 0.45 + label_inches(map(short, labels))
    figure, axes = one_axes(left + 4 + right, 0.95 + 0.32 * len(names), left=left, right=right)
    colors = colormaps["viridis"](np.linspace(0.92, 0.15, len(labels)))
    start = np.zeros(len(names))
    for grade, label in enumerate(labels):
        axes.barh(
            range(len(names)), shares[:, grade], 0.7, left=start, color=colors[grade],
            label=short(label), edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        start += shares[:, grade]
    axes.set_yticks(range(len(names)), names)
    axes.get_yticklabels()[-1].set_fontweight("bold")
    axes.get_yticklabels()[-1].set_color(INK)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_title("Grades given")
    tidy(axes, x="percent of candidates judged")
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    return figure


FIGURES: Mapping[str, Callable[[RelevanceFindings], Figure | None]] = {"grades": _grades}
