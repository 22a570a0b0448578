"""The dashboard in Chromium: wide and narrow, light and dark, by keyboard, without scripts."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from quem.store.people import DEFAULT, issue_link, person_named
from quem.store.state import State
from tests.browser.axe import objections
from tests.browser.views import WIDE, each_view
from tests.patience import SECONDS
from tests.served import waitress_serving
from tests.webjudge.sites import (
    SUBJECTS,
    SYSTEM,
    fake_analysis,
    make_site,
    rank,
    rank_all,
    set_life,
)
from webjudge import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from webjudge import Site

JUDGES = ("J1", "J2", "J3")
LONG = "Professor Bartholomew Featherstonehaugh-Wolpertinger"
TOLD = State(
    ranked=(SUBJECTS[:2], SUBJECTS[2:]),
    cannot={SYSTEM: "Outside my expertise"},
    recognized=SUBJECTS[:1],
    comments={SUBJECTS[1]: "A daring plan.\nBut who pays?"},
    comment="All alike",
)


NAMED = ("Zorna", "Zornb", "Zornc", "Zornd", "Zorne", "Zornf", "Zorng")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study with everything that the overview can show."""
    judging = f"{{repeat: 1, practice: P0, identity_words: [{', '.join(NAMED)}]}}"
    site = make_site(tmp_path, problems=4, judges=JUDGES, judging=judging)
    rank(site, "J1", "P0")
    rank(site, "J1", "P1", TOLD)
    rank(site, "J2", "P2", kind="save")
    (tmp_path / "solutions" / "P1" / f"{SYSTEM}.md").write_text(f"By {' and '.join(NAMED)}.\n")
    yield site
    site.store.close()


class Watched:
    """A page at the dashboard of a running server, and what it complained of."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.complaints: list[str] = []
        page.on("console", lambda message: self._note(message.text))
        page.on("pageerror", lambda error: self._note(str(error)))

    def _note(self, text: str) -> None:
        # Chromium notes each answer that refuses something.
        if "responded with a status of 4" not in text:
            self.complaints.append(text)

    def open(self, path: str) -> None:
        """Go to a page."""
        self.page.goto(self.base + path, wait_until="load")

    def check(self) -> None:
        """Refuse what axe objects to, what is wider than the page, and complaints."""
        # A report that is being made asks for itself again.
        expect(self.page.locator(".making")).to_have_count(0)
        self.page.wait_for_load_state("load")
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        for view, colors in each_view(self.page):
            assert self.page.evaluate(overflow) == 0, (self.page.url, view)
            assert objections(self.page, colors=colors) == [], (self.page.url, view)
        assert self.complaints == []

    def refresh(self) -> None:
        """Let the page look for news now, as it does when its tab is shown again."""
        with self.page.expect_response(lambda answer: answer.url.endswith("/dashboard")):
            self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        self.page.wait_for_timeout(50)


@contextmanager
def at_dashboard(browser: Browser, site: Site, **options: Any) -> Iterator[Watched]:  # noqa: ANN401
    """Serve a site, and open its dashboard."""
    context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
    context.set_default_timeout(SECONDS * 1000)
    with waitress_serving(create_app(site)) as base:
        try:
            watched = Watched(context.new_page(), base)
            with site.store.write() as c:
                token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
            watched.open(f"/d/{token}")
            assert watched.page.url.startswith(f"{watched.base}/dashboard")
            yield watched
        finally:
            context.close()


def test_all_pages_are_accessible(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Axe objects to nothing, no page is wider than its window, and none complains."""
    fake_analysis(monkeypatch)
    with at_dashboard(browser, site) as dashboard:
        dashboard.check()
        for path in (
            "/dashboard/open",
            "/dashboard/discard-and-open",
            "/dashboard/lasting",
            "/dashboard/events",
            "/dashboard/words",
            "/dashboard/judges/invitations",
            "/dashboard/judges/new",
        ):
            dashboard.open(path)
            dashboard.check()
        dashboard.page.fill("#new-name", LONG)
        dashboard.page.fill("#new-experience", "many")
        dashboard.page.click("form .btn.primary")
        dashboard.check()
        dashboard.page.fill("#new-id", "J9")
        dashboard.page.fill("#new-experience", "12")
        dashboard.page.click("form .btn.primary")
        dashboard.page.get_by_role("button", name="Send anyway").click()
        dashboard.check()
        dashboard.open("/dashboard/judges/invitations")
        dashboard.page.click("#make-links")
        dashboard.page.get_by_role("button", name="Send anyway").click()
        dashboard.check()
        set_life(site, "open")
        for path in (
            "/dashboard",
            "/dashboard/reveal",
            "/dashboard/pause",
            "/dashboard/judges/reminders",
            "/dashboard/people/1/link",
            "/dashboard/people/1/invitation",
            "/dashboard/people/1/erase",
        ):
            dashboard.open(path)
            dashboard.check()
        set_life(site, "paused")
        dashboard.open("/dashboard")
        dashboard.check()
        set_life(site, "closed")
        for path in ("/dashboard", "/dashboard/open", "/dashboard/words", "/dashboard/report/"):
            dashboard.open(path)
            dashboard.check()


