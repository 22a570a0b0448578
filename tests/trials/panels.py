"""Simulated systems on reference panels: how often their intervals cover, and how wide they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from quem.experience.skill import FORMS, fit
from quem.experience.virtual_placement import place_among_anchors
from quem.panels.package import PanelPerson, PanelProblem, PanelSpec, ReferencePanel
from quem.panels.placing import draw_anchors, seed_of
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_STUDIES = 250  # of each cell, in one trial
_LEVEL = 0.95
_WAYS = ("all ranked again", "w", "w and τ²")
_MOST_OFF, _MOST_OFF_MEAN = 2.5, 0.5


class Noise(NamedTuple):
    """Standard deviations, in years."""

    person: float
    solution: float
    judge: float
    taste: float


_LOW, _HIGH, _ALIKE = Noise(1, 1, 1, 0.5), Noise(2, 2, 2, 1), Noise(0.3, 2, 2, 0.5)


class Cell(NamedTuple):
    """A kind of session, and the coverage in percent that the method's tables give."""

    noise: Noise
    # Of a full session, with w alone, and with the larger of w and τ².
    expected: tuple[float | None, float | None, float | None]
    anchors: int = 4
    people: int = 12
    problems: int = 8
    old: int = 3
    new: int = 2
    shift: float = 0.0  # standard deviation of a new taste that the new judges share, in years


CELLS = {
    "little noise, 2 anchors": Cell(_LOW, (None, 95.0, None), anchors=2),
    "little noise, 4 anchors": Cell(_LOW, (93.5, 95.4, 95.5)),
    "little noise, 6 anchors": Cell(_LOW, (None, 95.7, 95.3), anchors=6),
    "much noise, 2 anchors": Cell(_HIGH, (None, 96.5, None), anchors=2),
    "much noise, 4 anchors": Cell(_HIGH, (96.2, 97.2, 96.9)),
    "people alike, 2 anchors": Cell(_ALIKE, (None, 94.9, None), anchors=2),
    "people alike, 4 anchors": Cell(_ALIKE, (94.9, 96.2, 97.0)),
    "1 new judge": Cell(_LOW, (94.6, 94.8, None), new=1),
    "1 new judge of strong taste": Cell(_LOW._replace(taste=1.5), (94.7, 96.3, None), new=1),
    "4 problems": Cell(_LOW, (93.5, 94.8, None), problems=4),
    "8 people": Cell(_LOW, (92.3, 94.3, None), people=8),
    "2 old judges": Cell(_LOW, (93.8, 95.0, None), old=2),
    # What w alone covers here is not claimed: the table has 86.6 and 75.0, and 89.8 and 77.6 come
    # out, 3.2 and 2.6 points off. The larger of w and τ² is what an analysis uses.
    "other school by 1 year": Cell(_LOW, (95.0, None, 91.8), shift=1),
    "other school by 2 years": Cell(_LOW, (95.0, None, 90.7), shift=2),
    "other school by 2 years, 6 anchors": Cell(_LOW, (None, None, 93.1), shift=2, anchors=6),
    "much noise, other school by 2 years": Cell(_HIGH, (None, None, 95.0), shift=2),
    "people alike, other school by 2 years": Cell(_ALIKE, (None, None, 89.1), shift=2),
}


@dataclass(frozen=True, repr=False)
class _Panel(ReferencePanel):
    """A panel without files: everybody solved everything."""

    def solved(self, problem: str) -> tuple[str, ...]:
        del problem
        return self.people


