"""Studies of retrievers on the same queries, and tables of scores, of known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

import quem
from quem.lists.score_table import Entry, ScoredBy, ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.leaderboard.result import LeaderboardResult

QUERIES = 24
_DOCUMENTS = 30
FEW: dict[str, Any] = {"bootstrap": 50, "permutations": 199}


def write_retrievers(
    folder: Path,
    name: str,
    skills: Mapping[str, float],
    *,
    seed: int = 0,
    queries: int = QUERIES,
    truth: int = 0,
    **analysis: object,
) -> Path:
    """Write a study of runs of systems with some skill; gives the path of the study file."""
    drawn = np.random.default_rng([truth, 7])
    relevant = drawn.random((queries, _DOCUMENTS)) < 0.2
    relevant[:, 0] = True
    judgments = [f"q{q} 0 d{d} 1" for q, d in np.argwhere(relevant).tolist()]
    (folder / f"{name}.qrels.txt").write_text("\n".join(judgments), encoding="utf-8")
    rng = np.random.default_rng(seed)
    for system, skill in skills.items():
        lines = []
        for query in range(queries):
            score = rng.normal(size=_DOCUMENTS) + skill * relevant[query]
            for rank, document in enumerate(np.argsort(-score).tolist(), 1):
                lines.append(f"q{query} Q0 d{document} {rank} {score[document]:.6f} x")
        (folder / f"{name}.{system}.txt").write_text("\n".join(lines), encoding="utf-8")
    content = {
        "kind": "retrieval",
        "id": name,
        "title": f"Study {name}",
        "retrievers": [{"id": system, "run": f"{name}.{system}.txt"} for system in skills],
        "ground_truth": {"qrels": f"{name}.qrels.txt"},
        "analysis": {"measures": ["AP", "nDCG@5", "RR"], "headline": "AP", **FEW, **analysis},
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def compared(*paths: Path, **settings: Any) -> LeaderboardResult:  # noqa: ANN401
    """Compare studies of retrievers."""
    studies = [quem.load_study(path, kind="retrieval") for path in paths]
    result: LeaderboardResult = quem.compare(*studies, **settings)
    return result


def table_of(
    values: NDArray[np.float64], measures: tuple[tuple[str, Any], ...] = (("AP", "higher"),)
) -> ScoreTable:
    """Make a table of scores, shape (systems, queries, measures)."""
    systems, queries, _ = values.shape
    return ScoreTable(
        kind="retrieval",
        title="Made up",
        study="made",
        source="made.yaml",
        entries=tuple(Entry(f"s{at}", f"System {at}", "made") for at in range(systems)),
        queries=tuple(f"q{at}" for at in range(queries)),
        measures=tuple(ScoredBy(*one) for one in measures),
        headline=0,
        values=values,
        truth="x",
    )
