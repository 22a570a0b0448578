"""``quem links --mail``: letters by a real mail server, never twice."""

from __future__ import annotations

import datetime as dt
import os
import random
import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from quem.store.database import open_store, store_of
from quem.store.location import locate_database
from quem.store.models import EventRow, LetterRow, PersonRow
from quem.store.outbox import KINDS, claim, decide, letters_of, queue_letter
from quem.store.people import (
    decline,
    erase,
    people_of,
    person_named,
    person_of_link,
    revoke_link,
    sync_people,
)
from quem.store.studies import register_study
from quem.studyfile.reading import read_study
from tests.commands.sessions import close, hold_session
from tests.mail.smtp import MailHost
from tests.patience import SECONDS, until
from tests.served import Served, write_judging_study
from tests.trials.invitations import InvitationTrial
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from quem.store.database import Store

Outcome = tuple[int, str, str]
STUDY = "made-up"
LINK = re.compile(r"https://judging\.example\.org/j/([\w-]{32})")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailHost]:
    """A mail server that the environment names."""
    with MailHost() as host:
        for name, value in host.environment.items():
            monkeypatch.setenv(name, value)
        yield host


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite3")
    url: str = request.getfixturevalue("new_postgres")()
    return url


def write_people(study: Path, *judges: str) -> None:
    """Give judges addresses such as j0@example.org."""
    lines = [f"{judge},{judge.lower()}@example.org" for judge in judges]
    study.with_name("people.csv").write_text("\n".join(["id,email", *lines, ""]))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of three judges with addresses."""
    path = write_judging_study(tmp_path, judges=3, problems=2)
    write_people(path, "J0", "J1", "J2")
    return path


@pytest.fixture
def invite(quem_command: Callable[..., Outcome], study: Path) -> Callable[..., Outcome]:
    """Send invitations: to those who have none, or a new one to those who are named."""

    def run(*judges: str) -> Outcome:
        again = [word for judge in judges for word in ("--reissue", judge)]
        return quem_command("links", "judges", study, "--mail", *again)

    return run


@contextmanager
def opened(study: Path, database: str | None = None) -> Iterator[Store]:
    """The study's store."""
    store = store_of(locate_database(study, database), STUDY)
    assert store is not None
    try:
        yield store
    finally:
        store.close()


@contextmanager
def opened_new(study: Path, database: str) -> Iterator[Store]:
    """A new store of the study and its judges."""
    store = open_store(locate_database(study, database))
    try:
        with store.write() as c:
            register_study(c, STUDY)
            sync_people(c, STUDY, "judge", read_study(study).judges)
        yield store
    finally:
        store.close()


def letters(study: Path, database: str | None = None) -> list[LetterRow]:
    """The rows of the outbox."""
    with opened(study, database) as store, store.read() as c:
        return letters_of(c, STUDY, "judge")


def wait_days(study: Path, days: float, database: str | None = None) -> None:
    """Let all letters and links be older by some days."""
    columns = LetterRow.due_at, LetterRow.made_at, LetterRow.sent_at, PersonRow.linked_at
    with opened(study, database) as store, store.write() as c:
        for column in columns:
            table = column.class_
            for key, at in c.execute(select(table.key, column).where(column.is_not(None))).all():
                earlier = {column.key: at - dt.timedelta(days=days)}
                c.execute(update(table).where(table.key == key).values(**earlier))


def test_a_letter_is_sent_once(
    quem_command: Callable[..., Outcome], host: MailHost, study: Path, database: str
) -> None:
    """What is not accepted yet is delivered by a later run; nobody gets two, and links work."""
    command = ("links", "judges", study, "--mail", "--database", database)
    host.answer = lambda to: "450 4.2.0 j0@example.org: j0 later" if to[:2] == "j0" else "250 OK"
    code, out, err = quem_command(*command)
    assert (code, out.count(": sent"), out.count(": due")) == (0, 2, 1)
    assert "a run after" in err
    assert "solutions are not reviewed; the report will say so" in err
    host.answer = lambda _: "250 OK"
    assert quem_command(*command)[1] == ""
    wait_days(study, 1, database)
    assert quem_command(*command)[1] == "J0: invitation: sent\n"
    wait_days(study, 1, database)
    assert quem_command(*command)[1] == ""
    assert host.receivers == {f"j{n}@example.org": 1 for n in range(3)}
    with opened(study, database) as store, store.read() as c:
        for letter in host.letters:
            (token,) = LINK.findall(letter.get_content())
            judge = person_of_link(c, STUDY, "judge", token)
            assert judge is not None
            assert letter["To"].addresses[0].addr_spec == f"{judge.id.lower()}@example.org"
            assert letter["To"].addresses[0].display_name == judge.name
    ids = [letter["Message-ID"] for letter in host.letters]
    assert {one.strip("<>").partition("@")[0] for one in ids} == {
        letter.message_id for letter in letters(study, database)
    }


