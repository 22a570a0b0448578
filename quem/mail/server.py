"""Letters as emails, and the mail server: settings, connection, and responses."""

from __future__ import annotations

import os
import re
import smtplib
import socket
from contextlib import suppress
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import parseaddr
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)

from quem.errors import Mistake, QuemError
from quem.store.models import LetterRow, LetterState, now
from quem.store.outbox import UNKNOWN
from quem.studyfile.fields import address_trouble, header_trouble
from quem.studyfile.schema import complaints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.studyfile.addresses import Addressee

_PORTS = {"smtps": 465, "smtp+starttls": 587, "smtp": 25}
# Folding would encode the address of List-Unsubscribe, and some versions of Python fold wrongly.
_UNFOLDED = SMTP.clone(max_line_length=998)
# For each of the five responses per letter: together less than the outbox's timeout.
_SECONDS = 60
_GOOD, _LATER, _NEVER = 200, 400, 500
_LONGEST_REASON = 200
_MAIL_ADDRESS = re.compile(r"<?[^\s<>@]+@[^\s<>@,;:]+>?")


class MailServerError(QuemError):
    """The mail server cannot be reached, or accepts no letters at all."""

    def __init__(self, settings: MailSettings, reason: str) -> None:
        super().__init__(f"mail server {settings.host}:{settings.port}: {reason}")


def _server(place: str) -> SplitResult:
    try:
        url = urlsplit(place)
        is_place = url.scheme in _PORTS and url.hostname and url.port != 0
    except ValueError:  # half an IPv6 address, or a port beyond 65535
        is_place = False
    if not is_place:
        example = "smtps://user@mail.example.org:465"
        raise ValueError(f"is not the address of a mail server; use a value such as {example}")
    if url.password:
        raise ValueError("holds a password; put it into QUEM_SMTP_PASSWORD alone")
    if url.scheme == "smtp" and not _is_loopback(url.hostname or ""):
        raise ValueError(
            "is without TLS, which only a server on this computer may be; use smtps:// or "
            "smtp+starttls://"
        )
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _password(password: str, info: ValidationInfo) -> str:
    user = unquote(info.data["server"].username or "") if "server" in info.data else ""
    if user and not password:
        raise ValueError(f"is not set; set it to the password of {user}")
    if not (user + password).isascii():
        raise ValueError("user and password may have ASCII characters only")
    return password


def _sender(text: str) -> Address:
    example = "such as Amy Baxter <amy@example.org>"
    if not text:
        raise ValueError(f"is not set; set it to the sender of letters, {example}")
    name, email = parseaddr(text)
    if header_trouble(name) or address_trouble(email):
        raise ValueError(f"{text[:60]!r} is not a sender; use one {example}")
    return Address(name, addr_spec=email)


class MailSettings(BaseModel):
    """Mail server and sender from the environment."""

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    server: Annotated[SplitResult, BeforeValidator(_server)] = Field(alias="QUEM_SMTP")
    password: Annotated[str, AfterValidator(_password)] = Field(
        alias="QUEM_SMTP_PASSWORD", repr=False
    )
    sender: Annotated[Address, BeforeValidator(_sender)] = Field(alias="QUEM_MAIL_FROM")
    rate: Annotated[float, BeforeValidator(lambda text: text or 1)] = Field(
        alias="QUEM_MAIL_RATE", ge=0.001, le=1000
    )

    @property
    def host(self) -> str:
        """The name of the mail server."""
        return self.server.hostname or ""

    @property
    def port(self) -> int:
        """The port of the mail server."""
        return self.server.port or _PORTS[self.server.scheme]


def mail_settings(environment: Mapping[str, str] = os.environ) -> MailSettings | None:
    """Read the settings from the environment; None without a mail server."""
    if not environment.get("QUEM_SMTP"):
        return None
    names = [field.alias or "" for field in MailSettings.model_fields.values()]
    given = {name: environment.get(name, "") for name in names}
    try:
        return MailSettings.model_validate(given)
    except ValidationError as error:
        wrong = complaints(error, MailSettings, given)
    raise QuemError(Mistake("", key=str(loc[0]), message=message) for loc, message, _ in wrong)


