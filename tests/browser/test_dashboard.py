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
from tests.browser.judging import follow
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

LONG = "Professor Bartholomew Featherstonehaugh-Wolpertinger"
TOLD = State(
    ranked=(SUBJECTS[:2], SUBJECTS[2:]),
    cannot={SYSTEM: "Outside my expertise"},
    recognized=SUBJECTS[:1],
    comments={SUBJECTS[1]: "A daring plan.\nBut who pays?"},
    comment="All alike",
)
NAMED = ("Zorna", "Zornb", "Zornc", "Zornd", "Zorne", "Zornf", "Zorng")
LOOK = "document.dispatchEvent(new Event('visibilitychange'))"  # as when a tab is shown again
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study with everything that the overview can show."""
    judging = f"{{repeat: 1, practice: P0, identity_words: [{', '.join(NAMED)}]}}"
    site = make_site(tmp_path, problems=4, judges=("J1", "J2", "J3"), judging=judging)
    rank(site, "J1", "P0")
    rank(site, "J1", "P1", TOLD)
    rank(site, "J2", "P2", kind="save")
    (tmp_path / "solutions" / "P1" / f"{SYSTEM}.md").write_text(f"By {' and '.join(NAMED)}.\n")
    yield site
    site.store.close()


class Watched:
    """A page at the dashboard of a running server, and what it complained of."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.complaints: list[str] = []
        page.on("console", lambda message: self._note(message.text))
        page.on("pageerror", lambda error: self._note(str(error)))

    def _note(self, text: str) -> None:
        # Chromium notes each answer that refuses something.
        if "responded with a status of 4" not in text:
            self.complaints.append(text)

    def open(self, path: str) -> None:
        """Go to a page."""
        self.page.goto(self.base + path)

    def enter(self, site: Site, role: Any, name: str) -> None:  # noqa: ANN401  a literal
        """Come by a new link."""
        with site.store.write() as c:
            token = issue_link(c, person_named(c, site.id, role, name), "shell")
        self.open(f"/{ {'organizer': 'd', 'judge': 'j', 'subject': 'p'}[role] }/{token}")

    def check(self, *paths: str) -> None:
        """Refuse what axe objects to, a page that is too wide, and complaints: here, or there."""
        for path in paths or [""]:
            if path:
                self.open(path)
            # A report that is being made asks for itself again.
            expect(self.page.locator(".making")).to_have_count(0)
            self.page.wait_for_load_state("load")
            for view, colors in each_view(self.page):
                assert self.page.evaluate(OVERFLOW) == 0, (self.page.url, view)
                assert objections(self.page, colors=colors) == [], (self.page.url, view)
            assert self.complaints == []


@contextmanager
def at_dashboard(browser: Browser, site: Site, **options: Any) -> Iterator[Watched]:  # noqa: ANN401
    """Serve a site, and open its dashboard."""
    context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
    context.set_default_timeout(SECONDS * 1000)
    with waitress_serving(create_app(site)) as base:
        try:
            watched = Watched(context.new_page(), base)
            watched.enter(site, "organizer", DEFAULT)
            assert watched.page.url.startswith(f"{base}/dashboard")
            yield watched
        finally:
            context.close()


