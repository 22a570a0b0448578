"""The experimenter's dashboard: what it shows, hides, does and refuses."""

from __future__ import annotations

import csv
import datetime as dt
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from quem.store.exporting import submitted_rankings
from quem.store.location import DATABASE_VARIABLE
from quem.store.models import now
from quem.store.people import decline, person_named
from quem.store.state import Comparison, State
from quem.store.work import tasks_of
from tests.patience import SECONDS
from tests.webjudge.sites import (
    SECRETS,
    SUBJECTS,
    SURE,
    SYSTEM,
    enter_dashboard,
    everybody,
    rank,
    rank_all,
    set_life,
    state_of,
    text_of,
    write_site,
)
from webjudge import create_app
from webjudge.dashboard.overview import MOST_JUDGES
from webjudge.wording import duration

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
DISCARD = {"word": "discard"}
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


@pytest.mark.parametrize(
    ("path", "form", "left"),
    [("discard-and-open", DISCARD, 0), ("open", {**SURE, "trial": "keep"}, 1)],
)
def test_opening_asks_what_becomes_of_the_trial(
    dashboard: FlaskClient, site: Site, path: str, form: dict[str, str], left: int
) -> None:
    rank(site, "J1", "P1")
    question = dashboard.get("/dashboard/open").text
    assert "Keep 1 test ranking and open" in question
    assert 'href="/dashboard/discard-and-open"' in question
    for path_asked in ("open", path):
        assert (
            "10 of 10 solutions are not reviewed" in dashboard.get(f"/dashboard/{path_asked}").text
        )
    assert dashboard.post("/dashboard/open", data=SURE).status_code == 422
    assert state_of(site) == "trial"
    assert dashboard.post(f"/dashboard/{path}", data=form).status_code == 303
    assert (submitted(site), state_of(site)) == (left, "open")
    rank(site, "J1", "P2")
    for again in ("discard", "discard-and-open"):
        assert dashboard.post(f"/dashboard/{again}", data=DISCARD).status_code == 422
    assert submitted(site) == left + 1, "a page from before deletes nothing"


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


def doing(dashboard: FlaskClient) -> list[str]:
    part = dashboard.get("/dashboard").text.partition('<ul class="todo">')[2]
    items = part.partition("</section>")[0].split('<li><span class="sign')[1:]
    assert all(item.count('class="btn') == 1 and "muted" in item for item in items)
    return [unescape(re.findall("<b>(.*?)</b>", item)[0]) for item in items]


def test_what_needs_doing(tmp_path: Path, opened: Callable[..., Site]) -> None:
    """Each state has what it needs, worst first; each with a reason and one button."""
    site = opened(write_site(tmp_path, more="deadline: 2090-12-12"))
    dashboard = enter_dashboard(create_app(site), site)
    assert doing(dashboard) == [
        *("10 of 10 solutions are not reviewed", "2 judges have no link yet"),
        *("Try the pages once as a judge", "Open the study"),
    ]
    dashboard.post("/dashboard/judges/links", data=SURE)
    set_life(site, "open")
    rest = f"{(dt.date(2090, 12, 12) - now().date()).days} days left"
    assert doing(dashboard) == [rest]
    assert "2 judges have not opened their links." in dashboard.get("/dashboard").text
    with site.store.write() as c:
        decline(c, person_named(c, site.id, "judge", "J2"))
    assert doing(dashboard) == ["Judge J2 declined", rest]
    page = text_of(dashboard.get("/dashboard").text)
    assert "0 of 3 rankings submitted 2 judges: 0 started, 0 done, 1 declined." in page
    assert page.count("Not started") == page.count("– Declined") == 2
    rank_all(site, "J1")
    with site.store.read() as c:
        tasks = tasks_of(c, everybody(site)["J1"].key)
    rank(site, "J1", next(one.problem for one in tasks if one.occasion == 2), occasion=2)
    assert doing(dashboard) == ["Judge J2 declined", "All judges have finished"]
    set_life(site, "closed")
    site.troubles.update(disk="The disk is full.", more="And more.")
    (tmp_path / "solutions" / "P1" / f"{SYSTEM}.md").write_text(f"The work of {SYSTEM}.\n")
    assert doing(dashboard) == ["Server problem", "The study has changed since judges saw it"]
    page = text_of(dashboard.get("/dashboard").text)
    assert "The disk is full. And more." in page
    assert f"the changed solution of {SYSTEM} on P1 counts as a new one" in page
    [changed] = re.findall(
        r'judged. .*? href="(/dash[^"]+)"', dashboard.get("/dashboard/solutions").text
    )
    said = dict(re.findall('name="(solution|digest)" value="([^"]+)"', dashboard.get(changed).text))
    dashboard.post("/dashboard/solutions/same", data={**said, "answer": "same"})
    assert doing(dashboard) == ["Server problem"], "nothing is left to decide"
    late = opened(write_site(tmp_path / "late", more="deadline: 2001-12-12"))
    set_life(late, "open")
    assert "The deadline has passed" in doing(enter_dashboard(create_app(late), late))


