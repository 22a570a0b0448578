"""Numbers in cells: notation and detection of numeric columns, the same for all kinds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.errors import Mistake, StudyWarning
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping


# Missing numbers in any table, casefolded; single columns have more.
BLANKS = frozenset(("", "na", "n/a", "nan", "null"))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_ENDLESS = re.compile(r"[+-]?(inf(inity)?|nan)", re.ASCII | re.IGNORECASE)
_RARE = 0.1
_TWO = 2


def parse_number(cell: object, *, comma: bool = True) -> float | None:
    """Parse a number, also with a decimal comma."""
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
    """Parse a finite number; None for everything else."""
    number = parse_number(cell)
    return number if number is not None and math.isfinite(number) else None


@dataclass(frozen=True)
class NumericLooks:
    """The numeric type of a column, by its values."""

    numeric: bool  # whether all are numbers, finite or not
    nearly: bool  # whether all but a few are
    odd: tuple[str, ...]  # values that are not numbers
    endless: tuple[str, ...]  # infinity, NaN, and overflow

    @property
    def refused(self) -> tuple[str, ...]:
        """The values that a numeric column cannot hold."""
        return self.endless if self.numeric or self.nearly else ()


def numeric_looks(
    values: Mapping[str, float | None], cells: Mapping[str, int], least: int
) -> NumericLooks:
    """Whether a column is numeric, or nearly.

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
    """The error on infinity, NaN, or overflow in a numeric column."""
    return f"{shown(text)} is not a finite number; {remedy}"
