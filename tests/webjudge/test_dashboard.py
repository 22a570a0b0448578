"""The experimenter's dashboard: what it shows, hides, does and refuses."""

from __future__ import annotations

import csv
import datetime as dt
import re
import subprocess
import threading
from html import unescape
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from quem.errors import StudyWarning
from quem.store.exporting import submitted_rankings
from quem.store.location import DATABASE_VARIABLE
from quem.store.models import now
from quem.store.people import decline, person_named
from quem.store.state import Comparison, State
from quem.store.studies import reveal
from quem.store.work import tasks_of
from tests.served import all_ranked, write_judging_study
from tests.webjudge.sites import (
    SECRETS,
    SUBJECTS,
    SURE,
    SYSTEM,
    data_of,
    enter_as,
    enter_dashboard,
    everybody,
    gids,
    make_site,
    rank,
    rank_all,
    set_life,
    state_of,
    text_of,
    trail,
    write_site,
)
from webjudge import create_app
from webjudge.dashboard.overview import MOST_JUDGES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site


# What is shown while rankings are hidden.
PAGES = (
    *("", "/events", "/close", "/judges/new", "/people/1/erase", "/discard", "/reveal", "/open"),
    *("/pause", "/events.csv", "/judges/invitations", "/judges/reminders", "/people/1/reminder"),
)
RESULTS = ("/words", "/report/", "/report/report.html", "/report/ranks.csv")
DISCARD, REVEAL = {"word": "discard"}, {"word": "reveal"}
TOLD = State(
    ranked=(SUBJECTS[:2], SUBJECTS[2:]),
    cannot={SYSTEM: "Too long a story"},
    recognized=SUBJECTS[:1],
    comments={SUBJECTS[1]: "<b>Splendid</b> idea"},
    comment="All alike",
    comparisons=(Comparison(SUBJECTS[1], SUBJECTS[2], "better", "left", 4321.5),),
    placed_by=dict.fromkeys(SUBJECTS, "drag"),
    sure={SUBJECTS[1]: "fairly"},
)


def submitted(site: Site) -> int:
    with site.store.read() as c:
        return len(submitted_rankings(c, site.id))


@pytest.mark.usefixtures("run")
def test_the_life_of_a_study(dashboard: FlaskClient, site: Site) -> None:
    """A study is opened, closed and opened again; each page says where it is, and all is logged."""
    for path, form in (("close", SURE), ("reveal", REVEAL), ("pause", SURE)):
        assert dashboard.post(f"/dashboard/{path}", data=form).status_code == 422, "on trial"
    assert (state_of(site), trail(site)) == ("trial", [])
    assert "Test mode" in dashboard.get("/dashboard").text
    answer = dashboard.post("/dashboard/open")
    assert (answer.status_code, answer.location) == (303, "/dashboard")
    page = dashboard.get("/dashboard").text
    assert "Study open." in page
    assert "Close the study…" in page
    assert "Study open." not in dashboard.get("/dashboard").text, "said once"
    assert dashboard.post("/dashboard/close", data=SURE).status_code == 303
    assert "Rankings are final" in dashboard.get("/dashboard").text
    assert dashboard.post("/dashboard/open", data=SURE).location == "/dashboard"
    assert state_of(site) == "open"
    assert trail(site) == ["open", "closed", "open"]
    events = dashboard.get("/dashboard/events").text
    pattern = r"Study reopened .*after it was closed<.*Study closed<.*Study opened<"
    assert re.search(pattern, events, re.DOTALL)


@pytest.mark.parametrize(
    ("path", "form", "left"), [("discard-and-open", DISCARD, 0), ("open", {"trial": "keep"}, 1)]
)
def test_opening_asks_what_becomes_of_the_trial(
    dashboard: FlaskClient, site: Site, path: str, form: dict[str, str], left: int
) -> None:
    rank(site, "J1", "P1")
    question = dashboard.get("/dashboard/open").text
    assert "Keep 1 test ranking and open" in question
    assert 'href="/dashboard/discard-and-open"' in question
    assert dashboard.post("/dashboard/open", data=SURE).status_code == 422
    assert state_of(site) == "trial"
    assert dashboard.post(f"/dashboard/{path}", data=form).status_code == 303
    assert (submitted(site), state_of(site)) == (left, "open")
    rank(site, "J1", "P2")
    for again in ("discard", "discard-and-open"):
        assert dashboard.post(f"/dashboard/{again}", data=DISCARD).status_code == 422
    assert submitted(site) == left + 1, "a page from before deletes nothing"


