"""The rows of all files side by side, as codes into questions, systems and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, StudyWarning
from quem.io.text import nearest, shown
from quem.options.lists import Offered
from quem.options.rows import MOST_OF_A_KIND
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quem.io.tables import Column
    from quem.options.answer_key import AnswerKey
    from quem.options.rows import Rows

    Integers = NDArray[np.int64]
    from collections.abc import Iterator


__all__ = ["Assembled", "Gathered", "assemble", "contradictions"]


# Who answered, where neither the study nor its files name a system.
_UNNAMED = "system"


class Gathered:
    """The rows of all files side by side; rows that hold a mistake are left out.

    Parameters
    ----------
    tables : sequence of (Rows, str)
        Each file, and the system whose lists it holds; empty where it names systems.
    key : AnswerKey
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

    def __init__(
        self, tables: Sequence[tuple[Rows, str]], key: AnswerKey, declared: list[str]
    ) -> None:
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


def contradictions(found: Gathered) -> Iterator[Mistake]:
    """Find lists in two files, blank and repeated options, and positions that number nothing.

    Parameters
    ----------
    found : Gathered
        Rows without other mistakes.
    """
    yield from _in_two_files(found)
    yield from _empty_among_others(found)
    yield from _options_twice(found)
    yield from _positions(found)


def _in_two_files(found: Gathered) -> Iterator[Mistake]:
    """A list stands in one file."""
    if len(found.tables) == 1:
        return
    first = np.full(found.list.max(initial=-1) + 1, len(found.tables))
    np.minimum.at(first, found.list, found.file)
    later = np.flatnonzero(found.file > first[found.list])
    _, at = np.unique(found.list[later], return_index=True)
    for row in later[np.sort(at)][:MOST_OF_A_KIND].tolist():
        other = found.tables[int(first[found.list[row]])].name
        message = f"{found.name(int(found.list[row]))} is also in {other}; keep one of them"
        yield found.mistake(row, "question", message)


def _empty_among_others(found: Gathered) -> Iterator[Mistake]:
    """A row without an option stands for an empty list, and alone."""
    blank = np.flatnonzero(found.option == found.texts.get("", -1))
    sizes = np.bincount(found.list)
    for row in blank[sizes[found.list[blank]] > 1][:MOST_OF_A_KIND].tolist():
        message = (
            f"is empty, and {found.name(int(found.list[row]))} has other lines; name the option, "
            "or remove the line"
        )
        yield found.mistake(row, "option", message)


def _options_twice(found: Gathered) -> Iterator[Mistake]:
    pairs = found.list * len(found.texts) + found.option
    _, first, back = np.unique(pairs, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[back] != np.arange(len(pairs)))
    texts = list(found.texts)
    for row in again[:MOST_OF_A_KIND].tolist():
        text = texts[int(found.option[row])]
        message = f"{shown(text)} is twice in {found.name(int(found.list[row]))}; keep one of them"
        yield found.mistake(row, "option", message)


def _positions(found: Gathered) -> Iterator[Mistake]:
    """Positions are whole numbers from 1, each once in a list, and told for all or none."""
    known = ~np.isnan(found.position)
    if not known.any():
        return
    with np.errstate(invalid="ignore"):
        wrong = known & ((found.position < 1) | (found.position != np.floor(found.position)))
    for row in np.flatnonzero(wrong)[:MOST_OF_A_KIND].tolist():
        message = f"{found.position[row]:g} is no whole number from 1"
        yield found.mistake(row, "position", message)
    told = np.bincount(found.list, weights=known)[found.list]
    lacking = ~known & (told > 0)
    for row in np.flatnonzero(lacking)[:MOST_OF_A_KIND].tolist():
        message = f"is empty, and {found.name(int(found.list[row]))} has positions; add it"
        yield found.mistake(row, "position", message)
    order = np.lexsort((found.position, found.list))
    same = np.flatnonzero((np.diff(found.list[order]) == 0) & (np.diff(found.position[order]) == 0))
    for row in order[same + 1][:MOST_OF_A_KIND].tolist():
        message = (
            f"{found.position[row]:g} is twice in {found.name(int(found.list[row]))}; "
            "number its options 1, 2, 3"
        )
        yield found.mistake(row, "position", message)


