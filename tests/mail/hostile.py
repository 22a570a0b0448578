"""Values that would be headers, receivers or lines, and a mail server that keeps what it got.

``python -m tests.mail.hostile FOLDER`` is the server: it prints its port, and writes each letter
into the folder, as bytes, with the addresses that it was told.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiosmtpd.smtp import SMTP, Envelope

if TYPE_CHECKING:
    from collections.abc import Iterator

_BCC = "Bcc:_evil=40example.net"
_WORDS = (
    f"=?utf-8?q?a=0D=0A{_BCC}?=",
    f"=?utf-8?q?a=0A{_BCC}?=",
    f"=?utf-8?q?a=0D{_BCC}?=",
    f"=?UTF-8?Q?=0D=0A{_BCC}?=",
    f"=?us-ascii?q?a=0D=0A{_BCC}?=",
    f"=?iso-8859-1?q?=E9=0D=0A{_BCC}?=",
    f"=?utf-8*en?q?a=0D=0A{_BCC}?=",
    f"é =?utf-8?q?a=0D=0A{_BCC}?=",
    f"a =?utf-8?q?a=0D=0A{_BCC}?= é",
    f'"=?utf-8?q?a=0D=0A{_BCC}?="',
    f"(=?utf-8?q?a=0D=0A{_BCC}?=)",
    f"{'x' * 100} =?utf-8?q?a=0D=0A{_BCC}?=",
    f"=?utf-8?q?=3D=3Futf-8=3Fq=3Fa=3D0D=3D0A{_BCC}=3F=3D?=",
    "=?utf-8?b?YQ0KQmNjOiBldmlsQGV4YW1wbGUubmV0?=",
    "=?utf-8?b?YQ0KDQpBbm90aGVyIGJvZHk=?=",
    "=?utf-8?q?a?= =?utf-8?q?b?=",
    "=?utf-8?q?evil=40example.net=2C?=",
    "=?utf-8?q?=22=2C_evil=40example.net=2C_=22?=",
    "=?utf-8?q?unfinished",
    "=?unknown?x?a?=",
)
_ADDRESSES = (
    "Amy, evil@example.net",
    "Amy <evil@example.net>,",
    '"Amy" <evil@example.net>, "',
    f'é "{"Amy, " * 20}" <evil@example.net>, é',
    f"{'Zoë, ' * 30}evil@example.net",
    "Amy; evil@example.net: b;",
    "Amy\\",
    "Amy (evil@example.net",
)
_LINES = (
    "a\r\nBcc: evil@example.net",
    "a\nBcc: evil@example.net",
    "a\rBcc: evil@example.net",
    "a\x85Bcc: evil@example.net",
    "a\u2028Bcc: evil@example.net",
    "a\x0bBcc: evil@example.net",
)
_TEXTS = (
    "{link} {{ link }} {name}",
    "%(title)s %s {0}",
    "{% raw %} <b>&amp;</b>",
    ". From me",
    "מיה שָׁלוֹם 🤷🏽 " * 12,
    "   ",
)
VALUES = (*_WORDS, *_ADDRESSES, *_LINES, *_TEXTS)
RECEIVERS = (
    "=?utf-8?q?evil=40example.net?=@example.org",
    f"=?utf-8?q?a=0D=0A{_BCC}?=@example.org",
    "amy@=?utf-8?q?example.net?=",
    "amy@example.org,evil@example.net",
    "amy;evil@example.net",
    "amy@example.org\r\nBcc: evil@example.net",
    "amy@example.org> SIZE=1",
    "zoë@example.org",
)


@dataclass(frozen=True)
class Received:
    """A letter as it came."""

    sender: str
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


class _Keeper:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def handle_DATA(self, _server: SMTP, _session: object, envelope: Envelope) -> str:  # noqa: N802
        """Keep a letter."""
        assert isinstance(envelope.content, bytes)
        letter = [envelope.mail_from, envelope.rcpt_tos, envelope.content.decode("latin-1")]
        number = len([*self._folder.iterdir()])
        (self._folder / f"{number:04d}.json").write_text(json.dumps(letter), encoding="utf-8")
        return "250 OK"


async def _serve(folder: Path) -> None:
    keeper = _Keeper(folder)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(keeper, hostname="mail.example.org", enable_SMTPUTF8=True), "127.0.0.1", 0
    )
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201
    await server.serve_forever()


@contextmanager
def mail_process(folder: Path) -> Iterator[int]:
    """Run the server as a process of its own; gives its port."""
    command = [sys.executable, "-m", "tests.mail.hostile", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def received(folder: Path) -> list[Received]:
    """Give the letters that came, and forget them."""
    letters = []
    for path in sorted(folder.iterdir()):
        sender, receivers, content = json.loads(path.read_text("utf-8"))
        letters.append(Received(sender, receivers, content.encode("latin-1")))
        path.unlink()
    return letters


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
