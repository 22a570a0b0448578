"""A sealed study without the names of people, which still shows that it is the sealed one.

Judges and people get other names, and what somebody wrote is left out. Solutions and statements
can name people too: their digests stand for them. The record has a token where a name was, which
is what the hash of the seal was made of.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import yaml

from quem.errors import FileError
from quem.sealing.log import log_file, read_log, record_file
from quem.sealing.record import (
    canonical,
    contents,
    hidden,
    ids_in,
    parsed,
    renamed,
    token,
)
from quem.sealing.seal import table_of
from quem.store.redaction import redacted_archive
from quem.study.editing import plain_value
from quem.study.kept_digests import digests_file
from quem.study.reading import draft_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from quem.rankings import Decisions, PrintedAverages, Rankings
    from quem.study.reading import StudyFile

_RANKINGS = "rankings.csv"
# Who asks, whom, and how: nothing of the result depends on it.
_PERSONAL = (
    *("organizer", "organizers", "invitation", "deadline", "minutes"),
    "solving",
)
_NAMES = {"subjects": "person", "assisted": "assisted", "withheld": "withheld"}


@dataclass(frozen=True)
class RedactedStudy:
    """A study without names."""

    files: dict[str, bytes]  # its files, by name
    store: str  # what its store holds, as an archive; empty where it has none
    names: dict[str, str]  # the new name of each of the people


def redacted(
    draft: StudyFile,
    data: Rankings | PrintedAverages | Decisions,
    store: str,
    prose: Callable[[str, Mapping[str, str]], str],
) -> RedactedStudy:
    """Give a sealed study without names."""
    spec = draft.spec
    if spec is None or spec.machines:
        raise FileError(
            draft.path, "has machine judges, whose transcripts quote solutions; write it with names"
        )
    now = contents(draft)
    records = _records(draft)
    of_store = _named_in(store)
    judges = {one for record in records for one in record["contents"]["judges"]}
    judges |= {*now["judges"], *getattr(data, "judges", ()), *of_store["judge"]}
    ordered = [*now["judges"], *sorted(judges - {*now["judges"]})]
    people = {
        **_numbered(ordered, "judge", now),
        **_solvers(records, now, of_store["solver"], has_panel=bool(spec.panel)),
    }

    def new(name: str) -> str:
        return people.get(name, name)

    files = {
        draft.path.name: _study(draft, data, new, lambda text: prose(text, people), store),
        digests_file(draft.path).name: canonical(_digests(now, new)),
    }
    if not store:
        files[_RANKINGS] = _table(data, new).encode()
    if spec.panel:
        files[spec.panel.file] = draft.beside(spec.panel.file)[0].read_bytes()
    with TemporaryDirectory() as place:
        copy = Path(place) / draft.path.name
        for name, content in files.items():
            (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / name).write_bytes(content)
        plan = contents(draft_study(copy))["plan"]
    for number, record in enumerate(records, 1):
        made = _record(record, now, plan, people)
        files[record_file(draft.path, number).name] = canonical(made)
    files[log_file(draft.path).name] = log_file(draft.path).read_bytes()
    if store:
        solvers = {one: new(one) for one in (*now["solvers"], *of_store["solver"])}
        store = redacted_archive(
            store, draft.name, spec.id, {one: new(one) for one in judges}, solvers
        )
    return RedactedStudy(files, store, people)


def _records(draft: StudyFile) -> list[dict[str, Any]]:
    count = sum(line.what == "sealed" for line in read_log(draft.path)[0])
    paths = [record_file(draft.path, number) for number in range(1, count + 1)]
    records = [parsed(path.read_bytes(), path) for path in paths if path.is_file()]
    if not records or len(records) < count or not all("secret" in record for record in records):
        raise FileError(
            draft.path,
            "has no record of its seal, or one without names; write it from the sealed study",
        )
    return records


def _named_in(store: str) -> dict[str, list[str]]:
    """Name the judges and solvers of a store, also those that were taken out of the study."""
    rows = [json.loads(line) for line in store.splitlines()[1:]]
    solvers = [one for row in rows if row["table"] == "ballot" for one in row["solvers"] or ()]
    items = [item for row in rows if row["table"] == "layout" for item in row["items"]]
    return {
        "judge": [row["id"] for row in rows if row["table"] == "judge"],
        "solver": [*dict.fromkeys([*solvers, *(solver for _, solver, *_ in items)])],
    }


def _numbered(names: Iterable[str], noun: str, now: Mapping[str, Any]) -> dict[str, str]:
    """Number people in their order, so that what is made of them keeps its order."""
    taken = {*now["solvers"], *now["problems"]} - {*names}
    prefix = noun
    while any(one.startswith(f"{prefix}-") for one in taken):
        prefix = f"a {prefix}"
    return {name: f"{prefix}-{n}" for n, name in enumerate(names, 1)}


def _solvers(
    records: list[dict[str, Any]],
    now: Mapping[str, Any],
    of_store: Iterable[str],
    *,
    has_panel: bool,
) -> dict[str, str]:
    known = {one for parts in (now, *(r["contents"] for r in records)) for one in parts["solvers"]}
    # Who came after the seal and went again may have been anybody.
    every = {one: "subjects" for one in of_store if one not in known}
    for parts in (now, *(record["contents"] for record in records)):
        for name in ids_in(parts) & {*parts["solvers"]}:
            every.setdefault(name, parts["solvers"][name]["is"])
    order = [*now["solvers"], *sorted(every.keys() - {*now["solvers"]})]
    people: dict[str, str] = {}
    for section, noun in _NAMES.items():
        names = [one for one in order if every.get(one) == section]
        # The people of a panel have random ids.
        if not (has_panel and section == "subjects"):
            people |= _numbered(names, noun, now)
    return people


def _digests(now: Mapping[str, Any], new: Callable[[str], str]) -> dict[str, Any]:
    statements = {
        name: one["statement"]
        for name, one in now["problems"].items()
        if isinstance(one["statement"], list)
    }
    return {
        "solutions": renamed(dict(now), new)["solutions"],
        "statements": statements,
        "texts": now["texts"],
        "draw": now["draw"],
        "plan": now["plan"].get("quem plan", ""),
    }


def _table(data: Rankings | PrintedAverages | Decisions, new: Callable[[str], str]) -> str:
    """Write a table of rankings with the new names."""
    import csv
    from io import StringIO

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header, *rows = csv.reader(table_of(data).splitlines())
    writer.writerow(header)
    at = [i for i, name in enumerate(header) if name in ("judge", "solver", "winner", "loser")]
    for row in rows:
        writer.writerow([new(cell) if i in at else cell for i, cell in enumerate(row)])
    return out.getvalue()


def _study(
    draft: StudyFile,
    data: Rankings | PrintedAverages | Decisions,
    new: Callable[[str], str],
    prose: Callable[[str], str],
    store: str,
) -> bytes:
    """Write the study file without names."""
    content = {
        key: value
        for key, value in deepcopy(plain_value(draft.document.content)).items()
        if key not in _PERSONAL
    }
    for key in ("title", "description"):
        if content.get(key):
            content[key] = prose(str(content[key]))
    kept = {
        "judges": ("id", "experience"),
        "subjects": ("id", "experience", "seconds", "reuse"),
        "assisted": ("id", "by", "person"),
    }
    for section, keys in kept.items():
        content[section] = [
            {
                key: new(value) if key in ("id", "person") else value
                for key, value in one.items()
                if key in keys
            }
            for one in content.get(section) or []
        ]
    for section in ("missing", "corrections"):
        content[section] = [
            {**one, "solver": new(one["solver"])} for one in content.get(section) or []
        ]
        for one in content[section] if section == "corrections" else ():
            one["reason"] = "redacted"
    withheld = content.get("withheld") or []
    content["withheld"] = [
        new(one) for one in ([withheld] if isinstance(withheld, str) else withheld)
    ]
    if isinstance(content.get("judging"), dict):
        for key in ("identity_words", "reviewed"):
            content["judging"].pop(key, None)
    if not store:
        source = {"Rankings": "long", "Decisions": "decisions"}.get(type(data).__name__, "averages")
        content["rankings"] = {"from": source, "file": _RANKINGS}
    text = yaml.safe_dump(
        {key: value for key, value in content.items() if value not in ([], None, "")},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=inf,
    )
    return f"# A copy without names; what is missing has its digest.\n{text}".encode()


def _record(
    record: Mapping[str, Any],
    now: dict[str, dict[str, Any]],
    plan: Mapping[str, Any],
    people: Mapping[str, str],
) -> dict[str, Any]:
    """Write a record without names, and with the tokens that its hash was made of."""
    secret = record["secret"]
    tokens = {to: token(secret, name) for name, to in people.items()}
    parts = renamed(record["contents"], lambda name: people.get(name, name))
    current, shown = dict(hidden(now["plan"])), dict(hidden(plan))
    for path, value in hidden(record["contents"]["plan"]):
        of = token(secret, _text(path, value))
        is_now = _text(path, value) == _text(path, current[path])
        to = shown[path] if is_now else f"redacted {of[:12]}"
        place: Any = parts["plan"]
        for key in path[:-1]:
            place[key] = dict(place[key])
            place = place[key]
        place[path[-1]] = to
        tokens[_text(path, to)] = of
        tokens[_text(path, shown[path])] = token(secret, _text(path, current[path]))
    reason = "redacted" if record["reason"] else ""
    tokens |= {f"reason {reason}": token(secret, f"reason {record['reason']}")} if reason else {}
    kept = {key: record[key] for key in ("format", "study", "sealed_at", "quem", "previous")}
    return {**kept, "reason": reason, "tokens": tokens, "contents": parts}


def _text(path: tuple[str, ...], value: Any) -> str:  # noqa: ANN401  JSON holds anything
    return f"{'.'.join(path)} {json.dumps(value, ensure_ascii=False, sort_keys=True)}"
