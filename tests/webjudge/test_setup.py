"""Completing a study in the dashboard: what is written, what is refused, and who follows."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from quem.cli import main
from quem.store.audit_log import audit_events
from quem.store.people import DEFAULT, issue_link, person_named
from quem.studyfile.models import ExperienceSpec
from quem.studyfile.reading import read_study
from tests.importing.made import write_tree
from tests.webjudge.sites import enter_dashboard, set_life
from webjudge import create_app, open_site, study_edits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask.testing import FlaskClient

    from quem.store.audit_log import AuditEvent
    from webjudge import Site

SETUP = "/dashboard/setup"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study out of a folder of two solvers with two tasks."""
    source = write_tree(tmp_path / "work", ["atlas", "maria"], ["task-1", "task-2"])
    made = CliRunner().invoke(main, ["init", str(tmp_path / "study"), "--from", str(source)])
    assert made.exit_code == 0
    site = open_site(tmp_path / "study/study.yaml")
    yield site
    site.store.close()


@pytest.fixture
def client(site: Site) -> FlaskClient:
    """The organizer's browser."""
    return enter_dashboard(create_app(site), site)


ALL_SYSTEMS = {"atlas": ("system", ""), "maria": ("system", "")}


def form(more: dict[str, str] | None = None, /, **kinds: tuple[str, str]) -> dict[str, str]:
    """What the form sends."""
    sent = dict(more or {})
    for solver, (kind, years) in (kinds or ALL_SYSTEMS).items():
        sent |= {f"kind-{solver}": kind, f"years-{solver}": years}
    return sent


def seen(client: FlaskClient) -> str:
    """What the page's fields show, as the form sends it."""
    [value] = re.findall('name="shown" value="([^"]+)"', client.get(SETUP).text)
    return unescape(value)


def test_the_first_link_leads_to_what_is_missing(site: Site) -> None:
    """Once nothing is missing, or the study is open, it leads to the overview."""
    client = create_app(site).test_client()
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    assert client.get(f"/d/{token}").location == SETUP
    assert "The study is not complete" in client.get("/dashboard").text
    set_life(site, "open")
    assert client.get(f"/d/{token}").location == "/dashboard"


def test_what_is_missing_is_named_before_opening(site: Site, client: FlaskClient) -> None:
    """The question names it, and quem check the texts; a complete study is opened without."""
    asked = unescape(client.get("/dashboard/open").text)
    assert "not complete: Nobody is named as a person with years of experience; 2 st" in asked
    [warning] = [one for one in site.warnings if one.code == "unwritten-text"]
    assert "task-1.md and 2 more: a line begins with TODO" in warning.message
    sent = form({"names": "Amy"}, atlas=("system", ""), maria=("person", "4"))
    assert client.post(SETUP, data=sent).status_code == 303
    assert "<code>problems/task-2.md</code>" in client.get(SETUP).text
    for text in ("problems/task-1", "problems/task-2", "consent"):
        (site.path.parent / f"{text}.md").write_text("Do.\n")
    page = client.get(SETUP).text
    assert "TODO" not in page
    assert "Nothing is lacking." in page
    assert "not complete" not in client.get("/dashboard/open").text


def test_people_are_moved_and_comments_stay(site: Site, client: FlaskClient) -> None:
    """The study file says who is a person; every comment and all else is as it was."""
    old = site.path.read_text()
    sent = form(atlas=("system", ""), maria=("person", "4,5"))
    assert client.post(SETUP, data=sent).status_code == 303
    new = site.path.read_text()
    assert new.replace("  - {id: maria, experience: 4.5}\n", "").replace(
        "subjects:\n", "subjects: []\n"
    ) == (old.replace("  - {id: maria}\n", ""))
    page = client.get(SETUP).text
    assert 'value="4.5"' in page
    back = form(maria=("system", ""), atlas=("person", "12"))
    assert client.post(SETUP, data=back).status_code == 303
    spec = read_study(site.path)
    assert [(s.id, s.experience) for s in spec.subjects] == [("atlas", 12)]
    assert [s.id for s in spec.systems] == ["maria"]


@pytest.mark.parametrize("years", ["", "many", "-1", "151", "1e2"])
def test_years_that_are_none(site: Site, client: FlaskClient, years: str) -> None:
    """The field is named, what was written stays on the page, and nothing is saved."""
    old = site.path.read_text()
    answer = client.post(SETUP, data=form(atlas=("system", ""), maria=("person", years)))
    assert answer.status_code == 422
    assert "Write a number from 0 to 150" in answer.text
    assert f'value="{years}"' in answer.text
    assert site.path.read_text() == old


