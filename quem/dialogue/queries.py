"""Targets from files of their own, on the columns of a case base."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.reading import (
    EncodedCases,
    ReadCases,
    case_ids,
    not_a_number,
    read_rows,
    with_class,
)
from quem.errors import Mistake, StudyWarning
from quem.io.numbers import parse_number
from quem.io.text import shown
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.dialogue.reading import CaseFiles
    from quem.io.tables import SourceTable

_MOST_NAMED = 5


def read_queries(source: CaseFiles, cases: EncodedCases) -> ReadCases:
    """Read queries as the cases were read."""
    result = ReadCases()
    table = read_rows(source, result.mistakes, "table of queries")
    if table is None:
        return result
    needed = [source.label, *([source.id] if source.id else []), *cases.attributes]
    if lacking := [name for name in needed if name not in table.columns]:
        column = "column" if len(lacking) == 1 else "columns"
        message = f"has no {column} {join_words(map(shown, lacking), _MOST_NAMED)}, as the cases do"
        result.mistakes.append(Mistake(source.files[0][1], message=message))
        return result
    table = with_class(source, table, result, ("query has", "queries have"))
    if not len(table):
        message = "there is no query with a class; add one"
        result.mistakes.append(Mistake(source.files[0][1], message=message))
        return result
    ids = case_ids(source, table, result)
    read = [_attribute(source, table, cases, place, result) for place in range(len(cases.spans))]
    if result.mistakes:
        return result
    texts = table.columns[source.label].cells()
    labels = (*cases.labels, *sorted(set(texts) - set(cases.labels)))
    codes = {label: code for code, label in enumerate(labels)}
    result.cases = EncodedCases(
        tuple(ids),
        cases.attributes,
        np.array([values for values, _ in read], dtype=float).T,
        tuple(categories for _, categories in read),
        np.array([codes[text] for text in texts]),
        labels,
        cases.weights,
    )
    result.warnings += _doubts(source, cases, result.cases)
    return result


def _attribute(
    source: CaseFiles,
    table: SourceTable[str],
    cases: EncodedCases,
    place: int,
    result: ReadCases,
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """The values of one attribute, and its categories with those that no case has."""
    name, categories = cases.attributes[place], cases.categories[place]
    column = table.columns[name]
    blank = {"", *source.missing}
    if categories is None:
        numbers = {text: parse_number(text, comma=False) for text in column.values}
        wrong = {
            text
            for text, number in numbers.items()
            if text not in blank and (number is None or not math.isfinite(number))
        }
        if wrong:

            def message_of(text: str) -> str:
                return not_a_number(text, numbers[text])

            at = column.lookup((text in wrong for text in column.values), np.bool_)
            table.refuse(name, np.flatnonzero(at), message_of, result.mistakes)
        values = [math.nan if text in blank else numbers[text] for text in column.values]
        return column.lookup((math.nan if v is None else v for v in values), np.float64), None
    held = {text for text, _ in table.counts(name)}
    new = sorted(held - set(categories) - blank)
    codes = {text: float(code) for code, text in enumerate((*categories, *new))}
    every = column.lookup((codes.get(text, math.nan) for text in column.values), np.float64)
    return every, (*categories, *new)


def _doubts(
    source: CaseFiles, cases: EncodedCases, queries: EncodedCases
) -> Iterator[StudyWarning]:
    """What the case base cannot know of the queries, and what it knows too well."""
    unseen = queries.classes >= len(cases.labels)
    if unseen.any():
        labels = [shown(label) for label in queries.labels[len(cases.labels) :]]
        message = (
            f"{_queries(unseen)} a {source.label} that no case has "
            f"({join_words(labels, _MOST_NAMED)}), so nothing that is selected is right"
        )
        yield StudyWarning("unseen-class", message)
    beyond = []
    for place, categories in enumerate(cases.categories):
        values = queries.values[:, place]
        low = cases.lowest[place]
        high = low + cases.spans[place]
        odd = (values < low) | (values > high) if categories is None else values >= len(categories)
        if odd.any():
            beyond.append(f"{cases.attributes[place]} ({int(odd.sum())})")
    if beyond:
        message = (
            f"queries have values that no case has: {join_words(beyond, _MOST_NAMED)}; a category "
            "differs from all, and a number beyond the range of the cases by that range at most"
        )
        yield StudyWarning("unseen-value", message)
    known = set(_rows(cases))
    same = np.array([row in known for row in _rows(queries)])
    if same.any():
        message = (
            f"{_queries(same)} all values and the {source.label} of a case, so the case base holds "
            "the answer; leave them out of one of the files, unless that is meant"
        )
        yield StudyWarning("query-in-cases", message)


def _queries(which: NDArray[np.bool_]) -> str:
    count = int(which.sum())
    return "1 query has" if count == 1 else f"{count:,} queries have"


def _rows(cases: EncodedCases) -> Iterator[bytes]:
    """Each row with its class, so that equal ones are equal."""
    # Zero has two signs, and NaN many forms.
    values = np.where(cases.known, cases.values, np.inf) + 0.0
    for row, label in zip(values, cases.classes.tolist(), strict=True):
        yield row.tobytes() + str(label).encode()
