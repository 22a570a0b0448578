"""From a letter to a message as mail servers take it: plain text, in ASCII on its way."""

from __future__ import annotations

from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from quem.errors import QuemError
from quem.store.models import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from quem.store.outbox import StoredLetter
    from quem.study.addresses import Addressee


def _nothing(_: Connection) -> None:
    pass


@dataclass(frozen=True)
class Letter:
    """What is written to somebody."""

    to: Addressee
    subject: str
    text: str
    reply_to: str = ""  # the address of who asks; may be empty
    # Takes a connection of a writing transaction: takes back what was done in the store for a
    # letter that was then not accepted, such as a new link.
    undo: Callable[[Connection], None] = _nothing


def receiver_of(to: Addressee) -> Address:
    """Give name and address as a header takes them."""
    try:
        return Address(to.name, addr_spec=to.email)
    except (ValueError, IndexError, MessageError):
        raise QuemError("the name or the email address can be in no letter; correct it") from None


def message_of(stored: StoredLetter, letter: Letter, sender: Address) -> EmailMessage:
    """Compose a message; the id is always the same for a letter of the outbox."""
    message = EmailMessage(policy=SMTP)
    try:
        message["From"] = sender
        message["To"] = receiver_of(letter.to)
        message["Subject"] = letter.subject
        if letter.reply_to:
            message["Reply-To"] = Address(addr_spec=letter.reply_to)
    except (ValueError, IndexError, MessageError):
        raise QuemError(
            "the subject or the organizer's address can be in no letter; correct it"
        ) from None
    message["Date"] = format_datetime(now())
    message["Message-ID"] = f"<{stored.message_id}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    if stored.kind == "remind":
        asked = letter.reply_to or sender.addr_spec
        message["List-Unsubscribe"] = f"<mailto:{quote(asked, safe='@')}?subject=No%20reminders>"
    message.set_content(letter.text, charset="utf-8", cte="quoted-printable")
    return message
