"""Which columns of a case base hold numbers where the study file does not say: one rule."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.errors import StudyWarning
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.errors import Mistake

__all__ = ["Numerals", "endless_message", "nearly_numeric", "numerals", "parsed"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_ENDLESS = re.compile(r"[+-]?(inf(inity)?|nan)", re.ASCII | re.IGNORECASE)
_RARE = 0.1
_TWO = 2


@dataclass(frozen=True)
class Numerals:
    """What the values of one column say about its type.

    Parameters
    ----------
    numeric : bool
        Whether each is a number, finite or not.
    nearly : bool
        Whether it would be numeric without a few of them.
    odd : tuple of str
        The values that are not numbers.
    endless : tuple of str
        Infinity, NaN, and what is too large for a number.
    """

    numeric: bool
    nearly: bool
    odd: tuple[str, ...]
    endless: tuple[str, ...]

    @property
    def refused(self) -> tuple[str, ...]:
        """The values that no column of numbers can hold."""
        return self.endless if self.numeric or self.nearly else ()


def parsed(text: str, decimal: str = ".,") -> float | None:
    """Read a number.

    Parameters
    ----------
    text : str
        Without spaces around it.
    decimal : {".", ",", ".,"}
        Which signs may separate the decimals.

    Returns
    -------
    float or None
        Infinite or NaN for a text that says so and for what is too large; None for other texts.
    """
    if _ENDLESS.fullmatch(text):
        return float(text)
    if decimal != ".":
        if decimal == "," and "." in text:
            return None
        text = text.replace(",", ".")
    return float(text) if _NUMBER.fullmatch(text) else None


def numerals(values: Mapping[str, float | None], cells: Mapping[str, int], least: int) -> Numerals:
    """Say whether a column is numeric, or nearly.

    A column is nearly numeric where the values that are not numbers are one cell, or less than a
    tenth of the cells, or less than a tenth of the distinct values.

    Parameters
    ----------
    values : mapping of str to float or None
        Each distinct value that is not missing, as `parsed`.
    cells : mapping of str to int
        In how many cells it is.
    least : int
        A numeric column has as many distinct numbers at least.
    """
    odd = tuple(text for text, number in values.items() if number is None)
    numbers = {text: number for text, number in values.items() if number is not None}
    endless = tuple(text for text, number in numbers.items() if not math.isfinite(number))
    finite = {number for number in numbers.values() if math.isfinite(number)}
    distinct = len(finite) + len(endless)
    some = bool(finite) or not values
    in_odd = sum(cells[text] for text in odd)
    few = in_odd == 1 or in_odd < _RARE * sum(cells.values()) or len(odd) < _RARE * len(values)
    return Numerals(
        numeric=not odd and some and distinct >= least,
        nearly=bool(odd) and few and some and distinct >= max(least, _TWO),
        odd=odd,
        endless=endless,
    )


def nearly_numeric(at: Mistake, text: str, others: int, remedy: str) -> StudyWarning:
    """Warn of a column that is compared as words because of a few values.

    Parameters
    ----------
    at : Mistake
        File, line and column of the first such value.
    text : str
        That value.
    others : int
        How many more such cells there are.
    remedy : str
    """
    more = (
        f" (and {others:,} more cell{'s are not' if others > 1 else ' is not'})" if others else ""
    )
    place = str(at)
    message = (
        f"{place}: {shown(text)} is not a number{more}, so the whole column is compared as words; "
        f"{remedy}"
    )
    return StudyWarning("nearly-numeric", message)


def endless_message(text: str, remedy: str) -> str:
    """Say what is wrong with infinity, NaN, or an overflow in a column of numbers."""
    return f"{shown(text)} is not a finite number; {remedy}"
