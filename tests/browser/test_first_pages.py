"""What judges see first and last, in Chromium: wide and narrow, light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from quem.store.people import issue_link, person_named
from quem.store.studies import set_state
from quem.store.work import Change, current_state, save, tasks_of
from tests.browser.test_dashboard import at_dashboard
from tests.browser.views import PHONE, WIDE
from tests.webjudge.sites import make_site, rank, set_life

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator

    from webjudge import Site

ASKING = """\
organizer: {name: Dr Lena Marsh, institution: Institute of Cooling, email: lena.marsh@example.org}
invitation: Which of these cooling plans would you sign?
deadline: 2031-12-12
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study whose first page has everything."""
    (tmp_path / "consent.md").write_text(
        "- You may stop at any time.\n- Names are not published.\n"
    )
    (tmp_path / "briefing.md").write_text("# Hello\n\nРанжируйте, κατατάξτε, zażółć.\n")
    judging = "{consent: consent.md, briefing: briefing.md, practice: P0}"
    site = make_site(tmp_path, problems=3, judging=judging, more=ASKING)
    yield site
    site.store.close()


def test_first_and_last_page_are_accessible(browser: Browser, site: Site) -> None:
    """Asked, declined, at work, paused, and done: nothing for axe, and nothing too wide."""
    with at_dashboard(browser, site) as visit:
        page = visit.page
        with site.store.write() as c:
            token = issue_link(c, person_named(c, site.id, "judge", "J1"), "shell")
        visit.open(f"/j/{token}")
        agree = page.get_by_role("button", name="I agree to take part")
        decline = page.get_by_role("button", name="I would rather not take part")
        boxes = [button.bounding_box() for button in (agree, decline)]
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert [boxes[0][side] for side in ("width", "height")] == [
            boxes[1][side] for side in ("width", "height")
        ]
        visit.check()
        decline.click()
        expect(page.get_by_role("heading", name="If you change your mind")).to_be_visible()
        visit.check()
        agree.click()
        expect(page.get_by_role("link", name="Start with task 1")).to_be_visible()
        set_life(site, "open")
        rank(site, "J1", "P1", kind="save")
        with site.store.write() as c:
            set_state(c, site.id, "paused", "shell", "Monday, 9:00")
        page.reload()
        expect(page.locator(".band")).to_contain_text("Paused until Monday, 9:00.")
        expect(page.locator(".groups")).to_contain_text("5 of 5 ranked")
        visit.check()
        # A task that was opened meanwhile goes on by itself when the study does.
        page.clock.install()
        page.locator("a[href*='/g/']", has_text="5 of 5 ranked").click()
        expect(page.locator("#left")).to_have_text("The study is paused.")
        set_life(site, "open")
        page.clock.fast_forward(31_000)
        expect(page.locator("#main [data-do=send]")).to_be_visible()
        rank(site, "J1", "P2")
        rank(site, "J1", "P3")
        submit_what_is_saved(site)
        visit.open("/judge/done")
        expect(page.locator("h1")).to_have_text("Thank you, Judge J1.")
        visit.check()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download receipts").click()
        assert download.value.path().read_text().count(", receipt ") == 3


def test_the_next_step_is_on_top_and_nothing_is_announced_at_the_end(
    browser: Browser, tmp_path: Path
) -> None:
    """After consent the first task is in sight above a long briefing; at the end, no hours."""
    (tmp_path / "consent.md").write_text("You may stop at any time.\n")
    (tmp_path / "briefing.md").write_text("# Hello\n\n" + "Please read all of this. " * 400)
    site = make_site(tmp_path, judging="{consent: consent.md, briefing: briefing.md}", more=ASKING)
    with at_dashboard(browser, site) as visit:
        page = visit.page
        with site.store.write() as c:
            token = issue_link(c, person_named(c, site.id, "judge", "J1"), "shell")
        facts, prose = page.locator(".facts"), page.get_by_role("heading", name="Hello")
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            visit.open(f"/j/{token}")
            assert is_above(facts, prose)
            if size == WIDE:
                page.get_by_role("button", name="I agree to take part").click()
            start = page.get_by_role("link", name="Start with task 1")
            if size == PHONE:
                visit.open("/judge")
            expect(start).to_be_in_viewport()
            assert is_above(start, prose)
            assert is_above(facts, start)
            assert page.evaluate("scrollY") == 0
            visit.check()
        rank(site, "J1", "P1")
        rank(site, "J1", "P2")
        visit.open("/judge")
        expect(page.get_by_text("You have submitted all rankings.")).to_be_visible()
        expect(facts).to_have_count(0)
        visit.check()
    site.store.close()


def is_above(one: Locator, other: Locator) -> bool:
    """Whether one part of a page ends where or before another begins."""
    upper, lower = one.bounding_box(), other.bounding_box()
    assert upper is not None
    assert lower is not None
    return upper["y"] + upper["height"] <= lower["y"]


def submit_what_is_saved(site: Site) -> None:
    """Submit what J1 has begun."""
    with site.store.write() as c:
        judge = person_named(c, site.id, "judge", "J1")
        ballot = next(b for b in tasks_of(c, judge.key) if b.problem == "P1")
        assert ballot.layout is not None
        state = current_state(c, ballot)
        change = Change(ballot.revision, "tab-12345678", 9, ballot.layout.id, state, "submit")
        save(c, judge, ballot.public_id, change)
