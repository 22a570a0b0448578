"""Real servers in processes of their own: ``quem serve``, and gunicorn as it is deployed."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from quem.store.database import Store, open_store
from quem.store.location import locate_database
from quem.store.people import DEFAULT, issue_link, person_named
from quem.studyfile.reading import read_study
from tests.patience import SECONDS, until
from tests.served import Served
from tests.webjudge.sites import role_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import Message
    from pathlib import Path

    from quem.store.models import PersonRow, Role


class Answer(NamedTuple):
    """What a server answered; its status is 0 where it hung up."""

    status: int
    headers: Message
    text: str


@dataclass
class Server:
    """A server that runs."""

    study: Path
    port: int
    store: Store
    log: Callable[[], str]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, request: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        method, _, path = request.partition(" ")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with suppress(BrokenPipeError, ConnectionResetError):  # it may answer all the same
            connection.request(method, path, body, headers or {})
        try:
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode())
        except (http.client.ResponseNotReady, OSError):
            return Answer(0, http.client.HTTPMessage(), "")
        finally:
            connection.close()

    def person(self, name: str, role: Role = "judge") -> PersonRow:
        with self.store.read() as c:
            return person_named(c, read_study(self.study).id, role, name)

    def link(self, name: str = DEFAULT, role: Role = "organizer") -> str:
        with self.store.write() as c:
            person = person_named(c, read_study(self.study).id, role, name)
            return f"/{role_path(role)}/{issue_link(c, person, 'shell')}"

    def cookie(self, link: str) -> dict[str, str]:
        return {"Cookie": self.ask(f"GET {link}").headers["Set-Cookie"].partition(";")[0]}


@contextmanager
def quem_serve(study: Path, *arguments: str) -> Iterator[Server]:
    with Served(study, arguments=arguments, port=free_port()) as served:
        store = open_store(locate_database(study))
        yield Server(study, served.port, store, lambda: "".join(served.errors))
        store.close()


@contextmanager
def gunicorn(study: Path, database: str, workers: int, **environment: str) -> Iterator[Server]:
    port, log = free_port(), study.with_name("log")
    more = {"QUEM_DATABASE_URL": database, "QUEM_STUDY": str(study), **environment}
    words = ["-m", "gunicorn", "--workers", str(workers), "--bind", f"127.0.0.1:{port}"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, *words, "webjudge.wsgi"], env={**os.environ, **more}, stderr=file
        )
    try:
        until(lambda: is_up(port), "gunicorn")
        store = open_store(locate_database(study, database))
        yield Server(study, port, store, log.read_text)
        store.close()
    finally:
        process.terminate()
        assert process.wait(SECONDS) == 0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def is_up(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
