"""People who solve problems in Chromium: all pages, files, nothing lost, and the clock."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Error, FilePayload, expect

from quem.store.clock import spent_on
from quem.store.people import person_named
from quem.store.studies import set_solving
from quem.store.work import last_answer, tasks_of
from tests.browser.judging import (
    Visit,
    accessible,
    escape,
    follow,
    is_ready,
    is_saved,
    reload,
)
from tests.browser.test_dashboard import OVERFLOW, Watched, at_dashboard
from tests.browser.views import NARROW, PHONE, WIDE, look
from tests.languages.pseudo import LEFT, PROGRAM
from tests.patience import until
from tests.served import Served
from tests.store.solving import FakeTime
from tests.webjudge.solving_sites import write_solving_study
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

    from quem.store.clock import Spent
    from quem.store.models import TaskRow
    from webjudge import Site

BEAT = "document.dispatchEvent(new Event('visibilitychange'))"
CODE = re.compile("^[0-9a-f]{10}$")
PLAN = FilePayload(name="plan.md", mimeType="text/markdown", buffer=b"# Plan\n")


def enter(page: Page, years: str) -> None:
    page.locator("#experience").fill(years)
    follow(page.locator("#about button"))
    follow(page.locator("a.primary"))


def start(page: Page) -> None:
    follow(page.locator("form button.primary"))
    is_ready(page)


def hand_in(page: Page) -> None:
    page.locator("#submit").click()
    page.locator("#send button[value=yes]").click()
    expect(page.locator("p.receipt code")).to_have_text(CODE)


ASKING = """\
briefing: text.md
consent: text.md
practice: P1
order: fixed
time_limit: 30
tools: '1 + 1'
questions: [{id: field, about: study, kind: choice, text: Πού;, options: [όχι, ναι]},
  {id: familiar, about: task, kind: scale, text: Πόσο;, ends: [όχι, ναι]}]"""


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study with everything, in which Latin letters are those of the pages."""
    folder = tmp_path_factory.mktemp("translated")
    (folder / "text.md").write_text("Καλημέρα **σας**.\n")
    study = write_solving_study(folder, problems=2, solving=ASKING)
    text = study.read_text().replace("title: A made-up study", "title: '1'")
    text = text.replace("experience_unit: years", "experience_unit: χρόνια")
    study.write_text(re.sub(r"title: Case \d", "title: '2'", text).replace("Zelda", "Ζέλντα"))
    for problem in (1, 2):
        (folder / f"p{problem}.md").write_text("3 + 4\n")
    with Served(study, program=PROGRAM) as served:
        yield served


def test_all_pages_are_accessible_and_translated(browser: Browser, translated: Served) -> None:
    """No state has what axe objects to, a word of English, or one that is cut off; by keyboard."""
    visit = Visit(browser, translated, "S1", locale=LEFT)
    page = visit.page

    def check(what: str) -> None:
        # The endings of files are the study's.
        page.locator(".facts dd, #file-status").evaluate_all(
            "all => all.forEach(e => e.replaceChildren(e.textContent.replace(/\\w+(, \\w+)+/, '')))"
        )
        for window in (NARROW, WIDE):
            page.set_viewport_size(window)  # type: ignore[arg-type]
            look(page, what)
            accessible(page, what, colors=window == WIDE)

    def enter_on(selector: str) -> None:
        page.locator(selector).focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")

    page.goto(translated.links["S1"])
    check("consent")
    enter_on("[name=consent][value=yes]")
    check("about")
    page.locator("#experience").fill("-")
    page.get_by_label("ναι").check()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    check("wrong")
    page.locator("#experience").fill("7")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    check("list")
    enter_on("a.primary")
    check("start")
    enter_on("form button.primary")
    is_ready(page)
    work_through(page, check)
    page.locator(".withdraw summary").click()
    check("withdrawing")
    # That was for practice; after another problem a question is asked.
    enter_on("a.primary")
    start(page)
    page.locator("#text").fill("6")
    hand_in(page)
    check("question")
    page.get_by_label("4").check()
    enter_on("form button.primary")
    check("last")
    visit.close()


