"""Letters of a running server: the dashboard's page, invitations and reminders."""

from __future__ import annotations

import datetime as dt
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from quem.cli import main
from quem.mail.server import mail_settings
from quem.store.audit_log import audit_events
from quem.store.models import LetterRow, PersonRow, now
from quem.store.outbox import KINDS, claim, letters_of, queue_letter
from quem.store.people import decline, people_of, person_named
from quem.store.studies import set_solving
from tests.mail.smtp import MailHost
from tests.patience import until
from tests.webjudge.sites import enter_dashboard, make_site, rank, rank_all, set_life
from tests.webjudge.solving_sites import Solver, write_solving_study
from webjudge import create_app, open_site
from webjudge.languages import LANGUAGES
from webjudge.mailing import POST, Post, Sender

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from quem.store.models import Role
    from webjudge import Site

URL = "https://judging.example.org"
MORE = """
organizer: {name: Zoe Novak, email: zoe@example.net}
deadline: 2031-05-10
"""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailHost]:
    """A mail server that the environment names."""
    with MailHost() as host:
        for name, value in host.environment.items():
            monkeypatch.setenv(name, value)
        yield host


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study of four judges, one of whom has no address."""
    site = make_site(tmp_path, judges=("J1", "J2", "J3", "J4"), judging="{}", more=MORE)
    rows = [f"J{n},j{n}@example.org" for n in (1, 2, 3)]
    (tmp_path / "people.csv").write_text("\n".join(["id,email", *rows, ""]))
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Iterator[Flask]:
    """The app; nothing is sent after the test."""
    app = create_app(site, url=URL)
    yield app
    app.extensions[POST].stop()


def wait_for(app: Flask) -> None:
    """Wait until no letter is being sent."""
    post: Post = app.extensions[POST]
    if post._thread:  # noqa: SLF001  that it ended is nowhere to be seen
        post._thread.join()  # noqa: SLF001


def sent(app: Flask, host: MailHost) -> set[str]:
    """Who has got a letter when all are sent, each of them once."""
    wait_for(app)
    assert set(host.receivers.values()) <= {1}
    return set(host.receivers)


def words(client: FlaskClient, url: str) -> str:
    """The text of a page."""
    page = client.get(url).get_data(as_text=True)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_invitations_are_sent_from_the_dashboard(app: Flask, site: Site, host: MailHost) -> None:
    """One button sends them, however often it is pressed; the page says what became of each."""
    client = enter_dashboard(app, site)
    page = words(client, "/dashboard/judges/invitations")
    assert "Letters go out through 127.0.0.1" in page
    assert "Send 3 invitations" in page
    assert "Not sent; no address" in page
    assert "Send 3 invitations" not in words(client, "/dashboard")
    host.answer = lambda to: "550 unknown here" if to[:2] == "j3" else "250 OK"
    for _ in range(2):
        assert (
            client.post("/dashboard/mail/judge/invitations", data={"sure": "yes"}).status_code
            == 303
        )
    assert sent(app, host) == {"j1@example.org", "j2@example.org"}
    page = words(client, "/dashboard/judges/invitations")
    assert page.count("Invitation sent") == 2
    assert "Invitation failed 550 unknown here" in page
    assert "1 letter failed" in words(client, "/dashboard")
    assert all(letter["Reply-To"] == "zoe@example.net" for letter in host.letters)
    assert f"{URL}/j/" in host.letters[0].get_content()
    with site.store.read() as c:
        events = [event for event in audit_events(c, site.id, 99) if event.what == "mail"]
    assert {(e.person, e.by, e.detail["kind"], e.detail["state"]) for e in events} == {
        ("J1", "server", "invitation", "sent"),
        ("J2", "server", "invitation", "sent"),
        ("J3", "server", "invitation", "failed"),
    }
    assert "Invitation to J1: sent" in words(client, "/dashboard/events")
    # Somebody has corrected the address.
    host.answer = lambda _: "250 OK"
    (failed,) = [letter.message_id for letter in _letters(site) if letter.state == "failed"]
    assert client.post(f"/dashboard/mail/{failed}/again").status_code == 303
    assert len(sent(app, host)) == 3


def test_a_wrong_letter_is_sent_again_with_a_new_link(
    app: Flask, site: Site, host: MailHost
) -> None:
    """One button asks first; the link that was mailed ends, and two clicks send one letter."""
    client = enter_dashboard(app, site)
    client.post("/dashboard/mail/judge/invitations", data={"sure": "yes"})
    assert len(sent(app, host)) == 3
    assert words(client, "/dashboard/judges/invitations").count("Send again") == 3
    first = _letters(site)[0].message_id
    asked = client.post(f"/dashboard/mail/{first}/again")
    assert "stops working" in asked.get_data(as_text=True)
    wait_for(app)
    assert len(host.letters) == 3
    codes = [
        client.post(f"/dashboard/mail/{first}/again", data={"sure": "yes"}).status_code
        for _ in range(2)
    ]
    assert codes == [303, 422]
    wait_for(app)
    old, new = (letter for letter in host.letters if "j1@example.org" in str(letter["To"]))
    assert old["Message-ID"] != new["Message-ID"]
    assert "This link replaces the one that we sent you" in new.get_content()
    for letter in (old, new):
        link = re.search(rf"{URL}(/j/\S+)", letter.get_content())
        assert link
        assert (app.test_client().get(link[1]).status_code == 303) == (letter is new)


def test_letters_of_unknown_fate_wait_for_a_decision(
    app: Flask, site: Site, host: MailHost
) -> None:
    """They are marked as sent or sent again, once; not while a mail server may read them."""
    client = enter_dashboard(app, site)
    with site.store.write() as c:
        for judge in people_of(c, site.id, "judge")[:2]:
            queue_letter(c, site.id, judge.key, "invitation")
            assert claim(c, site.id, KINDS)
    assert words(client, "/dashboard/judges/invitations").count("Invitation on its way") == 2
    first, second = (letter.message_id for letter in _letters(site))
    assert client.post(f"/dashboard/mail/{first}/again").status_code == 422
    with site.store.write() as c:
        c.execute(update(LetterRow).values(due_at=now()))
    assert "2 letters failed" in words(client, "/dashboard")
    assert "Nobody knows whether it was sent" in words(client, "/dashboard/judges/invitations")
    assert client.post(f"/dashboard/mail/{first}/arrived").status_code == 303
    assert client.post(f"/dashboard/mail/{second}/again").status_code == 303
    assert client.post(f"/dashboard/mail/{second}/again").status_code == 422
    assert client.post(f"/dashboard/mail/{first}/arrived").status_code == 422
    assert client.post("/dashboard/mail/999/arrived").status_code == 422
    assert sent(app, host) == {"j2@example.org"}
    assert {letter.state for letter in _letters(site)} == {"sent"}
    assert "Invitation to J1: arrived" in words(client, "/dashboard/events")


def test_nothing_is_sent_without_a_server_or_an_address(
    app: Flask, site: Site, host: MailHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a mail server the page is as it was; without --url no link is mailed."""
    client = enter_dashboard(app, site)
    app.config["QUEM_URL"] = None
    app.extensions[POST].base = ""
    answer = client.post("/dashboard/mail/judge/invitations", data={"sure": "yes"})
    assert answer.status_code == 422
    assert "only on this computer" in answer.get_data(as_text=True)
    monkeypatch.delenv("QUEM_SMTP")
    assert client.post("/dashboard/mail/judge/invitations", data={"sure": "yes"}).status_code == 422
    page = words(client, "/dashboard/judges/invitations")
    assert "quem sends no mail." in page
    assert "QUEM_SMTP" in page
    assert "Create 4 links and their messages" in page
    monkeypatch.setenv("QUEM_SMTP", "smtp://mail.example.org")
    assert "QUEM_SMTP: is without TLS" in words(client, "/dashboard/judges/invitations")
    assert "QUEM_SMTP: is without TLS" in words(client, "/dashboard")
    assert not host.letters


