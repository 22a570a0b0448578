"""From a letter to a message as mail servers take it: plain text, in ASCII on its way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import MessageError
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from quem.errors import QuemError
from quem.store.models import now
from quem.studyfile.addresses import Addressee

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.orm import Session

    from quem.store.outbox import StoredLetter

# Headers leave as they are written here. Folding them anew would decode encoded words in them,
# with whatever those hold, and write that out.
_POLICY = SMTP.clone(refold_source="none")
_PLAIN = re.compile(r"(?=.{0,60}$)[A-Za-z0-9'-]+( [A-Za-z0-9'-]+)*")


def _nothing(_: Session) -> None:
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
    undo: Callable[[Session], None] = _nothing


def receiver_of(to: Addressee) -> Address:
    """Give name and address as a header takes them."""
    try:
        receiver = Address(to.name, addr_spec=to.email)
    except (ValueError, IndexError, MessageError):
        receiver = None
    # Encoded words in an address would be decoded, and give another one.
    if receiver is None or receiver.addr_spec != to.email or not to.email.isascii():
        raise QuemError("the name or the email address can be in no letter; correct it")
    return receiver


def message_of(stored: StoredLetter, letter: Letter, sender: Address) -> EmailMessage:
    """Compose a message; the id is always the same for a letter of the outbox."""
    message = EmailMessage(policy=_POLICY)
    asked = letter.reply_to or sender.addr_spec
    headers = {
        "From": _mailbox(sender, "From"),
        "To": _mailbox(receiver_of(letter.to), "To"),
        "Subject": _encoded(letter.subject, "Subject"),
        "Reply-To": letter.reply_to and receiver_of(Addressee(letter.reply_to)).addr_spec,
        "Date": format_datetime(now()),
        "Message-ID": f"<{stored.message_id}@{sender.domain}>",
        "Auto-Submitted": "auto-generated",
    }
    if stored.kind == "remind":
        mail = f"mailto:{quote(asked, safe='@')}?subject=No%20reminders"
        headers["List-Unsubscribe"] = f"<{mail}>"
    for name, value in headers.items():
        if value:
            message.set_raw(name, value)
    message.set_content(letter.text, charset="utf-8", cte="quoted-printable")
    return message


def _mailbox(address: Address, header: str) -> str:
    name = _encoded(address.display_name, header)
    return f"{name} <{address.addr_spec}>" if name else address.addr_spec


def _encoded(text: str, header: str) -> str:
    """Write a text as a header takes it; all but short plain words as encoded words."""
    line = " ".join(text.splitlines())
    if _PLAIN.fullmatch(line):
        return line
    return Header(line, "utf-8", header_name=header).encode()
