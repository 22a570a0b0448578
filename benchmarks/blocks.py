"""What blocks cost: the error of estimates from whole lists and from blocks of 8.

20 solvers, of whom two are systems as good as people of 4 and of 9 years; the same studies are
judged in each way. *Apart* are blocks that share no solution, *full* ones share as many as fit
into as few blocks of 8.

Run with ``python benchmarks/blocks.py`` (two minutes); ``--studies`` says how many. Prints the
tables of docs/explanation/blocks.md.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from quem.method.plackett_luce import expected_ranks, fit_plackett_luce, weak_orders
from quem.studyfile.blocks import PairCounts, deal_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SOLVERS, BLOCK_SIZE, WAYS = 20, 8, 12
SYSTEMS = (4.0, 9.0)
DESIGNS = ((3, 6), (2, 3), (1, 3))
# Standard deviations of person, solution, impression, and taste, in years.
NOISES = {"low": (1.0, 1.0, 1.0, 0.5), "high": (2.0, 2.0, 2.0, 1.0)}
RIDGES = (0.0001, 0.01, 0.1, 1.0)
Blocks = list[tuple[str, ...]]
# Years of people (studies, people), and ranks (studies, judges, problems, solvers)
Simulated = tuple[np.ndarray, np.ndarray]


def main() -> int:
    """Simulate and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    studies = parser.parse_args().studies
    people = SOLVERS - len(SYSTEMS)
    print(f"RMSE in years, {people} subjects and 2 systems, {studies:,} studies (low / high)")
    print("| judges × problems | one list, ranks | one list | apart | overlapping | full |")
    ways = {"apart": apart, "overlapping": overlapping, "full": full}
    for judges, problems in DESIGNS:
        cells = [f"{judges} × {problems}"]
        simulations = [simulated(noise, judges, problems, studies) for noise in NOISES]
        cells.append(_pair(rmse(s, s[1].mean(axis=(1, 2))) for s in simulations))
        cells.append(_pair(rmse(s, worths(s, whole, 0.01)) for s in simulations))
        cells += [
            _pair(rmse(s, worths(s, way, 0.01)) for s in simulations) for way in ways.values()
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    print("RMSE by ridge, 2 judges × 3 problems, overlapping")
    simulations = [simulated(noise, 2, 3, studies) for noise in NOISES]
    for ridge in RIDGES:
        print(ridge, _pair(rmse(s, worths(s, overlapping, ridge)) for s in simulations), flush=True)
    return 0


def _pair(values: Iterable[float]) -> str:
    return " / ".join(f"{value:.2f}" for value in values)


def simulated(noise: str, judges: int, problems: int, studies: int) -> Simulated:
    """Draw studies, the same at each call: systems are as good as their years say."""
    rng = np.random.default_rng(judges * problems)
    person, solution, impression, taste = NOISES[noise]
    people = SOLVERS - len(SYSTEMS)
    years = rng.uniform(1, 12, (studies, people))
    level = np.hstack([years + rng.normal(0, person, years.shape), np.tile(SYSTEMS, (studies, 1))])[
        :, np.newaxis, np.newaxis
    ]
    shape = (studies, judges, problems, SOLVERS)
    seen = level + rng.normal(0, solution, (studies, 1, problems, SOLVERS))
    seen = seen + rng.normal(0, taste, (studies, judges, 1, SOLVERS))
    seen = seen + rng.normal(0, impression, shape)
    return years, seen.argsort(axis=3).argsort(axis=3) + 1.0


def rmse(simulation: Simulated, x: np.ndarray) -> float:
    """The error of the systems' estimates by the scores x, shape (studies, solvers)."""
    y = simulation[0]
    people, systems = np.split(x, [y.shape[1]], axis=1)
    off = people - people.mean(axis=1, keepdims=True)
    slope = (off * y).sum(axis=1, keepdims=True) / (off**2).sum(axis=1, keepdims=True)
    estimates = y.mean(axis=1, keepdims=True) + slope * (
        systems - people.mean(axis=1, keepdims=True)
    )
    return float(np.sqrt(np.mean((estimates - SYSTEMS) ** 2)))


def worths(
    simulation: Simulated, way: Callable[[PairCounts, Random], Blocks], ridge: float
) -> np.ndarray:
    """Expected ranks of all solvers in all studies, judged in blocks that are dealt in a way."""
    ranks_of = simulation[1]
    _, judges, problems, solvers = ranks_of.shape
    dealt = [_dealt(way, judges * problems, seed) for seed in range(WAYS)]
    scores = np.empty((len(ranks_of), solvers))
    for index, ranks in enumerate(ranks_of):
        ranking, group, solver = dealt[index % WAYS]
        rank = ranks.reshape(judges * problems, solvers)[group, solver]
        model = fit_plackett_luce(weak_orders(ranking, solver, rank), solvers, ridge=ridge)
        scores[index] = expected_ranks(model, np.ones(solvers, dtype=bool))
    return scores


def _dealt(
    way: Callable[[PairCounts, Random], Blocks], groups: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranking, group and solver of every place."""
    rng, met = Random(seed), PairCounts()  # noqa: S311  chance here guards no secret
    blocks = [(group, block) for group in range(groups) for block in way(met, rng)]
    rows = [
        (ranking, group, int(solver))
        for ranking, (group, block) in enumerate(blocks)
        for solver in block
    ]
    ranking, group, solver = np.array(rows).T
    return ranking, group, solver


def _names(rng: Random) -> list[str]:
    names = [str(solver) for solver in range(SOLVERS)]
    rng.shuffle(names)
    return names


def whole(met: PairCounts, rng: Random) -> Blocks:  # noqa: ARG001  like the other ways
    """One list."""
    return [tuple(_names(rng))]


def overlapping(met: PairCounts, rng: Random) -> Blocks:
    """Blocks as they are dealt."""
    return deal_blocks(_names(rng), BLOCK_SIZE, met, rng)


def apart(met: PairCounts, rng: Random) -> Blocks:
    """As few blocks as possible, of sizes as equal, that share no solution."""
    count = -(-SOLVERS // BLOCK_SIZE)
    ends = [round(SOLVERS * block / count) for block in range(count + 1)]
    return _best(met, rng, list(pairwise(ends)))


def full(met: PairCounts, rng: Random) -> Blocks:
    """As few blocks, filled up with solutions of the next."""
    count = -(-SOLVERS // BLOCK_SIZE)
    starts = [round((SOLVERS - BLOCK_SIZE) * block / (count - 1)) for block in range(count)]
    return _best(met, rng, [(start, start + BLOCK_SIZE) for start in starts])


def _best(met: PairCounts, rng: Random, ends: list[tuple[int, int]]) -> Blocks:
    """Of 100 random rows the one in which those who share a block met least often before."""
    rows = [_names(rng) for _ in range(100)]
    dealt = [[tuple(row[start:end]) for start, end in ends] for row in rows]
    blocks = min(dealt, key=lambda candidate: sum(_times(met, block) for block in candidate))
    for block in blocks:
        met.add(block)
    return blocks


def _times(met: PairCounts, block: tuple[str, ...]) -> int:
    return sum(met.times.get(frozenset((a, b)), 0) for a in block for b in block if a < b)


if __name__ == "__main__":
    sys.exit(main())
