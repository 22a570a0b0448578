"""Draw the made-up rankings of this folder: ``python studies/assembly-planners/generate.py``.

The model is that of `quem.simulate_study` with low noise (docs/explanation/coverage.md): a
judge sees the solver's experience plus what the person, the problem, the judge's taste and chance
add.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from quem.simulation import LOW
from quem.studyfile.reading import read_study

HERE = Path(__file__).resolve().parent
SEEDS = {"study": 4, "next-year": 1, "assistance": 7}
# The truth, in years. Help is worth three years to everybody.
SYSTEMS = {"fitter-1": 4.0, "fitter-2": 7.0, "fitter-3": 9.5, "stacker": 6.5}
HELP = 3.0


def main() -> None:
    """Write the rankings of every study."""
    for stem, text in tables().items():
        (HERE / f"{stem}.csv").write_text(text, encoding="utf-8")
    for name, text in checkers().items():
        (HERE / f"{name}.csv").write_text(text, encoding="utf-8")


def tables() -> dict[str, str]:
    """The rankings of each study as a wide table, by file stem."""
    return {stem: _table(stem, seed) for stem, seed in SEEDS.items()}


def _table(stem: str, seed: int) -> str:
    spec = read_study(HERE / f"{stem}.yaml")
    truth = {subject.id: subject.experience for subject in spec.subjects}
    if not spec.assisted:
        truth |= {system.id: SYSTEMS[system.id] for system in spec.systems}
    shape = len(spec.judges), len(spec.problems), len(truth)
    rng = np.random.default_rng(seed)
    person = rng.normal(0, LOW.person, shape[2]) * [solver not in SYSTEMS for solver in truth]
    quality = np.array(list(truth.values())) + person + rng.normal(0, LOW.solution, shape[1:])
    quality = quality + rng.normal(0, LOW.taste, (shape[0], 1, shape[2]))
    quality += rng.normal(0, LOW.judge, shape)
    helped = _helped(stem, len(spec.problems))
    rows = []
    for at, solver in enumerate(truth):
        rows.append((solver, quality[:, :, at], ~helped.get(solver, np.zeros(shape[1], bool))))
    for one in spec.assisted:
        with_help = quality[:, :, list(truth).index(one.person)] + HELP
        rows.append((one.id, with_help, helped[one.person]))
    judges = [judge.id for judge in spec.judges]
    problems = [problem.id for problem in spec.problems]
    lines = [["solver", *(f"{judge}:{problem}" for judge in judges for problem in problems)]]
    ranks = _ranks(np.array([np.where(held, values, np.nan) for _, values, held in rows]))
    for (solver, _, _), own in zip(rows, ranks, strict=True):
        lines.append([solver, *("-" if rank == 0 else str(rank) for rank in own.ravel())])
    return "".join(",".join(line) + "\n" for line in lines)


def checkers() -> dict[str, str]:
    """Orders by two programs of the plans of study.yaml, best first.

    One sees the solver's experience as a judge does, but for twice the noise; the other sees
    hardly any of it.
    """
    spec = read_study(HERE / "study.yaml")
    truth = {subject.id: subject.experience for subject in spec.subjects}
    truth |= {system.id: SYSTEMS[system.id] for system in spec.systems}
    rng = np.random.default_rng(SEEDS["study"])
    found = {}
    for name, share, noise in (("checker", 1.0, 2 * LOW.judge), ("counter", 0.2, 2 * LOW.judge)):
        lines = ["query,rank,case"]
        for problem in spec.problems:
            score = share * np.array(list(truth.values())) + rng.normal(0, noise, len(truth))
            order = [list(truth)[at] for at in np.argsort(-score)]
            lines += [f"{problem.id},{rank},{case}" for rank, case in enumerate(order, 1)]
        found[name] = "\n".join(lines) + "\n"
    return found


def _helped(stem: str, n_problems: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """On which problems each person had help: two on the second half, two on the first."""
    if stem != "assistance":
        return {}
    second = np.arange(n_problems) >= n_problems // 2
    return {"S2": second, "S5": second, "S4": ~second, "S7": ~second}


def _ranks(quality: np.ndarray) -> np.ndarray:
    """Ranks from 1, the worst, over the first axis; 0 where there is no solution."""
    below = (quality[np.newaxis] < quality[:, np.newaxis]).sum(axis=1)
    return np.where(np.isnan(quality), 0, below + 1)


if __name__ == "__main__":
    main()