def test_headers(
    invite: Callable[..., Outcome],
    host: MailHost,
    study: Path,
) -> None:
    """Letters are plain text in ASCII on their way, and no machine answers them."""
    study.write_text(
        study.read_text().replace("Made up", "Über Pläne")
        + "organizer: {name: Zoë, email: zoe@example.net}\n"
    )
    assert invite("J1")[0] == 0
    (letter,) = host.letters
    assert letter["Subject"] == "Über Pläne"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert letter["Reply-To"].addresses[0].addr_spec == "zoe@example.net"
    assert letter["Date"].datetime.tzinfo is not None
    assert letter.get_content_type() == "text/plain"
    assert letter["Content-Transfer-Encoding"] == "quoted-printable"
    assert letter.as_bytes().isascii()
    assert "“Über Pläne”" in letter.get_content()
    assert letter["List-Unsubscribe"] is None


def test_what_is_refused_has_failed(
    invite: Callable[..., Outcome], host: MailHost, study: Path
) -> None:
    """It is not tried again until somebody names the judge; their link is as it was."""
    host.answer = lambda to: "550 no j0, no j0@example.org" if to[:2] == "j0" else "250 OK"
    code, _, err = invite()
    assert code == 1
    assert "error: J0: invitation: failed: 550 no (address), no (address)" in err
    wait_days(study, 1)
    assert invite()[0] == 0
    with opened(study) as store, store.read() as c:
        assert not person_named(c, STUDY, "judge", "J0").has_link
    host.answer = lambda _: "250 OK"
    assert invite("J0")[1] == "J0: invitation: sent\n"
    assert set(host.receivers.values()) == {1}
    # A new link that is refused leaves the one that they have.
    host.answer = lambda _: "550 no"
    assert invite("J0")[0] == 1
    token = LINK.findall(host.letters[-1].get_content())[0]
    with opened(study) as store, store.read() as c:
        assert person_of_link(c, STUDY, "judge", token) is not None


def test_the_fifth_try_is_the_last(
    invite: Callable[..., Outcome], host: MailHost, study: Path
) -> None:
    """A server that is never ready is asked five times, each time later."""
    host.answer = lambda _: "451 later"
    waits = []
    for _ in range(4):
        assert invite("J0")[0] == 0
        (letter,) = letters(study)
        waits.append(round((letter.due_at - letter.made_at).total_seconds() / 60) % 1440)
        wait_days(study, 1)
    assert waits == [5, 30, 120, 480]
    assert invite("J0")[0] == 1
    assert letters(study)[0].state == "failed"
    assert letters(study)[0].tries == 5


def test_a_lost_connection_is_never_made_good(
    invite: Callable[..., Outcome], host: MailHost, study: Path
) -> None:
    """Nobody knows whether the letter arrived: only an organizer has it sent again."""
    host.drops = True
    code, out, err = invite("J0")
    assert (code, out) == (1, "")
    assert "error: J0: invitation: failed: nobody knows" in err
    host.drops = False
    wait_days(study, 1)
    write_people(study, "J0", "J1", "J2")
    assert "J0" not in invite()[1]
    with opened(study) as store, store.write() as c:
        decide(c, STUDY, letters(study)[0].message_id, "again", "shell")
    assert invite()[1] == "J0: invitation: sent\n"


def test_what_was_being_sent_has_failed(
    invite: Callable[..., Outcome], host: MailHost, study: Path
) -> None:
    """A letter whose sender was killed is not sent again, also if it had not left."""
    assert invite("J1")[0] == 0
    with opened(study) as store, store.write() as c:
        queue_letter(c, STUDY, person_named(c, STUDY, "judge", "J0").key, "invitation")
        assert claim(c, STUDY, KINDS)
        assert claim(c, STUDY, KINDS) is None
    assert invite("J0")[1] == ""
    wait_days(study, 1)
    assert "J0: invitation: nobody knows" in invite("J2")[2]
    assert set(host.receivers) == {"j1@example.org", "j2@example.org"}
    assert invite("J0")[1] == "J0: invitation: sent\n"


