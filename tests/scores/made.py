"""Score tables made up for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import yaml

from quem.scores.table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray


class Named(NamedTuple):
    """A measure by name alone."""

    name: str
    better: str = "higher"


def table_of(values: NDArray[np.float64], *measures: Named, **more: Any) -> ScoreTable:  # noqa: ANN401
    """A table of scores of shape (systems, queries, measures)."""
    systems, queries, layers = values.shape
    return ScoreTable(
        tuple(f"s{at}" for at in range(systems)),
        tuple(f"q{at}" for at in range(queries)),
        measures or tuple(Named(f"m{at}") for at in range(layers)),
        values,
        **more,
    )


_QUERIES, _DOCUMENTS = 24, 30


def write_retrievers(
    folder: Path,
    name: str,
    skills: Mapping[str, float],
    *,
    seed: int = 0,
    queries: int = _QUERIES,
    truth: int = 0,
    **analysis: object,
) -> Path:
    """A study of runs of systems with some skill: the path of its file."""
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
        "analysis": {"measures": ["AP", "nDCG@5", "RR"], "samples": 199, **analysis},
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path
