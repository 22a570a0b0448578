"""Times and events in words, for the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.store.models import now

if TYPE_CHECKING:
    import datetime as dt

    from quem.store.trail import Happening

__all__ = ["ago", "at_utc", "by", "duration", "happened", "size"]

_UNITS = ((60, 60, "minute"), (3600, 24, "hour"), (86_400, 60, "day"))
_LATELY = 60
_EVENTS = {
    "open": "The study was opened",
    "closed": "The study was closed",
    "revealed": "The rankings were revealed",
    "judge-added": "{judge} was added as a judge",
    "link-made": "A link was made for {judge}",
    "link-replaced": "The link of {judge} was replaced",
    "link-revoked": "The link of {judge} was revoked",
    "judge-forgotten": "A judge was forgotten, and is {judge} from now on",
    "backup": "A backup was made",
    "backup-failed": "A backup failed",
    "restored": "The study was restored from a backup",
    "consented": "{judge} agreed to take part",
    "submit": "{judge} submitted {problem}",
    "reopen": "{judge} reopened {problem}",
}
_ACTORS = {"dashboard": "dashboard", "shell": "command line", "judge": "judge"}


def ago(then: dt.datetime) -> str:
    """Say how long ago something was, such as "3 minutes ago"."""
    seconds = (now() - then).total_seconds()
    if seconds < _LATELY:
        return "just now"
    for unit, most, name in _UNITS:
        count = int(seconds // unit)
        if count < most:
            return f"{_counted(count, name)} ago"
    return then.date().isoformat()


def at_utc(then: dt.datetime) -> str:
    """Say when something was."""
    return then.strftime("%Y-%m-%d %H:%M:%S UTC")


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


def happened(event: Happening) -> str:
    """Tell an event in a sentence; one that is not known yet is told by its name."""
    if event.what == "trial-discarded":
        count = event.detail.get("rankings", 0)
        were = "was" if count == 1 else "were"
        return f"{_counted(count, 'trial ranking')} {were} discarded"
    text = _EVENTS.get(event.what, event.what).format(judge=event.judge, problem=event.problem)
    if event.what == "open" and event.detail.get("before") == "closed":
        text += " again"
    if event.what in ("backup", "backup-failed", "restored"):
        text += f": {event.detail.get('file') or event.detail.get('reason')}"
    if event.practice:
        text += " (practice)"
    return f"{text} (second time)" if event.occasion > 1 else text


def by(event: Happening) -> str:
    """Tell who did it."""
    return _ACTORS.get(event.actor, event.actor)


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"
