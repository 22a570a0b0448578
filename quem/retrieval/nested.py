"""Lists and judgments as JSON has them where an entry is a query, not a query and a case.

Programs write such files in a few shapes: an object of query to cases, as pytrec_eval and ranx
take it, or a record for each query that holds its cases. The cases are an object of case to
number, or a list, best first, of ids, of pairs, or of records.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.columns import column_of
from quem.io.records import read_records, text_of
from quem.io.tables import MOST_NAMED, SourceTable, field_name
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from quem.io.records import Record

# What the cases of a query are called in its record.
_CASES = ("cases", "results", "documents", "docs", "hits", "ranking", "candidates", "items")
_PAIR = 2
# A row: the entry that it is of, and the cells.
_Row = tuple[int, dict[str, object]]


def read_nested(
    path: Path, name: str, *, what: str, fields: Mapping[str, Sequence[str]], value: str
) -> SourceTable[str] | None:
    """Read JSON or JSON Lines in which an entry holds all cases of a query."""
    cases = '{"d7": 0.9, "d2": 0.4}' if value != "grade" else '{"d7": 1, "d2": 0}'
    example = f'{{"query": "q1", "cases": {cases}}}'

    def unfold(content: object) -> list[object] | None:
        if not isinstance(content, dict) or any(_is_row(one, fields) for one in content.values()):
            return None
        return [{"query": query, "cases": held} for query, held in content.items()]

    records = read_records(path, name, what=what, example=example, key="query", unfold=unfold)
    if not any(_held(entry) for entry in records.entries):
        return None
    mistakes: list[Mistake] = []
    rows: list[_Row] = []
    for at, entry in enumerate(records.entries):
        try:
            rows += ((at, row) for row in _rows(entry, fields, value))
        except QuemError as error:
            line = records.lines()[at]
            mistakes += [replace(one, path=name, line=line) for one in error.mistakes]
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    names = [key for key in fields if any(key in row for _, row in rows)]
    columns = {key: column_of(_cell(row.get(key)) for _, row in rows) for key in names}
    if not rows:
        raise QuemError(Mistake(name, message="holds no case of any query"))
    return SourceTable(
        name, columns, lambda row, key: Mistake(name, records.lines()[rows[row][0]], key=key)
    )


def _is_row(held: object, fields: Mapping[str, Sequence[str]]) -> bool:
    """Whether what an object holds by a name is a query and a case, and not a query's cases."""
    if not isinstance(held, dict):
        return False
    return any(
        isinstance(value, str) and field_name(key) in fields["case"] for key, value in held.items()
    )


def _held(entry: Record) -> str:
    """The key that holds the cases of a query."""
    return next((key for key in _CASES if isinstance(entry.get(key), list | dict)), "")


def _rows(
    entry: Record, fields: Mapping[str, Sequence[str]], value: str
) -> Iterator[dict[str, object]]:
    names = (*fields["query"], "id", "_id")
    query = next((held for key, held in entry.items() if field_name(key) in names), None)
    if text_of(query) is None:
        example = '{"query": "q1", "cases": ["d7", "d2"]}'
        raise QuemError(Mistake("", message=f"has no query; write it as in {example}"))
    key = _held(entry)
    held = entry.get(key)
    if isinstance(held, dict):
        held = list(held.items())
    if not isinstance(held, list):
        raise QuemError(
            Mistake("", message=f"has no list of cases; name them {_CASES[0]}, or {_CASES[1]}")
        )
    for number, one in enumerate(held, 1):
        row = _row(one, fields, value)
        if row is None:
            raise QuemError(
                Mistake(
                    "",
                    key=key,
                    message=(
                        f"entry {number} is {shown(str(one))}; use an id, a pair of id and "
                        "number, or a "
                        f"record with case and {value}"
                    ),
                )
            )
        yield {"query": query, **row}


def _row(one: object, fields: Mapping[str, Sequence[str]], value: str) -> dict[str, object] | None:
    """What one entry of a query's cases says; None where it is none."""
    if isinstance(one, dict):
        row = {
            field: cell
            for key, cell in one.items()
            for field, names in fields.items()
            if field_name(key) in names
        }
        return row if text_of(row.get("case")) is not None else None
    if isinstance(one, tuple | list):
        return {"case": one[0], value: one[1]} if len(one) == _PAIR and text_of(one[0]) else None
    return None if text_of(one) is None else {"case": one}


def _cell(value: object) -> str:
    return "" if value is None else str(value).strip()
