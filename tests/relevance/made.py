"""Small studies of relevance judgments, made in a folder or drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

import quem
from quem.relevance.judgments import Judgments

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.relevance.result import RelevanceResult

LABELS = ["No", "Partly", "Yes"]


def study_in(folder: Path, rows: str, **keys: Any) -> Path:  # noqa: ANN401  any key
    content: dict[str, Any] = {
        "kind": "relevance",
        "id": "made",
        "title": "Made up",
        "grades": LABELS,
        "judgments": "table.csv",
        **keys,
    }
    (folder / "table.csv").write_text(rows, encoding="utf-8")
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def table(values: NDArray[np.float64], per_query: int) -> str:
    """Write grades, shape (judges, candidates), as a table; NaN for no judgment."""
    rows = [
        f"Q{at // per_query},c{at},J{judge},{grade:g}"
        for (judge, at), grade in np.ndenumerate(values)
        if not np.isnan(grade)
    ]
    return "\n".join(["query,case,judge,grade", *rows]) + "\n"


def drawn(
    seed: int, judges: int = 4, candidates: int = 40, per_query: int = 8, grades: int = 3
) -> Judgments:
    """Draw grades that agree more often than by chance, with gaps."""
    rng = np.random.default_rng(seed)
    shape = (judges, candidates)
    values = np.where(
        rng.random(shape) < 0.5, rng.integers(0, grades, candidates), rng.integers(0, grades, shape)
    ).astype(float)
    values[rng.random(shape) < 0.25] = np.nan
    pairs = tuple((f"Q{at // per_query}", f"c{at}") for at in range(candidates))
    names = tuple(f"J{judge}" for judge in range(judges))
    again = np.where(rng.random(shape) < 0.3, values, np.nan)
    return Judgments(names, pairs, values, again, np.zeros(judges, dtype=np.int64))


def analysed(path: Path, **settings: Any) -> RelevanceResult:  # noqa: ANN401  any setting
    return quem.analyze(quem.load_study(path, kind="relevance"), **settings)
