"""Saves and the dashboard of a study with thousands of judges, on PostgreSQL.

What each judge has been given and has saved is written to the database directly, as their first
visits and saves would have left it. The database is kept on disk as durably as a real one.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from sqlalchemy import event, insert, select, text

from benchmarks.measuring import Row, work
from benchmarks.running import CLIENTS, Running, load
from benchmarks.servers import PROBLEMS, Quem, order
from quem.store.layouts import layout_id
from quem.store.models import Item, Layout, RevisionRow, TaskRow, now
from quem.store.people import (
    DEFAULT,
    issue_link,
    issue_links,
    people_of,
    person_named,
    sync_people,
)
from quem.store.state import State
from quem.studyfile.models import Judge as DeclaredJudge
from tests.postgres import running_postgres
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.orm import Session

    from webjudge import Site

# As where a study is really judged: what is acknowledged is on the disk.
DURABLE = "-c listen_addresses= -c shared_buffers=256MB -c max_connections=100"
WARM_UP, TRACED = 20, 20
AT_ONCE = 200  # judges
DONE = 8  # of the tasks of each judge
# What one save writes, as one statement without any of its checks: no server can be faster.
FLOOR = """
WITH head AS (
  UPDATE task SET head = head + 1, seconds = seconds + 1
  WHERE key = %(ballot)s RETURNING key, head, layout)
INSERT INTO revision (task_key, number, base, kind, layout, state, client, change, made_at)
SELECT key, head, head - 1, 'save', layout, %(state)s, 'bench-floor', head, now()
FROM head RETURNING number
"""


def rows(*, short: bool) -> Iterator[Row]:
    """5,000 judges with 20 tasks each."""
    judges, requests = (20, 5) if short else (5_000, 150)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(contextmanager(running_postgres)(DURABLE))
        crowd = Crowd(server.new())
        crowd.command(folder, 0)
        site = open_site(folder / "study.yaml", crowd.url)
        stack.callback(site.store.close)
        fill(site, judges)
        yield from overview(site, judges)
        yield from saving(site, crowd, judges, requests)


class Crowd(Quem):
    """`quem serve` on the same study in a PostgreSQL database."""

    def __init__(self, url: str) -> None:
        self.url = url

    def command(self, folder: Path, port: int) -> list[str]:
        """Write the study, which is known to the database by its id."""
        return [*super().command(folder, port), "--database", self.url]

    def cpu(self) -> dict[str, float]:
        """CPU seconds of each of PostgreSQL's processes, without those that clean up."""
        folder = Path(self.url.partition("host=")[2])
        main = (folder / "data" / "postmaster.pid").read_text().split()[0]
        seconds = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                if fields[1] == main and b"autovacuum" not in (process / "cmdline").read_bytes():
                    ticks = int(fields[11]) + int(fields[12])
                    seconds[process.name] = ticks / os.sysconf("SC_CLK_TCK")
        return seconds

    def spent(self, before: dict[str, float]) -> float:
        """CPU seconds since `cpu` said this, of the processes that still run."""
        return sum(seconds - before.get(name, 0.0) for name, seconds in self.cpu().items())


def fill(site: Site, judges: int) -> None:
    """All judges have come, begun, and submitted tasks."""
    with site.store.write() as c:
        sync_people(
            c,
            site.id,
            "judge",
            [DeclaredJudge(id=f"M{n:05}", name=f"Judge {n}") for n in range(judges)],
        )
        people = people_of(c, site.id, "judge")
        people = [one for one in people if one.id.startswith("M")]
        issue_links(c, people, "shell")
        c.execute(text("UPDATE person SET seen_at = now(), consented_at = now()"))
    keys = [one.key for one in people]
    for first in range(0, len(keys), AT_ONCE):
        with site.store.write() as c:
            _fill(c, site, keys[first : first + AT_ONCE])
    with site.store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        c.execute(text("VACUUM ANALYZE"))


def _fill(c: Session, site: Site, judges: list[int]) -> None:
    tasks = [
        {
            "public_id": f"g{judge}-{group.problem}",
            "person_key": judge,
            "problem": group.problem,
            "position": place,
            "opened_at": now(),
            "seconds": 60.0 + judge % 97,
            "head": 2 * (place < DONE) + (place == DONE),
            "submitted": 2 if place < DONE else None,
        }
        for judge in judges
        for place, group in enumerate(site.plan.groups)
    ]
    ids = select(TaskRow.key, TaskRow.problem, TaskRow.public_id, TaskRow.head)
    c.execute(insert(TaskRow), tasks)
    layouts, revisions, shown = [], [], []
    for key, problem, public, head in c.execute(ids.where(TaskRow.person_key.in_(judges))):
        group = next(group for group in site.plan.groups if group.problem == problem)
        contents = site.contents(group).items()
        items = tuple(
            Item(letter, solver, content.digest, content.digest)
            for letter, (solver, content) in zip("ABCDEFGH", contents, strict=True)
            if content
        )
        layout = layout_id(site.secret, public, items)
        layouts.append({"task_key": key, "id": layout, "rows": items})
        shown.append({"held": key, "now": layout})
        state = State(ranked=tuple((one.solver,) for one in items)).to_json()
        revisions += [
            {
                "task_key": key,
                "number": number,
                "base": number - 1,
                "kind": "submit" if number == 2 else "save",  # noqa: PLR2004
                "layout": layout,
                "state": state,
                "client": f"tab-{key:08}",
                "change": number,
            }
            for number in range(1, head + 1)
        ]
    c.execute(insert(Layout), layouts)
    c.execute(insert(RevisionRow), revisions)
    c.execute(text("UPDATE task SET layout = :now WHERE key = :held"), shown)