def test_news_come_by_themselves_and_disturb_nobody(browser: Browser, site: Site) -> None:
    """Progress is brought up to date; focus, selection, scrolling and what is open stay."""
    set_life(site, "open")
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        page.click("#more-solutions summary")
        page.click("#more-1 summary")
        page.focus("#erase-1")
        page.evaluate("window.scrollTo(0, 120); window.kept = document.activeElement")
        row = page.locator("table.judges tbody tr").nth(1)
        assert "0 of 5" in row.inner_text()
        rank_all(site, "J2")
        dashboard.refresh()
        assert "4 of 5" in row.inner_text()
        assert "✓ Submitted" in page.locator("#groups tbody tr").nth(2).inner_text()
        assert page.evaluate("document.activeElement === window.kept && kept.id") == "erase-1"
        assert page.evaluate("window.scrollY") == 120
        assert page.evaluate("document.getElementById('more-solutions').open")
        assert page.locator("#more-1 ul").is_visible()
        set_life(site, "closed")
        dashboard.refresh()
        assert "Rankings are final" in page.locator("#progress").inner_text()
        assert page.locator("#life [aria-current] b").inner_text() == "Closed"
        assert dashboard.complaints == []


def test_an_ended_link_is_told(browser: Browser, site: Site) -> None:
    """Whose link was replaced is told so on the page that is still open."""
    with at_dashboard(browser, site) as dashboard:
        with site.store.write() as c:
            issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
        dashboard.refresh()
        assert "link was replaced" in dashboard.page.inner_text("#trouble")
        assert dashboard.page.locator("table.judges tbody tr").count() == 3


def test_a_server_that_does_not_answer(browser: Browser, site: Site) -> None:
    """The page says that it may be old, keeps what it shows, and recovers."""
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        page.context.set_offline(offline=True)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_selector("#trouble:not([hidden])")
        assert "No response" in page.inner_text("#trouble")
        assert page.locator("table.judges tbody tr").count() == 3
        page.context.set_offline(offline=False)
        dashboard.refresh()
        assert not page.locator("#trouble").is_visible()


