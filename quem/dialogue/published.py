"""Figures that somebody else found, to be compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.tables import read_delimited
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["MEASURES", "Published", "constant_error", "error", "read_published"]

MEASURES = ("efficiency", "precision")
_COLUMNS = ("measure", "user", "strategy", "value")


@dataclass(frozen=True)
class Published:
    """Efficiency and precision as printed somewhere.

    Parameters
    ----------
    values : array of float, shape (2, strategies, users)
        Efficiency, then precision; NaN where nothing is printed.
    """

    values: NDArray[np.float64]


def read_published(
    path: Path, name: str, strategies: Sequence[str], users: Sequence[str]
) -> Published:
    """Read published figures from a CSV file.

    Parameters
    ----------
    path : Path
    name : str
        For messages.
    strategies, users : sequences of str
        Those of the study; figures of others are left out.

    Raises
    ------
    QuemError
        With every mistake in the file.
    """
    table = read_delimited(path, name, what="table of published figures")
    header = table.header[0]
    lacking = [column for column in _COLUMNS if column not in header]
    if lacking:
        message = (
            f"has no column {lacking[0]}{nearest(lacking[0], header)}; it needs the columns "
            f"{', '.join(_COLUMNS)}"
        )
        raise QuemError([Mistake(name, table.header_lines[0], message=message)])
    columns = [table.columns[header.index(column)] for column in _COLUMNS]
    rows = len(columns[0].codes)
    values = np.full((len(MEASURES), len(strategies), len(users)), np.nan)
    folded = {_folded(user): place for place, user in enumerate(users)}
    mistakes, lines = [], table.lines()
    for row in range(rows):
        measure, user, strategy, text = (column.text(row) for column in columns)
        if not text:
            continue
        place = _folded(user)
        if measure not in MEASURES:
            message = f"{shown(measure)} is neither efficiency nor precision"
            mistakes.append(Mistake(name, lines[row], header.index("measure") + 1, message=message))
        elif (value := _value(text)) is None:
            message = f"{shown(text)} is no number"
            mistakes.append(Mistake(name, lines[row], header.index("value") + 1, message=message))
        elif strategy in strategies and place in folded:
            at = (MEASURES.index(measure), strategies.index(strategy), folded[place])
            if not np.isnan(values[at]):
                message = f"the {measure} of {strategy} by {user} is there twice"
                mistakes.append(Mistake(name, lines[row], message=message))
            values[at] = value
    if not mistakes and np.isnan(values).all():
        mistakes.append(Mistake(name, message="names no strategy and user of the study together"))
    if mistakes:
        raise QuemError(mistakes)
    return Published(values)


def _folded(user: str) -> tuple[str, float]:
    """Users are written "T5 0.30" or "T5 0.3"."""
    name, _, b = user.strip().partition(" ")
    number = _value(b)
    return name.upper(), -1.0 if number is None else number


def _value(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def error(found: NDArray[np.float64], published: NDArray[np.float64]) -> float:
    """The mean absolute difference, where both are there; NaN where none is.

    Parameters
    ----------
    found, published : arrays of float, of one shape
    """
    apart = np.abs(found - published)
    there = ~np.isnan(apart)
    return float(apart[there].mean()) if there.any() else np.nan


def constant_error(published: NDArray[np.float64]) -> float:
    """The least mean absolute difference that one number for all can have: the median's.

    What agrees no better than this tells nothing about the order of figures.

    Parameters
    ----------
    published : array of float
    """
    there = published[~np.isnan(published)]
    return float(np.abs(there - np.median(there)).mean()) if len(there) else np.nan
