"""Results at the dashboard: hidden first, then the live report and what judges wrote."""

from __future__ import annotations

import re
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from quem.store.audit_log import audit_events
from quem.store.location import DATABASE_VARIABLE
from quem.store.state import Comparison, State
from quem.store.studies import reveal
from tests.webjudge.sites import (
    SUBJECTS,
    SYSTEM,
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

RESULTS = (
    "/dashboard/words",
    "/dashboard/report/",
    "/dashboard/report/report.html",
    "/dashboard/report/ranks.csv",
)
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


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Runs of the analysis that nobody has to wait for."""
    return fake_analysis(monkeypatch)


def trail(site: Site) -> list[str]:
    """What was done at the dashboard, oldest first."""
    with site.store.read() as c:
        events = audit_events(c, site.id, 1000)
    return [event.what for event in reversed(events) if event.actor == "organizer"]


def test_what_judges_wrote(dashboard: FlaskClient, site: Site) -> None:
    """After closing, comments, reasons and recognized authors stand there, escaped."""
    rank(site, "J1", "P1", TOLD)
    rank(site, "J2", "P2")
    set_life(site, "closed")
    page = dashboard.get("/dashboard/words").text
    for words in ("Judge J1", "All alike", "&lt;b&gt;Splendid&lt;/b&gt; idea", "Too long a story"):
        assert words in page
    # How an order came about is no comment.
    assert page.count("how sure") == 1
    assert not [word for word in ("4321", "drag", "better") if word in page]
    assert page.count("recognized the author") == 1
    assert "Judge J2" not in page
    assert "Problem 2" not in page


def test_the_report_is_made_once(site: Site, app: Flask, run: list[dict[str, Any]]) -> None:
    """Many requests at the same time run the analysis once; new rankings run it again."""
    rank_all(site, "J1")
    set_life(site, "closed")
    dashboards = [enter_dashboard(app, site)]
    cookie = dashboards[0].get_cookie(f"quem-dashboard-{site.key}")
    assert cookie
    for _ in range(5):
        dashboards.append(app.test_client())
        dashboards[-1].set_cookie(cookie.key, cookie.value)
    pages: list[str] = []
    threads = [
        threading.Thread(target=lambda d=d: pages.append(d.get("/dashboard/report/").text))
        for d in dashboards
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pages) == 6
    assert all("run 1</template>" in page for page in pages)
    assert len(run) == 1
    assert dashboards[0].get("/dashboard/report/report.html").text == "run 1"
    set_life(site, "open")
    rank(site, "J2", "P1")
    set_life(site, "closed")
    dashboards[0].get("/dashboard/report/")
    assert dashboards[0].get("/dashboard/report/report.html").text == "run 2"
    dashboards[0].post("/dashboard/report/again")
    dashboards[0].get("/dashboard/report/")
    assert len(run) == 3


def test_the_analysis_runs_by_itself(
    dashboard: FlaskClient, site: Site, run: list[dict[str, Any]]
) -> None:
    """The database is named in the environment only, nothing can be typed, and there is a limit."""
    set_life(site, "closed")
    dashboard.get("/dashboard/report/")
    [one] = run
    url = site.store.place.url
    assert not [word for word in one["command"] if "sqlite" in word]
    assert one["env"][DATABASE_VARIABLE] == url
    assert one["stdin"] == subprocess.DEVNULL
    assert one["timeout"] > 0


@pytest.mark.parametrize(
    "name", ["../study.yaml", "..%2Fstudy.yaml", "study.yaml", "%2Fetc%2Fpasswd", "other.csv", "."]
)
def test_only_files_of_the_report_are_sent(
    dashboard: FlaskClient, site: Site, run: list[dict[str, Any]], name: str
) -> None:
    """No name leads out of what the analysis made."""
    set_life(site, "closed")
    dashboard.get("/dashboard/report/")
    assert dashboard.get(f"/dashboard/report/{name}").status_code == 404
    assert dashboard.get("/dashboard/report/report.html").status_code == 200
    assert run


def test_a_long_analysis_is_waited_for(
    site: Site, monkeypatch: pytest.MonkeyPatch, run: list[dict[str, Any]]
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
    dashboard = enter_dashboard(create_app(site), site)
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
    assert "Deep Blunder 7.7.7-rc9" in page
    assert "session-open" in page
    assert "not final" in page
    names = re.findall(r'download="([\w.-]+)"', page)
    assert {"report.html", "analysis.json", "ranks.csv", "line.svg"} <= set(names)
    for name in names:
        answer = dashboard.get(f"/dashboard/report/{name}")
        assert answer.status_code == 200
        policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'none'" in policy
        assert "style-src 'unsafe-inline'" in policy
        assert answer.headers["Cache-Control"] == "no-store"
    assert "Deep Blunder" in dashboard.get("/dashboard/report/report.html").text
    assert trail(site) == ["revealed"]


def _waited(dashboard: FlaskClient) -> str:
    for _ in range(60):  # of 4 seconds
        page = dashboard.get("/dashboard/report/").text
        if "Analysis running" not in page:
            return page
    pytest.fail("the analysis takes too long")
