"""Solution files: finding them, and searching them for signs of their authors.

The judging server imports this package, so it loads neither NumPy nor pandas nor a web library;
parsers of images and PDFs are imported lazily.
"""

from __future__ import annotations

from quem.solutions.checking import check_solutions
from quem.solutions.finding import find_solutions
from quem.solutions.model import (
    Kind,
    Sheet,
    Signature,
    Solution,
    SolutionFile,
    Solutions,
    is_unchanged,
    signature,
)

__all__ = [
    "Kind",
    "Sheet",
    "Signature",
    "Solution",
    "SolutionFile",
    "Solutions",
    "check_solutions",
    "find_solutions",
    "is_unchanged",
    "signature",
]
