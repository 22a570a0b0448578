"""Simulated judgments of retrieved cases: how often intervals cover, with judges and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.lists import measure
from quem.lists.inference import query_means
from quem.retrieval.bases import named_only
from quem.retrieval.judges import JudgeGrades
from quem.retrieval.lists import lists_of, score_lists
from quem.retrieval.machine_grades import powered_mean
from quem.retrieval.truth import panel_means, panels_of
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LEVEL = 0.95
_CASES = 12
_MEASURE = measure("nDCG@5")


class Panel(NamedTuple):
    """A way to judge."""

    judges: int
    queries: int
    # Standard deviation of how much better judges like the kind of case that the first retriever
    # prefers, in grades.
    taste: float
    noise: float  # standard deviation of a grade


PANELS = {
    "5 judges of one taste, 30 queries": Panel(5, 30, 0.0, 0.5),
    "5 judges of different tastes, 30 queries": Panel(5, 30, 0.7, 0.5),
    "5 judges of different tastes, 100 queries": Panel(5, 100, 0.7, 0.5),
    "9 judges of different tastes, 100 queries": Panel(9, 100, 0.7, 0.5),
    "3 judges of different tastes, 100 queries": Panel(3, 100, 0.7, 0.5),
}
_TARGETS: dict[Panel, float] = {}


def _judged(
    panel: Panel, n: int, rng: np.random.Generator, tastes: Floats
) -> tuple[Floats, Floats, Floats]:
    """Draw queries: the grades of each judge, and the scores that two retrievers give each case."""
    relevance = 3 * rng.random((n, _CASES)) ** 2
    style = rng.choice([-1.0, 1.0], (n, _CASES))
    liking = tastes[:, np.newaxis, np.newaxis] * style / 2
    seen = relevance + liking + rng.normal(0, panel.noise, (len(tastes), n, _CASES))
    first = relevance + 0.6 * style + rng.normal(0, 0.6, relevance.shape)
    second = relevance - 0.6 * style + rng.normal(0, 0.7, relevance.shape)
    return np.clip(np.round(seen), 0, 3), first, second


def _differences(first: Floats, second: Floats, grades: JudgeGrades, weights: Any) -> Floats:  # noqa: ANN401
    queries, cases = named_only(grades.queries), named_only(grades.cases)
    truth = grades.lists(queries, cases, weights)
    each = [
        score_lists(_listed(scores, grades), truth, [_MEASURE]).values for scores in (first, second)
    ]
    return np.asarray(each[0] - each[1])


def _listed(scores: Floats, grades: JudgeGrades) -> Any:  # noqa: ANN401  lists
    order = np.argsort(-scores, axis=1).astype(np.int32)
    rows = zip(order, np.take_along_axis(scores, order, axis=1), strict=True)
    return lists_of(grades.queries, grades.cases, rows)


def _grades_of(grade: Floats) -> JudgeGrades:
    judges, queries, cases = grade.shape
    judge, query, case = (at.ravel() for at in np.indices(grade.shape))
    return JudgeGrades(
        "",
        "",
        tuple(f"J{at}" for at in range(judges)),
        tuple(f"q{at}" for at in range(queries)),
        tuple(f"c{at}" for at in range(cases)),
        query,
        case,
        judge,
        grade.ravel(),
    )


def _target(panel: Panel) -> float:
    """The mean difference over queries and panels of as many judges, by many of both."""
    if panel not in _TARGETS:
        rng = np.random.default_rng(1)
        means = []
        for _ in range(400):
            tastes = rng.normal(0, panel.taste, panel.judges)
            grade, first, second = _judged(panel, 60, rng, tastes)
            means.append(np.nanmean(_differences(first, second, _grades_of(grade), None)))
        _TARGETS[panel] = float(np.mean(means))
    return _TARGETS[panel]


def covers_with_judges(panel: Panel, rng: np.random.Generator) -> tuple[bool, bool]:
    """Say whether the interval over judges and queries covers, and the one over queries."""
    grade, first, second = _judged(
        panel, panel.queries, rng, rng.normal(0, panel.taste, panel.judges)
    )
    grades = _grades_of(grade)
    panels = panels_of(panel.judges, rng)
    each = [_differences(first, second, grades, weights) for weights in panels.weights]
    (low, high) = panel_means(each, panels, level=_LEVEL, replicates=1000, seed=0)[0]
    alone = query_means(
        _differences(first, second, grades, None), level=_LEVEL, replicates=1000, seed=0
    )
    target = _target(panel)
    return bool(low <= target <= high), bool(alone.low[0] <= target <= alone.high[0])


_AT_ONCE = 25


def _panel_table(results: list[dict[str, Any]]) -> str:
    total = _AT_ONCE * len(results)
    lines = ["| judges and queries | over judges and queries | over queries |", "|---|---|---|"]
    for name in results[0]["cells"]:
        both = np.sum([one["cells"][name] for one in results], axis=0) / total
        lines.append(f"| {name} | {100 * both[0]:.1f}% | {100 * both[1]:.1f}% |")
    return "\n".join(lines)


@registered("retrieval-judges", count=8, table=_panel_table)
def retrieval_judges(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Coverage of differences of retrievers over judges and queries, and over queries alone."""
    del folder
    cells = {}
    for name, panel in PANELS.items():
        own = np.random.default_rng(rng.getrandbits(64))
        cells[name] = np.sum([covers_with_judges(panel, own) for _ in range(_AT_ONCE)], axis=0)
    return {"cells": {name: both.tolist() for name, both in cells.items()}}


