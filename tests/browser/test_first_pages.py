"""Judges' first and last pages in Chromium, with the requests for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from quem.store.studies import set_solving, set_state
from tests.browser.judging import begin, follow, submit
from tests.browser.test_dashboard import Watched, at_dashboard
from tests.browser.test_solving import enter, start
from tests.browser.views import PHONE, WIDE
from tests.webjudge.sites import make_site, rank, set_life
from tests.webjudge.solving_sites import write_solving_study
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from tests.browser.judging import Visit
    from webjudge import Site

ASKING = """\
organizer: {name: Dr Lena Marsh, institution: Institute of Cooling, email: lena.marsh@example.org}
invitation: Which of these cooling plans would you sign?
deadline: 2031-12-12
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study whose first page has everything, with a long briefing."""
    (tmp_path / "consent.md").write_text("- You may stop at any time.\n- Names are private.\n")
    long = "Please read all of this. " * 400
    (tmp_path / "briefing.md").write_text(f"# Hello\n\nРанжируйте, κατατάξτε.\n\n{long}\n")
    judging = "{consent: consent.md, briefing: briefing.md, practice: P0, ask_maker: true}"
    site = make_site(tmp_path, problems=3, judging=judging, more=ASKING)
    yield site
    site.store.close()


def test_first_and_last_page_are_accessible(browser: Browser, site: Site) -> None:
    """Asked, declined, at work, paused, and done; the next step is in sight, above the briefing."""
    with at_dashboard(browser, site) as visit:
        page = visit.page
        agree = page.get_by_role("button", name="I agree to take part")
        decline = page.get_by_role("button", name="I would rather not take part")
        facts, prose = page.locator(".facts"), page.get_by_role("heading", name="Hello")
        visit.enter(site, "judge", "J1")
        one, other = (box_of(button) for button in (agree, decline))
        assert (one["width"], one["height"]) == (other["width"], other["height"])
        visit.check()
        follow(decline)
        expect(page.get_by_role("heading", name="If you change your mind")).to_be_visible()
        visit.check()
        follow(agree)
        first = page.get_by_role("link", name="Start with task 1")
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            visit.open("/judge")
            expect(first).to_be_in_viewport()
            places = [box_of(part)["y"] for part in (facts, first, prose)]
            assert places == sorted(places)
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        set_life(site, "open")
        rank(site, "J1", "P1", kind="save")
        with site.store.write() as c:
            set_state(c, site.id, "paused", "shell", "Monday, 9:00")
        page.reload()
        expect(page.locator(".band")).to_contain_text("Paused until Monday, 9:00.")
        expect(page.locator(".groups")).to_contain_text("5 of 5 ranked")
        visit.check()
        # A task opened during the pause continues when the study does.
        page.clock.install()
        begin(page, "5 of 5 ranked")
        expect(page.locator("#left")).to_have_text("The study is paused.")
        set_life(site, "open")
        page.clock.fast_forward(31_000)
        expect(page.locator("#main [data-do=send]")).to_be_visible()
        finish(visit, site)


def finish(visit: Watched, site: Site) -> None:
    """Submit all, and see the last page."""
    page = visit.page
    submit(page)
    expect(page.locator("#receipt")).to_be_visible()
    rank(site, "J1", "P2")
    rank(site, "J1", "P3")
    visit.open("/judge")
    expect(page.get_by_text("You have submitted all rankings.")).to_be_visible()
    expect(page.locator(".facts")).to_have_count(0)
    visit.check("/judge/done")
    expect(page.locator("h1")).to_have_text("Who do you think made this?")
    follow(page.get_by_role("button", name="Skip the rest"))
    visit.check()
    expect(page.locator("h1")).to_have_text("Thank you, Judge J1.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download receipts").click()
    assert download.value.path().read_text().count(", receipt ") == 3


def box_of(part: Locator) -> Any:  # noqa: ANN401  a dictionary with types of its own
    """Where a part of a page is."""
    box = part.bounding_box()
    assert box is not None
    return box


def test_the_first_visit_is_light(visit: Callable[..., Visit]) -> None:
    """From the link to the first task: few requests, and few bytes of them on the wire."""
    come = visit()
    page = come.page
    urls, sizes = watched(page)
    page.goto(come.served.links[come.judge])
    follow(page.get_by_role("button", name="I agree to take part"))
    begin(page)
    page.wait_for_load_state("networkidle")
    # Three pages, one style sheet, one script, two fonts, the icon, and a font of italics.
    assert len(urls) <= 9, urls
    assert sum(sizes) <= 150_000, sizes


def test_the_first_visit_of_a_solver_is_light(browser: Browser, tmp_path: Path) -> None:
    """Few requests for the first page, and as few bytes as a judge's until the first problem."""
    site = open_site(write_solving_study(tmp_path))
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
    with at_dashboard(browser, site) as dashboard, browser.new_context() as context:
        page = context.new_page()
        urls, sizes = watched(page)
        Watched(page, dashboard.base).enter(site, "subject", "S1")
        page.wait_for_load_state("networkidle")
        first = len(urls)
        enter(page, "3")
        start(page)
        page.wait_for_load_state("networkidle")
    site.store.close()
    assert first <= 8, urls
    assert sum(sizes) <= 150_000, sizes


def watched(page: Page) -> tuple[dict[str, str], list[int]]:
    """Note what a page fetches from now on, and how many bytes that is on the wire."""
    events = page.context.new_cdp_session(page)
    urls: dict[str, str] = {}
    sizes: list[int] = []

    def requested(event: dict[str, Any]) -> None:
        urls[event["requestId"]] = event["request"]["url"]

    def answered(event: dict[str, Any]) -> None:
        if event.get("response", {"fromDiskCache": True}).get("fromDiskCache"):
            urls.pop(event["requestId"], None)

    events.on("Network.requestWillBeSent", requested)
    events.on("Network.requestServedFromCache", answered)
    events.on("Network.responseReceived", answered)
    events.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    events.send("Network.enable")
    return urls, sizes
