"""What the dashboard asks before something is done, and says after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import url_for

if TYPE_CHECKING:
    from quem.store.judges import StoredJudge

__all__ = ["SAID", "Confirmation", "about_judge", "about_study"]

SAID = {
    "opened": "Study open.",
    "reopened": "Study reopened.",
    "closed": "Study closed. The report and comments are now available.",
    "discarded": "Test rankings deleted.",
    "revealed": "Rankings revealed. This was logged.",
    "revoked": "Link revoked.",
    "erased": "Personal data erased.",
}

_FROM_NOW_ON = "From now on, rankings count. Judges can rank until you close the study."


@dataclass(frozen=True)
class Confirmation:
    """What is asked on a separate page, so that it works without scripts.

    Parameters
    ----------
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
    """Ask before a study gets another state.

    Parameters
    ----------
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
    """Ask before something is done to a judge or a link."""
    return {"link": _new_link, "revoke": _revoke, "erase": _erase}[what](judge)


def _open(page: dict[str, Any]) -> Confirmation:
    action = url_for("dashboard.open_study")
    if page["status"].state == "trial":
        text: tuple[str, ...] = (_FROM_NOW_ON,)
        return Confirmation("Open the study?", text, action, "Open study")
    text = (
        "Judges can rank again and change submitted rankings until you close the study.",
        "If you have seen the report, you are no longer blind to the results. Closing and "
        "reopening are logged, and the report says so.",
    )
    return Confirmation("Reopen the study?", text, action, "Reopen study")


def _close(page: dict[str, Any]) -> Confirmation:
    text = (
        _submitted(page),
        "Judges can no longer change anything, and only submitted rankings count. The report and "
        "comments become visible. You can reopen the study; that is logged.",
    )
    return Confirmation("Close the study?", text, url_for("dashboard.close_study"), "Close study")


def _discard(page: dict[str, Any]) -> Confirmation:
    return Confirmation(
        "Delete the test rankings?",
        _deleting(page),
        url_for("dashboard.discard"),
        "Delete test rankings",
        is_grave=True,
        sure=_for_good(page),
    )


def _discard_and_open(page: dict[str, Any]) -> Confirmation:
    return Confirmation(
        "Delete the test rankings and open the study?",
        (*_deleting(page), _FROM_NOW_ON),
        url_for("dashboard.discard_and_open"),
        "Delete and open study",
        is_grave=True,
        sure=_for_good(page),
    )


def _deleting(page: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"This deletes {_trial(page['started'])} with their comments, active times, and consent "
        "records. Judges and links stay.",
    )


def _for_good(page: dict[str, Any]) -> str:
    return f"Delete {_trial(page['started'])} permanently"


def _reveal(page: dict[str, Any]) -> Confirmation:
    text = (
        _submitted(page),
        "You will see rankings, comments, and the report while judges are still ranking. Once you "
        "have seen them you are no longer blind and should not discuss the study with judges. This "
        "is logged permanently with your ID, the report says so, and it cannot be undone.",
        "To see rankings without unblinding yourself, close the study first.",
    )
    return Confirmation(
        "Reveal the rankings?",
        text,
        url_for("dashboard.reveal"),
        "Reveal rankings",
        is_grave=True,
        sure="I understand that this is logged and cannot be undone",
    )


def _new_link(judge: StoredJudge) -> Confirmation:
    text = (
        f"{_who(judge)}'s current link stops working on all devices. Rankings are kept. The new "
        "link is shown once.",
        "This is logged; if the study is open, the report says so.",
    )
    action = url_for("dashboard.people.make_link", key=judge.key)
    return Confirmation(f"Replace {judge.id}'s link?", text, action, "Replace link")


def _revoke(judge: StoredJudge) -> Confirmation:
    text = (
        f"{_who(judge)} can no longer open the study on any device. Submitted rankings are kept "
        "and count. You can create a new link later.",
    )
    return Confirmation(
        f"Revoke {judge.id}'s link?",
        text,
        url_for("dashboard.people.revoke_link", key=judge.key),
        "Revoke link",
        is_grave=True,
    )


def _erase(judge: StoredJudge) -> Confirmation:
    text = (
        f"This deletes {_who(judge)}'s ID, name, experience, comments, and reasons, and revokes "
        "the link. Rankings are kept under a pseudonym and count.",
        "This cannot be undone. The study file, exported archives, and backups are not changed; "
        f"remove {judge.id} there yourself.",
    )
    return Confirmation(
        f"Erase {judge.id}'s personal data?",
        text,
        url_for("dashboard.people.erase", key=judge.key),
        "Erase personal data",
        is_grave=True,
        sure=f"Erase {judge.id}'s personal data permanently",
    )


def _who(judge: StoredJudge) -> str:
    return f"{judge.name} ({judge.id})" if judge.name else judge.id


def _submitted(page: dict[str, Any]) -> str:
    totals = page["totals"]
    return f"{totals['submitted']} of {totals['groups']} rankings are submitted."


def _trial(count: int) -> str:
    return "1 test ranking" if count == 1 else f"{count} test rankings"
