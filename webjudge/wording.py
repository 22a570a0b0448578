"""Times and events in words, for the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.store.models import now
from quem.store.people import DEFAULT

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
    "added": "{whom} added as {a_role}",
    "removed": "{whom} is no longer an organizer: removed from the study file",
    "link-made": "Link created for {who}",
    "link-replaced": "Link of {who} replaced",
    "link-revoked": "Link of {who} revoked",
    "link-withdrawn": "New link of {who} withdrawn: the letter was not accepted",
    "mail": "{kind} to {who}: {state}",
    "consented": "{who} gave consent",
    "declined": "{who} declined to take part",
    "answered": "{who} answered the questions at the end",
    "finished": "{who} finished",
    "withdrawn": "{who} withdrew; their answers are deleted",
    "erased": "Personal data erased; the {role} is now {who}",
    "solution-reviewed": "Reviewed: {solver} on {problem}",
    "blinding-frozen": (
        "Judging began with {reviewed} of {of} solutions reviewed; words: {replaced} replaced, "
        "{kept} kept, {open} open"
    ),
    "makers-skipped": "{who} did not guess who made the solutions",
    "solution-same": "Said to be the same solution, corrected: {solver} on {where}",
    "solution-new": "Said to be a new solution: {solver} on {where}",
    "backup": "Backup made",
    "backup-failed": "Backup failed",
    "restored": "Study restored from a backup",
    "material-sent": "Solutions sent to {host} for the machine judge {machine}",
    "problems-drawn": "Problems drawn that judges are given",
    "submit": "{who} submitted {problem}",
    "reopen": "{who} reopened {problem}",
    "solving-open": "Solving session opened",
    "solving-closed": "Solving session closed; solutions and subjects written",
    "solving-trial-discarded": "Test answers deleted",
    "answer-names": "{who} submitted {problem} with words that may show who wrote it",
}
_LETTER_STATES = {
    "sent": "sent",
    "due": "not accepted yet",
    "failed": "failed",
    "arrived": "arrived",
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
    whom = event.person or event.detail.get("whom", "")
    who, role = event.person, event.role or "organizer"
    if not who:
        who = "the organizer" if whom == DEFAULT else f"organizer {whom}"
    names: dict[str, Any] = {"problem": event.problem, **event.detail}
    names |= {"who": who, "whom": whom, "role": role}
    names["a_role"] = f"{'an' if role == 'organizer' else 'a'} {role}"
    if event.what == "mail":
        names["kind"] = event.detail["kind"].capitalize()
        names["state"] = _LETTER_STATES[event.detail["state"]]
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
