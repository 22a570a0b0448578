"""Rows that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.options.rows import MOST_OF_A_KIND
from quem.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import Mistake
    from quem.options.gathering import Gathered

__all__ = ["contradictions"]


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
