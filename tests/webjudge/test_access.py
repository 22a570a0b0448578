"""Who may do what: organizers, judges and strangers; and what is logged of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from quem.store.audit_log import audit_events
from quem.store.people import (
    issue_link,
    people_of,
    person_named,
)
from quem.store.studies import reveal, status_of
from tests.webjudge.sites import (
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

    from quem.store.audit_log import AuditEvent
    from quem.store.models import PersonRow
    from webjudge import Site

NAMED = "organizers: [{id: amy, name: Amy <i>}, {id: bob, name: Bob}]"
SURE = {"sure": "yes"}
# What everybody may open.
OPEN = {
    *("static", "healthz", "access.front", "access.enter"),
}
PARTS = {
    "role": "judge",
    "choice": "again",
    "message_id": "x",
    "kind": "reminder",
    "key": 1,
    "gid": "1",
    "page": 1,
    "path": "j",
    "token": "x",
    "filename": "dashboard.css",
    "name": "report.html",
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study with two organizers, practice and a repeated group."""
    site = make_site(tmp_path, judging="{repeat: 1, practice: P0}", more=NAMED)
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


def addresses(app: Flask) -> Iterator[tuple[str, str, str]]:
    """Each rule of the app: its endpoint, a method, and an address that exists."""
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            values = {name: PARTS.get(name) for name in rule.arguments}
            if "what" in values:
                values["what"] = "erase" if "key" in values else "close"
            _, path = rule.build(values) or ("", "")
            assert path, rule
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield rule.endpoint, method, path


def open_for(app: Flask, client: FlaskClient) -> set[str]:
    """The endpoints that do not turn a browser away."""
    passed = set()
    # Last what ends the browser's own login.
    for endpoint, method, path in sorted(addresses(app), key=lambda a: a[0] == "dashboard.leave"):
        answer = client.open(path, method=method, data=SURE if method == "POST" else None)
        if answer.status_code not in (401, 403, 415):
            passed.add(endpoint)
        answer.close()
    return passed


def test_every_address_knows_who_may_open_it(
    app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a closed study, whose results are there: nobody, a judge, an organizer."""
    fake_analysis(monkeypatch)
    rank_all(site, "J1", "J2")
    set_life(site, "open")
    set_life(site, "closed")
    everything = {endpoint for endpoint, *_ in addresses(app)}
    dashboard = {e for e in everything if e.startswith(("dashboard.", "preview."))}
    assert len(dashboard) > 20
    assert open_for(app, app.test_client()) == OPEN - {"access.front"}
    before = state_of(site), ids_of(site), done(site)
    judge = open_for(app, enter_as(app, site, "J1"))
    assert judge & dashboard == set()
    assert judge > OPEN
    assert (state_of(site), ids_of(site), done(site)) == before
    assert open_for(app, enter_dashboard(app, site, "amy")) >= OPEN | dashboard


def test_a_login_outlives_browser_and_server(app: Flask, site: Site) -> None:
    """The cookie stays for weeks, the link for as long as nobody replaces it."""
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", "amy"), "shell")
    client = app.test_client()
    answer = client.get(f"/d/{token}")
    assert re.search(r"Max-Age=\d{7};", answer.headers["Set-Cookie"])
    from webjudge import open_site

    again = open_site(site.path)
    other = create_app(again)
    cookie = client.get_cookie(f"quem-dashboard-{site.key}")
    assert cookie is not None
    restarted = other.test_client()
    restarted.set_cookie(cookie.key, cookie.value)
    assert restarted.get("/dashboard").status_code == 200
    assert other.test_client().get(f"/d/{token}").status_code == 303
    second = other.test_client()
    second.get(f"/d/{token}")
    # Logging out ends this login, wherever its cookie was copied to, and no other.
    assert "logged out" in client.post("/dashboard/leave").text
    assert client.get("/dashboard").status_code == 401
    assert restarted.get("/dashboard").status_code == 401
    assert second.get("/dashboard").status_code == 200
    enter_dashboard(app, site, "amy")
    assert second.get("/dashboard").status_code == 401
    assert other.test_client().get(f"/d/{token}").status_code == 404
    again.store.close()


def test_organizers_leave_with_the_study_file(app: Flask, site: Site) -> None:
    """Who is taken out of the file is locked out at the next start."""
    from webjudge import open_site

    amy, bob = enter_dashboard(app, site, "amy"), enter_dashboard(app, site, "bob")
    text = site.path.read_text().replace(NAMED, "organizers: [{id: bob}]")
    site.path.write_text(text)
    open_site(site.path).store.close()
    assert amy.get("/dashboard").status_code == 401
    assert bob.get("/dashboard/events").status_code == 200


def test_the_log_names_who_did_what(app: Flask, site: Site) -> None:
    """Each change carries the organizer's id, those from the shell do not; old events are read."""
    dashboard = enter_dashboard(app, site, "amy")
    key = next(judge.key for judge in judges(site))
    dashboard.post("/dashboard/open")
    for path in ("judges/links", f"people/{key}/link", f"people/{key}/revoke", "reveal", "close"):
        form = {**SURE, "word": "reveal"}
        assert dashboard.post(f"/dashboard/{path}", data=form).status_code < 400
    form = {"id": "J7", **SURE}
    dashboard.post("/dashboard/judges/new", data=form)
    done = [e for e in log(site) if e.actor == "organizer"]
    assert {event.by for event in done} == {"organizer amy"}
    codes = [
        "open",
        "link-made",
        "link-made",
        "link-replaced",
        "link-revoked",
        "revealed",
        "closed",
    ]
    assert [event.what for event in done] == [*codes, "added", "link-made"]
    with site.store.write() as c:
        reveal(c, site.id, "dashboard")
    page = dashboard.get("/dashboard/events").text
    assert "amy" in page
    rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in page.split("<li>")[1:]]
    replaced = next(row for row in rows if "Link of J1 replaced" in row)
    assert replaced.endswith("while the study was open organizer amy")
    assert rows[0].endswith("Rankings revealed dashboard")
    assert any(row.endswith("Link created for organizer amy command line") for row in rows)


