"""The seal of a study: the plan fixed before the first ranking, and its SHA-256."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from quem import __version__
from quem.errors import FileError, QuemError, refuse
from quem.store.location import locate_database

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from quem.studyfile.reading import StudyFile

# People and invitations, which are irrelevant to the goal, and sections that are sealed separately.
_APART = {
    *("organizer", "organizers", "invitation", "deadline", "timezone", "minutes", "solving"),
    *("analysis", "problems", "judges", "subjects", "systems", "assisted"),
}
_OF_SOLVER = {"id", "experience", "version", "of", "date", "family", "architecture", "by", "person"}
# Parts whose names, or the names in whose values, are ids of people.
_PERSONAL = {"plan", "judge", "solution", "subjects", "assisted"}
_LONGEST = 80


class _Record(BaseModel, extra="forbid"):
    """The file of a seal."""

    study: str
    sealed_at: dt.datetime
    quem: str
    secret: str  # random salt, so that names cannot be tested by the hash
    contents: dict[str, dict[str, Any]]


class Difference(NamedTuple):
    """A difference from the seal."""

    part: str  # such as "setting" or "solution"
    name: str  # of the changed item
    message: str

    @property
    def text(self) -> str:
        """One sentence without its period."""
        return f"{self.part} {self.name}: {self.message}" if self.name else self.part


@dataclass(frozen=True)
class Seal:
    """The seal of a study, with differences from it; it does not attest rankings."""

    sealed_at: dt.datetime
    hash: str  # SHA-256 of the record
    settings: Mapping[str, Any]  # of the analysis, as sealed
    differences: tuple[Difference, ...]

    @property
    def headline(self) -> str:
        """The seal in a report's headline."""
        count = len(self.differences)
        found = f"{count} difference{'' if count == 1 else 's'} from the seal"
        matched = "study and settings match the seal"
        return f"Sealed on {self.sealed_at:%Y-%m-%d}; {found if count else matched}"

    @property
    def texts(self) -> list[str]:
        """A sentence per difference."""
        return [one.text for one in self.differences]

    def to_dict(self) -> dict[str, Any]:
        """The seal in an archive."""
        return {"headline": self.headline, "hash": self.hash, "differences": self.texts}

    def with_asked(self, settings: Mapping[str, Any]) -> Seal:
        """Compare the requested settings of an analysis instead of the study file's."""
        others = [one for one in self.differences if one.part != "setting"]
        asked = _differences({"setting": dict(self.settings)}, {"setting": dict(settings)})
        return replace(self, differences=(*others, *asked))

    def without_names(self) -> Seal:
        """Remove the ids of people, for output with pseudonyms."""
        named = (
            Difference(f"{one.part} changed", "", "") if one.part in _PERSONAL else one
            for one in self.differences
        )
        return replace(self, differences=tuple(dict.fromkeys(named)))


def seal_file(study: Path) -> Path:
    """The path of a study's seal."""
    return study.with_suffix(".seal.json")


def seal_study(draft: StudyFile, database: str | None = None) -> tuple[Path, str]:
    """Write the record beside a study without rankings; returns its path and hash."""
    from quem.report.files import write_files

    spec = draft.checked()
    if spec.awaits_subjects:
        raise FileError(draft.path, "its subjects are still to come; seal it after the solving")
    path = seal_file(draft.path)
    if path.exists():
        raise FileError(path, "is the seal of this study already; a study is sealed once")
    _refuse_ranked(draft, database)
    record = _Record(
        study=spec.id,
        sealed_at=dt.datetime.now(dt.UTC),
        quem=__version__,
        secret=secrets.token_hex(16),
        contents=_contents(draft),
    )
    raw = _canonical(record.model_dump(mode="json"))
    write_files(path.parent, {path.name: raw})
    return path, hashlib.sha256(raw).hexdigest()


