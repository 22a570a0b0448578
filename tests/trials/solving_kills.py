"""A server that is killed while people write and upload: nothing that was acknowledged is lost.

Each person's client saves texts and uploads files without pause, and notes what was acknowledged.
After each SIGKILL the notes are compared with the store and with the bytes on the disk.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request

from PIL import Image
from sqlalchemy import select

from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.models import RevisionRow, TaskRow, UploadRow
from quem.store.uploads import UploadFolder
from tests.patience import SECONDS, until
from tests.postgres import running_postgres
from tests.served import Browserless, Served, number_of
from tests.trials.kills import BUSY, CUT_OFF
from tests.trials.runner import registered
from tests.webjudge.solving_sites import task_data, write_solving_study

if TYPE_CHECKING:
    from pathlib import Path

_KILLS = 5
_LEAST = 3  # acknowledged saves of each client between two kills


@dataclass(frozen=True)
class Note:
    """A draft that the server acknowledged."""

    task: str
    number: int
    text: str
    files: tuple[str, ...]


class Client(threading.Thread):
    """One person's browser: saves one text after another, uploads now and then, until cut off."""

    def __init__(self, served: Served, name: str, rng: random.Random) -> None:
        super().__init__(daemon=True)
        self.rng, self.link = rng, served.links[name]
        self.browser = Browserless(served.base)
        self.notes: list[Note] = []
        self.uploads: dict[str, str] = {}  # SHA-256 by public id
        self.wrong: list[str] = []

    def run(self) -> None:
        """Open the problem, and save."""
        try:
            self._enter()
            while True:
                self._work()
        except HTTPError as error:
            error.close()
            if error.code != BUSY:
                self.wrong.append(f"{error} {error.url}")
        except CUT_OFF:
            return  # cut off, perhaps in the middle of an answer: not acknowledged

    def _enter(self) -> None:
        self.browser.get(self.link)
        home = self.browser.submit("/solve/about", experience="7")
        self.gid = home.partition("/solve/t/")[2].partition('"')[0]
        page = self.browser.get(f"/solve/t/{self.gid}")
        if "/start" in page:
            page = self.browser.submit(f"/solve/t/{self.gid}/start")
        data = task_data(page)
        self.revision, self.files = data["revision"], list(data["state"]["files"])

    def _work(self) -> None:
        if self.rng.random() < 0.2 and len(self.files) < 10:
            self._upload()
        text = f"{self.rng.getrandbits(64):x} " * self.rng.randint(1, 400)
        self.browser.changes += 1
        state = {"text": text, "files": self.files}
        body = {"base": self.revision, "client": self.browser.client, "layout": ""}
        body |= {"change": self.browser.changes, "state": state, "submit": False}
        path = f"/solve/t/{self.gid}/state"
        status, answer = self.browser.send("PUT", path, body | {"seconds": 0, "views": {}})
        if status == BUSY:
            return
        assert status == 200, answer
        self.revision = answer["revision"]
        self.notes.append(Note(self.gid, number_of(answer), text, tuple(self.files)))

    def _upload(self) -> None:
        file = io.BytesIO()
        color = tuple(self.rng.randint(0, 255) for _ in range(3))
        Image.new("RGB", (self.rng.randint(1, 90), 8), color).save(file, "PNG")
        content = file.getvalue()
        request = Request(  # noqa: S310  our own server
            f"{self.browser.base}/solve/t/{self.gid}/files?name={quote('a.png')}",
            content,
            {"Content-Type": "application/octet-stream"},
        )
        with self.browser.open(request) as answer:
            made = json.loads(answer.read())
        self.files.append(made["id"])
        self.uploads[made["id"]] = hashlib.sha256(content).hexdigest()


@dataclass
class SolvingKills:
    """A solving session that goes on over all kills."""

    folder: Path
    database: str  # a URL, or the path of an SQLite file
    rng: random.Random
    people: int = 4
    notes: list[Note] = field(default_factory=list)
    uploads: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Write the study."""
        names = [f"S{n}" for n in range(self.people)]
        self.study = write_solving_study(self.folder, problems=1, people=names)
        self.served = Served(self.study, self.database)

    def run_one(self) -> int:
        """Let people work, kill the server, compare; gives how many saves were acknowledged."""
        self.served.start()
        clients = [
            Client(self.served, f"S{n}", random.Random(self.rng.random()))
            for n in range(self.people)
        ]
        for client in clients:
            client.start()
        until(
            lambda: all(not c.is_alive() or len(c.notes) >= _LEAST for c in clients),
            "every client to have texts saved",
        )
        assert all(client.is_alive() for client in clients), [c.wrong for c in clients]
        threading.Event().wait(self.rng.random() / 5)
        self.served.kill()
        for client in clients:
            client.join(SECONDS)
            assert client.wrong == []
            self.notes += client.notes
            self.uploads |= client.uploads
        self._compare()
        return sum(len(client.notes) for client in clients)

    def _compare(self) -> None:
        """Hold all that was ever acknowledged against the store and the disk."""
        store = open_store(locate_database(self.study, self.database))
        try:
            with store.read() as c:
                drafts = select(TaskRow.public_id, RevisionRow.number, RevisionRow.state).join(
                    TaskRow, TaskRow.key == RevisionRow.task_key
                )
                saved = {
                    (gid, n): (state["text"], tuple(state["files"]))
                    for gid, n, state in c.execute(drafts)
                }
                held = select(UploadRow.public_id, UploadRow.sha256, UploadRow.ending)
                rows = {name: (sha256, ending) for name, sha256, ending in c.execute(held)}
        finally:
            store.close()
        for note in self.notes:
            assert saved[note.task, note.number] == (note.text, note.files), note.number
        folder = UploadFolder(self.study)
        for name, digest in self.uploads.items():
            assert rows[name][0] == digest
            content = folder.path(*rows[name]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == digest


def _session(rng: random.Random, folder: Path, database: str) -> dict[str, Any]:
    trials = SolvingKills(folder, database, rng)
    saves = sum(trials.run_one() for _ in range(_KILLS))
    return {"acknowledged": saves, "uploads": len(trials.uploads)}


@registered("kills-solving-sqlite", count=12)
def kills_sqlite(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Five kills of a server on SQLite while people write and upload: all of it is there."""
    return _session(rng, folder, str(folder / "store.sqlite3"))


@registered("kills-solving-postgresql", count=12)
def kills_postgresql(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Five kills of a server on PostgreSQL while people write and upload: all of it is there."""
    with contextmanager(running_postgres)() as server:
        return _session(rng, folder, server.new())
