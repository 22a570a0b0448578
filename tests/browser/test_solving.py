"""People solve problems in Chromium, judges rank what they wrote, and the report states years."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from playwright.sync_api import FilePayload, expect

from quem.cli import main
from quem.store.clock import spent_on
from quem.store.database import store_of
from quem.store.location import locate_database
from quem.store.people import issue_link, person_named
from quem.store.studies import set_solving
from quem.store.work import last_answer, tasks_of
from quem.studyfile.reading import read_study
from tests.browser.judging import Visit, accessible, is_ready, is_saved, rank_by_keys, submit
from tests.browser.test_dashboard import at_dashboard
from tests.browser.test_languages import NARROW, look
from tests.browser.views import WIDE
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

PEOPLE = tuple(f"S{n}" for n in range(1, 8))
YEARS = dict(zip(PEOPLE, ("1", "2", "4", "6", "9", "12", "15"), strict=True))
BEAT = "document.dispatchEvent(new Event('visibilitychange'))"
STEPS = "\n".join(f"- Step {n}" for n in range(1, 16))


def enter(page: Page, years: str) -> None:
    """Agree to take part, and say how much experience there is."""
    page.locator("#experience").fill(years)
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_role("link", name=re.compile("^Go to problem")).click()


def start(page: Page) -> None:
    """Start the problem whose page is open."""
    page.get_by_role("button", name="Start this problem").click()
    is_ready(page)


def hand_in(page: Page) -> None:
    """Submit the answer, and wait for the receipt."""
    page.locator("#submit").click()
    page.locator("#send button[value=yes]").click()
    expect(page.locator("p.receipt code")).to_have_text(re.compile("^[0-9a-f]{10}$"))


def test_a_whole_study(browser: Browser, tmp_path: Path) -> None:
    """Seven people solve three problems, two systems are there, three judges rank: years."""
    study = write_solving_study(tmp_path, people=PEOPLE)
    with Served(study) as served:
        organizer = browser.new_context(viewport={"width": 1280, "height": 800})
        desk = organizer.new_page()
        desk.goto(served.dashboard)
        desk.goto(f"{served.base}/dashboard/solving")
        desk.locator("#open-session").click()
        desk.get_by_role("button", name="Open the session").click()
        expect(desk.get_by_text("Solving session open.")).to_be_visible()
        for name in PEOPLE:
            solve(browser, served, name)
        desk.goto(f"{served.base}/dashboard/solving")
        expect(desk.locator(".tag.good")).to_have_count(len(PEOPLE))
        desk.locator("#close-session").click()
        desk.get_by_role("button", name="Close the session").click()
        expect(desk.get_by_text("Solving session closed.")).to_be_visible()
        desk.goto(f"{served.base}/dashboard")
        desk.locator("#open").first.click()
        desk.get_by_role("button", name="Open the study").click()
        expect(desk.get_by_text("Study open.")).to_be_visible()
        for judge in ("J1", "J2", "J3"):
            rank_everything(browser, served, judge)
        desk.goto(f"{served.base}/dashboard")
        desk.locator("#close").first.click()
        desk.get_by_role("button", name="Close the study").click()
        expect(desk.get_by_text("Study closed.")).to_be_visible()
        organizer.close()
    spec = read_study(study)
    assert {s.id: f"{s.experience:g}" for s in spec.subjects} == YEARS
    assert all(set(s.seconds) == {"P1", "P2", "P3"} for s in spec.subjects)
    done = CliRunner().invoke(main, ["analyze", str(study), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert [estimate["system"] for estimate in document["estimates"]] == ["sys1", "sys2"]
    assert document["skill"]["holds"]
    times = document["times"]
    assert times["n"] == 3 * len(PEOPLE)
    assert times["n_people"] == len(PEOPLE)


def solve(browser: Browser, served: Served, name: str) -> None:
    """Solve all problems as one person does: the more years, the more steps."""
    visit = Visit(browser, served, name)
    page = visit.page
    page.goto(served.links[name])
    enter(page, YEARS[name])
    for number in (1, 2, 3):
        if number > 1:
            page.get_by_role("link", name=f"Go to problem {number}").click()
        start(page)
        steps = STEPS.split("\n")[: int(YEARS[name])]
        page.locator("#text").fill("What I would do:\n\n" + "\n".join(steps))
        hand_in(page)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_text("You are done.")).to_be_visible()
    visit.close()


def rank_everything(browser: Browser, served: Served, judge: str) -> None:
    """Rank each problem's solutions by the number of their steps."""
    visit = Visit(browser, served, judge)
    page = visit.page
    for problem in ("Case 1", "Case 2", "Case 3"):
        visit.enter(problem)
        counts = page.locator("template[data-solution]").evaluate_all(
            "all => all.map(t => [t.dataset.solution, t.content.querySelectorAll('li').length])"
        )
        order = sorted(counts, key=lambda pair: (-pair[1], pair[0]))
        page.locator("#problem-row").click()
        rank_by_keys(page, "".join(label for label, _ in order))
        submit(page)
        expect(page.locator("#receipt dd").last).to_have_text(re.compile("^[0-9a-f]{10}$"))
    visit.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study whose session is open, with everything that a page can have."""
    (tmp_path / "briefing.md").write_text("Please solve **three** problems.\n")
    (tmp_path / "consent.md").write_text("I take part of my own free will.\n")
    solving = (
        "briefing: briefing.md\nconsent: consent.md\norder: fixed\ntime_limit: 30\n"
        "tools: a pocket calculator\nquestions: [{id: field, about: study, kind: choice, "
        "text: Where do you work?, options: [Industry, University], required: true}]"
    )
    site = open_site(write_solving_study(tmp_path, solving=solving))
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
    yield site
    site.store.close()


def link_of(site: Site, name: str = "S1") -> str:
    """Make a new link of a subject."""
    with site.store.write() as c:
        return issue_link(c, person_named(c, site.id, "subject", name), "shell")


def spent(site: Site, name: str = "S1") -> tuple[TaskRow, Spent]:
    """Give the first task of a subject, and how long it took."""
    with site.store.read() as c:
        task = tasks_of(c, person_named(c, site.id, "subject", name).key)[0]
        return task, spent_on(task)


def is_told(page: Page, site: Site, time: FakeTime) -> bool:
    """Let the page tell the clock, and say whether it has been heard of since the time passed."""
    # A response alone may be that to a beat which the page sent before, by itself.
    page.evaluate(BEAT)
    return spent(site)[0].beat_at == time.at


@pytest.mark.parametrize("window", [WIDE, NARROW], ids=["wide", "narrow"])
def test_all_pages_are_accessible(browser: Browser, site: Site, window: dict[str, int]) -> None:
    """Axe objects to nothing in any state, and a keyboard reaches everything."""
    with at_dashboard(browser, site, viewport=window) as dashboard:
        page = dashboard.page
        dashboard.open("/dashboard/solving")
        dashboard.check()
        page.goto(f"{dashboard.base}/p/{link_of(site)}")
        accessible(page, "consent")
        page.get_by_role("button", name="I agree").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#experience")).to_be_visible()
        accessible(page, "about")
        page.locator("#experience").fill("seven")
        page.get_by_label("Industry").check()
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("Write your experience as a number.")
        accessible(page, "wrong")
        page.locator("#experience").fill("7")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Go to problem 1").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Start this problem")).to_be_visible()
        accessible(page, "start")
        page.get_by_role("button", name="Start this problem").focus()
        page.keyboard.press("Enter")
        is_ready(page)
        accessible(page, "problem")
        page.locator("#text").press_sequentially("By Zelda: $x^2$")
        is_saved(page)
        page.locator("#preview").click()
        expect(page.locator("#shown .katex").first).to_be_visible()
        accessible(page, "preview")
        page.locator("#preview").click()
        page.locator("#pause").click()
        expect(page.locator("#cover h2")).to_be_focused()
        expect(page.locator("#work")).to_be_hidden()
        accessible(page, "pause")
        page.locator("#resume").click()
        expect(page.locator("#text")).to_be_focused()
        page.locator("#skip").click()
        expect(page.locator("#skipping")).to_be_visible()
        accessible(page, "skipping")
        page.locator("#no-skip").click()
        page.locator("#submit").click()
        expect(page.locator("#named")).to_contain_text("Line 1: “Zelda”")
        accessible(page, "named")
        page.locator("#named button[value=yes]").click()
        expect(page.locator("p.receipt code")).to_be_visible()
        accessible(page, "submitted")
        page.get_by_text("Withdraw from the study").click()
        accessible(page, "withdrawing")


def test_questions_after_a_problem(browser: Browser, tmp_path: Path) -> None:
    """They are asked on a page that is accessible on a phone, before the next problem."""
    questions = (
        "questions: [{id: familiar, about: task, kind: scale, text: How familiar?, "
        "ends: [not at all, very]}, {id: tools, about: task, kind: text, text: Which tools?}]"
    )
    site = open_site(write_solving_study(tmp_path, solving=f"order: fixed\n{questions}"))
    with at_dashboard(browser, site, viewport=NARROW) as dashboard:
        page = dashboard.page
        page.goto(f"{dashboard.base}/p/{link_of(site)}")
        enter(page, "7")
        start(page)
        page.locator("#text").fill("an answer")
        hand_in(page)
        accessible(page, "after")
        page.get_by_label("4").check()
        page.get_by_label("Which tools?").fill("a ruler")
        page.get_by_role("button", name="Save and continue").click()
        expect(page.get_by_role("link", name="Go to problem 2")).to_be_visible()
        with site.store.read() as c:
            replies = person_named(c, site.id, "subject", "S1").replies
        assert replies == {"experience": "7", "familiar P1": "4", "tools P1": "a ruler"}
    site.store.close()


def test_files_in_the_browser(browser: Browser, site: Site) -> None:
    """Files are added, refused with a reason, removed, and stay over a reload."""
    with at_dashboard(browser, site) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        page.locator("#choose").set_input_files(
            [
                FilePayload(name="plan.md", mimeType="text/markdown", buffer=b"# Plan\n"),
                FilePayload(name="plan.exe", mimeType="x/y", buffer=b"MZ"),
                FilePayload(name="broken.pdf", mimeType="x/y", buffer=b"none"),
            ]
        )
        status = page.locator("#file-status")
        expect(status).to_contain_text("plan.exe: Files of this kind cannot be added.")
        expect(status).to_contain_text("broken.pdf: This file cannot be shown to judges.")
        is_saved(page)
        page.reload()
        is_ready(page)
        expect(page.locator("#files li")).to_have_count(1)
        with page.expect_download() as download:
            page.get_by_role("link", name="plan.md").click()
        assert download.value.path().read_bytes() == b"# Plan\n"
        page.get_by_role("button", name="Remove plan.md").click()
        is_saved(page)
        page.reload()
        expect(page.locator("#files li")).to_have_count(0)


def test_an_answer_waits_for_its_files(browser: Browser, site: Site) -> None:
    """What is still being uploaded when somebody submits is part of the answer."""
    with at_dashboard(browser, site) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        page.locator("#text").fill("with a plan")
        is_saved(page)
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/files?*", hold)
        plan = FilePayload(name="plan.md", mimeType="text/markdown", buffer=b"# Plan\n")
        with page.expect_request("**/files?*"):
            page.locator("#choose").set_input_files([plan])
        page.locator("#submit").click()
        expect(page.locator("#submit")).to_be_disabled()
        held.pop().continue_()
        page.locator("#send button[value=yes]").click()
        expect(page.locator("p.receipt code")).to_be_visible()
        with site.store.read() as c:
            [mine] = [
                one
                for one in tasks_of(c, person_named(c, site.id, "subject", "S1").key)
                if one.ended
            ]
            assert len(last_answer(c, mine).files) == 1


def test_the_bar_fits_a_phone(browser: Browser, site: Site) -> None:
    """Whether the answer is saved is said in one line."""
    with at_dashboard(browser, site, viewport={"width": 390, "height": 844}) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        page.locator("#text").fill("an answer")
        is_saved(page)
        box = page.locator("#save-status").bounding_box()
        assert box
        assert box["height"] < 40
        bar = page.locator(".bar").bounding_box()
        assert bar
        assert bar["height"] < 120


def begin(page: Page, base: str, site: Site) -> Page:
    """Go to the first problem, and start it."""
    page.goto(f"{base}/p/{link_of(site)}")
    page.get_by_role("button", name="I agree").click()
    page.get_by_label("Industry").check()
    enter(page, "7")
    start(page)
    return page


def test_nothing_that_was_written_is_lost(browser: Browser, site: Site) -> None:
    """What could not be sent is kept in the browser, and comes back after the page is left."""
    with at_dashboard(browser, site) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        page.locator("#text").fill("first")
        is_saved(page)
        page.route("**/state", lambda route: route.abort())
        page.locator("#text").fill("second")
        expect(page.locator("#save-status[data-word=offline]")).to_be_visible()
        page.unroute("**/state")
        page.on("dialog", lambda dialog: dialog.accept())
        page.reload()
        is_ready(page)
        expect(page.locator("#text")).to_have_value("second")
        is_saved(page)
        page.reload()
        expect(page.locator("#text")).to_have_value("second")


def test_two_tabs(browser: Browser, site: Site) -> None:
    """The newer tab holds the clock; the older one can take it back, with what was written."""
    with at_dashboard(browser, site) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        page.locator("#text").fill("one")
        is_saved(page)
        other = page.context.new_page()
        other.goto(page.url)
        is_ready(other)
        until(lambda: spent(site)[0].holder, "the newer tab to hold the clock")
        other.locator("#text").fill("two")
        is_saved(other)
        page.bring_to_front()
        page.evaluate(BEAT)
        expect(page.locator("#cover h2")).to_have_text("Open elsewhere")
        expect(page.locator("#work")).to_be_hidden()
        page.locator("#resume").click()
        expect(page.locator("#text")).to_have_value("two")


def test_the_clock_of_a_closed_lid(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No beat, a frozen tab, and a pause are no work; of the limit only a pause is no part."""
    time = FakeTime(monkeypatch)
    with at_dashboard(browser, site) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        until(lambda: spent(site)[0].holder != "start", "the page to hold the clock")
        for seconds in (15, 15, 15, 600, 15, 30):
            time.passes(seconds)
            until(partial(is_told, page, site, time), "a beat")
        assert (spent(site)[1].work, spent(site)[1].away) == (90, 600)
        session = page.context.new_cdp_session(page)
        session.send("Page.setWebLifecycleState", {"state": "frozen"})
        time.passes(900)
        session.send("Page.setWebLifecycleState", {"state": "active"})
        with page.expect_response("**/clock"):
            page.evaluate(BEAT)
        assert abs(spent(site)[1].work - 90) <= 20
        with page.expect_response("**/clock"):
            page.locator("#pause").click()
        time.passes(300)
        with page.expect_response("**/clock"):
            page.locator("#resume").click()
        assert spent(site)[1].pause == 300
        page.reload()
        is_ready(page)
        expect(page.locator("#clock")).to_contain_text(re.compile(r"Time left3:\d\d"))
        time.passes(1800)

        def has_ended() -> bool:
            # A beat that was on its way when the time passed has the time before.
            if spent(site)[0].ended != "timeout":
                page.evaluate(BEAT)
            return spent(site)[0].ended == "timeout"

        until(has_ended, "the end")
        # Chromium does not close a context that begins to load another page.
        page.wait_for_url("**/solve?submitted=*")
        assert spent(site)[1].work < 300


