"""Numbers in cells: how they are written, and which columns hold them: one rule for all kinds."""

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

# What stands for a missing number in any table, casefolded; single columns know more.
BLANKS = frozenset(("", "na", "n/a", "nan", "null"))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_ENDLESS = re.compile(r"[+-]?(inf(inity)?|nan)", re.ASCII | re.IGNORECASE)
_RARE = 0.1
_TWO = 2


def parse_number(cell: object, *, comma: bool = True) -> float | None:
    """Read a number from a cell, also one with a decimal comma."""
    if isinstance(cell, str):
        if comma:
            cell = cell.replace(",", ".")
        if _NUMBER.fullmatch(cell) or _ENDLESS.fullmatch(cell):
            return float(cell)
        return None
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    try:
        return float(cell)
    except OverflowError:
        return math.inf


def finite_number(cell: object) -> float | None:
    """Read a finite number from a cell; None for everything else."""
    number = parse_number(cell)
    return number if number is not None and math.isfinite(number) else None


@dataclass(frozen=True)
class NumericLooks:
    """What the values of one column say about its type."""

    numeric: bool  # whether each is a number, finite or not
    nearly: bool  # whether it would be numeric without a few of them
    odd: tuple[str, ...]  # the values that are not numbers
    endless: tuple[str, ...]  # infinity, NaN, and what is too large for a number

    @property
    def refused(self) -> tuple[str, ...]:
        """The values that no column of numbers can hold."""
        return self.endless if self.numeric or self.nearly else ()


def numeric_looks(
    values: Mapping[str, float | None], cells: Mapping[str, int], least: int
) -> NumericLooks:
    """Say whether a column is numeric, or nearly.

    A column is nearly numeric where the values that are not numbers are one cell, or less than a
    tenth of the cells, or less than a tenth of the distinct values.
    """
    odd = tuple(text for text, number in values.items() if number is None)
    numbers = {text: number for text, number in values.items() if number is not None}
    endless = tuple(text for text, number in numbers.items() if not math.isfinite(number))
    finite = {number for number in numbers.values() if math.isfinite(number)}
    distinct = len(finite) + len(endless)
    some = bool(finite) or not values
    in_odd = sum(cells[text] for text in odd)
    few = in_odd == 1 or in_odd < _RARE * sum(cells.values()) or len(odd) < _RARE * len(values)
    return NumericLooks(
        numeric=not odd and some and distinct >= least,
        nearly=bool(odd) and few and some and distinct >= max(least, _TWO),
        odd=odd,
        endless=endless,
    )


def nearly_numeric(at: Mistake, text: str, others: int, remedy: str) -> StudyWarning:
    """Warn of a column that is compared as words because of a few values."""
    more = (
        f" (and {others:,} more cell{'s are not' if others > 1 else ' is not'})" if others else ""
    )
    message = (
        f"{at}: {shown(text)} is not a number{more}, so the whole column is compared as words; "
        f"{remedy}"
    )
    return StudyWarning("nearly-numeric", message)


def not_finite(text: str, remedy: str) -> str:
    """Say what is wrong with infinity, NaN, or an overflow in a column of numbers."""
    return f"{shown(text)} is not a finite number; {remedy}"
