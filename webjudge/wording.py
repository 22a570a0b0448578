"""Times and events in words, for the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.store.models import now
from quem.store.organizers import DEFAULT

if TYPE_CHECKING:
    import datetime as dt

    from quem.store.audit_log import AuditEvent

_UNITS = ((60, 60, "minute"), (3600, 24, "hour"), (86_400, 60, "day"))
_LATELY = 60
_EVENTS = {
    "open": "Study opened",
    "paused": "Study paused",
    "closed": "Study closed",
    "revealed": "Rankings revealed",
    "judge-added": "{judge} added as a judge",
    "link-made": "Link created for {judge}",
    "link-replaced": "Link of {judge} replaced",
    "link-revoked": "Link of {judge} revoked",
    "mail": "{kind} to {judge}: {state}",
    "link-withdrawn": "New link of {judge} withdrawn: the letter was not accepted",
    "judge-forgotten": "Personal data erased; the judge is now {judge}",
    "solution-reviewed": "Reviewed: {solver} on {problem}",
    "blinding-frozen": (
        "Judging began with {reviewed} of {of} solutions reviewed; words: {replaced} replaced, "
        "{kept} kept, {open} open"
    ),
    "makers-skipped": "{judge} did not guess who made the solutions",
    "solution-same": "Said to be the same solution, corrected: {solver} on {where}",
    "solution-new": "Said to be a new solution: {solver} on {where}",
    "organizer-added": "{whom} added as an organizer",
    "organizer-removed": "{whom} is no longer an organizer: removed from the study file",
    "organizer-link-made": "Link created for {whose}",
    "organizer-link-replaced": "Link of {whose} replaced",
    "organizer-link-revoked": "Link of {whose} revoked",
    "backup": "Backup made",
    "backup-failed": "Backup failed",
    "restored": "Study restored from a backup",
    "material-sent": "Solutions sent to {host} for the machine judge {machine}",
    "problems-drawn": "Problems drawn that judges are given",
    "consented": "{judge} gave consent",
    "answered": "{judge} answered the questions at the end",
    "declined": "{judge} declined to take part",
    "submit": "{judge} submitted {problem}",
    "reopen": "{judge} reopened {problem}",
    "solving-open": "Solving session opened",
    "solving-closed": "Solving session closed; solutions and subjects written",
    "solving-trial-discarded": "Test answers deleted",
    "subject-added": "{subject} added as a subject",
    "subject-link-made": "Link created for {subject}",
    "subject-link-replaced": "Link of {subject} replaced",
    "subject-link-withdrawn": "Link of {subject} taken back, as its letter was not accepted",
    "subject-link-revoked": "Link of {subject} revoked",
    "subject-consented": "{subject} gave consent",
    "subject-declined": "{subject} declined to take part",
    "subject-finished": "{subject} finished",
    "subject-withdrawn": "{subject} withdrew; their answers are deleted",
    "subject-erased": "Personal data erased; the subject is now {subject}",
    "answer-names": "{subject} submitted {problem} with words that may show who wrote it",
}
_LETTERS = {"invite": "Invitation", "remind": "Reminder"}
_LETTER_STATES = {
    "sent": "sent",
    "retry": "not accepted yet",
    "failed": "failed",
    "unknown": "unknown whether it arrived",
    "marked-sent": "marked as sent",
    "again": "to be sent again",
}
_DECISIONS = {"replaced": "Replaced", "kept": "Kept", "open": "No longer decided:"}
_OPENED = {"closed": "Study reopened", "paused": "Study resumed"}
_MARKED = ("revealed", "link-replaced")


def ago(then: dt.datetime) -> str:
    """Say how long ago something was, such as "3 minutes ago"."""
    seconds = (now() - then).total_seconds()
    if seconds < _LATELY:
        return "just now"
    for unit, most, name in _UNITS:
        count = int(seconds // unit)
        if count < most:
            return f"{counted(count, name)} ago"
    return then.date().isoformat()


def at_utc(then: dt.datetime) -> str:
    """Say when something was."""
    return then.strftime("%Y-%m-%d %H:%M:%S UTC")


def short(then: dt.datetime) -> str:
    """Say when something was, such as "22 Nov 14:32"; for UTC, until a script shows it."""
    return f"{then.day} {then:%b %H:%M}"


def duration(seconds: float) -> str:
    """Say how long something took, such as "1 h 05 min"."""
    minutes = int(seconds // 60)
    if minutes == 0:
        return "under 1 min" if seconds > 0 else "–"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def size(count: int) -> str:
    """Say how large a file is."""
    kilobytes = count / 1000
    if kilobytes < 1:
        return f"{count} bytes"
    return f"{kilobytes:.0f} kB" if kilobytes < 1000 else f"{kilobytes / 1000:.1f} MB"  # noqa: PLR2004


def happened(event: AuditEvent) -> str:
    """Describe an event; one that is not known yet by its name."""
    if event.what == "trial-discarded":
        count = event.detail.get("rankings", 0)
        return f"{counted(count, 'test ranking')} deleted"
    if event.what == "study-edited":
        return f"Study edited in the dashboard: {event.detail.get('part', '')}"
    if event.what == "study-changed":
        return f"Study changed: {'; '.join(event.detail.get('effects', ()))}"
    if event.what == "word-decided":
        return _decided(**event.detail)
    text = _EVENTS.get(event.what, event.what).format_map(_named(event))
    if event.what == "open":
        text = _OPENED.get(event.detail.get("before", ""), text)
    if event.what == "paused" and event.detail.get("until"):
        text += f" until {event.detail['until']}"
    if event.what in ("backup", "backup-failed", "restored"):
        text += f": {event.detail.get('file') or event.detail.get('reason')}"
    if event.practice:
        text += " (practice)"
    return f"{text} (repeat)" if event.occasion > 1 else text


def _decided(word: str, choice: str, solutions: list[tuple[str, str]], **_: str) -> str:
    """Describe a decision about a word."""
    [problem, solver], *more = solutions
    where = " on ".join(filter(None, (solver, problem))) or "everywhere"
    if more:
        where = counted(len(solutions), "place")
    return f"{_DECISIONS[choice]} “{word}”: {where}"


def _named(event: AuditEvent) -> dict[str, Any]:
    """What the text of an event names."""
    names: dict[str, Any] = {"judge": event.judge, "problem": event.problem}
    names |= {**dict.fromkeys(("whom", "role", "subject"), ""), **event.detail}
    names["whose"] = "the organizer" if names["whom"] == DEFAULT else f"organizer {names['whom']}"
    if event.what == "mail":
        names["kind"] = _LETTERS[event.detail["kind"]]
        names["state"] = _LETTER_STATES[event.detail["state"]]
        names["judge"] = event.judge or names["subject"]
    return names


def marked(event: AuditEvent) -> str:
    """Give what has to be seen at a glance because it may affect the results."""
    if event.what == "open" and event.detail.get("before") == "closed":
        return "after it was closed"
    if event.what in _MARKED and event.detail.get("state") in ("open", "paused"):
        return "while the study was open"
    return ""


def counted(count: int, name: str) -> str:
    """Put a number before a noun."""
    return f"{count} {name}{'' if count == 1 else 's'}"
