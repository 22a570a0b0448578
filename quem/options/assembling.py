"""The rows of all files, checked against the questions, as the lists of all systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Doubt, Mistake
from quem.options.contradictions import contradictions
from quem.options.gathering import Gathered
from quem.options.lists import Offered
from quem.text import shown
from quem.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.options.key import Key
    from quem.options.rows import Rows

    Integers = NDArray[np.int64]

__all__ = ["Assembled", "assemble"]


@dataclass(frozen=True)
class Assembled:
    """The lists of all systems.

    Parameters
    ----------
    systems : tuple of str
    offered : Offered
    doubts : tuple of Doubt
    """

    systems: tuple[str, ...]
    offered: Offered
    doubts: tuple[Doubt, ...]


def assemble(
    tables: Sequence[tuple[Rows, str]], key: Key, declared: list[str]
) -> tuple[Assembled, list[Mistake]]:
    """Put the rows of all files together.

    Parameters
    ----------
    tables : sequence of (Rows, str)
        Each file, and the system whose lists it holds; empty where it names systems.
    key : Key
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
    order, doubts = _order(found)
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
    doubts += [doubt for rows in found.tables for doubt in rows.doubts]
    doubts += _nearly_right(found, key, offered)
    return Assembled(found.systems, offered, tuple(doubts)), mistakes


def _order(found: Gathered) -> tuple[Integers, list[Doubt]]:
    """Best first: by position, else by confidence, else as the rows stand."""
    n = len(found.list)
    by_position = ~np.isnan(found.position)
    untold = np.bincount(found.list, weights=np.isnan(found.confidence))[found.list] > 0
    rank = np.where(by_position, found.position, np.where(untold, 0, -found.confidence))
    order = np.lexsort((np.arange(n), rank, found.list))
    doubts = []
    starts = np.flatnonzero(np.diff(found.list[order], prepend=-1))
    sizes = np.diff(starts, append=n)
    gaps = by_position[order][starts] & (
        np.maximum.reduceat(np.nan_to_num(found.position[order]), starts) > sizes
        if n
        else np.zeros(0, dtype=bool)
    )
    if gaps.any():
        examples = joined((found.name(int(i)) for i in found.list[order][starts][gaps]), 3)
        message = (
            f"{int(gaps.sum()):,} of {len(starts):,} lists number their positions with gaps, as "
            f"if options were lost: {examples}; only the order is read"
        )
        doubts.append(Doubt("gap-in-positions", message))
    return order, doubts


def _nearly_right(found: Gathered, key: Key, offered: Offered) -> Iterator[Doubt]:
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
        yield Doubt("nearly-correct", message)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
