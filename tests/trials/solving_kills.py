"""A server that is killed while people write and upload: nothing that was acknowledged is lost.

After each SIGKILL what clients noted is compared with the store and with the bytes on the disk.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import Request

from PIL import Image
from sqlalchemy import select

from quem.store.models import RevisionRow, TaskRow, UploadRow
from quem.store.uploads import UploadFolder
from tests.served import number_of
from tests.trials.sessions import BUSY, ENDS, Client, Session, on_each_database
from tests.webjudge.solving_sites import task_data, write_solving_study

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from tests.served import Served

_MOST_FILES = 10


class Note(NamedTuple):
    """A draft that the server acknowledged."""

    task: str
    number: int
    text: str
    files: tuple[str, ...]


class PersonClient(Client):
    """One person's browser: saves one text after another, and uploads now and then."""

    def __init__(self, served: Served, who: str, rng: random.Random) -> None:
        super().__init__(served, who, rng)
        self.uploads: dict[str, str] = {}  # SHA-256 by public id

    def _enter(self) -> None:
        self.browser.get(self.link)
        home = self.browser.submit("/solve/about", experience="7")
        gid = home.partition("/solve/t/")[2].partition('"')[0]
        page = self.browser.get(f"/solve/t/{gid}")
        if "/start" in page:
            page = self.browser.submit(f"/solve/t/{gid}/start")
        data = task_data(page)
        self.revision, self.files = data["revision"], list(data["state"]["files"])
        self.gid = gid

    def _work(self) -> None:
        if self.rng.random() < 0.2 and len(self.files) < _MOST_FILES:
            self._upload()
        text = f"{self.rng.getrandbits(64):x} " * self.rng.randint(1, 400)
        self.browser.changes += 1
        body = {"base": self.revision, "client": self.browser.client, "layout": ""}
        body |= {"change": self.browser.changes, "state": {"text": text, "files": self.files}}
        body |= {"submit": False, "seconds": 0, "views": {}}
        status, answer = self.browser.send("PUT", f"/solve/t/{self.gid}/state", body)
        if status == BUSY:
            return
        assert status == 200, answer
        self.revision = answer["revision"]
        self.notes.append(Note(self.gid, number_of(answer), text, tuple(self.files)))

    def _upload(self) -> None:
        file = io.BytesIO()
        color = tuple(self.rng.randint(0, 255) for _ in range(3))
        Image.new("RGB", (self.rng.randint(1, 90), 8), color).save(file, "PNG")
        url = f"{self.browser.base}/solve/t/{self.gid}/files?name=a.png"
        head = {"Content-Type": "application/octet-stream"}
        with self.browser.open(Request(url, file.getvalue(), head)) as answer:  # noqa: S310  ours
            made = json.loads(answer.read())
        self.files.append(made["id"])
        self.uploads[made["id"]] = hashlib.sha256(file.getvalue()).hexdigest()


@dataclass
class SolvingKills(Session):
    """People who write and upload."""

    uploads: dict[str, str] = field(default_factory=dict)

    def _write_study(self) -> Path:
        self.names = [f"S{n}" for n in range(self.people)]
        return write_solving_study(self.folder, problems=1, people=self.names)

    def _new_clients(self) -> list[PersonClient]:
        return [PersonClient(self.served, name, self._fork()) for name in self.names]

    def run_one(self) -> int:
        before = len(self.notes)
        self._start()
        self._pause(0.2)
        self._end("SIGKILL")
        for client in self.clients:
            self.uploads |= client.uploads
        self.compare()
        return len(self.notes) - before

    def compare(self) -> None:
        """Hold all that was ever acknowledged against the store and the disk."""
        drafts = select(TaskRow.public_id, RevisionRow.number, RevisionRow.state).join(
            TaskRow, TaskRow.key == RevisionRow.task_key
        )
        held = select(UploadRow.public_id, UploadRow.sha256, UploadRow.ending)
        with self._stored() as c:
            saved = {
                Note(gid, number, state["text"], tuple(state["files"]))
                for gid, number, state in c.execute(drafts)
            }
            rows = {name: (sha256, ending) for name, sha256, ending in c.execute(held)}
        lacking = set(self.notes) - saved
        assert not lacking, lacking
        folder = UploadFolder(self.study)
        for name, digest in self.uploads.items():
            content = folder.path(*rows[name]).read_bytes()
            assert rows[name][0] == digest == hashlib.sha256(content).hexdigest()


def _session(rng: random.Random, folder: Path, database: str) -> dict[str, Any]:
    trials = SolvingKills(folder, database, rng)
    saves = sum(trials.run_one() for _ in range(ENDS))
    return {"ends": ["SIGKILL"] * ENDS, "acknowledged": saves, "uploads": len(trials.uploads)}


on_each_database("kills-solving", 12, "A server is killed while people write and upload", _session)