def test_judges_and_who_asks(site: Site, client: FlaskClient) -> None:
    """Judges get ids and can have links at once; the contact is on their first page."""
    names = {"names": 'Amy O\'Neil: "Dr"\r\n\r\nBo'}
    assert client.post(SETUP, data=form(names)).status_code == 303
    contact = {
        "name": "Lena",
        "email": "lena@example.org",
        "deadline": "2031-01-31",
        "title": "Plans",
    }
    assert client.post(SETUP, data=form(contact)).status_code == 303
    spec = read_study(site.path)
    assert [(j.id, j.name) for j in spec.judges] == [("J1", 'Amy O\'Neil: "Dr"'), ("J2", "Bo")]
    assert (spec.title, spec.organizer.email) == ("Plans", "lena@example.org")
    assert "Amy O&#39;Neil" in client.get("/dashboard/judges/invitations").text
    wrong = client.post(SETUP, data=form({**contact, "email": "nobody"}))
    assert wrong.status_code == 422
    assert "is not an email address" in wrong.text


def test_a_file_that_was_edited_meanwhile(site: Site, client: FlaskClient) -> None:
    """What somebody wrote in an editor is edited further, not replaced."""
    site.path.write_text(site.path.read_text().replace("title: work", "title: Other  # mine"))
    assert client.post(SETUP, data=form({"names": "Amy"})).status_code == 303
    assert "title: Other  # mine" in site.path.read_text()
    site.path.write_text(site.path.read_text().replace("judges:", "judgesz:"))
    broken = client.post(SETUP, data=form({"names": "Bo"}))
    assert broken.status_code == 422
    assert "judgesz" in broken.text
    assert ">Bo</textarea>" in broken.text


def test_another_process_follows(site: Site, client: FlaskClient) -> None:
    """What one process of a server edited, the others serve; other changes wait for a start."""
    other = open_site(site.path)
    watching = create_app(other).test_client()
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    for browser in (client, watching):
        browser.get(f"/d/{token}")
    assert "Amy" not in watching.get(SETUP).text
    client.post(SETUP, data=form({"names": "Amy"}))
    client.post(SETUP, data=form({"title": "New title"}))
    assert "New title" in watching.get(SETUP).text
    site.path.write_text(site.path.read_text().replace("New title", "By hand"))
    assert "By hand" not in watching.get(SETUP).text
    other.store.close()


