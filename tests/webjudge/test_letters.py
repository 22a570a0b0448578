"""Letters of a running server: the dashboard's page, invitations and reminders."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from quem.store.models import LetterRow, PersonRow, now
from quem.store.outbox import KINDS, claim, letters_of, queue_letter
from quem.store.people import decline, person_named
from quem.store.studies import set_solving
from tests.mail.smtp import MailHost
from tests.patience import until
from tests.webjudge.sites import (
    SURE,
    audited,
    enter_dashboard,
    everybody,
    make_site,
    rank,
    rank_all,
    set_life,
    text_of,
)
from tests.webjudge.solving_sites import Solver, write_solving_study
from webjudge import create_app, open_site
from webjudge.mailing import POST, Post

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
INVITATIONS = "/dashboard/judges/invitations"
SOLVING = "/dashboard/solving"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = make_site(tmp_path, judges=("J1", "J2", "J3", "J4"), judging="{}", more=MORE)
    rows = [f"J{n},j{n}@example.org" for n in (1, 2, 3)]
    (tmp_path / "people.csv").write_text("\n".join(["id,email", *rows, ""]))
    yield site
    site.store.close()


@pytest.fixture
def url() -> str:
    return URL


@pytest.fixture
def solving(tmp_path: Path) -> Iterator[Callable[..., tuple[Flask, Site, FlaskClient]]]:
    apps: list[tuple[Flask, Site]] = []

    def make(people: str, *addressed: str) -> tuple[Flask, Site, FlaskClient]:
        study = write_solving_study(tmp_path, people=people.split())
        study.write_text(f"{study.read_text()}judging: {{language: fr}}\n")
        roles = {"S": "subject", "J": "judge"}
        rows = [f"{one},{one.lower()}@example.org,{roles[one[0]]}" for one in addressed]
        (tmp_path / "people.csv").write_text("\n".join(["id,email,role", *rows, ""]))
        site = open_site(study)
        apps.append((create_app(site, url=URL), site))
        return (*apps[-1], enter_dashboard(*apps[-1]))

    yield make
    for app, site in apps:
        app.extensions[POST].stop()
        site.store.close()


def wait_for(app: Flask) -> None:
    post: Post = app.extensions[POST]
    if post._thread:  # noqa: SLF001  that it ended is nowhere to be seen
        post._thread.join()  # noqa: SLF001


def sent(app: Flask, host: MailHost) -> list[str]:
    """Who has got a letter when all are sent, each of them once."""
    wait_for(app)
    assert set(host.receivers.values()) <= {1}
    return sorted(one.partition("@")[0] for one in host.receivers)


def words(client: FlaskClient, url: str) -> str:
    return text_of(client.get(url).text)


def letters(site: Site, role: Role = "judge") -> list[LetterRow]:
    with site.store.read() as c:
        return letters_of(c, site.id, role)


def test_invitations_are_sent_from_the_dashboard(
    app: Flask, site: Site, dashboard: FlaskClient, host: MailHost
) -> None:
    """One button sends them, however often it is pressed; the page says what became of each."""
    page = words(dashboard, INVITATIONS)
    assert "Send 3 invitations" in page
    assert "Not sent; no address" in page
    host.answer = lambda to: "550 unknown here" if to[:2] == "j3" else "250 OK"
    for _ in range(2):
        answer = dashboard.post("/dashboard/mail/judge/invitations", data=SURE)
        assert answer.status_code == 303
    assert sent(app, host) == ["j1", "j2"]
    page = words(dashboard, INVITATIONS)
    assert page.count("Invitation sent") == 2
    assert "Invitation failed 550 unknown here" in page
    assert "1 letter failed" in words(dashboard, "/dashboard")
    events = {(e.person, e.by, e.detail["kind"], e.detail["state"]) for e in audited(site, "mail")}
    states = {"J1": "sent", "J2": "sent", "J3": "failed"}
    assert events == {(one, "server", "invitation", state) for one, state in states.items()}
    # Somebody has corrected the address.
    host.answer = lambda _: "250 OK"
    (failed,) = [letter.message_id for letter in letters(site) if letter.state == "failed"]
    assert dashboard.post(f"/dashboard/mail/{failed}/again").status_code == 303
    assert sent(app, host) == ["j1", "j2", "j3"]


def test_a_wrong_letter_is_sent_again_with_a_new_link(
    app: Flask, site: Site, dashboard: FlaskClient, host: MailHost
) -> None:
    """One button asks first; the link that was mailed ends, and two clicks send one letter."""
    dashboard.post("/dashboard/mail/judge/invitations", data=SURE)
    assert sent(app, host) == ["j1", "j2", "j3"]
    again = f"/dashboard/mail/{letters(site)[0].message_id}/again"
    assert "stops working" in dashboard.post(again).text
    wait_for(app)
    assert len(host.letters) == 3
    codes = [dashboard.post(again, data=SURE).status_code for _ in range(2)]
    assert codes == [303, 422]
    wait_for(app)
    old, new = (letter for letter in host.letters if "j1@example.org" in str(letter["To"]))
    assert "This link replaces the one that we sent you" in new.get_content()
    for letter in (old, new):
        link = re.search(rf"{URL}(/j/\S+)", letter.get_content())
        assert link
        assert (app.test_client().get(link[1]).status_code == 303) == (letter is new)


def test_letters_of_unknown_fate_wait_for_a_decision(
    app: Flask, site: Site, dashboard: FlaskClient, host: MailHost
) -> None:
    """They are marked as sent or sent again, once; not while a mail server may read them."""
    with site.store.write() as c:
        for judge in list(everybody(site).values())[:2]:
            queue_letter(c, site.id, judge.key, "invitation")
            assert claim(c, site.id, KINDS)
    first, second = (f"/dashboard/mail/{letter.message_id}" for letter in letters(site))
    assert dashboard.post(f"{first}/again").status_code == 422
    with site.store.write() as c:
        c.execute(update(LetterRow).values(due_at=now()))
    assert "2 letters failed" in words(dashboard, "/dashboard")
    assert "Delivery is unknown" in words(dashboard, INVITATIONS)
    assert dashboard.post(f"{first}/arrived").status_code == 303
    assert dashboard.post(f"{second}/again").status_code == 303
    for late in (f"{second}/again", f"{first}/arrived", "/dashboard/mail/999/arrived"):
        assert dashboard.post(late).status_code == 422
    assert sent(app, host) == ["j2"]
    assert {letter.state for letter in letters(site)} == {"sent"}


def test_nothing_is_sent_without_a_server_or_an_address(
    app: Flask, dashboard: FlaskClient, host: MailHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a mail server the page is as it was; without --url no link is mailed."""
    app.config["QUEM_URL"] = None
    app.extensions[POST].base = ""
    answer = dashboard.post("/dashboard/mail/judge/invitations", data=SURE)
    assert answer.status_code == 422
    assert "only on this computer" in answer.text
    monkeypatch.delenv("QUEM_SMTP")
    assert dashboard.post("/dashboard/mail/judge/invitations", data=SURE).status_code == 422
    assert "Create 4 links and their messages" in words(dashboard, INVITATIONS)
    monkeypatch.setenv("QUEM_SMTP", "smtp://mail.example.org")
    for path in (INVITATIONS, "/dashboard"):
        assert "QUEM_SMTP: is without TLS" in words(dashboard, path)
    assert not host.letters


