"""The experimenter's dashboard: what it shows, hides, does and refuses."""

from __future__ import annotations

import csv
import datetime as dt
import re
from html import unescape
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from quem.errors import StudyWarning
from quem.store.audit_log import audit_events
from quem.store.exporting import submitted_rankings
from quem.store.models import now
from quem.store.people import decline, erase, people_of, person_named
from quem.store.state import Comparison, State, Verdict
from quem.store.studies import reveal, status_of
from quem.store.work import tasks_of
from tests.webjudge.sites import (
    SECRETS,
    SUBJECTS,
    SYSTEM,
    enter_as,
    enter_dashboard,
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

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

PAGES = (
    "/dashboard",
    "/dashboard/events",
    "/dashboard/close",
    "/dashboard/judges/new",
    "/dashboard/people/1/erase",
)
# What shows how far judges are.
PROGRESS = (
    "/dashboard/open",
    "/dashboard/pause",
    "/dashboard/events.csv",
    "/dashboard/judges/invitations",
    "/dashboard/judges/reminders",
    "/dashboard/people/1/reminder",
)
RESULTS = (
    "/dashboard/words",
    "/dashboard/report/",
    "/dashboard/report/report.html",
    "/dashboard/report/ranks.csv",
)
POSTS = (
    *(
        "/dashboard/open",
        "/dashboard/close",
        "/dashboard/discard",
        "/dashboard/reveal",
        "/dashboard/report/again",
    ),
    *("/dashboard/discard-and-open", "/dashboard/pause", "/dashboard/leave"),
    *("/dashboard/judges/new", "/dashboard/judges/links", "/dashboard/people/1/link"),
    *("/dashboard/people/1/revoke", "/dashboard/people/1/erase"),
)
SURE = {"sure": "yes"}
DISCARD, REVEAL = {"word": "discard"}, {"word": "reveal"}
TOLD = State(
    ranked=(SUBJECTS[:2], SUBJECTS[2:]),
    cannot={SYSTEM: "Too long a story"},
    recognized=SUBJECTS[:1],
    comments={SUBJECTS[1]: "<b>Splendid</b> idea"},
    comment="All alike",
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study with practice and a repeated group."""
    site = make_site(tmp_path, judging="{repeat: 1, practice: P0}")
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


@pytest.fixture
def dashboard(app: Flask, site: Site) -> FlaskClient:
    """A browser at the dashboard."""
    return enter_dashboard(app, site)


def state_of(site: Site) -> str:
    """Where the study is in its life."""
    with site.store.read() as c:
        return status_of(c, site.id).state


def trail(site: Site) -> list[str]:
    """What was done at the dashboard, oldest first."""
    with site.store.read() as c:
        events = audit_events(c, site.id, 1000)
    return [event.what for event in reversed(events) if event.actor == "organizer"]


def key_of(site: Site, judge_id: str) -> int:
    """The key of a judge in the store."""
    with site.store.read() as c:
        return next(judge.key for judge in people_of(c, site.id, "judge") if judge.id == judge_id)


def ids_of(site: Site) -> list[str]:
    """The ids of all judges."""
    with site.store.read() as c:
        return [judge.id for judge in people_of(c, site.id, "judge")]


@pytest.mark.parametrize("path", [*PAGES, *RESULTS])
def test_pages_need_the_dashboards_cookie(app: Flask, site: Site, path: str) -> None:
    """Neither a stranger nor a judge sees any page of the dashboard."""
    set_life(site, "closed")
    for client in (app.test_client(), enter_as(app, site, "J1")):
        answer = client.get(path)
        assert answer.status_code == 401
        assert "ZORN" not in answer.text


@pytest.mark.parametrize("path", POSTS)
def test_actions_need_the_dashboards_cookie_and_page(app: Flask, site: Site, path: str) -> None:
    """Nothing is done for a stranger, for a judge, or for a page of another site."""
    strangers = (app.test_client(), enter_as(app, site, "J1"))
    dashboard = enter_dashboard(app, site)
    before = len(ids_of(site)), state_of(site), trail(site)
    form = {"sure": "yes", "id": "J7", "trial": "keep", "word": "discard"}
    for client in strangers:
        assert client.post(path, data=form).status_code == 401
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert dashboard.post(path, data=form, headers=headers).status_code == 403
    assert (len(ids_of(site)), state_of(site), trail(site)) == before


def test_the_life_of_a_study(
    dashboard: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study is opened, closed and opened again; each page says where it is, and all is logged."""
    fake_analysis(monkeypatch)
    assert "Test mode" in dashboard.get("/dashboard").text
    answer = dashboard.post("/dashboard/open")
    assert (answer.status_code, answer.location) == (303, "/dashboard")
    page = dashboard.get(answer.location).text
    assert "Study open." in page
    assert "Close the study…" in page
    assert "Study open." not in dashboard.get(answer.location).text, "said once"
    assert "Close the study?" in dashboard.get("/dashboard/close").text
    assert dashboard.post("/dashboard/close", data=SURE).status_code == 303
    assert "Rankings are final" in dashboard.get("/dashboard").text
    assert "Reopen the study?" in dashboard.get("/dashboard/open").text
    assert dashboard.post("/dashboard/open", data=SURE).location == "/dashboard"
    assert state_of(site) == "open"
    assert trail(site) == ["open", "closed", "open"]
    events = dashboard.get("/dashboard/events").text
    pattern = r"Study reopened .*after it was closed<.*Study closed<.*Study opened<"
    assert re.search(pattern, events, re.DOTALL)


@pytest.mark.parametrize(
    ("path", "form", "left"),
    [("discard-and-open", {"word": "discard"}, 0), ("open", {"trial": "keep"}, 1)],
)
def test_opening_asks_what_becomes_of_the_trial(
    dashboard: FlaskClient, site: Site, path: str, form: dict[str, str], left: int
) -> None:
    """With trial rankings a study opens only once it is said whether they are kept."""
    rank(site, "J1", "P1")
    question = dashboard.get("/dashboard/open").text
    assert "Keep 1 test ranking and open" in question
    assert "Delete 1 test ranking and open…" in question
    refused = dashboard.post("/dashboard/open", data=SURE)
    assert refused.status_code == 422
    assert "test rankings" in refused.text
    assert state_of(site) == "trial"
    assert dashboard.post(f"/dashboard/{path}", data=form).status_code == 303
    with site.store.read() as c:
        assert len(submitted_rankings(c, site.id)) == left
    assert state_of(site) == "open"


def test_trial_rankings_are_discarded_only_on_trial(dashboard: FlaskClient, site: Site) -> None:
    """A page that was loaded before the study opened cannot delete rankings."""
    rank(site, "J1", "P1")
    assert "1 test ranking" in dashboard.get("/dashboard/discard").text
    assert dashboard.post("/dashboard/discard", data=DISCARD).status_code == 303
    with site.store.read() as c:
        assert tasks_of(c, key_of(site, "J1")) == []
    dashboard.post("/dashboard/open")
    rank(site, "J1", "P1")
    for path in ("/dashboard/discard", "/dashboard/discard-and-open"):
        assert dashboard.post(path, data=DISCARD).status_code == 422
    with site.store.read() as c:
        assert len(submitted_rankings(c, site.id)) == 1


def test_closing_and_revealing_fit_the_state(dashboard: FlaskClient, site: Site) -> None:
    """A study on trial is neither closed nor revealed."""
    assert dashboard.post("/dashboard/close", data=SURE).status_code == 422
    assert dashboard.post("/dashboard/reveal", data=REVEAL).status_code == 422
    assert dashboard.post("/dashboard/pause", data=SURE).status_code == 422
    assert (state_of(site), trail(site)) == ("trial", [])


def test_revealing_is_logged_once(dashboard: FlaskClient, site: Site) -> None:
    """The log says that rankings were revealed, by whom, and that the study was open."""
    set_life(site, "open")
    assert "logged" in dashboard.get("/dashboard/reveal").text
    assert dashboard.get("/dashboard/words").status_code == 403
    for _ in range(2):
        assert dashboard.post("/dashboard/reveal", data=REVEAL).status_code == 303
    assert trail(site) == ["revealed"]
    assert dashboard.get("/dashboard/words").status_code == 200
    assert "rankings are revealed" in dashboard.get("/dashboard").text
    assert "Open (rankings revealed)" in dashboard.get("/dashboard/words").text
    pattern = r"Rankings revealed <b[^>]*>while the study was open</b></span> <span[^>]*>organizer<"
    assert re.search(pattern, dashboard.get("/dashboard/events").text)


def test_rankings_are_hidden_until_closed_or_revealed(
    dashboard: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No page tells a solver's place, a comment, a reason or a recognized author before that."""
    run = fake_analysis(monkeypatch)
    rank(site, "J1", "P0", State(ranked=(("good",), ("bad",)), comment="Just practice"))
    rank(site, "J1", "P1", TOLD)
    rank(site, "J2", "P2")
    for state in ("trial", "open", "paused"):
        if state != "trial":
            set_life(site, state)
        for path in (*PAGES, *PROGRESS, "/dashboard/discard", "/dashboard/reveal"):
            page = dashboard.get(path).text
            hidden = (*SECRETS, "Splendid", "Too long", "All alike", "Just practice", "recognized")
            assert not [word for word in hidden if word in page], path
        for path in RESULTS:
            answer = dashboard.get(path)
            assert answer.status_code == 403
            assert "hidden" in answer.text
        assert dashboard.post("/dashboard/report/again").status_code == 403
    assert run == []


def test_progress_of_judges_and_groups(dashboard: FlaskClient, site: Site) -> None:
    """The overview tells what is new, begun and submitted, practice and repetition apart."""
    rank(site, "J1", "P0")
    rank_all(site, "J1")
    rank(site, "J2", "P1", kind="save")
    page = dashboard.get("/dashboard").text
    rows = re.findall(r'<tr role="row".*?</tr>', page, re.DOTALL)[1:]
    plain = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]
    assert "2 of 3" in plain[0]
    assert "0 of 3" in plain[1]
    grid = page.partition('id="groups"')[2]
    cells = {row[0]: row for row in (_cells(html) for html in grid.split("<tr")[2:])}
    assert cells["P0 practice"] == ["P0 practice", "✓ Submitted", "○ Not started"]
    first, second = cells["P1 Problem 1"], cells["P2 Problem 2"]
    assert "✓ Submitted" in first[1]
    assert "◐ In progress" in first[2]
    again = [cell for row in (first, second) for cell in row if "repeat: ○ Not started" in cell]
    assert len(again) == 2
    assert re.search(r"2 <small[^>]*>of 6 rankings submitted", page)
    assert "Equally good" not in page


def test_how_many_answers_are_equally_good(dashboard: FlaskClient, site: Site) -> None:
    """The share is seen while the study is open: it reveals no rank."""
    solvers = next(group.solvers for group in site.plan.groups if group.problem == "P1")

    def answer(verdict: Verdict) -> Comparison:
        return Comparison(solvers[0], solvers[1], verdict, "left", 2.5)

    answers = (answer("equal"), answer("better"), answer("equal"), answer("equal"))
    ranked = tuple((solver,) for solver in solvers)
    rank(site, "J1", "P1", State(ranked=ranked, comparisons=answers))
    assert "“Equally good”: 75% of 4 answers" in text_of(dashboard.get("/dashboard").text)


def _cells(row: str) -> list[str]:
    parts = re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", part).split()) for part in parts]


def test_warnings(tmp_path: Path) -> None:
    """Changed solutions, doubts of the site and judges without links are told; others are not."""
    site = make_site(tmp_path)
    app = create_app(site)
    dashboard = enter_dashboard(app, site)
    page = dashboard.get("/dashboard").text
    assert "2 judges have no link yet" in page
    assert "has changed since" not in page
    assert "to look at" not in page
    dashboard.post("/dashboard/judges/links", data={"sure": "yes"})
    rank(site, "J1", "P1")
    object.__setattr__(site, "warnings", (StudyWarning("identity", "line 3 names <ACME>"),))
    assert "line 3 names &lt;ACME&gt;" in dashboard.get("/dashboard").text
    (tmp_path / "solutions" / "P1" / f"{SYSTEM}.md").write_text("Something else.\n")
    page = dashboard.get("/dashboard").text
    assert "no link yet" not in page
    assert "The study has changed since judges saw it" in page
    assert f"the changed solution of {SYSTEM} on P1 counts as a new one" in page
    site.store.close()


def test_a_study_without_judges(tmp_path: Path) -> None:
    """Such a study can be looked at, and judges added."""
    site = make_site(tmp_path, judges=())
    dashboard = enter_dashboard(create_app(site), site)
    assert "No judges yet" in dashboard.get("/dashboard").text
    assert "No new links" in dashboard.post("/dashboard/judges/links", data={"sure": "yes"}).text
    dashboard.post("/dashboard/judges/new", data={"id": "J1", "sure": "yes"})
    assert "0 of 3" in dashboard.get("/dashboard").text
    site.store.close()


def test_events_are_newest_first_and_limited(dashboard: FlaskClient, site: Site) -> None:
    """At most 200 events are shown, with a note that there are more."""
    rank(site, "J1", "P0")
    rank(site, "J1", "P1")
    assert "Showing the latest" not in dashboard.get("/dashboard/events").text
    page = dashboard.get("/dashboard/events").text
    assert page.index("J1 submitted P1") < page.index("J1 submitted P0 (practice)")
    with site.store.write() as c:
        for _ in range(200):
            reveal(c, site.id, "shell")
    page = dashboard.get("/dashboard/events").text
    assert page.count("Rankings revealed") == 200
    assert "Showing the latest 200" in page
    assert "submitted" not in page


def test_a_study_is_paused_and_resumed(dashboard: FlaskClient, site: Site) -> None:
    """The organizer says until when, can change it, and everything is logged."""
    set_life(site, "open")
    rank(site, "J1", "P1")
    question = text_of(dashboard.get("/dashboard/pause").text)
    assert "Judge J1 has 2 tasks left; Judge J2 has not started." in question
    answer = dashboard.post("/dashboard/pause", data={**SURE, "until": " Monday, 9:00 "})
    assert answer.location == "/dashboard"
    page = text_of(dashboard.get(answer.location).text)
    assert "Study paused." in page
    assert "Judges cannot rank at the moment They see “Paused until Monday, 9:00”." in page
    assert 'value="Monday, 9:00"' in dashboard.get("/dashboard/pause").text
    for until in ("a\nb", "x" * 101):
        refused = dashboard.post("/dashboard/pause", data={**SURE, "until": until})
        assert refused.status_code == 422
        assert "at most 100 characters" in refused.text
    dashboard.post("/dashboard/pause", data=SURE)
    assert "They see no date." in dashboard.get("/dashboard").text
    assert "Resume the study?" in dashboard.get("/dashboard/open").text
    assert dashboard.post("/dashboard/open", data=SURE).location == "/dashboard"
    assert trail(site) == ["paused", "paused", "open"]
    events = text_of(dashboard.get("/dashboard/events").text)
    assert re.search("Study resumed .*Study paused .*Study paused until Monday, 9:00", events)


def test_closing_names_who_is_unfinished(dashboard: FlaskClient, site: Site) -> None:
    """Who has finished, declined, or was erased is not waited for."""
    set_life(site, "open")
    rank(site, "J1", "P1")
    assert "Judge J2 has not started." in text_of(dashboard.get("/dashboard/close").text)
    with site.store.write() as c:
        decline(c, person_named(c, site.id, "judge", "J2"))
        erase(c, person_named(c, site.id, "judge", "J1"), "shell")
    question = text_of(dashboard.get("/dashboard/close").text)
    assert "has not started" not in question
    assert "left" not in question


def test_what_needs_doing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each state has what it needs, worst first; each with a reason and one button."""
    fake_analysis(monkeypatch)
    site = make_site(tmp_path, more="deadline: 2031-12-12")
    dashboard = enter_dashboard(create_app(site), site)
    assert doing(dashboard) == [
        *("10 of 10 solutions are not reviewed", "2 judges have no link yet"),
        *("Try the pages once as a judge", "Open the study"),
    ]
    dashboard.post("/dashboard/judges/links", data={"sure": "yes"})
    set_life(site, "open")
    days = (dt.date(2031, 12, 12) - now().date()).days
    rest = [f"{days} days left"]
    assert doing(dashboard) == rest
    assert "2 judges have not opened their links." in dashboard.get("/dashboard").text
    with site.store.write() as c:
        decline(c, person_named(c, site.id, "judge", "J2"))
    assert doing(dashboard) == ["Judge J2 declined", *rest]
    page = text_of(dashboard.get("/dashboard").text)
    assert f"{days} days left The deadline is 12 December 2031; 3 rankings are not" in page
    assert "Judge J1 has not opened their link." in page
    rank_all(site, "J1")
    rank(site, "J1", repeated(site), occasion=2)
    assert doing(dashboard) == ["Judge J2 declined", "All judges have finished"]
    set_life(site, "closed")
    assert doing(dashboard) == []
    assert "</template>" in dashboard.get("/dashboard").text
    site.troubles.update(disk="The disk is full.", more="And more.")
    (tmp_path / "solutions" / "P1" / f"{SYSTEM}.md").write_text(f"The work of {SYSTEM}.\n")
    assert doing(dashboard) == ["Server problem", "The study has changed since judges saw it"]
    page = text_of(dashboard.get("/dashboard").text)
    assert "The disk is full. And more." in page
    assert "possible problem" not in page
    site.store.close()


def test_a_deadline_passes(tmp_path: Path) -> None:
    """Afterwards the page says so, and nothing closes."""
    site = make_site(tmp_path, more="deadline: 2001-02-03")
    dashboard = enter_dashboard(create_app(site), site)
    dashboard.post("/dashboard/judges/links", data={"sure": "yes"})
    set_life(site, "open")
    page = text_of(dashboard.get("/dashboard").text)
    assert "The deadline has passed It was 3 February 2001; 6 rankings are not" in page
    site.store.close()


def test_the_log_as_a_table(dashboard: FlaskClient, site: Site) -> None:
    """All events, oldest first, with who did them and what they say."""
    set_life(site, "open")
    rank(site, "J1", "P1")
    answer = dashboard.get("/dashboard/events.csv")
    rows = list(csv.DictReader(StringIO(answer.text)))
    assert [row["event"] for row in rows] == ["link-made", "open", "submit"]
    assert (rows[1]["by"], rows[1]["text"]) == ("command line", "Study opened")
    assert (rows[2]["person"], rows[2]["problem"]) == ("J1", "P1")
    assert dt.datetime.fromisoformat(rows[2]["time"]).tzinfo is not None
    assert "attachment" in answer.headers["Content-Disposition"]


def doing(dashboard: FlaskClient) -> list[str]:
    """What the dashboard says needs doing; each with a reason and a button."""
    part = dashboard.get("/dashboard").text.partition('<ul class="todo">')[2]
    items = part.partition("</section>")[0].split('<li><span class="sign')[1:]
    assert all(item.count('class="btn') == 1 and "muted" in item for item in items)
    return [unescape(re.findall("<b>(.*?)</b>", item)[0]) for item in items]


def repeated(site: Site) -> str:
    """The problem that J1 is given again."""
    with site.store.read() as c:
        ballots = tasks_of(c, person_named(c, site.id, "judge", "J1").key)
    return next(ballot.problem for ballot in ballots if ballot.occasion == 2)


def text_of(page: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
