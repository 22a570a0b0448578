"""Sealing a study, and comparing a sealed study with its seal."""

from __future__ import annotations

import csv
import datetime as dt
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.errors import FileError, QuemError
from quem.rankings import Decisions, PrintedAverages, Rankings, Session, read_rankings
from quem.rankings.stored import session_of_study
from quem.sealing.deviations import Deviation, Seal
from quem.sealing.log import Line, append, log_file, read_log, record_file
from quem.sealing.record import (
    canonical,
    contents,
    flat,
    hash_of,
    hash_of_record,
    ids_in,
    is_same,
    parsed,
    record_of,
    token_of,
    tokenized,
)
from quem.store.location import locate_database
from quem.study.kept_digests import kept_digests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from quem.store.engine import Store
    from quem.study.reading import StudyFile

EVENT = "study-sealed"
_NOUNS = {
    "settings": "setting",
    "plan": "plan",
    "problems": "problem",
    "solvers": "solver",
    "judges": "judge",
    "solutions": "solution",
    "texts": "text",
    "draw": "draw",
}


def _now() -> str:
    return f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def seal_study(draft: StudyFile, database: str | None = None, again: str = "") -> tuple[Path, str]:
    """Seal a study: write its record beside it, and the hash into the log and the store."""
    if draft.mistakes or draft.spec is None:
        raise QuemError(draft.mistakes)
    if draft.spec.awaits_subjects:
        raise FileError(draft.path, "its subjects are still to come; seal it after the solving")
    lines, trouble = read_log(draft.path)
    if trouble:
        raise FileError(log_file(draft.path), f"{trouble}; restore the log as it was")
    sealed = [line for line in lines if line.what == "sealed"]
    if sealed and not again:
        raise FileError(
            draft.path,
            f"was sealed on {sealed[0].at[:10]} already; --again REASON records a deviation",
        )
    if again and not sealed:
        raise FileError(draft.path, "is not sealed yet; leave out --again")
    store = _store_to_seal(draft, draft.spec.id, database)
    try:
        if not sealed:
            _refuse_ranked(draft, store)
        path = record_file(draft.path, len(sealed) + 1)
        if path.exists():
            raise FileError(path, "is there already, and the log does not name it; move it away")
        previous = sealed[-1].detail["hash"] if sealed else ""
        secret = _first_record(draft.path)["secret"] if sealed else ""
        made = record_of(draft, _now(), again, previous, secret)
        digest = hash_of_record(made)
        _write(path, canonical(made))
        append(draft.path, Line("sealed", _now(), {"hash": digest}))
        if store is not None:
            from quem.store.events import record

            with store.write() as c:
                record(c, draft.spec.id, "shell", EVENT, hash=digest, reason=again)
    finally:
        if store is not None:
            store.close()
    return path, digest


def _first_record(study: Path) -> dict[str, Any]:
    """Read the first record of a study."""
    path = record_file(study, 1)
    try:
        record = parsed(path.read_bytes(), path)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    if "secret" not in record:
        raise FileError(path, "is a record without names; seal the study where its names are")
    return record


def _store_to_seal(draft: StudyFile, study_id: str, database: str | None) -> Store | None:
    """Open the store of a study; a session that is still to be held gets its store now."""
    place = locate_database(draft.path, database)
    if ranking_files(draft):
        return session_of_study(Session(place), study_id)
    from quem.store.engine import clear_refusals, open_store
    from quem.store.studies import register_study

    store = open_store(place)
    with clear_refusals(place), store.write() as c:
        register_study(c, study_id)
    return store


def _write(path: Path, raw: bytes) -> None:
    from quem.report.files import write_files

    write_files(path.parent, {path.name: raw})


def _refuse_ranked(draft: StudyFile, store: Store | None) -> None:
    if store is not None and draft.spec is not None:
        from sqlalchemy import func, select

        from quem.store.models import BallotRow, JudgeRow, RevisionRow

        count = (
            select(func.count())
            .select_from(RevisionRow)
            .join(BallotRow, BallotRow.key == RevisionRow.ballot_key)
            .join(JudgeRow, JudgeRow.key == BallotRow.judge_key)
            .where(JudgeRow.study_id == draft.spec.id)
        )
        with store.read() as c:
            if c.execute(count).scalar_one():
                raise FileError(
                    draft.path,
                    (
                        f"judges have started to rank in {store.place.name}; a study is sealed "
                        "before "
                        "the first ranking (trial rankings: discard them first)"
                    ),
                )
    for path in ranking_files(draft):
        if path.exists() and path.stat().st_size:
            raise FileError(
                path, "holds rankings already; a study is sealed before the first ranking"
            )