def test_the_log_names_an_organizer_once(tmp_path: Path) -> None:
    """The organizer of a study that names none is "the organizer"."""
    site = make_site(tmp_path)
    page = enter_dashboard(create_app(site), site).get("/dashboard/events").text
    assert "Link created for the organizer" in page
    site.store.close()


@pytest.mark.parametrize(
    ("path", "state", "word"),
    [
        ("discard", "trial", "discard"),
        ("discard-and-open", "trial", "discard"),
        ("pause", "open", ""),
        ("close", "open", ""),
        ("close", "paused", ""),
        ("reveal", "open", "reveal"),
        ("reveal", "paused", "reveal"),
        ("open", "paused", ""),
        ("open", "closed", ""),
        ("people/{key}/link", "open", ""),
        ("people/{key}/revoke", "open", ""),
        ("people/{key}/erase", "open", "J1"),
    ],
)
def test_nothing_is_undone_without_being_asked(
    app: Flask, site: Site, path: str, state: str, word: str
) -> None:
    """What ends, deletes or unblinds is refused until it is confirmed; for good, by a word."""
    enter_as(app, site, "J1")
    rank(site, "J1", "P1")
    for next_state in dict.fromkeys(("open", state) if state != "trial" else ()):
        set_life(site, next_state)
    dashboard = enter_dashboard(app, site, "amy")
    path = "/dashboard/" + path.format(key=judges(site)[0].key)
    before = log(site)
    page = dashboard.get(path).text
    assert ('name="word"' in page) == bool(word)
    for form in (
        {},
        {"sure": "no"},
        {"trial": "discard"},
        *([SURE, {"word": "x"}] if word else []),
    ):
        refused = dashboard.post(path, data=form)
        assert refused.status_code == 422
        assert 'role="alert"' in refused.text
        assert ('name="sure"' in refused.text) == (not word)
    assert log(site) == before
    form = {"word": f" {word.upper()}"} if word else SURE
    assert dashboard.post(path, data=form).status_code in (200, 303)
    assert log(site) != before


def test_trial_rankings_are_discarded_on_a_page_of_their_own(app: Flask, site: Site) -> None:
    """The question of opening leads there, and the page says what is deleted."""
    rank(site, "J1", "P1")
    dashboard = enter_dashboard(app, site, "amy")
    assert 'href="/dashboard/discard-and-open"' in dashboard.get("/dashboard/open").text
    assert "This deletes 1 test ranking with" in dashboard.get("/dashboard/discard-and-open").text


def done(site: Site) -> list[str]:
    """What organizers did."""
    return [event.what for event in log(site) if event.actor == "organizer"]


def log(site: Site) -> list[AuditEvent]:
    """All events, oldest first."""
    with site.store.read() as c:
        return audit_events(c, site.id, 1000)[::-1]


def judges(site: Site) -> list[PersonRow]:
    """All judges."""
    with site.store.read() as c:
        return people_of(c, site.id, "judge")


def ids_of(site: Site) -> list[str]:
    """The ids of all judges."""
    return [judge.id for judge in judges(site)]


def state_of(site: Site) -> str:
    """Where the study is in its life."""
    with site.store.read() as c:
        return status_of(c, site.id).state
