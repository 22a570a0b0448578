"""In which language judges are answered, and which texts of the organizer they get."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from quem.store.people import people_of
from tests.served import all_ranked
from tests.webjudge.sites import enter_as, enter_dashboard, set_life, write_site
from tests.webjudge.test_judging import data_of, gids, put
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from quem.store.models import PersonRow
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
    text = path.read_text().replace("name: Judge J2", "name: Judge J2, language: es")
    path.write_text(text)
    site = open_site(path)
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


def language_of(client: FlaskClient, accept: str = "", path: str = "/judge") -> str:
    """The language of a page."""
    headers = {"Accept-Language": accept} if accept else {}
    match = re.search(r'<html lang="([^"]*)" dir="ltr">', client.get(path, headers=headers).text)
    assert match
    return match[1]


def test_the_judges_own_choice_comes_first(app: Flask, site: Site) -> None:
    """Then what the study file says of them, then their browser, then the study."""
    client = enter_as(app, site, "J1")
    assert language_of(client) == "fr"
    assert language_of(client, "zh-Hant-TW") == "fr"
    assert language_of(client, "de-CH, en;q=0.5") == "de"
    assert language_of(client, "it, en;q=0.5, de;q=0.1") == "en"
    assert language_of(client, "de;q=0, ja;q=0.2") == "ja"
    spanish = enter_as(app, site, "J2")
    assert language_of(spanish, "de") == "es"
    answer = spanish.post("/judge/language", data={"language": "ja"})
    assert (answer.status_code, answer.location) == (303, "/judge")
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert language_of(spanish, "de") == "ja"
    assert language_of(client, "de") == "de", "another browser"


def test_only_languages_that_are_there_can_be_chosen(app: Flask, site: Site) -> None:
    """Anything else is refused, and a cookie that names it is of no account."""
    client = enter_as(app, site, "J1")
    assert client.post("/judge/language", data={"language": "../de"}).status_code == 400
    assert client.post("/judge/language").status_code == 400
    client.set_cookie(f"quem-kept-{site.key}", "xx")
    assert language_of(client) == "fr"
    assert app.test_client().post("/judge/language", data={"language": "de"}).status_code == 401


def test_a_choice_in_a_task_leads_back_to_it(app: Flask, site: Site) -> None:
    """Its page, its script's texts, its refusals, and its receipts are in that language."""
    client = enter_as(app, site, "J1")
    client.post("/judge/consent", data={"consent": "yes"})
    gid = gids(client)[1]
    answer = client.post("/judge/language", data={"language": "de", "gid": gid})
    assert answer.location == f"/judge/g/{gid}"
    page = client.get(answer.location).text
    assert "Prüfen und einreichen" in page
    match = re.search(r'<script type="application/json" id="words">(.*?)</script>', page)
    assert match
    words = json.loads(match[1])
    assert words["Equally good"] == "Gleich gut"
    assert words["1 word"] == {"one": "{n} Wort", "other": "{n} Wörter"}
    assert "Dear %(address)s," not in words, "what no script says"
    data = data_of(client, gid)
    assert data["step"].startswith("Aufgabe ")
    set_life(site, "closed")
    refused = put(client, gid, state=all_ranked(data["labels"]))
    assert refused.get_json()["message"].startswith("Die Studie ist beendet.")
    missing = client.get("/judge/g/nothing")
    assert missing.status_code == 404
    assert "Seite nicht gefunden." in missing.text


def test_texts_of_the_organizer_are_taken_in_the_judges_language(app: Flask, site: Site) -> None:
    """Where there is none in it, the one that the study file names is shown."""
    client = enter_as(app, site, "J1")
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
    client = enter_dashboard(app, site)
    key = {j.id: j.key for j in _judges(site)}
    french = client.get(f"/dashboard/people/{key['J1']}/invitation").text
    spanish = client.get(f"/dashboard/people/{key['J2']}/invitation").text
    assert "Bonjour Judge J1," in french
    assert "Hola, Judge J2:" in spanish
    assert '<textarea id="message-1" lang="es"' in spanish
    for page in (french, spanish):
        assert '<html lang="en"' in page
        assert "Back to overview" in page


def _judges(site: Site) -> list[PersonRow]:
    with site.store.read() as c:
        return people_of(c, site.id, "judge")
