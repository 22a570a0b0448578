"""The dashboard's first page: next steps, progress, and study state."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from io import StringIO
from time import monotonic
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, make_response, request, url_for

from quem.errors import QuemError
from quem.io.text import no_formula
from quem.store import studies
from quem.store.audit_log import audit_events
from quem.store.backup import backup_state
from quem.store.links import count_unlinked
from quem.store.living import effect_warning
from quem.store.models import Life, PersonRow, now
from quem.store.outbox import count_failed
from quem.store.people import people_of
from quem.store.reviewing import count_unreviewed
from quem.store.standing import (
    WAITED_FOR,
    Span,
    TaskCount,
    counts_by_status,
    judges_standing,
    progress_of,
    share_of_answers,
    task_counts,
)
from quem.store.studies import solving_state
from quem.studyfile.runs import read_runs
from webjudge import wording as say
from webjudge.access import acting, log_out, site
from webjudge.dashboard.page import ask, back, dashboard_page, is_sure, message, question
from webjudge.dashboard.results import report_page
from webjudge.solution_review import left_to_review

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.standing import Answers, JudgeStanding, JudgeStatus, StatusCount
    from webjudge.site import Site

dashboard = Blueprint("dashboard", __name__, url_prefix="/dashboard")

# Judges per page; smaller studies have no search and no paging.
MOST_JUDGES = 50
_RECENT, _MOST_NAMED, _MOST_EVENTS = 4, 10, 200
_ALL_EVENTS = 2**31 - 1
_LATELY_SECONDS = 5.0
_LONGEST_NOTICE = 100
_LONGEST_SEARCH = 100
# Keyset cursor: submitted rankings and key of the last judge shown.
_PLACE = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")
# Per action: the states that allow it, the word to type, and the new state.
_ACTS: dict[str, tuple[tuple[str, ...], str, Life | None]] = {
    "open": (("trial", "open", "paused", "closed"), "", "open"),
    "pause": (("open", "paused"), "", "paused"),
    "close": (("open", "paused", "closed"), "", "closed"),
    "discard": (("trial",), "discard", None),
    "discard-and-open": (("trial",), "discard", "open"),
    "reveal": (("open", "paused"), "reveal", None),
}
_SAID = {"discard": "discarded", "discard-and-open": "opened", "pause": "paused"}
_SAID |= {"close": "closed", "reveal": "revealed"}
_OPENED = {"closed": "reopened", "paused": "resumed"}
_UNDECIDED = "There are test rankings. Choose on the overview page whether to delete or keep them."
_NOT_NOW = "The study is now {state}. Reload the overview page."
_STILL_SOLVING = "People are still solving. Close the solving session first."
_NO_NOTICE = f"The notice to judges must be one line of at most {_LONGEST_NOTICE} characters."


@dashboard.get("")
def overview() -> Response:
    """Show next steps, the judges' progress, and the report of a closed study."""
    with site().store.read() as c:
        page = _overview(c, site())
    answer = make_response()
    if page["state"] == "closed":
        page |= report_page(answer)
    answer.set_data(dashboard_page("overview.html", **page))
    return answer


@dashboard.get("/events")
def events() -> str:
    """Show the activity log, newest first."""
    with site().store.read() as c:
        rows = audit_events(c, site().id, _MOST_EVENTS + 1)
    cut = len(rows) > _MOST_EVENTS
    return dashboard_page("events.html", events=rows[:_MOST_EVENTS], cut=cut, most=_MOST_EVENTS)


@dashboard.get("/events.csv")
def events_table() -> Response:
    """Send the activity log as CSV, oldest first."""
    with site().store.read() as c:
        rows = audit_events(c, site().id, _ALL_EVENTS)
    head = ("time", "by", "event", "person", "problem", "text")
    table = [
        [e.at.isoformat(timespec="seconds"), e.by, e.what, e.person, e.problem, say.happened(e)]
        for e in reversed(rows)
    ]
    return table_of("events.csv", head, table)


