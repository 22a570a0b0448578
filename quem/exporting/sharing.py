"""A copy of a judging session for sharing: with pseudonyms, without free text."""

from __future__ import annotations

import secrets
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any

from quem.errors import QuemError
from quem.rankings.pseudonyms import pseudonymize, pseudonyms_of
from quem.store.archive import Row, read_archive, write_archive
from quem.store.state import State, without_words
from quem.studyfile.document import yaml_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.rankings.loading import Study

# What the result depends on; the rest identifies people or describes files.
_KEPT = (
    *("id", "title", "experience_unit", "verb", "problems", "judges", "subjects", "systems"),
    *("assisted", "withheld", "missing", "panel", "analysis"),
)
_OF_PEOPLE = {"id", "experience", "by", "person"}


def shared_copy(study: Study, archive: str) -> tuple[str, str]:
    """Study file and archive with pseudonyms, for ``quem import`` and ``quem analyze``."""
    if study.spec.machines:
        raise QuemError(
            study.mistake(("machines",), "transcripts quote solutions; share it with names")
        )
    # A seeded draw would let an attacker test names.
    drawn = pseudonyms_of([study], secrets.token_bytes(32))
    (renamed,) = pseudonymize([study], drawn)
    spec = renamed.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    content = {key: spec[key] for key in _KEPT if key in spec}
    for section in ("judges", "subjects", "assisted"):
        content[section] = [
            {key: value for key, value in one.items() if key in _OF_PEOPLE}
            for one in content.get(section, ())
        ]
    for problem in content["problems"]:
        problem.pop("statement", None)
    if questions := spec.get("judging", {}).get("questions"):
        content["judging"] = {"questions": questions}
    rows = read_archive(archive, study.name, study.spec.id)
    names = _names(study, drawn.of, rows)
    return f"# A copy with pseudonyms.\n{yaml_of(content)}", write_archive(
        archive, _renamed(rows, names)
    )


def _names(study: Study, drawn: dict[str, str], rows: Mapping[str, list[Row]]) -> dict[str, str]:
    """New names, also of judges without rankings and of removed solvers."""
    names = {one: one for one in study.declared.solvers} | drawn
    solvers = {solver for row in rows["layout"] for _, solver, *_ in row["items"]}
    solvers |= {solver for row in rows["task"] for solver in row["solvers"] or ()}
    for letter, ids in (
        ("J", {row["id"] for row in rows["person"] if row["role"] == "judge"}),
        ("X", solvers),
    ):
        taken = {*names.values()}
        free = (name for n in count(1) if (name := f"{letter}{n}") not in taken)
        names |= dict(zip(sorted(ids - names.keys()), free, strict=False))
    return names


def _renamed(rows: Mapping[str, list[Row]], of: Mapping[str, str]) -> dict[str, list[Row]]:
    """The renamed rows without practice, activity log, links, and free text."""
    judges = [row for row in rows["person"] if row["role"] == "judge"]
    of_judges = {row["key"] for row in judges}
    ballots = [
        row for row in rows["task"] if row["person_key"] in of_judges and not row["practice"]
    ]
    kept = {row["key"] for row in ballots}
    layouts = [row for row in rows["layout"] if row["task_key"] in kept]
    # Their ids are hashes with the secret of the study.
    new_ids = {(row["task_key"], row["id"]): secrets.token_urlsafe(16) for row in layouts}
    # A solution can identify its author, and so can its digest.
    tokens: defaultdict[str, str] = defaultdict(lambda: secrets.token_hex(32))
    return {
        "study": [{**rows["study"][0], "secret": secrets.token_hex(32)}],
        "person": [_judge(row, of) for row in judges],
        "task": [_ballot(row, of, new_ids) for row in ballots],
        "layout": [
            {
                **row,
                "id": new_ids[row["task_key"], row["id"]],
                "items": [
                    [letter, of[solver], tokens[digest], tokens[origin]]
                    for letter, solver, digest, origin in row["items"]
                ],
            }
            for row in layouts
        ],
        "revision": [
            {
                **row,
                "layout": new_ids[row["task_key"], row["layout"]],
                "state": State.stored(without_words(row["state"])).renamed(of).to_json(),
                "client": "shared",
            }
            for row in rows["revision"]
            if row["task_key"] in kept
        ],
    }


def _judge(row: Row, of: Mapping[str, str]) -> Row:
    unsaid: dict[str, Any] = {"name": "", "link_hash": None, "former": None, "answers": {}}
    return {**row, **unsaid, "id": of[row["id"]]}


def _ballot(row: Row, of: Mapping[str, str], layouts: Mapping[tuple[int, str], str]) -> Row:
    return {
        **row,
        "solvers": row["solvers"] and [of[solver] for solver in row["solvers"]],
        "views": {of[solver]: seconds for solver, seconds in row["views"].items()},
        "layout": layouts.get((row["key"], row["layout"])),
    }
