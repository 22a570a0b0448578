"""Serve the app with waitress until a signal."""

from __future__ import annotations

import signal
from contextlib import suppress
from copy import copy
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from sqlalchemy.exc import SQLAlchemyError
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server

from quem.store.database import THREADS, UnavailableError
from quem.store.uploads import MOST_OF_SUBJECT
from webjudge.access import sender

if TYPE_CHECKING:
    from flask import Flask

_STOP_SECONDS = 5
_LOOP_SECONDS = 1.0
LARGEST_OF_STRANGERS = 1 << 16  # limit of a body without a valid cookie, in bytes
_DESCRIPTORS, _OWN_DESCRIPTORS = 4096, 100
_MOST_CONNECTIONS = 1000


class Server:
    """A web server that listens when constructed and answers in a ``with`` block."""

    def __init__(
        self,
        app: Flask,
        host: str,
        port: int,
        largest: int,
        *,
        behind_proxy: bool = False,
    ) -> None:
        self._map: dict[int, Any] = {}
        self._signals: list[int] = []
        self._before: dict[int, Any] = {}
        server: Any = create_server(
            app,
            map=self._map,
            host=host,
            port=port,
            threads=THREADS,
            ident=None,
            # A browser keeps about six mostly idle connections, so the limit is high.
            connection_limit=_connections(),
            asyncore_use_poll=True,  # select() fails above descriptor 1,023
            channel_timeout=60,
            cleanup_interval=10,
            backlog=1024,
            # The app trusts one proxy's headers if configured, else none.
            clear_untrusted_proxy_headers=not behind_proxy,
            # The app has its own limit and message.
            max_request_body_size=2 * largest,
        )
        server.channel_class = type("Channel", (HTTPChannel,), {"parser_class": _parser(app)})
        self._server = server
        listens = getattr(server, "effective_listen", None)
        self.port = int(listens[0][1] if listens else server.effective_port)

    def __enter__(self) -> Self:
        """Install the signal handlers, except for signals ignored by the parent process."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
            number = getattr(signal, name, None)
            if number and signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the signal handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def run(self) -> int:
        """Answer requests until a signal, which may have come already; return its number.

        Then stop accepting, and wait a few seconds for running requests.
        """
        while not self._signals:
            self._loop(_LOOP_SECONDS)
        self._finish()
        return self._signals[0]

    def _stop(self, number: int, _: object) -> None:
        self._signals.append(number)
        if number == signal.SIGINT:  # a second Ctrl-C does not wait
            signal.signal(number, signal.default_int_handler)
        self._wake()

    def _wake(self) -> None:
        for each in list(self._map.values()):
            if hasattr(each, "pull_trigger"):
                each.pull_trigger()
                return

    def _loop(self, seconds: float) -> None:
        wasyncore.loop(seconds, use_poll=True, map=self._map, count=1)

    def _finish(self) -> None:
        until = monotonic() + _STOP_SECONDS
        for each in list(self._map.values()):
            if each.accepting:
                each.accepting = False
                # Keep its trigger: finished requests wake the loop through it.
                wasyncore.dispatcher.close(each)
        while monotonic() < until and any(map(_is_busy, self._map.values())):
            self._loop(0.05)
        self._server.task_dispatcher.shutdown(timeout=max(0.0, until - monotonic()))
        with suppress(OSError):
            wasyncore.close_all(self._map, ignore_all=True)


def _parser(app: Flask) -> type[HTTPRequestParser]:
    """Create a request parser with a limit of the body that depends on the sender."""
    large: WeakSet[Any] = WeakSet()

    class Parser(HTTPRequestParser):
        sender = ""

        def parse_header(self, header_plus: bytes) -> None:
            super().parse_header(header_plus)
            if not self.chunked and self.content_length < LARGEST_OF_STRANGERS:
                return
            self.sender = _sender(app, self.headers.get("COOKIE", ""))
            large.add(self)
            if not self.sender:
                self._limit(LARGEST_OF_STRANGERS)

        def received(self, data: bytes) -> int:
            if self.sender:
                mine = [one.body_bytes_received for one in large if one.sender == self.sender]
                if sum(mine) > MOST_OF_SUBJECT:
                    self._limit(0)
            consumed: int = super().received(data)
            return consumed

        def _limit(self, most: int) -> None:
            self.adj = copy(self.adj)
            self.adj.max_request_body_size = most

    return Parser


def _sender(app: Flask, cookies: str) -> str:
    try:
        return sender(app, cookies)
    except (SQLAlchemyError, UnavailableError):
        return "unknown"  # the app answers that the database is away


def _is_busy(channel: Any) -> bool:  # noqa: ANN401  waitress has no types
    """Whether a connection has a request without a complete response."""
    return bool(getattr(channel, "requests", ()) or getattr(channel, "total_outbufs_len", 0))


def _connections() -> int:
    """Maximum number of connections; raises the limit of open files for them."""
    try:
        import resource
    except ImportError:  # on Windows
        return _MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    if soft == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return min(_MOST_CONNECTIONS, max(_OWN_DESCRIPTORS, soft - _OWN_DESCRIPTORS))