def test_the_review_counts_what_it_numbers_and_tells_what_files_need(
    tmp_path: Path, opened: Callable[..., Site]
) -> None:
    study = write_site(tmp_path, judging="{practice: P0}")
    one = tmp_path / "solutions" / "P1" / f"{SYSTEM}.md"
    one.rename(one.with_suffix(".txt"))
    site = opened(study)
    dashboard = enter_dashboard(create_app(site), site)
    page = dashboard.get("/dashboard/solutions").text
    numbered = dict(re.findall('"(/dashboard/solutions/[0-9a-f]+)">([PS].*?)</a>', page))
    expected = [*(f"Solution {n}" for n in range(1, 11)), "Practice solution 1"]
    assert [*numbered.values()] == [*expected, "Practice solution 2"]
    heads = [re.findall("<h1>(.*)</h1>", dashboard.get(url).text)[0] for url in numbered]
    assert heads[9:11] == ["Solution 10 of 10", "Practice solution 1"]
    assert doing(dashboard)[0] == "1 possible problem in the solutions"
    assert "<li>formats differ in 1 of 3 problems" in page


def test_minutes_are_those_of_the_judges_pages() -> None:
    spans = (0, 29, 31, 100, 3570, 3900)
    words = ["–", "under 1 min", "1 min", "2 min", "1 h 00 min", "1 h 05 min"]
    assert [duration(seconds) for seconds in spans] == words


def test_the_report_is_made_once(
    site: Site,
    app: Flask,
    dashboard: FlaskClient,
    run: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many requests at the same time run the analysis once; new rankings run it again."""
    set_life(site, "closed")
    go, quick, wait = threading.Event(), subprocess.run, "webjudge.dashboard.results._WAIT_SECONDS"
    monkeypatch.setattr(subprocess, "run", lambda *a, **o: go.wait(SECONDS) and quick(*a, **o))
    monkeypatch.setattr(wait, 0.05)
    waiting = dashboard.get("/dashboard/report/")
    assert ("Analysis running" in waiting.text, bool(waiting.headers["Refresh"])) == (True, True)
    go.set()
    monkeypatch.setattr(wait, SECONDS)
    cookie = dashboard.get_cookie(f"quem-dashboard-{site.key}")
    assert cookie

    def ask(_: int) -> str:
        browser = app.test_client()
        browser.set_cookie(cookie.key, cookie.value)
        return browser.get("/dashboard/report/").text

    with ThreadPoolExecutor(6) as pool:
        assert all("run 1</template>" in page for page in pool.map(ask, range(6)))
    [one] = run
    # The database is named in the environment alone, nothing can be typed, and there is a limit.
    assert not [word for word in one["command"] if "sqlite" in word]
    assert one["env"][DATABASE_VARIABLE] == site.store.place.url
    assert one["stdin"] == subprocess.DEVNULL
    assert one["timeout"] > 0
    set_life(site, "open")
    rank(site, "J2", "P1")
    set_life(site, "closed")
    dashboard.get("/dashboard/report/")
    assert dashboard.get("/dashboard/report/report.html").text == "run 2"
    dashboard.post("/dashboard/report/again")
    dashboard.get("/dashboard/report/")
    assert len(run) == 3
    # Nothing but files of the report is sent, and they are styled and without scripts.
    for name in "../study.yaml ..%2Fstudy.yaml study.yaml %2Fetc%2Fpasswd other.csv .".split():
        assert dashboard.get(f"/dashboard/report/{name}").status_code == 404
    headers = dashboard.get("/dashboard/report/report.html").headers
    assert "script-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("code", "start"), [(3, "failed"), (-9, "failed"), (None, "took longer than 10 minutes")]
)
def test_a_broken_analysis_is_no_broken_page(
    dashboard: FlaskClient,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    code: int | None,
    start: str,
) -> None:
    """A bug in the analysis is told without its traceback, and can be tried again."""

    def broken(command: list[str], **options: Any) -> Any:  # noqa: ANN401
        if code is None:
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return subprocess.CompletedProcess(command, code, "", "Traceback: secret\n")

    set_life(site, "closed")
    monkeypatch.setattr(subprocess, "run", broken)
    page = dashboard.get("/dashboard/report/").text
    assert f"The analysis {start}" in page
    assert "Try again" in page
    assert "secret" not in page


def test_the_overview_of_many_judges(tmp_path: Path, opened: Callable[..., Site]) -> None:
    """One page of them is shown, by as many statements as for few; all can be found and reached."""
    statements = []
    for count in (51, 101):
        names = [f"J{number:03}" for number in range(count)]
        site = opened(write_site(tmp_path / str(count), judges=names))
        dashboard = enter_dashboard(create_app(site), site)
        dashboard.get("/dashboard")
        made: list[str] = []
        event.listen(site.store.engine, "before_cursor_execute", lambda *a, m=made: m.append(a[2]))
        page = dashboard.get("/dashboard").text
        statements.append(len(made))
        assert page.count('<tr role="row"') == 1 + MOST_JUDGES
    assert statements[0] == statements[1]
    for path, held, other in (
        (unescape(*re.findall(r'rel="next" href="/dashboard([^"]+)"', page)), "J050", "J049"),
        ("?find=j055", "J055", "J050"),
        ("?after=x", "J049", "J050"),
    ):
        shown = dashboard.get(f"/dashboard{path}").text
        assert (held in shown, other in shown) == (True, False), path
    assert "contains “nobody”" in dashboard.get("/dashboard?find=nobody").text
    table = dashboard.post("/dashboard/judges/links", data=SURE)
    rows = list(csv.DictReader(StringIO(table.text)))
    assert [row["judge"] for row in rows] == names
    assert all(row["link"] in row["message"] for row in rows)
    page = dashboard.get("/dashboard/judges/reminders").text
    (after,) = re.findall(r'href="(\?after=[^"]+)"', page)
    more = dashboard.get(f"/dashboard/judges/reminders{after}").text
    assert [one.count('<li class="card mt"') for one in (page, more)] == [MOST_JUDGES] * 2
