"""``quem links --mail``: letters by a real mail server, never twice."""

from __future__ import annotations

import datetime as dt
import os
import random
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update

from quem.store.models import EventRow, LetterRow, PersonRow
from quem.store.outbox import decide, letters_of, queue_letter
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
from tests.commands.conftest import stored
from tests.patience import SECONDS, until
from tests.served import Served, write_judging_study
from tests.store.made import close, hold_session
from tests.trials.invitations import InvitationTrial
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy.orm import Session

    from tests.commands.conftest import Command, Outcome
    from tests.mail.smtp import MailHost

STUDY = "made-up"
LINK = re.compile(r"https://judging\.example\.org/j/([\w-]{32})")
LATER = "450 4.2.0 later"


@dataclass
class Office:
    """A study of three judges with addresses, its commands, and a mail server."""

    run: Command
    host: MailHost
    study: Path
    database: str | None = None

    def invite(self, *judges: str, more: tuple[str, ...] = ()) -> Outcome:
        """Invite those who have no invitation, or send a new one to those who are named."""
        again = [word for judge in judges for word in ("--reissue", judge)]
        place = ("--database", self.database) if self.database else ()
        return self.run("links", "judges", self.study, "--mail", *again, *more, *place)

    def answers(self, answer: str, judge: str = "") -> None:
        self.host.answer = lambda to: answer if to.startswith(judge) else "250 OK"

    def add_people(self, *judges: str) -> None:
        lines = [f"{judge},{judge.lower()}@example.org" for judge in judges]
        self.study.with_name("people.csv").write_text("\n".join(["id,email", *lines, ""]))

    @contextmanager
    def store(self) -> Iterator[Session]:
        """The store of the study and its judges, for reading and writing."""
        with stored(self.study, self.database) as c:
            register_study(c, STUDY)
            sync_people(c, STUDY, "judge", read_study(self.study).judges)
            yield c

    @property
    def letters(self) -> list[LetterRow]:
        with self.store() as c:
            return letters_of(c, STUDY, "judge")

    def wait_days(self, days: float) -> None:
        """Let all letters and links be older by some days."""
        columns = LetterRow.due_at, LetterRow.made_at, LetterRow.sent_at, PersonRow.linked_at
        with self.store() as c:
            for column in columns:
                table = column.class_
                for key, at in c.execute(select(table.key, column).where(column.is_not(None))):
                    earlier = {column.key: at - dt.timedelta(days=days)}
                    c.execute(update(table).where(table.key == key).values(**earlier))

    def whose(self) -> list[str | None]:
        """Whom the links in the letters lead to, in the order of the letters."""
        tokens = [LINK.findall(letter.get_content())[0] for letter in self.host.letters]
        with self.store() as c:
            people = [person_of_link(c, STUDY, "judge", token) for token in tokens]
            return [person.id if person else None for person in people]

    def receivers(self) -> dict[str, int]:
        return {to.partition("@")[0]: count for to, count in self.host.receivers.items()}


@pytest.fixture
def office(run: Command, host: MailHost, tmp_path: Path) -> Office:
    office = Office(run, host, write_judging_study(tmp_path, judges=3, problems=2))
    office.add_people("J0", "J1", "J2")
    return office


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite3")
    url: str = request.getfixturevalue("new_postgres")()
    return url


def test_a_letter_is_sent_once(office: Office, database: str) -> None:
    """Letters not accepted yet are delivered by a later run, once; their links work."""
    office.database = database
    office.answers(LATER, "j0")
    code, out, err = office.invite()
    assert (code, out.count(": sent"), out.count(": due")) == (0, 2, 1)
    assert "solutions are not reviewed" in err
    office.answers("250 OK")
    assert office.invite().out == ""
    office.wait_days(1)
    assert office.invite().out == "J0: invitation: sent\n"
    office.wait_days(1)
    assert office.invite().out == ""
    assert office.receivers() == {"j0": 1, "j1": 1, "j2": 1}
    assert office.whose() == ["J1", "J2", "J0"]
    for letter, judge in zip(office.host.letters, ("J1", "J2", "J0"), strict=True):
        assert letter["To"].addresses[0].display_name == f"Judge {judge[1]}"
        assert letter["To"].addresses[0].addr_spec == f"{judge.lower()}@example.org"
    ids = [letter["Message-ID"].strip("<>").partition("@")[0] for letter in office.host.letters]
    assert set(ids) == {letter.message_id for letter in office.letters}


