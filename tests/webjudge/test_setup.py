"""Completing a study in the dashboard: what is written, what is refused, and who follows."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from quem.cli import main
from quem.studyfile.models import ExperienceSpec
from quem.studyfile.reading import read_study
from tests.importing.made import write_tree
from tests.webjudge.sites import (
    SURE,
    audited,
    enter_dashboard,
    state_of,
)
from webjudge import create_app, open_site, study_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask.testing import FlaskClient

    from webjudge import Site

SETUP = "/dashboard/setup"
SYSTEM = ("system", "")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    source = write_tree(tmp_path / "work", ["atlas", "maria"], ["task-1", "task-2"])
    made = CliRunner().invoke(main, ["init", str(tmp_path / "study"), "--from", str(source)])
    assert made.exit_code == 0
    site = open_site(tmp_path / "study/study.yaml")
    yield site
    site.store.close()


@pytest.fixture
def client(site: Site) -> FlaskClient:
    return enter_dashboard(create_app(site), site)


def save(client: FlaskClient, sent: dict[str, str] | None = None, **kinds: tuple[str, str]) -> int:
    return client.post(SETUP, data=form(sent, **kinds)).status_code


@pytest.fixture
def watching(site: Site, opened: Callable[[Path], Site], client: FlaskClient) -> FlaskClient:
    other = create_app(opened(site.path)).test_client()
    cookie = client.get_cookie(f"quem-dashboard-{site.key}")
    assert cookie
    other.set_cookie(cookie.key, cookie.value)
    return other


def form(more: dict[str, str] | None = None, /, **kinds: tuple[str, str]) -> dict[str, str]:
    sent = dict(more or {})
    for solver, (kind, years) in ({"atlas": SYSTEM, "maria": SYSTEM} | kinds).items():
        sent |= {f"kind-{solver}": kind, f"years-{solver}": years}
    return sent


def seen(client: FlaskClient) -> str:
    [value] = re.findall('name="shown" value="([^"]+)"', client.get(SETUP).text)
    return unescape(value)


def test_people_are_moved_and_comments_stay(site: Site, client: FlaskClient) -> None:
    old = site.path.read_text()
    assert save(client, maria=("person", "4,5")) == 303
    new = site.path.read_text().replace("  - {id: maria, experience: 4.5}\n", "")
    new = new.replace("subjects:\n", "subjects: []\n")
    assert new == old.replace("  - {id: maria}\n", "")
    assert 'value="4.5"' in client.get(SETUP).text
    assert save(client, atlas=("person", "12")) == 303
    spec = read_study(site.path)
    assert [(s.id, s.experience) for s in spec.subjects] == [("atlas", 12)]
    assert [s.id for s in spec.systems] == ["maria"]
    save(client, {"names": "Amy", "name-maria": "Maria H."})
    event = audited(site)[-1]
    parts = "who made the solutions, judges"
    assert (event.what, event.by, event.detail["part"]) == ("study-edited", "organizer", parts)
    assert f"Study edited in the dashboard: {parts}" in client.get("/dashboard/events").text


def test_judges_are_renamed(site: Site, client: FlaskClient) -> None:
    assert f'href="{SETUP}"' in client.get("/dashboard").text
    assert save(client, {"names": "Amy\nBo"}) == 303
    assert save(client, {"judge-J2": "Bo Lee", "names": "Cy"}) == 303
    assert "Judge: Bo Lee" in client.get(SETUP).text
    names = [(judge.id, judge.name) for judge in read_study(site.path).judges]
    assert names == [("J1", "Amy"), ("J2", "Bo Lee"), ("J3", "Cy")]


@pytest.mark.parametrize(
    ("sent", "maria", "words"),
    [
        *(
            ({}, ("person", y), "Enter a number from 0 to 150")
            for y in ("", "x", "-1", "151", "1e2")
        ),
        ({}, ("system", "many"), 'value="many"'),
        ({"email": "nobody"}, SYSTEM, "is not an email address"),
        ({"fewest": "9", "most": "2"}, SYSTEM, "Enter more years than the minimum"),
        ({"fewest": "0", "most": ""}, SYSTEM, 'role="alert"'),
        ({"name-nobody": "Mario"}, SYSTEM, "nobody is not in the study any more"),
    ],
)
def test_what_is_refused(
    site: Site, client: FlaskClient, sent: dict[str, str], maria: tuple[str, str], words: str
) -> None:
    """The field is named, what was written stays on the page, and nothing is saved."""
    old = site.path.read_text()
    if "name-nobody" in sent:
        sent = {**sent, "shown": seen(client).replace("maria", "nobody")}
    answer = client.post(SETUP, data=form(sent, maria=maria))
    assert answer.status_code == 422
    assert words in answer.text
    assert f'value="{maria[1]}"' in answer.text
    assert site.path.read_text() == old


def test_a_file_that_was_edited_meanwhile(site: Site, client: FlaskClient) -> None:
    site.path.write_text(site.path.read_text().replace("title: work", "title: Other  # mine"))
    assert save(client, {"names": "Amy"}) == 303
    assert "title: Other  # mine" in site.path.read_text()
    site.path.write_text(site.path.read_text().replace("judges:", "judgesz:"))
    broken = client.post(SETUP, data=form({"names": "Bo"}))
    assert broken.status_code == 422
    assert "judgesz" in broken.text
    assert ">Bo</textarea>" in broken.text


def test_another_process_is_asked_in_the_middle_of_an_edit(
    site: Site, client: FlaskClient, watching: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written and the edit not yet noted: it is taken over with the next request."""
    note = study_edits.note_edit

    def ask_before(part: str, sha256: str = "") -> None:
        assert "New title" not in watching.get(SETUP).text
        note(part, sha256)

    monkeypatch.setattr(study_edits, "note_edit", ask_before)
    assert "New title" not in watching.get(SETUP).text
    save(client, {"title": "New title"})
    assert "New title" in watching.get(SETUP).text
    site.path.write_text(site.path.read_text().replace("New title", "By hand"))
    assert "By hand" not in watching.get(SETUP).text, "other changes wait for a start"


