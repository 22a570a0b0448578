"""Studies of every case that a verdict has a form for, as files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import quem

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
    keys: dict[str, Any] = field(default_factory=lambda: {"title": "Cooling plans"})


_SIX = {"title": "Cooling plans, six versions"}
_POPULATION = {"reference_population": {"years": [0, 5, 10, 15], "share": [50, 30, 20]}}
_ANSWERS = {"title": "Supply desk cases", "verb": "answers"}
CASES = {
    "one": Case({"Kuling 4": 7}),
    "six": Case(
        {f"Kuling {n}": 1.6 * n for n in range(1, 7)}, (1, 2, 3, 5, 7, 8, 10, 12), seed=4, keys=_SIX
    ),
    "wide": Case({"Atlas 2": 9, "Atlas 1": 6}, (1, 3, 5, 8, 14), 4.0, seed=3, keys=_ANSWERS),
    "bound": Case({"Kuling 3": 16}),
    "jagged": Case({"KBS": 6}, tuple(range(1, 13)), problems=6, jagged=9.0, seed=3),
    "open": Case({"Kuling 3": 12}, noise=2.0),
    "declared": Case({"KBS 2": 6, "KBS 1": 3}, noise=2.0, keys={"analysis": _POPULATION}),
    "one judge": Case({"KBS": 7}, judges=1),
    "above": Case({"Relay 2": 16, "Relay 1": 14}, (3, 5, 6, 9), flat=True),
    "gate": Case({"Relay 2": 7, "Relay 1": 3}, noise=2.0, flat=True, keys={"verb": "answers"}),
    "twelve": Case(
        {f"A system with a long name, version {n}": n for n in range(1, 13)},
        tuple(np.arange(1, 13) + 0.5),
    ),
}


def case_study(name: str, folder: Path) -> Path:
    """Write the study of a case into a folder; gives the study file."""
    case = CASES[name]
    rng = np.random.default_rng(case.seed)
    people = {f"Person {chr(65 + i)}": float(years) for i, years in enumerate(case.people)}
    worth = dict.fromkeys(people, float(np.mean(case.people))) if case.flat else dict(people)
    worth |= {f"k{i}": years for i, years in enumerate(case.systems.values())}
    rows = []
    for p in range(case.problems):
        own = dict(zip(worth, rng.normal(0, case.noise, len(worth)), strict=True))
        if case.jagged:
            own["k0"] += case.jagged * (1 if p % 2 else -1)
        for j in range(case.judges):
            seen = [years + own[s] + rng.normal(0, case.noise) for s, years in worth.items()]
            places = np.argsort(np.argsort(seen)) + 1
            rows += [
                {"judge": f"J{j}", "problem": f"P{p}", "solver": solver, "rank": int(place)}
                for solver, place in zip(worth, places, strict=True)
            ]
    systems = [
        dict(zip(("name", "version"), label.rsplit(" ", 1), strict=False), id=f"k{i}")
        for i, label in enumerate(case.systems)
    ]
    keys: dict[str, Any] = {"verb": "plans", **case.keys}
    quem.study(rows, people=people, systems=systems, **keys).save(folder)
    return folder / "study.yaml"
