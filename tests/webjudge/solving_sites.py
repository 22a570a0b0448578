"""Small studies whose people solve the problems in the browser."""

from __future__ import annotations

import json
import re
import uuid
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from tests.served import number_of
from tests.webjudge.sites import new_link, visit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from webjudge import Site

_DATA = re.compile(r'<script[^>]*id="task-data"[^>]*>(.*?)</script>', re.DOTALL)
_TASK = re.compile(r"/solve/t/([\w-]+)")


def write_solving_study(
    folder: Path,
    *,
    problems: int = 3,
    people: Sequence[str] = ("S1", "S2", "S3"),
    judges: Sequence[str] = ("J1", "J2", "J3"),
    solving: str = "",
) -> Path:
    """Write a study with two systems' solutions and people who are to solve; gives its file."""
    lines = ["id: solved", "title: A made-up study", "experience_unit: years", "problems:"]
    lines += [
        f"  - {{id: P{p}, title: Case {p}, statement: p{p}.md}}" for p in range(1, problems + 1)
    ]
    lines += ["judges:", *(f"  - {{id: {j}, name: Judge {j}}}" for j in judges)]
    lines += ["subjects: subjects.csv", "systems: [{id: sys1}, {id: sys2}]"]
    lines += ["rankings: {from: store}"]
    names = ", ".join(f"{{id: {one}, name: Zelda {one}x}}" for one in people)
    lines += ["solving:", f"  people: [{names}]", *(f"  {line}" for line in solving.splitlines())]
    for p in range(1, problems + 1):
        (folder / f"p{p}.md").write_text(f"What is to be done about *case {p}*?\n")
        group = folder / "solutions" / f"P{p}"
        group.mkdir(parents=True)
        for number in (1, 2):
            (group / f"sys{number}.md").write_text(f"Plan {number} for case {p}.\n")
    path = folder / "study.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def task_data(page: str) -> dict[str, Any]:
    match = _DATA.search(page)
    assert match, "no task-data in the page"
    data: dict[str, Any] = json.loads(match[1])
    return data


class Solver:
    """A subject's browser, without a screen."""

    def __init__(self, app: Flask, site: Site, name: str) -> None:
        self.client: FlaskClient = visit(app, new_link(site, name, "subject"))
        self.changes = 0
        self.seen: dict[tuple[str, int], str] = {}  # the ids of drafts, by task and number
        self.tab = f"tab-{uuid.uuid4().hex}"

    def enter(self, experience: str = "7", **answers: str) -> None:
        self.client.post("/solve/consent", data={"consent": "yes"})
        about = self.client.post("/solve/about", data={"experience": experience, **answers})
        assert about.headers["Location"].endswith("#problems")

    def tasks(self) -> list[str]:
        page = self.client.get("/solve").text.partition('class="groups"')[2]
        return list(dict.fromkeys(_TASK.findall(page)))

    def start(self) -> str:
        gid = self.tasks()[-1]
        self.client.post(f"/solve/t/{gid}/start")
        return gid

    def page(self, gid: str) -> dict[str, Any]:
        return task_data(self.client.get(f"/solve/t/{gid}").text)

    def save(
        self, gid: str, base: int | str, text: str, *files: str, submit: bool = False
    ) -> TestResponse:
        self.changes += 1
        state = {"text": text, "files": list(files)}
        base = self.seen.get((gid, base), base) if isinstance(base, int) else base
        body: dict[str, object] = {"base": base, "client": self.tab, "change": self.changes}
        body |= {"layout": "", "state": state, "submit": submit, "seconds": 0, "views": {}}
        answer = self.client.put(f"/solve/t/{gid}/state", json=body)
        if answer.status_code == HTTPStatus.OK:
            saved = answer.get_json()
            self.seen[gid, number_of(saved)] = saved["revision"]
        return answer

    def upload(self, gid: str, name: str, content: bytes) -> TestResponse:
        sent = {"data": content, "content_type": "application/octet-stream"}
        return self.client.post(f"/solve/t/{gid}/files", query_string={"name": name}, **sent)

    def solve_all(self, text: str) -> None:
        while "/start" in self.client.get(f"/solve/t/{self.tasks()[-1]}").text:
            gid = self.start()
            answer = self.save(gid, self.page(gid)["revision"], text, submit=True)
            assert answer.status_code == 200
