"""The table of candidates that a study of relevance names: ``candidates: candidates.csv``.

Its columns are ``problem`` and ``id``, and ``query`` and ``case`` with the ids that these have
where they come from. `quem pool` writes it.
"""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.text import nearest, read_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.studyfile.document import Document

COLUMNS = ("problem", "id", "query", "case")
_NEEDED = ("problem", "id")
_MOST_NAMED = 20


def candidates_text(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """Write the table, a row (problem, id, query, case) for each candidate."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return text.getvalue()


def fill_in_candidates(document: Document) -> list[Mistake]:
    """Put the candidates of the table that a study names into the study."""
    content = document.content
    named = content.get("candidates")
    if not isinstance(named, str):
        return []
    content["candidates"] = []
    path = Path(document.name).parent / named
    if not path.exists():
        names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = nearest(path.name, names) or "; check its name, or list the candidates here"
        return [document.mistake(("candidates",), f"there is no file {shown(named)}{hint}")]
    name = str(path)
    try:
        text = read_text(path, name, what="table of candidates")
        rows, mistakes = _rows(text, name)
    except QuemError as error:
        return list(error.mistakes)
    mistakes += _doubled(rows, name) if not mistakes else []
    if not mistakes:
        content["candidates"] = [entry for _, entry in rows]
    return mistakes[:_MOST_NAMED]


def _rows(text: str, name: str) -> tuple[list[tuple[int, dict[str, str]]], list[Mistake]]:
    """The line of each row, and the row."""
    first = text.partition("\n")[0]
    reader = csv.reader(StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        lines = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise QuemError(Mistake(name, reader.line_num, message=f"is no CSV: {error}")) from None
    header = [cell.strip() for cell in lines[0][1]] if lines else []
    mistakes = [
        Mistake(name, 1, message=f"has no column {column}; add it")
        for column in _NEEDED
        if column not in header
    ]
    if mistakes:
        return [], mistakes
    rows = []
    for line, row in lines[1:]:
        cells = dict(zip(header, [*row, *[""] * len(header)], strict=False))
        entry = {column: cells[column].strip() for column in COLUMNS if cells.get(column)}
        rows.append((line, entry))
        mistakes += [
            Mistake(name, line, key=column, message="is empty; add the id")
            for column in _NEEDED
            if not entry.get(column)
        ]
    return rows, mistakes


def _doubled(rows: list[tuple[int, dict[str, str]]], name: str) -> list[Mistake]:
    seen: dict[tuple[str, str], int] = {}
    mistakes = []
    for line, entry in rows:
        cell = entry["problem"], entry["id"]
        if cell in seen:
            message = f"{shown(cell[1])} is on line {seen[cell]} already; keep one"
            mistakes.append(Mistake(name, line, key="id", message=message))
        seen.setdefault(cell, line)
    return mistakes
