"""Judges and links at the dashboard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from quem.store.audit_log import audit_events
from quem.store.judges import judges_of
from quem.store.state import State
from tests.webjudge.sites import (
    SUBJECTS,
    SYSTEM,
    enter_as,
    enter_dashboard,
    fake_analysis,
    make_site,
    rank,
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
    "/dashboard/judges/1/erase",
)
TOLD = State(
    ranked=(SUBJECTS[:2], SUBJECTS[2:]),
    cannot={SYSTEM: "Too long a story"},
    recognized=SUBJECTS[:1],
    comments={SUBJECTS[1]: "<b>Splendid</b> idea"},
    comment="All alike",
)
SURE = {"sure": "yes"}
LINK = re.compile(r"http://localhost/j/[\w-]{22,}")


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


def trail(site: Site) -> list[str]:
    """What was done at the dashboard, oldest first."""
    with site.store.read() as c:
        events = audit_events(c, site.id, 1000)
    return [event.what for event in reversed(events) if event.actor == "organizer"]


def key_of(site: Site, judge_id: str) -> int:
    """The key of a judge in the store."""
    with site.store.read() as c:
        return next(judge.key for judge in judges_of(c, site.id) if judge.id == judge_id)


def ids_of(site: Site) -> list[str]:
    """The ids of all judges."""
    with site.store.read() as c:
        return [judge.id for judge in judges_of(c, site.id)]


def test_links_are_shown_once_and_replace_each_other(
    app: Flask, dashboard: FlaskClient, site: Site
) -> None:
    """A new link works, ends the one before, and stands nowhere but in the answer."""
    answer = dashboard.post("/dashboard/judges/links")
    assert answer.status_code == 200
    links = LINK.findall(answer.text)
    assert len(links) == 2
    assert [app.test_client().get(link).status_code for link in links] == [303, 303]
    assert LINK.findall(dashboard.post("/dashboard/judges/links").text) == []
    key = key_of(site, "J1")
    assert "stops working" in dashboard.get(f"/dashboard/judges/{key}/link").text
    [new] = LINK.findall(dashboard.post(f"/dashboard/judges/{key}/link", data=SURE).text)
    assert app.test_client().get(new).status_code == 303
    assert app.test_client().get(links[0]).status_code == 404
    assert [LINK.findall(dashboard.get(page).text) for page in PAGES] == [[]] * len(PAGES)
    assert trail(site) == ["link-made", "link-made", "link-replaced"]


def test_links_have_the_address_that_judges_use(site: Site) -> None:
    """Where the server is told its public address, links begin with it."""
    app = create_app(site)
    app.config["QUEM_URL"] = "https://judging.example.org"
    page = enter_dashboard(app, site).post("/dashboard/judges/links").text
    assert page.count("https://judging.example.org/j/") == 2
    assert "only on this computer" not in page
    app.config["QUEM_URL"] = "http://127.0.0.1:8080"
    path = f"/dashboard/judges/{key_of(site, 'J1')}/link"
    page = enter_dashboard(app, site).post(path, data=SURE).text
    assert "only on this computer" in page


def test_revoked_links_end(app: Flask, dashboard: FlaskClient, site: Site) -> None:
    """Who holds a revoked link is locked out, and the dashboard says so."""
    judge = enter_as(app, site, "J1")
    key = key_of(site, "J1")
    assert "Revoke J1&#39;s link?" in dashboard.get(f"/dashboard/judges/{key}/revoke").text
    for _ in range(2):
        assert dashboard.post(f"/dashboard/judges/{key}/revoke", data=SURE).status_code == 303
    assert judge.get("/judge").status_code == 401
    assert ">revoked<" in dashboard.get("/dashboard").text
    assert trail(site) == ["link-revoked"]


def test_forgetting_lasts(
    app: Flask, dashboard: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forgotten judge's name and words are gone everywhere, also from the report."""
    run = fake_analysis(monkeypatch)
    judge = enter_as(app, site, "J1")
    rank(site, "J1", "P1", TOLD)
    set_life(site, "closed")
    dashboard.get("/dashboard/report/")
    key = key_of(site, "J1")
    assert dashboard.post(f"/dashboard/judges/{key}/erase", data=SURE).status_code == 303
    assert ids_of(site) == ["forgotten-1", "J2"]
    assert judge.get("/judge").status_code == 401
    assert dashboard.get("/dashboard/report/report.html").text == "run 2"
    for path in ("/dashboard", "/dashboard/events", "/dashboard/words", "/dashboard/report/"):
        page = dashboard.get(path).text
        assert "Judge J1" not in page
        assert "Splendid" not in page
    assert len(run) == 2
    for what in ("link", "revoke", "erase"):
        answer = dashboard.post(f"/dashboard/judges/{key}/{what}", data=SURE)
        assert answer.status_code == 422
        assert "has been erased" in answer.text


def test_judges_are_added_midway(app: Flask, dashboard: FlaskClient, site: Site) -> None:
    """A new judge gets a link at once, and stands in the overview."""
    form = {"id": "J7", "name": "Ada <i>", "experience": "7,5"}
    answer = dashboard.post("/dashboard/judges/new", data=form)
    [link] = LINK.findall(answer.text)
    assert app.test_client().get(link).status_code == 303
    assert "Ada &lt;i&gt;" in dashboard.get("/dashboard").text
    with site.store.read() as c:
        judge = judges_of(c, site.id)[-1]
    assert (judge.id, judge.name, judge.experience, judge.added) == ("J7", "Ada <i>", 7.5, True)
    assert trail(site) == ["judge-added", "link-made"]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"id": "J1"}, "Judge J1 already exists"),
        ({"id": " "}, "1 to 100 printable characters"),
        ({"id": "J7", "experience": "many"}, "Enter a number such as 12"),
        ({"id": "J7", "experience": "nan"}, "Enter a number such as 12"),
        ({"id": "J7", "name": "a\tb"}, "Use one line of at most"),
        ({"id": "", "experience": "-1"}, "Check the highlighted fields"),
    ],
)
def test_wrong_forms_keep_what_was_typed(
    dashboard: FlaskClient, site: Site, form: dict[str, str], message: str
) -> None:
    """A judge who cannot be added is not half added; the form says why and keeps its fields."""
    answer = dashboard.post("/dashboard/judges/new", data={"name": "Ada Typed", **form})
    assert answer.status_code == 422
    assert message in answer.text
    assert f'value="{form["id"].strip()}"' in answer.text
    assert ("Ada Typed" in answer.text) is ("name" not in form)
    assert (ids_of(site), trail(site)) == (["J1", "J2"], [])


def test_unknown_judges(dashboard: FlaskClient) -> None:
    """A judge who is not of this study is not found."""
    assert dashboard.get("/dashboard/judges/999/erase").status_code == 404
    assert dashboard.post("/dashboard/judges/999/link").status_code == 404
