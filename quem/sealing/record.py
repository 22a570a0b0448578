"""The record of a seal: what a study planned, as JSON of which there is one form, and its hash."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.errors import FileError, QuemError
from quem.solutions import find_solutions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from quem.solutions import Solutions
    from quem.study.models import ExperienceSpec
    from quem.study.reading import StudyFile

__all__ = [
    "FORMAT",
    "canonical",
    "contents",
    "flat",
    "hash_of",
    "is_same",
    "parsed",
    "plan_file",
    "record_of",
]

FORMAT = 1
# Persons and letters, which say nothing of the goal, and what has a part of the record of its own.
_APART = {
    *("organizer", "organizers", "invitation", "reminders", "deadline", "timezone", "minutes"),
    *("analysis", "problems", "judges", "subjects", "systems", "assisted", "withheld", "solving"),
}
_OF_SOLVER = {"id", "experience", "version", "of", "date", "family", "architecture", "by", "person"}


def canonical(content: Any) -> bytes:  # noqa: ANN401  JSON holds anything
    """Write plain data as JSON of which there is one form: sorted keys, UTF-8, one line end."""
    text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    return f"{text}\n".encode()


def hash_of(content: bytes) -> str:
    """Give the SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def plan_file(study: Path) -> Path:
    """Say where `quem plan` writes the plan of a study."""
    return study.parent / f"{study.stem}-plan" / "analysis.json"


def contents(draft: StudyFile) -> dict[str, dict[str, Any]]:
    """Give what a seal holds of a study, as it is now.

    Parameters
    ----------
    draft : StudyFile
        Without mistakes.

    Returns
    -------
    dict of str to dict
        By part and name: settings, plan, problems, solvers, judges, solutions, texts, draw.

    Raises
    ------
    QuemError
        A solution cannot be read.
    """
    spec = draft.spec
    if draft.mistakes or spec is None:
        raise QuemError(draft.mistakes)
    found, mistakes, _ = find_solutions(draft, complete=False)
    if mistakes:
        raise QuemError(mistakes)
    plain = spec.model_dump(mode="json", by_alias=True)
    plan = {key: value for key, value in plain.items() if key not in _APART}
    if (file := plan_file(draft.path)).is_file():
        plan["quem plan"] = hash_of(file.read_bytes())
    try:
        return {
            "settings": plain["analysis"],
            "plan": plan,
            "problems": {
                one["id"]: {
                    **one,
                    "statement": [f.digest for f in found.statements[one["id"]].files]
                    if one["id"] in found.statements
                    else one["statement"],
                }
                for one in plain["problems"]
            },
            "solvers": dict(_solvers(plain)),
            "judges": {one["id"]: {"experience": one["experience"]} for one in plain["judges"]},
            "solutions": {
                f"{solver} on {problem}": solution.digest
                for problem, group in found.by_problem.items()
                for solver, solution in group.items()
            },
            "texts": {
                name: [[file.inner, file.digest] for file in sheet.files]
                for name, sheet in (("briefing", found.briefing), ("consent", found.consent))
                if sheet
            },
            "draw": _draw(spec, found),
        }
    except OSError as error:
        name = str(error.filename or draft.name)
        raise QuemError([f"{name}: cannot be read: {error.strerror or error}"]) from None


def _solvers(plain: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for section in ("subjects", "systems", "assisted"):
        for one in plain[section]:
            kept = {key: value for key, value in one.items() if key in _OF_SOLVER}
            yield one["id"], {**kept, "is": section}
    for solver in plain["withheld"]:
        yield solver, {"id": solver, "is": "withheld"}


def _draw(spec: ExperienceSpec, solutions: Solutions) -> dict[str, Any]:
    """Say which problems experts rank; nothing where they rank all."""
    if spec.machine is None or spec.machine.experts_on is None:
        return {}
    from quem.store.drawing import draw_of

    draw = draw_of(spec, solutions)
    return {"digest": draw.digest, "problems": list(draw.problems)} if draw else {}


def record_of(
    draft: StudyFile, sealed_at: str, reason: str = "", previous: str = ""
) -> dict[str, Any]:
    """Make the record of a seal.

    Parameters
    ----------
    sealed_at : str
        The time, in UTC.
    reason, previous : str
        Why a study is sealed again, and the hash of the record before; both empty for the first.
    """
    return {
        "format": FORMAT,
        "study": draft.spec.id if draft.spec else "",
        "sealed_at": sealed_at,
        "quem": __version__,
        "reason": reason,
        "previous": previous,
        "contents": contents(draft),
    }


def flat(parts: dict[str, dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Give each thing that a seal holds, as text that can be compared, by part and name."""
    return {
        (part, name): json.dumps(value, ensure_ascii=False, sort_keys=True)
        for part, values in parts.items()
        for name, value in values.items()
    }


def is_same(key: tuple[str, str], sealed: str | None, now: str | None) -> bool:
    """Whether a thing is as it was sealed.

    What an older version of quem did not know is the same where it has its default, or is empty.

    Parameters
    ----------
    key : tuple of str
        Part and name.
    sealed, now : str or None
        From `flat`; None where it is not there.
    """
    if sealed == now:
        return True
    default = _defaults().get(key, "null")
    if sealed is None:
        return key[0] in ("settings", "plan") and now == default
    if now is None:
        return False
    old, new, usual = json.loads(sealed), json.loads(now), json.loads(default)
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return False
    known = usual if isinstance(usual, dict) else {}
    return all(
        old[name] == new.get(name) if name in old else new[name] in (known.get(name), "", None)
        for name in {*old, *new}
    )


@cache
def _defaults() -> dict[tuple[str, str], str]:
    """Give the values of a study file in which no key is set."""
    from quem.study.models import ExperienceSpec

    plain = ExperienceSpec.model_validate({"id": "a", "title": "a"}).model_dump(
        mode="json", by_alias=True
    )
    return flat({"settings": plain["analysis"], "plan": plain})


def parsed(raw: bytes, path: Path) -> dict[str, Any]:
    """Read a record.

    Raises
    ------
    FileError
        It is damaged, or of a newer quem.
    """
    try:
        record = json.loads(raw)
        is_one = record["format"] >= 1 and all(map(dict.items, record["contents"].values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_one = None
    if is_one is None:
        raise FileError(path, "is not a record of a seal: it was damaged or edited")
    if record["format"] > FORMAT:
        raise FileError(path, f"was written by a newer quem (format {record['format']}); update")
    return dict(record)
