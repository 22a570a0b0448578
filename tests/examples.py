"""A small study, as plain data, that tests write to folders in many ways."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

JUDGES = ("J1", "J2")
PROBLEMS = ("P1", "P2")
SOLVERS = ("S1", "S2", "S3", "S4", "S5", "S6", "sys")
_ORDERS = {
    ("J1", "P1"): (1, 3, 2, 4, 7, 6, 5),
    ("J1", "P2"): (2, 1, 4, 3, 5, 7, 6),
    ("J2", "P1"): (1, 2, 3, 3, 5, 6, 4),
    ("J2", "P2"): (1, 3, 2, 4, 6, 5, 4),
}
Cell = tuple[str, str, str]
RANKS: dict[Cell, int | str] = {
    (judge, problem, solver): rank
    for (judge, problem), ranks in _ORDERS.items()
    for solver, rank in zip(SOLVERS, ranks, strict=True)
}
RECORDS: list[dict[str, object]] = [
    {**dict(zip(("judge", "problem", "solver"), cell, strict=True)), "rank": rank}
    for cell, rank in RANKS.items()
]
_STUDY: dict[str, Any] = {
    "kind": "experience",
    "id": "example",
    "title": "Example",
    "problems": [{"id": problem} for problem in PROBLEMS],
    "judges": [{"id": "J1", "experience": 20}, {"id": "J2", "experience": 15}],
    "subjects": [
        {"id": solver, "experience": years}
        for solver, years in zip(SOLVERS, (1, 2, 4, 6, 9, 12), strict=False)
    ],
    "systems": [{"id": "sys"}],
    "rankings": {"from": "long", "file": "rankings.csv"},
}


def study_with(**changes: object) -> dict[str, Any]:
    """The study with some of its keys replaced; None leaves a key out."""
    study = {**deepcopy(_STUDY), **changes}
    return {key: value for key, value in study.items() if value is not None}


def long_csv(ranks: Mapping[Cell, object] | None = None, separator: str = ",") -> str:
    """Write ranks as a long table."""
    cells = RANKS if ranks is None else ranks
    rows = [("judge", "problem", "solver", "rank"), *((*cell, r) for cell, r in cells.items())]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def write_study(folder: Path, study: object, **files: str | bytes) -> Path:
    """Write a study and its files to a folder."""
    if not isinstance(study, str | bytes):
        study = json.dumps(study, indent=1)
    content = {"rankings__csv": long_csv(), **files, "study__yaml": study}
    for name, text in content.items():
        raw = text if isinstance(text, bytes) else text.encode()
        (folder / name.replace("__", ".")).write_bytes(raw)
    return folder / "study.yaml"


def mistakes_of(path: Path, **settings: object) -> list[str]:
    """Errors of a study or its analysis, with paths relative to the study folder."""
    with pytest.raises(QuemError) as caught:
        quem.analyze(quem.load_study(path), **settings)
    return [str(mistake).replace(f"{path.parent}/", "") for mistake in caught.value.mistakes]


def ranks_of(path: Path) -> dict[Cell, float]:
    """The ranks that a study holds, by judge, problem, and solver."""
    table = quem.load_study(path, kind="experience").rankings
    assert table is not None
    rows = table[["judge", "problem", "solver", "rank"]].dropna().to_numpy()
    return {(str(judge), str(problem), str(solver)): rank for judge, problem, solver, rank in rows}
