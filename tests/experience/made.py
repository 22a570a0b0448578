"""Studies made in memory, for tests that need many of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from quem.experience.averages import Averages
from quem.experience.cells import judged_cells
from quem.experience.components import Incidence
from quem.experience.presentation.columns import RANKS
from quem.rankings import PrintedAverages, Rankings
from quem.rankings.loading import Study
from quem.studyfile import Declared, ExperienceSettings, ExperienceSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.experience.result import ExperienceFindings

_GOLDEN = Path(__file__).parent / "experience2.json"

Cell = tuple[str, str, str]  # judge, problem, solver; a rank of None is one that failed


def table_of(cells: RankCells) -> pd.DataFrame:
    """Give cells as the table of ranks has them, but in their own order."""
    return RANKS.whole_frame(cells, cast("ExperienceFindings", None))


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def study_of(
    ranks: Mapping[Cell, float | None],
    years: Mapping[str, float],
    *,
    withheld: Sequence[str] = (),
    failed: Iterable[tuple[str, str]] = (),
    blocks: Mapping[Cell, int] | None = None,
    occasion: int = 1,
    again: Mapping[Cell, float | None] | None = None,
    recognized: Collection[Cell] = (),
    **analysis: object,
) -> Study:
    """Make a study of ranks; who has no years and is not withheld is a system."""
    rows = [(cell, rank, occasion) for cell, rank in ranks.items()]
    rows += [(cell, rank, occasion + 1) for cell, rank in (again or {}).items()]
    judges = _distinct(cell[0] for cell, _, _ in rows)
    problems = _distinct(cell[1] for cell, _, _ in rows)
    ranked = _distinct(cell[2] for cell, _, _ in rows)
    solvers = dict.fromkeys(years, "subject")
    solvers |= {s: "system" for s in ranked if s not in solvers and s not in withheld}
    solvers |= dict.fromkeys(withheld, "withheld")
    names = (judges, problems, tuple(solvers))
    judge, problem, solver = (
        np.array([names[part].index(cell[part]) for cell, _, _ in rows], dtype=np.int64)
        for part in range(3)
    )
    rank = np.array([np.nan if r is None else r for _, r, _ in rows], dtype=float)
    data = Rankings(
        *names,
        judge,
        problem,
        solver,
        np.array([(blocks or {}).get(cell, 1) for cell, _, _ in rows], dtype=np.int64),
        np.array([when for _, _, when in rows], dtype=np.int64),
        rank,
        np.isnan(rank),
        recognized=np.array(
            [cell in recognized and when == occasion for cell, _, when in rows], dtype=bool
        ),
    )
    declared = Declared(judges, problems, solvers, frozenset(failed))
    return _study(solvers, years, declared, data, analysis, withheld)


def printed_study(
    averages: Mapping[str, float], years: Mapping[str, float], **analysis: object
) -> Study:
    """Make a study of printed averages; who has no years is a system."""
    solvers = {s: "subject" if s in years else "system" for s in averages}
    values = np.array(list(averages.values()), dtype=float)
    data = PrintedAverages(tuple(solvers), values)
    return _study(solvers, years, Declared((), (), solvers), data, analysis)


def _study(
    solvers: Mapping[str, str],
    years: Mapping[str, float],
    declared: Declared,
    data: Rankings | PrintedAverages,
    analysis: Mapping[str, object],
    withheld: Sequence[str] = (),
) -> Study:
    spec = ExperienceSpec.model_validate(
        {
            "id": "made",
            "title": "Made",
            "problems": [{"id": p} for p in declared.problems],
            "judges": [{"id": j} for j in declared.judges],
            "subjects": [{"id": s, "experience": y} for s, y in years.items()],
            "systems": [{"id": s} for s, kind in solvers.items() if kind == "system"],
            "withheld": list(withheld),
            "analysis": ExperienceSettings.model_validate({"bootstrap": 0, **analysis}),
        }
    )
    return Study(Path("study.yaml"), "study.yaml", spec, declared, data)


def cells_of(study: Study, reference: str = "all") -> RankCells:
    """Give the cells of a study of ranks."""
    assert isinstance(study.data, Rankings)
    return judged_cells(study.data, study.declared, reference=reference)  # type: ignore[arg-type]


def years_of(study: Study) -> NDArray[np.float64]:
    """Give the experience of each solver, NaN for all but subjects."""
    known = {subject.id: subject.experience for subject in study.spec.subjects}
    return np.array([known.get(solver, np.nan) for solver in study.data.solvers])


def averages_of(x: NDArray[np.float64], y: NDArray[np.float64], *systems: float) -> Averages:
    """Make the averages of subjects at `x` with experience `y`, and of systems."""
    n, m = len(x), len(systems)
    names = tuple(f"S{i}" for i in range(n)) + tuple(f"K{i}" for i in range(m))
    none = np.empty((0, n + m))
    return Averages(
        names,
        ("subject",) * n + ("system",) * m,
        np.concatenate([y, np.full(m, np.nan)]),
        np.concatenate([x, np.array(systems, dtype=float)]),
        Incidence(none.astype(np.int64), none.astype(np.int64)),
        none,
    )


def golden_study(name: str) -> tuple[Study, dict[str, Any]]:
    """Give a study whose numbers were computed independently, and these numbers.

    Its solvers are "solver 0" and so on, first the subjects.
    """
    golden: dict[str, Any] = json.loads(_GOLDEN.read_text("utf-8"))[name]
    years = {f"solver {s}": y for s, y in enumerate(golden["experience"])}
    ranks = {
        (f"J{j}", f"P{p}", f"solver {s}"): rank
        for j, of_judge in enumerate(golden["ranks"])
        for p, group in enumerate(of_judge)
        for s, rank in enumerate(group)
        if rank is not None
    }
    return study_of(ranks, years), golden


def random_ranks(
    rng: np.random.Generator,
    *,
    judges: int = 3,
    problems: int = 3,
    subjects: int = 6,
    systems: int = 1,
    missing: float = 0.0,
    ties: bool = False,
) -> tuple[dict[Cell, float | None], dict[str, float]]:
    """Draw ranks of a study in which skill grows with experience; and the experience."""
    years = {
        f"S{i}": float(np.round(1 + 11 * i / subjects + rng.random(), 2)) for i in range(subjects)
    }
    solvers = [*years, *(f"K{i}" for i in range(systems))]
    skill = np.array([years.get(s, 6.0) for s in solvers])
    ranks: dict[Cell, float | None] = {}
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
