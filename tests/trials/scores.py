"""Scores of systems of known truth: the joint test, and the sample of judges of a certificate."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from statsmodels.stats.multitest import multipletests

from quem.scores.certificate import ENOUGH_JUDGES
from quem.scores.inference import Inference, joint_tests, judge_sample
from tests.trials.runner import allowance, markdown, registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.trials.runner import Results

    Floats = NDArray[np.float64]

_LEVEL = 0.05
_MOST_ERROR = 0.065
_IN_ONE_TRIAL, _TRIALS = 250, 8


class Setting(NamedTuple):
    """Systems of normal scores on queries, of which the first may be better than the others."""

    systems: int
    queries: int
    kind: str = ""  # what is unlike that
    better: float = 0.0

    @property
    def name(self) -> str:
        kind = f", {self.kind}" if self.kind else ""
        return f"{self.systems} x {self.queries}{kind}{', one better' if self.better else ''}"


SETTINGS = (
    *(Setting(systems, 50) for systems in (2, 4, 8)),
    *(Setting(systems, 25, "skewed") for systems in (4, 8)),
    Setting(4, 50, "yes-no scores"),
    Setting(4, 50, "beside a bad one"),
    Setting(4, 50, "beside an erratic one"),
    Setting(6, 50, "twins"),
    Setting(8, 20),
    *(Setting(systems, 50, "", 0.6) for systems in (2, 3, 4, 8)),
    Setting(4, 50, "beside a bad one", 0.6),
    Setting(4, 25, "skewed", 0.8),
    Setting(4, 50, "beside an erratic one", 0.6),
    Setting(6, 50, "twins", 0.6),
)


def _drawn(setting: Setting, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores of the systems on the queries, and the true means."""
    shape = setting.systems, setting.queries
    query = rng.normal(size=setting.queries)
    scores = query + rng.normal(size=shape)
    true = np.zeros(setting.systems)
    if setting.kind == "skewed":
        scores = query + rng.exponential(size=shape) - 1
    elif setting.kind == "yes-no scores":
        scores = (rng.random(shape) < 1 / (1 + np.exp(-2 * query))).astype(float)
    elif setting.kind == "beside a bad one":
        scores[-1] = 0.2 * query - 2 + rng.normal(0, 0.3, setting.queries)
        true[-1] = -2
    elif setting.kind == "beside an erratic one":
        scores[-1] = query + rng.normal(0, 4, setting.queries)
    elif setting.kind == "twins":
        half = setting.systems // 2
        scores[half:] = scores[:half] + rng.normal(0, 0.15, (half, setting.queries))
    scores[0] += setting.better
    true[0] += setting.better
    return scores, true


def _tally(setting: Setting, samples: int, rng: np.random.Generator) -> dict[str, int]:
    """In how many samples equal systems are called different, and the better one is found."""
    pairs = np.array([*combinations(range(setting.systems), 2)])
    testable = np.ones((1, len(pairs)), dtype=bool)
    tally = dict.fromkeys(("wrong", "wrong_by_holm", "found", "found_by_holm"), 0)
    for _ in range(samples):
        scores, true = _drawn(setting, rng)
        apart = (scores[pairs[:, 0]] - scores[pairs[:, 1]]).T[np.newaxis]
        inference = Inference(1 - _LEVEL, 999, int(rng.integers(1 << 31)))
        (test,) = joint_tests(apart, testable, inference)
        equal = true[pairs[:, 0]] == true[pairs[:, 1]]
        for suffix, p in (
            ("", test.p),
            ("_by_holm", multipletests(test.p_alone, method="holm")[1]),
        ):
            significant = p <= inference.alpha
            tally[f"wrong{suffix}"] += bool(significant[equal].any())
            tally[f"found{suffix}"] += bool(setting.better and significant[0])
    return tally


def _shares(results: Results, at: int) -> dict[str, float]:
    """Of all samples of a cell, what share each count is."""
    cells = [result["cells"][at] for result in results]
    samples = len(cells) * _IN_ONE_TRIAL
    return {name: sum(cell[name] for cell in cells) / samples for name in cells[0]}


