"""Names, titles, addresses and texts arrive as text, whatever they look like."""

from __future__ import annotations

import email
import email.policy
import random
import re
from email.header import decode_header, make_header
from email.utils import getaddresses
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.mail.hostile import RECEIVERS, VALUES
from tests.served import write_judging_study

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Command
    from tests.mail.smtp import MailHost, Received

_LINK = re.compile(r"/j/[\w-]{32}")
_HEADERS = {"From", "To", "Subject", "Reply-To", "Date", "Message-ID", "Auto-Submitted"}
_HEADERS |= {"MIME-Version", "Content-Type", "Content-Transfer-Encoding"}
_ORGANIZER = "zoe@example.org"
INVITE = ("links", "judges", "--mail", "--reissue", "J0")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_judging_study(tmp_path, judges=1, problems=1)


def declare(study: Path, value: str, **more: object) -> None:
    content = yaml.safe_load(study.read_text())
    content["title"] = value
    content["judges"] = [{"id": "J0", "name": value, "email": "amy@example.org"}]
    content["organizer"] = {"name": value, "institution": value, "email": _ORGANIZER}
    study.write_text(yaml.safe_dump(content | more))


def as_text(letter: Received) -> str:
    """The body of a letter, whose link is always the same."""
    message = email.message_from_bytes(letter.content, policy=email.policy.default)
    body = message.get_content()
    assert isinstance(body, str)
    return _LINK.sub("/j/LINK", body.replace("\r\n", "\n"))


def is_refused(value: str) -> bool:
    return not value.isprintable() or "=?" in value


def _decoded(words: str) -> str:
    return str(make_header(decode_header(words))).strip()


def check_letter(letter: Received, subject: str, name: str, body: str) -> None:
    assert (letter.sender, letter.receivers) == ("office@example.org", ["amy@example.org"])
    headers = letter.headers()
    assert headers.keys() == _HEADERS
    assert {len(values) for values in headers.values()} == {1}
    assert all(len(line) < 998 for line in letter.content.split(b"\r\n"))
    assert letter.content.isascii()
    assert headers["Auto-Submitted"] == ["auto-generated"]  # no machine answers it
    assert headers["Content-Type"][0].startswith("text/plain;")
    assert _decoded(headers["Subject"][0]) == subject.strip()
    assert headers["Reply-To"] == [_ORGANIZER]
    ((to, address),) = getaddresses(headers["To"])
    assert (_decoded(to), address) == (name.strip(), "amy@example.org")
    assert as_text(letter) == body


def composed(rng: random.Random) -> str:
    """Join some values, whole or cut somewhere."""
    parts = rng.choices(VALUES, k=rng.randint(1, 4))
    cut = [part[: rng.randint(1, len(part))] if rng.random() < 0.5 else part for part in parts]
    return rng.choice(("", " ", "\t", ", ")).join(cut)


def test_no_value_is_a_header_or_a_body(run: Command, study: Path, host: MailHost) -> None:
    """As names, titles, institutions, and put together; what is not one line is refused."""
    assert len(set(VALUES)) == 40
    rng = random.Random(0)
    declare(study, "VALUE")
    run(*INVITE, study)
    run(*INVITE, study)
    usual = as_text(host.received()[1])
    for value in (*VALUES, *(composed(rng) for _ in range(40))):
        declare(study, value)
        outcome = run(*INVITE, study)
        letters = host.received()
        if is_refused(value):
            assert outcome.refuses("title: ", "judges[1].name: ")
            assert letters == []
        else:
            (letter,) = letters
            check_letter(letter, value, value, usual.replace("VALUE", value))


def test_an_own_text_is_text(run: Command, study: Path, host: MailHost) -> None:
    for value in VALUES:
        if "{" in value or "\n" in value or "\r" in value:
            continue  # a field, or a text of more lines
        text = f"Subject: {value} {{name}}\n\n{value}\n.\nFrom {{name}}: {{link}}\n"
        study.with_name("invite.md").write_text(text, encoding="utf-8")
        declare(study, "Amy", invitation={"text": "invite.md"})
        outcome = run(*INVITE, study)
        letters = host.received()
        if is_refused(value):
            assert outcome.refuses("invite.md")
            assert letters == []
        else:
            (letter,) = letters
            words = f"{value}\n.\nFrom Amy: https://judging.example.org/j/LINK\n"
            assert as_text(letter).startswith(words)
            check_letter(letter, f"{value} Amy", "Amy", as_text(letter))


def test_an_address_is_that_or_none(run: Command, study: Path, host: MailHost) -> None:
    for address in RECEIVERS:
        declare(study, "Amy", judges=[{"id": "J0", "email": address}])
        assert run(*INVITE, study).code == 1, address
        declare(study, "Amy", organizer={"name": "Zoe", "email": address})
        run(*INVITE, study)
        assert host.received() == [], address
