"""What the dashboard's first page shows: how far everybody is, and never what was ranked."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from quem.errors import QuemError
from quem.store import studies
from quem.store.audit_log import audit_events
from quem.store.backup import backup_state
from quem.store.care import care_of
from quem.store.exporting import submitted_rankings
from quem.store.links import count_unlinked
from quem.store.living import effect_warning
from quem.store.models import now
from quem.store.outbox import undecided_letters
from quem.store.progress import progress_of
from quem.store.reviewing import is_frozen
from quem.store.standing import (
    WAITED_FOR,
    Span,
    TaskCount,
    counts_by_status,
    judges_standing,
    share_of_answers,
    task_counts,
)
from quem.studyfile.runs import read_runs
from webjudge.lacking import lacking
from webjudge.solution_review import unreviewed_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy.orm import Session

    from quem.store.care import Care
    from quem.store.planned import Group
    from quem.store.progress import JudgeProgress
    from quem.store.standing import Answers, JudgeStanding, JudgeStatus, StatusCount
    from webjudge.site import Site

_RECENT = 4
# On one page; a study with no more has all of them there, without search and next page.
MOST_JUDGES = 50
_MOST_NAMED = 10
_LATELY_SECONDS = 5.0
_NAMED: tuple[JudgeStatus, ...] = ("declined", "unlinked", "unopened")
_STATUS: dict[JudgeStatus, tuple[str, str]] = {
    "erased": ("Erased", ""),
    "declined": ("Declined", "bad"),
    "done": ("Finished", "good"),
    "active": ("Active", "good"),
    "unopened": ("Not opened", "warn"),
    "revoked": ("Link revoked", "bad"),
    "unlinked": ("No link", "warn"),
}


class ShownStatus(NamedTuple):
    """How a judge is doing, and the color of that."""

    name: str
    tone: str


def overview_page(site: Site, span: Span | None = None) -> dict[str, Any]:
    """Give what the first page shows, and what is asked before the study's state changes."""
    plan = site.plan
    with site.store.read() as c:
        status = studies.status_of(c, site.id)
        until = studies.pause_notice(c, site.id) if status.state == "paused" else ""
        counts = counts_by_status(c, site.id, plan)
        pages = judges_page(c, site, counts, span)
        tasks, answers = _counted(c, site, is_large=pages["is_cut"])
        progress = progress_of(c, [one["judge"] for one in pages["judges"]], plan)
        named = {
            name: judges_standing(c, site.id, plan, _MOST_NAMED, status=[name])
            for name in _NAMED
            if counts[name].judges
        }
        cares = {} if pages["is_cut"] else care_by_judge(c, site)
        unfinished = judges_standing(c, site.id, plan, _MOST_NAMED, status=WAITED_FOR)
        affected = [effect_warning(effect).message for effect in site.effects(c)]
        unanswered = site.unanswered(c)
        unreviewed = 0 if is_frozen(c, site.id) else unreviewed_count(c, site)
        backup = backup_state(c, site.id)
        recent = audit_events(c, site.id, _RECENT)
        undecided = undecided_letters(c, site.id)
        unlinked = counts["unlinked"].judges and count_unlinked(c, site.id, "judge")
    total = plan.total
    waiting = sum(counts[one].judges for one in WAITED_FOR)
    totals = _totals(counts.values(), total)
    return {
        "status": status,
        "until": until,
        "started": sum(count.started for count in counts.values()),
        **pages,
        "counts": counts,
        "named": named,
        "unfinished": unfinished,
        "waiting": waiting,
        "totals": totals,
        "answers": answers,
        "cares": cares,
        "missing": sum(counts[x].judges * total - counts[x].submitted for x in WAITED_FOR),
        "all_done": totals["done"] > 0 and not waiting,
        "deadline": site.spec.deadline,
        "rows": _rows(site, progress, tasks),
        "machines": machine_rows(site),
        "recent": recent,
        "unlinked": unlinked,
        "undecided": undecided,
        "alerts": alerts_of(site),
        "backup": backup,
        # What could not be logged either, as where the disk is full.
        "backup_failure": backup.failure or site.troubles.get("backup", ""),
        "affected": affected,
        "unanswered": unanswered,
        "lacking": lacking(site),
        "warnings": site.live_warnings(),
        "unreadable": site.unreadable(),
        "unreviewed": unreviewed,
        "n_solutions": len(site.solutions),
        "now": now(),
    }


def care_by_judge(c: Session, site: Site) -> dict[str, Care]:
    """Describe how judges went about what they submitted; pages show no part of the order."""
    found = {name: site.group(name) for name in site.solutions.by_problem}
    return {care.judge: care for care in care_of(submitted_rankings(c, site.id), found)}


def machine_rows(site: Site) -> list[dict[str, Any]]:
    """Say what each machine judge did in its last run, and never how it ranked."""
    rows = []
    for machine in site.spec.machines:
        try:
            runs = read_runs(site.path, site.id, machine.id)
        except QuemError:
            runs = []
        rows.append(
            {
                "id": machine.id,
                "what": machine.model or machine.command[0],
                "run": runs[-1] if runs else None,
            }
        )
    return rows