def test_what_is_refused_has_failed(office: Office) -> None:
    """It is not tried again until somebody names the judge; their link is as it was."""
    office.answers("550 no j0, no j0@example.org", "j0")
    code, _, err = office.invite()
    assert (code, "error: J0: invitation: failed: 550 no (address), no (address)" in err) == (1, 1)
    office.wait_days(1)
    assert office.invite().code == 0
    with office.store() as c:
        assert not person_named(c, STUDY, "judge", "J0").has_link
    office.answers("250 OK")
    assert office.invite("J0").out == "J0: invitation: sent\n"
    assert office.receivers() == {"j0": 1, "j1": 1, "j2": 1}
    office.answers("550 no")
    assert office.invite("J0").code == 1
    assert office.whose()[-1] == "J0"


def test_the_fifth_try_is_the_last(office: Office) -> None:
    """A server that is never ready is asked five times, each time later."""
    office.answers(LATER)
    waits = []
    for _ in range(4):
        assert office.invite("J0").code == 0
        (letter,) = office.letters
        waits.append(round((letter.due_at - letter.made_at).total_seconds() / 60) % 1440)
        office.wait_days(1)
    assert waits == [5, 30, 120, 480]
    assert office.invite("J0").code == 1
    assert [(letter.state, letter.tries) for letter in office.letters] == [("failed", 5)]


def test_a_letter_of_unknown_fate_is_never_made_good(office: Office) -> None:
    """After a lost connection only an organizer has it sent again."""
    office.host.drops = True
    assert office.invite("J0").refuses("error: J0: invitation: failed: nobody knows")
    office.host.drops = False
    office.wait_days(1)
    assert "J0" not in office.invite().out
    with office.store() as c:
        (unknown,) = (one for one in letters_of(c, STUDY, "judge") if one.state != "sent")
        decide(c, STUDY, unknown.message_id, "again", "shell")
    assert office.invite().out == "J0: invitation: sent\n"
    assert office.receivers() == {"j0": 1, "j1": 1, "j2": 1}


def test_a_letter_that_cannot_be_written_has_failed(office: Office) -> None:
    office.add_people("J1", "J2")
    with office.store() as c:
        queue_letter(c, STUDY, person_named(c, STUDY, "judge", "J0").key, "invitation")
    code, out, err = office.invite()
    assert (code, out.count(": sent")) == (1, 2)
    assert "error: J0: invitation: failed: there is no email address of J0" in err
    with office.store() as c:
        assert not person_named(c, STUDY, "judge", "J0").has_link
    assert office.receivers() == {"j1": 1, "j2": 1}


def test_all_are_invited_again(office: Office) -> None:
    assert office.invite("J1").code == 0
    office.answers("550 no")
    assert office.invite("J0").code == 1
    office.answers("250 OK")
    assert "J2" not in office.invite(more=("--again", "--dry-run")).out
    assert office.invite(more=("--again",)).out == "J0: invitation: sent\nJ1: invitation: sent\n"
    assert office.receivers() == {"j0": 1, "j1": 2}
    assert office.whose() == [None, "J0", "J1"]