@dataclass(frozen=True)
class Assembled:
    """The lists of all systems.

    Parameters
    ----------
    systems : tuple of str
    offered : Offered
    warnings : tuple of StudyWarning
    """

    systems: tuple[str, ...]
    offered: Offered
    warnings: tuple[StudyWarning, ...]


def assemble(
    tables: Sequence[tuple[Rows, str]], key: AnswerKey, declared: list[str]
) -> tuple[Assembled, list[Mistake]]:
    """Put the rows of all files together.

    Parameters
    ----------
    tables : sequence of (Rows, str)
        Each file, and the system whose lists it holds; empty where it names systems.
    key : AnswerKey
    declared : list of str
        The systems of the study file; without any, those that the files name.

    Returns
    -------
    assembled : Assembled
        Worth using only where there are no mistakes.
    mistakes : list of Mistake
    """
    found = Gathered(tables, key, declared)
    mistakes = found.mistakes
    several = [rows for rows, owner in tables if rows.system is None and not owner]
    if several and len(found.systems) > 1:
        message = (
            "has no column system, and the study has several; add the column, or name the file "
            "under its system"
        )
        mistakes += [Mistake(rows.name, message=message) for rows in several]
    if not mistakes:
        mistakes += contradictions(found)
    order, warnings = _order(found)
    # The rows of empty lists hold no option.
    order = order[found.option[order] != found.texts.get("", -1)]
    answered = np.zeros(len(found.systems) * len(key.ids), dtype=bool)
    answered[found.list] = True
    right = np.array([found.texts.get(text, -1) for text in key.correct], dtype=np.int64)
    lists = found.list[order]
    offered = Offered(
        len(found.systems),
        len(key.ids),
        answered.reshape(len(found.systems), -1),
        lists,
        found.option[order] == right[lists % max(len(key.ids), 1)],
        found.confidence[order],
    )
    warnings += [doubt for rows in found.tables for doubt in rows.warnings]
    warnings += _nearly_right(found, key, offered)
    return Assembled(found.systems, offered, tuple(warnings)), mistakes


def _order(found: Gathered) -> tuple[Integers, list[StudyWarning]]:
    """Best first: by position, else by confidence, else as the rows stand."""
    n = len(found.list)
    by_position = ~np.isnan(found.position)
    untold = np.bincount(found.list, weights=np.isnan(found.confidence))[found.list] > 0
    rank = np.where(by_position, found.position, np.where(untold, 0, -found.confidence))
    order = np.lexsort((np.arange(n), rank, found.list))
    warnings = []
    starts = np.flatnonzero(np.diff(found.list[order], prepend=-1))
    sizes = np.diff(starts, append=n)
    gaps = by_position[order][starts] & (
        np.maximum.reduceat(np.nan_to_num(found.position[order]), starts) > sizes
        if n
        else np.zeros(0, dtype=bool)
    )
    if gaps.any():
        examples = join_words((found.name(int(i)) for i in found.list[order][starts][gaps]), 3)
        message = (
            f"{int(gaps.sum()):,} of {len(starts):,} lists number their positions with gaps, as "
            f"if options were lost: {examples}; only the order is read"
        )
        warnings.append(StudyWarning("gap-in-positions", message))
    return order, warnings


def _nearly_right(found: Gathered, key: AnswerKey, offered: Offered) -> Iterator[StudyWarning]:
    """Lists without the right option that have one which is written nearly the same."""
    folded: dict[str, int] = {}
    of_text = np.array(
        [folded.setdefault(_folded(text), len(folded)) for text in found.texts] or [0]
    )
    wanted = np.array([folded.get(_folded(text), -1) for text in key.correct], dtype=np.int64)
    near = of_text[found.option] == wanted[found.list % max(len(key.ids), 1)]
    has_it = np.zeros(offered.answered.size, dtype=bool)
    has_it[offered.of_list[offered.correct]] = True
    rows = np.flatnonzero(near & ~has_it[found.list])
    if len(rows):
        row = int(rows[0])
        text = list(found.texts)[int(found.option[row])]
        right = key.correct[int(found.list[row]) % len(key.ids)]
        lists = len(np.unique(found.list[rows]))
        message = (
            f"{lists:,} list{'' if lists == 1 else 's'} without the correct option "
            f"ha{'s' if lists == 1 else 've'} one that differs from it only in upper and lower "
            f"case or blanks, and counts as wrong: {shown(text)} for {shown(right)}"
        )
        yield StudyWarning("nearly-correct", message)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