def test_all_pages_are_accessible(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Axe objects to nothing, no page is wider than its window, and none complains."""
    fake_analysis(monkeypatch)
    with at_dashboard(browser, site) as dashboard:
        page, home = dashboard.page, "/dashboard"
        dashboard.check(home, f"{home}/open", f"{home}/discard-and-open", f"{home}/lasting")
        dashboard.check(f"{home}/events", f"{home}/judges/invitations", f"{home}/judges/new")
        page.fill("#new-name", LONG)
        page.fill("#new-experience", "many")
        follow(page.locator("form .btn.primary"))
        dashboard.check()
        page.fill("#new-id", "J9")
        page.fill("#new-experience", "12")
        follow(page.locator("form .btn.primary"))
        follow(page.get_by_role("button", name="Send anyway"))
        dashboard.check()
        dashboard.open(f"{home}/judges/invitations")
        follow(page.locator("#make-links"))
        dashboard.check()
        follow(page.get_by_role("button", name="Send anyway"))
        dashboard.check()
        set_life(site, "open")
        dashboard.check(home, f"{home}/reveal", f"{home}/pause", f"{home}/judges/reminders")
        dashboard.check(*(f"{home}/people/1/{name}" for name in ("link", "invitation", "erase")))
        set_life(site, "paused")
        dashboard.check(home)
        set_life(site, "closed")
        dashboard.check(home, f"{home}/open", f"{home}/words", f"{home}/report/")


def test_news_come_by_themselves_and_disturb_nobody(browser: Browser, site: Site) -> None:
    """Focus, selection, scrolling, and open details stay; errors and ended links are shown."""
    set_life(site, "open")
    with at_dashboard(browser, site) as dashboard:
        page = dashboard.page
        page.click("#more-solutions summary")
        page.click("#more-1 summary")
        page.focus("#erase-1")
        page.evaluate("window.scrollTo(0, 120); window.kept = document.activeElement")
        rows = page.locator("table.judges tbody tr")
        trouble = page.locator("#trouble")
        expect(rows.nth(1)).to_contain_text("0 of 5")
        rank_all(site, "J2")
        page.evaluate(LOOK)
        expect(rows.nth(1)).to_contain_text("4 of 5")
        expect(page.locator("#groups tbody tr").nth(2)).to_contain_text("✓ Submitted")
        assert page.evaluate("document.activeElement === window.kept && kept.id") == "erase-1"
        assert page.evaluate("window.scrollY") == 120
        assert page.evaluate("document.getElementById('more-solutions').open")
        expect(page.locator("#more-1 ul")).to_be_visible()
        page.context.set_offline(offline=True)
        page.evaluate(LOOK)
        expect(trouble).to_contain_text("No response")
        expect(rows).to_have_count(3)
        page.context.set_offline(offline=False)
        set_life(site, "closed")
        page.evaluate(LOOK)
        expect(trouble).to_be_hidden()
        expect(page.locator("#progress")).to_contain_text("Rankings are final")
        expect(page.locator("#life [aria-current] b")).to_have_text("Closed")
        with site.store.write() as c:
            issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
        page.evaluate(LOOK)
        expect(trouble).to_contain_text("link was replaced")
        expect(rows).to_have_count(3)


def test_links_are_copied_and_downloaded(browser: Browser, site: Site) -> None:
    """One click copies a link or all of them; the download is a table for mailing."""
    allowed = ["clipboard-read", "clipboard-write"]
    with at_dashboard(browser, site, permissions=allowed) as dashboard:
        page = dashboard.page

        def copied(button: str, said: str) -> str:
            page.locator(button).click()
            page.wait_for_selector(f"text={said}")
            return str(page.evaluate("navigator.clipboard.readText()"))

        follow(page.get_by_role("link", name="Invite"))
        follow(page.locator("#make-links"))
        follow(page.get_by_role("button", name="Send anyway"))
        links = [field.input_value() for field in page.locator(".copying input").all()]
        assert len(links) == 3
        table = copied("#copy-all", "3 links copied.")
        assert [line.split("\t")[2] for line in table.splitlines()] == links
        assert copied("[data-copy=link] >> nth=1", "Link of J2 copied.") == links[1]
        written = f"Dear you: {links[1]} & so on"
        page.locator("textarea").nth(1).fill(written)
        assert copied("[data-copy=message] >> nth=1", "Message to J2 copied.") == written
        mail = urlsplit(page.locator("[data-mail]").nth(1).get_attribute("href") or "")
        assert parse_qs(mail.query)["body"] == [written]
        with page.expect_download() as download:
            page.click("#download")
        with download.value.path().open(newline="") as file:
            first, second, _ = csv.DictReader(file)
        assert (first["judge"], first["name"], first["link"]) == ("J1", "Judge J1", links[0])
        assert second["message"] == written
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
        expect(state).to_have_text("Test mode")
        for question, answer, then in (
            ("Open the study…", "Keep 3 test rankings and open", "Open"),
            ("Pause…", "Pause", "Paused"),
            ("Resume…", "Resume", "Open"),
            ("Close the study…", "Close the study", "Closed"),
        ):
            press(page, question)
            press(page, answer)
            expect(state).to_have_text(then)
        expect(page.locator("#report #files")).to_be_visible()
        press(page, "Comments")
        expect(page.locator("main")).to_contain_text("A daring plan.")


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
        page = dashboard.page
        cards = page.locator("#report .cards")
        expect(cards).to_be_visible()
        expect(cards).to_have_css("display", "grid")
        dashboard.check()
        page.click("#files summary")
        with page.expect_popup() as alone:
            page.get_by_role("link", name="Open in a new tab").click()
        expect(alone.value.locator(".cards")).to_have_css("display", "grid")
        expect(alone.value.locator("figure svg").first).to_be_visible()
        assert dashboard.complaints == []
