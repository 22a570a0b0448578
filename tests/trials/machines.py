"""Simulated studies with machine judges: how often intervals cover, and how wide they are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from quem.method.averages import average_cells
from quem.method.variances import Variance, variations
from quem.parts.machines import Use, control_variate, erratic
from quem.simulation import LOW
from tests.trials.estimates import Said, Tally, cells_of, said_of
from tests.trials.panels import ALIKE
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.simulation import Noise
    from tests.trials.runner import Results

    Floats = NDArray[np.float64]

_SUBJECTS, _PROBLEMS, _EXPERTS = 12, 24, 2
_YEARS = np.linspace(1, 12, _SUBJECTS)
MACHINES = ("fair", "favors systems", "jumps", "reversed", "last", "length", "noise")
TALLY = Tally(
    "noise, n: machine | experts alone | with the machine | widened | what leads | speaks",
    ("experts", "machine", "widened", "leads"),
    "widened",
)
# In percent: of the estimates for the population that cover; and in relation to the experts', the
# width where the machine is as good as an expert.
_BAR, _MOST_WIDE = 92.5, 1.1


# The noise, and the number of problems that experts rank.
ROWS = {
    f"{name}, {n}": (noise, n) for name, noise in (("low", LOW), ("alike", ALIKE)) for n in (3, 6)
}


def simulate(
    noise: Noise, ranked: int, machine: str, rng: np.random.Generator
) -> tuple[Floats, Floats, float]:
    """Draw a study: ranks by experts and by a machine judge, and the years of the system.

    Shapes: ranks (experts, problems, solvers) and (1, problems, solvers).
    """
    truth = float(rng.uniform(1, 12))
    n = _SUBJECTS + 1
    years = np.append(_YEARS, truth)
    quality = years + rng.normal(0, noise.person, n)
    made = quality + rng.normal(0, noise.solution, (_PROBLEMS, n))
    seen = made[:ranked] + rng.normal(0, noise.judge, (_EXPERTS, ranked, n))
    seen = seen + rng.normal(0, noise.taste, (_EXPERTS, 1, n))
    ranks = np.full((_EXPERTS, _PROBLEMS, n), np.nan)
    ranks[:, :ranked] = rankdata(seen, axis=-1)
    judged = made + rng.normal(0, 0.7, n) + rng.normal(0, 1, made.shape)
    if machine == "favors systems":
        judged[:, -1] += 3
    elif machine == "jumps":
        judged[:, -1] += rng.normal(0, 3, _PROBLEMS)
    elif machine == "length":
        judged += rng.normal(0, 1, made.shape) + 2 * (np.arange(n) == n - 1)
    elif machine == "noise":
        judged = rng.normal(0, 3, made.shape)
    places = _places(machine, rng, made.shape)
    return ranks, rankdata(judged - 2 * places, axis=-1).mean(axis=0)[np.newaxis], truth


def _places(machine: str, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Standardized places in two orders; 0 where they do not count."""
    n = shape[1]
    if machine not in ("reversed", "last"):
        return np.zeros((2, *shape))
    drawn = rng.random((2, *shape)).argsort(axis=-1).astype(float)
    drawn[1] = n - 1 - drawn[0]
    if machine == "last":
        others = rng.random((2, shape[0], n - 1)).argsort(axis=-1).astype(float)
        drawn = np.concatenate([others, np.full((2, shape[0], 1), n - 1.0)], axis=-1)
    return np.asarray((drawn - (n - 1) / 2) / np.sqrt((n**2 - 1) / 12))


def estimates(ranks: Floats, m: Floats, truth: float) -> dict[str, Said]:
    cells, n = cells_of(ranks), ranks.shape[-1]
    years = np.append(_YEARS, np.nan)
    h = np.full(ranks.shape[1:], np.nan)
    ranked = np.isfinite(ranks).any(axis=(0, 2))
    h[ranked] = ranks[:, ranked].mean(axis=0)
    control = control_variate(h, m)
    use = Use((), (), {}, control=control, said=np.einsum("k,kps->ps", control.beta, m))
    found = {}
    for way, of in (("experts", cells), ("machine", use.applied(cells))):
        averages = average_cells(of, years)
        (variation,) = variations(of, averages).values()
        found[way] = said_of(averages, variation, truth)["population"]
    more = erratic(control, np.arange(n) < n - 1, n - 1)
    if more.variance:
        added = Variance(more.variance / n**2 / averages.weight[-1], more.df)
        variation = replace(variation, more=(added,))
    widened = said_of(averages, variation, truth)
    return {**found, "widened": widened["population"], "leads": widened["leads"]}


def _one(noise: Noise, ranked: int, machine: str, rng: np.random.Generator) -> dict[str, Said]:
    return estimates(*simulate(noise, ranked, machine, rng))


def _bar(results: Results) -> str:
    missed = []
    for name, cell in TALLY.pooled(results).items():
        of, alone = cell["widened"], cell["experts"].half
        if of.covers < _BAR:
            missed.append(f"{name}: covers {of.covers:.1f}")
        if name.endswith((": fair", ": noise")) and of.half > _MOST_WIDE * alone:
            missed.append(f"{name}: half-width {of.half / alone:.3f} of the experts'")
    return "; ".join(missed)


@registered("machines", count=8, bar=_bar, table=TALLY.table)
def machines(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Coverage with machine judges of seven biases."""
    del folder
    return {
        "cells": {
            f"{name}: {machine}": TALLY.run(partial(_one, *row, machine), rng)
            for name, row in ROWS.items()
            for machine in MACHINES
        }
    }