def table_of(name: str, head: Iterable[str], rows: Iterable[Iterable[object]]) -> Response:
    """Send rows as a CSV file."""
    table = StringIO()
    writer = csv.writer(table)
    writer.writerow(head)
    for row in rows:
        writer.writerow(no_formula(cell) if isinstance(cell, str) else cell for cell in row)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(table.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


@dashboard.get("/lasting")
def lasting() -> Response:
    """Show the irreversible actions available now."""
    with site().store.read() as c:
        facts = _facts(c, site())
        people = [
            person
            for role in ("judge", "subject")
            for person in people_of(c, site().id, role)
            if not person.erased_at
        ]
    state = facts["state"]
    possible = {
        "discard": facts["started"],
        "reveal": not facts["is_shown"],
    }
    asked = [
        question(what, _ACTS[what][1], **facts, action=url_for("dashboard.change", what=what))
        for what, is_possible in possible.items()
        if is_possible and state in _ACTS[what][0]
    ]
    if people:
        action = url_for("dashboard.people.choose")
        asked.append(question("choose", people=people, action=action))
    return ask(*asked)


@dashboard.route(f"/<any({', '.join(map(repr, _ACTS))}):what>", methods=["GET", "POST"])
def change(what: str) -> AnyResponse:
    """Change the study's state, or delete or reveal rankings, after confirmation."""
    states, word, after = _ACTS[what]
    with site().store.read() as c:
        state = studies.status_of(c, site().id).state
    is_asked = (
        what != "open"
        or state in _OPENED
        or (state == "trial" and left_to_review(site(), is_new=True))
    )
    if request.method == "GET" or (is_asked and not is_sure(word)):
        return ask(_question(what))
    until = request.form.get("until", "").strip()
    if len(until) > _LONGEST_NOTICE or not until.isprintable():
        raise QuemError(_NO_NOTICE)
    with site().store.write() as c:
        status = studies.status_of(c, site().id)
        before = status.state
        if before not in states:
            raise QuemError(_NOT_NOW.format(state="in test mode" if before == "trial" else before))
        if after == "open" and site().spec.solving and solving_state(c, site().id) != "closed":
            raise QuemError(_STILL_SOLVING)
        is_decided = before != "trial" or request.form.get("trial") == "keep"
        if what == "open" and not is_decided and started_rankings(c, site()):
            raise QuemError(_UNDECIDED)
        if what.startswith("discard"):
            studies.discard_trial(c, site().id, acting())
        if what == "reveal" and not status.is_shown:
            studies.reveal(c, site().id, acting())
        if after:
            studies.set_state(c, site().id, after, acting(), until)
    return back(_OPENED.get(before, "opened") if what == "open" else _SAID[what])


@dashboard.post("/leave")
def leave() -> Response:
    """Log the organizer out."""
    answer = make_response(message("left", organizer=None))
    log_out(answer)
    return answer


def started_rankings(c: Session, served: Site) -> int:
    """Count started rankings, including practice."""
    return sum(count.started for count in counts_by_status(c, served.id, served.plan).values())


def judges_page(c: Session, served: Site) -> dict[str, Any]:
    """Query one page of judges, with the cursors of the previous and next pages."""
    asked = request.args
    place = _PLACE.fullmatch(asked.get("after") or asked.get("before", ""))
    span = Span(
        "least" if asked.get("by") == "least" else "first",
        asked.get("find", "").strip()[:_LONGEST_SEARCH],
        (int(place[1]), int(place[2])) if place else None,
        is_back=bool(place) and "before" in asked and not asked.get("after"),
    )
    found = judges_standing(c, served.id, served.plan, MOST_JUDGES + 1, span=span)
    more = len(found) > MOST_JUDGES
    judges = found[-MOST_JUDGES:] if span.is_back else found[:MOST_JUDGES]
    kept = {"find": span.text, "by": "least" if span.by == "least" else ""}

    def leading(where: str, one: JudgeStanding) -> dict[str, str]:
        values = {**kept, where: f"{one.submitted}.{one.judge.key}"}
        return {name: value for name, value in values.items() if value}

    has_before, has_after = (more, True) if span.is_back else (span.start is not None, more)
    return {
        "people": [_row(served, one) for one in judges],
        "span": span,
        "most": MOST_JUDGES,
        "before": leading("before", judges[0]) if judges and has_before else None,
        "after": leading("after", judges[-1]) if judges and has_after else None,
    }


def _row(served: Site, one: JudgeStanding) -> dict[str, Any]:
    """A judge's row in the table of people."""
    return {
        "person": one.judge,
        "done": one.submitted,
        "total": one.total,
        "seconds": one.seconds,
        "status": one.status,
        "consents": served.solutions.consent is None or one.judge.consented_at is not None,
    }


def _question(what: str) -> dict[str, Any]:
    with site().store.read() as c:
        facts = _facts(c, site())
    opens = facts["state"] == "trial" and _ACTS[what][2] == "open"
    return question(
        what, _ACTS[what][1], **facts, **(left_to_review(site(), is_new=True) if opens else {})
    )


def _facts(c: Session, served: Site) -> dict[str, Any]:
    """Count progress, and collect the questions asked before a change of state."""
    status = studies.status_of(c, served.id)
    plan = served.plan
    counts = counts_by_status(c, served.id, plan)
    total = len(plan.parts) + plan.repeat
    waiting = sum(counts[one].judges for one in WAITED_FOR)
    done = sum(one.done for one in counts.values())
    return {
        "state": status.state,
        "is_shown": status.is_shown,
        "until": studies.pause_notice(c, served.id) if status.state == "paused" else "",
        "counts": counts,
        "judges": sum(one.judges for one in counts.values()),
        "started": sum(one.started for one in counts.values()),
        "submitted": sum(one.submitted for one in counts.values()),
        # Of judges who left, only what they submitted is counted.
        "groups": sum(
            one.submitted if status in ("erased", "declined") else total * one.judges
            for status, one in counts.items()
        ),
        "done": done,
        "waiting": waiting,
        "all_done": done > 0 and not waiting,
        "missing_rankings": sum(counts[x].judges * total - counts[x].submitted for x in WAITED_FOR),
        "unfinished": judges_standing(c, served.id, plan, _MOST_NAMED, status=WAITED_FOR),
        "lacking": served.lacking(c),
    }


def _overview(c: Session, served: Site) -> dict[str, Any]:
    """Values of the overview template: progress, never rankings."""
    page = _facts(c, served)
    counts: Mapping[JudgeStatus, StatusCount] = page["counts"]
    page |= judges_page(c, served)
    is_cut = page["judges"] > MOST_JUDGES
    tasks, answers = _counted(c, served, is_large=is_cut)
    backup, asked = backup_state(c, served.id), served.unanswered(c)
    alerts = [text for name, text in served.troubles.items() if name != "backup"]
    page |= {
        "is_cut": is_cut,
        "named": {
            name: [
                one.judge
                for one in judges_standing(c, served.id, served.plan, _MOST_NAMED, status=[name])
            ]
            for name in ("declined", "unlinked", "unopened")
            if counts[name].judges
        },
        "judges_started": sum(one.judges_started for one in counts.values()),
        "seconds": sum(one.seconds for one in counts.values()),
        "seen_at": max((one.seen_at for one in counts.values() if one.seen_at), default=None),
        "answers": answers,
        "rows": _tasks(c, served, [one["person"] for one in page["people"]], tasks),
        "machines": list(_machines(served)),
        "recent": audit_events(c, served.id, _RECENT),
        "unlinked": counts["unlinked"].judges and count_unlinked(c, served.id, "judge"),
        "failed_letters": count_failed(c, served.id),
        "lost": served.store.lost,
        "alerts": alerts,
        "backup": backup,
        # Events that could not be logged, for example on a full disk.
        "backup_failure": backup.failure or served.troubles.get("backup", ""),
        # Only whether a changed solution is the same can be decided.
        "affected": [
            effect_warning(one).message
            for one in served.effects(c)
            if any((problem, one.solver) in asked for problem in one.digests)
        ],
        "warnings": [
            one.message.removeprefix(f"{served.path.parent}/")
            # A closed study takes no decisions about words.
            for one in (served.live_warnings() if page["state"] != "closed" else ())
        ],
        "unreadable": served.unreadable(),
        "unreviewed": count_unreviewed(c, served.id, served.solutions),
        "n_solutions": len(served.solutions),
        "deadline": served.spec.deadline,
        "now": now(),
    }
    return page | {"todo": _todo(page)}


def _todo(page: dict[str, Any]) -> list[str]:
    """Names of the `todo.html` rules that apply, worst first."""
    state, counts = page["state"], page["counts"]
    is_trial, is_closed = state == "trial", state == "closed"
    late = page["backup_failure"] or page["backup"].is_late
    doubts = page["unreadable"] or page["affected"] or page["warnings"]
    invites = not page["judges"] or counts["declined"].judges or page["unlinked"]
    rules = {
        "server": page["lost"] or page["alerts"] or late,
        "setup": page["lacking"] and not is_closed,
        "letters": page["failed_letters"],
        "solutions": doubts or (is_trial and page["unreviewed"]),
        "judges": invites and not is_closed,
        "waiting": state == "open"
        and (counts["unopened"].judges or (page["deadline"] and page["missing_rankings"])),
        "preview": is_trial,
        "life": state in ("trial", "paused") or (state == "open" and page["all_done"]),
    }
    return [name for name, holds in rules.items() if holds]


def _machines(served: Site) -> Iterable[dict[str, Any]]:
    """Summarize each machine judge's last run, without its rankings."""
    for machine in served.spec.machines:
        try:
            runs = read_runs(served.path, served.id, machine.id)
        except QuemError:
            runs = []
        what = machine.model or machine.command[0]
        yield {"id": machine.id, "what": what, "run": runs[-1] if runs else None}


def _counted(
    c: Session, served: Site, *, is_large: bool
) -> tuple[dict[tuple[str, int, bool], TaskCount], Answers]:
    """Count tasks and answers; for large studies, cache the counts for a moment."""
    if not is_large:
        return {}, share_of_answers(c, served.id)
    known = served.counted.get(served.plan)
    if known is None or monotonic() - known[0] > _LATELY_SECONDS:
        counts = task_counts(c, served.id, served.plan), share_of_answers(c, served.id)
        known = served.counted[served.plan] = monotonic(), counts
    return known[1]


def _tasks(
    c: Session,
    served: Site,
    judges: list[PersonRow],
    counts: Mapping[tuple[str, int, bool], TaskCount],
) -> list[dict[str, Any]]:
    """Table of tasks by judges; each cell has the task and its repeat, if assigned."""
    plan = served.plan
    dealt: defaultdict[tuple[str, int, bool, int], list[tuple[int, str]]] = defaultdict(list)
    for judge in progress_of(c, judges, plan):
        for one in judge.tasks:
            place = one.problem, one.block, one.practice, one.person_key
            dealt[place].append((one.occasion, one.status))
    is_blocked = len(plan.groups) < len(plan.parts)
    practice = [(plan.practice, True)] if plan.practice else []
    rows = []
    for group, is_practice in [*practice, *((group, False) for group in plan.parts)]:
        problem = served.problem(group.problem)
        of = group.problem, group.block, is_practice
        rows.append(
            {
                "id": group.problem,
                "title": problem.title if problem else "",
                "block": group.block if is_blocked and not is_practice else None,
                "practice": is_practice,
                "count": counts.get(of, TaskCount()),
                "cells": [
                    sorted(dealt[(*of, judge.key)])
                    or [(1, "declined" if judge.declined_at else "new")]
                    for judge in judges
                ],
            }
        )
    return rows