def seal_of(draft: StudyFile) -> Seal | None:
    """Compare a study with its seal; None without one."""
    path = seal_file(draft.path)
    try:
        raw = path.read_bytes()
        record = _Record.model_validate_json(raw)
        is_whole = raw == _canonical(record.model_dump(mode="json"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    except ValidationError:
        is_whole = False
    if not is_whole:
        raise FileError(path, "is not the record of a seal: it was damaged or edited; restore it")
    if draft.spec and record.study != draft.spec.id:
        raise FileError(path, f"is the seal of the study {record.study}; move it away")
    differences = _differences(record.contents, _contents(draft))
    settings = record.contents.get("setting", {})
    return Seal(record.sealed_at, hashlib.sha256(raw).hexdigest(), settings, tuple(differences))


def _canonical(content: dict[str, Any]) -> bytes:
    """Canonical JSON: sorted keys, UTF-8, one line end."""
    text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    return f"{text}\n".encode()


def _contents(draft: StudyFile) -> dict[str, dict[str, Any]]:
    """The contents of a seal for the current study."""
    from quem.solutions import find_solutions

    spec = draft.checked()
    found, mistakes, _ = find_solutions(draft, complete=False)
    refuse(mistakes)
    plain = spec.model_dump(mode="json", by_alias=True)
    texts = (("briefing", found.briefing), ("consent", found.consent))
    try:
        return {
            "setting": plain["analysis"],
            "plan": {key: value for key, value in plain.items() if key not in _APART},
            "problem": {
                one["id"]: {**one, "statement": _digests(found.statements.get(one["id"]))}
                for one in plain["problems"]
            },
            **{
                section: {
                    one["id"]: {key: value for key, value in one.items() if key in _OF_SOLVER}
                    for one in plain[section]
                }
                for section in ("subjects", "systems", "assisted")
            },
            "judge": {one["id"]: {"experience": one["experience"]} for one in plain["judges"]},
            "solution": {
                f"{solver} on {problem}": solution.digest
                for problem, group in found.by_problem.items()
                for solver, solution in group.items()
            },
            "text": {name: _digests(sheet) for name, sheet in texts if sheet},
        }
    except OSError as error:
        name = str(error.filename or draft.name)
        raise QuemError(f"{name}: cannot be read: {error.strerror or error}") from None


def _digests(sheet: Any) -> list[list[str]]:  # noqa: ANN401  of solutions or statements
    return [[file.inner, file.digest] for file in sheet.files] if sheet else []


def _differences(
    sealed: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> Iterator[Difference]:
    for part in dict.fromkeys([*sealed, *now]):
        before, after = sealed.get(part, {}), now.get(part, {})
        for name in dict.fromkeys([*before, *after]):
            if name not in after:
                yield Difference(part, name, "left out")
            elif name not in before:
                yield Difference(part, name, "added")
            elif before[name] != after[name]:
                yield Difference(part, name, _changed(part, before[name], after[name]))


def _changed(part: str, before: object, after: object) -> str:
    old, new = (json.dumps(value, ensure_ascii=False) for value in (before, after))
    is_short = part not in ("solution", "text", "problem") and max(len(old), len(new)) <= _LONGEST
    return f"{old} is now {new}" if is_short else "changed"


def _refuse_ranked(draft: StudyFile, database: str | None) -> None:
    """Refuse a study with rankings in its store or tables."""
    for path in draft.tables:
        if path.exists() and path.stat().st_size:
            raise FileError(path, "holds rankings; a study is sealed before the first ranking")
    from quem.rankings.stored import Session, session_of_study

    place = locate_database(draft.path, database)
    study_id = draft.checked().id
    store = session_of_study(Session(place), study_id)
    if store is None:
        return
    from quem.store.studies import count_ranked

    with store, store.read() as c:
        if count_ranked(c, study_id):
            raise FileError(
                draft.path,
                f"judges have started to rank in {place.name}; a study is sealed before the "
                "first ranking (trial rankings: discard them first)",
            )
