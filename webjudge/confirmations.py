"""What the dashboard asks before something is done, and says after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import url_for

if TYPE_CHECKING:
    from quem.store.judges import StoredJudge

__all__ = ["SAID", "Confirmation", "about_judge", "about_study"]

SAID = {
    "opened": "The study is open.",
    "reopened": "The study is open again.",
    "closed": "The study is closed. Report and comments are there now.",
    "discarded": "The trial rankings are discarded.",
    "revealed": "The rankings are revealed. That is logged.",
    "revoked": "The link is revoked.",
    "erased": "Personal data erased.",
}

_IN_EARNEST = "Judges can then rank in earnest, until you close the study."


@dataclass(frozen=True)
class Confirmation:
    """What is asked on a page of its own, so that it works without scripts.

    Parameters
    ----------
    title : str
    paragraphs : tuple of str
        What it means.
    action : str
        Where the answer goes.
    button : str
        Its text.
    is_grave : bool
        Whether it cannot be undone.
    sure : str
        What has to be ticked; empty where the button is enough.

    Each form sends ``sure``, without which nothing of this is done.
    """

    title: str
    paragraphs: tuple[str, ...]
    action: str
    button: str
    is_grave: bool = False
    sure: str = ""


def about_study(what: str, page: dict[str, Any]) -> Confirmation:
    """Ask before a study goes on in its life.

    Parameters
    ----------
    what : {"open", "close", "discard", "discard-and-open", "reveal"}
    page : dict
        As from `webjudge.overview.overview_page`.
    """
    questions = {
        "open": _open,
        "close": _close,
        "discard": _discard,
        "discard-and-open": _discard_and_open,
        "reveal": _reveal,
    }
    return questions[what](page)


def about_judge(what: str, judge: StoredJudge) -> Confirmation:
    """Ask before something is done to a judge or a link.

    Parameters
    ----------
    what : {"link", "revoke", "erase"}
    judge : StoredJudge
    """
    return {"link": _new_link, "revoke": _revoke, "erase": _erase}[what](judge)


def _open(page: dict[str, Any]) -> Confirmation:
    action = url_for("dashboard.open_study")
    if page["status"].state == "trial":
        text: tuple[str, ...] = (_IN_EARNEST,)
        return Confirmation("Open the study?", text, action, "Open the study")
    text = (
        "Judges can then rank again, and change what they submitted, until you close it.",
        "Whoever has seen the report is no longer blind to how things stand. That the study "
        "was closed and opened again is logged, and the report will say so.",
    )
    return Confirmation("Open the study again?", text, action, "Open the study again")


def _close(page: dict[str, Any]) -> Confirmation:
    text = (
        _submitted(page),
        "Judges can then no longer change anything: only what is submitted counts. The report and "
        "what judges wrote are shown. You can open the study again, which is logged.",
    )
    return Confirmation(
        "Close the study?", text, url_for("dashboard.close_study"), "Close the study"
    )


def _discard(page: dict[str, Any]) -> Confirmation:
    return Confirmation(
        "Discard the trial rankings?",
        _deleting(page),
        url_for("dashboard.discard"),
        "Discard them",
        is_grave=True,
        sure=_for_good(page),
    )


def _discard_and_open(page: dict[str, Any]) -> Confirmation:
    return Confirmation(
        "Discard the trial rankings, and open the study?",
        (*_deleting(page), _IN_EARNEST),
        url_for("dashboard.discard_and_open"),
        "Discard them, and open",
        is_grave=True,
        sure=_for_good(page),
    )


def _deleting(page: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"This deletes {_trial(page['begun'])}, with comments, working times and the judges' "
        "consent. Judges and their links stay.",
    )


def _for_good(page: dict[str, Any]) -> str:
    return f"Delete {_trial(page['begun'])} for good"


def _reveal(page: dict[str, Any]) -> Confirmation:
    text = (
        _submitted(page),
        "You will see rankings, comments and the report while judges are still ranking. Whoever "
        "has seen them is no longer blind, and should not talk to judges about the study. This is "
        "logged with your id, the report will say so, and it cannot be undone.",
        "To see the rankings without that, close the study.",
    )
    return Confirmation(
        "Reveal the rankings?",
        text,
        url_for("dashboard.reveal"),
        "Reveal the rankings",
        is_grave=True,
        sure="I know that this is logged and cannot be undone",
    )


def _new_link(judge: StoredJudge) -> Confirmation:
    text = (
        f"The link that {_who(judge)} has now stops working, on all devices. All rankings stay. "
        "The new link is shown once.",
        "This is logged; if the study is open, the report will say so, too.",
    )
    action = url_for("dashboard.people.make_link", key=judge.key)
    return Confirmation(f"Make a new link for {judge.id}?", text, action, "Make a new link")


def _revoke(judge: StoredJudge) -> Confirmation:
    text = (
        f"{_who(judge)} can no longer open the study, on any device. What was submitted stays and "
        "counts. You can make a new link later.",
    )
    return Confirmation(
        f"Revoke the link of {judge.id}?",
        text,
        url_for("dashboard.people.revoke_link", key=judge.key),
        "Revoke the link",
        is_grave=True,
    )


def _erase(judge: StoredJudge) -> Confirmation:
    text = (
        f"The id, the name and the experience of {_who(judge)} are deleted, with all comments and "
        "reasons, and the link ends. The rankings stay and count, under a pseudonym.",
        "This cannot be undone. Study file, exported archives and backups are not changed: take "
        f"{judge.id} out of them yourself.",
    )
    return Confirmation(
        f"Forget {judge.id}?",
        text,
        url_for("dashboard.people.erase", key=judge.key),
        "Forget this judge",
        is_grave=True,
        sure=f"Forget {judge.id} for good",
    )


def _who(judge: StoredJudge) -> str:
    return f"{judge.name} ({judge.id})" if judge.name else judge.id


def _submitted(page: dict[str, Any]) -> str:
    totals = page["totals"]
    return f"{totals['submitted']} of {totals['groups']} rankings are submitted."


def _trial(count: int) -> str:
    return "1 trial ranking" if count == 1 else f"{count} trial rankings"
