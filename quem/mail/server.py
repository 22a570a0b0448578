"""The mail server that letters are handed over to: settings, connection, and what it answers."""

from __future__ import annotations

import os
import re
import smtplib
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.utils import parseaddr
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import EmailMessage

    from quem.store.outbox import Settled

_SERVER, _PASSWORD, _FROM, _RATE = (
    *("QUEM_SMTP", "QUEM_SMTP_PASSWORD"),
    *("QUEM_MAIL_FROM", "QUEM_MAIL_RATE"),
)
_PORTS = {"smtps": 465, "smtp+starttls": 587, "smtp": 25}
_EXAMPLE = "use a value such as smtps://user@mail.example.org:465"
# For each of the five answers that a letter needs: less than the lease of the outbox together.
_SECONDS = 60
_GOOD, _LATER, _NEVER = 200, 400, 500
_LONGEST_REASON = 200
_MAIL_ADDRESS = re.compile(r"<?[^\s<>@]+@[^\s<>@,;:]+>?")


class MailServerError(QuemError):
    """The mail server cannot be reached, or accepts no letter at all."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__([f"mail server {place}: {reason}"])


class Outcome(NamedTuple):
    """What became of a letter."""

    state: Settled  # as `quem.store.outbox.settle` takes it
    reason: str = ""  # what the mail server said, without addresses


@dataclass(frozen=True)
class MailSettings:
    """Which mail server sends letters, and whose."""

    security: str
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    sender: Address  # from whom letters are
    rate: float = 1.0  # letters a second at most


def mail_settings(environment: Mapping[str, str] = os.environ) -> MailSettings | None:
    """Read the settings from the environment; None where no mail server is set."""
    if not (place := environment.get(_SERVER, "")):
        return None
    mistakes: list[str] = []
    try:
        url = urlsplit(place)
    except ValueError:  # half an IPv6 address
        url = urlsplit("")
    port = _port(url, mistakes)
    if url.scheme not in _PORTS or not url.hostname or port is None:
        mistakes.append(f"{_SERVER}: is not the address of a mail server; {_EXAMPLE}")
    elif url.password:
        mistakes.append(f"{_SERVER}: holds a password; put it into {_PASSWORD} alone")
    elif url.scheme == "smtp" and not _is_loopback(url.hostname):
        message = "is without TLS, which only a server on this computer may be"
        mistakes.append(f"{_SERVER}: {message}; use smtps:// or smtp+starttls://")
    user, password = unquote(url.username or ""), environment.get(_PASSWORD, "")
    if user and not password:
        mistakes.append(f"{_PASSWORD}: is not set; set it to the password of {user}")
    if not (user + password).isascii():
        mistakes.append(f"{_PASSWORD}: user and password may have ASCII characters only")
    sender = _sender(environment.get(_FROM, ""), mistakes)
    rate = _rate(environment.get(_RATE, "1"), mistakes)
    if mistakes or sender is None or port is None:
        raise QuemError(mistakes)
    return MailSettings(url.scheme, url.hostname or "", port, user, password, sender, rate)


def _port(url: SplitResult, mistakes: list[str]) -> int | None:
    try:
        return url.port or _PORTS.get(url.scheme, 0)
    except ValueError:
        if url.scheme in _PORTS and url.hostname:
            mistakes.append(f"{_SERVER}: its port is not a number up to 65535")
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _sender(text: str, mistakes: list[str]) -> Address | None:
    example = "such as Amy Baxter <amy@example.org>"
    if not text:
        mistakes.append(f"{_FROM}: is not set; set it to the sender of letters, {example}")
        return None
    name, email = parseaddr(text)
    try:
        sender = Address(name, addr_spec=email)
        if sender.domain and sender.addr_spec.isascii():
            return sender
    except (ValueError, IndexError):
        pass
    mistakes.append(f"{_FROM}: {text[:60]!r} is not a sender; use one {example}")
    return None


def _rate(text: str, mistakes: list[str]) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1000:  # noqa: PLR2004
        mistakes.append(f"{_RATE}: {text[:60]!r} is not a number of letters a second, such as 0.5")
    return rate


class MailServer:
    """A connection to a mail server, made when it is first needed and again when it was lost."""

    def __init__(self, settings: MailSettings) -> None:
        self.settings = settings
        self._smtp: smtplib.SMTP | None = None

    def ready(self) -> None:
        """Be connected."""
        if self._smtp is not None:
            with suppress(smtplib.SMTPException, OSError):
                if _is_good(self._smtp.noop()[0]):
                    return
            self.close()
        try:
            self._connect()
        except (smtplib.SMTPException, OSError) as error:
            self.close()
            place = f"{self.settings.host}:{self.settings.port}"
            raise MailServerError(place, _said(error)) from None

    def _connect(self) -> None:
        import ssl

        settings = self.settings
        place = {"host": settings.host, "port": settings.port, "timeout": _SECONDS}
        # That of smtplib would look it up, which can take long where there is no name server.
        place["local_hostname"] = name if "." in (name := socket.gethostname()) else "[127.0.0.1]"
        options: Any = place
        if settings.security == "smtps":
            self._smtp = smtplib.SMTP_SSL(**options, context=ssl.create_default_context())
        else:
            self._smtp = smtplib.SMTP(**options)
        if settings.security == "smtp+starttls":
            self._smtp.starttls(context=ssl.create_default_context())
        if settings.user:
            self._smtp.login(settings.user, settings.password)

    def close(self) -> None:
        """End the connection."""
        if self._smtp is not None:
            with suppress(smtplib.SMTPException, OSError):
                self._smtp.quit()
            self._smtp.close()
        self._smtp = None

    def send(self, message: EmailMessage, receiver: str) -> Outcome:
        """Hand a letter over to an address, after `ready`."""
        smtp = self._smtp
        if smtp is None:
            return Outcome("retry", "not connected")
        handed_over = False
        try:
            smtp.ehlo_or_helo_if_needed()
            code, said = smtp.mail(self.settings.sender.addr_spec)
            if code >= _NEVER:
                smtp.rset()
                raise MailServerError(
                    self.settings.host, f"refuses the sender ({_FROM}): {_words(code, said)}"
                )
            if _is_good(code):
                code, said = smtp.rcpt(receiver)
            if _is_good(code):
                handed_over = True
                code, said = smtp.data(message.as_bytes())
        except smtplib.SMTPDataError as error:  # it did not want to hear it: nothing was sent
            code, said = error.smtp_code, _bytes(error.smtp_error)
        except (smtplib.SMTPException, OSError) as error:
            self.close()
            # Whether the server has it, nobody knows, once it was told everything.
            return Outcome("unknown" if handed_over else "retry", _said(error))
        if _is_good(code):
            return Outcome("sent")
        if code < _LATER:  # no answer at all, but something else
            self.close()
            return Outcome("unknown" if handed_over else "retry", "not an answer of a mail server")
        with suppress(smtplib.SMTPException, OSError):
            smtp.rset()
        reason = _words(code, said, receiver)
        return Outcome("retry" if code < _NEVER else "failed", reason)


def _said(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _words(error.smtp_code, _bytes(error.smtp_error))
    return _without_addresses(
        getattr(error, "strerror", None) or str(error) or type(error).__name__
    )


def _is_good(code: int) -> bool:
    return _GOOD <= code < _LATER


def _words(code: int, said: bytes, receiver: str = "") -> str:
    text = _without_addresses(f"{code} {said.decode(errors='replace')}")
    name = receiver.rpartition("@")[0]
    return (
        re.sub(rf"\b{re.escape(name)}\b", "(address)", text, flags=re.IGNORECASE) if name else text
    )


def _bytes(said: bytes | str) -> bytes:
    return said.encode() if isinstance(said, str) else said


def _without_addresses(text: str) -> str:
    """Leave out what names somebody: what a server said is stored."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text)
    return _MAIL_ADDRESS.sub("(address)", " ".join(plain.split()))[:_LONGEST_REASON]
