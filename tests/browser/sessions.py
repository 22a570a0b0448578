"""Whole sessions: commands in processes, and judges who rank by what solutions say."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.judging import Visit, rank_by_keys, submit
from tests.patience import SECONDS
from tests.served import Served

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Browser


def quem(
    *arguments: object, code: int = 0, program: str = "from quem.cli import run; run()"
) -> str:
    """Run a command in a process; gives what it printed."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * SECONDS)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if not code else done.stderr


def document(*arguments: object) -> dict[str, Any]:
    """Run a command in a process; gives its analysis.json."""
    made: dict[str, Any] = json.loads(quem(*arguments, "--json"))
    return made


def rank_all(
    browser: Browser, served: Served, judge: str, problems: Sequence[str], size: int
) -> list[str]:
    """Rank each problem by what its solutions say of their quality; gives the problems."""
    visit = Visit(browser, served, judge)
    page = visit.page
    page.goto(served.links[judge])
    titles = page.locator("a[href*='/g/']").all_inner_texts()
    names = [word for text in titles for word in problems if f"Case {word[1:]}" in text]
    for name in names:
        visit.enter(f"Case {name[1:]}")
        qualities: dict[str, float] = page.locator("template[data-solution]").evaluate_all(
            """all => Object.fromEntries(all.map(one => [
                one.dataset.solution, parseFloat(one.content.textContent.split("quality ")[1])]))"""
        )
        assert len(qualities) == size
        rank_by_keys(page, "".join(sorted(qualities, key=qualities.__getitem__, reverse=True)))
        submit(page)
        expect(page.locator("#receipt")).to_be_visible()
    visit.close()
    return names


def session(
    browser: Browser, study: Path, problems: Sequence[str], size: int, judges: Sequence[str]
) -> set[str]:
    """Let experts rank what is dealt to them, and the organizer close; gives the problems."""
    with Served(study) as served:
        organizer = browser.new_context(viewport={"width": 1280, "height": 800})
        desk = organizer.new_page()
        desk.goto(served.dashboard)
        desk.locator("#open").first.click()
        desk.get_by_role("button", name="Open the study").click()
        expect(desk.get_by_text("Study open.")).to_be_visible()
        ranked = [set(rank_all(browser, served, judge, problems, size)) for judge in judges]
        assert all(one == ranked[0] for one in ranked)
        desk.goto(f"{served.base}/dashboard")
        desk.locator("#close").first.click()
        desk.get_by_role("button", name="Close the study").click()
        expect(desk.get_by_text("Study closed.")).to_be_visible()
        organizer.close()
    return ranked[0]
