"""A real server in a process of its own, as ``quem serve`` runs it."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any, Self

import pytest
from waitress import wasyncore
from waitress.server import create_server

from quem.store.database import store_of
from quem.store.location import locate_database
from quem.store.people import person_named
from quem.store.state import State
from quem.store.work import current_state, tasks_of
from quem.studyfile.reading import read_study
from tests.patience import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_LINK = re.compile(r"https?://\S+/(?:j|d)/\S+")


def write_judging_study(
    folder: Path, *, problems: int = 2, solvers: int = 5, judges: int = 2, judging: str = ""
) -> Path:
    """Write a study whose solutions are texts; gives the path of its study file."""
    lines = ["id: made-up", "title: Made up", "experience_unit: years", "problems:"]
    lines += [f"  - {{id: P{p}, title: Problem {p}, statement: p{p}.md}}" for p in range(problems)]
    lines += ["judges:", *(f"  - {{id: J{j}, name: Judge {j}}}" for j in range(judges))]
    lines += ["subjects:", *(f"  - {{id: S{s}, experience: {s}}}" for s in range(solvers - 1))]
    lines += ["systems:", "  - {id: sys, name: Zeta, version: '9.9'}"]
    if judging:
        lines += [f"judging: {judging}"]
    names = [*(f"S{s}" for s in range(solvers - 1)), "sys"]
    for p in range(problems):
        (folder / f"p{p}.md").write_text(f"What is to be done about *case {p}*?\n")
        group = folder / "solutions" / f"P{p}"
        group.mkdir(parents=True)
        for place, name in enumerate(names):
            (group / f"{name}.md").write_text(f"Do thing number {place}.\n\n- first\n- second\n")
    path = folder / "study.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


@dataclass
class Served:
    """``quem serve`` on a study, on a free port that stays the same over restarts."""

    study: Path
    database: str | None = None
    arguments: tuple[str, ...] = ()  # more of them for ``quem serve``
    program: str = "from quem.cli import run; run()"  # what runs ``quem``
    port: int = 0
    links: dict[str, str] = field(default_factory=dict)
    dashboard: str = ""
    printed: list[str] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None
    errors: list[str] = field(default_factory=list)
    reader: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    @property
    def base(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [sys.executable, "-c", self.program, "serve"]
        command += [str(self.study), "--port", str(self.port), *self.arguments]
        command += ["--database", self.database] if self.database else []
        environment = {k: v for k, v in os.environ.items() if k != "QUEM_DATABASE_URL"}
        known = set(self._link_files())
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "PYTHONUNBUFFERED": "1"},
        )
        watchdog = threading.Timer(SECONDS, self.process.kill)
        watchdog.start()
        try:
            self._read_links(known)
        finally:
            watchdog.cancel()
        assert self.process.stderr is not None
        stderr = (self.process.stderr,)
        self.reader = threading.Thread(target=self._collect, args=stderr, daemon=True)
        self.reader.start()

    def _read_links(self, known: set[Path]) -> None:
        """Read what is printed, and the file of new links, as the output is no terminal."""
        assert self.process is not None
        assert self.process.stdout is not None
        expected = 1 + max(len(read_study(self.study).organizers), 1)
        expected += len(read_study(self.study).judges)
        lines = self.printed = []
        for line in self.process.stdout:
            lines.append(line.rstrip())
            if line.startswith("Dashboard") and not self.port:
                self.port = int(line.partition("http://")[2].split(":")[1].split("/")[0])
            if len(lines) >= expected:
                break
        else:
            stderr = self.process.stderr.read() if self.process.stderr else ""
            self.kill()
            pytest.fail(f"quem serve did not start: {lines} {stderr}")
        for path in set(self._link_files()) - known:
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    if row["link"] and row["role"] in ("judges", "people"):
                        self.links[row["id"]] = row["link"]
                    elif row["link"]:
                        self.dashboard = row["link"]

    def _link_files(self) -> list[Path]:
        return list(self.study.parent.glob(f"{self.study.stem}-links-*.csv"))

    def _collect(self, stream: Any) -> None:  # noqa: ANN401  a text stream
        self.errors.extend(stream)

    def stop(self) -> None:
        """Stop the server as Ctrl-C does."""
        self._end(signal.SIGINT)

    def terminate(self) -> None:
        """Stop the server as systemd and containers do."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop the server as a power cut would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(SECONDS)
        if self.reader:
            self.reader.join(SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        self.process = None

    def stored(self, judge: str, problem: str) -> dict[str, Any]:
        """A stored ranking in labels, with its revision."""
        study = read_study(self.study).id
        store = store_of(locate_database(self.study, self.database), study)
        assert store is not None
        with store.read() as c:
            tasks = tasks_of(c, person_named(c, study, "judge", judge).key)
            ballot = next(b for b in tasks if (b.problem, b.occasion) == (problem, 1))
            letters = ballot.layout.letters if ballot.layout else {}
            state = current_state(c, ballot).renamed(letters).to_json()
        store.close()
        return {"state": state, "revision": ballot.head, "submitted": ballot.is_submitted}


def number_of(answer: Mapping[str, Any]) -> int:
    """The revision number in a page or response."""
    return int(str(answer["revision"]).partition("-")[0])


class Browserless:
    """A browser without a screen: cookies, and JSON as the ranking page sends it."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.cookies = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.client = f"tab-{uuid.uuid4().hex}"
        self.changes = 0
        self.seen: dict[tuple[str, int], str] = {}  # the ids of revisions, by group and number

    def get(self, path: str) -> str:
        """Read a page, an absolute address or a path."""
        url = path if path.startswith("http") else self.base + path
        with self._opener.open(url, timeout=SECONDS) as answer:
            return str(answer.read().decode())

    def submit(self, path: str, **fields: str) -> str:
        """Submit a form; gives the page that it leads to."""
        body = urllib.parse.urlencode(fields).encode()
        with self._opener.open(self.base + path, body, timeout=SECONDS) as answer:
            return str(answer.read().decode())

    def open(self, request: urllib.request.Request) -> Any:  # noqa: ANN401  as urllib gives
        """Send any request."""
        return self._opener.open(request, timeout=SECONDS)

    def group(self, gid: str) -> dict[str, Any]:
        """A ranking page's data for its script."""
        page = self.get(f"/judge/g/{gid}")
        match = re.search(r'<script[^>]*id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
        assert match, "no group-data in the page"
        data: dict[str, Any] = json.loads(match[1])
        self.seen[gid, number_of(data)] = data["revision"]
        return data

    def groups(self) -> list[str]:
        """Ids of the tasks linked from the first page, in the judge's order."""
        listed = self.get("/judge").partition('class="groups"')[2]
        return list(dict.fromkeys(re.findall(r"/judge/g/([\w-]+)", listed)))

    def send(
        self, method: str, path: str, body: object, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Send JSON; gives the status and the answer."""
        request = urllib.request.Request(  # noqa: S310  our own server
            self.base + path,
            data=json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": "application/json", **(headers or {})},
        )
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
                text = answer.read()
                is_json = answer.headers.get_content_type() == "application/json"
                return answer.status, json.loads(text) if is_json else {}
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def save(
        self, gid: str, base: int | str, state: object, *, submit: bool = False, layout: str = ""
    ) -> tuple[int, dict[str, Any]]:
        """Save a state as the page does; without a layout, on the one that the page shows now."""
        self.changes += 1
        layout = layout or self.group(gid)["layout"]
        body = {
            "base": self.seen.get((gid, base), base) if isinstance(base, int) else base,
            "client": self.client,
            "change": self.changes,
            "layout": layout,
            "state": state,
            "seconds": 0.5,
            "submit": submit,
        }
        status, answer = self.send("PUT", f"/judge/g/{gid}/state", body)
        if status == HTTPStatus.OK:
            self.seen[gid, number_of(answer)] = answer["revision"]
        return status, answer


@contextmanager
def waitress_serving(app: Any) -> Iterator[str]:  # noqa: ANN401  any WSGI application
    """Serve an app in a thread while something is done; gives its address."""
    # The types of waitress leave out its port.
    server: Any = create_server(app, host="127.0.0.1", port=0, threads=4)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        # In its thread, which waits for these sockets; without any it ends.
        # If it is awake it may have closed them, and the trigger too, before that is pulled.
        with suppress(OSError):
            server.trigger.pull_trigger(lambda: wasyncore.close_all(server._map, ignore_all=True))  # noqa: SLF001
        thread.join(SECONDS)
        server.task_dispatcher.shutdown()


def all_ranked(names: list[str], **more: Any) -> dict[str, Any]:  # noqa: ANN401  parts of a state
    """Make a state in which all are ranked, in the order given, best first."""
    return {**State(ranked=tuple((name,) for name in names)).to_json(), **more}
