"""Names, titles, addresses and texts arrive as text, whatever they look like."""

from __future__ import annotations

import email
import email.policy
import re
from email.header import decode_header, make_header
from email.utils import getaddresses
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.mail.hostile import RECEIVERS, VALUES, mail_process, received
from tests.mail.smtp import MailHost
from tests.served import write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.mail.hostile import Received

Outcome = tuple[int, str, str]
_LINK = re.compile(r"/j/[\w-]{32}")
_HEADERS = {"From", "To", "Subject", "Reply-To", "Date", "Message-ID", "Auto-Submitted"}
_HEADERS |= {"MIME-Version", "Content-Type", "Content-Transfer-Encoding"}
_ORGANIZER = "zoe@example.org"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What a mail server in a process of its own, which the environment names, receives."""
    folder = tmp_path / "received"
    folder.mkdir()
    with mail_process(folder) as port:
        for name, value in MailHost.settings(port).items():
            monkeypatch.setenv(name, value)
        yield folder


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of one judge."""
    (tmp_path / "study").mkdir()
    return write_judging_study(tmp_path / "study", judges=1, problems=1)


def declare(study: Path, value: str, **more: object) -> None:
    """Give the judge, the study and the organizer the same name."""
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
    """Whether a value can be in no header."""
    return not value.isprintable() or "=?" in value


def decoded(words: str) -> str:
    """A text of a header as it is shown."""
    return str(make_header(decode_header(words)))


def check_letter(letter: Received, subject: str, name: str, body: str) -> None:
    """A letter has its headers and its receiver, its subject, name and body, and nothing else."""
    assert (letter.sender, letter.receivers) == ("office@example.org", ["amy@example.org"])
    headers = letter.headers()
    assert headers.keys() == _HEADERS
    assert {len(values) for values in headers.values()} == {1}
    assert all(len(line) < 998 for line in letter.content.split(b"\r\n"))
    assert decoded(headers["Subject"][0]).strip() == subject.strip()
    assert headers["Reply-To"] == [_ORGANIZER]
    ((to, address),) = getaddresses(headers["To"])
    assert (decoded(to).strip(), address) == (name.strip(), "amy@example.org")
    assert as_text(letter) == body


def test_no_value_is_a_header_a_receiver_or_a_body(
    quem_command: Callable[..., Outcome], study: Path, kept: Path
) -> None:
    """Forty of them as names, titles and institutions; what is not one line is refused."""
    assert len(set(VALUES)) == 40

    def invite() -> Outcome:
        return quem_command("links", "judges", study, "--mail", "--reissue", "J0")

    declare(study, "VALUE")
    invite()
    invite()
    usual = as_text(received(kept)[1])
    for value in VALUES:
        declare(study, value)
        code, _, err = invite()
        if is_refused(value):
            assert (code, received(kept)) == (1, [])
            assert f"title: {'has =?' if value.isprintable() else 'must be one line'}" in err
            assert "judges[1].name: " in err
            continue
        assert code == 0, err
        (letter,) = received(kept)
        check_letter(letter, value, value, usual.replace("VALUE", value))


def test_an_own_text_is_text(quem_command: Callable[..., Outcome], study: Path, kept: Path) -> None:
    """What an organizer writes as subject and body stands in the letter as it is."""
    for value in VALUES:
        if "{" in value or "\n" in value or "\r" in value:
            continue
        text = f"Subject: {value} {{name}}\n\n{value}\n.\nFrom {{name}}: {{link}}\n"
        study.with_name("invite.md").write_text(text, encoding="utf-8")
        declare(study, "Amy", invitation={"text": "invite.md"})
        code, _, err = quem_command("links", "judges", study, "--mail", "--reissue", "J0")
        letters = received(kept)
        if code:
            assert "invite.md" in err
            assert not letters
            continue
        assert len(letters) == 1, err
        (letter,) = letters
        assert letter.receivers == ["amy@example.org"]
        assert letter.headers().keys() == _HEADERS
        subject = f"{value} Amy".strip()
        assert not is_refused(value)
        assert decoded(letter.headers()["Subject"][0]) == subject
        assert as_text(letter).startswith(f"{value}\n.\nFrom Amy: https://")


@pytest.mark.parametrize("address", RECEIVERS)
def test_an_address_is_that_or_none(
    quem_command: Callable[..., Outcome], study: Path, kept: Path, address: str
) -> None:
    """What is not one plain address gets no letter, of a judge or an organizer."""
    declare(study, "Amy", judges=[{"id": "J0", "email": address}])
    code, _, err = quem_command("links", "judges", study, "--mail")
    assert (code, received(kept)) == (1, [])
    assert "J0" in err or "judges[1].email" in err
    declare(study, "Amy", organizer={"name": "Zoe", "email": address})
    quem_command("links", "judges", study, "--mail")
    assert received(kept) == []
