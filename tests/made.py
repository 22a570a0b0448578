"""Studies made in memory, for tests that need many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import quem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def study_of(
    ranks: NDArray[np.float64],
    years: Sequence[float],
    systems: int = 1,
    **keys: Any,  # noqa: ANN401  keys of a study file
) -> quem.Study:
    """A study of ranks (judges, problems, solvers), NaN where there is none.

    The first solvers are subjects S1, S2, ...; the last ones systems K1, K2, ...
    """
    solvers = ranks.shape[2]
    names = [f"S{at + 1}" for at in range(len(years))]
    names += [f"K{at + 1}" for at in range(solvers - len(years))]
    at = np.argwhere(np.isfinite(ranks))
    table = {
        "judge": [f"J{j + 1}" for j, _, _ in at],
        "problem": [f"P{p + 1}" for _, p, _ in at],
        "solver": [names[s] for _, _, s in at],
        "rank": [float(ranks[tuple(one)]) for one in at],
    }
    people = dict(zip(names, map(float, years), strict=False))
    named = names[len(years) : len(years) + systems]
    withheld = names[len(years) + systems :]
    return quem.study(table, people=people, systems=named, withheld=withheld, **keys)


def random_ranks(
    rng: np.random.Generator,
    years: Sequence[float],
    of_systems: Sequence[float],
    *,
    judges: int = 3,
    problems: int = 6,
    noise: float = 2.0,
) -> NDArray[np.float64]:
    """Ranks of people and systems of some years, by judges who see them with noise."""
    skill = np.array([*years, *of_systems], dtype=np.float64)
    solution = rng.normal(0, noise, (1, problems, len(skill)))
    seen = skill + solution + rng.normal(0, noise, (judges, problems, len(skill)))
    return np.asarray(seen.argsort(axis=2).argsort(axis=2) + 1, dtype=np.float64)