def work_through(page: Page, check: Any) -> None:  # noqa: ANN401  a function of the caller
    check("problem")
    page.locator("#choose").set_input_files(FilePayload(name="1.2", mimeType="x/y", buffer=b"1"))
    expect(page.locator("#file-status")).to_contain_text("pdf, docx")
    check("refused file")
    page.locator("#submit").click()
    expect(page.locator("#message")).to_be_visible()
    check("nothing")
    escape(page)
    page.locator("#text").press_sequentially("$5^2$")
    is_done = page.locator("#save-status[data-word=saved]")
    expect(is_done).to_be_visible()
    page.locator("#preview").click()
    expect(page.locator("#shown .katex").first).to_be_visible()
    accessible(page, "preview")
    page.locator("#preview").click()
    page.locator("#skip").click()
    expect(page.locator("#skipping")).to_be_visible()
    check("skipping")
    escape(page)
    page.locator("#pause").click()
    expect(page.locator("#cover h2")).to_be_focused()
    expect(page.locator("#work")).to_be_hidden()
    check("paused")
    page.locator("#resume").click()
    expect(page.locator("#text")).to_be_focused()
    page.locator("#text").fill("@abcdef")
    page.locator("#submit").click()
    expect(page.locator("#named")).to_be_visible()
    page.locator("#named-list").evaluate("list => list.replaceChildren()")
    check("named")
    escape(page)
    page.locator("#text").fill("5")
    page.locator("#submit").click()
    expect(page.locator("#send")).to_be_visible()
    check("sending")
    page.locator("#send button[value=yes]").click()
    expect(page.locator("p.receipt code")).to_be_visible()
    check("submitted")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = open_site(write_solving_study(tmp_path, solving="order: fixed\ntime_limit: 30"))
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
    yield site
    site.store.close()


def solving(dashboard: Watched, site: Site) -> Page:
    dashboard.enter(site, "subject", "S1")
    enter(dashboard.page, "7")
    start(dashboard.page)
    return dashboard.page


def spent(site: Site) -> tuple[TaskRow, Spent]:
    with site.store.read() as c:
        task = tasks_of(c, person_named(c, site.id, "subject", "S1").key)[0]
        return task, spent_on(task)


def answered(site: Site) -> tuple[str, int]:
    with site.store.read() as c:
        [mine] = [t for t in tasks_of(c, person_named(c, site.id, "subject", "S1").key) if t.ended]
        answer = last_answer(c, mine)
        return answer.text, len(answer.files)


def is_told(page: Page, site: Site, time: FakeTime) -> bool:
    """Let the page report to the clock; return whether a report came after the time passed."""
    # A response alone may belong to an earlier automatic report.
    page.evaluate(BEAT)
    return spent(site)[0].beat_at == time.at


def test_files_in_the_browser(browser: Browser, site: Site) -> None:
    """Added, refused with a reason, removed; an answer waits for those that are being uploaded."""
    with at_dashboard(browser, site) as dashboard:
        page = solving(dashboard, site)
        broken = FilePayload(name="broken.pdf", mimeType="x/y", buffer=b"none")
        foreign = FilePayload(name="plan.exe", mimeType="x/y", buffer=b"MZ")
        page.locator("#choose").set_input_files([PLAN, foreign, broken])
        status = page.locator("#file-status")
        expect(status).to_contain_text("plan.exe: Files of this kind cannot be added.")
        expect(status).to_contain_text("broken.pdf: This file cannot be shown to judges.")
        is_saved(page)
        reload(page)
        expect(page.locator("#files li")).to_have_count(1)
        with page.expect_download() as download:
            page.get_by_role("link", name="plan.md").click()
        assert download.value.path().read_bytes() == b"# Plan\n"
        page.get_by_role("button", name="Remove plan.md").click()
        expect(page.locator("#files li")).to_have_count(0)
        is_saved(page)
        reload(page)
        expect(page.locator("#files li")).to_have_count(0)
        page.locator("#text").fill("with a plan")
        is_saved(page)
        held: list[Route] = []
        page.route("**/files?*", lambda route: held.append(route))  # noqa: PLW0108
        with page.expect_request("**/files?*"):
            page.locator("#choose").set_input_files([PLAN])
        page.locator("#submit").click()
        expect(page.locator("#submit")).to_be_disabled()
        held.pop().continue_()
        page.locator("#send button[value=yes]").click()
        expect(page.locator("p.receipt code")).to_be_visible()
    assert answered(site) == ("with a plan", 1)


