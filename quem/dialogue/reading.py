"""Case bases and queries from CSV files: attributes, categories, and numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, StudyWarning, collecting
from quem.io.delimited import read_delimited
from quem.io.numbers import nearly_numeric, not_finite, numeric_looks, parse_number
from quem.io.tables import SourceTable, all_columns, stack
from quem.io.text import nearest, shown
from quem.wording import join_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.studyfile.dialogue import Cases
    from quem.studyfile.document import Loc

_MOST_NAMED = 5
_FEWEST = 3
_MOST = 1 << 20
_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)


Files = Sequence[tuple[Path, str]]  # with their names for messages; all have the same columns


@dataclass
class ReadCases:
    """The cases of some files, or the errors in them."""

    cases: EncodedCases | None = None  # none in case of errors
    mistakes: list[Mistake] = field(default_factory=list)  # in the files
    # In the keys of `Cases`: key and message.
    misplaced: list[tuple[Loc, str]] = field(default_factory=list)
    warnings: list[StudyWarning] = field(default_factory=list)


def read_cases(files: Files, source: Cases, base: EncodedCases | None = None) -> ReadCases:
    """Read a case base; or queries, with the columns of a case base."""
    result = ReadCases()
    whole = files[0][1]
    table = _read_rows(files, source, result.mistakes, "table of queries" if base else "case base")
    if table is None:
        return result
    if base is None:
        result.misplaced += _unknown_names(source, list(table.columns))
        result.misplaced += _contradictions(source)
    else:
        needed = [source.label, *filter(None, [source.id]), *base.attributes]
        if lacking := [shown(name) for name in needed if name not in table.columns]:
            columns = "column" if len(lacking) == 1 else "columns"
            message = f"has no {columns} {join_words(lacking, _MOST_NAMED)}, as the cases do"
            result.mistakes.append(Mistake(whole, message=message))
    if result.misplaced or result.mistakes:
        return result
    table = _with_class(source, table, result, ("query has", "queries have") if base else ())
    if base is None and not _FEWEST <= len(table) < _MOST:
        message = (
            f"there are {len(table):,} cases with a class; dialogues need at least {_FEWEST} and "
            f"take fewer than {_MOST:,}"
        )
        result.mistakes.append(Mistake(whole, message=message))
    elif base and not len(table):
        message = "there is no query with a class; add one"
        result.mistakes.append(Mistake(whole, message=message))
    else:
        _encode(source, table, base, result)
    return result


def _read_rows(
    files: Files, source: Cases, mistakes: list[Mistake], what: str
) -> SourceTable[str] | None:
    """Read all files, one after the other."""
    tables: list[SourceTable[str]] = []
    for path, name in files:
        with collecting(mistakes):
            table = read_delimited(path, name, what=what, header_rows=lambda _: int(source.header))
            message = ""
            if source.columns and len(source.columns) != len(table.columns):
                message = f"has {len(table.columns)} columns, and {len(source.columns)} are named"
            else:
                tables.append(all_columns(table, source.columns))
                if tables[-1].columns.keys() != tables[0].columns.keys():
                    message = f"has other columns than {tables[0].name}"
            if message:
                mistakes.append(Mistake(name, table.header_lines[0], message=message))
    return None if mistakes else stack(tables)


def _with_class(
    source: Cases, table: SourceTable[str], result: ReadCases, nouns: tuple[str, ...]
) -> SourceTable[str]:
    """Leave out the rows without a class, and warn of them."""
    blank = {"", *source.missing}
    labels = table.columns[source.label]
    unlabeled = labels.lookup((text in blank for text in labels.values), np.bool_)
    if lost := int(unlabeled.sum()):
        where = table.place(int(np.argmax(unlabeled)), source.label)
        first = f"{where.path}:{where.line}{' is the first' if lost > 1 else ''}"
        have = (nouns or ("case has", "cases have"))[lost > 1]
        result.warnings.append(
            StudyWarning("no-class", f"{lost} {have} no {source.label} ({first}); left out")
        )
    return table.only(np.flatnonzero(~unlabeled))


def _encode(
    source: Cases, table: SourceTable[str], base: EncodedCases | None, result: ReadCases
) -> None:
    apart = {source.label, source.id, *source.ignore}
    names = base.attributes if base else [name for name in table.columns if name not in apart]
    read = {name: _attribute(source, table, name, base, result) for name in names}
    attributes = {name: one for name, one in read.items() if one is not None}
    if not attributes and not result.mistakes:
        message = "no attribute is left: the files hold only the class and ignored columns"
        result.misplaced.append((("file",), message))
    weights = np.array([source.weights.get(name, 1.0) for name in attributes])
    if attributes and weights.sum() <= 0:
        result.misplaced.append((("weights",), "at least one attribute needs a weight above 0"))
    ids = _ids(source, table, result)
    if result.mistakes or result.misplaced:
        return
    texts = table.columns[source.label].cells()
    known = base.labels if base else ()
    labels = (*known, *sorted({*texts} - {*known}))
    codes = {label: index for index, label in enumerate(labels)}
    result.cases = EncodedCases(
        tuple(ids),
        tuple(attributes),
        np.array([values for values, _ in attributes.values()], dtype=float).T,
        tuple(categories for _, categories in attributes.values()),
        np.array([codes[text] for text in texts]),
        labels,
        weights,
    )
    if base:
        result.warnings += _doubts(source, base, result.cases)
        return
    if len(labels) == 1:
        message = f"all cases have the same {source.label}, so precision is 1 whatever is selected"
        result.warnings.append(StudyWarning("one-class", message))
    if len(labels) == len(texts):
        result.warnings.append(
            StudyWarning(
                "class-unique",
                f"no two cases have the same {source.label}, so precision is 0; keep the targets "
                "in the case base: queries: leave-one-in",
            )
        )


def _unknown_names(source: Cases, names: list[str]) -> Iterator[tuple[Loc, str]]:
    """Names in the study file that no column has."""
    named: list[tuple[Loc, str]] = [(("class",), source.label)]
    if source.id:
        named.append((("id",), source.id))
    for key in ("ignore", "numeric", "categorical"):
        listed = getattr(source, key)
        if not isinstance(listed, str):
            named += [((key, index), name) for index, name in enumerate(listed)]
    named += [(("weights", name), name) for name in source.weights]
    for loc, name in named:
        if name not in names:
            message = f"column {shown(name)} not found{nearest(name, names)}"
            if source.header and not set(names) & {name for _, name in named}:
                message += "; if the files have no header, set header: false and name the columns"
            yield loc, message


def _contradictions(source: Cases) -> Iterator[tuple[Loc, str]]:
    both = sorted({*_listed(source.numeric)} & {*_listed(source.categorical)})
    if source.numeric == source.categorical == "all":
        both = ["all"]
    if both:
        yield ("categorical",), f"{shown(both[0])} is both numeric and categorical; name it once"
    if source.label in source.weights:
        yield ("weights", source.label), "the class has no weight: it is not an attribute"


def _attribute(
    source: Cases,
    table: SourceTable[str],
    name: str,
    base: EncodedCases | None,
    result: ReadCases,
) -> tuple[NDArray[np.float64], tuple[str, ...] | None] | None:
    """The values of an attribute and its categories; None if every value is missing.

    Queries are coded like the case base; categories that no case has follow.
    """
    blank = {"", *source.missing}
    column = table.columns[name]
    known = {text: n for text, n in table.counts(name) if text not in blank}
    numbers = {text: parse_number(text, comma=False) for text in known}
    wrong = {text for text, n in numbers.items() if n is None or not math.isfinite(n)}
    before: tuple[str, ...] | None = ()
    if base:
        before = base.categories[base.attributes.index(name)]
        numeric = before is None
    elif not known:
        result.warnings.append(
            StudyWarning(
                "empty-attribute", f"no case has a value of {name}; the attribute is left out"
            )
        )
        return None
    elif name in _listed(source.numeric):
        numeric = True
    elif name in _listed(source.categorical) or source.categorical == "all":
        numeric = False
    elif source.numeric == "all":
        numeric = True
    else:
        looks = numeric_looks(numbers, known, _FEWEST)
        numeric, wrong = looks.numeric, {*looks.refused}
        if looks.nearly:
            rows = np.flatnonzero(column.lookup((t in looks.odd for t in column.values), np.bool_))
            remedy = "correct it, or name it under missing, or name the column under categorical"
            at, text = table.place(int(rows[0]), name), column.cell(int(rows[0]))
            result.warnings.append(nearly_numeric(at, text, len(rows) - 1, remedy))
            numeric = numeric or bool(wrong)
    if numeric:
        rows = np.flatnonzero(column.lookup((text in wrong for text in column.values), np.bool_))
        table.refuse(name, rows, lambda text: _not_a_number(text, numbers[text]), result.mistakes)
        return column.lookup((numbers.get(text) for text in column.values), np.float64), None
    order = (lambda text: text) if base else (lambda text: (-known[text], text))
    categories = (*(before or ()), *sorted(known.keys() - {*(before or ())}, key=order))
    codes = {text: code for code, text in enumerate(categories)}
    return column.lookup((codes.get(text) for text in column.values), np.float64), categories


def _listed(names: tuple[str, ...] | str) -> tuple[str, ...]:
    return () if isinstance(names, str) else names


def _not_a_number(text: str, number: float | None) -> str:
    """Why a cell of a numeric column is not a number."""
    if number is not None:
        return not_finite(
            text, "correct it, or name it under missing or the column under categorical"
        )
    if _COMMA.fullmatch(text):
        return f"{shown(text)} has a decimal comma; write a decimal point"
    return f"{shown(text)} is not a number; if it means a missing value, name it under missing"


def _ids(source: Cases, table: SourceTable[str], result: ReadCases) -> list[str]:
    """The names of the rows, or their numbers."""
    if not source.id:
        return [str(number) for number in range(1, len(table) + 1)]
    table.lacking([source.id], result.mistakes)
    ids = table.columns[source.id].cells()
    repeated = [name for name, n in table.counts(source.id) if n > 1 and name]
    if not repeated:
        return ids
    # UCI's Zoo has two frogs.
    more = f" (and {len(repeated) - 1} more names)" if len(repeated) > 1 else ""
    message = f"several cases are named {shown(repeated[0])}{more}; they are numbered"
    result.warnings.append(StudyWarning("case-named-twice", message))
    count: Counter[str] = Counter()
    for at, name in enumerate(ids):
        count[name] += 1
        ids[at] = f"{name} ({count[name]})" if name in repeated else name
    return ids


def _doubts(source: Cases, cases: EncodedCases, queries: EncodedCases) -> Iterator[StudyWarning]:
    """Warnings on values that the case base lacks or duplicates."""
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
    """Each row with its class, as bytes, so that equal rows are equal."""
    # Zero has two signs, and NaN many forms.
    values = np.where(cases.known, cases.values, np.inf) + 0.0
    for row, label in zip(values, cases.classes.tolist(), strict=True):
        yield row.tobytes() + str(label).encode()


@dataclass(frozen=True)
class EncodedCases:
    """Cases with attributes and a class."""

    ids: tuple[str, ...]  # of the n cases
    attributes: tuple[str, ...]  # names of the m attributes
    # Of shape (n, m): a number, or the index of a category; NaN where it is missing.
    values: NDArray[np.float64]
    # The categories of each attribute, the most frequent first; None for a numeric one.
    categories: tuple[tuple[str, ...] | None, ...]
    classes: NDArray[np.int64]  # of shape (n,): index of each case's class, which is its solution
    labels: tuple[str, ...]  # the classes
    weights: NDArray[np.float64]  # of shape (m,): weight of an attribute in a distance

    def __len__(self) -> int:
        """Number of cases."""
        return len(self.ids)

    @cached_property
    def numeric(self) -> NDArray[np.intp]:
        """Which attributes are numeric."""
        return np.flatnonzero([names is None for names in self.categories])

    @cached_property
    def categorical(self) -> NDArray[np.intp]:
        """Which attributes are categorical."""
        return np.flatnonzero([names is not None for names in self.categories])

    @cached_property
    def lowest(self) -> NDArray[np.float64]:
        """The minimum of each attribute."""
        least: NDArray[np.float64] = np.min(self.values, axis=0, where=self.known, initial=np.inf)
        return least

    @cached_property
    def spans(self) -> NDArray[np.float64]:
        """The range of each attribute; 0 where all cases have one value."""
        most = np.max(self.values, axis=0, where=self.known, initial=-np.inf)
        return np.asarray(most - self.lowest)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which values are not missing, shape (n, m)."""
        return ~np.isnan(self.values)

    def without(self, case: int) -> EncodedCases:
        """Leave one case out."""
        return replace(
            self,
            ids=self.ids[:case] + self.ids[case + 1 :],
            values=np.delete(self.values, case, axis=0),
            classes=np.delete(self.classes, case),
        )
