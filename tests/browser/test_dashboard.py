"""The dashboard in Chromium: setup, review, and results; by keyboard, without scripts."""

from __future__ import annotations

import csv
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from quem.cli import main
from quem.store.audit_log import audit_events
from quem.store.people import DEFAULT, issue_link, person_named
from quem.store.state import State
from quem.studyfile.reading import read_study
from tests.browser.judging import follow
from tests.browser.views import PHONE, WIDE, each_view, objections
from tests.importing.made import write_tree
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
from webjudge import create_app, open_site

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
        self.page.goto(self.base + path)

    def enter(self, site: Site, role: Any, name: str) -> None:  # noqa: ANN401  a literal
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


def test_a_wide_table_scrolls_where_it_is_reviewed(browser: Browser, site: Site) -> None:
    row = "|".join(f"indivisible{n}" for n in range(9))
    table = f"|{row}|\n{'|-' * 9}|\n|{row}|\n"
    (site.path.parent / "solutions" / "P1" / f"{SUBJECTS[0]}.md").write_text(table)
    with at_dashboard(browser, site, viewport=PHONE) as dashboard:
        dashboard.open("/dashboard/solutions?names=yes")
        follow(dashboard.page.locator("li", has_text=SUBJECTS[0]).first.get_by_role("link"))
        scrolled = dashboard.page.locator(".table-scroll")
        assert scrolled.evaluate("one => one.scrollWidth > 2 * one.clientWidth")
        dashboard.check()


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
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and " ".join(focused.inner_text().split()) == name:
            with page.expect_navigation():
                page.keyboard.press("Enter")
            return
    pytest.fail(f"no {name!r} among what the Tab key reaches")


def test_the_real_report_keeps_to_its_policy(browser: Browser, site: Site) -> None:
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


@pytest.fixture
def unfinished(tmp_path: Path) -> Iterator[Site]:
    source = write_tree(tmp_path / "work", ["atlas", "bolt", "maria"], ["task-1", "task-2"])
    made = CliRunner().invoke(main, ["init", str(tmp_path / "study"), "--from", str(source)])
    assert made.exit_code == 0
    site = open_site(tmp_path / "study/study.yaml")
    yield site
    site.store.close()


def test_what_is_missing_is_written_in_the_browser(browser: Browser, unfinished: Site) -> None:
    """A reload, a second tab, and what another tab has saved leave what was typed."""
    with at_dashboard(browser, unfinished) as dashboard:
        page = dashboard.page
        assert page.url.endswith("/dashboard/setup")
        dashboard.check()
        page.get_by_label("Names of judges").fill("Amy")
        years = page.get_by_label("Experience of maria")
        years.fill("7")
        expect(page.get_by_role("row", name="maria").get_by_label("a person")).to_be_checked()
        page.reload()
        expect(page.get_by_label("Names of judges")).to_have_value("Amy")
        expect(years).to_have_value("7")
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.get_by_label("Names of judges")).to_have_value("Amy")
        page.bring_to_front()  # what is behind is drawn too seldom
        page.get_by_label("Telephone").fill("123")
        other.bring_to_front()
        other.get_by_label("Institution").fill("ETH")
        follow(other.locator("#save"))
        expect(other.locator(".said")).to_contain_text("maria: a person, 7 years")
        expect(other.get_by_label("Telephone")).to_have_value("123")
        page.bring_to_front()
        page.get_by_label("Title of the study").fill("Plans")
        atlas = page.get_by_role("row", name="atlas")
        years = page.get_by_label("Experience of atlas")
        years.fill("many")
        follow(page.locator("#save"))
        expect(page.get_by_role("alert")).to_contain_text("Check the highlighted fields")
        dashboard.check()
        atlas.get_by_label("a system").check()
        expect(page.get_by_text("Not saved yet.")).to_be_visible()
        follow(page.locator("#save"))
        expect(page.locator(".said")).to_contain_text("Title: Plans")
        expect(page.get_by_text("Not saved yet.")).to_be_hidden()
        # Whoever chooses "a system" after typing years may still change their mind.
        years.fill("3")
        for kind, value in (("a system", ""), ("a person", "3")):
            atlas.get_by_label(kind).check()
            expect(years).to_have_value(value)
        page.get_by_role("button", name="Discard").click()
        expect(years).to_have_value("")
        expect(page.get_by_text("Not saved yet.")).to_be_hidden()
        for text in ("problems/task-1.md", "problems/task-2.md", "consent.md"):
            (unfinished.path.parent / text).write_text("I take part.")
        # The window is looked at again: what was written is no longer missing.
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.get_by_text("Nothing is missing.")).to_be_visible()
        dashboard.check()
    spec = read_study(unfinished.path)
    assert (spec.title, spec.organizer.institution, spec.organizer.phone) == ("Plans", "ETH", "123")
    assert [judge.name for judge in spec.judges] == ["Amy"]
    assert [(s.id, s.experience) for s in spec.subjects] == [("maria", 7)]


ASKED = "h1.asked"


@pytest.fixture
def named(tmp_path: Path) -> Iterator[Site]:
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
    with site.store.read() as c:
        events = [one for one in audit_events(c, site.id, 99) if one.what == "solution-reviewed"]
    return [str(one.detail["solver"]) for one in events]


def lead(page: Page, key: str) -> None:
    with page.expect_navigation():
        page.keyboard.press(key)


def test_the_review_by_keys(browser: Browser, named: Site) -> None:
    """Each word once: replace, keep, take back; then each solution to its end."""
    with at_dashboard(browser, named) as dashboard:
        page = dashboard.page
        dashboard.check("/dashboard/solutions")
        follow(page.get_by_role("link", name="Start"))
        said = page.get_by_role("status").first
        asked = page.locator(ASKED)
        expect(asked).to_have_text("“Claude Moon” is in 1 solution.")
        lead(page, "n")
        expect(asked).to_have_text("“Claude” is in 2 solutions.")
        expect(page.locator("main .btn.primary")).to_have_text(re.compile("Replace in all 2"))
        dashboard.check()
        lead(page, "r")
        expect(said).to_contain_text("Replaced “Claude” in 2 solutions.")
        expect(page.locator(".note", has_text="people have replaced words")).to_be_visible()
        dashboard.check()
        lead(page, "u")
        expect(asked).to_have_text("“Claude” is in 2 solutions.")
        page.get_by_text("Choose one by one").click()
        dashboard.check()
        # Keys can be switched off.
        page.get_by_label("Single keys").uncheck()
        page.keyboard.press("k")
        page.get_by_label("Single keys").check()
        expect(asked).to_have_text("“Claude” is in 2 solutions.")
        lead(page, "r")
        while asked.count():
            lead(page, "k")
        look_at_all(dashboard, named)
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
        lead(page, "Enter")
    assert sorted(reviewed(site)) == sorted([*SUBJECTS, SYSTEM])


def test_a_solution_with_words_left(browser: Browser, named: Site) -> None:
    """Its solver is covered, its words are decided there too, and marks can be read in marks."""
    with at_dashboard(browser, named) as dashboard:
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
        lead(page, "r")
        expect(said).to_contain_text("Replaced “Claude” in this solution.")
        lead(page, "u")
        expect(said).to_contain_text("Undone")
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        before = words.count()
        follow(page.locator("#deciding").get_by_role("button", name="Keep"))
        expect(said).to_contain_text("Kept")
        expect(words).to_have_count(before - 1)
