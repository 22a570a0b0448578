"""What the browsers of judges and solvers fetch until they can begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.store.people import issue_link, person_named
from quem.store.studies import set_solving
from tests.browser.judging import begin
from tests.browser.test_dashboard import at_dashboard
from tests.browser.test_solving import enter, start
from tests.webjudge.solving_sites import write_solving_study
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.browser.judging import Visit


def test_the_first_visit_is_light(visit: Callable[..., Visit]) -> None:
    """From the link to the first task: few requests, and few bytes of them on the wire."""
    come = visit()
    page = come.page
    urls, sizes = watched(page)
    page.goto(come.served.links[come.judge])
    page.get_by_role("button", name="I agree to take part").click()
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
        token = issue_link(c, person_named(c, site.id, "subject", "S1"), "shell")
    with at_dashboard(browser, site) as dashboard:
        page = browser.new_context().new_page()
        urls, sizes = watched(page)
        page.goto(f"{dashboard.base}/p/{token}")
        page.wait_for_load_state("networkidle")
        first = len(urls)
        enter(page, "3")
        start(page)
        page.wait_for_load_state("networkidle")
        page.context.close()
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

    def cached(event: dict[str, Any]) -> None:
        urls.pop(event["requestId"], None)

    def answered(event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            cached(event)

    def received(event: dict[str, Any]) -> None:
        sizes.append(event["encodedDataLength"])

    events.on("Network.requestWillBeSent", requested)
    events.on("Network.requestServedFromCache", cached)
    events.on("Network.responseReceived", answered)
    events.on("Network.loadingFinished", received)
    events.send("Network.enable")
    return urls, sizes
