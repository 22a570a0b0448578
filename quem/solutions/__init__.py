"""Solution files: finding them, and finding what in them could reveal their authors.

The judging server imports this package, so it loads neither NumPy nor pandas nor a web
library; what reads images and PDFs is imported where a file asks for it.
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
