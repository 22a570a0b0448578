"""Studies with runs of machine judges, as files."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from scipy.stats import rankdata

from quem.studyfile.runs import Call, Run, runs_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden.json").read_text("utf-8"))
NOON = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)


def run_of(
    judge: str,
    calls: Iterable[Call],
    *,
    repeats: int = 2,
    study: str = "made",
    **more: Any,  # noqa: ANN401
) -> Run:
    """Make a run that ended."""
    values = {"number": 1, "prompt": "0" * 64, "began_at": NOON, "ended_at": NOON, **more}
    return Run(study=study, judge=judge, repeats=repeats, calls=tuple(calls), **values)


def write_run(study: Path, run: Run) -> None:
    """Put a run beside a study."""
    folder = runs_folder(study, run.judge)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{run.number:04}.json").write_text(run.model_dump_json(), "utf-8")


def call_of(problem: str, repeat: int, solvers: Sequence[str], quality: Sequence[float]) -> Call:
    """Make the call of a machine that ranks by quality; equal ones are tied."""
    ranks = rankdata([-q for q in quality], method="dense")
    ranked = [
        tuple(solver for solver, own in zip(solvers, ranks, strict=True) if own == rank)
        for rank in range(1, int(ranks.max()) + 1)
    ]
    order = tuple(solvers) if repeat % 2 == 0 else tuple(reversed(solvers))
    key = f"{problem}-{repeat}"
    return Call(
        problem=problem, repeat=repeat, key=key, status="ok", order=order, ranked=tuple(ranked)
    )


def write_study(
    folder: Path,
    *,
    years: Sequence[float],
    systems: Sequence[str],
    problems: Sequence[str],
    ranks: NDArray[np.float64],
    **more: Any,  # noqa: ANN401
) -> Path:
    """Write a study with ranks of experts.

    Shapes: `ranks` (judges, problems, solvers).
    """
    subjects = [f"S{n}" for n in range(1, len(years) + 1)]
    judges = [f"J{n}" for n in range(1, len(ranks) + 1)]
    document = {
        "kind": "experience",
        "id": "made",
        "title": "Made",
        "problems": [{"id": problem} for problem in problems],
        "judges": [{"id": judge} for judge in judges],
        "subjects": [
            {"id": s, "experience": float(y)} for s, y in zip(subjects, years, strict=True)
        ],
        "systems": [{"id": system} for system in systems],
        "rankings": "rankings.csv",
        **more,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    with (folder / "rankings.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["judge", "problem", "solver", "rank"])
        for judge, problem, solver in np.argwhere(np.isfinite(ranks)):
            name = [*subjects, *systems][solver]
            rank = f"{ranks[judge, problem, solver]:g}"
            rows.writerow([judges[judge], problems[problem], name, rank])
    return path


def golden_study(
    folder: Path,
    machines: Sequence[str] = ("M1",),
    **more: Any,  # noqa: ANN401
) -> Path:
    """Write the golden study: two experts on 4 of 8 problems, and machine judges on all."""
    study = GOLDEN["study"]
    solvers, problems = study["solvers"], study["problems"]
    ranks = np.full((len(study["experts"]), len(problems), len(solvers)), np.nan)
    for at, expert in enumerate(study["experts"]):
        labeled = len(study["labelled_problems"])
        ranks[at, :labeled] = np.array([expert["ranks"][solver] for solver in solvers]).T
    declared = [{"id": machine, "command": "judge"} for machine in machines]
    path = write_study(
        folder,
        years=study["years_of_subjects"],
        systems=["system"],
        problems=problems,
        ranks=ranks,
        **{"machines": declared, "machine": {}, **more},
    )
    for machine in machines:
        write_run(path, run_of(machine, golden_calls(machine)))
    return path


def golden_calls(machine: str) -> list[Call]:
    """Give two orders without ties for each problem that have the golden mean ranks."""
    study = GOLDEN["study"]
    (means,) = (
        one["mean_adjusted_ranks_of_two_repeats"]
        for one in study["machines"]
        if one["judge"] == machine
    )
    solvers = study["solvers"]
    calls = []
    for at, problem in enumerate(study["problems"]):
        pairs = _pairs([round(2 * means[solver][at]) for solver in solvers], [])
        assert pairs
        calls += [
            call_of(problem, repeat, solvers, [pair[repeat] for pair in pairs])
            for repeat in range(2)
        ]
    return calls


def _pairs(sums: list[int], taken: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """Write numbers as sums of two permutations of 1 to n."""
    if len(taken) == len(sums):
        return taken
    for first in range(1, len(sums) + 1):
        second = sums[len(taken)] - first
        if first in (a for a, _ in taken) or second in (b for _, b in taken):
            continue
        if 1 <= second <= len(sums) and (rest := _pairs(sums, [*taken, (first, second)])):
            return rest
    return None
