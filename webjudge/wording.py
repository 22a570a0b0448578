"""Times and events in words, for the dashboard."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, Template

from quem.store.models import now
from quem.store.people import DEFAULT

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from quem.store.audit_log import AuditEvent

_UNITS = ((60, 60, "minute"), (3600, 24, "hour"), (86_400, 60, "day"))
_LATELY = 60


def ago(then: dt.datetime) -> str:
    """Format a relative time, such as "3 minutes ago"."""
    seconds = (now() - then).total_seconds()
    if seconds < _LATELY:
        return "just now"
    for unit, most, name in _UNITS:
        count = int(seconds // unit)
        if count < most:
            return f"{counted(count, name)} ago"
    return then.date().isoformat()


def at_utc(then: dt.datetime) -> str:
    """Format a time in UTC."""
    return then.strftime("%Y-%m-%d %H:%M:%S UTC")


def short(then: dt.datetime) -> str:
    """Format a time such as "22 Nov 14:32", in UTC until a script converts it."""
    return f"{then.day} {then:%b %H:%M}"


def duration(seconds: float) -> str:
    """Format a duration, such as "1 h 05 min"."""
    minutes = round(seconds / 60)  # as on judges' pages and in the report
    if minutes == 0:
        return "under 1 min" if seconds > 0 else "–"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def size(count: int) -> str:
    """Format a file size."""
    kilobytes = count / 1000
    if kilobytes < 1:
        return f"{count} bytes"
    return f"{kilobytes:.0f} kB" if kilobytes < 1000 else f"{kilobytes / 1000:.1f} MB"  # noqa: PLR2004


def counted(count: int, name: str) -> str:
    """Format a count with its noun."""
    return f"{count} {name}{'' if count == 1 else 's'}"


def not_reviewed(left: Mapping[str, int]) -> str:
    """Name undecided words and unreviewed solutions, as `left_to_review` counts them."""
    words, solutions = left["words"], left["left"]
    undecided = f"{counted(words, 'word')} {'is' if words == 1 else 'are'} undecided"
    unread = f"{solutions} of {left['of']} solutions are not reviewed"
    return " and ".join(([undecided] if words else []) + ([unread] if solutions else []))


_RUNNING = ("open", "paused")
_WHICH = "{{ ' (practice)' if practice }}{{ ' (repeat)' if occasion > 1 }}"
# Template of each event's description in the activity log.
_EVENTS = {
    "open": "Study {{ {'closed': 'reopened', 'paused': 'resumed'}[before] or 'opened' }}",
    "paused": "Study paused{{ ' until ' ~ until if until }}",
    "closed": "Study closed",
    "revealed": "Rankings revealed",
    "added": "{{ whom }} added as {{ 'an' if role == 'organizer' else 'a' }} {{ role }}",
    "removed": "{{ whom }} is no longer an organizer: removed from the study file",
    "link-made": "Link created for {{ who }}",
    "link-replaced": "Link of {{ who }} replaced",
    "link-revoked": "Link of {{ who }} revoked",
    "link-withdrawn": "New link of {{ who }} withdrawn: the letter was not accepted",
    "mail": (
        "{{ kind | capitalize }} to {{ who }}: "
        "{{ {'due': 'not accepted yet', 'again': 'to be sent again'}[state] or state }}"
    ),
    "consented": "{{ who }} gave consent",
    "declined": "{{ who }} declined to take part",
    "answered": "{{ who }} answered the questions at the end",
    "finished": "{{ who }} finished",
    "withdrawn": "{{ who }} withdrew; their answers are deleted",
    "erased": "Personal data erased; the {{ role }} is now {{ who }}",
    "trial-discarded": "{{ counted(rankings, 'test ranking') }} deleted",
    "study-edited": "Study edited in the dashboard: {{ part }}",
    "study-changed": "Study changed: {{ effects | join('; ') }}",
    "solution-missing": "Missing, so that a task cannot be shown: {{ solver }} on {{ problem }}",
    "solution-reviewed": "Reviewed: {{ solver }} on {{ problem }}",
    "word-decided": (
        "{{ {'replaced': 'Replaced', 'kept': 'Kept', 'open': 'No longer decided:'}[choice] }} "
        "“{{ word }}”: {{ counted(solutions | length, 'place') if solutions | length > 1 "
        "else solutions[0] | reverse | select | join(' on ') or 'everywhere' }}"
    ),
    "blinding-frozen": (
        "Judging began with {{ reviewed }} of {{ of }} solutions reviewed; words: {{ replaced }} "
        "replaced, {{ kept }} kept, {{ open }} open"
    ),
    "makers-skipped": "{{ who }} skipped the rest of the guesses",
    "solution-same": "Said to be the same solution, corrected: {{ solver }} on {{ where }}",
    "solution-new": "Said to be a new solution: {{ solver }} on {{ where }}",
    "backup": "Backup made: {{ file }}",
    "backup-failed": "Backup failed: {{ reason }}",
    "restored": "Study restored from a backup: {{ file }}",
    "material-sent": "Solutions sent to {{ host }} for the machine judge {{ machine }}",
    "problems-drawn": "Problems drawn that judges are given",
    "submit": "{{ who }} submitted {{ problem }}" + _WHICH,
    "reopen": "{{ who }} reopened {{ problem }}" + _WHICH,
    "solving-open": "Solving session opened",
    "solving-closed": "Solving session closed; solutions and subjects written",
    "solving-trial-discarded": "Test answers deleted",
    "answer-names": "{{ who }} submitted {{ problem }} with words that may show who wrote it",
}
# Pages escape the result.
_SENTENCES = Environment(autoescape=False)  # noqa: S701
_SENTENCES.globals["counted"] = counted


def happened(event: AuditEvent) -> str:
    """Describe an event; unknown ones by their name."""
    whom = event.person or event.detail.get("whom", "")
    organizer = "the organizer" if whom == DEFAULT else f"organizer {whom}"
    values = vars(event) | event.detail
    values |= {"who": event.person or organizer, "whom": whom, "role": event.role or "organizer"}
    return _sentence(event.what if event.what in _EVENTS else "").render(values)


@cache
def _sentence(what: str) -> Template:
    return _SENTENCES.from_string(_EVENTS.get(what, "{{ what }}"))


def marked(event: AuditEvent) -> str:
    """The emphasized part of an event that may affect the results."""
    if event.what == "open" and event.detail.get("before") == "closed":
        return "after it was closed"
    if event.what in ("revealed", "link-replaced") and event.detail.get("state") in _RUNNING:
        return "while the study was open"
    return ""
