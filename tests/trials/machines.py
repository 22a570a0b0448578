"""Simulated studies with machine judges: how often intervals cover, and how wide they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit
from scipy.stats import rankdata

from quem.experience.control import control_variate, erratic
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.experience.control import Erratic

    Floats = NDArray[np.float64]

_SUBJECTS, _PROBLEMS, _EXPERTS = 12, 24, 2
_YEARS = np.linspace(1, 12, _SUBJECTS)
_STUDIES = 250  # of each cell, in one trial
MACHINES = ("fair", "likes systems", "random order", "reversed", "last", "length", "noise")


class Row(NamedTuple):
    """The noise of a study, the problems that experts rank, and what the method's tables say.

    Coverage in percent and half-width of the experts alone, with a machine that likes systems by
    3 years, and with what is added where it is erratic.
    """

    person: float
    solution: float
    judge: float
    taste: float
    n: int
    expected: tuple[tuple[float, float], ...]
    most: float


ROWS = {
    "low, 3": Row(1, 1, 1, 0.5, 3, ((94.5, 2.75), (94.4, 2.69), (94.8, 2.77)), 1.08),
    "low, 6": Row(1, 1, 1, 0.5, 6, ((93.9, 2.50), (93.6, 2.46), (93.9, 2.48)), 1.04),
    "alike, 3": Row(0.3, 2, 2, 0.5, 3, ((95.2, 3.30), (95.2, 2.85), (95.6, 3.04)), 1.08),
    "alike, 6": Row(0.3, 2, 2, 0.5, 6, ((95.0, 2.49), (94.7, 2.19), (95.1, 2.25)), 1.04),
}
_WAYS = ("experts", "machine", "widened")
# Percentage points; the half-width of what is not widened, relative to that of the experts.
_MOST_OFF, _MOST_OFF_MEAN, _MOST_WIDE = 2.5, 0.5, 1.02


def simulate(row: Row, machine: str, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Draw a study: ranks by experts and by a machine judge, and the years of the system.

    Shapes: `h` (problems, solvers); `m` (1, problems, solvers).
    """
    truth = float(rng.uniform(1, 12))
    n = _SUBJECTS + 1
    years = np.append(_YEARS, truth)
    quality = years + rng.normal(0, row.person, n)
    made = quality + rng.normal(0, row.solution, (_PROBLEMS, n))
    seen = made[: row.n] + rng.normal(0, row.judge, (_EXPERTS, row.n, n))
    seen = seen + rng.normal(0, row.taste, (_EXPERTS, 1, n))
    h = np.full((_PROBLEMS, n), np.nan)
    h[: row.n] = rankdata(seen, axis=-1).mean(axis=0)
    judged = made + rng.normal(0, 0.7, n) + rng.normal(0, 1, made.shape)
    if machine == "likes systems":
        judged[:, -1] += 3
    elif machine == "length":
        judged += rng.normal(0, 1, made.shape) + 2 * (np.arange(n) == n - 1)
    elif machine == "noise":
        judged = rng.normal(0, 3, made.shape)
    places = _places(machine, rng, made.shape)
    return h, rankdata(judged - 2 * places, axis=-1).mean(axis=0)[np.newaxis], truth


def _places(machine: str, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Give standardized places in two orders; 0 where they do not count."""
    n = shape[1]
    if machine not in ("random order", "reversed", "last"):
        return np.zeros((2, *shape))
    drawn = rng.random((2, *shape)).argsort(axis=-1).astype(float)
    if machine == "reversed":
        drawn[1] = n - 1 - drawn[0]
    if machine == "last":
        others = rng.random((2, shape[0], n - 1)).argsort(axis=-1).astype(float)
        drawn = np.concatenate([others, np.full((2, shape[0], 1), n - 1.0)], axis=-1)
    return np.asarray((drawn - (n - 1) / 2) / np.sqrt((n**2 - 1) / 12))


def _interval(x: Floats, added: Erratic | None = None) -> tuple[float, float]:
    """Give the estimate of the system, the last one, and half of its prediction interval."""
    people, own = x[:-1], x[-1]
    off = people - people.mean()
    spread = float(off @ off)
    slope = float(off @ (_YEARS - _YEARS.mean())) / spread
    rest = _YEARS - _YEARS.mean() - slope * off
    df = _SUBJECTS - 2
    at = float(own - people.mean())
    variance = float(rest @ rest) / df * (1 + 1 / _SUBJECTS + at**2 / spread)
    freedom = float(df)
    if added and added.variance:
        more = slope**2 * added.variance
        freedom = (variance + more) ** 2 / (variance**2 / df + more**2 / added.df)
        variance += more
    half = float(stdtrit(freedom, 0.975)) * np.sqrt(variance)
    return float(_YEARS.mean() + slope * at), float(half)


def _cell(row: Row, machine: str, rng: np.random.Generator) -> dict[str, list[float]]:
    """Simulate a cell: how many intervals cover, and the sum of half-widths, in three ways."""
    people = np.arange(_SUBJECTS + 1) < _SUBJECTS
    counts = {way: [0.0, 0.0] for way in _WAYS}
    for _ in range(_STUDIES):
        h, m, truth = simulate(row, machine, rng)
        control = control_variate(h, m)
        alone = np.nanmean(h, axis=0)
        with_machine = alone + control.shift
        ways = {
            "experts": _interval(alone),
            "machine": _interval(with_machine),
            "widened": _interval(with_machine, erratic(control, people, _SUBJECTS)),
        }
        for way, (estimate, half) in ways.items():
            counts[way][0] += abs(estimate - truth) <= half
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


def _tables(results: list[dict[str, Any]]) -> str:
    """Write the table of the documentation."""
    lines = [
        "| noise, n: machine | experts alone | with the machine | widened where it is erratic |",
        "|---|---|---|---|",
    ]
    for name, cell in _pooled(results).items():
        texts = (f"{100 * cell[way][0]:.1f}, ± {cell[way][1]:.2f}" for way in _WAYS)
        lines.append(f"| {' | '.join([name, *texts])} |")
    return "\n".join(lines)


def _bar(results: list[dict[str, Any]]) -> str:
    """Say what the cells of all trials miss together."""
    missed: list[str] = []
    off: list[float] = []
    for name, cell in _pooled(results).items():
        of_row, machine = name.split(": ")
        row = ROWS[of_row]
        alone = cell["experts"][1]
        if cell["machine"][1] > _MOST_WIDE * alone:
            missed.append(f"{name}: half-width {cell['machine'][1] / alone:.3f} of the experts'")
        if cell["widened"][1] > row.most * alone:
            missed.append(f"{name}: widened to {cell['widened'][1] / alone:.3f} of the experts'")
        if machine != "likes systems":
            continue
        for way, (coverage, _) in zip(_WAYS, row.expected, strict=True):
            off.append(100 * cell[way][0] - coverage)
            if abs(off[-1]) > _MOST_OFF:
                missed.append(f"{name}: {way} covers {100 * cell[way][0]:.1f}, not {coverage}")
    if abs(np.mean(off)) > _MOST_OFF_MEAN:
        missed.append(f"coverage is {np.mean(off):+.2f} points off in the mean")
    return "; ".join(missed)


@registered("machines", count=8, bar=_bar, table=_tables)
def machines(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Coverage with machine judges of seven biases."""
    del folder
    return {
        "cells": {
            f"{of_row}: {machine}": _cell(row, machine, np.random.default_rng(rng.getrandbits(64)))
            for of_row, row in ROWS.items()
            for machine in MACHINES
        }
    }
