"""In which language judges are answered, and which texts of the organizer they get."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.webjudge.sites import (
    data_of,
    enter_as,
    enter_dashboard,
    everybody,
    gids,
    put,
    set_life,
    write_site,
)
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

JUDGING = "{briefing: briefing.md, consent: consent.md, practice: P0, language: fr}"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A French study, with a judge who reads Spanish."""
    for name, text in {
        "briefing.md": "Le briefing.",
        "briefing.de.md": "Die Einweisung.",
        "briefing.old.md": "An old one.",
        "consent.md": "Le consentement.",
        "consent.ja.md": "同意書。",
    }.items():
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    path = write_site(tmp_path, judging=JUDGING)
    path.write_text(path.read_text().replace("name: Judge J2", "name: Judge J2, language: es"))
    site = open_site(path)
    yield site
    site.store.close()


@pytest.fixture
def client(app: Flask, site: Site) -> FlaskClient:
    return enter_as(app, site, "J1")


def language_of(client: FlaskClient, accept: str = "", path: str = "/judge") -> str:
    headers = {"Accept-Language": accept} if accept else {}
    match = re.search(r'<html lang="([^"]*)" dir="ltr">', client.get(path, headers=headers).text)
    assert match
    return match[1]


def test_the_judges_own_choice_comes_first(app: Flask, site: Site, client: FlaskClient) -> None:
    """Then what the study file says of them, then their browser, then the study."""
    for accept, language in {
        "": "fr",
        "zh-Hant-TW": "fr",
        "de-CH, en;q=0.5": "de",
        "it, en;q=0.5, de;q=0.1": "en",
        "de;q=0, ja;q=0.2": "ja",
    }.items():
        assert language_of(client, accept) == language
    spanish = enter_as(app, site, "J2")
    assert language_of(spanish, "de") == "es"
    answer = spanish.post("/judge/language", data={"language": "ja"})
    assert (answer.status_code, answer.location) == (303, "/judge")
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert language_of(spanish, "de") == "ja"
    for wrong in ({"language": "../de"}, {}):
        assert client.post("/judge/language", data=wrong).status_code == 400
    client.set_cookie(f"quem-kept-{site.key}", "xx")
    assert language_of(client) == "fr"


def test_a_choice_in_a_task_leads_back_to_it(client: FlaskClient, site: Site) -> None:
    """Its page, its script's texts, and its refusals are in that language."""
    client.post("/judge/consent", data={"consent": "yes"})
    gid = gids(client)[1]
    answer = client.post("/judge/language", data={"language": "de", "gid": gid})
    assert answer.location == f"/judge/g/{gid}"
    page = client.get(answer.location).text
    assert "Prüfen und einreichen" in page
    match = re.search(r'<script type="application/json" id="words">(.*?)</script>', page)
    assert match
    words = json.loads(match[1])
    assert words["1 word"] == {"one": "{n} Wort", "other": "{n} Wörter"}
    assert "Dear %(address)s," not in words, "what no script says"
    assert data_of(client, gid)["step"].startswith("Aufgabe ")
    set_life(site, "closed")
    assert put(client, gid).get_json()["message"].startswith("Die Studie ist beendet.")
    assert "Seite nicht gefunden." in client.get("/judge/g/nothing").text


def test_texts_of_the_organizer_are_taken_in_the_judges_language(client: FlaskClient) -> None:
    """Where there is none in it, the one that the study file names is shown."""
    shown = {}
    for accept in ("de", "ja", "en"):
        page = client.get("/judge", headers={"Accept-Language": accept}).text
        shown[accept] = re.findall(r"Le briefing|Die Einweisung|Le consentement|同意書", page)
    assert shown == {
        "de": ["Die Einweisung", "Le consentement"],
        "ja": ["Le briefing", "同意書"],
        "en": ["Le briefing", "Le consentement"],
    }


def test_letters_are_in_the_judges_language(app: Flask, site: Site) -> None:
    """As far as the study file names it; the dashboard around them is in English."""
    dashboard = enter_dashboard(app, site)
    for name, greeting in (("J1", "Bonjour Judge J1,"), ("J2", "Hola, Judge J2:")):
        page = dashboard.get(f"/dashboard/people/{everybody(site)[name].key}/invitation").text
        assert greeting in page
        assert '<html lang="en"' in page
    assert '<textarea id="message-1" lang="es"' in page
