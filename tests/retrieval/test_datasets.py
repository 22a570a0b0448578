"""Data sets of ir_datasets in the place of files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import ir_datasets
import pytest
import yaml
from ir_datasets.formats import (
    BaseDocs,
    BaseQrels,
    BaseQueries,
    BaseScoredDocs,
    GenericDoc,
    GenericQuery,
    GenericScoredDoc,
    TrecQrel,
)

import quem
from tests.retrieval.made import mistakes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GRADES = [("q0", "d1", 2), ("q0", "d3", 1), ("q1", "d2", 1), ("q0", "d1", 1)]
LISTED = [("q0", "d3", 0.9), ("q0", "d1", 0.5), ("q1", "d2", 0.5)]


class Docs(BaseDocs):  # type: ignore[misc]
    """Six documents."""

    def docs_iter(self) -> Iterator[GenericDoc]:
        """Give them."""
        return (GenericDoc(f"d{n}", f"text {n}") for n in range(6))


class Queries(BaseQueries):  # type: ignore[misc]
    """Two queries."""

    def queries_iter(self) -> Iterator[GenericQuery]:
        """Give them."""
        return (GenericQuery(f"q{n}", f"text {n + 1}") for n in range(2))


class Judged(BaseQrels):  # type: ignore[misc]
    """Grades, one of them twice, for two topics of a query."""

    def qrels_iter(self) -> Iterator[TrecQrel]:
        """Give them."""
        return (TrecQrel(query, doc, grade, "0") for query, doc, grade in GRADES)


class Listed(BaseScoredDocs):  # type: ignore[misc]
    """Lists."""

    def scoreddocs_iter(self) -> Iterator[GenericScoredDoc]:
        """Give them."""
        return (GenericScoredDoc(*row) for row in LISTED)


class Gone(BaseScoredDocs):  # type: ignore[misc]
    """Lists that cannot be fetched."""

    def scoreddocs_iter(self) -> Iterator[GenericScoredDoc]:
        """Give them."""
        raise OSError("no route to host")


WHOLE = ir_datasets.Dataset(Docs(), Queries(), Judged(), Listed())
ir_datasets.registry.register("quem-whole", WHOLE)
ir_datasets.registry.register("quem-gone", ir_datasets.Dataset(Gone()))


def study(folder: Path, **keys: Any) -> Path:  # noqa: ANN401  YAML
    """Write a study of data sets."""
    content = {
        "kind": "retrieval",
        "cases": "ir_datasets:quem-whole",
        "queries": "ir_datasets:quem-whole",
        "ground_truth": {"qrels": "ir_datasets:quem-whole"},
        "retrievers": [{"id": "listed", "run": "ir_datasets:quem-whole"}],
        "analysis": {"measures": ["RR", "R", "nDCG"], "bootstrap": 0},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump({**content, **keys}), encoding="utf-8")
    return folder / "study.yaml"


def test_data_sets_are_read_as_files(tmp_path: Path) -> None:
    """Of several grades of a document the highest counts, and a retriever sees the texts."""
    retrievers = [{"id": "listed", "run": "ir_datasets:quem-whole"}, {"id": "linear", "linear": {}}]
    loaded = quem.load_study(study(tmp_path, retrievers=retrievers), kind="retrieval")
    assert loaded.files == (tmp_path / "study.yaml",)
    assert loaded.counts() == {
        "retriever": 2,
        "case": 6,
        "query": 2,
        "listed case": 3,
        "true value": 3,
    }
    means = quem.analyze(loaded).measures.set_index(["retriever", "measure"])["mean"]
    discount = 0.6309297535714575
    assert means["listed"].to_dict() == pytest.approx(
        {"RR": 1, "R": 1, "nDCG": (1 + (1 + 2 * discount) / (2 + discount)) / 2}
    )
    # The text of q0 is that of d1, and the text of q1 that of d2.
    assert means["linear", "RR"] == 1


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"cases": "ir_datasets:quem-hole"}, "knows no data set 'quem-hole'; did you mean quem-w"),
        ({"queries": "ir_datasets:quem-gone"}, "ir_datasets:quem-gone: has no queries; name a"),
        (
            {"retrievers": [{"id": "a", "run": "ir_datasets:quem-gone"}]},
            "ir_datasets:quem-gone: its lists cannot be read: no route to host",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    """With the name of the data set."""
    assert message in mistakes(study(tmp_path, **keys))


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert 'needs ir_datasets; run pip install "quem[ir-datasets]"' in mistakes(study(tmp_path))
