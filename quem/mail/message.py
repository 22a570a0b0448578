"""A letter as an email: plain text, encoded in ASCII."""

from __future__ import annotations

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from typing import TYPE_CHECKING
from urllib.parse import quote

from quem.errors import QuemError
from quem.store.models import now
from quem.studyfile.fields import header_trouble

if TYPE_CHECKING:
    from quem.store.models import LetterRow
    from quem.studyfile.addresses import Addressee


def message_of(
    letter: LetterRow, to: Addressee, subject: str, text: str, *, sender: Address, reply_to: str
) -> EmailMessage:
    """Compose a message of single-line values without encoded words."""
    if trouble := header_trouble(subject) or header_trouble(to.name):
        raise QuemError(f"the subject or the name {trouble}")
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = Address(to.name, addr_spec=to.email)
    message["Subject"] = subject
    if reply_to:
        message["Reply-To"] = reply_to
    message["Date"] = now()
    message["Message-ID"] = f"<{letter.message_id}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    if letter.kind == "reminder":
        mail = quote(reply_to or sender.addr_spec, safe="@")
        message["List-Unsubscribe"] = f"<mailto:{mail}?subject=No%20reminders>"
    message.set_content(text, charset="utf-8", cte="quoted-printable")
    return message