def test_trial_rankings_are_discarded_only_on_trial(dashboard: FlaskClient, site: Site) -> None:
    rank(site, "J1", "P1")
    assert "1 test ranking" in dashboard.get("/dashboard/discard").text
    assert dashboard.post("/dashboard/discard", data=DISCARD).status_code == 303
    with site.store.read() as c:
        assert tasks_of(c, everybody(site)["J1"].key) == []


def test_revealing_is_logged_once(dashboard: FlaskClient, site: Site) -> None:
    set_life(site, "open")
    assert dashboard.get("/dashboard/words").status_code == 403
    for _ in range(2):
        assert dashboard.post("/dashboard/reveal", data=REVEAL).status_code == 303
    assert trail(site) == ["revealed"]
    assert "Open (rankings revealed)" in dashboard.get("/dashboard/words").text
    events = text_of(dashboard.get("/dashboard/events").text)
    assert "Rankings revealed while the study was open organizer" in events


def test_rankings_are_hidden_until_closed_or_revealed(
    dashboard: FlaskClient, site: Site, run: list[dict[str, Any]]
) -> None:
    """No page tells a solver's place, a comment, a reason or a recognized author before that."""
    rank(site, "J1", "P0", State(ranked=(("good",), ("bad",)), comment="Just practice"))
    rank(site, "J1", "P1", TOLD)
    rank(site, "J2", "P2")
    hidden = (*SECRETS, "Splendid", "Too long", "All alike", "Just practice", "recognized")
    for state in ("trial", "open", "paused"):
        if state != "trial":
            set_life(site, state)
        for path in PAGES:
            page = dashboard.get(f"/dashboard{path}").text
            assert not [word for word in hidden if word in page], path
        for path in RESULTS:
            answer = dashboard.get(f"/dashboard{path}")
            assert (answer.status_code, "hidden" in answer.text) == (403, True)
        assert dashboard.post("/dashboard/report/again").status_code == 403
    assert run == []


def test_progress_of_judges_and_groups(dashboard: FlaskClient, site: Site) -> None:
    rank(site, "J1", "P0")
    rank_all(site, "J1")
    rank(site, "J2", "P1", kind="save")
    page = dashboard.get("/dashboard").text
    rows = re.findall(r'<tr role="row".*?</tr>', page, re.DOTALL)[1:]
    assert ["2 of 3" in text_of(rows[0]), "0 of 3" in text_of(rows[1])] == [True, True]
    grid = page.partition('id="groups"')[2].split("<tr")[2:]
    parts = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in grid]
    cells = {row[0]: row for row in ([text_of(part) for part in row] for row in parts)}
    assert cells["P0 practice"] == ["P0 practice", "✓ Submitted", "○ Not started"]
    first, second = cells["P1 Problem 1"], cells["P2 Problem 2"]
    assert "✓ Submitted" in first[1]
    assert "◐ In progress" in first[2]
    again = [cell for row in (first, second) for cell in row if "repeat: ○ Not started" in cell]
    assert len(again) == 2
    assert "2 of 6 rankings submitted" in text_of(page)
    assert "Equally good" not in page


def test_warnings(dashboard: FlaskClient, site: Site) -> None:
    page = dashboard.get("/dashboard").text
    assert "2 judges have no link yet" in page
    assert "has changed since" not in page
    dashboard.post("/dashboard/judges/links", data=SURE)
    rank(site, "J1", "P1")
    object.__setattr__(site, "warnings", (StudyWarning("identity", "line 3 names <ACME>"),))
    assert "line 3 names &lt;ACME&gt;" in dashboard.get("/dashboard").text
    (site.path.parent / "solutions" / "P1" / f"{SYSTEM}.md").write_text("Something else.\n")
    page = dashboard.get("/dashboard").text
    assert "no link yet" not in page
    assert f"the changed solution of {SYSTEM} on P1 counts as a new one" in page


def test_events_are_newest_first_and_limited(dashboard: FlaskClient, site: Site) -> None:
    rank(site, "J1", "P0")
    rank(site, "J1", "P1")
    page = dashboard.get("/dashboard/events").text
    assert "Showing the latest" not in page
    assert page.index("J1 submitted P1") < page.index("J1 submitted P0 (practice)")
    with site.store.write() as c:
        for _ in range(200):
            reveal(c, site.id, "shell")
    page = dashboard.get("/dashboard/events").text
    assert page.count("Rankings revealed") == 200
    assert "Showing the latest 200" in page
    assert "submitted" not in page


