"""Studies in memory, for tests of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import quem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from quem.errors import StudyWarning
    from quem.parts.result import ExperienceResult

Cell = tuple[str, str, str]  # judge, problem, solver
Ranks = dict[Cell, float]


def study_of(
    ranks: Mapping[Cell, float],
    people: Mapping[str, float] | Sequence[Mapping[str, Any]],
    *,
    again: Mapping[Cell, float] | None = None,
    occasion: int = 1,
    recognized: Collection[Cell] = (),
    withheld: Iterable[str] = (),
    blocks: Mapping[Cell, int] | None = None,
    **keys: Any,  # noqa: ANN401  of a study file
) -> quem.Study:
    """Make a study of ranks, and of second ones; who is no person is a system."""
    away = [*withheld]
    rows = [
        {
            **dict(zip(("judge", "problem", "solver"), cell, strict=True)),
            "rank": rank,
            "occasion": when,
            "block": (blocks or {}).get(cell, 1),
            "recognized": int(when == occasion and cell in recognized),
        }
        for when, of in ((occasion, ranks), (occasion + 1, again or {}))
        for cell, rank in of.items()
    ]
    known = {*away, *(one if isinstance(one, str) else one["id"] for one in people)}
    systems = [one for one in dict.fromkeys(cell[2] for cell in ranks) if one not in known]
    return quem.study(rows, people=people, systems=systems, withheld=away, **keys)


def random_ranks(
    rng: np.random.Generator,
    *,
    judges: int = 3,
    problems: int = 3,
    subjects: int = 6,
    systems: int = 1,
    missing: float = 0.0,
    ties: bool = False,
) -> tuple[Ranks, dict[str, float]]:
    """Draw ranks of a study in which skill grows with experience; and the experience."""
    years = {
        f"S{i}": float(np.round(1 + 11 * i / subjects + rng.random(), 2)) for i in range(subjects)
    }
    solvers = [*years, *(f"K{i}" for i in range(systems))]
    skill = np.array([years.get(s, 6.0) for s in solvers])
    ranks: Ranks = {}
    for problem in range(problems):
        quality = skill + rng.normal(0, 2, len(solvers))
        for judge in range(judges):
            seen = quality + rng.normal(0, 2, len(solvers))
            present = np.flatnonzero(rng.random(len(solvers)) >= missing)
            values = np.round(seen[present] / 3) if ties else seen[present]
            order = np.unique(values, return_inverse=True)[1] + 1
            ranks |= {
                (f"J{judge}", f"P{problem}", solvers[i]): float(r)
                for i, r in zip(present, order, strict=True)
            }
    return ranks, years


def key_of(study: quem.Study, key: str, **settings: Any) -> Any:  # noqa: ANN401  JSON
    return quem.analyze(study, **settings).to_dict().get(key)


def warned(result: ExperienceResult, code: str) -> list[StudyWarning]:
    return [one for one in result.warnings if one.code == code]
