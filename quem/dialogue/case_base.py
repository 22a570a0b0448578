"""Case bases: what a case is known to be, attribute by attribute, and its class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.tables import Column, read_delimited
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["CaseFiles", "CaseTable", "EncodedCases", "read_cells"]


@dataclass(frozen=True)
class EncodedCases:
    """Cases with attributes and a class.

    Parameters
    ----------
    ids : tuple of str
        Of the n cases.
    attributes : tuple of str
        Names of the m attributes.
    values : array of float, shape (n, m)
        A number, or the index of a category; NaN where it is missing.
    categories : tuple of (tuple of str or None)
        The categories of each attribute, the most frequent first; None for a numeric one.
    classes : array of int, shape (n,)
        Index of each case's class, which is its solution.
    labels : tuple of str
        The classes.
    weights : array of float, shape (m,)
        What an attribute counts in a distance.
    """

    ids: tuple[str, ...]
    attributes: tuple[str, ...]
    values: NDArray[np.float64]
    categories: tuple[tuple[str, ...] | None, ...]
    classes: NDArray[np.int64]
    labels: tuple[str, ...]
    weights: NDArray[np.float64]

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
        """Leave one case out.

        Parameters
        ----------
        case : int
        """
        return replace(
            self,
            ids=self.ids[:case] + self.ids[case + 1 :],
            values=np.delete(self.values, case, axis=0),
            classes=np.delete(self.classes, case),
        )


@dataclass(frozen=True)
class CaseFiles:
    """Where the cases are, and what their columns mean.

    Parameters
    ----------
    files : tuple of (Path, str)
        With the names for messages; all have the same columns.
    header : bool
        Whether the first line of each names the columns.
    columns : tuple of str
        The names, where there is no header.
    label : str
        The column of the class.
    id : str
        The column that names the cases; their number where there is none.
    ignore : tuple of str
    numeric, categorical : tuple of str or "all"
        What is in neither is numeric if it has more than two values and all are numbers.
    weights : dict of str to float
        1 by default.
    missing : tuple of str
        What stands in a cell without a value, besides nothing.
    decimal : str
        "." or ",".
    """

    files: tuple[tuple[Path, str], ...]
    label: str
    header: bool = True
    columns: tuple[str, ...] = ()
    id: str = ""
    ignore: tuple[str, ...] = ()
    numeric: tuple[str, ...] | str = ()
    categorical: tuple[str, ...] | str = ()
    weights: dict[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ("?", "NA")
    decimal: str = "."


@dataclass(frozen=True)
class CaseTable:
    """The cells of all files, and where each row comes from.

    Parameters
    ----------
    names : list of str
        Of the columns.
    columns : list of list of str
    where : callable
        From a row to the name of its file and its line.
    """

    names: list[str]
    columns: list[list[str]]
    where: Callable[[int], tuple[str, int]]

    def mistake(self, row: int, name: str, message: str) -> Mistake:
        """Say what is wrong in a row and column."""
        path, line = self.where(row)
        return Mistake(path, line, self.names.index(name) + 1, name, message)


def read_cells(asked: CaseFiles) -> tuple[CaseTable | None, list[Mistake]]:
    """Read all files; one after the other makes the case base.

    Parameters
    ----------
    asked : CaseFiles

    Returns
    -------
    cells : CaseTable or None
        None where something is wrong.
    mistakes : list of Mistake
    """
    mistakes: list[Mistake] = []
    names: list[str] = list(asked.columns)
    columns: list[list[str]] = []
    starts: list[tuple[int, str, Callable[[], list[int]], int]] = []
    total = 0
    for path, name in asked.files:
        try:
            table = read_delimited(path, name, what="case base")
        except QuemError as error:
            mistakes += error.mistakes
            continue
        header, texts, above = table.header[0], [_texts(c) for c in table.columns], 0
        if not asked.header:
            texts = [[first, *column] for first, column in zip(header, texts, strict=True)]
            header, above = list(asked.columns) or header, 1
            if len(header) != len(texts):
                message = f"has {len(texts)} columns, and {len(header)} are named"
                mistakes.append(Mistake(name, table.header_lines[0], message=message))
                continue
        names = names or header
        if header != names:
            if sorted(header) != sorted(names):
                message = f"has other columns than {asked.files[0][1]}"
                mistakes.append(Mistake(name, table.header_lines[0], message=message))
                continue
            texts = [texts[header.index(column)] for column in names]
        first_line = table.header_lines[0]
        starts.append((total, name, table.lines, first_line if above else 0))
        total += len(texts[0])
        columns = [[*a, *b] for a, b in zip(columns or [[] for _ in names], texts, strict=True)]
    if mistakes:
        return None, mistakes
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        message = f"several columns are named {shown(twice[0])}; give each its own name"
        mistakes.append(Mistake(asked.files[0][1], 1, message=message))
        return None, mistakes
    return _without_blank_rows(names, columns, starts), []


def _texts(column: Column) -> list[str]:
    values = np.array(column.values, dtype=object)
    texts: list[str] = values[column.codes].tolist() if len(values) else []
    return texts


def _without_blank_rows(
    names: list[str],
    columns: list[list[str]],
    starts: list[tuple[int, str, Callable[[], list[int]], int]],
) -> CaseTable:
    kept = [row for row, cells in enumerate(zip(*columns, strict=True)) if any(cells)]

    def where(row: int) -> tuple[str, int]:
        start, name, lines, first = [s for s in starts if s[0] <= kept[row]][-1]
        all_lines = [first, *lines()] if first else lines()
        return name, all_lines[kept[row] - start]

    return CaseTable(names, [[column[row] for row in kept] for column in columns], where)
