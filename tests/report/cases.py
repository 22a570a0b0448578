"""Studies of every case that a verdict has a form for, as files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import yaml

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Case:
    """How the ranks of a study are drawn."""

    systems: dict[str, float]  # name to the years that the system is worth
    people: tuple[float, ...] = (2, 2, 5, 5, 7, 8, 10)  # experience
    noise: float = 1.0  # standard deviation of a rank's quality, in years
    problems: int = 4
    judges: int = 3
    jagged: float = 0.0  # of the first system from problem to problem, beyond that
    flat: bool = False  # whether experience does not show in the quality of people
    seed: int = 1
    settings: dict[str, object] = field(default_factory=dict)


CASES = {
    "one": Case({"Kuling 4": 7}),
    "six": Case({f"Kuling {n}": 1.6 * n for n in range(1, 7)}, (1, 2, 3, 5, 7, 8, 10, 12), seed=4),
    "wide": Case({"Atlas 2": 9, "Atlas 1": 6}, (1, 3, 5, 8, 14), noise=4.0, seed=3),
    "bound": Case({"Kuling 3": 16}),
    "jagged": Case({"KBS": 6}, tuple(range(1, 13)), problems=6, jagged=9.0, seed=3),
    "open": Case({"Kuling 3": 12}, noise=2.0),
    "declared": Case(
        {"KBS 2": 6, "KBS 1": 3},
        noise=2.0,
        settings={"reference_population": {"years": [0, 5, 10, 15], "share": [50, 30, 20]}},
    ),
    "one judge": Case({"KBS": 7}, judges=1),
    "above": Case({"Relay 2": 16, "Relay 1": 14}, (3, 5, 6, 9), flat=True),
    "gate": Case({"Relay 2": 7, "Relay 1": 3}, flat=True, noise=2.0),
    "twelve": Case(
        {f"A system with a long name, version {n}": n for n in range(1, 13)},
        tuple(np.arange(1, 13) + 0.5),
    ),
}


def case_study(name: str, folder: Path) -> Path:
    """Write the study of a case into a folder; give the study file."""
    case = CASES[name]
    rng = np.random.default_rng(case.seed)
    people = {f"Person {chr(65 + i)}": years for i, years in enumerate(case.people)}
    systems = {f"k{i}": worth for i, worth in enumerate(case.systems.values())}
    flat = float(np.mean(case.people))
    solvers = {**{p: flat if case.flat else y for p, y in people.items()}, **systems}
    spec = {
        "title": {"six": "Cooling plans, six versions", "wide": "Supply desk cases"}.get(
            name, "Cooling plans"
        ),
        "verb": "answers" if name in {"wide", "gate"} else "plans",
        "problems": [{"id": f"P{p}"} for p in range(case.problems)],
        "judges": [{"id": f"J{j}"} for j in range(case.judges)],
        "subjects": [{"id": person, "experience": float(y)} for person, y in people.items()],
        "systems": [
            dict(zip(("name", "version"), label.rsplit(" ", 1), strict=False), id=f"k{i}")
            for i, label in enumerate(case.systems)
        ],
        "rankings": "ranks.csv",
        "analysis": case.settings,
    }
    rows = ["judge,problem,solver,rank"]
    for p in range(case.problems):
        own = dict(zip(solvers, rng.normal(0, case.noise, len(solvers)), strict=True))
        if case.jagged:
            own["k0"] += case.jagged * (1 if p % 2 else -1)
        for j in range(case.judges):
            seen = [w + own[s] + rng.normal(0, case.noise) for s, w in solvers.items()]
            for solver, place in zip(solvers, np.argsort(np.argsort(seen)) + 1, strict=True):
                rows.append(f"J{j},P{p},{solver},{place}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    (folder / "ranks.csv").write_text("\n".join(rows))
    return folder / "study.yaml"