def overview(site: Site, judges: int) -> Iterator[Row]:
    """The dashboard's first page."""
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    shown = work("overview", site.path, site.store.place.url, token).result
    what = f"dashboard of {judges:,} judges on PostgreSQL"
    for measured, unit, value, most in zip(
        ("time", "size", "growth of the server's memory"),
        ("s", "kB", "MiB"),
        shown,
        (0.5, 150, 10),
        strict=True,
    ):
        yield Row(f"{what}, {measured}", value, unit, most=most)


def saving(site: Site, crowd: Crowd, judges: int, requests: int) -> Iterator[Row]:
    """Judges save as fast as one server answers; then the same row is added without checks."""
    with Running(crowd) as running:
        each = crowd.judges(running.output(), running.port, CLIENTS)
        load(lambda client, count: each[client].page(count), PROBLEMS)
        saves = costs(running, crowd, lambda client, count: each[client].save(count), requests)
    with site.store.read() as c:
        size = c.execute(
            text("SELECT pg_total_relation_size('revision') / count(*) FROM revision")
        ).scalar_one()
    what = f"save among {judges:,} judges"
    floor = floor_of(site, crowd, requests)
    yield Row(f"{what}, server's CPU", saves.cpu * 1e3, "ms")
    yield Row(
        f"{what}, PostgreSQL's CPU",
        saves.database * 1e3,
        "ms",
        "one statement without checks",
        floor * 1e3,
        most=1,
    )
    yield Row(f"{what}, round trips to PostgreSQL", round_trips(site), most=11)
    yield Row(f"{what}, storage in PostgreSQL", float(size), "bytes")


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the server and of PostgreSQL for one request."""

    cpu: float
    database: float


def costs(
    running: Running, crowd: Crowd, request: Callable[[int, int], object], requests: int
) -> Cost:
    """What all clients cost who work at once."""
    before = running.cpu(), crowd.cpu()
    count = len(load(request, requests))
    return Cost((running.cpu() - before[0]) / count, crowd.spent(before[1]) / count)


def floor_of(site: Site, crowd: Crowd, requests: int) -> float:
    """PostgreSQL's CPU seconds for a row that is added by one statement without any check."""
    with site.store.read() as c:
        tasks = c.execute(select(TaskRow.key).limit(CLIENTS)).scalars().all()
    state = json.dumps(State(ranked=tuple((f"S{n}",) for n in range(8))).to_json())
    with ExitStack() as stack:
        connections = [
            stack.enter_context(psycopg.connect(crowd.url, autocommit=True)) for _ in tasks
        ]

        def add(client: int, _: int) -> None:
            connections[client].execute(FLOOR, {"state": state, "ballot": tasks[client]})

        load(add, WARM_UP)
        before = crowd.cpu()
        count = len(load(add, requests))
        return crowd.spent(before) / count


def round_trips(site: Site) -> float:
    """How often a save waits for the database, by the trace of its connection."""
    with site.store.write() as c:
        (token,) = issue_links(c, [person_named(c, site.id, "judge", "J0")], "shell")
    app = create_app(site)
    client = app.test_client()
    client.get(f"/j/{token}")
    gid = re.findall(r"/judge/g/([\w-]+)", client.get("/judge").text)[0]
    page = client.get(f"/judge/g/{gid}").text
    layout = re.search(r'"layout": "(\w+)"', page)
    revision = re.search(r'"revision": "([^"]+)"', page)
    assert layout  # noqa: S101  each page has both
    assert revision  # noqa: S101
    revisions = [revision[1]]

    def save(number: int) -> None:
        body = {
            "base": revisions[-1],
            "client": "tab-round-trips",
            "change": number + 1,
            "layout": layout[1],
            "state": {**State(ranked=tuple((x,) for x in order(number))).to_json()},
            "seconds": 0.001,
            "submit": False,
        }
        answer = client.put(f"/judge/g/{gid}/state", json=body)
        assert answer.status_code == HTTPStatus.OK, answer.text  # noqa: S101
        revisions.append(answer.get_json()["revision"])

    for number in range(WARM_UP):
        save(number)
    with tempfile.TemporaryFile("w+") as trace:

        def follow(connection: Any, *_: object) -> None:  # noqa: ANN401  a DBAPI connection
            connection.pgconn.trace(trace.fileno())

        event.listen(site.store.engine, "checkout", follow)
        for number in range(WARM_UP, WARM_UP + TRACED):
            save(number)
        event.remove(site.store.engine, "checkout", follow)
        site.store.engine.dispose()
        trace.seek(0)
        return trace.read().count("ReadyForQuery") / TRACED