def test_one_or_all_are_reminded_once_a_day(
    app: Flask, site: Site, dashboard: FlaskClient, host: MailHost
) -> None:
    """Who has finished, declined, or was written to within a day gets no reminder."""
    set_life(site, "open")
    invited = now() - dt.timedelta(days=2)
    with site.store.write() as c:
        c.execute(update(PersonRow).values(link_hash=PersonRow.id, linked_at=invited))
        decline(c, person_named(c, site.id, "judge", "J3"))
    rank(site, "J2", "P1", kind="save")
    rank_all(site, "J4")
    dashboard = enter_dashboard(app, site)
    key = {name: judge.key for name, judge in everybody(site).items()}

    def remind(**form: int) -> list[str]:
        before = len(host.letters)
        dashboard.post("/dashboard/mail/judge/reminders", data=form)
        wait_for(app)
        return [letter["To"].addresses[0].username for letter in host.letters[before:]]

    def later() -> None:
        with site.store.write() as c:
            c.execute(update(LetterRow).values(sent_at=invited, made_at=invited))

    assert "Remind 2 judges" in words(dashboard, INVITATIONS)
    assert remind(key=key["J1"]) == ["j1"]
    assert "/j/" not in host.letters[-1].get_content()
    assert remind(key=key["J1"]) == remind(key=key["J4"]) == []
    assert remind() == ["j2"]
    assert remind() == []
    later()
    assert remind() == ["j1", "j2"]
    later()
    set_life(site, "paused")
    assert remind() == []


