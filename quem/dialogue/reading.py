"""Case bases from CSV files: what each column means, and which of them hold numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.delimited import read_delimited
from quem.io.numbers import nearly_numeric, not_finite, numeric_looks, parse_number
from quem.io.tables import all_columns, stack
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.io.tables import SourceTable
    from quem.studyfile.document import Loc

Key = TypeVar("Key")
_FEWEST = 3
_MOST = 1 << 20
_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class CaseFiles:
    """Where the cases are, and what their columns mean."""

    files: tuple[tuple[Path, str], ...]  # with the names for messages; all have the same columns
    label: str  # the column of the class
    header: bool = True  # whether the first line of each names the columns
    columns: tuple[str, ...] = ()  # the names, where there is no header
    id: str = ""  # the column that names the cases; their number where there is none
    ignore: tuple[str, ...] = ()
    # What is in neither is numeric if it has more than two values and all are numbers
    numeric: tuple[str, ...] | str = ()
    categorical: tuple[str, ...] | str = ()
    weights: dict[str, float] = field(default_factory=dict)  # 1 by default
    missing: tuple[str, ...] = ("?", "NA")  # what a cell without a value holds, besides nothing


@dataclass
class ReadCases:
    """What was read."""

    cases: EncodedCases | None = None  # none where something is wrong
    mistakes: list[Mistake] = field(default_factory=list)  # in the files
    # In the keys of `CaseFiles`: the key, and what is wrong.
    misplaced: list[tuple[Loc, str]] = field(default_factory=list)
    warnings: list[StudyWarning] = field(default_factory=list)


def read_cases(source: CaseFiles) -> ReadCases:
    """Read a case base."""
    result = ReadCases()
    table = read_rows(source, result.mistakes, "case base")
    if table is None:
        return result
    result.misplaced += _unknown_names(source, list(table.columns))
    result.misplaced += _contradictions(source)
    if result.misplaced:
        return result
    table = with_class(source, table, result, ("case has", "cases have"))
    if not _FEWEST <= len(table) < _MOST:
        message = (
            f"there are {len(table):,} cases with a class; dialogues need at least {_FEWEST} and "
            f"take fewer than {_MOST:,}"
        )
        result.mistakes.append(Mistake(source.files[0][1], message=message))
        return result
    _encode(source, table, result)
    return result


def read_rows(source: CaseFiles, mistakes: list[Mistake], what: str) -> SourceTable[str] | None:
    """Read all files, one after the other."""
    tables: list[SourceTable[str]] = []
    for path, name in source.files:
        try:
            table = read_delimited(path, name, what=what, header_rows=lambda _: int(source.header))
            names = [] if source.header else list(source.columns)
            if names and len(names) != len(table.columns):
                message = f"has {len(table.columns)} columns, and {len(names)} are named"
                mistakes.append(Mistake(name, table.header_lines[0], message=message))
                continue
            tables.append(all_columns(table, names))
        except QuemError as error:
            mistakes += error.mistakes
            continue
        if tables[-1].columns.keys() != tables[0].columns.keys():
            message = f"has other columns than {tables[0].name}"
            mistakes.append(Mistake(name, table.header_lines[0], message=message))
    return None if mistakes else stack(tables)


def with_class(
    source: CaseFiles, table: SourceTable[str], result: ReadCases, nouns: tuple[str, str]
) -> SourceTable[str]:
    """Leave out the rows without a class, and warn of them."""
    blank = {"", *source.missing}
    labels = table.columns[source.label]
    unlabeled = labels.lookup((text in blank for text in labels.values), np.bool_)
    if lost := int(unlabeled.sum()):
        where = table.place(int(np.argmax(unlabeled)), source.label)
        first = f"{where.path}:{where.line}{' is the first' if lost > 1 else ''}"
        message = f"{lost} {nouns[lost > 1]} no {source.label} ({first}); left out"
        result.warnings.append(StudyWarning("no-class", message))
    return table.only(np.flatnonzero(~unlabeled))


def _encode(source: CaseFiles, table: SourceTable[str], result: ReadCases) -> None:
    apart = {source.label, source.id, *source.ignore}
    names, values, categories = [], [], []
    for name in [name for name in table.columns if name not in apart]:
        attribute = _attribute(source, table, name, result)
        if attribute is not None:
            names.append(name)
            values.append(attribute[0])
            categories.append(attribute[1])
    if not names and not result.mistakes:
        message = "no attribute is left: the files hold only the class and ignored columns"
        result.misplaced.append((("file",), message))
    if result.mistakes or result.misplaced:
        return
    ids = case_ids(source, table, result)
    texts = table.columns[source.label].cells()
    labels = sorted(set(texts))
    if len(labels) == 1:
        message = f"all cases have the same {source.label}, so precision is 1 whatever is selected"
        result.warnings.append(StudyWarning("one-class", message))
    if len(labels) == len(texts):
        message = (
            f"no two cases have the same {source.label}, so precision is 0; keep the targets in "
            "the case base: queries: leave-one-in"
        )
        result.warnings.append(StudyWarning("class-unique", message))
    weights = np.array([source.weights.get(name, 1.0) for name in names])
    if weights.sum() <= 0:
        result.misplaced.append((("weights",), "at least one attribute needs a weight above 0"))
        return
    if not result.mistakes:
        codes = {label: index for index, label in enumerate(labels)}
        result.cases = EncodedCases(
            tuple(ids),
            tuple(names),
            np.array(values, dtype=float).T,
            tuple(categories),
            np.array([codes[text] for text in texts]),
            tuple(labels),
            weights,
        )


def _unknown_names(source: CaseFiles, names: list[str]) -> Iterator[tuple[Loc, str]]:
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


def _contradictions(source: CaseFiles) -> Iterator[tuple[Loc, str]]:
    both = sorted({*_listed(source.numeric)} & {*_listed(source.categorical)})
    if source.numeric == source.categorical == "all":
        both = ["all"]
    if both:
        yield ("categorical",), f"{shown(both[0])} is both numeric and categorical; name it once"
    if source.label in source.weights:
        yield ("weights", source.label), "the class has no weight: it is not an attribute"


def _attribute(
    source: CaseFiles, table: SourceTable[str], name: str, result: ReadCases
) -> tuple[NDArray[np.float64], tuple[str, ...] | None] | None:
    """The values of one attribute, and its categories; None where every value is missing."""
    blank = {"", *source.missing}
    column = table.columns[name]
    known = {text: n for text, n in table.counts(name) if text not in blank}
    if not known:
        message = f"no case has a value of {name}; the attribute is left out"
        result.warnings.append(StudyWarning("empty-attribute", message))
        return None
    numbers = {text: parse_number(text, comma=False) for text in known}
    numeric, wrong = _is_numeric(source, table, name, numbers, known, result)
    if wrong:

        def message_of(text: str) -> str:
            return not_a_number(text, numbers[text])

        rows = np.flatnonzero(column.lookup((text in wrong for text in column.values), np.bool_))
        table.refuse(name, rows, message_of, result.mistakes)
    if numeric:
        codes, categories = numbers, None
    else:
        categories = tuple(sorted(known, key=lambda text: (-known[text], text)))
        codes = {text: float(code) for code, text in enumerate(categories)}
    values = [codes.get(text) for text in column.values]
    return column.lookup((math.nan if v is None else v for v in values), np.float64), categories


def _is_numeric(
    source: CaseFiles,
    table: SourceTable[str],
    name: str,
    numbers: dict[str, float | None],
    known: dict[str, int],
    result: ReadCases,
) -> tuple[bool, set[str]]:
    """Whether a column is numeric, as declared, else by its looks; and its wrong values."""
    not_finite = {text for text, n in numbers.items() if n is None or not math.isfinite(n)}
    if name in _listed(source.numeric):
        return True, not_finite
    if name in _listed(source.categorical) or source.categorical == "all":
        return False, set()
    if source.numeric == "all":
        return True, not_finite
    looks = numeric_looks(numbers, known, _FEWEST)
    if looks.nearly:
        column = table.columns[name]
        rows = np.flatnonzero(column.lookup((t in looks.odd for t in column.values), np.bool_))
        first = int(rows[0])
        remedy = "correct it, or name it under missing, or name the column under categorical"
        at = table.place(first, name)
        result.warnings.append(nearly_numeric(at, column.cell(first), len(rows) - 1, remedy))
    return looks.numeric, set(looks.refused)


def _listed(names: tuple[str, ...] | str) -> tuple[str, ...]:
    return () if isinstance(names, str) else names


def not_a_number(text: str, number: float | None) -> str:
    """Say why a cell of a numeric column is wrong."""
    if number is not None:
        return not_finite(
            text, "correct it, or name it under missing or the column under categorical"
        )
    if _COMMA.fullmatch(text):
        return f"{shown(text)} has a decimal comma; write a decimal point"
    return f"{shown(text)} is not a number; if it means a missing value, name it under missing"


def case_ids(source: CaseFiles, table: SourceTable[str], result: ReadCases) -> list[str]:
    """Give the names of the rows, or their numbers."""
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
    return list(_numbered(ids, set(repeated)))


def _numbered(ids: Iterable[str], repeated: set[str]) -> Iterator[str]:
    count: Counter[str] = Counter()
    for name in ids:
        count[name] += 1
        yield f"{name} ({count[name]})" if name in repeated else name


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
    weights: NDArray[np.float64]  # of shape (m,): what an attribute counts in a distance

    def __len__(self) -> int:
        """How many cases there are."""
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
        """The least value of each attribute."""
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
