"""A large study on PostgreSQL, for `web.py --judges`: 20 problems of 8 solutions, many judges.

What each judge has been given and has saved is written to the database directly, as their first
visits and saves would have left it. The database is kept on disk as durably as a real one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from sqlalchemy import event, func, insert, select, text
from web import CLIENTS, MIB, WARM_UP, Running, load
from web_servers import PROBLEMS, Quem, order

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from quem.store.layouts import layout_id  # noqa: E402
from quem.store.models import Item, Layout, PersonRow, RevisionRow, TaskRow, now  # noqa: E402
from quem.store.people import DEFAULT, issue_link, issue_links, people_of, person_named, sync_people  # noqa: E402
from quem.store.state import State  # noqa: E402
from quem.studyfile.models import Judge as DeclaredJudge  # noqa: E402
from tests.postgres import running_postgres  # noqa: E402
from webjudge import create_app, open_site  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.orm import Session

    from webjudge import Site

ROOT = Path(__file__).resolve().parent.parent
# As where a study is really judged: what is acknowledged is on the disk.
DURABLE = "-c listen_addresses= -c shared_buffers=256MB -c max_connections=100"
REQUESTS = 150  # of each kind, by each client
TRACED = 20
LINKS = 10_000
AT_ONCE = 200  # judges
DONE = 8  # of the tasks of each judge
# Of judges at work: a save in 12 s, a page in 4 minutes with its files.
AT_WORK, SAVES, PAGES, SAVES_A_TASK = 10_000, 10_000 / 12, 62.0, 15
BUSY = 0.6
MOST_TRIPS, MOST_DATABASE, MOST_SECONDS, MOST_KB, MOST_GROWTH = 11, 1.0, 0.5, 150, 10
# What one save writes, as one statement without any of its checks: no server can be faster.
FLOOR = """
WITH head AS (
  UPDATE task SET head = head + 1, seconds = seconds + 1
  WHERE key = %(ballot)s RETURNING key, head, layout)
INSERT INTO revision (task_key, number, base, kind, layout, state, client, change, made_at)
SELECT key, head, head - 1, 'save', layout, %(state)s, 'bench-floor', head, now()
FROM head RETURNING number
"""
Row = tuple[str, str, str, bool]


def measure(judges: int) -> list[Row]:
    """Name, value, demand, and success of each measurement."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(contextmanager(running_postgres)(DURABLE))
        crowd = Crowd(server.new())
        crowd.command(folder, 0)
        site = open_site(folder / "study.yaml", crowd.url)
        stack.callback(site.store.close)
        rows = [making_links(site)]
        fill(site, judges)
        rows += overview(site)
        rows += saving(site, crowd)
        return rows


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


def making_links(site: Site) -> Row:
    """Make judges and their links, as `quem links judges` does."""
    declared = [DeclaredJudge(id=f"L{number}") for number in range(LINKS)]
    start, cpu = time.perf_counter(), time.process_time()
    with site.store.write() as c:
        sync_people(c, site.id, "judge", declared)
        new = [one for one in people_of(c, site.id, "judge") if one.id.startswith("L")]
        issue_links(c, new, "shell")
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    with site.store.write() as c:
        # They are not of the study that is measured then.
        c.execute(text("DELETE FROM event WHERE person_key IS NOT NULL"))
        c.execute(text("DELETE FROM person WHERE id LIKE 'L%'"))
    return f"{LINKS:,} judges and links made", f"{seconds:.1f} s, {cpu:.1f} s CPU", "", True


def fill(site: Site, judges: int) -> None:
    """Let all judges have come, begun and submitted tasks."""
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


