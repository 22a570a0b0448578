"""Receipts: the beginning of a revision's link, which a judge is given to hold on to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.store.models import Ballot, Event, Judge, Revision
from quem.store.verification import task_named

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["find_receipt"]

_KINDS = {"save": "saved", "submit": "submitted", "reopen": "reopened"}


def find_receipt(c: Connection, study_id: str, code: str) -> list[str]:
    """Say of which revision a receipt is, and whether it is the newest of its task.

    Parameters
    ----------
    c : Connection
    study_id : str
    code : str
        Lower-case hexadecimal digits: the beginning of a link.

    Returns
    -------
    list of str
        A sentence for each revision that has it; empty where none has.
    """
    rows = c.execute(
        select(
            *(Judge.id, Ballot.problem, Ballot.block, Ballot.occasion, Ballot.head),
            *(Revision.number, Revision.kind, Revision.made_at),
        )
        .join(Ballot, Ballot.judge_key == Judge.key)
        .join(Revision, Revision.ballot_key == Ballot.key)
        .where(Judge.study_id == study_id, Revision.link.startswith(code))
    ).mappings()
    found = []
    for row in rows:
        newest = "the newest" if row["number"] == row["head"] else f"{row['head']} is the newest"
        found.append(
            f"revision {row['number']} ({newest}) of the {task_named(row['id'], {**row})}, "
            f"{_KINDS[row['kind']]} on {row['made_at']:%Y-%m-%d %H:%M:%S} UTC"
        )
    return found or _discarded(c, study_id, code)


def _discarded(c: Connection, study_id: str, code: str) -> list[str]:
    trials = Event.study_id == study_id, Event.what == "trial-discarded"
    return [
        f"a trial ranking that was discarded on {at:%Y-%m-%d %H:%M:%S} UTC"
        for at, detail in c.execute(select(Event.made_at, Event.detail).where(*trials))
        for _, link in detail.get("ballots", {}).values()
        if link.startswith(code)
    ]