def test_one_or_all_are_reminded_once_a_day(app: Flask, site: Site, host: MailHost) -> None:
    """Who has finished, declined, or was written to within a day gets no reminder."""
    set_life(site, "open")
    invited = now() - dt.timedelta(days=2)
    with site.store.write() as c:
        c.execute(update(PersonRow).values(link_hash=PersonRow.id, linked_at=invited))
        decline(c, person_named(c, site.id, "judge", "J3"))
    rank(site, "J2", "P1", kind="save")
    rank_all(site, "J4")
    client = enter_dashboard(app, site)

    def remind(**form: int) -> list[str]:
        before = len(host.letters)
        client.post("/dashboard/mail/judge/reminders", data=form)
        wait_for(app)
        return [letter["To"].addresses[0].addr_spec for letter in host.letters[before:]]

    with site.store.read() as c:
        keys = {judge.id: judge.key for judge in people_of(c, site.id, "judge")}
    page = words(client, "/dashboard/judges/invitations")
    assert "Remind 2 judges" in page
    assert page.count("Remind J") == 2
    assert remind(key=keys["J1"]) == ["j1@example.org"]
    reminder = host.letters[-1]
    assert reminder["List-Unsubscribe"] == "<mailto:zoe@example.net?subject=No%20reminders>"
    assert "The link that you were sent still works" in reminder.get_content()
    assert "/j/" not in reminder.get_content()
    assert remind(key=keys["J1"]) == remind(key=keys["J4"]) == []
    assert "Remind 1 judge" in words(client, "/dashboard/judges/invitations")
    assert remind() == ["j2@example.org"]
    assert remind() == []
    with site.store.write() as c:
        c.execute(update(LetterRow).values(sent_at=invited, made_at=invited))
    assert remind() == ["j1@example.org", "j2@example.org"]
    with site.store.write() as c:
        c.execute(update(LetterRow).values(sent_at=invited, made_at=invited))
    set_life(site, "paused")
    assert remind() == []


