"""The verifiable random draw of the problems that experts rank."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BETWEEN = "\x1f"


def lot(*parts: str) -> str:
    """SHA-256 of parts joined by US (the character 1F), in hexadecimal digits."""
    return hashlib.sha256(_BETWEEN.join(parts).encode()).hexdigest()


def digest_of_solutions(solutions: Iterable[tuple[str, str, str]], nonce: str) -> str:
    """The SHA-256 that seeds the draw of problems, in hexadecimal digits.

    Of one line ``problem US solver US digest`` per solution (US is the character 1F), sorted, and
    of the nonce on the last line, in UTF-8.
    """
    lines = sorted(_BETWEEN.join(solution) for solution in solutions)
    return hashlib.sha256("\n".join([*lines, nonce]).encode()).hexdigest()


def order_of_draw(problems: Iterable[str], digest: str) -> tuple[str, ...]:
    """Sort problems by SHA-256 of ``digest US problem``; experts rank the first n of them."""
    return tuple(sorted(problems, key=lambda problem: lot(digest, problem)))
