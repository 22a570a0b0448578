"""What the server acknowledged last, written down outside the database.

A database that was replaced by an older copy, or lost its newest revisions, cannot show that
itself.
"""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, func, select

from quem.store.models import BallotRow, EventRow, JudgeRow, RevisionRow

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from quem.store.engine import Store

_log = logging.getLogger(__name__)
_NEWEST, _MISSING = "newest", "missing"


class Acknowledged:
    """The record of one study's newest revision, in a file beside the database or study file.

    Notes
    -----
    It is compared with the database when this is made. What is missing then stays noted in the
    file until it is back at a later start, or somebody deletes the file.
    """

    def __init__(self, store: Store, study_id: str, study: Path) -> None:
        self._store, self._study_id = store, study_id
        database = store.place.file or study
        self.file = database.with_name(f"{database.name}.acknowledged").absolute()
        self._written: int | None = None
        self._gone: dict[str, Any] | None = None
        self._held: dict[str, Any] | None = None
        record = self._read().get(study_id, {})
        if record.get("database") != store.place.name:
            return
        with store.read() as c:
            gone = [
                one for one in map(record.get, (_MISSING, _NEWEST)) if one and self._lacks(c, one)
            ]
            self._gone = max(gone, key=lambda one: one["made_at"], default=None)
            self._held = self._newest(c)

    @property
    def missing(self) -> str:
        """What the database lacks, with what to do, as sentences; empty where it lacks nothing."""
        if self._gone is None:
            return ""
        note = f"the newest one is of {self._held['made_at']}" if self._held else "there is none"
        fewer = self._gone["revisions"] - (self._held["revisions"] if self._held else 0)
        if fewer > 0:
            note += f", and there are {fewer} fewer"
        return (
            f"Rankings are missing: this server acknowledged a revision of "
            f"{self._gone['made_at']}, but in {self._store.place.name} {note}. Stop the server and "
            f"put the right database back; if an older one is meant to be here, delete {self.file}."
        )

    def write(self) -> None:
        """Write down the newest revision, if something was written since the last time."""
        if self._gone and self._written is not None and not self.file.exists():
            self._gone = None  # somebody has decided
        elif self._written == self._store.writes:
            return
        writes = self._store.writes
        with self._store.read() as c:
            newest = self._newest(c)
        records = self._read()
        records[self._study_id] = {
            "database": self._store.place.name,
            _NEWEST: newest,
            **({_MISSING: self._gone} if self._gone else {}),
        }
        # Whole or not at all; it need not be on the disk at once, as it is only a second witness.
        partial = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        partial.write_text(json.dumps(records, indent=1) + "\n")
        partial.replace(self.file)
        self._written = writes

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self.file.read_text())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            _log.warning("%s cannot be read: %s", self.file, error)
            return {}
        return content if isinstance(content, dict) else {}

    def _of_study(self, *columns: Any) -> Select[Any]:  # noqa: ANN401  what select takes
        return (
            select(*columns)
            .select_from(RevisionRow)
            .join(BallotRow, BallotRow.key == RevisionRow.ballot_key)
            .join(JudgeRow, JudgeRow.key == BallotRow.judge_key)
            .where(JudgeRow.study_id == self._study_id)
        )

    def _newest(self, c: Connection) -> dict[str, Any] | None:
        columns = BallotRow.public_id, RevisionRow.number, RevisionRow.made_at
        row = c.execute(self._of_study(*columns).order_by(RevisionRow.key.desc()).limit(1)).first()
        if row is None:
            return None
        return {
            "revisions": c.execute(self._of_study(func.count())).scalar_one(),
            "ballot": row.public_id,
            "number": row.number,
            "made_at": row.made_at.isoformat(),
        }

    def _lacks(self, c: Connection, record: dict[str, Any]) -> bool:
        """Whether a revision is gone, though nobody has discarded what was ranked on trial."""
        same = BallotRow.public_id == record["ballot"], RevisionRow.number == record["number"]
        at = c.execute(self._of_study(RevisionRow.made_at).where(*same)).scalar_one_or_none()
        if at and at.isoformat() == record["made_at"]:
            return False
        discarded = select(func.max(EventRow.made_at)).where(
            EventRow.study_id == self._study_id, EventRow.what == "trial-discarded"
        )
        last = c.execute(discarded).scalar_one_or_none()
        return last is None or last.isoformat() < record["made_at"]