def saving(site: Site, crowd: Crowd) -> Iterator[Row]:
    """Let judges save and read as fast as one server answers; then the same row without checks."""
    with Running(crowd) as running:
        judges = crowd.judges(running.output(), running.port, CLIENTS)
        load(lambda client, count: judges[client].page(count), PROBLEMS)
        pages = costs(running, crowd, lambda client, count: judges[client].page(count))
        saves = costs(running, crowd, lambda client, count: judges[client].save(count))
    with site.store.read() as c:
        count, size = c.execute(
            text("SELECT count(*), pg_total_relation_size('revision') FROM revision")
        ).one()
    floor = floor_of(site, crowd)
    trips = round_trips(site)
    yield "server CPU for a save", f"{saves.cpu * 1e3:.2f} ms", "", True
    yield "saves a second for a core of the server", f"{1 / saves.cpu:.0f}", "", True
    limit = f"below {MOST_DATABASE:g} ms"
    met = saves.database <= MOST_DATABASE / 1e3
    yield "PostgreSQL's CPU for a save", f"{saves.database * 1e3:.2f} ms", limit, met
    yield "- one statement that checks nothing", f"{floor * 1e3:.2f} ms", "", True
    most = f"at most {MOST_TRIPS}"
    yield "round trips for a save", f"{trips:g}", most, trips <= MOST_TRIPS
    yield "storage for a revision", f"{size / count:.0f} B", "", True
    python = (SAVES * saves.cpu + PAGES * pages.cpu) / BUSY
    database = (SAVES * saves.database + PAGES * pages.database) / BUSY
    yield (
        f"{AT_WORK:,} judges at work: saves, pages a second",
        f"{SAVES:.0f}, {PAGES:.0f}",
        "",
        True,
    )
    yield f"- cores at {BUSY:.0%} for Python, PostgreSQL", f"{python:.1f}, {database:.1f}", "", True
    kept = AT_WORK * PROBLEMS * SAVES_A_TASK
    yield f"- {SAVES_A_TASK} saves for each task", f"{kept * size / count / 1e9:.1f} GB", "", True


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the server and of PostgreSQL for one request."""

    cpu: float
    database: float


def costs(running: Running, crowd: Crowd, work: Callable[[int, int], object]) -> Cost:
    """Let all clients work at once."""
    before = running.cpu(), crowd.cpu()
    count = len(load(work, REQUESTS))
    return Cost((running.cpu() - before[0]) / count, crowd.spent(before[1]) / count)


def floor_of(site: Site, crowd: Crowd) -> float:
    """PostgreSQL's CPU seconds for a row that is added by one statement without any check."""
    with site.store.read() as c:
        ballots = c.execute(select(TaskRow.key).limit(CLIENTS)).scalars().all()
    state = json.dumps(State(ranked=tuple((f"S{n}",) for n in range(8))).to_json())
    values = {"state": state, "digest": "0" * 64}
    with ExitStack() as stack:
        connections = [
            stack.enter_context(psycopg.connect(crowd.url, autocommit=True)) for _ in ballots
        ]

        def work(client: int, _: int) -> None:
            connections[client].execute(FLOOR, {**values, "ballot": ballots[client]})

        load(work, WARM_UP)
        before = crowd.cpu()
        count = len(load(work, REQUESTS))
        return crowd.spent(before) / count


def round_trips(site: Site) -> float:
    """How often a save waits for the database, from the trace of its connection."""
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


def overview(site: Site) -> Iterator[Row]:
    """Open the dashboard's first page, in a process that has not shown it before."""
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    program = f"""
import gc, json, resource, sys, time
from pathlib import Path
from sqlalchemy import event
from webjudge import create_app, open_site
site = open_site({str(site.path)!r}, {site.store.place.url!r})
client = create_app(site).test_client()
assert client.get("/d/{token}").status_code == 303
client.get("/dashboard/events")  # what any page of the dashboard loads
page = 4096
held = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * page
statements = []
event.listen(site.store.engine, "before_cursor_execute", lambda *a: statements.append(a[2]))
before, times = held(), []
for _ in range(5):
    statements.clear()
    start = time.perf_counter()
    answer = client.get("/dashboard")
    times.append(time.perf_counter() - start)
print(json.dumps([times, len(answer.data), held() - before, len(statements)]))
site.store.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT
    )
    times, size, growth, statements = json.loads(done.stdout)
    first, again = times[0], sorted(times[1:])[len(times) // 2 - 1]
    with site.store.read() as c:
        judges = c.execute(select(func.count()).select_from(PersonRow)).scalar_one()
    name = f"overview of {judges:,} judges x {PROBLEMS} tasks"
    limit = f"below {MOST_SECONDS} s"
    yield name, f"{first:.2f} s, then {again:.2f} s", limit, again <= MOST_SECONDS
    yield "- its size", f"{size / 1e3:.0f} kB", f"below {MOST_KB} kB", size <= MOST_KB * 1e3
    most = f"below {MOST_GROWTH} MiB"
    yield "- the process grows by", f"{growth / MIB:.1f} MiB", most, growth <= MOST_GROWTH * MIB
    yield "- statements", str(statements), "whatever the number of judges", True
