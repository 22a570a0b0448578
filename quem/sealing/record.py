"""The record of a seal: what a study planned, as JSON of which there is one form, and its hash."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from functools import cache
from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.errors import FileError, QuemError
from quem.solutions import find_solutions
from quem.study.kept_digests import kept_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from quem.solutions import Solutions
    from quem.study.reading import StudyFile
    from quem.study.relevance import JudgedSpec

FORMAT = 1
# Persons and letters, which say nothing of the goal, and what has a part of the record of its own.
_APART = {
    *("organizer", "organizers", "invitation", "deadline", "minutes"),
    *("analysis", "problems", "judges", "subjects", "systems", "assisted", "withheld", "solving"),
}
_OF_SOLVER = {"id", "experience", "version", "of", "date", "architecture", "by", "person"}


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
    """Give what a seal holds of a study, as it is now."""
    spec = draft.spec
    if draft.mistakes or spec is None:
        raise QuemError(draft.mistakes)
    kept = kept_digests(draft.path)
    found, mistakes, _ = find_solutions(draft, complete=False)
    if mistakes and kept is None:
        raise QuemError(mistakes)
    plain = spec.model_dump(mode="json", by_alias=True)
    plan = {key: value for key, value in plain.items() if key not in _APART}
    if kept is not None:
        return _of_digests(plain, plan, kept)
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


def _of_digests(
    plain: dict[str, Any], plan: dict[str, Any], kept: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Give what a seal holds of a study without names, whose files are digests alone."""
    if kept["plan"]:
        plan["quem plan"] = kept["plan"]
    return {
        "settings": plain["analysis"],
        "plan": plan,
        "problems": {
            one["id"]: {**one, "statement": kept["statements"].get(one["id"], one["statement"])}
            for one in plain["problems"]
        },
        "solvers": dict(_solvers(plain)),
        "judges": {one["id"]: {"experience": one["experience"]} for one in plain["judges"]},
        "solutions": kept["solutions"],
        "texts": kept["texts"],
        "draw": kept["draw"],
    }


def _solvers(plain: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for section in ("subjects", "systems", "assisted"):
        for one in plain[section]:
            kept = {key: value for key, value in one.items() if key in _OF_SOLVER}
            yield one["id"], {**kept, "is": section}
    for solver in plain["withheld"]:
        yield solver, {"id": solver, "is": "withheld"}


def _draw(spec: JudgedSpec, solutions: Solutions) -> dict[str, Any]:
    """Say which problems experts rank; nothing where they rank all."""
    if spec.machine is None or spec.machine.experts_on is None:
        return {}
    from quem.store.drawing import draw_of

    draw = draw_of(spec, solutions)
    return {"digest": draw.digest, "problems": list(draw.problems)} if draw else {}


def record_of(
    draft: StudyFile, sealed_at: str, reason: str = "", previous: str = "", secret: str = ""
) -> dict[str, Any]:
    """Make the record of a seal."""
    return {
        "format": FORMAT,
        "study": draft.spec.id if draft.spec else "",
        "sealed_at": sealed_at,
        "quem": __version__,
        "reason": reason,
        "previous": previous,
        "secret": secret or secrets.token_hex(32),
        "contents": contents(draft),
    }


# Where people write, and may name people: paths in the plan.
HIDDEN: tuple[tuple[str, ...], ...] = (
    ("title",),
    ("description",),
    ("rankings",),
    ("corrections",),
    ("judging", "identity_words"),
    ("judging", "reviewed"),
)


def token(secret: str, name: str) -> str:
    """Give what stands for a name in the hash of a record: a keyed hash, HMAC-SHA-256.

    Without the secret nobody can try names out.
    """
    return hmac.digest(secret.encode(), name.encode(), "sha256").hex()


def ids_in(parts: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Name the people of contents: judges, subjects with or without help, withheld solvers."""
    people = {name for name, one in parts["solvers"].items() if one["is"] != "systems"}
    return people | {*parts["judges"]}


def renamed(
    parts: dict[str, dict[str, Any]], rename: Callable[[str], str]
) -> dict[str, dict[str, Any]]:
    """Give contents in which people have other names, everything in the same order."""
    pairs = {
        f"{solver} on {problem}": f"{rename(solver)} on {problem}"
        for solver in parts["solvers"]
        for problem in parts["problems"]
    }
    plan = dict(parts["plan"])
    plan["missing"] = [{**one, "solver": rename(one["solver"])} for one in plan["missing"]]
    solvers = {
        rename(name): {
            key: rename(value) if key in ("id", "person") else value for key, value in one.items()
        }
        for name, one in parts["solvers"].items()
    }
    return {
        **parts,
        "plan": plan,
        "solvers": solvers,
        "judges": {rename(name): one for name, one in parts["judges"].items()},
        "solutions": {pairs.get(name, name): one for name, one in parts["solutions"].items()},
    }


def hidden(plan: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give what people wrote in a plan, by its path."""
    for path in HIDDEN:
        value: Any = plan
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        yield path, value


def tokenized(
    parts: dict[str, dict[str, Any]], record: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Give contents in which tokens stand for people and for what people wrote."""
    people = ids_in(parts)
    new = renamed(parts, lambda name: token_of(record, name) if name in people else name)
    plan = dict(new["plan"])
    for path, value in hidden(new["plan"]):
        place: Any = plan
        for key in path[:-1]:
            place[key] = dict(place[key]) if isinstance(place.get(key), dict) else {}
            place = place[key]
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
        place[path[-1]] = token_of(record, text, ".".join(path))
    return {**new, "plan": plan}


def token_of(record: Mapping[str, Any], name: str, path: str = "") -> str:
    """Give the token of a name, or of a text at a path of the plan."""
    if secret := record.get("secret"):
        return token(secret, f"{path} {name}" if path else name)
    known = record["tokens"]
    return str(known.get(f"{path} {name}" if path else name, "unknown"))


def hash_of_record(record: Mapping[str, Any]) -> str:
    """Give the hash of a seal: of its record with tokens for names, without the secret."""
    apart = ("secret", "tokens", "contents", "reason")
    whole = {key: value for key, value in record.items() if key not in apart}
    whole["reason"] = record["reason"] and token_of(record, record["reason"], "reason")
    parts = tokenized(record["contents"], record)
    if any(len(parts[part]) < len(named) for part, named in record["contents"].items()):
        raise ValueError("two names have one token")
    return hash_of(canonical({**whole, "contents": parts}))


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
    """Read a record."""
    try:
        record = json.loads(raw)
        is_newer = record["format"] > FORMAT
        is_one = is_newer or (raw == canonical(record) and bool(hash_of_record(record)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_newer = is_one = False
    if is_newer:
        raise FileError(path, f"was written by a newer quem (format {record['format']}); update")
    if not is_one:
        raise FileError(path, "is not a record of a seal: it was damaged or edited")
    return dict(record)