def test_another_process_is_asked_in_the_middle_of_an_edit(
    site: Site, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written and the edit not yet noted: it is taken over with the next request."""
    other = open_site(site.path)
    watching = create_app(other).test_client()
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    for browser in (client, watching):
        browser.get(f"/d/{token}")
    note = study_edits.note_edit

    def ask_before(part: str, sha256: str = "") -> None:
        assert "New title" not in watching.get(SETUP).text
        note(part, sha256)

    monkeypatch.setattr(study_edits, "note_edit", ask_before)
    assert "New title" not in watching.get(SETUP).text
    client.post(SETUP, data=form({"title": "New title"}))
    assert "New title" in watching.get(SETUP).text
    other.store.close()


def test_edits_are_logged_and_only_for_organizers(site: Site, client: FlaskClient) -> None:
    """The log says who edited what; strangers can edit nothing."""
    client.post(SETUP, data=form({"names": "Amy", "name-maria": "Maria H."}))
    event = audited(site)
    parts = "who made the solutions, judges"
    assert (event.what, event.by, event.detail["part"]) == ("study-edited", "organizer", parts)
    assert f"Study edited in the dashboard: {parts}" in client.get("/dashboard/events").text
    assert [one.name for one in read_study(site.path).systems] == ["", "Maria H."]
    stranger = create_app(site).test_client()
    assert stranger.get(SETUP).status_code == 401
    assert stranger.post(SETUP, data=form({"names": "X"})).status_code == 401


@pytest.mark.parametrize("years", ["4.5", "many"])
def test_years_beside_a_system(site: Site, client: FlaskClient, years: str) -> None:
    """Years make a person of whoever was a system; what are no years is refused, not dropped."""
    sent = form({"shown": seen(client)}, atlas=("system", ""), maria=("system", years))
    answer = client.post(SETUP, data=sent, follow_redirects=True)
    people = {one.id: one.experience for one in read_study(site.path).subjects}
    if years == "many":
        assert (answer.status_code, people) == (422, {})
        assert 'value="many"' in answer.text
    else:
        assert people == {"maria": 4.5}
        assert "Saved. maria: a person, 4.5 years" in answer.text


def test_two_tabs(site: Site, client: FlaskClient) -> None:
    """A tab saves what was changed in it; nothing of another is undone without a question."""
    shown = seen(client)
    first = form({"shown": shown, "name": "Lena", "title": "First"}, maria=("person", "4"))
    assert client.post(SETUP, data=first).status_code == 303
    second = form({"shown": shown, "phone": "123", "names": "Amy"})
    assert client.post(SETUP, data=second).status_code == 303
    assert client.post(SETUP, data=second).location == SETUP
    spec = read_study(site.path)
    assert (spec.title, spec.organizer.name, spec.organizer.phone) == ("First", "Lena", "123")
    assert [one.id for one in spec.subjects] == ["maria"]
    assert [one.name for one in spec.judges] == ["Amy"]
    third = {"shown": shown, "title": "Third", "institution": "ETH"}
    asked = client.post(SETUP, data=third)
    assert asked.status_code == 422
    assert "Title was changed to “First”" in unescape(asked.text)
    assert 'value="ETH"' in asked.text
    [now] = re.findall('name="shown" value="([^"]+)"', asked.text)
    third["shown"] = unescape(now)
    assert client.post(SETUP, data=third).status_code == 303
    spec = read_study(site.path)
    assert (spec.title, spec.organizer.institution) == ("Third", "ETH")


def test_a_solver_who_left_meanwhile(client: FlaskClient) -> None:
    """What was written beside somebody who is no solver any more is refused by name."""
    sent = {"shown": seen(client).replace("maria", "mario"), "name-mario": "Mario"}
    answer = client.post(SETUP, data=sent)
    assert answer.status_code == 422
    assert "mario is not in the study any more" in answer.text


def test_checks_are_live(site: Site, client: FlaskClient) -> None:
    """What was mended is gone with the next request; a consent form is no solution."""
    assert "in the solutions" not in client.get("/dashboard").text
    set_life(site, "open")
    for text in ("problems/task-1", "problems/task-2"):
        (site.path.parent / f"{text}.md").write_text("Do.\n")
    client.post(SETUP, data=form({"names": "Amy"}, atlas=("system", ""), maria=("person", "4")))
    assert "The consent form is not written" in client.get("/dashboard").text
    (site.path.parent / "consent.md").write_text("I take part.\n")
    assert "not written" not in client.get("/dashboard").text
    solution = next((site.path.parent / "solutions/task-1/atlas").glob("*.*"))
    text = solution.read_text()
    solution.write_text("This is the work of atlas.\n")
    assert "in the solutions" in client.get("/dashboard").text
    solution.write_text(text)
    assert "in the solutions" not in client.get("/dashboard").text


def test_one_button_opens_and_shows_links(site: Site, client: FlaskClient) -> None:
    """What is typed is saved, the study is open, and its links are shown; or it is said why not."""
    button = "Open the study and show links"
    assert button not in client.get(SETUP).text
    sent = {"shown": seen(client), "years-maria": "4", "then": "open"}
    lacking = client.post(SETUP, data=sent, follow_redirects=True).text
    assert "The consent form is not written" in lacking
    assert "Test mode" in lacking
    for text in ("problems/task-1", "problems/task-2", "consent"):
        (site.path.parent / f"{text}.md").write_text("Do.\n")
    assert button in client.get(SETUP).text
    sent = {"shown": seen(client), "name": "Lena", "then": "open"}
    assert "No judges are named" in client.post(SETUP, data=sent, follow_redirects=True).text
    sent = {"shown": seen(client), "names": "Amy", "then": "open"}
    assert "solutions are not reviewed" in client.post(SETUP, data=sent).text
    assert "Test mode" in client.get("/dashboard").text
    shown = client.post(SETUP, data=sent | {"sure": "yes"}).text
    assert "The study is open." in shown
    assert "/j/" in shown
    assert read_study(site.path).organizer.name == "Lena"
    assert button not in client.get(SETUP).text


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.1:8080", "only on this computer"),
        ("http://a.localhost", "only on this computer"),
        ("http://[::1]", "only on this computer"),
        ("http://192.168.1.7:8080", "only in this network"),
        ("http://lab-pc", "only in this network"),
        ("https://judging.example.org", ""),
    ],
)
def test_where_links_work(site: Site, url: str, words: str) -> None:
    """It is said before links are made."""
    client = enter_dashboard(create_app(site, url=url), site)
    client.post(SETUP, data={"names": "Amy"})
    for page in (SETUP, "/dashboard/judges/invitations"):
        text = client.get(page).text
        assert f"<code>{url}</code>" in text
        assert "work only" in text if words else "work only" not in text
        assert words in text


def audited(site: Site) -> AuditEvent:
    """The newest event."""
    with site.store.read() as c:
        return audit_events(c, site.id, 1)[0]


def test_whom_the_years_speak_about(site: Site, client: FlaskClient) -> None:
    """An answer is declared in the study file, and taking it back takes it out."""
    old = site.path.read_text()
    wrong = client.post(SETUP, data=form({"fewest": "9", "most": "2"}))
    assert wrong.status_code == 422
    assert "Write more years than the fewest" in wrong.text
    assert client.post(SETUP, data=form({"fewest": "0", "most": ""})).status_code == 422
    assert site.path.read_text() == old
    assert client.post(SETUP, data=form({"fewest": "0", "most": "20,5"})).status_code == 303
    spec = read_study(site.path)
    assert isinstance(spec, ExperienceSpec)
    assert spec.analysis.reference_population
    assert spec.analysis.reference_population.years == (0, 20.5)
    assert 'value="20.5"' in client.get(SETUP).text
    assert client.post(SETUP, data=form({"fewest": "", "most": ""})).status_code == 303
    spec = read_study(site.path)
    assert isinstance(spec, ExperienceSpec)
    assert spec.analysis.reference_population is None