class Machine(NamedTuple):
    """Machine judges beside experts."""

    n: int  # queries that experts judged, of 200
    # Standard deviation of the machine's score of a query; None where it is of another query.
    noise: float | None
    bias: float = 0.0  # by how much the machine's scores are too high


_KINDS = {"good": (0.12, 0.0), "biased": (0.12, 0.3), "useless": (None, 0.0)}
MACHINES = {f"{kind}, n = {n}": Machine(n, *_KINDS[kind]) for n in (15, 25, 50) for kind in _KINDS}
_N = 200
_MEAN = 0.05
_STUDIES = 250


def covers_with_machines(machine: Machine, rng: np.random.Generator) -> tuple[bool, bool, float]:
    """Say whether intervals cover, with machines and by experts alone; and the share of width."""
    h = rng.normal(_MEAN, 0.3, _N)
    if machine.noise is None:
        m = rng.normal(0, 0.3, _N)
    else:
        m = np.clip(h + rng.normal(machine.bias, machine.noise, _N), -1, 1)
    labeled = np.zeros(_N, dtype=bool)
    labeled[rng.permutation(_N)[: machine.n]] = True
    found = powered_mean(np.where(labeled, h, np.nan), m, labeled, level=_LEVEL)
    (low, high), (alone_low, alone_high) = found.interval, found.alone_interval
    share = (high - low) / (alone_high - alone_low)
    return low <= _MEAN <= high, alone_low <= _MEAN <= alone_high, share


def _machine_bar(results: list[dict[str, Any]]) -> str:
    total = _STUDIES * len(results)
    missed = []
    for name in results[0]["cells"]:
        covered = 100 * sum(one["cells"][name][0] for one in results) / total
        if abs(covered - 100 * _LEVEL) > 2:
            missed.append(f"{name}: covers {covered:.1f}%")
    return "; ".join(missed)


def _machine_table(results: list[dict[str, Any]]) -> str:
    total = _STUDIES * len(results)
    lines = ["| machine | with machines | experts alone | width |", "|---|---|---|---|"]
    for name in results[0]["cells"]:
        with_, alone, share = np.sum([one["cells"][name] for one in results], axis=0) / total
        lines.append(f"| {name} | {100 * with_:.1f}% | {100 * alone:.1f}% | {100 * share:.0f}% |")
    return "\n".join(lines)


@registered("retrieval-machines", count=8, bar=_machine_bar, table=_machine_table)
def retrieval_machines(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Coverage of means with machine judges: within 2 points of 95% for 15 to 50 of 200 queries."""
    del folder
    cells = {}
    for name, machine in MACHINES.items():
        own = np.random.default_rng(rng.getrandbits(64))
        each = [covers_with_machines(machine, own) for _ in range(_STUDIES)]
        cells[name] = np.sum(each, axis=0).tolist()
    return {"cells": cells}
