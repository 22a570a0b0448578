"""How numbers are written for people, the same in every output of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "format_count",
    "format_interval",
    "format_number",
    "format_p",
    "format_percent",
    "format_probability",
    "format_signed",
    "join_words",
    "measured",
]

# Below this a score is 0 but for rounding.
_ZERO = 1e-12


def format_count(count: int, noun: str) -> str:
    """Write a count with its noun: "1 judge", "1,260 judges"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_number(value: float, digits: int = 1) -> str:
    """Write a number with a fixed number of decimals and a true minus; "–" for none."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def measured(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """Write a score or a mean of scores to its precision: "0.812", "500", "0.00042", "0".

    Counts have no decimals, numbers from 100 on have one at most, and numbers that the decimals
    would make 0 have two significant digits; "–" for none.

    Parameters
    ----------
    digits : int
        Decimals of a number that is neither large nor small.
    sign : bool
        Whether a number above 0 has a plus.
    """
    size = abs(value)
    if not np.isfinite(value):
        return "–"
    if size < _ZERO:
        return "0"
    if size < 10.0**-digits:
        text = f"{size:.2g}"
    elif size >= 2 and float(value).is_integer():  # noqa: PLR2004  1 is the end of a scale
        text = f"{size:,.0f}"
    else:
        text = f"{size:.{digits if size < 100 else 1}f}"  # noqa: PLR2004  four digits say enough
    return f"{'−' if value < 0 else '+' if sign else ''}{text}"


def format_signed(value: float, digits: int = 1) -> str:
    """Write a difference, with its sign: "+1.2", "−0.3"; "–" for none."""
    text = format_number(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def format_p(p: float) -> str:
    """Write a p value: "p = .0035", "p < .0001"."""
    if not np.isfinite(p):
        return "p unknown"
    if p < 0.0001:  # noqa: PLR2004  no more is read off a p value
        return "p < .0001"
    digits = 4 if p < 0.01 else 3 if p < 0.1 else 2  # noqa: PLR2004
    text = f"{p:.{digits}f}"
    return f"p = {text.removeprefix('0')}"


def format_probability(p: float) -> str:
    """Write a probability as a percentage that is never rounded to certainty."""
    if p < 0.005:  # noqa: PLR2004  rounds to 0
        return "<1%"
    if p > 0.995:  # noqa: PLR2004  rounds to 100
        return ">99%"
    return f"{100 * p:.0f}%"


def format_percent(share: float) -> str:
    """Write a share as a percentage, with decimals only where it has some: "95%"."""
    return f"{100 * share:.10g}%"


def format_interval(interval: tuple[float, float], digits: int = 1) -> str:
    """Write an interval: "3.6 to 10.9"; "unbounded" where it has no ends."""
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high)):
        return "unbounded"
    return f"{format_number(low, digits)} to {format_number(high, digits)}"


def join_words(words: Iterable[str], most: int = 6) -> str:
    """List words as a sentence does: "a, b, and c", at most `most` of them."""
    listed = list(words)
    if len(listed) > most:
        listed[most:] = [f"{len(listed) - most} more"]
    if len(listed) > 2:  # noqa: PLR2004  two need no comma
        listed[-1] = f"and {listed[-1]}"
        return ", ".join(listed)
    return " and ".join(listed)