def test_two_commands_and_a_server_at_once(
    run: Command, host: MailHost, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges = [f"J{n}" for n in range(8)]
    office = Office(run, host, write_judging_study(tmp_path, judges=len(judges)), database)
    office.add_people(*judges)
    with office.store() as c:
        for judge in people_of(c, STUDY, "judge"):
            assert queue_letter(c, STUDY, judge.key, "invitation")
            assert not queue_letter(c, STUDY, judge.key, "invitation")
    monkeypatch.setenv("QUEM_MAIL_RATE", "20")
    command = [sys.executable, "-c", "from quem.cli import run; run()", "links", "judges"]
    command += [str(office.study), "--mail", "--database", database]
    running = [subprocess.Popen(command, env=os.environ) for _ in range(2)]
    url = ("--url", "http://judging.example.org:80")
    with Served(office.study, database, arguments=url):
        assert [one.wait(SECONDS) for one in running] == [0, 0]
        until(lambda: sum(host.receivers.values()) >= len(judges), "all letters")
    assert office.receivers() == {judge.lower(): 1 for judge in judges}
    assert {letter.state for letter in office.letters} == {"sent"}


def test_a_killed_command_sends_nothing_twice(tmp_path: Path) -> None:
    """The next command resends no sent letter; at most one letter per command is unknown."""
    database = str(tmp_path / "store.sqlite3")
    trial = InvitationTrial(tmp_path, database, random.Random(5), judges=8, kills=1)
    assert trial.run()["unknown"] <= 2


def test_no_link_or_address_is_kept(office: Office, tmp_path: Path) -> None:
    """Neither database, log, trail, export, nor result holds an address or what opens a link."""
    office.answers("450 later, j2@example.org", "j2")
    text = office.study.read_text()
    office.study.write_text(text.replace("Judge 0}", "Judge 0, email: j0@example.org}"))
    said = "".join(office.invite()[1:])
    tokens = [LINK.findall(letter.get_content())[0] for letter in office.host.letters]
    assert len(tokens) == 2
    hold_session(office.study).close()
    with office.store() as c:
        trail = repr(c.execute(select(EventRow.what, EventRow.detail)).all())
        files = [*tmp_path.glob("study.sqlite3*")]  # the log beside it too
        assert len(files) > 1
        stored = b"".join(path.read_bytes() for path in files)
    close(office.study)
    exported = tmp_path / "exported"
    assert office.run("export", office.study, "--out", exported).code == 0
    written = b"".join(p.read_bytes() for p in exported.iterdir())
    said += office.run("analyze", office.study, "--json").out
    assert "mail" in trail
    everything = (stored + written).decode(errors="replace") + trail + said
    assert [one for one in (*tokens, "@example.org") if one in everything] == []


MISTAKES = [
    ("environment", "QUEM_SMTP=", "no mail server: set QUEM_SMTP"),
    ("environment", "QUEM_SMTP=http://mail.example.org", "QUEM_SMTP: is not the address"),
    ("environment", "QUEM_SMTP=smtps://[::1", "QUEM_SMTP: is not the address"),
    ("environment", "QUEM_SMTP=smtp://mail.example.org", "QUEM_SMTP: is without TLS"),
    ("environment", "QUEM_SMTP=smtps://a:b@mail.example.org", "holds a password"),
    ("environment", "QUEM_SMTP=smtps://a@mail.example.org", "QUEM_SMTP_PASSWORD: is not"),
    ("environment", "QUEM_SMTP=smtps://a@m QUEM_SMTP_PASSWORD=pässwörd", "ASCII characters only"),
    ("environment", "QUEM_SMTP=smtp://127.0.0.1:1", "mail server 127.0.0.1:1:"),
    ("environment", "QUEM_SMTP=smtps://m:99999 QUEM_MAIL_FROM=Amy", "QUEM_MAIL_FROM: 'Amy'"),
    ("environment", "QUEM_SMTP=smtps://m:99999 QUEM_MAIL_RATE=x", "QUEM_MAIL_RATE: 'x'"),
    ("environment", "QUEM_URL=", "--url is missing"),
    ("environment", "QUEM_URL=http://127.0.0.1:8080", "--url: links that begin with"),
    ("environment", "QUEM_URL=http://localhost.", "--url: links that begin with"),
    ("people.csv", "id,email\nJ0,a@b.org\n", "J1: has no email address"),
    ("people.csv", "id,mail\n", "people.csv:1: the first line has to be id,email"),
    ("people.csv", "id,email\nJ0,a@b\nJ0,a@c\n", "people.csv:3: J0: is named twice"),
    ("people.csv", "id,email,role\nJ0,a@b,juge\n", "people.csv:2: J0: 'juge' is not a role"),
    ("people.csv", 'id,email,name\nJ0,a@b,"A\nBcc: c@d"\n', "J0: must be one line"),
    ("people.csv", "id,email,name\nJ0,a@b,=?utf-8?q?a?=\n", "people.csv:2: J0: has =?"),
    ("people.csv", 'id,email\nJ0,"a@b\nBcc: c@d"\n', "J0: must be one line"),
    ("people.csv", "id;email\nJ0;a..b@c.org\nJ1;b@c\nJ2;b@d\n", "J0: 'a..b@c.org' is not an email"),
    ("none.md", "", "there is no file 'none.md'"),
    ("invite.md", "\nDear {nam},\n{link}\n", "invite.md:2:6: {nam}: unknown field"),
    ("invite.md", "{due} {link}\n", "invite.md:1:1: {due}"),
    ("invite.md", "Hi {name}!\n", "invite.md: has no {link}"),
]


@pytest.mark.parametrize(("place", "content", "message"), MISTAKES)
def test_mistakes_come_before_the_first_letter(
    office: Office, monkeypatch: pytest.MonkeyPatch, place: str, content: str, message: str
) -> None:
    if place == "environment":
        for setting in content.split(" "):
            monkeypatch.setenv(*setting.split("=", 1))
    elif content:
        office.study.with_name(place).write_text(content)
    if place.endswith(".md"):
        office.study.write_text(f"{office.study.read_text()}invitation: {{text: {place}}}\n")
        assert office.run("check", office.study).refuses(message)
    outcome = office.invite()
    assert outcome.refuses(message)
    lines = [line for line in outcome.err.splitlines() if "are not reviewed" not in line]
    assert all(line.startswith("error: ") for line in lines)
    assert not office.host.letters


def test_own_text(office: Office) -> None:
    folder = office.study.with_name("judging")
    folder.mkdir()
    text = "Dear {name}: {title}, {minutes} min, {due}\n{link}\n{ .\n"
    (folder / "invite.md").write_text(f"Subject: Please judge, {{name}}\n\n{text}")
    (folder / "invite.de.md").write_text("Bitte bis {due}: {link}\n")
    named = office.study.read_text().replace("Judge 2}", "Judge 2, language: de}")
    own = "invitation: {text: judging/invite.md}\ndeadline: 2031-05-03\nminutes: 25\n"
    office.study.write_text(named + own)
    assert office.invite("J1", "J2").code == 0
    english, german = office.host.letters
    assert english["Subject"] == "Please judge, Judge 1"
    assert LINK.sub("LINK", english.get_content()) == (
        "Dear Judge 1: Made up, 25 min, 3 May 2031\nLINK\n{ .\n"
    )
    assert german["Subject"] == "Made up"
    assert german.get_content().startswith("Bitte bis 3. Mai 2031: https://")
    assert office.invite("J1").code == 0
    assert "This link replaces the one" in office.host.letters[-1].get_content()
    (folder / "invite.de.md").write_text("Bitte {links}\n")
    assert office.invite().refuses("judging/invite.de.md:1:7: {links}: unknown field")


def test_a_dry_run_does_nothing(office: Office, tmp_path: Path) -> None:
    """It names who would get what, and shows a letter, of people who solve with their link."""
    code, out, _ = office.invite("J2", more=("--dry-run",))
    assert code == 0
    assert out.startswith("J2  j2@example.org  invitation\n\nSubject: Made up\n\nDear Judge 2,")
    assert not office.letters
    assert not office.host.letters
    assert office.invite("J9").refuses("there is no judge 'J9'")
    (tmp_path / "solved").mkdir()
    study = write_solving_study(tmp_path / "solved", people=("S1",))
    study.with_name("people.csv").write_text("id,email,role\nS1,s1@example.org,subject\n")
    words = (study, "--mail", "--dry-run")
    assert office.run("links", "judges", *words).refuses("people still solve")
    assert "/p/..." in office.run("links", "people", *words).out


def test_nobody_is_written_to_against_their_will(office: Office) -> None:
    """Judges who declined or were erased get no letter; revoked links are replaced on request."""
    office.answers("450 j2@example.org", "j2")
    assert office.invite().code == 0
    with office.store() as c:
        decline(c, person_named(c, STUDY, "judge", "J0"))
        revoke_link(c, person_named(c, STUDY, "judge", "J1"), "shell")
    office.wait_days(3)
    with office.store() as c:
        erase(c, person_named(c, STUDY, "judge", "J2"), "shell")
    office.host.letters.clear()
    assert office.invite().out == ""
    assert "450" not in "".join(letter.error for letter in office.letters)
    assert office.invite("J0") == (0, "", "J0: no invitation is due\n0 sent.\n")
    assert office.invite("J1").out == "J1: invitation: sent\n"
    assert office.receivers() == {"j1": 1}
