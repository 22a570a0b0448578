"""How long a new judge waits while many connections are held open, beside quem's old setting.

Connections are kept alive and idle, as browsers do, and others send their headers a byte a second.
Then new judges open their links, each on a new connection.
"""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.measuring import Row
from benchmarks.running import Running
from benchmarks.servers import Client, OldQuem, Quem

if TYPE_CHECKING:
    from collections.abc import Iterator

IDLE, SLOW, JUDGES = 300, 200, 3
SETTLE_SECONDS = 10.0  # for the idle connections to be answered once
MOST_SECONDS = 30.0  # that a judge waits for a page
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def rows(*, short: bool) -> Iterator[Row]:
    """Now, and as the app was served once."""
    idle, slow = (20, 10) if short else (IDLE, SLOW)
    ours, old = measure(Quem(), idle, slow), measure(OldQuem(), idle, slow)
    beside = f"{idle} idle and {slow} slow connections"
    peer = "waitress as it comes"
    what = f"a judge's first pages beside {beside}, slowest of {JUDGES}"
    yield Row(what, ours[0], "s", peer, old[0], most=1)
    yield Row(f"idle connections of {idle} without an answer", ours[1], "", peer, old[1], most=0)
    yield Row(f"server's memory with {beside}", ours[2], "MiB", peer, old[2], most=90)


def measure(server: Quem, idle: int, slow: int) -> tuple[float, int, float]:
    """The slowest judge's seconds, idle connections that were not answered, and MiB."""
    with Running(server) as running, ExitStack() as held:
        links = list(server.links(running.output()))
        seconds_of(running.port, links[0])
        waiting = [held.enter_context(connect(running.port)) for _ in range(idle)]
        answered = ask_once(waiting)
        sending = [held.enter_context(connect(running.port)) for _ in range(slow)]
        over = threading.Event()
        trickle = threading.Thread(target=send_slowly, args=(sending, over), daemon=True)
        trickle.start()
        time.sleep(2)
        crowded = []
        for link in links[1 : JUDGES + 1]:
            crowded.append(seconds_of(running.port, link))
            if crowded[-1] >= MOST_SECONDS:
                break  # the others would wait as long
        memory = running.memory()
        over.set()
        trickle.join()
        return max(crowded), idle - answered, memory


def connect(port: int) -> socket.socket:
    """Open a connection; where the server accepts none it waits in the queue of the system."""
    return socket.create_connection(("127.0.0.1", port), timeout=MOST_SECONDS)


def ask_once(connections: list[socket.socket]) -> int:
    """Send a request on each, which stays open then: how many are answered soon."""
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
    """A request, byte by byte."""
    yield from (bytes([byte]) for byte in b"GET / HTTP/1.1\r\n")
    while True:
        yield from (bytes([byte]) for byte in b"X-More: yes\r\n")


def seconds_of(port: int, link: str) -> float:
    """Seconds until a judge has a link and a ranking page open, on a new connection."""
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