class MailServer:
    """A connection to a mail server, opened lazily and again when lost."""

    def __init__(self, settings: MailSettings) -> None:
        self._settings = settings
        self._smtp: smtplib.SMTP | None = None

    def ready(self) -> None:
        """Connect, and have the sender accepted."""
        settings = self._settings
        try:
            code, said = self._connected().mail(settings.sender.addr_spec)
        except (smtplib.SMTPException, OSError) as error:
            self.close()
            raise MailServerError(settings, _said(error)) from None
        if not _is_good(code):
            reason = f"refuses the sender (QUEM_MAIL_FROM): {_words(code, said)}"
            raise MailServerError(settings, reason)

    def _connected(self) -> smtplib.SMTP:
        import ssl

        if self._smtp is not None:
            with suppress(smtplib.SMTPException, OSError):
                if _is_good(self._smtp.rset()[0]):
                    return self._smtp
            self.close()
        settings, security = self._settings, self._settings.server.scheme
        connect: Any = smtplib.SMTP
        if security == "smtps":
            connect = partial(smtplib.SMTP_SSL, context=ssl.create_default_context())
        # smtplib would look up the host name, which is slow without a name server.
        name = name if "." in (name := socket.gethostname()) else "[127.0.0.1]"
        smtp: smtplib.SMTP = connect(settings.host, settings.port, name, timeout=_SECONDS)
        self._smtp = smtp
        if security == "smtp+starttls":
            smtp.starttls(context=ssl.create_default_context())
        smtp.ehlo_or_helo_if_needed()
        if settings.server.username:
            smtp.login(unquote(settings.server.username), settings.password)
        return smtp

    def close(self) -> None:
        """End the connection."""
        if self._smtp is not None:
            with suppress(smtplib.SMTPException, OSError):
                self._smtp.quit()
            self._smtp.close()
        self._smtp = None

    def send(self, message: EmailMessage) -> tuple[LetterState, str]:
        """Send a letter after `ready`; returns its state and the server's response."""
        receiver = message["To"].addresses[0].addr_spec
        smtp: Any = self._smtp
        said: bytes | str
        is_handed_over = False
        try:
            code, said = smtp.rcpt(receiver)
            if _is_good(code):
                is_handed_over = True
                code, said = smtp.data(message.as_bytes(policy=_UNFOLDED))
        except smtplib.SMTPDataError as error:  # DATA was refused: nothing was sent
            code, said = error.smtp_code, error.smtp_error
        except (smtplib.SMTPException, OSError) as error:
            code, said = -1, _said(error)
        if _is_good(code):
            return "sent", ""
        reason = _words(code, said, receiver).removeprefix("-1 ")
        if code >= _LATER:
            return "due" if code < _NEVER else "failed", reason
        self.close()  # no response, or not one of a mail server
        return ("failed", UNKNOWN) if is_handed_over else ("due", reason)


def _said(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _words(error.smtp_code, error.smtp_error)
    return _without_addresses(
        getattr(error, "strerror", None) or str(error) or type(error).__name__
    )


def _is_good(code: int) -> bool:
    return _GOOD <= code < _LATER


def _words(code: int, said: bytes | str, receiver: str = "") -> str:
    words = said if isinstance(said, str) else said.decode(errors="replace")
    text = _without_addresses(f"{code} {words}")
    name = re.escape(receiver.rpartition("@")[0])
    return re.sub(rf"\b{name}\b", "(address)", text, flags=re.IGNORECASE) if name else text


def _without_addresses(text: str) -> str:
    """Remove addresses from a server's response, which is stored."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text)
    return _MAIL_ADDRESS.sub("(address)", " ".join(plain.split()))[:_LONGEST_REASON]


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
