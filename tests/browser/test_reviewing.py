"""The review of what judges will see, in Chromium: by keys and by touch, wide and narrow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from quem.store.audit_log import audit_events
from quem.store.people import issue_link, person_named
from tests.browser.test_dashboard import at_dashboard
from tests.webjudge.sites import SUBJECTS, SYSTEM, make_site, rank_all

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from webjudge import Site

ASKED = "h1.asked"


def named_site(folder: Path) -> Site:
    """A study whose solutions hold names, one of them inside another."""
    site = make_site(
        folder, problems=1, judging="{identity_words: [Claude, Claude Moon]}", judges=["J1"]
    )
    group = folder / "solutions" / "P1"
    text = (
        f"# Plan\n\nBy Claude Moon, for {SYSTEM}.\n\n" + "More to read.\n\n" * 60 + "By Claude.\n"
    )
    (group / f"{SUBJECTS[0]}.md").write_text(text)
    (group / f"{SUBJECTS[1]}.md").write_text("By Claude.\n")
    return site


def reviewed(site: Site) -> list[str]:
    """The solvers whose solutions were reviewed, as the server knows it."""
    with site.store.read() as c:
        events = [one for one in audit_events(c, site.id, 99) if one.what == "solution-reviewed"]
    return [str(one.detail["solver"]) for one in events]


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_the_review_by_keys(browser: Browser, tmp_path: Path) -> None:
    """Each word once: replace, keep, take back; then each solution to its end."""
    site = named_site(tmp_path)
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        dashboard.open("/dashboard/solutions")
        dashboard.check()
        page.get_by_role("link", name="Start").click()
        said = page.get_by_role("status").first
        expect(page.locator(ASKED)).to_have_text("“Claude Moon” is in 1 solution.")
        press(page, "n")
        expect(page.locator(ASKED)).to_have_text("“Claude” is in 2 solutions.")
        expect(page.locator("main .btn.primary")).to_have_text(re.compile("Replace in all 2"))
        dashboard.check()
        page.keyboard.press("r")
        expect(said).to_have_text("Replaced “Claude” in 2 solutions. Judges see [removed].")
        expect(page.locator(".note", has_text="solutions from people have marks")).to_be_visible()
        dashboard.check()
        page.keyboard.press("u")
        expect(page.locator(ASKED)).to_have_text("“Claude” is in 2 solutions.")
        page.get_by_text("Choose one by one").click()
        dashboard.check()
        # Keys can be switched off.
        page.get_by_label("Single keys").uncheck()
        page.keyboard.press("k")
        page.get_by_label("Single keys").check()
        expect(page.locator(ASKED)).to_have_text("“Claude” is in 2 solutions.")
        press(page, "r")
        while page.locator(ASKED).count():
            press(page, "k")
        seen = 0
        while page.locator("#looked").count():
            seen += 1
            button = page.get_by_role("button", name="Looks fine")
            if page.locator("#shown", has_text="More to read.").count():
                expect(button).to_be_disabled()
                dashboard.check()
                page.keyboard.press("Enter")
                page.wait_for_function("scrollY > 0")
                expect(button).to_be_disabled()
                page.keyboard.press("End")
            expect(button).to_be_enabled()
            assert len(reviewed(site)) == seen - 1
            press(page, "Enter")
        expect(said).to_have_text("All solutions are reviewed.")
        assert sorted(reviewed(site)) == sorted([*SUBJECTS, SYSTEM])
        dashboard.check()
    site.store.close()


def test_a_solution_with_words_left(browser: Browser, tmp_path: Path) -> None:
    """Its solver is covered, its words are decided there too, and marks can be read in marks."""
    site = named_site(tmp_path)
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        dashboard.open("/dashboard/solutions?names=yes")
        dashboard.check()
        page.get_by_role("listitem").filter(has_text=SUBJECTS[0]).get_by_role("link").click()
        said = page.get_by_role("status").first
        expect(page.get_by_text(SUBJECTS[0])).to_be_hidden()
        page.get_by_text("Show who made it").click()
        expect(page.get_by_text(SUBJECTS[0])).to_be_visible()
        expect(page.get_by_role("button", name="Looks fine")).to_be_disabled()
        words = page.locator("#found > li")
        for number in range(words.count()):
            words.nth(number).get_by_role("button", name="Show").click()
            dashboard.check()
        page.locator("#own").press_sequentially("kr")
        expect(page.locator("#own")).to_have_value("kr")
        page.locator("#shown").get_by_text("More to read.").first.select_text()
        expect(page.locator("#own")).to_have_value("More to read.")
        page.get_by_role("button", name="Show Claude in the solution").click()
        page.keyboard.press("r")
        expect(said).to_have_text("Replaced “Claude” in this solution. Judges see [removed].")
        page.keyboard.press("u")
        expect(said).to_contain_text("Taken back")
        page.set_viewport_size({"width": 390, "height": 844})
        before = words.count()
        page.locator("#deciding").get_by_role("button", name="Keep").click()
        expect(said).to_contain_text("Kept")
        expect(words).to_have_count(before - 1)
    site.store.close()


def test_links_ask_for_the_review(browser: Browser, tmp_path: Path) -> None:
    """The better way is first; links are made after all on request."""
    site = named_site(tmp_path)
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        page.get_by_role("link", name="Invite").click()
        page.get_by_role("button", name="Create 1 link").click()
        expect(page.locator("h1")).to_have_text("5 of 5 solutions are not reviewed")
        dashboard.check()
        expect(page.locator(".btn.primary")).to_have_text("Review them (2 minutes)")
        page.get_by_role("button", name="Send anyway").click()
        expect(page.locator(".messages > li")).to_have_count(1)
    site.store.close()


def test_judges_guess_by_one_click_each(browser: Browser, tmp_path: Path) -> None:
    """After the last ranking; the rest can be skipped."""
    site = make_site(tmp_path, judging="{ask_maker: true}", judges=["J1"])
    text = "# A plan\n\n" + "Wait, then act, and look again.\n\n" * 40
    (tmp_path / "solutions" / "P1" / f"{SYSTEM}.md").write_text(text)
    rank_all(site, "J1")
    with at_dashboard(browser, site) as visit:
        page = visit.page
        with site.store.write() as c:
            token = issue_link(c, person_named(c, site.id, "judge", "J1"), "shell")
        visit.open(f"/j/{token}")
        visit.open("/judge/done")
        expect(page.locator("h1")).to_have_text("Who do you think made this?")
        visit.check()
        answer_until(page, "One last question: 4 of 10")
        visit.check()
        page.get_by_role("button", name="Skip the rest").click()
        expect(page.locator("h1")).to_have_text("Thank you, Judge J1.")
    site.store.close()


def answer_until(page: Page, kicker: str) -> None:
    """Press one button after another, by keyboard."""
    while page.locator(".kicker").inner_text().casefold() != kicker.casefold():
        page.get_by_role("button", name="I can't tell").focus()
        press(page, "Enter")