def test_a_server_that_is_not_there_is_said(
    app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters wait, and the dashboard says why."""
    for name, value in MailHost.settings(1).items():
        monkeypatch.setenv(name, value)
    client = enter_dashboard(app, site)
    assert client.post("/dashboard/mail/judge/invitations", data={"sure": "yes"}).status_code == 303
    until(lambda: "letters" in site.troubles, "the trouble")
    assert "mail server 127.0.0.1:1: Connection refused" in words(client, "/dashboard")
    assert {letter.state for letter in _letters(site)} == {"due"}


def _letters(site: Site) -> list[LetterRow]:
    with site.store.read() as c:
        return letters_of(c, site.id, "judge")


def test_people_who_solve_are_invited_before_judges(tmp_path: Path, host: MailHost) -> None:
    """Until the solving session is closed letters go to them alone; then to the judges."""
    study = write_solving_study(tmp_path, people=("S1", "S2"))
    rows = ["id,email,role", "S1,s1@example.org,subject", "S2,s2@example.org,subject"]
    (tmp_path / "people.csv").write_text("\n".join([*rows, "J1,j1@example.org,", ""]))
    site = open_site(study)
    app = create_app(site, url=URL)
    client = enter_dashboard(app, site)
    assert "Send 2 invitations" in words(client, "/dashboard/solving")
    assert "Send 1 invitation" not in words(client, "/dashboard/judges/invitations")
    assert client.post("/dashboard/mail/subject/invitations").status_code == 303
    assert sent(app, host) == {"s1@example.org", "s2@example.org"}
    letter = host.letters[0].get_content()
    assert "You solve 3 problems in your browser" in letter
    link = re.search(rf"{URL}(/p/\S+)", letter)
    assert link
    assert app.test_client().get(link[1]).status_code == 303
    assert words(client, "/dashboard/solving").count("Invitation sent") == 2
    assert "Invitation to S1: sent" in words(client, "/dashboard/events")
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
        later = now() - dt.timedelta(days=4)
        c.execute(update(LetterRow).values(sent_at=later, made_at=later))
        decline(c, person_named(c, site.id, "subject", "S2"))
    assert "Remind 1 person" in words(client, "/dashboard/solving")
    client.post("/dashboard/mail/subject/reminders")
    until(lambda: len(host.letters) == 3, "the reminder")
    assert "s1@example.org" in str(host.letters[-1]["To"])
    assert "we hope that you take part in the study" in host.letters[-1].get_content()
    with site.store.write() as c:
        set_solving(c, site.id, "closed", "shell")
    assert "Send 1 invitation" in words(client, "/dashboard/judges/invitations")
    app.extensions[POST].stop()
    site.store.close()


def test_people_whose_invitation_is_queued_get_no_other_link(
    tmp_path: Path, host: MailHost
) -> None:
    """Not from "Create links", and not from `quem links`; erasing takes the letter back."""
    study = write_solving_study(tmp_path, people=("S1", "S2"))
    rows = ["id,email,role", "S1,s1@example.org,subject"]
    (tmp_path / "people.csv").write_text("\n".join([*rows, ""]))
    host.answer = lambda _: "450 4.2.0 Zelda has moved"
    site = open_site(study)
    app = create_app(site, url=URL)
    client = enter_dashboard(app, site)
    assert "Create 2 links" in words(client, "/dashboard/solving")
    assert client.post("/dashboard/mail/subject/invitations").status_code == 303
    wait_for(app)
    page = words(client, "/dashboard/solving")
    assert "Zelda has moved" in page
    assert "Create 1 link" in page
    made = client.post("/dashboard/solving/links").get_data(as_text=True)
    assert 'data-id="S2"' in made
    assert 'data-id="S1"' not in made
    out = tmp_path / "links.csv"
    run = CliRunner().invoke(main, ["links", "people", str(study), "--out", str(out)])
    assert run.exit_code == 0, run.output
    assert "/p/" not in out.read_text()
    with site.store.read() as c:
        key = person_named(c, site.id, "subject", "S1").key
    answer = client.post(f"/dashboard/people/{key}/erase", data={"word": "S1"})
    assert answer.status_code == 303
    with site.store.read() as c:
        assert not letters_of(c, site.id, "subject")
    app.extensions[POST].stop()
    site.store.close()


@pytest.mark.parametrize("way", ["erased", "withdrawn"])
def test_what_a_mail_server_answered_is_deleted(tmp_path: Path, host: MailHost, way: str) -> None:
    """Of people who solve as of judges, whether they leave or are erased; that it failed stays."""
    study = write_solving_study(tmp_path, people=("S1",))
    (tmp_path / "people.csv").write_text("id,email,role\nS1,s1@example.org,subject\n")
    host.answer = lambda _: "550 Zelda has moved"
    site = open_site(study)
    app = create_app(site, url=URL)
    client = enter_dashboard(app, site)
    client.post("/dashboard/mail/subject/invitations")
    wait_for(app)
    assert "Zelda has moved" in words(client, "/dashboard/solving")
    with site.store.read() as c:
        key = person_named(c, site.id, "subject", "S1").key
    if way == "erased":
        client.post(f"/dashboard/people/{key}/erase", data={"word": "S1"})
    else:
        Solver(app, site, "S1").client.post("/solve/withdraw", data={"sure": "yes"})
    with site.store.read() as c:
        assert [(one.state, one.error) for one in letters_of(c, site.id, "subject")] == [
            ("failed", "")
        ]
    app.extensions[POST].stop()
    site.store.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_letters_in_each_language(tmp_path: Path, host: MailHost, language: str) -> None:
    """People who solve and judges are invited, and reminded, in the language of the study."""
    study = write_solving_study(tmp_path, people=("S1",), judges=("J1",))
    study.write_text(f"{study.read_text()}judging: {{language: {language}}}\n")
    rows = ["id,email,role", "S1,s1@example.org,subject", "J1,j1@example.org,judge", ""]
    (tmp_path / "people.csv").write_text("\n".join(rows))
    site = open_site(study)
    roles: tuple[Role, ...] = ("subject", "judge")
    for role in roles:
        with site.store.write() as c:
            set_solving(c, site.id, "closed" if role == "judge" else "open", "shell")
        set_life(site, "open")
        for kind in KINDS:
            with site.store.write() as c:
                (one,) = people_of(c, site.id, role)
                queue_letter(c, site.id, one.key, kind)
            assert (settings := mail_settings())
            assert [one.state for one in Sender(site, settings, URL, "shell").run()] == ["sent"]
    site.store.close()
    texts = [letter.get_content() for letter in host.letters]
    assert [URL in text for text in texts] == [True, False] * 2
    assert all("A made-up study" in text for text in texts)
    assert all(("Dear " in text) == (language == "en") for text in texts)
