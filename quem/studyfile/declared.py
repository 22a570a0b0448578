"""The ids that a study declares, and the errors between them.

This uses the document instead of the model, so that a wrong value elsewhere in the file neither
hides these errors nor makes every rank of a subject unknown.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quem.io.text import closest, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from quem.errors import Mistake
    from quem.studyfile.document import Document, Loc

SOLVER_KINDS = {
    "subjects": "subject",
    "systems": "system",
    "assisted": "assisted",
    "withheld": "withheld",
}
_KINDS = {"judges": "judge", "problems": "problem"} | dict.fromkeys(
    (*SOLVER_KINDS, "candidates"), "solver"
)
_JUDGES = ("judges", "machines")
_DECIDED, _LONGEST = "{!r} is decided twice; keep one entry", 60
# Errors at a section, at one of its entries, or at the id of one.
_AT_ID = re.compile(r"([^.\[]+)(\[\d+\](\.id)?)?")


@dataclass(frozen=True)
class Declared:
    """The ids of a study, in the order of the file."""

    # Without the practice problem
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    # Solver id to its kind: subject, system, assisted, withheld, or candidate.
    solvers: dict[str, str]
    failed: frozenset[tuple[str, str]] = frozenset()  # problem and solver
    # Problem and solver of each solution declared absent.
    absent: frozenset[tuple[str, str]] = frozenset()
    # The lists, of judge, problem, and solver, that have errors and so are incomplete; an unknown
    # id may still be declared.
    broken: frozenset[str] = frozenset()
    # The solvers of each problem, if they differ between problems.
    candidates: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def solvers_of(self, problem: str) -> tuple[str, ...]:
        """The solvers of a problem, in the order of the file."""
        return self.candidates.get(problem, ()) if self.candidates else tuple(self.solvers)


def declared(document: Document, known: Iterable[Mistake] = ()) -> tuple[Declared, list[Mistake]]:
    """Collect the declared ids and check them against each other."""
    mistakes: list[Mistake] = []
    # A machine judge must not be confused with a judge.
    judges = [one for one, of in _unique(document, _JUDGES, mistakes).items() if of == "judges"]
    problems = _unique(document, ("problems",), mistakes)
    _unique(document, ("organizers",), mistakes)
    sections = _unique(document, SOLVER_KINDS, mistakes)
    solvers = {solver: SOLVER_KINDS[section] for solver, section in sections.items()}
    mistakes += _people(document, judges, solvers)
    mistakes += _judging_subjects(document)
    mistakes += _twice(document)
    candidates: dict[str, dict[str, None]] = {}
    for _, entry in entries_of(document, "candidates"):
        if entry["problem"] in problems and entry["id"]:
            candidates.setdefault(entry["problem"], {})[entry["id"]] = None
    solvers |= dict.fromkeys((one for of in candidates.values() for one in of), "candidate")
    # Practice problems are never analyzed.
    practice = {_at(document, session, "practice") for session in ("judging", "solving")}
    analyzed = tuple(problem for problem in problems if problem not in practice)
    broken = _broken([*known, *mistakes])
    mistakes += _dangling(document, solvers, problems, broken)
    mistakes += _experts_on(document, len(analyzed))
    failed, absent = (
        frozenset(
            (entry["problem"], entry["solver"])
            for _, entry in entries_of(document, "missing")
            if (entry["reason"] or "absent") == reason
        )
        for reason in ("failed", "absent")
    )
    of_problems = {problem: tuple(of) for problem, of in candidates.items()}
    ids = Declared(tuple(judges), analyzed, solvers, failed, absent, broken, of_problems)
    return ids, mistakes


def _at(document: Document, *path: str) -> Any:  # noqa: ANN401  plain data
    """The value at a place of the file; None if missing."""
    value = document.content
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def entries_of(document: Document, *path: str) -> Iterator[tuple[Loc, dict[str, str]]]:
    """The mappings of a list with their texts; the model reports everything else."""
    entries = _at(document, *path)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            texts = {key: value for key, value in entry.items() if isinstance(value, str)}
            yield (*path, index), defaultdict(str, texts)


def _ids(document: Document, section: str) -> Iterator[tuple[Loc, str]]:
    if section != "withheld":
        yield from (((*loc, "id"), entry["id"]) for loc, entry in entries_of(document, section))
        return
    names = _at(document, section)
    names = [names] if isinstance(names, str) else names
    for index, name in enumerate(names if isinstance(names, list) else []):
        yield (section, index), name if isinstance(name, str) else ""


def _unique(document: Document, sections: Iterable[str], mistakes: list[Mistake]) -> dict[str, str]:
    """The section of each id; a duplicate id is an error."""
    first: dict[str, Loc] = {}
    for loc, name in (one for section in sections for one in _ids(document, section)):
        if not name or first.setdefault(name, loc) is loc:
            continue
        where = document.mistake(first[name], "")
        line = f" on line {where.line}" if where.line else ""
        message = f"the id {shown(name)} is already used by {where.key}{line}; give each its own"
        mistakes.append(document.mistake(loc, message))
    return {name: str(loc[0]) for name, loc in first.items()}


def _people(
    document: Document, judges: Collection[str], solvers: dict[str, str]
) -> Iterator[Mistake]:
    """Errors on people who solve: duplicate ids, and ids of judges or other solvers."""
    seen: set[str] = set()
    for loc, entry in entries_of(document, "solving", "people"):
        one, message = entry["id"], ""
        if one in seen:
            message = f"the id {shown(one)} is there twice; give each its own"
        elif one in judges:
            message = f"{shown(one)} is also a judge; judges cannot judge their own solutions"
        elif solvers.get(one, "subject") != "subject":
            message = f"{shown(one)} is also a system or another solver; give each its own id"
        if one and message:
            yield document.mistake((*loc, "id"), message)
        seen.add(one)


def _judging_subjects(document: Document) -> Iterator[Mistake]:
    """Errors on judges of their own work (QUEM, section 3)."""
    subjects = [entry for _, entry in entries_of(document, "subjects")]
    ids = {entry["id"] for entry in subjects}
    people = {entry["name"].casefold().strip(): entry["id"] for entry in subjects}
    for loc, entry in entries_of(document, "judges"):
        one, name = entry["id"], entry["name"]
        if one and one in ids:
            message = (
                f"judge {shown(one)} is also a subject; judges cannot judge their own solutions"
            )
            yield document.mistake((*loc, "id"), message)
        elif (person := name.casefold().strip()) and person in people:
            message = f"the judge {shown(name)} is also the subject {people[person]}"
            yield document.mistake((*loc, "name"), f"{message}; leave one of them out")


def _broken(mistakes: list[Mistake]) -> frozenset[str]:
    """The lists with unknown ids."""
    at_ids = [_AT_ID.fullmatch(mistake.key) for mistake in mistakes]
    # An unknown section may be a misspelled one of these.
    sections = [closest(match[1], _KINDS) for match in at_ids if match]
    return frozenset(_KINDS[section] for section in sections if section)


def _dangling(
    document: Document,
    solvers: dict[str, str],
    problems: Collection[str],
    broken: frozenset[str],
) -> Iterator[Mistake]:
    """References to undeclared ids."""
    known: dict[str, Collection[str]] = {"problem": problems, "solver": solvers}
    for kind in ("subject", "system"):
        known[kind] = [name for name, of in solvers.items() if of == kind]
    practice = _at(document, "judging", "practice")
    for *path, key, noun in (
        ("missing", "problem", "problem"),
        ("missing", "solver", "solver"),
        ("assisted", "by", "system"),
        ("assisted", "person", "subject"),
        ("candidates", "problem", "problem"),
        ("judging", "reviewed", "problem", "problem"),
        ("judging", "reviewed", "solver", "solver"),
    ):
        if ("problem" if noun == "problem" else "solver") in broken:
            continue
        for loc, entry in entries_of(document, *path):
            word = entry[key]
            # Solvers of the practice problem are named by their files alone.
            is_free = path[0] == "judging" and (
                not word or (practice and entry["problem"] == practice)
            )
            if key in entry and word not in known[noun] and not is_free:
                message = f"there is no {noun} {shown(word)}{nearest(word, known[noun])}"
                yield document.mistake((*loc, key), message)


def _twice(document: Document) -> Iterator[Mistake]:
    """Entries that repeat an earlier one."""
    seen = set()
    for path, keys, at, message in (
        (("missing",), ("problem", "solver"), (), "{} on {} is named twice; keep one entry"),
        (("candidates",), ("problem", "id"), ("id",), "{!r} is there twice for {!r}; keep one"),
        (("judging", "reviewed"), ("problem", "solver", "words"), (), _DECIDED),
    ):
        for loc, entry in entries_of(document, *path):
            *texts, last = (entry[key] for key in keys)
            # Words match regardless of case and spacing.
            same = " ".join(last.split()).casefold() if keys[-1] == "words" else last
            if same and (*path, *texts, same) in seen:
                yield document.mistake((*loc, *at), message.format(last[:_LONGEST], *texts))
            seen.add((*path, *texts, same))


def _experts_on(document: Document, n_problems: int) -> Iterator[Mistake]:
    """The error on machine judges if experts rank everything."""
    n = str(_at(document, "machine", "experts_on", "n"))
    # An invalid number is reported elsewhere.
    if n.isdecimal() and int(n) >= max(n_problems, 1):
        message = f"experts would rank {n} of {n_problems} problems; give fewer than there are"
        yield document.mistake(("machine", "experts_on", "n"), message)
