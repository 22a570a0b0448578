"""The review of what judges will see, in Chromium: by keys and by touch, wide and narrow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from quem.store.audit_log import audit_events
from tests.browser.judging import follow
from tests.browser.test_dashboard import Watched, at_dashboard
from tests.browser.views import PHONE
from tests.webjudge.sites import SUBJECTS, SYSTEM, make_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from webjudge import Site

ASKED = "h1.asked"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study whose solutions hold names, one of them inside another."""
    judging = "{identity_words: [Claude, Claude Moon]}"
    site = make_site(tmp_path, problems=1, judging=judging, judges=["J1"])
    more = "More to read.\n\n" * 60
    for solver, text in (
        (SUBJECTS[0], f"# Plan\n\nBy Claude Moon, for {SYSTEM}.\n\n{more}By Claude.\n"),
        (SUBJECTS[1], "By Claude.\n"),
    ):
        (tmp_path / "solutions" / "P1" / f"{solver}.md").write_text(text)
    yield site
    site.store.close()


def reviewed(site: Site) -> list[str]:
    """The solvers whose solutions were reviewed, as the server knows it."""
    with site.store.read() as c:
        events = [one for one in audit_events(c, site.id, 99) if one.what == "solution-reviewed"]
    return [str(one.detail["solver"]) for one in events]


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_the_review_by_keys(browser: Browser, site: Site) -> None:
    """Each word once: replace, keep, take back; then each solution to its end."""
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        dashboard.check("/dashboard/solutions")
        follow(page.get_by_role("link", name="Start"))
        said = page.get_by_role("status").first
        asked = page.locator(ASKED)
        expect(asked).to_have_text("“Claude Moon” is in 1 solution.")
        press(page, "n")
        expect(asked).to_have_text("“Claude” is in 2 solutions.")
        expect(page.locator("main .btn.primary")).to_have_text(re.compile("Replace in all 2"))
        dashboard.check()
        press(page, "r")
        expect(said).to_contain_text("Replaced “Claude” in 2 solutions.")
        expect(
            page.locator(".note", has_text="solutions from people have replaced words")
        ).to_be_visible()
        dashboard.check()
        press(page, "u")
        expect(asked).to_have_text("“Claude” is in 2 solutions.")
        page.get_by_text("Choose one by one").click()
        dashboard.check()
        # Keys can be switched off.
        page.get_by_label("Single keys").uncheck()
        page.keyboard.press("k")
        page.get_by_label("Single keys").check()
        expect(asked).to_have_text("“Claude” is in 2 solutions.")
        press(page, "r")
        while asked.count():
            press(page, "k")
        look_at_all(dashboard, site)
        expect(said).to_have_text("All solutions are reviewed.")
        dashboard.check()


def look_at_all(dashboard: Watched, site: Site) -> None:
    """Read each solution to its end, after which it counts as reviewed."""
    page = dashboard.page
    button = page.get_by_role("button", name="Looks fine")
    for seen in range(len(SUBJECTS) + 1):
        if page.locator("#shown", has_text="More to read.").count():
            expect(button).to_be_disabled()
            dashboard.check()
            page.keyboard.press("Enter")
            page.wait_for_function("scrollY > 0")
            expect(button).to_be_disabled()
            page.keyboard.press("End")
        expect(button).to_be_enabled()
        assert len(reviewed(site)) == seen
        press(page, "Enter")
    assert sorted(reviewed(site)) == sorted([*SUBJECTS, SYSTEM])


def test_a_solution_with_words_left(browser: Browser, site: Site) -> None:
    """Its solver is covered, its words are decided there too, and marks can be read in marks."""
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        dashboard.check("/dashboard/solutions?names=yes")
        solver = page.get_by_text(SUBJECTS[0])
        follow(page.get_by_role("listitem").filter(has=solver).get_by_role("link"))
        said = page.get_by_role("status").first
        expect(solver).to_be_hidden()
        page.get_by_text("Show the solver").click()
        expect(solver).to_be_visible()
        expect(page.get_by_role("button", name="Looks fine")).to_be_disabled()
        words = page.locator("#found > li")
        for word in words.all():
            word.get_by_role("button", name="Show").click()
            dashboard.check()
        own = page.locator("#own")
        own.press_sequentially("kr")
        expect(own).to_have_value("kr")
        page.locator("#shown").get_by_text("More to read.").first.select_text()
        expect(own).to_have_value("More to read.")
        page.get_by_role("button", name="Show Claude in the solution").click()
        press(page, "r")
        expect(said).to_contain_text("Replaced “Claude” in this solution.")
        press(page, "u")
        expect(said).to_contain_text("Undone")
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        before = words.count()
        follow(page.locator("#deciding").get_by_role("button", name="Keep"))
        expect(said).to_contain_text("Kept")
        expect(words).to_have_count(before - 1)
