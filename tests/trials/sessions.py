"""Sessions whose clients save without pause, and note what was acknowledged, until the server ends.

After each end of the server, by SIGKILL or SIGTERM, the notes are compared with the store.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError

from quem.store.database import open_store
from quem.store.location import locate_database
from tests.patience import SECONDS, until
from tests.postgres import running_postgres
from tests.served import Browserless, Served
from tests.trials.runner import registered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy.orm import Session as Connection

ENDS = 5  # of the server in one session
LEAST = 3  # acknowledged saves of each client, or refusals, before something happens
BUSY = HTTPStatus.SERVICE_UNAVAILABLE
CUT_OFF = (URLError, OSError, HTTPException, ValueError)


class Client(threading.Thread):
    """Somebody's browser, which works until it is cut off, or, if patient, is told to end."""

    def __init__(self, served: Served, who: str, rng: random.Random) -> None:
        super().__init__(daemon=True)
        self.rng, self.link = rng, served.links[who]
        self.browser = Browserless(served.base)
        self.gid = ""
        self.is_patient = False
        self.ending = threading.Event()
        self.notes: list[Any] = []
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []

    def _enter(self) -> None:
        raise NotImplementedError

    def _work(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        """Work; when the server is too busy to show a page, try again as somebody would."""
        while not self.ending.is_set():
            try:
                if not self.gid:
                    self._enter()
                self._work()
            except HTTPError as error:
                error.close()
                if error.code != BUSY and not self.is_patient:
                    self.wrong.append(f"{error} {error.url}")
                    return
                self._refuse("page")
            except CUT_OFF:  # perhaps in the middle of an answer: not acknowledged
                if not self.is_patient:
                    return
                self._refuse("cut off")

    def _refuse(self, why: str) -> None:
        self.refused[why] += 1
        self.ending.wait(0.05)


@dataclass
class Session:
    """A session that goes on over the ends of its server."""

    folder: Path
    database: str  # a URL, or the path of an SQLite file
    rng: random.Random  # decides what the clients save, and what happens
    people: int = 4
    notes: list[Any] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    clients: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Write the study."""
        self.study = self._write_study()
        self.served = Served(self.study, self.database)

    def _write_study(self) -> Path:
        raise NotImplementedError

    def _new_clients(self) -> Sequence[Client]:
        raise NotImplementedError

    def _fork(self) -> random.Random:
        return random.Random(self.rng.random())

    def _start(self) -> None:
        self.served.start()
        self.clients = [*self._new_clients()]
        for client in self.clients:
            client.start()
        self._let_save()

    def _let_save(self) -> None:
        self._until_each(lambda client: len(client.notes), "saves of each client")

    def _until_each(self, count: Callable[[Any], int], what: str) -> None:
        goals = [(client, count(client) + LEAST) for client in self.clients]
        until(lambda: all(not c.is_alive() or count(c) >= goal for c, goal in goals), what)
        assert all(client.is_alive() for client in self.clients), [c.wrong for c in self.clients]

    def _pause(self, longest: float) -> None:
        threading.Event().wait(self.rng.uniform(0, longest))

    def _end(self, how: str) -> None:
        if how == "SIGKILL":
            self.served.kill()
        else:
            self.served.terminate()
        for client in self.clients:
            client.ending.set()
            client.join(SECONDS)
            assert not client.is_alive(), "a client does not end"
            assert client.wrong == [], client.wrong
            self.notes += client.notes
            self.refused += client.refused

    @contextmanager
    def _stored(self, *, writes: bool = False) -> Iterator[Connection]:
        store = open_store(locate_database(self.study, self.database))
        try:
            with store.write() if writes else store.read() as c:
                yield c
        finally:
            store.close()


@contextmanager
def a_database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "SQLite":
        yield str(folder / "store.sqlite3")
        return
    with contextmanager(running_postgres)() as server:
        yield server.new()


def on_each_database(
    name: str, count: int, what: str, session: Callable[[random.Random, Path, str], dict[str, Any]]
) -> None:
    """Register a trial on SQLite, and the same on PostgreSQL."""
    for kind in ("SQLite", "PostgreSQL"):

        def run(rng: random.Random, folder: Path, kind: str = kind) -> dict[str, Any]:
            with a_database(kind, folder) as database:
                return session(rng, folder, database)

        run.__doc__ = f"{what}, on {kind}"
        registered(f"{name}-{kind.lower()}", count=count)(run)
