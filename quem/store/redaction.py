"""What a store holds of a study, without the names of people: an archive with new links.

Rankings name solvers, and links are hashes of rankings, so that everything is linked again. What
the links were stays with the study that has the names.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from quem.store.archive import TABLES, UNKEPT, plain, read_archive
from quem.store.chains import event_link, judge_digest, new_salt, revision_link, words_digest
from quem.store.layouts import Item, layout_id
from quem.store.state import State, without_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.store.archive import Row

# Seals name links, which are others; who was erased has no salt, and is a judge like others here.
_LEFT_OUT = ("sealed", "judge-forgotten")
# What quem itself writes into events. All else is what somebody wrote, or may quote it: a reason,
# words that were looked for, sentences of what changed, names of files.
_OWN_TEXTS = frozenset(
    {
        *("before", "until", "state", "kind", "role", "part", "sha256", "hash", "digest"),
        *("problem", "problems", "where", "ballots"),
    }
)


def redacted_archive(
    text: str, name: str, study_id: str, judges: Mapping[str, str], solvers: Mapping[str, str]
) -> str:
    """Give an archive in which people have other names and nobody's words are."""
    rows = read_archive(text, name, study_id)
    study = {**rows["study"][0], "secret": secrets.token_hex(32)}
    salts = {row["key"]: new_salt() for row in rows["judge"]}
    of_judges = [_judge(row, judges, salts[row["key"]], solvers) for row in rows["judge"]]
    digests = {row["key"]: row["id_digest"] for row in of_judges}
    ballots = [_ballot(row, solvers) for row in rows["ballot"] if not row["practice"]]
    by_key = {row["key"]: row for row in ballots}
    layouts, new_ids = [], {}
    for row in rows["layout"]:
        if ballot := by_key.get(row["ballot_key"]):
            items = [
                Item(letter, solvers[solver], digest, origin)
                for letter, solver, digest, origin in row["items"]
            ]
            identity = layout_id(study["secret"], ballot["public_id"], items)
            new_ids[row["ballot_key"], row["id"]] = identity
            layouts.append({**row, "id": identity, "items": list(map(list, items))})
    for row in ballots:
        row["layout"] = new_ids.get((row["key"], row["layout"]))
    revisions: list[Row] = []
    links: dict[int, str] = {}
    for row in rows["revision"]:
        if ballot := by_key.get(row["ballot_key"]):
            new = _revision(row, solvers, new_ids[row["ballot_key"], row["layout"]])
            before = links.get(row["ballot_key"], "")
            new["link"] = revision_link(before, new, ballot, digests[ballot["judge_key"]])
            links[row["ballot_key"]] = new["link"]
            revisions.append(new)
    organizers = [
        {**row, "id": f"organizer-{n}", "name": "", "session_hash": None}
        for n, row in enumerate(rows["organizer"], 1)
    ]
    people = {**judges, **solvers}
    people |= {old["id"]: new["id"] for old, new in zip(rows["organizer"], organizers, strict=True)}
    events: list[Row] = []
    link = ""
    for row in rows["event"]:
        if row["what"] not in _LEFT_OUT:
            new = {**row, "detail": _detail(row["detail"], people)}
            link = new["link"] = event_link(link, new, digests.get(row["judge_key"]))
            events.append(new)
    return _written(
        text.partition("\n")[0],
        {
            "study": [study],
            "organizer": organizers,
            "judge": of_judges,
            "forgotten": [],
            "ballot": ballots,
            "layout": layouts,
            "revision": revisions,
            "event": events,
        },
    )


def _judge(row: Row, judges: Mapping[str, str], salt: str, solvers: Mapping[str, str]) -> Row:
    closing = {**row["closing"], "written": {}} if row["closing"] else {}
    return {
        **row,
        "id": judges[row["id"]],
        "id_salt": salt,
        "id_digest": judge_digest(salt, judges[row["id"]]),
        "name": "",
        "session_hash": None,
        "closing": _renamed(closing, solvers, keep=True),
        "forgotten_at": None,
    }


def _ballot(row: Row, solvers: Mapping[str, str]) -> Row:
    return {
        **row,
        "solvers": row["solvers"] and [solvers[solver] for solver in row["solvers"]],
        "views": {solvers[solver]: seconds for solver, seconds in row["views"].items()},
        "sealed": 0,
    }


def _revision(row: Row, solvers: Mapping[str, str], layout: str) -> Row:
    state = State.stored(without_words(row["state"])).renamed(solvers).to_json()
    salt = new_salt()
    return {
        **row,
        "layout": layout,
        "state": state,
        "words_salt": salt,
        "words_digest": words_digest(salt, state),
        # Of a browser, which says who used it.
        "client": "redacted",
    }


def _detail(detail: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Give what an event says with other names, without what somebody wrote."""
    return {key: _renamed(value, names, keep=key in _OWN_TEXTS) for key, value in detail.items()}


def _renamed(value: Any, names: Mapping[str, str], *, keep: bool) -> Any:  # noqa: ANN401  JSON
    """Replace texts and keys that are names; other texts go unless they are kept."""
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(one, names, keep=keep) for key, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, names, keep=keep) for one in value]
    if not isinstance(value, str):
        return value
    return names.get(value, value if keep else "")


def _written(header: str, rows: Mapping[str, list[Row]]) -> str:
    """Write rows as an archive."""
    counts = {name: len(rows[name]) for name in TABLES}
    first = {**json.loads(header), "rows": counts}
    lines = [first]
    for name in TABLES:
        for row in rows[name]:
            kept = {key: plain(value) for key, value in row.items() if key not in UNKEPT[name]}
            lines.append({"table": name, **kept})
    return "".join(f"{json.dumps(line, ensure_ascii=False, allow_nan=False)}\n" for line in lines)
