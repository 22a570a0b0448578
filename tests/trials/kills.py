"""A server that is killed and a study that is edited, again and again: nothing is lost or mixed up.

Judges' clients save orders without pause. Each notes what was acknowledged, by the *content* of
the cards as its page showed them, never by letters or solvers. Between two ends of the server the
study may be edited.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.store.archive import archive_text
from quem.store.digests import receipt_code
from quem.store.location import locate_database
from quem.store.reviewing import answer_change
from quem.studyfile.reading import read_study
from tests.served import all_ranked, number_of, write_judging_study
from tests.trials.sessions import ENDS, Client, Session, on_each_database

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from tests.served import Served

_CARD = re.compile(r'<template data-solution="([A-Z]+)".*?content-([0-9a-f]{12})', re.DOTALL)
_DATA = re.compile(r'<script[^>]*id="group-data"[^>]*>(.*?)</script>', re.DOTALL)
_PROBLEMS = ("P0", "P1")
_FEWEST, _MOST = 3, 9  # solvers


@dataclass(frozen=True)
class Acknowledged:
    """A save that the server acknowledged."""

    ballot: str
    revision: int
    order: tuple[str, ...]  # contents, best first
    receipt: str = ""  # of a submitted one


class JudgeClient(Client):
    """One judge's browser at one group: saves one random order after another."""

    def __init__(self, served: Served, who: str, rng: random.Random, group: int) -> None:
        super().__init__(served, who, rng)
        self.group = group

    def _enter(self) -> None:
        self.browser.get(self.link)
        self.gid = self.browser.groups()[self.group]

    def _work(self) -> None:
        page = self.browser.get(f"/judge/g/{self.gid}")
        match = _DATA.search(page)
        assert match
        data = json.loads(match[1])
        contents, letters, layout = dict(_CARD.findall(page)), data["labels"], data["layout"]
        answer = data
        while not self.ending.is_set():
            if answer["submitted"]:
                self.browser.changes += 1
                body = {"base": answer["revision"], "layout": layout}
                body |= {"client": self.browser.client, "change": self.browser.changes}
                status, answer = self.browser.send("POST", f"/judge/g/{self.gid}/reopen", body)
            else:
                self.rng.shuffle(letters)
                submit = self.rng.random() < 0.2
                state, base = all_ranked(letters), answer["revision"]
                status, answer = self.browser.save(
                    self.gid, base, state, submit=submit, layout=layout
                )
                if status == 200:
                    order = tuple(contents[letter] for letter in letters)
                    receipt = answer.get("receipt", "")
                    self.notes.append(Acknowledged(self.gid, number_of(answer), order, receipt))
            if status != 200:
                if status not in (409, 503):
                    self.wrong.append(f"{status}: {answer}")
                self._refuse(str(answer.get("error")))
                return


@dataclass
class KillTrials(Session):
    """Judges, each at two groups at the same time, and an organizer who edits the study."""

    def _write_study(self) -> Path:
        self.contents: dict[str, str] = {}  # by digest of the file
        self.names = [f"S{number}" for number in range(4)]
        self.n_made = 4
        self.study = write_judging_study(self.folder, judges=self.people, problems=2)
        self._write_solutions(*self.names, "sys")
        return self.study

    def _new_clients(self) -> list[JudgeClient]:
        judges = (f"J{number}" for number in range(self.people))
        return [
            JudgeClient(self.served, judge, self._fork(), group)
            for judge in judges
            for group in (0, 1)
        ]

    def run_one(self) -> dict[str, Any]:
        """Let clients save, end the server, compare, edit; gives what happened."""
        how = self.rng.choice(["SIGKILL", "SIGKILL", "SIGTERM"])
        self._start()
        self._pause(0.2)
        edited = self._edit() if self.rng.random() < 0.5 else ""
        if edited:
            self._let_save()
        self._end(how)
        self.compare(single_file=how == "SIGTERM")
        return {"how": how, "edited": [edited, self._edit()], "acknowledged": len(self.notes)}

    def _edit(self) -> str:
        what = self.rng.choice(["nothing", "change", "correct", "add", "remove", "replace"])
        solver = self.rng.choice(self.names)
        if what in ("remove", "replace") and (what == "replace" or len(self.names) > _FEWEST):
            self.names.remove(solver)
        if what in ("add", "replace") and len(self.names) < _MOST:
            self.names.append(f"S{self.n_made}")
            self.n_made += 1
            self._write_solutions(self.names[-1])
        elif what in ("change", "correct"):
            digest = self._write("P0", solver)
            if what == "correct":
                # Mark it as the same, as an organizer; the server notices later.
                with self._stored(writes=True) as c:
                    place = "P0", solver, digest
                    answer_change(c, read_study(self.study).id, "shell", place, is_same=True)
        # Files of solvers who are gone stay: no declared solver, so nobody is shown them.
        head = self.study.read_text().partition("subjects:")[0]
        subjects = "".join(f"  - {{id: {s}, experience: 3}}\n" for s in self.names)
        systems = "systems:\n  - {id: sys, name: Zeta, version: '9.9'}\n"
        self.study.write_text(f"{head}subjects:\n{subjects}{systems}")
        return what

    def _write_solutions(self, *solvers: str) -> None:
        for problem in _PROBLEMS:
            for solver in solvers:
                self._write(problem, solver)

    def _write(self, problem: str, solver: str) -> str:
        name = f"{self.rng.getrandbits(48):012x}"
        raw = f"What I would do: content-{name}\n".encode()
        path = self.study.parent / "solutions" / problem / f"{solver}.md"
        part = path.with_suffix(".part~")
        part.write_bytes(raw)
        part.replace(path)
        digest = hashlib.sha256(raw).hexdigest()
        self.contents[digest] = name
        return digest

    def compare(self, *, single_file: bool = False) -> None:
        """Hold all that was ever acknowledged against the archive."""
        file = locate_database(self.study, self.database).file
        if single_file and file:
            log = file.with_name(f"{file.name}-wal")
            assert not log.exists() or log.stat().st_size == 0, "not all is in the one file"
        saved = self.saved()
        for note in self.notes:
            row = saved[note.ballot, note.revision]
            assert row["order"] == note.order, f"{note} was stored as {row['order']}"
            if note.receipt:
                assert note.receipt == receipt_code(note.ballot, note.revision, row["state"])

    def saved(self) -> dict[tuple[str, int], dict[str, Any]]:
        with self._stored() as c:
            lines = archive_text(c, read_study(self.study).id).splitlines()
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
    ends = [trials.run_one() for _ in range(ENDS)]
    return {
        "ends": [end["how"] for end in ends],
        "edits": [edit for end in ends for edit in end["edited"] if edit],
        "acknowledged": len(trials.notes),
        "refused": dict(trials.refused),
    }


on_each_database("kills", 32, "A server ends while judges save and the study is edited", _session)
