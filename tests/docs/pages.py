"""The pages of the documentation, and what tests read off them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "studies").glob("*/README.md")]
)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|")


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def page_id(page: Path) -> str:
    """Name a page in the report of the tests."""
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[Block]:
    """List the fenced blocks of a page, in order."""
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 2)
        for match in _BLOCK.finditer(text)
    ]


def table_rows(text: str) -> list[list[str]]:
    """List the rows of all tables of a page, headers included, rulers left out."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in _CELL.split(line)[1:-1]] for line in lines]
    return [row for row in rows if not all(set(cell) <= set("-: ") for cell in row)]
