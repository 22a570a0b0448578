"""The parts of a report that any kind of study fills: sections and tables of text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Section", "TextTable"]


@dataclass(frozen=True)
class TextTable:
    """A table of ready texts.

    Parameters
    ----------
    caption : str
    columns : tuple of str
        The first holds names; the others, numbers.
    rows : sequence of tuple of str
    note : str
    words : frozenset of int
        Columns besides the first that hold words.
    muted : frozenset of (int, int)
        Cells, by row and column, that are greyed out.
    """

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    words: frozenset[int] = frozenset()
    muted: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Section:
    """A part of a report under one heading.

    Parameters
    ----------
    id, title : str
    text : list of str
        Paragraphs.
    figures : tuple of str
        Stems of the figures that belong here.
    tables : list of TextTable
    """

    id: str
    title: str
    text: list[str] = field(default_factory=list)
    figures: tuple[str, ...] = ()
    tables: list[TextTable] = field(default_factory=list)
