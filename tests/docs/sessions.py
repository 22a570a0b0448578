"""A judging session as a page describes it: judges rank, and the organizer closes the study."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.served import Browserless, Served, all_ranked

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["hold_session"]

_CARD = re.compile(r'class="card-body">(.*?)class="card-foot"', re.DOTALL)


def hold_session(study: Path) -> None:
    """Open a study, let each judge rank all tasks, the longest solution best, and close it."""
    with Served(study) as served:
        organizer = Browserless(served.base)
        organizer.get(served.dashboard)
        organizer.submit("/dashboard/open")
        for link in served.links.values():
            judge = Browserless(served.base)
            judge.get(link)
            for task in judge.groups():
                cards = _CARD.findall(judge.get(f"/judge/g/{task}"))
                length = dict(zip(judge.group(task)["labels"], map(len, cards), strict=True))
                state = all_ranked(sorted(length, key=length.__getitem__, reverse=True))
                assert judge.save(task, 0, state, submit=True)[0] == 200
        assert "The study is closed" in organizer.submit("/dashboard/close", sure="yes")
