"""Judges and links at the dashboard."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from quem.store.audit_log import audit_events
from quem.store.people import decline, people_of, person_named
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
    "/dashboard/people/1/erase",
)
TOLD = State(
    ranked=(SUBJECTS[:2], SUBJECTS[2:]),
    cannot={SYSTEM: "Too long a story"},
    recognized=SUBJECTS[:1],
    comments={SUBJECTS[1]: "<b>Splendid</b> idea"},
    comment="All alike",
)
SURE = {"sure": "yes"}
LINK = re.compile(r'value="(http://localhost/j/[\w-]{22,})"')


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
        return next(judge.key for judge in people_of(c, site.id, "judge") if judge.id == judge_id)


def ids_of(site: Site) -> list[str]:
    """The ids of all judges."""
    with site.store.read() as c:
        return [judge.id for judge in people_of(c, site.id, "judge")]


def test_links_are_shown_once_and_replace_each_other(
    app: Flask, dashboard: FlaskClient, site: Site
) -> None:
    """A new link works, ends the one before, and stands nowhere but in the answer."""
    answer = dashboard.post("/dashboard/judges/links", data={"sure": "yes"})
    assert answer.status_code == 200
    links = LINK.findall(answer.text)
    assert len(links) == 2
    assert [app.test_client().get(link).status_code for link in links] == [303, 303]
    assert LINK.findall(dashboard.post("/dashboard/judges/links", data={"sure": "yes"}).text) == []
    key = key_of(site, "J1")
    assert "stops working" in dashboard.get(f"/dashboard/people/{key}/link").text
    [new] = LINK.findall(dashboard.post(f"/dashboard/people/{key}/link", data=SURE).text)
    assert app.test_client().get(new).status_code == 303
    assert app.test_client().get(links[0]).status_code == 404
    assert [LINK.findall(dashboard.get(page).text) for page in PAGES] == [[]] * len(PAGES)
    assert trail(site) == ["link-made", "link-made", "link-replaced"]


def test_links_have_the_address_that_judges_use(site: Site) -> None:
    """Where the server is told its public address, links begin with it."""
    app = create_app(site)
    app.config["QUEM_URL"] = "https://judging.example.org"
    page = enter_dashboard(app, site).post("/dashboard/judges/links", data={"sure": "yes"}).text
    assert page.count('value="https://judging.example.org/j/') == 2
    assert "only on this computer" not in page
    app.config["QUEM_URL"] = "http://127.0.0.1:8080"
    path = f"/dashboard/people/{key_of(site, 'J1')}/link"
    page = enter_dashboard(app, site).post(path, data=SURE).text
    assert "only on this computer" in page


def test_revoked_links_end(app: Flask, dashboard: FlaskClient, site: Site) -> None:
    """Who holds a revoked link is locked out, and the dashboard says so."""
    judge = enter_as(app, site, "J1")
    key = key_of(site, "J1")
    assert "Revoke J1&#39;s link?" in dashboard.get(f"/dashboard/people/{key}/revoke").text
    for _ in range(2):
        assert dashboard.post(f"/dashboard/people/{key}/revoke", data=SURE).status_code == 303
    assert judge.get("/judge").status_code == 401
    assert ">Link revoked<" in dashboard.get("/dashboard").text
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
    assert dashboard.post(f"/dashboard/people/{key}/erase", data={"word": "J1"}).status_code == 303
    assert ids_of(site) == ["erased-1", "J2"]
    assert judge.get("/judge").status_code == 401
    assert dashboard.get("/dashboard/report/report.html").text == "run 2"
    for path in ("/dashboard", "/dashboard/events", "/dashboard/words", "/dashboard/report/"):
        page = dashboard.get(path).text
        assert "Judge J1" not in page
        assert "Splendid" not in page
    assert len(run) == 2
    for what in ("link", "revoke", "erase"):
        answer = dashboard.post(f"/dashboard/people/{key}/{what}", data=SURE)
        assert answer.status_code == 422
        assert "has been erased" in answer.text


def test_judges_are_added_midway(app: Flask, dashboard: FlaskClient, site: Site) -> None:
    """A new judge gets a link at once, and stands in the overview."""
    form = {"id": "J7", "name": "Ada <i>", "experience": "7,5", **SURE}
    answer = dashboard.post("/dashboard/judges/new", data=form)
    [link] = LINK.findall(answer.text)
    assert app.test_client().get(link).status_code == 303
    assert "Ada &lt;i&gt;" in dashboard.get("/dashboard").text
    with site.store.read() as c:
        judge = people_of(c, site.id, "judge")[-1]
    assert (judge.id, judge.name, judge.experience, judge.added) == ("J7", "Ada <i>", 7.5, True)
    assert trail(site) == ["added", "link-made"]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"id": "J1"}, "Judge J1 already exists"),
        ({"id": " "}, "1 to 100 printable characters"),
        ({"id": "J7", "experience": "many"}, "Enter a number such as 12"),
        ({"id": "J7", "experience": "nan"}, "Enter a number such as 12"),
        ({"id": "J7", "name": "a\tb"}, "Use one line of at most"),
        ({"id": "", "experience": "-1"}, "Check the highlighted field"),
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
    assert dashboard.get("/dashboard/people/999/erase").status_code == 404
    assert dashboard.post("/dashboard/people/999/link").status_code == 404


def test_messages_are_ready_to_be_sent(tmp_path: Path) -> None:
    """Invitations have the link, reminders the progress; both address the judge and are signed."""
    more = "organizer: {name: Lena, institution: Cooling & Co}\ndeadline: 2031-12-12\nminutes: 90"
    site = make_site(tmp_path, more=more)
    app = create_app(site)
    dashboard = enter_dashboard(app, site)
    assert "Create 2 links" in dashboard.get("/dashboard/judges/invitations").text
    page = dashboard.post("/dashboard/judges/links", data={"sure": "yes"}).text
    link = LINK.findall(page)[0]
    message = written(page)[0]
    assert message.startswith("Dear Judge J1,\n\nwe would be grateful for your judgment in the")
    assert "(number of tasks: 3; about 1½ hours; please by 12 December 2031)" in message
    assert f"\n\n{link}\n\n" in message
    assert message.endswith("\n\nLena\nCooling & Co")
    mail = urlsplit(unescape(re.findall(r'href="(mailto:[^"]*)"', page)[0]))
    assert parse_qs(mail.query)["body"][0].strip() == message
    assert "Copy a ready-made message" in page
    rank(site, "J1", "P1")
    page = dashboard.get("/dashboard/judges/reminders").text
    first, second = written(page)
    assert "So far, 1 of 3 of your rankings are submitted. Please finish by 12 Dec" in first
    assert second.startswith("Dear Judge J2,\n\nwe hope for your judgment")
    key = key_of(site, "J1")
    assert written(dashboard.get(f"/dashboard/people/{key}/reminder").text) == [first]
    page = dashboard.get(f"/dashboard/people/{key}/invitation").text
    assert "cannot be shown again" in page
    assert "/j/" not in written(page)[0]
    assert trail(site) == ["link-made", "link-made"]
    site.store.close()


def test_nobody_is_reminded_who_finished_or_declined(dashboard: FlaskClient, site: Site) -> None:
    """Neither of them, nor whoever has no link."""
    dashboard.post("/dashboard/judges/links", data={"sure": "yes"})
    with site.store.write() as c:
        decline(c, person_named(c, site.id, "judge", "J2"))
    assert len(written(dashboard.get("/dashboard/judges/reminders").text)) == 1
    dashboard.post(f"/dashboard/people/{key_of(site, 'J1')}/revoke", data=SURE)
    assert "No reminders" in dashboard.get("/dashboard/judges/reminders").text


def test_statuses_of_judges(dashboard: FlaskClient, app: Flask, site: Site) -> None:
    """From the link to the end, each judge has one status."""
    assert statuses(dashboard) == ["No link", "No link"]
    dashboard.post("/dashboard/judges/links", data={"sure": "yes"})
    assert statuses(dashboard) == ["Not opened", "Not opened"]
    enter_as(app, site, "J1").get("/judge")
    with site.store.write() as c:
        decline(c, person_named(c, site.id, "judge", "J2"))
    assert statuses(dashboard) == ["Active", "Declined"]
    dashboard.post(f"/dashboard/people/{key_of(site, 'J1')}/revoke", data=SURE)
    assert statuses(dashboard) == ["Link revoked", "Declined"]
    dashboard.post(f"/dashboard/people/{key_of(site, 'J2')}/erase", data={"word": "J2"})
    assert statuses(dashboard) == ["Link revoked", "Erased"]


def test_the_judge_whose_data_are_erased_is_chosen(dashboard: FlaskClient, site: Site) -> None:
    """The zone of what cannot be undone leads to the question about that judge."""
    key = key_of(site, "J2")
    answer = dashboard.get(f"/dashboard/people/erase?key={key}", follow_redirects=True)
    assert "Type <b>J2</b> to confirm" in answer.text
    assert dashboard.get("/dashboard/people/erase?key=x", follow_redirects=True).status_code == 404


def written(page: str) -> list[str]:
    """The messages on a page."""
    return [
        unescape(text).strip()
        for text in re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    ]


def statuses(dashboard: FlaskClient) -> list[str]:
    """What the table of judges says of each."""
    page = dashboard.get("/dashboard").text
    return re.findall(r'data-name="Status"><span><span[^>]*>([^<]*)<', page)