def _missed_by_systems(results: Results) -> str:
    allowed = allowance(_MOST_ERROR, len(results) * _IN_ONE_TRIAL)
    missed = []
    for at, setting in enumerate(SETTINGS):
        share = _shares(results, at)
        if share["wrong"] > _MOST_ERROR + allowed:
            missed.append(f"{setting.name}: error {share['wrong']:.3f}")
        if share["found"] < share["found_by_holm"]:
            missed.append(f"{setting.name}: power {share['found']:.3f}")
    return "; ".join(missed)


def _table_of_systems(results: Results) -> str:
    def row(at: int, setting: Setting) -> list[str]:
        share, names = _shares(results, at), ("wrong", "wrong_by_holm", "found", "found_by_holm")
        return [
            setting.name,
            *(f"{share[n]:.3f}" if setting.better or n.startswith("wrong") else "" for n in names),
        ]

    head = "systems x queries | error | error, Holm | power | power, Holm"
    return markdown(head, (row(*each) for each in enumerate(SETTINGS)))


@registered("equal-systems", count=_TRIALS, bar=_missed_by_systems, table=_table_of_systems)
def equal_systems(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Systems of known truth under the joint test: equal ones that differ, a better one found."""
    del folder
    drawn = np.random.default_rng(rng.getrandbits(64))
    return {"cells": [_tally(setting, _IN_ONE_TRIAL, drawn) for setting in SETTINGS]}


# Standard deviations of the difference of two systems over queries, over judges, and of the rest.
_OF_QUERIES, _REST = 0.3, 0.2
_TASTES = {"weak": 0.02, "strong": 0.08}
_BETTER = 0.08


class Panel(NamedTuple):
    """Judges who grade what two systems list for queries."""

    judges: int
    queries: int
    taste: str
    difference: float


PANELS = [
    Panel(*cell) for cell in product((3, 4, 5, 8), (50, 200), ("weak", "strong"), (0.0, _BETTER))
]


def _judged(panel: Panel, samples: int, rng: np.random.Generator) -> dict[str, int]:
    """How many intervals cover the difference, and how many are above 0."""
    covers = above = 0
    for _ in range(samples):
        apart = panel.difference + rng.normal(0, _REST, (panel.judges, panel.queries))
        apart += rng.normal(0, _TASTES[panel.taste], (panel.judges, 1))
        apart += rng.normal(0, _OF_QUERIES, panel.queries)
        found = judge_sample(apart, 1 - _LEVEL)
        covers += found.low <= panel.difference <= found.high
        above += found.low > 0
    return {"covers": covers, "above": above}


def _missed_by_judges(results: Results) -> str:
    missed = []
    for at, panel in enumerate(PANELS):
        share = _shares(results, at)
        # Fewer judges never give a yes.
        least, most = (0.925, 0.04) if panel.judges >= ENOUGH_JUDGES else (0.9, 0.055)
        wide = allowance(least, len(results) * _IN_ONE_TRIAL)
        if share["covers"] < least - wide or (
            not panel.difference and share["above"] > most + wide
        ):
            missed.append(f"{panel}: covers {share['covers']:.3f}, above 0 {share['above']:.3f}")
    return "; ".join(missed)


def _table_of_judges(results: Results) -> str:
    def row(at: int, panel: Panel) -> list[object]:
        none, some = _shares(results, at), _shares(results, at + 1)
        shares = none["covers"], some["covers"], none["above"], some["above"]
        return [*panel[:3], *(f"{share:.3f}" for share in shares)]

    head = "judges | queries | taste | covers, no difference | covers, a difference"
    head += " | above 0, no difference | above 0, a difference"
    return markdown(head, (row(at, PANELS[at]) for at in range(0, len(PANELS), 2)))


@registered("judges-sample", count=_TRIALS, bar=_missed_by_judges, table=_table_of_judges)
def judges_sample(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Coverage of the interval for other judges, and how often it is wrongly above 0."""
    del folder
    drawn = np.random.default_rng(rng.getrandbits(64))
    return {"cells": [_judged(panel, _IN_ONE_TRIAL, drawn) for panel in PANELS]}