def test_nothing_that_was_written_is_lost(browser: Browser, site: Site) -> None:
    """Unsent changes are restored after leaving the page, and in the tab that continues."""
    with at_dashboard(browser, site, viewport=PHONE) as dashboard:
        page = solving(dashboard, site)
        text = page.locator("#text")
        text.fill("first")
        is_saved(page)
        page.route("**/state", lambda route: route.abort())
        text.fill("second")
        expect(page.locator("#save-status[data-word=offline]")).to_be_visible()
        page.unroute("**/state")
        page.on("dialog", lambda dialog: dialog.accept())
        for _ in range(2):
            reload(page)
            expect(text).to_have_value("second")
            is_saved(page)
        first = spent(site)[0].holder
        other = page.context.new_page()
        other.goto(page.url)
        is_ready(other)
        until(lambda: spent(site)[0].holder != first, "the newer tab to hold the clock")
        other.locator("#text").fill("two")
        is_saved(other)
        page.bring_to_front()
        page.evaluate(BEAT)
        expect(page.locator("#cover h2")).to_have_text("Open elsewhere")
        expect(page.locator("#work")).to_be_hidden()
        page.locator("#resume").click()
        expect(text).to_have_value("two")


def test_the_clock_of_a_closed_lid(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No beat, a frozen tab, and a pause are no work; of the limit only a pause is no part."""
    time = FakeTime(monkeypatch)
    with at_dashboard(browser, site) as dashboard:
        page = solving(dashboard, site)
        page.set_viewport_size({"width": 820, "height": 1180})  # one row on a tablet
        assert page.locator(".bar").evaluate("bar => bar.offsetHeight") < 60
        until(lambda: spent(site)[0].holder != "start", "the page to hold the clock")
        for seconds in (15, 15, 15, 600, 15, 30):
            time.passes(seconds)
            until(partial(is_told, page, site, time), "a beat")
        assert (spent(site)[1].work, spent(site)[1].away) == (90, 600)
        session = page.context.new_cdp_session(page)
        session.send("Page.setWebLifecycleState", {"state": "frozen"})
        time.passes(900)
        session.send("Page.setWebLifecycleState", {"state": "active"})
        until(partial(is_told, page, site, time), "a beat")
        assert abs(spent(site)[1].work - 90) <= 20
        for button, running in (("#pause", "pause"), ("#resume", "work")):
            page.locator(button).click()
            until(lambda running=running: spent(site)[0].running == running, running)  # type: ignore[misc]
            time.passes(300 if running == "pause" else 0)
        assert spent(site)[1].pause == 300
        reload(page)
        expect(page.locator("#clock")).to_contain_text(re.compile(r"Time left3:\d\d"))


def test_the_time_is_over(browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last draft counts, nothing that is typed after the end, and the page leads on."""
    time = FakeTime(monkeypatch)
    with at_dashboard(browser, site) as dashboard:
        page = solving(dashboard, site)
        page.locator("#text").fill("first words")
        is_saved(page)
        time.passes(1790)
        until(partial(is_told, page, site, time), "a beat")
        time.passes(30)
        page.locator("#text").press_sequentially(" and last ones")
        with suppress(Error):  # a slow page was told by a save, and is on its way
            page.evaluate(BEAT)
        expect(page.locator("p.receipt")).to_contain_text("time is up")
        page.set_viewport_size({"width": 720, "height": 900})
        dashboard.open("/dashboard/solving")
        assert page.evaluate(OVERFLOW) == 0
    assert (spent(site)[0].ended, answered(site)) == ("timeout", ("first words", 0))