def ranking_files(draft: StudyFile) -> list[Path]:
    """Say which files the rankings are in; none for a study that is judged in a session."""
    source = draft.source.file if draft.source else ""
    names = [source] if isinstance(source, str) else [entry.file for entry in source]
    return [draft.beside(name)[0] for name in names if name]


def note_analysis(draft: StudyFile) -> bool:
    """Note in the log that rankings were analyzed, the first time: they are revealed.

    Nothing is noted of a study that is not sealed, or whose log or record was tampered with.
    """
    lines, trouble = read_log(draft.path)
    if trouble or not lines or any(line.what == "analyzed" for line in lines):
        return False
    try:
        first = _first_record(draft.path)
    except FileError:
        # The comparison with the seal names it.
        return False
    now = contents(draft)
    detail = {
        "contents": tokenized(now, first),
        # Keyed: of a table whose ranks are known, names could be tried out.
        "rankings": {
            token_of(first, name): token_of(first, digest)
            for name, digest in _digests(draft).items()
        },
        "ranks": digest_of_ranks(draft, first, ids_in(now)),
    }
    append(draft.path, Line("analyzed", _now(), detail))
    return True


def _digests(draft: StudyFile) -> dict[str, str]:
    return {
        path.relative_to(draft.path.parent).as_posix(): hash_of(path.read_bytes())
        for path in ranking_files(draft)
        if path.is_file()
    }


def digest_of_ranks(draft: StudyFile, record: Mapping[str, Any], people: set[str]) -> str:
    """Give a digest of the rankings of a table, with tokens for people; nothing of a session."""
    if not ranking_files(draft) or draft.source is None:
        return ""
    data, mistakes = read_rankings(draft, draft.source, Session(locate_database(draft.path)))
    if mistakes or data is None:
        raise QuemError(mistakes)
    rows = table_of(data).splitlines()
    tokens = {one: token_of(record, one) for one in people}
    cells = [[tokens.get(cell, cell) for cell in row] for row in csv.reader(rows)]
    return hash_of(canonical([cells[0], *sorted(cells[1:])]))


def table_of(data: Rankings | PrintedAverages | Decisions) -> str:
    """Write rankings as the table that a study can name."""
    import numpy as np

    if isinstance(data, PrintedAverages):
        rows = zip(data.solvers, data.average.tolist(), strict=True)
        known = [f"{solver},{average!r}" for solver, average in rows if np.isfinite(average)]
        return "\n".join(["solver,average_rank", *known, ""])
    return str(data.to_frame().to_csv(index=False, lineterminator="\n"))


def compare_with_seal(
    draft: StudyFile,
    database: str | None,
    ranked: Mapping[str, Iterable[str]],
    expected: str = "",
) -> Seal | None:
    """Compare a study with its seal."""
    lines, trouble = read_log(draft.path)
    path = record_file(draft.path, 1)
    # Of a study that is not sealed, which may be large, nothing is recomputed.
    stored = _Stored.of(draft, database, needed=bool(lines or trouble or path.exists()))
    if not (lines or trouble or stored.hashes or path.exists()):
        if expected:
            raise FileError(draft.path, "is not sealed, and --seal names a hash")
        return None
    comparison = _Comparison(draft, lines, stored, trouble)
    found = [*comparison.of_seal(expected), *comparison.of_contents()]
    found += comparison.of_rankings(ranked)
    return Seal(
        comparison.first.get("sealed_at", ""),
        comparison.hash,
        dict(comparison.first.get("contents", {}).get("settings", {})),
        comparison.revealed_at,
        tuple(dict.fromkeys(found)),
        "tokens" in comparison.first,
    )