def test_a_study_is_paused_and_resumed(dashboard: FlaskClient, site: Site) -> None:
    set_life(site, "open")
    rank(site, "J1", "P1")
    question = text_of(dashboard.get("/dashboard/pause").text)
    assert "Judge J1 has 2 tasks left; Judge J2 has not started." in question
    dashboard.post("/dashboard/pause", data={**SURE, "until": " Monday, 9:00 "})
    assert "They see “Paused until Monday, 9:00”." in text_of(dashboard.get("/dashboard").text)
    assert 'value="Monday, 9:00"' in dashboard.get("/dashboard/pause").text
    for until in ("a\nb", "x" * 101):
        refused = dashboard.post("/dashboard/pause", data={**SURE, "until": until})
        assert refused.status_code == 422
    dashboard.post("/dashboard/pause", data=SURE)
    assert "They see no date." in dashboard.get("/dashboard").text
    assert dashboard.post("/dashboard/open", data=SURE).location == "/dashboard"
    assert trail(site) == ["paused", "paused", "open"]
    events = text_of(dashboard.get("/dashboard/events").text)
    assert re.search("Study resumed .*Study paused .*Study paused until Monday, 9:00", events)


@pytest.mark.usefixtures("run")
def test_what_needs_doing(tmp_path: Path) -> None:
    """Each state has what it needs, worst first; each with a reason and one button."""
    site = make_site(tmp_path, more="deadline: 2031-12-12")
    dashboard = enter_dashboard(create_app(site), site)
    assert doing(dashboard) == [
        *("10 of 10 solutions are not reviewed", "2 judges have no link yet"),
        *("Try the pages once as a judge", "Open the study"),
    ]
    dashboard.post("/dashboard/judges/links", data=SURE)
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
    with site.store.read() as c:
        tasks = tasks_of(c, everybody(site)["J1"].key)
    rank(site, "J1", next(one.problem for one in tasks if one.occasion == 2), occasion=2)
    assert doing(dashboard) == ["Judge J2 declined", "All judges have finished"]
    set_life(site, "closed")
    assert doing(dashboard) == []
    site.troubles.update(disk="The disk is full.", more="And more.")
    (tmp_path / "solutions" / "P1" / f"{SYSTEM}.md").write_text(f"The work of {SYSTEM}.\n")
    assert doing(dashboard) == ["Server problem", "The study has changed since judges saw it"]
    page = text_of(dashboard.get("/dashboard").text)
    assert "The disk is full. And more." in page
    site.store.close()


def test_a_deadline_passes(tmp_path: Path) -> None:
    site = make_site(tmp_path, more="deadline: 2001-02-03")
    dashboard = enter_dashboard(create_app(site), site)
    dashboard.post("/dashboard/judges/links", data=SURE)
    set_life(site, "open")
    page = text_of(dashboard.get("/dashboard").text)
    assert "The deadline has passed It was 3 February 2001; 6 rankings are not" in page
    site.store.close()


def test_the_log_as_a_table(dashboard: FlaskClient, site: Site) -> None:
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
    part = dashboard.get("/dashboard").text.partition('<ul class="todo">')[2]
    items = part.partition("</section>")[0].split('<li><span class="sign')[1:]
    assert all(item.count('class="btn') == 1 and "muted" in item for item in items)
    return [unescape(re.findall("<b>(.*?)</b>", item)[0]) for item in items]


def test_what_judges_wrote(dashboard: FlaskClient, site: Site) -> None:
    rank(site, "J1", "P1", TOLD)
    rank(site, "J2", "P2")
    set_life(site, "closed")
    page = dashboard.get("/dashboard/words").text
    for words in ("Judge J1", "All alike", "&lt;b&gt;Splendid&lt;/b&gt; idea", "Too long a story"):
        assert words in page
    # How an order came about is no comment.
    assert not [word for word in ("4321", "drag", "better") if word in page]
    assert (page.count("how sure"), page.count("recognized the author")) == (1, 1)
    assert not [word for word in ("Judge J2", "Problem 2") if word in page]


