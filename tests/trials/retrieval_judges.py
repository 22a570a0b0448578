"""Simulated judgments of retrieved cases: how often intervals cover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.lists import measure
from quem.lists.inference import query_means
from quem.retrieval.bases import named_only
from quem.retrieval.judges import JudgeGrades
from quem.retrieval.lists import lists_of, score_lists
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
