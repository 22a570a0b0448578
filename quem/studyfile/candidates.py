"""The table of candidates in a study of relevance: ``candidates: candidates.csv``.

Its columns are ``problem`` and ``id``, and ``query`` and ``case`` with the original ids. `quem
score --pool` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quem.errors import QuemError
from quem.io.rows import csv_text, read_rows
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from quem.errors import Mistake
    from quem.studyfile.document import Document

COLUMNS = ("problem", "id", "query", "case")
_MOST_NAMED = 20


class PooledQuery(NamedTuple):
    """A query and its candidates."""

    id: str
    title: str
    text: str  # for judges, in Markdown
    candidates: Mapping[str, str | Path]  # by case: for judges, in Markdown, or a file


def candidates_text(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """The table, one row (problem, id, query, case) per candidate."""
    return csv_text([COLUMNS, *rows])


def fill_in_candidates(document: Document) -> list[Mistake]:
    """Fill a study with the candidates of the table that it names."""
    named = document.content.get("candidates")
    if not isinstance(named, str):
        return []
    document.content["candidates"] = []
    if wrong := document.not_there(("candidates",), named):
        return [wrong]
    try:
        path = document.beside(named)
        table = read_rows(path, what="table of candidates", known=COLUMNS, required=COLUMNS[:2])
    except QuemError as error:
        return list(error.mistakes)
    first: dict[tuple[str, str], int] = {}
    for line, row in table.rows:
        for column in COLUMNS[:2]:
            if not row[column]:
                table.refuse(line, column, "is empty; add the id")
        cell = row["problem"], row["id"]
        if all(cell) and first.setdefault(cell, line) != line:
            message = f"{shown(cell[1])} is on line {first[cell]} already; keep one"
            table.refuse(line, "id", message)
    if not table.mistakes:
        document.content["candidates"] = [
            {column: row[column] for column in COLUMNS if row.get(column)} for _, row in table.rows
        ]
    return table.mistakes[:_MOST_NAMED]
