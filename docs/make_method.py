"""Draw one study under three references: ``python docs/make_method.py``.

Writes docs/images/references.svg for docs/explanation/method.md. The data are the averages that
the QUEM paper prints. With the reference that is implied by regressing years on rank (Hoadley
1970) the posterior is the paper's prediction; the script refuses to draw where it is not.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t as student

import quem
from quem.report.drawing import BAND, GRID, INK, LINE, MUTED, PAPER, svg_text, with_style

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
IMAGE = ROOT / "docs" / "images" / "references.svg"
MOST = 15.0  # years on the axis
_THIN = 40  # of so many points one is drawn
NOVICES = {"years": [0, 5, 10, 15], "share": [70, 20, 10]}


class Answer(NamedTuple):
    """What is known of a system under one reference; densities on a grid of years."""

    title: str
    grid: Floats
    reference: Floats
    posterior: Floats
    experience: float
    interval: tuple[float, float]


def answers() -> list[Answer]:
    """The averages of the paper, under the recruits' reference, none declared, and novices'."""
    study = quem.load_study(ROOT / "studies" / "p3-1997" / "averages.yaml", kind="experience")
    return [
        _recruits(study),
        _population(study, None, "0 to 15 years, all equally likely (assumed if none is declared)"),
        _population(study, NOVICES, "Declared: 70% with 0 to 5 years, 20% to 10, 10% to 15"),
    ]


def _recruits(study: quem.Study) -> Answer:
    """The reference by which the posterior equals the paper's prediction, on ranks."""
    result = quem.analyze(study)
    people = result.averages.query("kind == 'subject'")
    x, y = people["average_rank"].to_numpy(), people["experience"].to_numpy()
    of = result.estimates.loc[0]
    n, off = len(y), y - y.mean()
    spread = (off**2).sum()
    slope = (off * x).sum() / spread
    variance = ((x - x.mean() - slope * off) ** 2).sum() / (n - 2)
    grid = np.linspace(y.mean() - 60, y.mean() + 60, 120_001)
    wider = 1 + 1 / n + (grid - y.mean()) ** 2 / spread
    likelihood = student.pdf(
        of["average_rank"], n - 2, x.mean() + slope * (grid - y.mean()), np.sqrt(variance * wider)
    )
    reference = wider ** (-(n - 2) / 2)
    weights = reference * likelihood
    low, middle, high = np.interp([0.025, 0.5, 0.975], np.cumsum(weights) / weights.sum(), grid)
    printed = [of["paper_low"], of["paper_experience"], of["paper_high"]]
    if not np.allclose([low, middle, high], printed, atol=0.002):
        raise AssertionError(f"{low, middle, high} is not the paper's line, {printed}")
    shown = np.flatnonzero((grid >= 0) & (grid <= MOST))[::_THIN]
    title = "People like the seven who were recruited: the regression as in the paper"
    return Answer(title, grid[shown], reference[shown], weights[shown], middle, (low, high))


def _population(study: quem.Study, declared: object, title: str) -> Answer:
    """The estimate of `quem.analyze` for a population."""
    result = quem.analyze(study, reference_population=declared)
    core = result.core
    posterior = core.estimates[0].posterior
    low, middle, high = (
        result.estimates[["reference_low", "reference_experience", "reference_high"]]
        .iloc[0]
        .tolist()
    )
    reference = core.population.density(posterior.grid)
    weights = posterior.weights.copy()
    weights[[0, -1]] *= 2  # densities rather than weights of a trapezoid rule
    thin = slice(None, None, _THIN // 2)
    return Answer(
        title,
        posterior.grid[thin],
        reference[thin],
        weights[thin],
        middle,
        (low, high),
    )


def draw(each: list[Answer]) -> Figure:
    """One row per reference: whom the years speak about, and what is known of the system."""
    with with_style():
        figure = Figure(figsize=(7.2, 5.4))
        rows = figure.subplots(len(each), sharex=True)
        for axes, of in zip(rows, each, strict=True):
            step = of.grid[1] - of.grid[0]
            reference, posterior = (d / d.sum() / step for d in (of.reference, of.posterior))
            axes.fill_between(of.grid, reference, color=GRID)
            axes.fill_between(of.grid, posterior, color=BAND, alpha=0.8)
            axes.plot(of.grid, posterior, color=LINE, linewidth=1.5)
            axes.plot(of.interval, [0.02, 0.02], color=INK, linewidth=2, solid_capstyle="butt")
            axes.plot(of.experience, 0.02, "D", color=INK, markeredgecolor=PAPER, markersize=8)
            low, high = of.interval
            text = f"{of.experience:.1f} years\n95%: {low:.1f} to {high:.1f}"
            axes.text(MOST, 0.3, text, ha="right", va="top")
            axes.set_title(of.title)
            axes.set_xlim(0, MOST)
            axes.set_ylim(0, 0.37)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
        first = each[0]
        top = np.interp(4.2, first.grid, first.reference / first.reference.sum()) / (
            first.grid[1] - first.grid[0]
        )
        rows[0].text(0.2, top, "the reference", color=MUTED, va="bottom")
        rows[0].text(9.0, 0.2, "P3", color=LINE, fontweight="bold")
        rows[-1].set_xlabel("years of experience")
        figure.subplots_adjust(left=0.03, right=0.97, top=0.94, bottom=0.09, hspace=0.4)
    return figure


if __name__ == "__main__":
    IMAGE.write_text(svg_text(draw(answers()), "references"), encoding="utf-8")