@dataclass(frozen=True)
class _Stored:
    """What the store says of a sealed study."""

    is_there: bool = False
    hashes: tuple[str, ...] = ()
    revealed_at: str = ""
    draw: dict[str, Any] | None = None
    judges: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()

    @classmethod
    def of(cls, draft: StudyFile, database: str | None, *, needed: bool) -> _Stored:
        """Read the store; where it is not needed, only if it says that the study was sealed."""
        study_id = draft.spec.id if draft.spec else ""
        store = session_of_study(Session(locate_database(draft.path, database)), study_id)
        if store is None:
            return cls()
        from quem.store.audit_log import last_key
        from quem.store.drawing import recorded_draw
        from quem.store.verification import held_in, verify

        try:
            with store.read() as c:
                if not (needed or last_key(c, study_id, EVENT)):
                    return cls()
                held = held_in(c, study_id)
                breaks = tuple(one.message for one in verify(held).breaks)
                draw = recorded_draw(c, study_id)
        finally:
            store.close()
        # A reopened trial starts anew: what was seen of it was discarded.
        events = list(held.events)
        last = max((n for n, e in enumerate(events) if e["what"] == "trial-discarded"), default=-1)
        shown = [e["made_at"] for e in events[last + 1 :] if e["what"] in ("closed", "revealed")]
        return cls(
            is_there=True,
            hashes=tuple(str(e["detail"].get("hash")) for e in events if e["what"] == EVENT),
            revealed_at=f"{min(shown):%Y-%m-%dT%H:%M:%S.%fZ}" if shown else "",
            draw={"digest": draw.digest, "problems": list(draw.problems)} if draw else None,
            judges=tuple(row["id"] for row in held.judges),
            breaks=breaks,
        )


