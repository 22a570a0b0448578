"""Studies with runs of machine judges, as files."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from scipy.stats import rankdata

import quem
from quem.studyfile.runs import Call, Run, runs_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden.json").read_text("utf-8"))
NOON = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
ONE_MACHINE = {"machines": [{"id": "M1", "command": "judge"}], "machine": {}}


def run_of(judge: str, calls: Iterable[Call], **more: object) -> Run:
    values: dict[str, Any] = {"study": "made", "judge": judge, "repeats": 2, "number": 1}
    values |= {"prompt": "0" * 64, "began_at": NOON, "ended_at": NOON, **more}
    return Run(calls=tuple(calls), **values)


def write_run(study: Path, run: Run) -> None:
    folder = runs_folder(study, run.judge)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{run.number:04}.json").write_text(run.model_dump_json(), "utf-8")


def call_of(problem: str, repeat: int, solvers: Sequence[str], quality: Sequence[float]) -> Call:
    ranks = rankdata([-q for q in quality], method="dense")
    ranked = tuple(
        tuple(solver for solver, own in zip(solvers, ranks, strict=True) if own == rank)
        for rank in range(1, int(ranks.max()) + 1)
    )
    order = tuple(solvers[:: -1 if repeat % 2 else 1])
    where: dict[str, Any] = {"problem": problem, "repeat": repeat, "order": order}
    return Call(key=f"{problem}-{repeat}", status="ok", ranked=ranked, **where)


def calls_of(solvers: Sequence[str], quality: Any) -> list[Call]:  # noqa: ANN401  an array
    """Make two calls a problem; quality has the shape (problems, solvers), or (2, ...)."""
    each = np.broadcast_to(quality, (2, *np.shape(quality)[-2:]))
    return [
        call_of(f"P{problem + 1}", repeat, solvers, each[repeat, problem].tolist())
        for problem, repeat in np.ndindex(each.shape[1], 2)
    ]


def write_study(
    folder: Path,
    years: Sequence[float],
    ranks: NDArray[np.float64],
    systems: Sequence[dict[str, Any]] = ({"id": "system"},),
    keys: Mapping[str, object] = ONE_MACHINE,
) -> Path:
    """Write a study with ranks of experts (judges, problems, solvers); systems come last."""
    people = {f"S{n}": float(y) for n, y in enumerate(years, 1)}
    names = [*people, *(one["id"] for one in systems)]
    rows = [
        {"judge": f"J{j + 1}", "problem": f"P{p + 1}", "solver": names[s], "rank": rank}
        for (j, p, s), rank in np.ndenumerate(ranks)
    ]
    quem.study(rows, people=people, systems=systems, id="made").save(folder)
    path = folder / "study.yaml"
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + yaml.safe_dump({**keys}))
    return path


def golden_study(folder: Path, machines: Sequence[str] = ("M1",), *, are_used: bool = True) -> Path:
    study = GOLDEN["study"]
    ranks = np.full((2, len(study["problems"]), len(study["solvers"])), np.nan)
    for at, expert in enumerate(study["experts"]):
        ranks[at, :4] = np.array([expert["ranks"][solver] for solver in study["solvers"]]).T
    declared = [{"id": machine, "command": "judge"} for machine in machines]
    keys: dict[str, Any] = {"machines": declared, "machine": {} if are_used else None}
    path = write_study(folder, study["years_of_subjects"], ranks, keys=keys)
    for machine in machines:
        write_run(path, run_of(machine, golden_calls(machine)))
    return path


def golden_calls(machine: str = "M1") -> list[Call]:
    study = GOLDEN["study"]
    (of,) = (one for one in study["machines"] if one["judge"] == machine)
    means, solvers = of["mean_adjusted_ranks_of_two_repeats"], study["solvers"]
    sums = np.rint(2 * np.array([means[solver] for solver in solvers])).astype(int).T.tolist()
    return calls_of(solvers, np.array([_pairs(of, []) for of in sums]).transpose(2, 0, 1))


def _pairs(sums: list[int], taken: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    if len(taken) == len(sums):
        return taken
    for first in range(1, len(sums) + 1):
        second = sums[len(taken)] - first
        if first in (a for a, _ in taken) or second in (b for _, b in taken):
            continue
        if 1 <= second <= len(sums) and (rest := _pairs(sums, [*taken, (first, second)])):
            return rest
    return None