def test_a_server_that_is_not_there_is_said(
    dashboard: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in MailHost.settings(1).items():
        monkeypatch.setenv(name, value)
    dashboard.post("/dashboard/mail/judge/invitations", data=SURE)
    until(lambda: "letters" in site.troubles, "the trouble")
    assert "mail server 127.0.0.1:1: Connection refused" in words(dashboard, "/dashboard")
    assert {letter.state for letter in letters(site)} == {"due"}


def test_people_who_solve_are_invited_before_judges(
    solving: Callable[..., tuple[Flask, Site, FlaskClient]], host: MailHost
) -> None:
    """Until the solving session is closed letters go to them alone; then to the judges."""
    app, site, dashboard = solving("S1 S2", "S1", "S2", "J1")
    assert "Send 2 invitations" in words(dashboard, SOLVING)
    assert "Send 1 invitation" not in words(dashboard, INVITATIONS)
    dashboard.post("/dashboard/mail/subject/invitations")
    assert sent(app, host) == ["s1", "s2"]
    link = re.search(rf"{URL}(/p/\S+)", host.letters[0].get_content())
    assert link
    assert app.test_client().get(link[1]).status_code == 303
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
        later = now() - dt.timedelta(days=4)
        c.execute(update(LetterRow).values(sent_at=later, made_at=later))
        decline(c, person_named(c, site.id, "subject", "S2"))
    assert "Remind 1 person" in words(dashboard, SOLVING)
    dashboard.post("/dashboard/mail/subject/reminders")
    until(lambda: len(host.letters) == 3, "the reminder")
    assert "s1@example.org" in str(host.letters[-1]["To"])
    assert "Bonjour " in host.letters[-1].get_content()
    with site.store.write() as c:
        set_solving(c, site.id, "closed", "shell")
    assert "Send 1 invitation" in words(dashboard, INVITATIONS)


def test_people_whose_invitation_is_queued_get_no_other_link(
    solving: Callable[..., tuple[Flask, Site, FlaskClient]], host: MailHost
) -> None:
    """Erasing takes the letter back."""
    app, site, dashboard = solving("S1 S2", "S1")
    host.answer = lambda _: "450 4.2.0 Zelda has moved"
    dashboard.post("/dashboard/mail/subject/invitations")
    wait_for(app)
    made = dashboard.post("/dashboard/solving/links").text
    assert re.findall('data-id="(S.)"', made) == ["S2"]
    key = everybody(site, "subject")["S1"].key
    dashboard.post(f"/dashboard/people/{key}/erase", data={"word": "S1"})
    assert not letters(site, "subject")


def test_what_a_mail_server_answered_is_deleted(
    solving: Callable[..., tuple[Flask, Site, FlaskClient]], host: MailHost
) -> None:
    """When somebody withdraws; that it failed stays."""
    app, site, dashboard = solving("S1", "S1")
    host.answer = lambda _: "550 Zelda has moved"
    dashboard.post("/dashboard/mail/subject/invitations")
    wait_for(app)
    assert "Zelda has moved" in words(dashboard, SOLVING)
    Solver(app, site, "S1").client.post("/solve/withdraw", data=SURE)
    assert [(one.state, one.error) for one in letters(site, "subject")] == [("failed", "")]
