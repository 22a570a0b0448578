"""A judging session as a page describes it: judges rank, and the organizer closes the study."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.served import Browserless, Served, all_ranked

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["hold_session"]

_CARD = re.compile(r"<template data-solution=.*?</template>", re.DOTALL)


def hold_session(study: Path) -> None:
    """Open a study, let each judge rank all tasks, the longest solution best, and close it."""
    with Served(study) as served:
        organizer = Browserless(served.base)
        organizer.get(served.dashboard)
        organizer.submit("/dashboard/open")
        for link in served.links.values():
            judge = Browserless(served.base)
            judge.get(link)
            judge.submit("/judge/consent")
            for task in judge.groups():
                cards = _CARD.findall(judge.get(f"/judge/g/{task}"))
                length = dict(zip(judge.group(task)["labels"], map(len, cards), strict=True))
                state = _placed(length)
                assert judge.save(task, 0, state, submit=True)[0] == 200
        assert "Rankings are final." in organizer.submit("/dashboard/close", sure="yes")


def _placed(length: dict[str, int]) -> dict[str, Any]:
    """Place solutions one by one, each by comparing it with placed ones; the longer is better."""
    order: list[str] = []
    answers: list[dict[str, Any]] = []
    for new, size in length.items():
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            is_better = size > length[order[middle]]
            answers.append(
                {
                    "new": new,
                    "other": order[middle],
                    "verdict": "better" if is_better else "worse",
                    "side": ("left", "right")[len(answers) % 2],
                    "seconds": 20.0,
                }
            )
            low, high = (low, middle) if is_better else (middle + 1, high)
        order.insert(low, new)
    return all_ranked(order, comparisons=answers, placed_by=dict.fromkeys(order, "compare"))
