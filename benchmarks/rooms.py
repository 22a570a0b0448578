"""How many modules of quem and webjudge a request visits.

    python benchmarks/rooms.py [--names]

A module is visited where one of its functions is called; each request is traced at its second
time. With ``--names`` the modules are named. The exit code is 1 where a request visits too many.
"""

from __future__ import annotations

import html
import json
import re
import secrets
import shutil
import sys
import tempfile
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import quem
from quem.store.people import issue_link, people_of
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from flask import Flask
    from flask.testing import FlaskClient

    from quem.store.models import Role
    from webjudge import Site

ROOT = Path(quem.__file__).resolve().parents[1]
ROOMS = tuple(f"{ROOT / name}/" for name in ("quem", "webjudge"))
MOST = {"judge's page": 12, "save": 10, "overview": 15, "setting": 12}
DATA = re.compile(r'<script type="application/json" id="group-data">(.*?)</script>', re.DOTALL)
FIELD = re.compile(r'(<input\b[^>]*\bname="([^"]+)"[^>]*?\bvalue="([^"]*)"[^>]*>)')


def main() -> int:
    """Trace each request, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(ROOT / "studies" / "cooling-plans", Path(folder, "study"))
        site = open_site(copy / "study.yaml")
        called = dict(visits(create_app(site), site))
        site.store.close()
    good = True
    print(f"{'':<14}{'modules':>8}{'functions':>11}{'at most':>9}")
    for name, functions in called.items():
        modules = sorted({module for module, _ in functions})
        missed = len(modules) > MOST[name]
        good = good and not missed
        counts = f"{len(modules):>8}{len(functions):>11}{MOST[name]:>9}"
        print(f"{name:<14}{counts}{'  MISSED' if missed else ''}")
        if "--names" in sys.argv[1:]:
            print(*(f"    {module}" for module in modules), sep="\n")
    return 0 if good else 1


def visits(app: Flask, site: Site) -> Iterator[tuple[str, set[tuple[str, str]]]]:
    """Each request with the functions that it calls, by module and name."""
    judge, organizer = entered(app, site, "judge"), entered(app, site, "organizer")
    judge.post("/judge/consent", data={"consent": "yes"})
    [task, *_] = re.findall(r"/judge/g/[\w-]+", judge.get("/judge").text)
    requests: dict[str, tuple[FlaskClient, Callable[[], dict[str, Any]]]] = {
        "judge's page": (judge, lambda: {"path": task}),
        "save": (judge, lambda: saving(judge, task)),
        "overview": (organizer, lambda: {"path": "/dashboard"}),
        "setting": (organizer, lambda: setting(organizer)),
    }
    for name, (client, prepare) in requests.items():
        for _ in range(2):
            request = prepare()
            with traced() as called:
                answer = client.open(**request)
            if answer.status_code >= HTTPStatus.BAD_REQUEST:
                raise SystemExit(f"{name}: {answer.status}")
        yield name, called


def entered(app: Flask, site: Site, role: Role) -> FlaskClient:
    """A browser of the first person of a role."""
    with site.store.write() as c:
        token = issue_link(c, people_of(c, site.id, role)[0], "shell")
    client = app.test_client()
    client.get(f"/{'d' if role == 'organizer' else 'j'}/{token}")
    return client


def saving(judge: FlaskClient, task: str) -> dict[str, Any]:
    """A request that saves the ranking of a task with one more comment."""
    [text] = DATA.findall(judge.get(task).text)
    page = json.loads(text)
    page["state"]["comment"] += "."
    body = {name: page[name] for name in ("layout", "state")}
    body |= {"base": page["revision"], "client": secrets.token_urlsafe(9), "change": 1}
    return {"path": f"{task}/state", "method": "PUT", "json": {**body, "submit": False}}


def setting(organizer: FlaskClient) -> dict[str, Any]:
    """A request that changes the title of the study."""
    page = organizer.get("/dashboard/setup").text
    fields = {
        name: html.unescape(value)
        for tag, name, value in FIELD.findall(page)
        if 'type="radio"' not in tag or " checked" in tag
    }
    fields["title"] += "."
    return {"path": "/dashboard/setup", "method": "POST", "data": fields}


@contextmanager
def traced() -> Iterator[set[tuple[str, str]]]:
    """Collect the module and the name of each function of ours that is called."""
    called: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOMS):
            called.add((str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname))

    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    sys.exit(main())
