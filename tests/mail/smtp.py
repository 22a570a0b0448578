"""A real mail server for tests, in a thread, with configurable responses."""

from __future__ import annotations

import asyncio
import email
import email.policy
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from aiosmtpd.smtp import SMTP, Envelope

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import EmailMessage


@dataclass(frozen=True)
class Received:
    """A letter as it came."""

    sender: str | None
    receivers: list[str]
    content: bytes

    def headers(self) -> dict[str, list[str]]:
        """The lines of the head by name, folded ones put together."""
        found: dict[str, list[str]] = {}
        head = self.content.partition(b"\r\n\r\n")[0].decode("ascii")
        for line in head.replace("\r\n ", " ").replace("\r\n\t", " ").split("\r\n"):
            name, colon, value = line.partition(": ")
            assert colon, line
            found.setdefault(name, []).append(value)
        return found


class MailHost:
    """Takes letters, or refuses them."""

    def __init__(self, answer: Callable[[str], str] = lambda _: "250 OK") -> None:
        self.answer = answer
        self.drops = False  # whether it hangs up on a letter that it was given
        self.letters: list[EmailMessage] = []
        self._received: list[Received] = []
        self._lock = threading.Lock()
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        # Its own thread: in that of the tests the loop of a browser's driver may run.
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        loop = self._loop
        server = loop.run_until_complete(loop.create_server(self._session, "127.0.0.1", 0))
        self.port = int(server.sockets[0].getsockname()[1])
        self._ready.set()
        loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    def _session(self) -> SMTP:
        return SMTP(self, hostname="mail.example.org", loop=self._loop, enable_SMTPUTF8=True)

    def __enter__(self) -> Self:
        """Answer."""
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def environment(self) -> dict[str, str]:
        """The settings that name this server."""
        return self.settings(self.port)

    @staticmethod
    def settings(port: int) -> dict[str, str]:
        """The settings that name a server; many letters a second."""
        return {
            "QUEM_SMTP": f"smtp://127.0.0.1:{port}",
            "QUEM_MAIL_FROM": "Quality Office <office@example.org>",
            "QUEM_MAIL_RATE": "1000",
            "QUEM_URL": "https://judging.example.org",
        }

    @property
    def receivers(self) -> Counter[str]:
        """How many letters each address got."""
        with self._lock:
            return Counter(letter["To"].addresses[0].addr_spec for letter in self.letters)

    def received(self) -> list[Received]:
        """The letters that came since this was asked last, as bytes."""
        with self._lock:
            letters, self._received = self._received, []
        return letters

    async def handle_RCPT(  # noqa: N802  aiosmtpd's name
        self, _server: object, _session: object, envelope: Envelope, address: str, _options: object
    ) -> str:
        """Answer to a receiver."""
        answer = self.answer(address)
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: SMTP, _session: object, envelope: Envelope) -> str:  # noqa: N802
        """Take a letter."""
        if self.drops:
            assert server.transport is not None
            server.transport.close()
            return ""
        assert isinstance(envelope.content, bytes)
        letter = email.message_from_bytes(
            envelope.content.replace(b"\r\n", b"\n"), policy=email.policy.default
        )
        with self._lock:
            self.letters.append(letter)
            self._received.append(Received(envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 OK"