def test_links_are_copied_and_downloaded(browser: Browser, site: Site) -> None:
    """One click copies a link or all of them; the download is a table for mailing."""
    with at_dashboard(
        browser, site, permissions=["clipboard-read", "clipboard-write"]
    ) as dashboard:
        page = dashboard.page
        page.get_by_role("link", name="Invite").click()
        page.click("#make-links")
        page.get_by_role("button", name="Send anyway").click()
        page.wait_for_selector("#copy-all")
        links = [field.input_value() for field in page.locator(".copying input").all()]
        assert len(links) == 3
        page.click("#copy-all")
        page.wait_for_selector("text=3 links copied.")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert [line.split("\t")[2] for line in copied.splitlines()] == links
        page.locator("[data-copy=link]").nth(1).click()
        page.wait_for_selector("text=Link of J2 copied.")
        assert page.evaluate("navigator.clipboard.readText()") == links[1]
        message = page.locator("textarea").nth(1)
        message.fill(f"Dear you: {links[1]} & so on")
        page.locator("[data-copy=message]").nth(1).click()
        page.wait_for_selector("text=Message to J2 copied.")
        assert page.evaluate("navigator.clipboard.readText()") == message.input_value()
        mail = urlsplit(page.locator("[data-mail]").nth(1).get_attribute("href") or "")
        assert parse_qs(mail.query)["body"] == [message.input_value()]
        with page.expect_download() as download:
            page.click("#download")
        with download.value.path().open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["judge"], row["name"], row["link"]) for row in rows[:1]] == [
            ("J1", "Judge J1", links[0])
        ]
        assert rows[1]["message"] == message.input_value()
        assert "/j/" not in page.url
        assert dashboard.complaints == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_study_is_led_by_keyboard(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch, *, scripts: bool
) -> None:
    """From the trial to the report with Tab and Enter alone, with and without scripts."""
    fake_analysis(monkeypatch)
    with at_dashboard(browser, site, java_script_enabled=scripts) as dashboard:
        page = dashboard.page
        state = page.locator("#life [aria-current] b")
        assert state.inner_text() == "Test mode"
        for question, answer, then in (
            ("Open the study…", "Keep 3 test rankings and open", "Open"),
            ("Pause…", "Pause", "Paused"),
            ("Resume…", "Resume", "Open"),
            ("Close the study…", "Close the study", "Closed"),
        ):
            press(page, question)
            press(page, answer)
            assert state.inner_text() == then
        expect(page.locator("#report #files")).to_be_visible()
        press(page, "Comments")
        assert "A daring plan." in page.inner_text("main")


def test_what_cannot_be_undone_needs_a_word(browser: Browser, site: Site) -> None:
    """On a page of its own, without scripts; a wrong word is refused, and Cancel leads back."""
    set_life(site, "open")
    with at_dashboard(browser, site, java_script_enabled=False) as dashboard:
        page = dashboard.page
        page.click("#lasting")
        page.locator("#erased").select_option(label="J2: Judge J2")
        page.get_by_role("button", name="Erase…").click()
        expect(page.locator("main")).to_contain_text("Type J2 to confirm")
        page.fill("#word", "J1")
        page.get_by_role("button", name="Erase personal data").click()
        expect(page.get_by_role("alert")).to_contain_text("Type “J2” to confirm.")
        page.fill("#word", "j2")
        page.get_by_role("button", name="Erase personal data").click()
        expect(page.locator(".said")).to_have_text("Personal data erased.")
        page.click("#lasting")
        page.fill("#word-reveal", "reveal")
        page.keyboard.press("Enter")
        expect(page.locator("#life [aria-current]")).to_contain_text("rankings are revealed")
        page.click("#close")
        page.get_by_role("link", name="Cancel").click()
        expect(page.locator("#life [aria-current] b")).to_have_text("Open")
        assert dashboard.complaints == []


def press(page: Page, name: str) -> None:
    """Go to a link or button with the Tab key, and press Enter."""
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and " ".join(focused.inner_text().split()) == name:
            with page.expect_navigation():
                page.keyboard.press("Enter")
            return
    pytest.fail(f"no {name!r} among what the Tab key reaches")


def test_the_real_report_keeps_to_its_policy(browser: Browser, site: Site) -> None:
    """Styles and figures of the report are shown under the policy it is sent with."""
    rank_all(site, "J3")
    set_life(site, "closed")
    with at_dashboard(browser, site) as dashboard:
        dashboard.open("/dashboard")
        style = "getComputedStyle(document.querySelector('.cards')).display"
        cards = dashboard.page.locator("#report .cards")
        expect(cards).to_be_visible()
        assert cards.evaluate("cards => getComputedStyle(cards).display") == "grid"
        dashboard.check()
        dashboard.page.click("#files summary")
        with dashboard.page.expect_popup() as alone:
            dashboard.page.get_by_role("link", name="Open in a new tab").click()
        assert alone.value.evaluate(style) == "grid"
        assert alone.value.locator("figure svg").first.is_visible()
        assert dashboard.complaints == []
