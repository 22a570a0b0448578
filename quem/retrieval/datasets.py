"""Data sets of ir_datasets in the place of files: documents, queries, judgments, and lists.

A study names them by their ids, as in ``ir_datasets:beir/scifact/test``. The library fetches what
it does not have yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.io.memory import plain, rows_table
from quem.io.text import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from quem.io.tables import SourceTable

_PREFIX = "ir_datasets:"
# What the parts of a data set are called, and in messages.
_PARTS = {
    "docs": "documents",
    "queries": "queries",
    "qrels": "relevance judgments",
    "scoreddocs": "lists",
}


def is_dataset(name: str) -> bool:
    """Say whether a name of a file is the id of a data set."""
    return name.startswith(_PREFIX)


def dataset_base(name: str, what: str) -> SourceTable[Any]:
    """Read the documents of a data set, or, of a query base, its queries, with the column id."""
    part, id_name = ("queries", "query_id") if what.startswith("query") else ("docs", "doc_id")
    columns: dict[str, list[Any]] = {"id": []}
    for row in _rows(name, part):
        columns["id"].append(row.pop(id_name))
        for key, value in row.items():
            columns.setdefault(key, []).append(value)
    return _table(name, columns, ("id",))


def dataset_judgments(name: str) -> SourceTable[Any]:
    """Read query, case, and grade: the highest, where a document has several for a query."""
    best: dict[tuple[str, str], float] = {}
    for row in _rows(name, "qrels"):
        pair = row["query_id"], row["doc_id"]
        best[pair] = max(best.get(pair, row["relevance"]), row["relevance"])
    return _pairs(name, best, "grade")


def dataset_lists(name: str) -> SourceTable[Any]:
    """Read query, case, and score."""
    rows = _rows(name, "scoreddocs")
    return _pairs(name, {(row["query_id"], row["doc_id"]): row["score"] for row in rows}, "score")


def _pairs(name: str, values: Mapping[tuple[str, str], float], value: str) -> SourceTable[Any]:
    columns: dict[str, list[Any]] = {
        "query": [query for query, _ in values],
        "case": [case for _, case in values],
        value: list(values.values()),
    }
    return _table(name, columns, ("query", "case"))


def _table(name: str, columns: Mapping[str, list[Any]], ids: Sequence[str]) -> SourceTable[Any]:
    if not columns[ids[0]]:
        raise QuemError([Mistake(name, message="holds nothing; name another data set")])
    return rows_table(name, columns, ids, lambda row: ", ".join(row.values()))


def _rows(name: str, part: str) -> Iterator[dict[str, Any]]:
    """The records of one part of a data set."""
    try:
        import ir_datasets
    except ImportError:
        raise QuemError(
            [
                Mistake(
                    name,
                    message='needs ir_datasets; run pip install "quem[ir-datasets]", or name '
                    "a file",
                )
            ]
        ) from None
    known = name.removeprefix(_PREFIX)
    try:
        dataset = ir_datasets.load(known)
    except KeyError:
        hint = nearest(known, ir_datasets.registry) or "; ir-datasets.com lists them"
        raise QuemError(
            [Mistake(name, message=f"ir_datasets knows no data set {known!r}{hint}")]
        ) from None
    if not getattr(dataset, f"has_{part}")():
        raise QuemError([Mistake(name, message=f"has no {_PARTS[part]}; name a data set that has")])
    try:
        for one in getattr(dataset, f"{part}_iter")():
            yield {key: plain(value) for key, value in one._asdict().items()}
    except Exception as error:  # what the network, the disk, and archives say
        raise QuemError(
            [Mistake(name, message=f"its {_PARTS[part]} cannot be read: {error}")]
        ) from error