def simulate(cell: Cell, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Draw a panel and a session on it."""
    n, own = cell.people, cell.people
    truth = float(rng.uniform(1, 12))
    years = np.append(np.linspace(1, 12, n), truth)
    noise = cell.noise
    quality = years + rng.normal(0, noise.person, n + 1)
    made = quality + rng.normal(0, noise.solution, (cell.problems, n + 1))

    def seen(judges: int) -> Floats:
        taste = rng.normal(0, noise.taste, (judges, 1, n + 1))
        return made + taste + rng.normal(0, noise.judge, (judges, *made.shape))

    old = rankdata(seen(cell.old)[..., :own], axis=-1)
    new = seen(cell.new) + rng.normal(0, cell.shift, n + 1)
    people = [f"p{i:02d}" for i in range(n)]
    problems = [f"P{p}" for p in range(cell.problems)]
    spec = PanelSpec(
        id="simulated",
        title="",
        made_on=None,
        problems=tuple(PanelProblem(id=one) for one in problems),
        people=tuple(
            PanelPerson(id=one, experience=y) for one, y in zip(people, years, strict=False)
        ),
        judges=tuple(f"J{j}" for j in range(cell.old)),
    )
    ranks = {
        (f"J{j}", problem): dict(zip(people, old[j, p].tolist(), strict=True))
        for j in range(cell.old)
        for p, problem in enumerate(problems)
    }
    panel = _Panel(None, spec, {"SHA256SUMS": rng.bytes(16)}, ranks)  # type: ignore[arg-type]
    given = {}
    for p, problem in enumerate(problems):
        seed = seed_of(panel.digest, problem, ["bot"])
        anchors = draw_anchors(panel.consensus(problem), cell.anchors, seed)
        for j in range(cell.new):
            of = {one: float(new[j, p, people.index(one)]) for one in anchors}
            given[f"N{j}", problem] = of | {"bot": float(new[j, p, own])}
    placed = place_among_anchors(panel, given, ["bot"], cell.anchors)
    function = fit(FORMS["linear"], *placed.averages.fitted())
    x = placed.averages.average[-1:]
    added = placed.added("bot")
    again = rankdata(new, axis=-1).mean(axis=(0, 1))
    line = fit(FORMS["linear"], again[:own], years[:own])
    ways = (
        (line.predict(again[own:]), line.predictive(again[own:])),
        (function.predict(x), function.predictive(x, placed.widening["bot"])),
        (function.predict(x), function.predictive(x, added=added)),
    )
    return {
        way: (abs(float(found[0]) - truth), float(interval.half_width(_LEVEL)[0]))
        for way, (found, interval) in zip(_WAYS, ways, strict=True)
    }


def _run(cell: Cell, rng: np.random.Generator) -> dict[str, list[float]]:
    """Simulate a cell: how many intervals cover, and the sum of half-widths, by way."""
    counts = {way: [0.0, 0.0] for way in _WAYS}
    for _ in range(_STUDIES):
        for way, (error, half) in simulate(cell, rng).items():
            counts[way][0] += error <= half
            counts[way][1] += half
    return counts


def _pooled(results: list[dict[str, Any]]) -> dict[str, dict[str, Floats]]:
    """Give the share of intervals that cover, and the mean half-width, by cell and way."""
    total = _STUDIES * len(results)
    return {
        name: {
            way: np.sum([result["cells"][name][way] for result in results], axis=0) / total
            for way in _WAYS
        }
        for name in results[0]["cells"]
    }


def _table(results: list[dict[str, Any]]) -> str:
    """Write the table of the documentation."""
    lines = [
        "| session | all people ranked again | w alone | the larger of w and τ² |",
        "|---|---|---|---|",
    ]
    for name, cell in _pooled(results).items():
        texts = (f"{100 * cell[way][0]:.1f}, ± {cell[way][1]:.2f}" for way in _WAYS)
        lines.append(f"| {' | '.join([name, *texts])} |")
    return "\n".join(lines)


def _bar(results: list[dict[str, Any]]) -> str:
    """Say what the cells of all trials miss together."""
    missed, off = [], []
    for name, cell in _pooled(results).items():
        for way, expected in zip(_WAYS, CELLS[name].expected, strict=True):
            if expected is None:
                continue
            off.append(100 * cell[way][0] - expected)
            if abs(off[-1]) > _MOST_OFF:
                missed.append(f"{name}: {way} covers {100 * cell[way][0]:.1f}, not {expected}")
    if abs(np.mean(off)) > _MOST_OFF_MEAN:
        missed.append(f"coverage is {np.mean(off):+.2f} points off in the mean")
    return "; ".join(missed)


@registered("panels", count=8, bar=_bar, table=_table)
def panels(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Coverage of systems that are placed on reference panels."""
    del folder
    return {
        "cells": {
            name: _run(cell, np.random.default_rng(rng.getrandbits(64)))
            for name, cell in CELLS.items()
        }
    }
