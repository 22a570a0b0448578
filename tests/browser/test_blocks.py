"""A judge in a real browser who ranks a problem in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

import quem
from tests.browser.judging import (
    Visit,
    accessible,
    begin,
    is_ready,
    labels_in,
    rank_by_keys,
    submit,
)
from tests.browser.views import PHONE
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_a_judge_ranks_one_part_after_the_other(browser: Browser, tmp_path: Path) -> None:
    """Both parts are ranked and submitted, each by itself, and what is stored says so."""
    study = write_judging_study(tmp_path, problems=1, solvers=7, judges=1)
    study.write_text(study.read_text() + "design: {block_size: 4}\n")
    with Served(study) as served:
        visit = Visit(browser, served, "J0", viewport=PHONE)
        page = visit.page
        page.goto(served.links["J0"])
        for part in (1, 2):
            expect(page.get_by_role("main")).to_contain_text(f"Problem 0, part {part} of 2")
        begin(page)
        for part in (1, 2):
            expect(page.locator("h1")).to_have_text(f"Problem 0, part {part} of 2")
            is_ready(page)
            accessible(page, f"part {part}")
            assert labels_in(page, "tray") == ["A", "B", "C", "D"]
            rank_by_keys(page, "BADC")
            submit(page)
            page.get_by_role("link", name="Next task" if part == 1 else "Finish").click()
        expect(page.locator("h1")).to_contain_text("Thank you")
        visit.close()
        database = str(served.study.with_suffix(".sqlite3"))
    frame = quem.load_study(study, database=database, reveal=True, kind="experience").rankings
    assert frame is not None
    assert sorted(frame["block"]) == [1] * 4 + [2] * 4
    assert frame["solver"].nunique() == 7
    assert sorted(frame["rank"]) == [1, 1, 2, 2, 3, 3, 4, 4]