class _Comparison:
    """Compares a study with its records, its log, and its store."""

    def __init__(
        self, draft: StudyFile, lines: list[Line], stored: _Stored, log_trouble: str
    ) -> None:
        self._draft, self._stored, self._log_trouble = draft, stored, log_trouble
        self._analyzed = next((line for line in lines if line.what == "analyzed"), None)
        self._logged = [line for line in lines if line.what == "sealed"]
        times = [stored.revealed_at, self._analyzed.at if self._analyzed else ""]
        self.revealed_at = min(filter(None, times), default="")
        self.hash = self._logged[0].detail.get("hash", "") if self._logged else ""
        self._records: list[tuple[dict[str, Any], str]] = []
        self._trouble: list[str] = []
        count = max(len(self._logged), len(stored.hashes), 1)
        for number in range(1, count + 1):
            self._read(number)
        extra = record_file(draft.path, count + 1)
        if extra.exists():
            self._trouble.append(f"{extra.name} is there, and no log names it")
        self.first = self._records[0][0] if self._records else {}
        self._now = contents(draft)
        # How the log names things: with tokens for people.
        self._logged_as: dict[tuple[str, str], tuple[tuple[str, str], str | None]] = {}
        if self.first:
            parts = self.first["contents"]
            sealed = zip(flat(parts), flat(tokenized(parts, self.first)), strict=True)
            self._logged_as = {key: (logged, None) for key, logged in sealed}
            now = zip(flat(self._now), flat(tokenized(self._now, self.first)).items(), strict=True)
            self._logged_as |= dict(now)
        is_kept = kept_digests(draft.path) is not None
        if is_kept != ("tokens" in self.first):
            lacks = "and its record has names" if is_kept else "and its record is without names"
            has = "digests" if is_kept else "files"
            self._trouble.append(f"the study has {has} for its solutions, {lacks}")

    def _read(self, number: int) -> None:
        path = record_file(self._draft.path, number)
        try:
            raw = path.read_bytes()
            record = parsed(raw, path)
        except FileNotFoundError:
            self._trouble.append(f"the record {path.name} is missing")
            return
        except OSError as error:
            self._trouble.append(f"{path.name} cannot be read ({error.strerror or error})")
            return
        except FileError as error:
            self._trouble.append(f"{path.name} {error.message}")
            return
        digest = hash_of_record(record)
        if number == 1:
            self.hash = digest
        logged = [line.detail.get("hash") for line in self._logged]
        for where, hashes in (("log", logged), ("store", self._stored.hashes)):
            if where == "store" and not hashes:
                continue
            if number > len(hashes):
                self._trouble.append(f"the {where} does not know {path.name}")
            elif hashes[number - 1] != digest:
                self._trouble.append(f"{path.name} is not the one whose hash the {where} has")
        if record["study"] != (self._draft.spec.id if self._draft.spec else ""):
            self._trouble.append(f"{path.name} is of the study {record['study']}")
        self._records.append((record, digest))

    def _when(self, key: tuple[str, str], value: str | None) -> tuple[str, str]:
        """Say whether a value was there before rankings were revealed, and the reason given."""
        for record, _ in self._records[1:]:
            if not self.revealed_at or record["sealed_at"] < self.revealed_at:
                if flat(record["contents"]).get(key) == value:
                    return "before", record["reason"]
            elif flat(record["contents"]).get(key) == value:
                return "after", record["reason"]
        if self._cautiously == "before":
            return "before", ""
        if self._analyzed and self.revealed_at == self._analyzed.at:
            then = flat(self._analyzed.detail.get("contents", {}))
            logged, now = self._logged_as.get(key, (key, None))
            return ("before" if then.get(logged) == now else "after"), ""
        return "after", ""

    @property
    def _cautiously(self) -> str:
        # A log that is gone or damaged cannot say that nobody had seen the rankings.
        is_known = self._logged and not self._log_trouble
        return "before" if is_known and not self.revealed_at else "after"

    def of_seal(self, expected: str) -> Iterator[Deviation]:
        """Say what is wrong with record, log, and store."""
        if expected and not self.hash.startswith(expected.lower()):
            message = f"its hash is {self.hash or 'unknown'}, and {expected} was expected"
            yield Deviation("seal", "", message, self._cautiously)
        for message in self._trouble:
            yield Deviation("seal", "", message, self._cautiously)
        name = log_file(self._draft.path).name
        if self._log_trouble:
            yield Deviation("log", name, self._log_trouble, self._cautiously)
        elif not self._logged:
            yield Deviation("log", name, "the log of the seal is missing", self._cautiously)
        for record, _ in self._records[1:]:
            when = "after" if self.revealed_at and record["sealed_at"] > self.revealed_at else ""
            message = f"sealed again on {record['sealed_at'][:10]}"
            yield Deviation("seal", "", message, when or "before", record["reason"])

    def of_contents(self) -> Iterator[Deviation]:
        """Say what of the study is not as it was sealed."""
        if not self.first:
            return
        sealed, now = flat(self.first["contents"]), flat(self._now)
        for key in dict.fromkeys([*sealed, *now]):
            before, after = sealed.get(key), now.get(key)
            if key[0] == "draw" or is_same(key, before, after):
                continue
            part, name = key
            when, reason = self._when(key, after)
            message = "left out" if after is None else "added" if before is None else "changed"
            if part in ("settings", "solvers", "plan") and before and after:
                message = _changed(before, after)
            yield Deviation(_NOUNS.get(part, part), name, message, when, reason)
        drawn = self._stored.draw or self._now["draw"]
        if drawn != self.first["contents"].get("draw", {}):
            message = "the problems that experts rank are not drawn as sealed"
            yield Deviation("draw", "", message, self._cautiously)

    def _of_tables(self) -> Iterator[Deviation]:
        """Say which tables of rankings are not those of the first analysis."""
        if not (self._analyzed and self.first):
            return
        names = {}
        if "tokens" in self.first:
            # A copy without names has another table, with the same ranks.
            then = {"": self._analyzed.detail.get("ranks", "")}
            now = {"": digest_of_ranks(self._draft, self.first, ids_in(self._now))}
        else:
            files = _digests(self._draft)
            names = {token_of(self.first, name): name for name in files}
            then = self._analyzed.detail.get("rankings", {})
            now = {token: token_of(self.first, files[name]) for token, name in names.items()}
        for token in sorted({*then, *now}):
            if then.get(token) != now.get(token):
                message = "the rankings are not those of the first analysis"
                yield Deviation("ranking", names.get(token, ""), message, "after")

    def of_rankings(self, ranked: Mapping[str, Iterable[str]]) -> Iterator[Deviation]:
        """Say who ranked or was ranked other than sealed, and which rankings were changed."""
        for message in self._stored.breaks:
            yield Deviation("ranking", "", f"changed in the store: {message}", self._cautiously)
        yield from self._of_tables()
        parts = self.first.get("contents", {})
        missing = {one["solver"] for one in parts.get("plan", {}).get("missing", [])}
        for noun, part in (("judge", "judges"), ("solver", "solvers")):
            sealed, there = parts.get(part, {}), ranked.get(part)
            # A study that names no judges is judged by whomever it invites later.
            if there is None or not sealed:
                continue
            there = set(there)
            for name in sorted(set(sealed) - there - missing):
                yield Deviation(noun, name, "has no ranking", self._cautiously)
            there |= set(self._stored.judges if noun == "judge" else ())
            for name in sorted(there - set(sealed)):
                yield Deviation(noun, name, "was added, and is not in the seal", self._cautiously)


def _changed(before: str, after: str) -> str:
    """Say what differs between two values, which are JSON: for mappings, key by key."""
    old, new = json.loads(before), json.loads(after)
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return f"{_short(before)} is now {_short(after)}"
    return ", ".join(
        f"{key} {_short(json.dumps(old.get(key)))} is now {_short(json.dumps(new.get(key)))}"
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004  characters of a line