def test_a_letter_that_cannot_be_written_has_failed(
    quem_command: Callable[..., Outcome], host: MailHost, study: Path, database: str
) -> None:
    """The others are sent all the same, and nobody got a link for nothing."""
    write_people(study, "J1", "J2")
    with opened_new(study, database) as store, store.write() as c:
        queue_letter(c, STUDY, person_named(c, STUDY, "judge", "J0").key, "invitation")
    code, out, err = quem_command("links", "judges", study, "--mail", "--database", database)
    assert (code, out.count(": sent")) == (1, 2)
    assert "error: J0: invitation: failed: there is no email address of J0" in err
    with opened(study, database) as store, store.read() as c:
        assert not person_named(c, STUDY, "judge", "J0").has_link
    assert set(host.receivers) == {"j1@example.org", "j2@example.org"}


def test_all_are_invited_again(
    quem_command: Callable[..., Outcome],
    invite: Callable[..., Outcome],
    host: MailHost,
    study: Path,
) -> None:
    """Whose letter was sent or failed gets another with a new link; nobody else does."""
    assert quem_command("links", "judges", study, "--again")[0] == 2
    assert invite("J1")[0] == 0
    host.answer = lambda _: "550 no"
    assert invite("J0")[0] == 1
    host.answer = lambda _: "250 OK"
    command = ("links", "judges", study, "--mail", "--again")
    assert "J2" not in quem_command(*command, "--dry-run")[1]
    assert quem_command(*command)[1] == "J0: invitation: sent\nJ1: invitation: sent\n"
    assert host.receivers == {"j0@example.org": 1, "j1@example.org": 2}
    links = [LINK.findall(letter.get_content()) for letter in host.letters]
    with opened(study) as store, store.read() as c:
        found = [person_of_link(c, STUDY, "judge", token) is not None for (token,) in links]
    assert found == [False, True, True]


