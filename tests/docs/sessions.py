"""A judging session as a page describes it: judges rank, and the organizer closes the study."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.served import Browserless, Served, all_ranked

if TYPE_CHECKING:
    from pathlib import Path

_CARD = re.compile(r"<template data-solution=.*?</template>", re.DOTALL)


_YEARS = ("1", "4", "8", "15")


def hold_session(study: Path) -> None:
    """Open a study, let each judge rank all tasks, the longest solution best, and close it."""
    is_new = study.is_dir()
    with Served(study / "study.yaml" if is_new else study) as served:
        organizer = Browserless(served.base)
        first = organizer.get(served.dashboard)
        links = _filled_in(study, organizer, first) if is_new else list(served.links.values())
        organizer.submit("/dashboard/open", sure="yes")
        for link in links:
            judge = Browserless(served.base)
            judge.get(link)
            judge.submit("/judge/consent")
            for task in judge.groups():
                cards = _CARD.findall(judge.get(f"/judge/g/{task}"))
                length = dict(zip(judge.group(task)["labels"], map(len, cards), strict=True))
                state = all_ranked(sorted(length, key=lambda label: -length[label]))
                assert judge.save(task, 0, state, submit=True)[0] == 200
        assert "Rankings are final." in organizer.submit("/dashboard/close", sure="yes")


def _filled_in(study: Path, organizer: Browserless, page: str) -> list[str]:
    """Fill in the page "Set up the study", and write its texts; gives the links of two judges."""
    solvers = re.findall(r'name="years-([^"]+)"', page)
    years = iter(_YEARS)
    sent: dict[str, str] = {}
    for solver in solvers:
        # Versions of systems have a number.
        is_person = not any(map(str.isdigit, solver))
        sent |= {
            f"kind-{solver}": "person" if is_person else "system",
            f"years-{solver}": next(years) if is_person else "",
        }
    organizer.submit("/dashboard/setup", **sent, name="Dr. Lena Marsh", names="Amy\nBo")
    for text in re.findall(r"<code>([^<]+\.md)</code>", page):
        (study / text).write_text("Rank what you would hand on.\n")
    assert "Nothing is missing." in organizer.get("/dashboard/setup")
    made = organizer.submit("/dashboard/judges/links", sure="yes")
    links = re.findall(r'https?://[^\s"<]+/j/[\w-]+', made)
    return list(dict.fromkeys(links))
