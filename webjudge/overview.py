"""What the dashboard's first page shows: how far everybody is, and never what was ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from quem.store import studies
from quem.store.audit_log import audit_events
from quem.store.backup import backup_state
from quem.store.judges import declined_judges
from quem.store.living import effect_warning
from quem.store.models import now
from quem.store.outbox import awaiting_letter, undecided_letters
from quem.store.progress import Answers, answers_of, progress_of
from webjudge.lacking import lacking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from quem.store.ballots import Group
    from quem.store.judges import StoredJudge
    from quem.store.progress import JudgeProgress, TaskProgress
    from webjudge.site import Site

__all__ = ["alerts_of", "overview_page", "started_rankings"]


_RECENT = 4


class JudgeStatus(NamedTuple):
    """How a judge is doing, and the color of that."""

    name: str
    tone: str


def overview_page(site: Site) -> dict[str, Any]:
    """Give what the first page shows, and what is asked before the study's state changes."""
    with site.store.read() as c:
        status = studies.status_of(c, site.id)
        until = studies.pause_notice(c, site.id) if status.state == "paused" else ""
        progress = progress_of(c, site.id, site.plan)
        declined = declined_judges(c, site.id)
        answers = answers_of(c, site.id).values()
        affected = [effect_warning(effect).message for effect in site.effects(c)]
        backup = backup_state(c, site.id)
        recent = audit_events(c, site.id, _RECENT)
        undecided = undecided_letters(c, site.id)
        awaiting = awaiting_letter(c, site.id, "judge")
    total = len(site.plan.parts) + site.plan.repeat
    judges = [_judge(site, person, total, person.judge.key in declined) for person in progress]
    waiting = [one for one in judges if one["waits"]]
    return {
        "status": status,
        "until": until,
        "started": _started(progress),
        "judges": judges,
        "totals": _totals(progress, total),
        "answers": Answers(sum(a.count for a in answers), sum(a.equal for a in answers)),
        "missing": sum(one["total"] - one["submitted"] for one in waiting),
        "all_done": any(one["done"] for one in judges) and not waiting,
        "deadline": site.spec.deadline,
        "rows": _rows(site, progress),
        "recent": recent,
        "unlinked": [
            one["judge"]
            for one in judges
            if one["link"] == "none" and not one["declined"] and one["judge"].key not in awaiting
        ],
        "undecided": undecided,
        "alerts": alerts_of(site),
        "backup": backup,
        # What could not be logged either, as where the disk is full.
        "backup_failure": backup.failure or site.troubles.get("backup", ""),
        "affected": affected,
        "lacking": lacking(site),
        "warnings": site.warnings,
        "unreadable": site.unreadable(),
        "now": now(),
    }


def alerts_of(site: Site) -> list[str]:
    """Say what is wrong with the running server, worst first."""
    message = site.store.lost
    # That of backups has a place of its own.
    troubles = [text for name, text in site.troubles.items() if name != "backup"]
    return [*([f"Nothing can be saved: {message}."] if message else []), *troubles]


def started_rankings(c: Connection, site: Site) -> int:
    """Count the rankings that were started, practice included."""
    return _started(progress_of(c, site.id, site.plan))


def _started(progress: Sequence[JudgeProgress]) -> int:
    return sum(group.status != "new" for person in progress for group in person.tasks)


def _judge(site: Site, person: JudgeProgress, total: int, declined: bool) -> dict[str, Any]:  # noqa: FBT001
    judge = person.judge
    done = 0 < total <= person.submitted
    link = _link(judge)
    erased = link == "erased"
    asked = site.solutions.consent is not None and judge.consented_at is None
    return {
        "judge": judge,
        "submitted": person.submitted,
        "total": total,
        "started": any(task.status != "new" for task in person.tasks if not task.practice),
        "done": done,
        "declined": declined,
        "erased": erased,
        # Whom the study waits for.
        "waits": not (done or declined or erased),
        "consents": not asked,
        "seconds": person.seconds,
        "link": link,
        "status": _status(judge, link, done=done, declined=declined),
    }


def _status(judge: StoredJudge, link: str, *, done: bool, declined: bool) -> JudgeStatus:
    if link == "erased":
        return JudgeStatus("Erased", "")
    if declined:
        return JudgeStatus("Declined", "bad")
    if done:
        return JudgeStatus("Finished", "good")
    if link == "revoked":
        return JudgeStatus("Link revoked", "bad")
    if link == "none":
        return JudgeStatus("No link", "warn")
    return JudgeStatus("Active", "good") if judge.seen_at else JudgeStatus("Not opened", "warn")


def _link(judge: StoredJudge) -> str:
    if judge.forgotten_at:
        return "erased"
    if judge.has_link:
        return "active"
    return "revoked" if judge.revoked_at else "none"


def _totals(progress: Sequence[JudgeProgress], total: int) -> dict[str, Any]:
    seen = [person.judge.seen_at for person in progress if person.judge.seen_at]
    return {
        "submitted": sum(person.submitted for person in progress),
        "groups": total * len(progress),
        "judges": len(progress),
        "started": sum(any(g.status != "new" for g in p.tasks) for p in progress),
        "done": sum(0 < total <= person.submitted for person in progress),
        "seconds": sum(person.seconds for person in progress),
        "seen_at": max(seen, default=None),
    }


def _rows(site: Site, progress: Sequence[JudgeProgress]) -> list[dict[str, Any]]:
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
                "cells": [list(_cell(person, group, is_practice)) for person in progress],
            }
        )
    return rows


def _cell(person: JudgeProgress, group: Group, practice: bool) -> Iterator[dict[str, Any]]:  # noqa: FBT001
    dealt: list[TaskProgress] = [
        g
        for g in person.tasks
        if (g.problem, g.block, g.practice) == (group.problem, group.block, practice)
    ]
    if not dealt:
        yield {"status": "new", "again": False}
    for one in sorted(dealt, key=lambda g: g.occasion):
        yield {"status": one.status, "again": one.occasion > 1}
