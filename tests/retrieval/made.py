"""Small studies of retrievers, made in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

import quem

if TYPE_CHECKING:
    from quem.retrieval.result import RetrievalResult

STUDIES = Path(__file__).resolve().parents[2] / "studies"
DATA = STUDIES.parent / "tests/scores/data"
CASES = "id,x,kind\na,1,p\nb,2,q\nc,3,p\nd,4,\n"
QUERIES = "id,x,kind\nq1,1.5,p\nq2,3,q\nq3,,p\n"


def write_study(folder: Path, retrievers: list[dict[str, Any]], truth: Any, **files: Any) -> Path:  # noqa: ANN401  YAML
    """Write a study with four cases and three queries.

    Names of files have ``_`` for the dot; other keywords are keys of the study, None for no key.
    """
    content: dict[str, Any] = {
        "kind": "retrieval",
        "cases": "cases.csv",
        "queries": "queries.csv",
        "retrievers": retrievers,
        "ground_truth": truth,
    }
    for name, value in {"cases_csv": CASES, "queries_csv": QUERIES, **files}.items():
        stem, _, ending = name.rpartition("_")
        if ending in ("csv", "txt", "py", "json"):
            (folder / f"{stem}.{ending}").write_text(value, encoding="utf-8")
        else:
            content[name] = value
    content = {key: value for key, value in content.items() if value is not None}
    content.setdefault("analysis", {}).setdefault("samples", 0)
    (folder / "study.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return folder / "study.yaml"


def evaluated(path: Path, **settings: Any) -> RetrievalResult:  # noqa: ANN401  any setting
    result: RetrievalResult = quem.analyze(quem.load_study(path, kind="retrieval"), **settings)
    return result


def codes(result: RetrievalResult) -> dict[str, str]:
    return {doubt.code: doubt.message for doubt in result.warnings}


def mistakes(path: Path) -> str:
    """What loading or analyzing a study refuses, without the folder."""
    try:
        evaluated(path)
    except quem.QuemError as error:
        return str(error).replace(f"{path.parent}/", "")
    return ""
