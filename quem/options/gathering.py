"""The rows of all files side by side, as codes into questions, systems and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.options.rows import MOST_OF_A_KIND
from quem.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quem.errors import Mistake
    from quem.options.key import Key
    from quem.options.rows import Rows
    from quem.rankings.delimited import Column

    Integers = NDArray[np.int64]

__all__ = ["Gathered"]

# Who answered, where neither the study nor its files name a system.
_UNNAMED = "system"


class Gathered:
    """The rows of all files side by side; rows that hold a mistake are left out.

    Parameters
    ----------
    tables : sequence of (Rows, str)
        Each file, and the system whose lists it holds; empty where it names systems.
    key : Key
    declared : list of str
        The systems of the study file.

    Attributes
    ----------
    systems : tuple of str
    texts : dict of str to int
        Each option's code.
    file, row, list, option : array of int, shape (n,)
        Which file, which of its rows, the list it belongs to, and the code of the option.
    position, confidence : array of float, shape (n,)
    mistakes : list of Mistake
    """

    def __init__(self, tables: Sequence[tuple[Rows, str]], key: Key, declared: list[str]) -> None:
        self.tables = [rows for rows, _ in tables]
        self.mistakes: list[Mistake] = [m for rows in self.tables for m in rows.mistakes]
        self.key = key
        self.systems = _systems(tables, declared)
        self.texts: dict[str, int] = {}
        parts = [self._part(number, rows, owner) for number, (rows, owner) in enumerate(tables)]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        self.file, self.row, self.list, self.option = (c.astype(np.int64) for c in columns[:4])
        self.position, self.confidence = columns[4:]

    def _part(
        self, number: int, rows: Rows, owner: str
    ) -> tuple[NDArray[np.float64] | Integers, ...]:
        known = {question: code for code, question in enumerate(self.key.ids)}
        question = self._codes(rows, "question", rows.question, known)
        if rows.system is None or owner:
            system = np.full(len(question), self.systems.index(owner or self.systems[0]))
            self._refuse_foreign(rows, owner)
        else:
            known = {system: code for code, system in enumerate(self.systems)}
            system = self._codes(rows, "system", rows.system, known)
        for text in rows.option.values:
            self.texts.setdefault(text, len(self.texts))
        at = np.array([self.texts[text] for text in rows.option.values] or [0], dtype=np.int64)
        keep = np.flatnonzero((question >= 0) & (system >= 0))
        lists = system * len(self.key.ids) + question
        return (
            np.full(len(keep), number),
            keep,
            lists[keep],
            at[rows.option.codes][keep],
            rows.position[keep],
            rows.confidence[keep],
        )

    def _codes(self, rows: Rows, field: str, column: Column, known: dict[str, int]) -> Integers:
        """Codes into what is known; each unknown name is a mistake, told once."""
        codes = [known.get(word, -1) for word in column.values]
        told = 0
        for code in column.used():
            if codes[code] >= 0 or told >= MOST_OF_A_KIND:
                continue
            told += 1
            at = column.rows_of(code)
            word = column.values[code]
            more = f" (and on {len(at) - 1:,} more)" if len(at) > 1 else ""
            if word:
                message = f"there is no {field} {shown(word)} in the study"
                message += nearest(word, known) + more
            else:
                message = f"is empty; name the {field}{more}"
            self.mistakes.append(rows.mistake(int(at[0]), field, message))
        return np.asarray(np.array(codes or [-1], dtype=np.int64)[column.codes])

    def _refuse_foreign(self, rows: Rows, owner: str) -> None:
        """A file of one system may name it, and no other."""
        if rows.system is None or not owner:
            return
        for code in rows.system.used():
            word = rows.system.values[code]
            if word and word != owner:
                at = int(rows.system.rows_of(code)[0])
                message = (
                    f"this is a file of the system {shown(owner)}, and names {shown(word)}; "
                    "name a file of several systems under `lists`"
                )
                self.mistakes.append(rows.mistake(at, "system", message))
                return

    def mistake(self, at: int, field: str, message: str) -> Mistake:
        """Describe what is wrong with one row."""
        return self.tables[int(self.file[at])].mistake(int(self.row[at]), field, message)

    def name(self, listed: int) -> str:
        """Name a list: the question, and the system where there are several."""
        system, question = divmod(listed, len(self.key.ids))
        of = f" of {shown(self.systems[system])}" if len(self.systems) > 1 else ""
        return f"the list{of} for {shown(self.key.ids[question])}"


def _systems(tables: Iterable[tuple[Rows, str]], declared: list[str]) -> tuple[str, ...]:
    """The systems of the study, or those that the files name."""
    if declared:
        return tuple(declared)
    columns = [rows.system for rows, _ in tables]
    found = dict.fromkeys(
        column.values[code] for column in columns if column is not None for code in column.used()
    )
    found.pop("", None)
    return tuple(found) or (_UNNAMED,)
