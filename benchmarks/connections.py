"""How long a new judge waits while many connections are held open, beside the old setting.

300 connections are kept alive and idle, as browsers do, and 200 send their headers a byte a second.
Then new judges open their links, each on a new connection. Run with
``nox -s bench -- connections``. Prints a table and exits with 1 where a demand is missed. Needs
Linux: what a process takes is read from ``/proc``.
"""

from __future__ import annotations

import re
import selectors
import socket
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from web import MIB, Running
from web_servers import Client, Quem

if TYPE_CHECKING:
    from collections.abc import Iterator

IDLE, SLOW, JUDGES = 300, 200, 3
SETTLE_SECONDS = 10.0  # for the idle connections to be answered once
MOST_SECONDS = 30.0  # that a judge waits for a page
MOST = 1.0  # seconds that are demanded
MOST_MEMORY = 90.0  # MiB
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
OLD = """
import sys
from waitress import serve
from quem.store.people import issue_link, people_of
from webjudge import create_app, open_site
site = open_site(sys.argv[1])
with site.store.write() as c:
    for judge in people_of(c, site.id, "judge"):
        print("/j/" + issue_link(c, judge, "shell"), flush=True)
serve(create_app(site), host="127.0.0.1", port=int(sys.argv[2]), threads=4, ident=None)
"""


class Old(Quem):
    """The same app as it was served before: waitress with its own limits, and four threads."""

    def command(self, folder: Path, port: int) -> list[str]:
        """Write a study with 8 judges."""
        study = super().command(folder, port)[4]
        return [sys.executable, "-c", OLD, study, str(port)]


@dataclass(frozen=True)
class Measured:
    """Seconds for a judge's pages without and with the connections, answered ones, and MiB."""

    alone: float
    crowded: float
    answered: int
    before: float
    after: float


def main() -> int:
    """Measure both, and print a table."""
    if not Path("/proc/self/stat").exists():
        print("benchmarks/connections.py reads /proc.", file=sys.stderr)
        return 2
    ours, old = measure(Quem()), measure(Old())
    rows = (
        ("a new judge's pages, alone", f"{ours.alone:.2f} s", f"{old.alone:.2f} s", ""),
        (
            f"the same beside {IDLE} idle and {SLOW} slow connections, slowest of {JUDGES}",
            f"{ours.crowded:.2f} s",
            f"> {MOST_SECONDS:.0f} s" if old.crowded >= MOST_SECONDS else f"{old.crowded:.2f} s",
            f"below {MOST:g} s",
        ),
        (f"idle connections answered, of {IDLE}", str(ours.answered), str(old.answered), "all"),
        ("memory before", f"{ours.before:.1f} MiB", f"{old.before:.1f} MiB", ""),
        (
            "memory with the connections",
            f"{ours.after:.1f} MiB",
            f"{old.after:.1f} MiB",
            f"below {MOST_MEMORY:g} MiB",
        ),
    )
    width = max(len(row[0]) for row in rows)
    print(f"{'':<{width}}  {'now':>10}  {'before':>10}  demand")
    for title, mine, theirs, demand in rows:
        print(f"{title:<{width}}  {mine:>10}  {theirs:>10}  {demand}")
    good = ours.crowded < MOST and ours.answered == IDLE and ours.after < MOST_MEMORY
    if not good:
        print("MISSED")
    return 0 if good else 1


def measure(server: Quem) -> Measured:
    """Start a server, let a judge in, hold the connections, and let further judges in."""
    with Running(server) as running, ExitStack() as held:
        links = list(server.links(running.output()))
        alone = seconds_of(running.port, links[0])
        before = running.memory() / MIB
        idle = [held.enter_context(connect(running.port)) for _ in range(IDLE)]
        answered = ask_once(idle)
        slow = [held.enter_context(connect(running.port)) for _ in range(SLOW)]
        over = threading.Event()
        trickle = threading.Thread(target=send_slowly, args=(slow, over), daemon=True)
        trickle.start()
        time.sleep(2)
        crowded = []
        for link in links[1 : JUDGES + 1]:
            crowded.append(seconds_of(running.port, link))
            if crowded[-1] >= MOST_SECONDS:
                break  # the others would wait as long
        after = running.memory() / MIB
        over.set()
        trickle.join()
        return Measured(alone, max(crowded), answered, before, after)


def connect(port: int) -> socket.socket:
    """Open a connection; where the server accepts none it waits in the queue of the system."""
    return socket.create_connection(("127.0.0.1", port), timeout=MOST_SECONDS)


def ask_once(connections: list[socket.socket]) -> int:
    """Send a request on each, which stays open then; gives how many are answered soon."""
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            connection.sendall(REQUEST)
            selector.register(connection, selectors.EVENT_READ)
        until, answered = time.monotonic() + SETTLE_SECONDS, 0
        while answered < len(connections) and time.monotonic() < until:
            for key, _ in selector.select(0.5):
                answered += b" 200 " in connections[connections.index(key.fileobj)].recv(4096)  # type: ignore[arg-type]
                selector.unregister(key.fileobj)
    return answered


def send_slowly(connections: list[socket.socket], over: threading.Event) -> None:
    """Send the bytes of headers that never end."""
    for sign in endless_headers():
        for connection in connections:
            try:
                connection.sendall(sign)
            except OSError:  # the server has had enough of it
                continue
        if over.wait(1):
            return


def endless_headers() -> Iterator[bytes]:
    """The bytes of a request, one by one."""
    yield from (bytes([byte]) for byte in b"GET / HTTP/1.1\r\n")
    while True:
        yield from (bytes([byte]) for byte in b"X-More: yes\r\n")


def seconds_of(port: int, link: str) -> float:
    """Let a judge open a link and a ranking page, on a new connection; gives the seconds."""
    start = time.perf_counter()
    client = Client(port, MOST_SECONDS)
    try:
        home = client.send("GET", link).decode()
        match = re.search(r"/judge/g/[\w-]+", home)
        assert match, "no group on the first page"  # noqa: S101
        client.send("GET", match[0])
    except OSError:
        return MOST_SECONDS
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