def _counted(
    c: Session, site: Site, *, is_large: bool
) -> tuple[dict[tuple[str, int, bool], TaskCount], Answers]:
    """Count tasks, of a large study, and answers; of a large study those of a moment ago."""
    if not is_large:
        return {}, share_of_answers(c, site.id)
    known = site.counted.get(site.plan)
    if known is None or monotonic() - known[0] > _LATELY_SECONDS:
        counts = task_counts(c, site.id, site.plan), share_of_answers(c, site.id)
        known = site.counted[site.plan] = monotonic(), counts
    return known[1]


def judges_page(
    c: Session, site: Site, counts: Mapping[JudgeStatus, StatusCount], span: Span | None
) -> dict[str, Any]:
    """Give the judges of one page, and what the pages before and after begin with."""
    span = span or Span()
    found = judges_standing(c, site.id, site.plan, MOST_JUDGES + 1, span=span)
    there_are_more = len(found) > MOST_JUDGES
    judges = found[-MOST_JUDGES:] if span.is_back else found[:MOST_JUDGES]
    has_before = there_are_more if span.is_back else span.start is not None
    has_after = span.is_back or there_are_more
    return {
        "judges": [shown(site, one) for one in judges],
        "is_cut": sum(count.judges for count in counts.values()) > MOST_JUDGES,
        "span": span,
        "most": MOST_JUDGES,
        "before": _next(span, judges[0], is_back=True) if judges and has_before else None,
        "after": _next(span, judges[-1], is_back=False) if judges and has_after else None,
    }


def _next(span: Span, one: JudgeStanding, *, is_back: bool) -> dict[str, str]:
    """Give the parameters of an address that leads on from a judge."""
    place = f"{one.submitted}.{one.judge.key}"
    values = {"find": span.text, "by": span.by if span.by != "first" else ""}
    values["before" if is_back else "after"] = place
    return {name: value for name, value in values.items() if value}


def shown(site: Site, one: JudgeStanding) -> dict[str, Any]:
    """Give what pages show of a judge."""
    judge, erased = one.judge, one.status == "erased"
    return {
        "judge": judge,
        "submitted": one.submitted,
        "total": one.total,
        "started": one.started > 0,
        "declined": one.status == "declined",
        "erased": erased,
        "consents": site.solutions.consent is None or judge.consented_at is not None,
        "seconds": one.seconds,
        "status": ShownStatus(*_STATUS[one.status]),
    }


def alerts_of(site: Site) -> list[str]:
    """Say what is wrong with the running server, worst first."""
    message = site.store.lost
    # That of backups has a place of its own.
    troubles = [text for name, text in site.troubles.items() if name != "backup"]
    return [*([f"Nothing can be saved: {message}."] if message else []), *troubles]


def started_rankings(c: Session, site: Site) -> int:
    """Count the rankings that were started, practice included."""
    return sum(count.started for count in counts_by_status(c, site.id, site.plan).values())


def _totals(counts: Iterable[StatusCount], total: int) -> dict[str, Any]:
    counts = list(counts)
    judges = sum(count.judges for count in counts)
    return {
        "submitted": sum(count.submitted for count in counts),
        "groups": total * judges,
        "judges": judges,
        "started": sum(count.judges_started for count in counts),
        "done": sum(count.done for count in counts),
        "seconds": sum(count.seconds for count in counts),
        "seen_at": max((count.seen_at for count in counts if count.seen_at), default=None),
    }


def _rows(
    site: Site,
    progress: Sequence[JudgeProgress],
    tasks: Mapping[tuple[str, int, bool], TaskCount],
) -> list[dict[str, Any]]:
    """The table of groups and judges; a cell holds the first time and, if dealt, the second."""
    plan = site.plan
    practice = [(plan.practice, True)] if plan.practice else []
    groups = [*practice, *((group, False) for group in plan.parts)]
    blocked = len(plan.groups) < len(plan.parts)
    rows = []
    for group, is_practice in groups:
        problem = site.problem(group.problem)
        rows.append(
            {
                "id": group.problem,
                "title": problem.title if problem else "",
                "block": group.block if blocked and not is_practice else None,
                "practice": is_practice,
                "count": tasks.get((group.problem, group.block, is_practice), TaskCount()),
                "cells": [list(_cell(person, group, is_practice)) for person in progress],
            }
        )
    return rows


def _cell(person: JudgeProgress, group: Group, practice: bool) -> Iterator[dict[str, Any]]:  # noqa: FBT001
    dealt = [
        g
        for g in person.tasks
        if (g.problem, g.block, g.practice) == (group.problem, group.block, practice)
    ]
    if not dealt:
        yield {"status": "new", "again": False}
    for one in sorted(dealt, key=lambda g: g.occasion):
        yield {"status": one.status, "again": one.occasion > 1}
