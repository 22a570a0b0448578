"""Judges and links at the dashboard."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from quem.store.state import Comparison, State
from tests.webjudge.sites import (
    SUBJECTS,
    SURE,
    SYSTEM,
    enter_as,
    enter_dashboard,
    everybody,
    make_site,
    rank,
    set_life,
    trail,
)
from webjudge import create_app

if TYPE_CHECKING:
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

LINK = re.compile(r'value="(http://localhost/j/[\w-]{22,})"')


def links_in(dashboard: FlaskClient, path: str, **form: str) -> list[str]:
    return LINK.findall(dashboard.post(f"/dashboard{path}", data={**SURE, **form}).text)


def test_links_are_shown_once_and_replace_each_other(
    app: Flask, dashboard: FlaskClient, site: Site
) -> None:
    """A new link works, ends the one before, and stands nowhere but in the answer."""
    links = links_in(dashboard, "/judges/links")
    assert len(links) == 2
    assert links_in(dashboard, "/judges/links") == []
    person = f"/people/{everybody(site)['J1'].key}"
    [new] = links_in(dashboard, f"{person}/link")
    assert app.test_client().get(new).status_code == 303
    assert app.test_client().get(links[0]).status_code == 404
    for path in ("", "/events", "/judges/invitations", f"{person}/link", f"{person}/erase"):
        assert LINK.findall(dashboard.get(f"/dashboard{path}").text) == []
    for _ in range(2):
        assert dashboard.post(f"/dashboard{person}/revoke", data=SURE).status_code == 303
    assert app.test_client().get(new).status_code == 404
    assert trail(site) == ["link-made", "link-made", "link-replaced", "link-revoked"]


def test_forgetting_lasts(
    app: Flask, dashboard: FlaskClient, site: Site, run: list[dict[str, Any]]
) -> None:
    """A forgotten judge's name and words are gone everywhere, also from the report."""
    judge = enter_as(app, site, "J1")
    ranked = (SUBJECTS[:2], (*SUBJECTS[2:], SYSTEM))
    said = {SUBJECTS[1]: "<b>Splendid</b> idea"}
    compared = (Comparison(SUBJECTS[1], SUBJECTS[2], "better", "left", 4321.5),)
    state = State(ranked, comments=said, comparisons=compared, placed_by={SYSTEM: "drag"})
    rank(site, "J1", "P1", state)
    set_life(site, "closed")
    page = dashboard.get("/dashboard/words").text
    assert "&lt;b&gt;Splendid&lt;/b&gt; idea" in page
    assert not [word for word in ("drag", "4321") if word in page], "no comments"
    dashboard.get("/dashboard/report/")
    person = f"/dashboard/people/{everybody(site)['J1'].key}"
    assert dashboard.post(f"{person}/erase", data={"word": "J1"}).status_code == 303
    assert list(everybody(site)) == ["erased-1", "J2"]
    assert judge.get("/judge").status_code == 401
    assert dashboard.get("/dashboard/report/report.html").text == "run 2"
    for path in ("", "/events", "/words", "/report/"):
        page = dashboard.get(f"/dashboard{path}").text
        assert not [word for word in ("Judge J1", "Splendid") if word in page]
    assert len(run) == 2
    for what in ("link", "revoke", "erase"):
        answer = dashboard.post(f"{person}/{what}", data=SURE)
        assert answer.status_code == 422
        assert "has been erased" in answer.text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"id": "J1"}, "Judge J1 already exists"),
        ({"id": "J7", "experience": "nan"}, "Enter a number"),
        ({"id": "J7", "name": "a\tb"}, "Use one line"),
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
    assert (list(everybody(site)), trail(site)) == (["J1", "J2"], [])


def test_messages_are_ready_to_be_sent(tmp_path: Path) -> None:
    """Invitations have the link, reminders the progress; both address the judge and are signed."""
    more = "organizer: {name: Lena, institution: Cooling & Co}\ndeadline: 2031-12-12\nminutes: 90"
    site = make_site(tmp_path, more=more)
    dashboard = enter_dashboard(create_app(site), site)
    page = dashboard.post("/dashboard/judges/links", data=SURE).text
    link = LINK.findall(page)[0]
    message = written(page)[0]
    assert message.startswith("Dear Judge J1,\n\n")
    assert "(number of tasks: 3; about 1½ hours; please by 12 December 2031)" in message
    assert f"\n\n{link}\n\n" in message
    assert message.endswith("\n\nLena\nCooling & Co")
    mail = urlsplit(unescape(re.findall(r'href="(mailto:[^"]*)"', page)[0]))
    assert parse_qs(mail.query)["body"][0].strip() == message
    rank(site, "J1", "P1")
    first, second = written(dashboard.get("/dashboard/judges/reminders").text)
    assert "So far, 1 of 3 of your rankings are submitted." in first
    assert second.startswith("Dear Judge J2,\n\nwe hope for your judgment")
    person = f"/dashboard/people/{everybody(site)['J1'].key}"
    assert written(dashboard.get(f"{person}/reminder").text) == [first]
    assert "/j/" not in written(dashboard.get(f"{person}/invitation").text)[0]
    site.store.close()


def written(page: str) -> list[str]:
    texts = re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    return [unescape(text).strip() for text in texts]