def test_the_report_is_made_once(
    site: Site, app: Flask, dashboard: FlaskClient, run: list[dict[str, Any]]
) -> None:
    """Many requests at the same time run the analysis once; new rankings run it again."""
    rank_all(site, "J1")
    set_life(site, "closed")
    cookie = dashboard.get_cookie(f"quem-dashboard-{site.key}")
    assert cookie
    browsers = [app.test_client() for _ in range(6)]
    pages: list[str] = []
    threads = []
    for browser in browsers:
        browser.set_cookie(cookie.key, cookie.value)
        ask = lambda b=browser: pages.append(b.get("/dashboard/report/").text)  # noqa: E731
        threads.append(threading.Thread(target=ask))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["run 1</template>" in page for page in pages] == [True] * 6
    [one] = run
    # The database is named in the environment alone, nothing can be typed, and there is a limit.
    assert not [word for word in one["command"] if "sqlite" in word]
    assert one["env"][DATABASE_VARIABLE] == site.store.place.url
    assert one["stdin"] == subprocess.DEVNULL
    assert one["timeout"] > 0
    assert dashboard.get("/dashboard/report/report.html").text == "run 1"
    set_life(site, "open")
    rank(site, "J2", "P1")
    set_life(site, "closed")
    dashboard.get("/dashboard/report/")
    assert dashboard.get("/dashboard/report/report.html").text == "run 2"
    dashboard.post("/dashboard/report/again")
    dashboard.get("/dashboard/report/")
    assert len(run) == 3


@pytest.mark.usefixtures("run")
def test_only_files_of_the_report_are_sent(dashboard: FlaskClient, site: Site) -> None:
    set_life(site, "closed")
    dashboard.get("/dashboard/report/")
    for name in "../study.yaml ..%2Fstudy.yaml study.yaml %2Fetc%2Fpasswd other.csv .".split():
        assert dashboard.get(f"/dashboard/report/{name}").status_code == 404
    assert dashboard.get("/dashboard/report/report.html").status_code == 200


def test_a_long_analysis_is_waited_for(
    dashboard: FlaskClient,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    run: list[dict[str, Any]],
) -> None:
    """While it runs a page says so and asks again; when it takes too long that is told."""
    go = threading.Event()
    quick = subprocess.run

    def slow(*args: Any, **options: Any) -> Any:  # noqa: ANN401
        go.wait(10)
        return quick(*args, **options)

    monkeypatch.setattr(subprocess, "run", slow)
    monkeypatch.setattr("webjudge.dashboard.results._WAIT_SECONDS", 0.05)
    set_life(site, "closed")
    answer = dashboard.get("/dashboard/report/")
    assert "Analysis running" in answer.text
    assert answer.headers["Refresh"]
    go.set()
    monkeypatch.setattr("webjudge.dashboard.results._WAIT_SECONDS", 10)
    assert "run 1" in dashboard.get("/dashboard/report/").text
    assert len(run) == 1

    def endless(command: list[str], **options: Any) -> None:  # noqa: ANN401
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", endless)
    dashboard.post("/dashboard/report/again")
    assert "took longer than 10 minutes" in dashboard.get("/dashboard/report/").text


