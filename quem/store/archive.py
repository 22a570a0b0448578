"""All that a store holds of a study, as JSON Lines, and back into an empty store."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from quem import __version__
from quem.errors import Mistake, QuemError
from quem.store.archive_rows import FORMAT, TABLES, UNKEPT
from quem.store.models import (
    BallotRow,
    ErasedJudgeRow,
    EventRow,
    JudgeRow,
    Layout,
    Organizer,
    RevisionRow,
    StudyRow,
    now,
)
from quem.store.state import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Select

    from quem.store.archive_rows import Row

__all__ = ["archive_text", "restore_archive"]


def archive_text(c: Connection, study_id: str) -> str:
    """Write everything that the store holds of a study.

    The first line is a header; each other line is a row of a table, in an order that depends
    on neither database nor place. Judges and ballots are numbered from 1, since their keys
    mean something in one database only.

    Parameters
    ----------
    c : Connection
        That sees one state of the database.
    study_id : str
        Of a study that the store holds.
    """
    rows = list(_rows(c, study_id))
    names = [name for name, _ in rows]
    header = {
        "format": FORMAT,
        "states": VERSION,
        "quem": __version__,
        "study": study_id,
        "exported_at": now().isoformat(),
        "rows": {name: names.count(name) for name in TABLES},
    }
    lines = [header, *({"table": name, **row} for name, row in rows)]
    texts = [json.dumps(line, ensure_ascii=False, allow_nan=False) for line in lines]
    return "\n".join(texts) + "\n"


def _rows(c: Connection, study_id: str) -> Iterator[tuple[str, Row]]:
    """Give each row with the name of its table."""
    numbers: dict[str, dict[int, int]] = {"judge": {}, "ballot": {}}
    for name, query in _queries(study_id).items():
        rows = [dict(row) for row in c.execute(query).mappings()]
        if name == "forgotten":
            # How a database sorts text depends on its locale.
            rows.sort(key=lambda row: tuple(map(str, row.values())))
        for number, row in enumerate(rows, 1):
            if name in numbers:
                numbers[name][row["key"]] = number
                row["key"] = number
            for other, known in numbers.items():
                if row.get(f"{other}_key") is not None:
                    row[f"{other}_key"] = known[row[f"{other}_key"]]
            yield name, {key: _plain(v) for key, v in row.items() if key not in UNKEPT[name]}


def _queries(study_id: str) -> dict[str, Select[Any]]:
    judges = select(JudgeRow.key).where(JudgeRow.study_id == study_id)
    ballots = select(BallotRow.key).where(BallotRow.judge_key.in_(judges))
    of_ballots = select(RevisionRow.__table__).where(RevisionRow.ballot_key.in_(ballots))
    queries: dict[str, Select[Any]] = {
        "study": select(StudyRow.__table__).where(StudyRow.id == study_id),
        "organizer": select(Organizer.__table__)
        .where(Organizer.study_id == study_id)
        .order_by(Organizer.key),
        "judge": select(JudgeRow.__table__)
        .where(JudgeRow.study_id == study_id)
        .order_by(JudgeRow.key),
        "forgotten": select(ErasedJudgeRow.__table__).where(ErasedJudgeRow.study_id == study_id),
        "ballot": select(BallotRow.__table__)
        .where(BallotRow.judge_key.in_(judges))
        .order_by(BallotRow.key),
        "layout": select(Layout.__table__)
        .where(Layout.ballot_key.in_(ballots))
        .order_by(Layout.ballot_key, Layout.key),
        "revision": of_ballots.order_by(RevisionRow.ballot_key, RevisionRow.number),
        "event": select(EventRow.__table__)
        .where(EventRow.study_id == study_id)
        .order_by(EventRow.key),
    }
    return queries


def _plain(value: Any) -> Any:  # noqa: ANN401  what a column holds
    return value.isoformat() if isinstance(value, dt.datetime) else value


def restore_archive(
    c: Connection, study_id: str, rows: dict[str, list[Row]], name: str
) -> dict[str, int]:
    """Put what an archive holds into a store that does not hold the study yet.

    Parameters
    ----------
    c : Connection
        Of a writing transaction, which is to be undone where this raises an error.
    rows : dict of str to list of dict
        Of each table, from `read_archive`.
    name : str
        The archive as the user named it, for messages.

    Returns
    -------
    dict of str to int
        The number of rows by table.

    Raises
    ------
    QuemError
        The store holds the study, or another study with the same links or ballots.
    """
    if c.execute(select(StudyRow.id).where(StudyRow.id == study_id)).first():
        message = (
            f"the store holds the study {study_id!r} already; an archive goes into an empty "
            "store: name one with --database"
        )
        raise QuemError([message])
    try:
        _insert(c, study_id, rows)
    except IntegrityError:
        message = "a link or ballot of it is in this store already, of another study"
        raise QuemError([Mistake(name, message=message)]) from None
    return {table: len(rows[table]) for table in TABLES}


def _insert(c: Connection, study_id: str, rows: dict[str, list[Row]]) -> None:
    c.execute(insert(StudyRow), rows["study"])
    keys: dict[str, dict[int, int]] = {"judge": {}, "ballot": {}}
    for table, model in TABLES.items():
        made = [dict(row) for row in rows[table]]
        for row in made:
            if "study_id" in model.__table__.columns:
                row["study_id"] = study_id
            for other, known in keys.items():
                if row.get(f"{other}_key") is not None:
                    row[f"{other}_key"] = known[row[f"{other}_key"]]
        if table in keys:
            for row in made:
                number = row.pop("key")
                done = c.execute(insert(model).values(row)).inserted_primary_key
                keys[table][number] = done[0] if done else 0
        elif table != "study" and made:
            c.execute(insert(model), made)