def test_two_tabs(site: Site, client: FlaskClient) -> None:
    """A tab saves what was changed in it; nothing of another is undone without a question."""
    shown = seen(client)
    first = form({"shown": shown, "title": "First"}, maria=("person", "4"))
    second = form({"shown": shown, "names": 'Amy O\'Neil: "Dr"\r\n\r\nBo'})
    for sent in (first, second, second):
        assert client.post(SETUP, data=sent).location == SETUP
    spec = read_study(site.path)
    assert (spec.title, len(spec.subjects)) == ("First", 1)
    assert [one.name for one in spec.judges] == ['Amy O\'Neil: "Dr"', "Bo"]
    third = {"shown": shown, "title": "Third", "institution": "ETH"}
    asked = client.post(SETUP, data=third)
    assert asked.status_code == 422
    assert "Title was changed to “First”" in unescape(asked.text)
    assert 'value="ETH"' in asked.text
    [now] = re.findall('name="shown" value="([^"]+)"', asked.text)
    third["shown"] = unescape(now)
    assert client.post(SETUP, data=third).status_code == 303
    assert read_study(site.path).title == "Third"


def test_one_button_opens_and_shows_links(site: Site, client: FlaskClient) -> None:
    """What is typed is saved, the study is open, and its links are shown; or it is said why not."""

    def press(**fields: str) -> str:
        sent = {"shown": seen(client), "then": "open", **fields}
        return client.post(SETUP, data=sent, follow_redirects=True).text

    assert "not complete: No person has years" in client.get("/dashboard/open").text
    assert "The consent form is not written" in press(**{"years-maria": "4"})
    for text in ("problems/task-1", "problems/task-2", "consent"):
        (site.path.parent / f"{text}.md").write_text("Do.\n")
    assert "No judges are named" in press(name="Lena")
    assert "solutions are not reviewed" in press(names="Amy")
    assert state_of(site) == "trial"
    assert "/j/" in press(**SURE)
    assert read_study(site.path).organizer.name == "Lena"
    assert "Open the study and show links" not in client.get(SETUP).text


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.1:8080", "work only on this computer"),
        ("http://[::1]", "work only on this computer"),
        ("http://192.168.1.7:8080", "work only in this network"),
        ("https://judging.example.org", ""),
    ],
)
def test_where_links_work(site: Site, url: str, words: str) -> None:
    client = enter_dashboard(create_app(site, url=url), site)
    save(client, {"names": "Amy"})
    for page in (SETUP, "/dashboard/judges/invitations"):
        text = client.get(page).text
        assert f"<code>{url}</code>" in text
        assert words in text if words else "work only" not in text


def test_whom_the_years_speak_about(site: Site, client: FlaskClient) -> None:
    """An answer is declared in the study file, and taking it back takes it out."""

    def years() -> tuple[float, ...] | None:
        spec = read_study(site.path)
        assert isinstance(spec, ExperienceSpec)
        declared = spec.analysis.reference_population
        return declared.years if declared else None

    for fewest, most, expected in (("0", "20,5", (0, 20.5)), ("", "", None)):
        assert save(client, {"fewest": fewest, "most": most}) == 303
        assert years() == expected
