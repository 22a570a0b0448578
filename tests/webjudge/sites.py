"""Small studies that are judged, with solvers whose names no page for judges may tell."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.store.assignment import assign_ballots, assign_labels
from quem.store.audit_log import audit_events
from quem.store.people import DEFAULT, issue_link, people_of, person_named
from quem.store.state import State
from quem.store.studies import set_state, status_of
from quem.store.work import Change, save, tasks_of
from tests.served import all_ranked, number_of
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest
    from flask import Flask
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from quem.store.audit_log import AuditEvent
    from quem.store.models import Kind, PersonRow, Role
    from webjudge import Site

SUBJECTS = ("ZORNSUBJ1", "ZORNSUBJ2", "ZORNSUBJ3", "ZORNSUBJ4")
SYSTEM = "ZORNKBS7"
SURE = {"sure": "yes"}
SECRETS = (*SUBJECTS, SYSTEM, "Xanthippe", "Deep Blunder", "7.7.7-rc9", "37.625")


def write_site(
    folder: Path,
    *,
    problems: int = 2,
    judges: Sequence[str] = ("J1", "J2"),
    judging: str = "{repeat: 1}",
    more: str = "",
) -> Path:
    """Write a study and its solutions; gives the path of the study file."""
    folder.mkdir(exist_ok=True)
    lines = ["id: site", "title: A made-up study", "experience_unit: years", "problems:"]
    lines += [f"  - {{id: P{p}, title: Problem {p}}}" for p in range(1, problems + 1)]
    if judges:
        lines += ["judges:", *(f"  - {{id: {j}, name: Judge {j}}}" for j in judges)]
    lines += ["subjects:"]
    years = ("2", "37.625", "5", "11")
    for subject, experience in zip(SUBJECTS, years, strict=True):
        lines += [f"  - {{id: {subject}, name: Xanthippe, experience: {experience}}}"]
    lines += [f"systems: [{{id: {SYSTEM}, name: Deep Blunder, version: 7.7.7-rc9}}]"]
    lines += [f"judging: {judging}", more]
    for p in range(1, problems + 1):
        group = folder / "solutions" / f"P{p}"
        group.mkdir(parents=True)
        for number, solver in enumerate((*SUBJECTS, SYSTEM)):
            (group / f"{solver}.md").write_text(f"Wait {number} days, then act.\n")
    if "practice: P0" in judging:
        (folder / "solutions" / "P0").mkdir()
        for name in ("good", "bad"):
            (folder / "solutions" / "P0" / f"{name}.md").write_text(f"An example: {name}.\n")
    path = folder / "study.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def make_site(folder: Path, **options: Any) -> Site:  # noqa: ANN401  those of write_site
    return open_site(write_site(folder, **options))


def new_link(site: Site, name: str, role: Role = "judge") -> str:
    with site.store.write() as c:
        return f"/{role_path(role)}/{issue_link(c, person_named(c, site.id, role, name), 'shell')}"


def role_path(role: Role) -> str:
    return {"organizer": "d", "judge": "j", "subject": "p"}[role]


def visit(app: Flask, path: str) -> FlaskClient:
    client = app.test_client()
    assert client.get(path).status_code == 303
    return client


def enter_dashboard(app: Flask, site: Site, organizer: str = DEFAULT) -> FlaskClient:
    return visit(app, new_link(site, organizer, "organizer"))


def enter_as(app: Flask, site: Site, judge_id: str) -> FlaskClient:
    return visit(app, new_link(site, judge_id))


def gids(client: FlaskClient) -> list[str]:
    page = client.get("/judge").text.partition('class="groups"')[2]
    return list(dict.fromkeys(re.findall(r"/judge/g/([\w-]+)", page)))


def data_in(page: str) -> dict[str, Any]:
    match = re.search(r'<script[^>]*id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


def data_of(client: FlaskClient, gid: str) -> dict[str, Any]:
    return data_in(client.get(f"/judge/g/{gid}").text)


def put(client: FlaskClient, gid: str, /, **changes: Any) -> TestResponse:  # noqa: ANN401
    """Save as a ranking page does, with parts of the message replaced."""
    data = data_of(client, gid)
    body = {"base": 0, "client": "tab-12345678", "change": 1, "layout": data["layout"]}
    body |= {"state": all_ranked(data["labels"]), "seconds": 1.5, "submit": False, **changes}
    if body["base"] == number_of(data):
        body["base"] = data["revision"]
    return client.put(f"/judge/g/{gid}/state", json=body)


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def audited(site: Site, what: str = "") -> list[AuditEvent]:
    with site.store.read() as c:
        events = audit_events(c, site.id, 1000)[::-1]
    return [event for event in events if what in ("", event.what)]


def trail(site: Site, actor: str = "organizer") -> list[str]:
    return [event.what for event in audited(site) if event.actor == actor]


def everybody(site: Site, role: Role = "judge") -> dict[str, PersonRow]:
    with site.store.read() as c:
        return {person.id: person for person in people_of(c, site.id, role)}


def state_of(site: Site) -> str:
    with site.store.read() as c:
        return status_of(c, site.id).state


def rank(
    site: Site,
    judge_id: str,
    problem: str,
    state: State | None = None,
    *,
    occasion: int = 1,
    kind: Kind = "submit",
) -> None:
    """Save a ranking as a judge's page would; without a state one that differs by judge."""
    with site.store.write() as c:
        judge = person_named(c, site.id, "judge", judge_id)
        assign_ballots(c, judge.key, site.plan)
        ballot = next(
            b
            for b in tasks_of(c, judge.key)
            if b.problem == problem and (b.occasion == occasion or b.practice)
        )
        group = site.plan.find(ballot)
        assert group is not None
        ballot = assign_labels(c, ballot, site.contents(group))
        assert ballot.layout is not None
        state = state or _order(group.solvers, f"{judge_id} {problem} {occasion}")
        client, number = f"tab-{judge_id}-{problem}", ballot.head + 1
        change = Change(ballot.revision, client, number, ballot.layout.id, state, kind)
        save(c, judge, ballot.public_id, change)


def rank_all(site: Site, *judge_ids: str) -> None:
    for judge_id in judge_ids:
        for group in site.plan.groups:
            rank(site, judge_id, group.problem)


def set_life(site: Site, state: Any) -> None:  # noqa: ANN401  a literal
    with site.store.write() as c:
        set_state(c, site.id, state, "shell")


def fake_analysis(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Let the live report be made without an analysis; gives its runs, as they come."""
    runs: list[dict[str, Any]] = []

    def fake(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
        runs.append({"command": command, **options})
        folder = Path(command[-1])
        folder.mkdir()
        (folder / "report.html").write_text(f"run {len(runs)}")
        (folder / "ranks.csv").write_text("judge,rank\n")
        return subprocess.CompletedProcess(command, 0, "The summary", "warning: few: so few\n")

    monkeypatch.setattr(subprocess, "run", fake)
    return runs


def _order(solvers: tuple[str, ...], seed: str) -> State:
    """An order that is nearly, not quite, the same for all judges."""
    order = list(solvers)
    place = sum(map(ord, seed)) % (len(order) - 1)
    order[place : place + 2] = reversed(order[place : place + 2])
    return State(ranked=tuple((solver,) for solver in order))
