"""A server that is killed and a study that is edited, again and again: nothing is lost or mixed up.

Judges' clients save orders without pause. Each notes what was acknowledged, by the *content* of
the cards as its page showed them, never by letters or solvers. After each end of the server, by
SIGKILL or SIGTERM, their notes are compared with the archive of the store. Then the study may be
edited, and the server starts again.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError

from quem.store.archive import archive_text
from quem.store.database import open_store
from quem.store.digests import receipt_code
from quem.store.location import locate_database
from quem.store.reviewing import answer_change
from quem.studyfile.reading import read_study
from tests.patience import until
from tests.postgres import running_postgres
from tests.served import Browserless, Served, all_ranked, number_of, write_judging_study
from tests.trials.runner import registered

if TYPE_CHECKING:
    from pathlib import Path

_CARD = re.compile(r'<template data-solution="([A-Z]+)".*?content-([0-9a-f]{12})', re.DOTALL)
_FEWEST, _MOST = 3, 9  # solvers
_LEAST_SAVES = 3  # of each client between two kills
_KILLS = 5  # of one session
BUSY = HTTPStatus.SERVICE_UNAVAILABLE
CUT_OFF = (URLError, OSError, HTTPException, ValueError)


@dataclass(frozen=True)
class Acknowledged:
    """A save that the server acknowledged."""

    ballot: str
    revision: int
    order: tuple[str, ...]  # contents, best first
    receipt: str = ""  # of a submitted one


class Client(threading.Thread):
    """One judge's browser at one group: saves one random order after another until cut off."""

    def __init__(self, served: Served, judge: str, group: int, rng: random.Random) -> None:
        super().__init__(daemon=True)
        self.rng = rng
        self.group = group
        self.link = served.links[judge]
        self.browser = Browserless(served.base)
        self.notes: list[Acknowledged] = []
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []

    def run(self) -> None:
        """Open the page, save, submit and reopen; read the page anew when the layout is another."""
        while True:
            try:
                self.browser.get(self.link)
                gid = self.browser.groups()[self.group]
                while True:
                    self._visit(gid)
            except HTTPError as error:
                error.close()
                if error.code != BUSY:
                    self.wrong.append(str(error))
                    return
                self.refused["page"] += 1  # too busy to show a page: somebody would try again
            except CUT_OFF:
                return  # cut off, perhaps in the middle of an answer: not acknowledged

    def _visit(self, gid: str) -> None:
        page = self.browser.get(f"/judge/g/{gid}")
        match = re.search(r'<script[^>]*id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
        assert match
        data = json.loads(match[1])
        contents = dict(_CARD.findall(page))
        revision, layout, submitted = data["revision"], data["layout"], data["submitted"]
        while True:
            if submitted:
                self.browser.changes += 1
                body = {"base": revision, "layout": layout, "client": self.browser.client}
                body["change"] = self.browser.changes
                status, answer = self.browser.send("POST", f"/judge/g/{gid}/reopen", body)
                if status != 200:
                    self._note_refusal(status, answer)
                    return
                revision, submitted = answer["revision"], False
            letters = list(data["labels"])
            self.rng.shuffle(letters)
            submit = self.rng.random() < 0.2
            status, answer = self.browser.save(
                gid, revision, all_ranked(letters), submit=submit, layout=layout
            )
            if status != 200:
                self._note_refusal(status, answer)
                return
            revision, submitted = answer["revision"], answer["submitted"]
            order = tuple(contents[letter] for letter in letters)
            self.notes.append(
                Acknowledged(gid, number_of(answer), order, answer.get("receipt", ""))
            )

    def _note_refusal(self, status: int, answer: dict[str, Any]) -> None:
        self.refused[str(answer.get("error"))] += 1
        if status not in (409, 503):
            self.wrong.append(f"{status}: {answer}")


@dataclass
class KillTrials:
    """A session that goes on over all trials."""

    folder: Path
    database: str  # a URL, or the path of an SQLite file
    rng: random.Random  # decides what the clients save, how the server ends, and what is edited
    judges: int = 4  # each at two groups at the same time
    notes: list[Acknowledged] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)  # by digest of the file
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Write the study."""
        self.study = write_judging_study(self.folder, judges=self.judges, problems=2)
        self.names = [f"S{number}" for number in range(4)]
        self.n_made = 4
        for problem in ("P0", "P1"):
            for solver in (*self.names, "sys"):
                self._write(problem, solver)
        self.served = Served(self.study, self.database)

    def run_one(self) -> dict[str, Any]:
        """Let clients save, end the server, compare, edit; gives what happened."""
        how = self.rng.choice(["SIGKILL", "SIGKILL", "SIGTERM"])
        self.served.start()
        clients = [
            Client(self.served, f"J{judge}", group, random.Random(self.rng.random()))
            for judge in range(self.judges)
            for group in (0, 1)
        ]
        for client in clients:
            client.start()
        self._let_save(clients)
        edited = self._edit() if self.rng.random() < 0.5 else ""
        if edited:
            self._let_save(clients)
        if how == "SIGKILL":
            self.served.kill()
        else:
            self.served.terminate()
        for client in clients:
            client.join(120)
            assert client.wrong == []
            self.notes += client.notes
            self.refused += client.refused
        self._compare(single_file=how == "SIGTERM")
        after = self._edit()
        return {"how": how, "edited": [edited, after], "acknowledged": len(self.notes)}

    def _let_save(self, clients: list[Client]) -> None:
        """Wait until each client has had some saves acknowledged since, and a moment longer."""
        goals = {client: len(client.notes) + _LEAST_SAVES for client in clients}
        until(
            lambda: all(not c.is_alive() or len(c.notes) >= goals[c] for c in clients),
            "every client to have orders saved",
        )
        assert all(client.is_alive() for client in clients), [c.wrong for c in clients]
        threading.Event().wait(self.rng.random() / 5)

    def _edit(self) -> str:
        """Change the study as organizers do; takes effect in the file now, in the server later."""
        what = self.rng.choice(["nothing", "change", "correct", "add", "remove", "replace"])
        solver = self.rng.choice(self.names)
        if what in ("remove", "replace") and (what == "replace" or len(self.names) > _FEWEST):
            self.names.remove(solver)
        if what in ("add", "replace") and len(self.names) < _MOST:
            self.names.append(f"S{self.n_made}")
            self.n_made += 1
            for problem in ("P0", "P1"):
                self._write(problem, self.names[-1])
        elif what in ("change", "correct"):
            digest = self._write("P0", solver)
            if what == "correct":
                self._say_same(("P0", solver, digest))
        self._write_study()
        return what

    def _write(self, problem: str, solver: str) -> str:
        """Write a new solution; gives its digest."""
        name = f"{self.rng.getrandbits(48):012x}"
        raw = f"What I would do: content-{name}\n".encode()
        path = self.study.parent / "solutions" / problem / f"{solver}.md"
        part = path.with_suffix(".part~")
        part.write_bytes(raw)
        part.replace(path)
        digest = hashlib.sha256(raw).hexdigest()
        self.contents[digest] = name
        return digest

    def _write_study(self) -> None:
        # Files of solvers who are gone stay: no declared solver, so nobody is shown them.
        head = self.study.read_text().partition("subjects:")[0]
        subjects = "".join(f"  - {{id: {s}, experience: 3}}\n" for s in self.names)
        systems = "systems:\n  - {id: sys, name: Zeta, version: '9.9'}\n"
        self.study.write_text(f"{head}subjects:\n{subjects}{systems}")

    def _say_same(self, place: tuple[str, str, str]) -> None:
        """Say as an organizer that a changed solution is the same; the server knows it later."""
        store = open_store(locate_database(self.study, self.database))
        with store.write() as c:
            answer_change(c, read_study(self.study).id, "shell", place, is_same=True)
        store.close()

    def _compare(self, *, single_file: bool) -> None:
        """Hold all that was ever acknowledged against the archive."""
        file = locate_database(self.study, self.database).file
        if single_file and file:
            log = file.with_name(f"{file.name}-wal")
            assert not log.exists() or log.stat().st_size == 0, "not all is in the one file"
        saved = self._saved()
        for note in self.notes:
            row = saved[note.ballot, note.revision]
            assert row["order"] == note.order, f"{note} was stored as {row['order']}"
            if note.receipt:
                assert note.receipt == receipt_code(note.ballot, note.revision, row["state"])

    def _saved(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Each archived revision by ballot and number, its order in contents."""
        store = open_store(locate_database(self.study, self.database))
        try:
            with store.read() as c:
                lines = archive_text(c, read_study(self.study).id).splitlines()
        finally:
            store.close()
        rows = [json.loads(line) for line in lines[1:]]
        ballots = {r["key"]: r["public_id"] for r in rows if r["table"] == "task"}
        layouts = {
            (r["task_key"], r["id"]): {s: self.contents[digest] for _, s, digest, _ in r["items"]}
            for r in rows
            if r["table"] == "layout"
        }
        saved = {}
        for row in (r for r in rows if r["table"] == "revision"):
            contents = layouts[row["task_key"], row["layout"]]
            row["order"] = tuple(contents[s] for tied in row["state"]["ranked"] for s in tied)
            saved[ballots[row["task_key"]], row["number"]] = row
        return saved


def _session(rng: random.Random, folder: Path, database: str) -> dict[str, Any]:
    trials = KillTrials(folder, database, rng)
    ends = [trials.run_one() for _ in range(_KILLS)]
    return {
        "ends": [end["how"] for end in ends],
        "edits": [edit for end in ends for edit in end["edited"] if edit],
        "acknowledged": len(trials.notes),
        "refused": dict(trials.refused),
    }


@registered("kills-sqlite", count=32)
def kills_sqlite(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Five ends of a server on SQLite, with edits of the study: all that was saved is there."""
    return _session(rng, folder, str(folder / "store.sqlite3"))


@registered("kills-postgresql", count=32)
def kills_postgresql(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Five ends of a server on PostgreSQL, with edits of the study: all that was saved is there."""
    with contextmanager(running_postgres)() as server:
        return _session(rng, folder, server.new())
