"""Who may do what: organizers, judges and strangers; and what is logged of it."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from typing import TYPE_CHECKING

import pytest

from tests.webjudge.sites import (
    SURE,
    audited,
    enter_as,
    enter_dashboard,
    everybody,
    make_site,
    new_link,
    rank,
    rank_all,
    set_life,
    state_of,
    text_of,
    trail,
)
from webjudge import create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

NAMED = "organizers: [{id: amy, name: Amy <i>}, {id: bob, name: Bob}]"
# What everybody may open.
OPEN = {"static", "healthz", "access.front", "access.enter"}
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
    site = make_site(tmp_path, judging="{repeat: 1, practice: P0}", more=NAMED)
    yield site
    site.store.close()


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
        else:
            assert "ZORN" not in answer.text
        answer.close()
    return passed


@pytest.mark.usefixtures("run")
def test_every_address_knows_who_may_open_it(app: Flask, site: Site) -> None:
    """Of a closed study, whose results are there: nobody, a judge, an organizer."""
    rank_all(site, "J1", "J2")
    set_life(site, "open")
    set_life(site, "closed")
    everything = {endpoint for endpoint, *_ in addresses(app)}
    dashboard = {e for e in everything if e.startswith(("dashboard.", "preview."))}
    assert len(dashboard) > 20
    assert open_for(app, app.test_client()) == OPEN - {"access.front"}
    before = state_of(site), list(everybody(site)), trail(site)
    judge = open_for(app, enter_as(app, site, "J1"))
    assert judge & dashboard == set()
    assert judge > OPEN
    assert (state_of(site), list(everybody(site)), trail(site)) == before
    assert open_for(app, enter_dashboard(app, site, "amy")) >= OPEN | dashboard


def test_organizers_leave_with_the_study_file(
    app: Flask, site: Site, opened: Callable[[Path], Site]
) -> None:
    """A login outlives the server; its cookie stays for weeks."""
    link = app.test_client().get(new_link(site, "amy", "organizer"))
    assert re.search(r"Max-Age=\d{7};", link.headers["Set-Cookie"])
    amy, bob = enter_dashboard(app, site, "amy"), enter_dashboard(app, site, "bob")
    site.path.write_text(site.path.read_text().replace(NAMED, "organizers: [{id: bob}]"))
    restarted = create_app(opened(site.path)).test_client()
    for browser, status in ((amy, 401), (bob, 200)):
        cookie = browser.get_cookie(f"quem-dashboard-{site.key}")
        assert cookie is not None
        restarted.set_cookie(cookie.key, cookie.value)
        assert restarted.get("/dashboard").status_code == status


def test_the_log_names_who_did_what(app: Flask, site: Site) -> None:
    dashboard = enter_dashboard(app, site, "amy")
    key = everybody(site)["J1"].key
    dashboard.post("/dashboard/open", data=SURE)
    rank(site, "J1", "P1")
    for path in ("judges/links", f"people/{key}/link", f"people/{key}/revoke", "reveal", "close"):
        form = {**SURE, "word": "reveal"}
        assert dashboard.post(f"/dashboard/{path}", data=form).status_code < 400
    dashboard.post("/dashboard/judges/new", data={"id": "J7", **SURE})
    done = [event for event in audited(site) if event.actor == "organizer"]
    assert {event.by for event in done} == {"organizer amy"}
    codes = "open link-made link-made link-replaced link-revoked revealed closed added link-made"
    assert [event.what for event in done] == codes.split()
    rows = [text_of(row) for row in dashboard.get("/dashboard/events").text.split("<li>")[1:]]
    replaced = next(row for row in rows if "Link of J1 replaced" in row)
    assert replaced.endswith("while the study was open organizer amy")
    # A table has them too, and when rankings came.
    table = dashboard.get("/dashboard/events.csv")
    assert "attachment" in table.headers["Content-Disposition"]
    events = [*csv.DictReader(io.StringIO(table.text))]
    assert [one["event"] for one in events if one["by"] == "organizer amy"] == codes.split()
    (one,) = (one for one in events if one["event"] == "submit")
    assert (one["person"], one["problem"]) == ("J1", "P1")
    assert dt.datetime.fromisoformat(one["time"]).tzinfo is not None


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
    path = "/dashboard/" + path.format(key=everybody(site)["J1"].key)
    before = trail(site)
    assert ('name="word"' in dashboard.get(path).text) == bool(word)
    for form in ({}, {"sure": "no"}, {"trial": "discard"}, *([SURE, {"word": "x"}] * bool(word))):
        refused = dashboard.post(path, data=form)
        assert refused.status_code == 422
        assert 'role="alert"' in refused.text
        assert ('name="sure"' in refused.text) == (not word)
    assert trail(site) == before
    form = {"word": f" {word.upper()}"} if word else SURE
    assert dashboard.post(path, data=form).status_code in (200, 303)
    assert trail(site) != before


def test_no_secret_is_logged(
    app: Flask, site: Site, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    link = new_link(site, "J1")
    monkeypatch.setattr("webjudge.access.person_of_link", broken)
    answer = app.test_client().get(link)
    assert answer.status_code == 500
    assert "bug" in caplog.text
    assert "Traceback" not in answer.text
    assert link.rpartition("/")[2] not in caplog.text + answer.text