def test_the_time_is_over(browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last draft counts, and the page leads on."""
    time = FakeTime(monkeypatch)
    with at_dashboard(browser, site) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        page.locator("#text").fill("as far as I came")
        is_saved(page)
        for _ in range(40):
            time.passes(44)
            until(partial(is_told, page, site, time), "a beat")
        time.passes(44)
        page.evaluate(BEAT)
        expect(page.locator("p.receipt")).to_contain_text("the time is over")
        assert spent(site)[0].ended == "timeout"


def test_the_time_is_over_on_the_server_first(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed after the end does not count, and the page leads on."""
    time = FakeTime(monkeypatch)
    with at_dashboard(browser, site) as dashboard:
        page = begin(dashboard.page, dashboard.base, site)
        page.locator("#text").fill("first words")
        is_saved(page)
        for _ in range(40):
            time.passes(44)
            with page.expect_response("**/clock"):
                page.evaluate(BEAT)
        time.passes(44)
        page.locator("#text").fill("last words")
        page.evaluate(BEAT)
        expect(page.locator("p.receipt")).to_contain_text("the time is over")
        with site.store.read() as c:
            [mine] = [
                one
                for one in tasks_of(c, person_named(c, site.id, "subject", "S1").key)
                if one.ended
            ]
            assert last_answer(c, mine).text == "first words"


def test_served_and_stored(tmp_path: Path) -> None:
    """The store of a served study knows its subjects before anybody came."""
    study = write_solving_study(tmp_path)
    with Served(study) as served:
        assert set(served.links) == {"J1", "J2", "J3", "S1", "S2", "S3"}
    store = store_of(locate_database(study, None), "solved")
    assert store is not None
    store.close()


def test_nothing_is_in_english_for_subjects(browser: Browser, tmp_path: Path) -> None:
    """No word of their pages, dialogs, and announcements is; all fit, though a third longer."""
    solving = "time_limit: 30\norder: fixed\npractice: P1\ntools: '1 + 1'"
    study = write_solving_study(tmp_path, problems=2, solving=solving)
    text = study.read_text().replace("title: A made-up study", "title: '1'")
    text = text.replace("experience_unit: years", "experience_unit: χρόνια")
    study.write_text(re.sub(r"title: Case \d", "title: '2'", text).replace("name: Zelda S1x", ""))
    for p in (1, 2):
        (tmp_path / f"p{p}.md").write_text("3 + 4\n")
    with Served(study, program=PROGRAM) as served:
        visit = Visit(browser, served, "S1", locale="el-GR", viewport=NARROW)
        page = visit.page
        page.goto(served.links["S1"])
        page.locator(".language-menu summary").click()
        page.locator(f"[name=language][value={LEFT}]").click()
        expect(page.locator(f"html[lang={LEFT}]")).to_be_visible()
        look_at(page, "about")
        page.locator("#experience").fill("7")
        page.locator("#about button").click()
        expect(page.locator("#problems")).to_be_visible()
        look_at(page, "list")
        page.locator("a.primary").click()
        expect(page.locator("form button.primary")).to_be_visible()
        look_at(page, "start")
        page.locator("form button.primary").click()
        is_ready(page)
        look_through(page)
        page.locator(".withdraw summary").click()
        look_at(page, "withdrawing")
        visit.close()


def look_through(page: Page) -> None:
    """Look at the states of a problem's page, up to submitting."""
    look_at(page, "problem")
    page.locator("#choose").set_input_files(FilePayload(name="1.2", mimeType="x/y", buffer=b"1"))
    expect(page.locator("#file-status")).to_contain_text("pdf, docx")
    look_at(page, "refused file")
    page.locator("#submit").click()
    expect(page.locator("#message")).to_be_visible()
    look_at(page, "nothing")
    page.keyboard.press("Escape")
    page.locator("#text").fill("5")
    expect(page.locator("#save-status[data-word=saved]")).to_be_visible()
    page.locator("#skip").click()
    look_at(page, "skipping")
    page.keyboard.press("Escape")
    page.locator("#pause").click()
    expect(page.locator("#cover")).to_be_visible()
    look_at(page, "paused")
    page.locator("#resume").click()
    page.locator("#text").fill("@abcdef")
    page.locator("#submit").click()
    expect(page.locator("#named")).to_be_visible()
    page.locator("#named-list").evaluate("list => list.replaceChildren()")
    look_at(page, "named")
    page.keyboard.press("Escape")
    page.locator("#text").fill("5")
    page.locator("#submit").click()
    expect(page.locator("#send")).to_be_visible()
    look_at(page, "sending")
    page.locator("#send button[value=yes]").click()
    expect(page.locator("p.receipt code")).to_be_visible()
    look_at(page, "submitted")


def look_at(page: Page, what: str) -> None:
    """Find what is in English, and what does not fit; the endings of files are the study's."""
    page.locator(".facts dd, #file-status").evaluate_all(
        "all => all.forEach(e => { e.textContent = e.textContent.replace(/\\w+(, \\w+)+/, '') })"
    )
    look(page, what)
