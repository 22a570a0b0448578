"""What the dashboard asks before something is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import url_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.store.models import PersonRow
    from quem.store.standing import JudgeStanding

PAGES = {"judge": "people", "subject": "solving"}  # the names of their pages
_LOGGED = "This is logged; if the study is open, the report says so."
_FROM_NOW_ON = "From now on, rankings count. Judges can rank until you close the study."


@dataclass(frozen=True)
class Confirmation:
    """What is asked on a separate page, so that it works without scripts."""

    title: str
    paragraphs: tuple[str, ...]  # what it means
    action: str  # where the answer goes
    button: str  # its text
    is_grave: bool = False  # whether it ends or deletes something
    # What has to be typed where it cannot be undone; otherwise the button is enough, and sends
    # ``sure``.
    word: str = ""
    extra: tuple[tuple[str, str], ...] = ()  # names and values that the answer sends, too
    # What the notice to judges says now, where there is one to be written.
    notice: str | None = None
    other: tuple[str, str] = ("", "")  # text and address of another question that could be meant
    instead: tuple[str, str] = ("", "")  # text and address of what is better done before


def about_study(what: str, page: dict[str, Any]) -> Confirmation:
    """Ask before a study gets another state."""
    questions = {
        "open": _open,
        "pause": _pause,
        "close": _close,
        "discard": _discard,
        "discard-and-open": _discard_and_open,
        "reveal": _reveal,
    }
    return questions[what](page)


def about_person(what: str, one: PersonRow) -> Confirmation:
    """Ask before something is done to a judge, a subject, or a link of theirs."""
    return {"link": _new_link, "revoke": _revoke, "erase": _erase}[what](one)


def about_unreviewed(
    left: int, of: int, minutes: str, action: str, form: Iterable[tuple[str, str]]
) -> Confirmation:
    """Ask before judges get links to solutions that nobody looked through."""
    return Confirmation(
        f"{left} of {of} solutions are not reviewed",
        (
            "Nobody has looked at them as judges will see them, so something may reveal "
            "their authors. Only what is reviewed before the first ranking counts.",
        ),
        action,
        "Send anyway – the report will say so",
        extra=tuple(form),
        instead=(f"Review them ({minutes})", url_for("dashboard.review.solutions")),
    )


def unfinished(judges: Iterable[JudgeStanding]) -> list[str]:
    """Say of judges who have not finished how far they are."""
    sentences = []
    for one in judges:
        tasks = "1 task" if one.left == 1 else f"{one.left} tasks"
        what = f"has {tasks} left" if one.started else "has not started"
        sentences.append(f"{one.judge.name or one.judge.id} {what}")
    return sentences


def _open(page: dict[str, Any]) -> Confirmation:
    action = url_for("dashboard.open_study")
    state, started = page["status"].state, page["started"]
    if state == "trial" and started:
        text: tuple[str, ...] = (
            f"There {'is' if started == 1 else 'are'} {_trial(started)}. Delete "
            f"{'it' if started == 1 else 'them'} if judges only tried the pages; keep "
            f"{'it' if started == 1 else 'them'} if they have started the real work.",
            *_unready(page),
            _FROM_NOW_ON,
        )
        delete = f"Delete {_trial(started)} and open…"
        return Confirmation(
            "Open the study?",
            text,
            action,
            f"Keep {_trial(started)} and open",
            extra=(("trial", "keep"),),
            other=(delete, url_for("dashboard.ask_first", what="discard-and-open")),
        )
    if state == "trial":
        text = (*_unready(page), _FROM_NOW_ON)
        return Confirmation("Open the study?", text, action, "Open the study")
    if state == "paused":
        text = ("Judges can rank again at once, until you close the study.",)
        return Confirmation("Resume the study?", text, action, "Resume")
    text = (
        "Judges can rank again and change submitted rankings until you close the study.",
        "If you have seen the report, do not discuss it with judges. Closing and reopening are "
        "logged, and the report says so.",
    )
    return Confirmation("Reopen the study?", text, action, "Reopen the study")


def _unready(page: dict[str, Any]) -> tuple[str, ...]:
    """What judges would miss if the study opened now."""
    if not page["lacking"]:
        return ()
    return (f"The study is not complete: {'; '.join(page['lacking'])}.",)


def _pause(page: dict[str, Any]) -> Confirmation:
    is_paused = page["status"].state == "paused"
    text = (
        "Judges can read and see their rankings, but change nothing until you resume. Nothing is "
        "hidden or revealed. The pause is logged.",
        *(() if is_paused else _still_at_work(page)),
    )
    return Confirmation(
        "Change the notice to judges?" if is_paused else "Pause the study?",
        text,
        url_for("dashboard.pause_study"),
        "Change notice" if is_paused else "Pause",
        notice=page["until"],
    )


def _close(page: dict[str, Any]) -> Confirmation:
    text = (
        _submitted(page),
        *_still_at_work(page),
        "Judges can no longer change anything, and only submitted rankings count. The report and "
        "comments become visible. You can reopen the study; that is logged.",
    )
    title = "Close the study?"
    return Confirmation(title, text, url_for("dashboard.close_study"), "Close the study")


def _discard(page: dict[str, Any]) -> Confirmation:
    return Confirmation(
        "Delete the test rankings?",
        _deleting(page),
        url_for("dashboard.discard"),
        "Delete test rankings",
        is_grave=True,
        word="discard",
    )


def _discard_and_open(page: dict[str, Any]) -> Confirmation:
    return Confirmation(
        "Delete the test rankings and open the study?",
        (*_deleting(page), _FROM_NOW_ON),
        url_for("dashboard.discard_and_open"),
        "Delete and open the study",
        is_grave=True,
        word="discard",
    )


def _deleting(page: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"This deletes {_trial(page['started'])} with their comments, active times, and consent "
        "records. Judges and links stay. This cannot be undone.",
    )


def _reveal(page: dict[str, Any]) -> Confirmation:
    text = (
        _submitted(page),
        "You will see rankings, comments, and the report while judges are still ranking. Once you "
        "have seen them, do not discuss the study with judges. This is logged permanently with "
        "your ID, the report says so, and it cannot be undone.",
        "To see rankings without any of this, close the study first.",
    )
    return Confirmation(
        "Reveal the rankings?",
        text,
        url_for("dashboard.reveal"),
        "Reveal rankings",
        is_grave=True,
        word="reveal",
    )


def _new_link(one: PersonRow) -> Confirmation:
    is_judge = one.role == "judge"
    kept = f"{'Rankings' if is_judge else 'Answers'} are kept."
    text = (
        f"{_who(one)}'s current link stops working on all devices. {kept} The new link is shown "
        "once.",
        *([_LOGGED] if is_judge else []),
    )
    return Confirmation(f"Replace {one.id}'s link?", text, _action(one, "link"), "Replace link")


def _revoke(one: PersonRow) -> Confirmation:
    kept = "Submitted rankings are kept and count" if one.role == "judge" else "Answers are kept"
    text = (
        f"{_who(one)} can no longer open the study on any device. {kept}. You can create a new "
        "link later.",
    )
    return Confirmation(
        f"Revoke {one.id}'s link?", text, _action(one, "revoke"), "Revoke link", is_grave=True
    )


def _erase(one: PersonRow) -> Confirmation:
    what, stays = "replies, answers, and files", "How long they took stays under a pseudonym."
    if one.role == "judge":
        what = "experience, comments, and reasons"
        stays = "Rankings are kept under a pseudonym and count."
    text = (
        f"This deletes {_who(one)}'s ID, name, {what}, and revokes the link. {stays}",
        "This cannot be undone. The study file, solutions and tables that are written already, "
        f"exported archives, and backups are not changed; remove {one.id} there yourself.",
    )
    return Confirmation(
        f"Erase {one.id}'s personal data?",
        text,
        _action(one, "erase"),
        "Erase personal data",
        is_grave=True,
        word=one.id,
    )


def _action(one: PersonRow, what: str) -> str:
    return url_for(f"dashboard.{PAGES[one.role]}.{what}", key=one.key)


def _who(one: PersonRow) -> str:
    return f"{one.name} ({one.id})" if one.name else one.id


def _submitted(page: dict[str, Any]) -> str:
    totals = page["totals"]
    return f"{totals['submitted']} of {totals['groups']} rankings are submitted."


def _still_at_work(page: dict[str, Any]) -> tuple[str, ...]:
    """Name who has not finished."""
    named = unfinished(page["unfinished"])
    if not named:
        return ()
    more = page["waiting"] - len(named)
    return (f"{'; '.join([*named, *([f'{more} more have not finished'] if more else [])])}.",)


def _trial(count: int) -> str:
    return "1 test ranking" if count == 1 else f"{count} test rankings"
