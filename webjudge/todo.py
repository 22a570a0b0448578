"""What needs doing in a study, worst first: what the dashboard's first page begins with."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from flask import current_app, url_for

from quem.store.models import now
from webjudge.languages import day
from webjudge.mailing import POST
from webjudge.wording import ago, counted, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MOST = 5
_MOST_NAMED = 4
_CHECKS = "#checks"


@dataclass(frozen=True)
class Todo:
    """Something that needs doing."""

    tone: Literal["bad", "warn", "good"]
    text: str  # a sentence
    reason: str  # why, or what helps
    # What to do, and where; empty where nothing on the dashboard helps
    button: str = ""
    url: str = ""
    # A page, a question to be confirmed, something to be done at once, or a page in a new tab.
    kind: Literal["link", "ask", "post", "tab"] = "link"


def what_needs_doing(page: dict[str, Any]) -> list[Todo]:
    """Give what needs doing, at most five things, worst first."""
    return list(islice((todo for rule in _RULES for todo in rule(page)), _MOST))


def _server(page: dict[str, Any]) -> Iterator[Todo]:
    for message in page["alerts"]:
        yield Todo("bad", "Server problem", message, "Activity log", url_for("dashboard.events"))


def _lacking(page: dict[str, Any]) -> Iterator[Todo]:
    if (parts := page["lacking"]) and page["status"].state != "closed":
        url = url_for("dashboard.setup.steps")
        yield Todo("bad", "The study is not complete", f"{_first(parts)}.", "Set up", url)


def _backup(page: dict[str, Any]) -> Iterator[Todo]:
    backup, failure = page["backup"], page["backup_failure"]
    if failure or backup.is_late:
        last = f"Last good backup: {ago(backup.at) if backup.at else 'none yet'}."
        reason = failure or (
            f"One is expected every {duration(backup.every)}. Check that quem backup or quem "
            "serve --backup still runs."
        )
        text = "The last backup failed" if failure else "Backups have stopped"
        button, url = "Activity log", url_for("dashboard.events")
        yield Todo("bad", text, f"{reason} {last}", button, url)


def _unreadable(page: dict[str, Any]) -> Iterator[Todo]:
    if names := page["unreadable"]:
        text = f"{counted(len(names), 'solution')} cannot be read"
        reason = f"Judges are asked to wait. Restore the files: {_named(names, len(names))}."
        yield Todo("bad", text, reason, "Show", _CHECKS)


def _paused(page: dict[str, Any]) -> Iterator[Todo]:
    if page["status"].state == "paused":
        until = page["until"]
        reason = f"They see “Paused until {until}”." if until else "They see no date."
        url = url_for("dashboard.ask_first", what="pause")
        text = "Judges cannot rank at the moment"
        yield Todo("warn", text, reason, "Edit notice…", url, "ask")


def _finished(page: dict[str, Any]) -> Iterator[Todo]:
    if page["status"].state in ("open", "paused") and page["all_done"]:
        url = url_for("dashboard.ask_first", what="close")
        reason = "You can close the study and open the report."
        yield Todo("good", "All judges have finished", reason, "Close…", url, "ask")


def _changed(page: dict[str, Any]) -> Iterator[Todo]:
    if texts := page["affected"]:
        text = "The study has changed since judges saw it"
        is_asked = bool(page["unanswered"])
        url = url_for("dashboard.review.solutions") if is_asked else _CHECKS
        yield Todo("warn", text, _first(texts), "Review" if is_asked else "Show", url)


def _warnings(page: dict[str, Any]) -> Iterator[Todo]:
    if warnings := page["warnings"]:
        text = f"{counted(len(warnings), 'possible problem')} in the solutions"
        reason = _first([warning.message for warning in warnings])
        tone: Literal["bad", "warn"] = "bad" if page["status"].state == "trial" else "warn"
        is_about_words = any(warning.code == "identity" for warning in warnings)
        url = url_for("dashboard.review.solutions") if is_about_words else _CHECKS
        yield Todo(tone, text, reason, "Review" if is_about_words else "Show", url)


def _unreviewed(page: dict[str, Any]) -> Iterator[Todo]:
    if (left := page["unreviewed"]) and page["status"].state == "trial":
        text = f"{left} of {page['n_solutions']} solutions are not reviewed"
        reason = "Look at them as judges will see them, before the first ranking."
        yield Todo("warn", text, reason, "Review", url_for("dashboard.review.solutions"))


def _no_judges(page: dict[str, Any]) -> Iterator[Todo]:
    if not page["totals"]["judges"]:
        reason = "Declare them in the study file or add one here."
        yield Todo("warn", "No judges yet", reason, *_adding())


def _failed_letters(page: dict[str, Any]) -> Iterator[Todo]:
    if count := page["failed_letters"]:
        url = url_for("dashboard.people.invitations")
        text = f"{counted(count, 'letter')} failed"
        yield Todo("bad", text, "The reason is beside the judge.", "Show", url)


def _unlinked(page: dict[str, Any]) -> Iterator[Todo]:
    if (count := page["unlinked"]) and page["status"].state != "closed":
        text = f"{counted(count, 'judge')} {'has' if count == 1 else 'have'} no link yet"
        button = "Create link" if count == 1 else "Create links"
        url = url_for("dashboard.people.make_links")
        reason = f"{_named(_names(page, 'unlinked'), count)}: the invitations come "
        if current_app.extensions[POST].settings:
            url = url_for("dashboard.people.invitations")
            yield Todo("warn", text, f"{reason}with the links.", "Invite", url)
        else:
            yield Todo("warn", text, f"{reason}with the links.", button, url, "post")


def _try_it(page: dict[str, Any]) -> Iterator[Todo]:
    if page["status"].state == "trial":
        text, reason = "Try the pages once as a judge", "Nothing you do there is saved."
        yield Todo("warn", text, reason, "Preview", url_for("preview.home"), "tab")


def _overdue(page: dict[str, Any]) -> Iterator[Todo]:
    deadline, missing = page["deadline"], page["missing"]
    if page["status"].state == "open" and deadline and missing and deadline < now().date():
        reason = f"It was {day(deadline)}; {_missing(missing)}."
        yield Todo("warn", "The deadline has passed", reason, *_reminding())


def _declined(page: dict[str, Any]) -> Iterator[Todo]:
    if (count := page["counts"]["declined"].judges) and page["status"].state != "closed":
        names = _names(page, "declined")
        text = f"{names[0] if count == 1 else counted(count, 'judge')} declined"
        left = page["totals"]["judges"] - count - page["counts"]["erased"].judges
        reason = f"{counted(left, 'judge')} {'remains' if left == 1 else 'remain'}."
        if count > 1:
            reason = f"{_named(names, count)}. {reason}"
        yield Todo("warn", text, reason, *_adding())


def _unopened(page: dict[str, Any]) -> Iterator[Todo]:
    count = page["counts"]["unopened"].judges
    if page["status"].state != "open" or not count:
        return
    names = _names(page, "unopened")
    if count == 1:
        [one] = page["named"]["unopened"]
        reason = f"It was created {ago(one.judge.linked_at)}."
        url = url_for("dashboard.people.remind", key=one.judge.key)
        yield Todo("warn", f"{names[0]} has not opened their link", reason, "Write reminder", url)
    else:
        text = f"{count} judges have not opened their links"
        yield Todo("warn", text, f"{_named(names, count)}.", *_reminding())


def _due(page: dict[str, Any]) -> Iterator[Todo]:
    deadline, missing = page["deadline"], page["missing"]
    if page["status"].state == "open" and deadline and missing:
        days = (deadline - now().date()).days
        if days >= 0:
            text = f"{counted(days, 'day')} left" if days else "The deadline is today"
            reason = f"The deadline is {day(deadline)}; {_missing(missing)}."
            yield Todo("warn", text, reason, *_reminding())


def _closed(page: dict[str, Any]) -> Iterator[Todo]:
    if page["status"].state == "closed":
        url = url_for("dashboard.results.words")
        reason = "Comments, “cannot judge” reasons, and recognized authors."
        yield Todo("good", "Read what judges wrote", reason, "Comments", url)


_RULES: tuple[Callable[[dict[str, Any]], Iterator[Todo]], ...] = (
    *(
        _server,
        _lacking,
        _backup,
        _unreadable,
        _failed_letters,
        _paused,
        _finished,
        _changed,
        _warnings,
    ),
    _unreviewed,
    *(_no_judges, _unlinked, _try_it, _overdue, _declined, _unopened, _due, _closed),
)


def _adding() -> tuple[str, str]:
    return "Add judge", url_for("dashboard.people.new")


def _reminding() -> tuple[str, str]:
    return "Write reminders", url_for("dashboard.people.remind_all")


def _missing(count: int) -> str:
    return f"{counted(count, 'ranking')} {'is' if count == 1 else 'are'} not submitted yet"


def _names(page: dict[str, Any], status: str) -> list[str]:
    """The names of the first judges of a status."""
    return [one.judge.name or one.judge.id for one in page["named"][status]]


def _first(texts: Sequence[str]) -> str:
    return texts[0] + (f", and {len(texts) - 1} more" if len(texts) > 1 else "")


def _named(names: Sequence[str], count: int) -> str:
    more = count - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f", and {more} more" if more > 0 else "")
