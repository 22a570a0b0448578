"""docs/reference/store.md: its formulas are those of the code."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

from quem.store.chains import judge_digest, revision_link, words_digest

PAGE = Path(__file__).parents[2] / "docs/reference/store.md"


def test_the_example_needs_hashlib_only() -> None:
    """The example of the page runs without quem, and gives the link that quem gives."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert "quem" not in code
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  our own page
    state = {
        "version": 2,
        "ranked": [["S2"], ["S1"]],
        "tray": [],
        "cannot": {},
        "recognized": [],
        "comments": {"S1": "thorough"},
        "comment": "",
    }
    row = {"number": 1, "base": 0, "kind": "submit", "layout": "6f2d", "state": state}
    row |= {"words_digest": words_digest("0b2e", state), "client": "tab-1", "change": 1}
    row |= {"made_at": dt.datetime(2026, 11, 22, 9, 30, 0, 1, tzinfo=dt.UTC)}
    ballot = {"public_id": "x7Qd", "problem": "P1", "block": 1, "occasion": 1, "practice": False}
    assert names["first"] == revision_link("", row, ballot, judge_digest("5a17", "J1"))
