"""What version 0.1 held, and what becomes of it: the same for databases and archives.

Its ballots had the order of solvers as their layout, `shown` had the digest of each solution when
the first judge saw it, and nothing was chained. This never changes: a migration uses it.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Boolean, Column, Double, Integer, MetaData, String, Table

from quem.store.chains import (
    event_link,
    judge_digest,
    keyed,
    new_salt,
    revision_link,
    words_digest,
)
from quem.store.models import Utc, now
from quem.store.state import labels

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["TABLES", "converted"]

Row = dict[str, Any]
Rows = dict[str, list[Row]]


def _table(name: str, *columns: tuple[str, Any], may_lack: tuple[str, ...] = ()) -> Table:
    made = (Column(column, kind, nullable=column in may_lack) for column, kind in columns)
    return Table(name, MetaData(), *made)


# In the order in which they refer to each other.
TABLES = {
    table.name: table
    for table in (
        _table(
            "study",
            *(("id", String), ("state", String), ("desk_hash", String)),
            *(("made_at", Utc), ("revealed_at", Utc)),
            may_lack=("desk_hash", "revealed_at"),
        ),
        _table(
            "judge",
            *(("key", Integer), ("study_id", String), ("id", String), ("name", String)),
            *(("experience", Double), ("added", Boolean), ("session_hash", String)),
            *((f"{what}_at", Utc) for what in ("linked", "revoked", "seen", "consented")),
            ("forgotten_at", Utc),
            may_lack=(
                *("experience", "session_hash", "linked_at", "revoked_at", "seen_at"),
                *("consented_at", "forgotten_at"),
            ),
        ),
        _table("forgotten", ("study_id", String), ("id_hash", String)),
        _table(
            "ballot",
            *(("key", Integer), ("public_id", String), ("judge_key", Integer)),
            *(("problem", String), ("block", Integer), ("occasion", Integer)),
            *(("practice", Boolean), ("position", Integer), ("solvers", JSON), ("layout", JSON)),
            *(("head", Integer), ("submitted", Integer), ("seconds", Double), ("opened_at", Utc)),
            may_lack=("solvers", "layout", "submitted", "opened_at"),
        ),
        _table(
            "revision",
            *(("key", Integer), ("ballot_key", Integer), ("number", Integer), ("base", Integer)),
            *(("kind", String), ("state", JSON), ("client", String), ("change", Integer)),
            ("made_at", Utc),
        ),
        _table(
            "event",
            *(("key", Integer), ("study_id", String), ("judge_key", Integer), ("made_at", Utc)),
            *(("actor", String), ("what", String), ("detail", JSON)),
            may_lack=("judge_key",),
        ),
        _table(
            "shown",
            *(("study_id", String), ("problem", String), ("solver", String)),
            *(("digest", String), ("shown_at", Utc)),
        ),
    )
}


def converted(old: Rows) -> Rows:
    """Give the rows of one study their layouts, digests and links.

    Parameters
    ----------
    old : dict of str to list of dict
        Those of each of `TABLES`: revisions of each ballot by number, events in their order.
        The rows themselves are changed.

    Returns
    -------
    dict of str to list of dict
        Of the tables of version 0003. The last event is new: it says that all before it was
        chained afterwards.
    """
    secret = secrets.token_hex(32)
    study = {key: v for key, v in old["study"][0].items() if key != "desk_hash"}
    for judge in old["judge"]:
        salt = new_salt()
        judge["id_digest"] = judge_digest(salt, judge["id"])
        judge["id_salt"] = None if judge["forgotten_at"] else salt
    known = {(row["problem"], row["solver"]): f"1:{row['digest']}" for row in old["shown"]}
    layouts = []
    for ballot in old["ballot"]:
        solvers = ballot.pop("layout") or []
        digests = [known.get((ballot["problem"], solver)) for solver in solvers]
        items = list(map(list, zip(labels(len(solvers)), solvers, digests, digests, strict=True)))
        identity = keyed(secret, "layout", ballot["public_id"], items) if solvers else None
        ballot |= {"layout": identity, "sealed": 0}
        if identity:
            at = ballot["opened_at"] or study["made_at"]
            row = {"ballot_key": ballot["key"], "id": identity, "items": items, "made_at": at}
            layouts.append(row)
    digests_of = {judge["key"]: judge["id_digest"] for judge in old["judge"]}
    _chain_revisions(old["revision"], old["ballot"], digests_of)
    about = {"actor": "server", "what": "chained", "detail": {"from": "0.1"}, "judge_key": None}
    events = [*old["event"], {**about, "made_at": now()}]
    link = ""
    for event in events:
        link = event["link"] = event_link(link, event, digests_of.get(event["judge_key"]))
    kept = {name: old[name] for name in ("judge", "forgotten", "ballot", "revision")}
    new = {"study": [study | {"secret": secret}], "organizer": [], "layout": layouts}
    return {**kept, **new, "event": events}


def _chain_revisions(
    revisions: Iterable[Row], ballots: Iterable[Row], digests: dict[int, str]
) -> None:
    of = {ballot["key"]: ballot for ballot in ballots}
    links: dict[int, str] = {}
    for row in revisions:
        ballot, salt = of[row["ballot_key"]], new_salt()
        row |= {"layout": ballot["layout"] or "", "words_salt": salt}
        row["words_digest"] = words_digest(salt, row["state"])
        before = links.get(ballot["key"], "")
        row["link"] = revision_link(before, row, ballot, digests[ballot["judge_key"]])
        links[ballot["key"]] = row["link"]