def test_two_commands_and_a_server_at_once(
    host: MailHost, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends: everybody gets one letter."""
    judges = [f"J{n}" for n in range(12)]
    study = write_judging_study(tmp_path, judges=len(judges))
    write_people(study, *judges)
    with opened_new(study, database) as store, store.write() as c:
        for judge in people_of(c, STUDY, "judge"):
            assert queue_letter(c, STUDY, judge.key, "invitation")
            assert not queue_letter(c, STUDY, judge.key, "invitation")
    monkeypatch.setenv("QUEM_MAIL_RATE", "20")
    command = [sys.executable, "-c", "from quem.cli import run; run()", "links", "judges"]
    command += [str(study), "--mail", "--database", database]
    running = [subprocess.Popen(command, env=os.environ) for _ in range(2)]
    url = ("--url", "http://judging.example.org:80")
    with Served(study, database, arguments=url) as served:
        assert [one.wait(SECONDS) for one in running] == [0, 0]
        until(lambda: sum(host.receivers.values()) >= len(judges), "all letters")
        served.stop()
    assert host.receivers == {f"{judge.lower()}@example.org": 1 for judge in judges}
    assert {letter.state for letter in letters(study, database)} == {"sent"}


def test_a_killed_command_sends_nothing_twice(tmp_path: Path) -> None:
    """What was sent is not sent again by the next one; one letter a command is unknown at most."""
    database = str(tmp_path / "store.sqlite3")
    trial = InvitationTrial(tmp_path, database, random.Random(5), judges=8, kills=1)
    assert trial.run()["unknown"] <= 2


def test_no_link_or_address_is_kept(
    quem_command: Callable[..., Outcome],
    invite: Callable[..., Outcome],
    host: MailHost,
    study: Path,
    tmp_path: Path,
) -> None:
    """Neither database, log, trail, export, nor result holds an address or what opens a link."""
    host.answer = lambda to: "450 later, j2@example.org" if to[:2] == "j2" else "250 OK"
    text = study.read_text()
    study.write_text(text.replace("name: Judge 0}", "name: Judge 0, email: j0@example.org}"))
    outcome = invite()
    tokens = [LINK.findall(letter.get_content())[0] for letter in host.letters]
    assert len(tokens) == 2
    with opened(study) as store:
        hold_session(study).close()
        with store.read() as c:
            trail = repr(c.execute(select(EventRow.what, EventRow.detail)).all())
        files = [*tmp_path.glob("study.sqlite3*")]
        assert len(files) > 1
        stored = b"".join(path.read_bytes() for path in files)
    close(study)
    exported = tmp_path / "exported"
    assert quem_command("export", study, "--out", exported)[0] == 0
    result = quem_command("analyze", study, "--json")[1]
    written = b"".join(p.read_bytes() for p in exported.rglob("*") if p.is_file())
    everything = (stored + written).decode(errors="replace") + trail + result + "".join(outcome[1:])
    assert written
    assert "mail" in trail
    for secret in (*tokens, "@example.org"):
        assert secret not in everything


@pytest.mark.parametrize(
    ("more", "people", "environment", "words", "messages"),
    [
        ("", "id,email\nJ0,a@b.org\n", {}, (), ["J1: has no email address", "J2: has no email"]),
        ("", "", {"QUEM_SMTP": "http://mail.example.org"}, (), ["QUEM_SMTP: is not the address"]),
        ("", "", {"QUEM_SMTP": "smtp://mail.example.org"}, (), ["QUEM_SMTP: is without TLS"]),
        ("", "", {"QUEM_SMTP": "smtps://a:b@mail.example.org"}, (), ["holds a password"]),
        ("", "", {"QUEM_SMTP": "smtps://a@mail.example.org"}, (), ["QUEM_SMTP_PASSWORD: is not"]),
        (
            "",
            "",
            {"QUEM_SMTP": "smtps://m:99999", "QUEM_MAIL_FROM": "Amy", "QUEM_MAIL_RATE": "x"},
            (),
            ["QUEM_SMTP: is not", "QUEM_MAIL_FROM: 'Amy'", "QUEM_MAIL_RATE: 'x'"],
        ),
        ("", "", {"QUEM_SMTP": "smtps://[::1"}, (), ["QUEM_SMTP: is not the address"]),
        (
            "",
            "",
            {"QUEM_SMTP": "smtps://a@m", "QUEM_SMTP_PASSWORD": "pässwörd"},
            (),
            ["ASCII characters only"],
        ),
        ("", "", {"QUEM_SMTP": ""}, (), ["no mail server: set QUEM_SMTP"]),
        ("", "", {"QUEM_SMTP": "smtp://127.0.0.1:1"}, (), ["mail server 127.0.0.1:1:"]),
        ("", "", {"QUEM_URL": ""}, (), ["--url is missing"]),
        ("", "", {"QUEM_URL": "http://127.0.0.1:8080"}, (), ["--url: links that begin with"]),
        ("", "", {"QUEM_URL": "http://localhost."}, (), ["--url: links that begin with"]),
        ("", "", {}, ("--reissue", "J9"), ["there is no judge 'J9'"]),
        ("", "id,mail\n", {}, (), ["people.csv:1: the first line has to be id,email"]),
        ("", "id,email\nJ0,a@b\nJ0,a@c\n", {}, (), ["people.csv:3: J0: is named twice"]),
        ("", "id,email,role\nJ0,a@b,juge\n", {}, (), ["people.csv:2: J0: 'juge' is not a role"]),
        ("", 'id,email,name\nJ0,a@b,"A\nBcc: c@d"\n', {}, (), ["J0: must be one line"]),
        ("", "id,email,name\nJ0,a@b,=?utf-8?q?a?=\n", {}, (), ["people.csv:2: J0: has =?"]),
        ("", 'id,email\nJ0,"a@b\nBcc: c@d"\n', {}, (), ["J0: must be one line"]),
        (
            "",
            "id;email\nJ0;a..b@c.org\nJ1;b@c\nJ2;b@d\n",
            {},
            (),
            ["J0: 'a..b@c.org' is not an email"],
        ),
        ("invitation: {text: none.md}", "", {}, (), ["there is no file 'none.md'"]),
        (
            "invitation: {text: invite.md}",
            "",
            {},
            (),
            ["invite.md:3:6: {nam}: unknown field", "did you mean name", "invite.md:4:1: {due}"],
        ),
        ("invitation: {text: plain.md}", "", {}, (), ["plain.md: has no {link}"]),
    ],
)
def test_mistakes_come_before_the_first_letter(
    quem_command: Callable[..., Outcome],
    host: MailHost,
    study: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: str,
    people: str,
    environment: dict[str, str],
    words: tuple[str, ...],
    messages: list[str],
) -> None:
    """Each mistake is one clear message, and nothing is sent."""
    study.with_name("invite.md").write_text("Hi {name}!\n\nDear {nam},\n{due} {link}\n")
    study.with_name("plain.md").write_text("Hi {name}!\n")
    study.write_text(f"{study.read_text()}{more}\n")
    if people:
        study.with_name("people.csv").write_text(people)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    code, _, err = quem_command("links", "judges", study, "--mail", *words)
    assert code == 1
    for message in messages:
        assert message in err
    lines = [line for line in err.splitlines() if "are not reviewed" not in line]
    assert all(line.startswith("error: ") for line in lines)
    assert not host.letters


def test_own_text(
    quem_command: Callable[..., Outcome],
    invite: Callable[..., Outcome],
    host: MailHost,
    study: Path,
) -> None:
    """The organizer's text has subject, fields, and translations; other braces stay."""
    folder = study.with_name("judging")
    folder.mkdir()
    text = "Dear {name}: {title}, {minutes} min, {due}\n{link}\n{ .\n"
    (folder / "invite.md").write_text(f"Subject: Please judge, {{name}}\n\n{text}")
    (folder / "invite.de.md").write_text("Bitte bis {due}: {link}\n")
    named = study.read_text().replace("name: Judge 2}", "name: Judge 2, language: de}")
    own = "invitation: {text: judging/invite.md}\ndeadline: 2031-05-03\nminutes: 25\n"
    study.write_text(named + own)
    for judge in ("J1", "J2"):
        assert invite(judge)[0] == 0
    english, german = host.letters
    assert english["Subject"] == "Please judge, Judge 1"
    assert LINK.sub("LINK", english.get_content()) == (
        "Dear Judge 1: Made up, 25 min, 3 May 2031\nLINK\n{ .\n"
    )
    assert german["Subject"] == "Made up"
    assert german.get_content().startswith("Bitte bis 3. Mai 2031: https://")
    assert invite("J1")[0] == 0
    assert "This link replaces the one that we sent you" in host.letters[-1].get_content()
    (folder / "invite.de.md").write_text("Bitte {links}\n")
    for code, _, err in (quem_command("check", study), invite()):
        assert code == 1
        assert "judging/invite.de.md:1:7: {links}: unknown field" in err


def test_a_dry_run_does_nothing(
    quem_command: Callable[..., Outcome], host: MailHost, study: Path
) -> None:
    """It names who would get what, and shows a letter."""
    code, out, _ = quem_command("links", "judges", study, "--mail", "--dry-run", "--reissue", "J2")
    assert code == 0
    assert out.startswith("J2  j2@example.org  invitation\n\nSubject: Made up\n\nDear Judge 2,")
    assert not letters(study)
    assert not host.letters


def test_a_dry_run_shows_what_a_subject_gets(
    quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """The link is that of people who solve."""
    study = write_solving_study(tmp_path, people=("S1",))
    study.with_name("people.csv").write_text("id,email,role\nS1,s1@example.org,subject\n")
    code, _, err = quem_command("links", "judges", study, "--mail", "--dry-run")
    assert (code, "people still solve" in err) == (1, True)
    code, out, _ = quem_command("links", "people", study, "--mail", "--dry-run")
    assert code == 0
    assert "https://.../p/..." in out


def test_nobody_is_written_to_against_their_will(
    invite: Callable[..., Outcome], host: MailHost, study: Path
) -> None:
    """Who declined or was erased gets no letter; a link that was revoked is made when asked for."""
    host.answer = lambda to: "450 j2@example.org" if to[:2] == "j2" else "250 OK"
    assert invite()[0] == 0
    with opened(study) as store, store.write() as c:
        decline(c, person_named(c, STUDY, "judge", "J0"))
        revoke_link(c, person_named(c, STUDY, "judge", "J1"), "shell")
    wait_days(study, 3)
    with opened(study) as store, store.write() as c:
        erase(c, person_named(c, STUDY, "judge", "J2"), "shell")
    host.letters.clear()
    assert invite()[1] == ""
    assert "450" not in "".join(letter.error for letter in letters(study))
    assert invite("J0")[1:] == ("", "J0: no invitation is due\n0 sent.\n")
    assert invite("J1")[1] == "J1: invitation: sent\n"
    assert set(host.receivers) == {"j1@example.org"}