@pytest.mark.parametrize("code", [3, 2, -9])
def test_a_broken_analysis_is_no_broken_page(
    dashboard: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A bug in the analysis is told without its traceback, and can be tried again."""
    set_life(site, "closed")
    ended = subprocess.CompletedProcess([], code, "", "Traceback: secret\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    page = dashboard.get("/dashboard/report/").text
    assert "The analysis failed" in page
    assert "Try again" in page
    assert "secret" not in page


def test_a_real_report(dashboard: FlaskClient, site: Site) -> None:
    """The analysis of what judges submitted is shown with its files, styled and without scripts."""
    set_life(site, "open")
    with site.store.write() as c:
        reveal(c, site.id, "organizer:organizer")
    page = _waited(dashboard)
    assert "No report yet" in page
    assert "no ranking is submitted yet" in page
    rank_all(site, "J1", "J2")
    page = _waited(dashboard)
    for words in ("Deep Blunder 7.7.7-rc9", "session-open", "not final"):
        assert words in page
    names = re.findall(r'download="([\w.-]+)"', page)
    assert {"report.html", "analysis.json", "ranks.csv", "line.svg"} <= set(names)
    for name in names:
        answer = dashboard.get(f"/dashboard/report/{name}")
        assert answer.status_code == 200
        policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'none'" in policy
        assert "style-src 'unsafe-inline'" in policy
        assert answer.headers["Cache-Control"] == "no-store"
    assert trail(site) == ["revealed"]


def _waited(dashboard: FlaskClient) -> str:
    for _ in range(60):  # of 4 seconds
        page = dashboard.get("/dashboard/report/").text
        if "Analysis running" not in page:
            return page
    pytest.fail("the analysis takes too long")


MOST_ROUND_TRIPS = 11
SAVES = 10


def test_round_trips_of_a_save(
    tmp_path: Path, opened: Callable[..., Site], new_postgres: Callable[[], str]
) -> None:
    """Each time that the server is waited for is in the trace of its connection."""
    site = opened(write_judging_study(tmp_path, judging="{repeat: 1}"), new_postgres())
    client = enter_as(create_app(site), site, "J0")
    gid = gids(client)[0]
    data = data_of(client, gid)
    revisions = [data["revision"]]

    def save(number: int) -> None:
        state = all_ranked(data["labels"][:: 1 if number % 2 else -1])
        body = {"base": revisions[-1], "client": "tab-00000001", "change": number + 1}
        # What a page sends: a little time, and what was in view.
        times = {"seconds": 0.001, "views": {data["labels"][0]: 0.001}}
        body |= {"state": state, "layout": data["layout"], "submit": False, **times}
        answer = client.put(f"/judge/g/{gid}/state", json=body)
        assert answer.status_code == 200, answer.text
        revisions.append(answer.get_json()["revision"])

    # By then each statement is prepared on the server, and the visit is noted.
    for number in range(SAVES):
        save(number)
    with (tmp_path / "trace.txt").open("w+") as trace:

        def follow(connection: Any, *_: object) -> None:  # noqa: ANN401  a DBAPI connection
            connection.pgconn.trace(trace.fileno())

        event.listen(site.store.engine, "checkout", follow)
        for number in range(SAVES, 2 * SAVES):
            save(number)
        event.remove(site.store.engine, "checkout", follow)
        site.store.close()
        trace.seek(0)
        waits = trace.read().count("ReadyForQuery")
    assert SAVES <= waits <= SAVES * MOST_ROUND_TRIPS


def test_the_overview_of_many_judges(tmp_path: Path, opened: Callable[..., Site]) -> None:
    """One page of them is shown, by as many statements as for few; all can be found and reached."""
    statements = {}
    for count in (60, 120):
        names = [f"J{number:03}" for number in range(count)]
        site = opened(write_site(tmp_path / str(count), judges=names))
        rank(site, "J001", "P1")
        dashboard = enter_dashboard(create_app(site), site)

        def shown(path: str = "", at: FlaskClient = dashboard) -> str:
            return unescape(at.get(f"/dashboard{path}").text)

        shown()
        made: list[str] = []
        event.listen(site.store.engine, "before_cursor_execute", lambda *a, m=made: m.append(a[2]))
        page = shown()
        statements[count] = len(made)
        assert page.count('<tr role="row"') == 1 + MOST_JUDGES
        assert f"of {3 * count} rankings" in page
        assert ("J049" in page, "J050" in page) == (True, False)
        (following,) = re.findall(r'rel="next" href="/dashboard([^"]+)"', page)
        page = shown(following)
        assert ("J049" in page, "J050" in page) == (False, True)
        (back,) = re.findall(r'rel="prev" href="/dashboard([^"]+)"', page)
        assert "J049" in shown(back)
        assert shown("?find=j055").count('<tr role="row"') == 2
        assert "contains “nobody”" in shown("?find=nobody")
        last = shown("?by=least&after=1.0")
        assert re.findall(r"<th scope=\"row\" role=\"rowheader\">([^<]+)", last) == ["Judge J001"]
        assert "J049" in shown("?after=x"), "what is no place is the beginning"
        assert shown("/judges/invitations").count("No link") == MOST_JUDGES
        table = dashboard.post("/dashboard/judges/links", data=SURE)
        rows = list(csv.DictReader(StringIO(table.text)))
        assert [row["judge"] for row in rows] == names
        assert all(row["link"] in row["message"] for row in rows)
        reminders = shown("/judges/reminders")
        assert reminders.count('<li class="card mt"') == MOST_JUDGES
        (after,) = re.findall(r'href="(\?after=[^"]+)"', reminders)
        more = shown(f"/judges/reminders{after}").count('<li class="card mt"')
        assert more == min(count - MOST_JUDGES, MOST_JUDGES)
    assert statements[60] == statements[120]
