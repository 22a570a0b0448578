"""The ids that a study declares, and the mistakes between them.

This works on the document and not on the model, so that one wrong value elsewhere in the file
neither hides these mistakes nor makes every rank of a subject unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quem.io.text import closest, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

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
# Mistakes at a section, at one of its entries or at the id of one.
_AT_ID = re.compile(r"([^.\[]+)(\[\d+\](\.id)?)?")


@dataclass(frozen=True)
class Declared:
    """The ids of a study, in the order of the file."""

    # Without the problem that judges practice on
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    # Solver id to its kind: subject, system, assisted, withheld, or candidate.
    solvers: dict[str, str]
    failed: frozenset[tuple[str, str]] = frozenset()  # problem and solver of each failed solution
    # Problem and solver of each solution declared absent.
    absent: frozenset[tuple[str, str]] = frozenset()
    # Of judge, problem and solver those whose ids are not all known, because their lists have
    # mistakes; an id that is not among them may still be declared.
    broken: frozenset[str] = frozenset()
    # The solvers of each problem, where these differ from problem to problem.
    candidates: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def solvers_of(self, problem: str) -> tuple[str, ...]:
        """Name the solvers of a problem, in the order of the file."""
        return self.candidates.get(problem, ()) if self.candidates else tuple(self.solvers)


def declared(document: Document, known: Iterable[Mistake] = ()) -> tuple[Declared, list[Mistake]]:
    """Collect the declared ids and check them against each other."""
    mistakes: list[Mistake] = []
    content = document.content if isinstance(document.content, dict) else {}
    # A machine judge is none of the judges, and must not be taken for one.
    entries = [(section, loc, i) for section in _JUDGES for loc, i in _ids(content, section)]
    sections = _unique(document, entries, mistakes)
    judges = [judge for judge, section in sections.items() if section == "judges"]
    problems = _unique(
        document, [("problems", loc, i) for loc, i in _ids(content, "problems")], mistakes
    )
    _unique(document, [("organizers", loc, i) for loc, i in _ids(content, "organizers")], mistakes)
    entries = [(section, loc, i) for section in SOLVER_KINDS for loc, i in _ids(content, section)]
    sections = _unique(document, entries, mistakes)
    others = {one for one, section in sections.items() if section != "subjects"}
    mistakes += _people(document, content, judges, others)
    solvers = {solver: SOLVER_KINDS[section] for solver, section in sections.items()}
    candidates = _candidates(document, content, mistakes)
    solvers |= dict.fromkeys((one for of in candidates.values() for one in of), "candidate")
    mistakes += _judging_subjects(document, content)
    broken = _broken([*known, *mistakes])
    mistakes += _dangling(document, content, solvers, list(problems), broken)
    mistakes += _named_twice(document, content)
    mistakes += _experts_on(document, content, len(problems))
    mistakes += _reviewed(document, content, list(problems), list(solvers), broken)
    failed, absent = _missing(content)
    # What people practice on is never analyzed.
    sessions = (content.get("judging"), content.get("solving"))
    practice = [session.get("practice") for session in sessions if isinstance(session, dict)]
    analyzed = tuple(problem for problem in problems if problem not in practice)
    ids = Declared(tuple(judges), analyzed, solvers, failed, absent, broken, candidates)
    return ids, mistakes


def _candidates(
    document: Document, content: dict[str, Any], mistakes: list[Mistake]
) -> dict[str, tuple[str, ...]]:
    """The candidates of each problem; one that is named twice is a mistake."""
    found: dict[str, dict[str, None]] = {}
    problems = {name for _, name in _ids(content, "problems")}
    for loc, entry in _mappings(content, "candidates"):
        problem, one = entry.get("problem"), entry.get("id")
        if not (isinstance(problem, str) and isinstance(one, str)):
            continue
        if problem not in problems:
            message = f"there is no problem {shown(problem)}{nearest(problem, list(problems))}"
            mistakes.append(document.mistake((*loc, "problem"), message))
        elif one in found.setdefault(problem, {}):
            message = f"{shown(one)} is there twice for {shown(problem)}; keep one"
            mistakes.append(document.mistake((*loc, "id"), message))
        else:
            found[problem][one] = None
    return {problem: tuple(of) for problem, of in found.items()}


def _people(
    document: Document, content: dict[str, Any], judges: Container[str], others: Container[str]
) -> Iterator[Mistake]:
    """Each of those who are asked to solve has one id, not that of a judge or another solver."""
    solving = content.get("solving")
    seen: set[str] = set()
    for (_, index), entry in _mappings(solving if isinstance(solving, dict) else {}, "people"):
        one, loc = entry.get("id"), ("solving", "people", index, "id")
        if not isinstance(one, str):
            continue
        if one in seen:
            yield document.mistake(loc, f"the id {shown(one)} is there twice; give each its own")
        elif one in judges:
            message = f"{shown(one)} is also a judge; judges cannot judge their own solutions"
            yield document.mistake(loc, message)
        elif one in others:
            message = f"{shown(one)} is also a system or another solver; give each its own id"
            yield document.mistake(loc, message)
        seen.add(one)


def _broken(mistakes: list[Mistake]) -> frozenset[str]:
    """The kinds of which some id cannot be known."""
    at_ids = [_AT_ID.fullmatch(mistake.key) for mistake in mistakes]
    # An unknown section may be one of these whose name is misspelt.
    sections = [closest(match[1], _KINDS) for match in at_ids if match]
    return frozenset(_KINDS[section] for section in sections if section)


def _missing(
    content: dict[str, Any],
) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    """Problem and solver of the solutions declared failed, and of those declared absent."""
    missing: dict[str, set[tuple[str, str]]] = {"failed": set(), "absent": set()}
    for _, entry in _mappings(content, "missing"):
        problem, solver = entry.get("problem"), entry.get("solver")
        reason = entry.get("reason", "absent")
        known = isinstance(reason, str) and reason in missing
        if known and isinstance(problem, str) and isinstance(solver, str):
            missing[reason].add((problem, solver))
    return frozenset(missing["failed"]), frozenset(missing["absent"])


def _unique(
    document: Document, entries: list[tuple[str, Loc, str]], mistakes: list[Mistake]
) -> dict[str, str]:
    """Id to section; a duplicate id is a mistake."""
    first: dict[str, tuple[str, Loc]] = {}
    for section, loc, name in entries:
        if name not in first:
            first[name] = (section, loc)
            continue
        where = document.mistake(first[name][1], "")
        line = f" on line {where.line}" if where.line else ""
        message = f"the id {shown(name)} is already used by {where.key}{line}; give each its own"
        mistakes.append(document.mistake(loc, message))
    return {name: section for name, (section, _) in first.items()}


def _judging_subjects(document: Document, content: dict[str, Any]) -> Iterator[Mistake]:
    """Nobody judges their own work (QUEM, section 3)."""
    ids = {name for _, name in _ids(content, "subjects")}
    people = {
        entry["name"].casefold().strip(): entry.get("id")
        for _, entry in _mappings(content, "subjects")
        if isinstance(entry.get("name"), str) and entry["name"].strip()
    }
    for loc, entry in _mappings(content, "judges"):
        name, person = entry.get("id"), entry.get("name")
        if isinstance(name, str) and name in ids:
            message = (
                f"judge {shown(name)} is also a subject; judges cannot judge their own solutions"
            )
            yield document.mistake((*loc, "id"), message)
        elif isinstance(person, str) and person.casefold().strip() in people:
            subject = people[person.casefold().strip()]
            message = (
                f"the judge {shown(person)} is also the subject {subject}; leave one of them out"
            )
            yield document.mistake((*loc, "name"), message)


def _dangling(
    document: Document,
    content: dict[str, Any],
    solvers: dict[str, str],
    problems: list[str],
    broken: frozenset[str],
) -> Iterator[Mistake]:
    """References to what the file does not declare."""
    people = [name for name, kind in solvers.items() if kind == "subject"]
    systems = [name for name, kind in solvers.items() if kind == "system"]
    checks = [
        ("missing", "problem", problems, "problem"),
        ("missing", "solver", list(solvers), "solver"),
        ("assisted", "by", systems, "system"),
        ("assisted", "person", people, "subject"),
    ]
    for section, key, known, noun in checks:
        if ("problem" if noun == "problem" else "solver") in broken:
            continue
        for loc, entry in _mappings(content, section):
            word = entry.get(key)
            if isinstance(word, str) and word not in known:
                message = f"there is no {noun} {shown(word)}{nearest(word, known)}"
                yield document.mistake((*loc, key), message)


def _named_twice(document: Document, content: dict[str, Any]) -> Iterator[Mistake]:
    """A solution is missing once."""
    seen: dict[tuple[str, str], Loc] = {}
    for loc, entry in _mappings(content, "missing"):
        cell = (str(entry.get("problem")), str(entry.get("solver")))
        if cell in seen:
            message = f"{cell[1]} on {cell[0]} is named twice; keep one entry"
            yield document.mistake(loc, message)
        seen.setdefault(cell, loc)


def _experts_on(document: Document, content: dict[str, Any], n_problems: int) -> Iterator[Mistake]:
    """Machine judges add nothing where experts rank everything."""
    machine = content.get("machine")
    chosen = machine.get("experts_on") if isinstance(machine, dict) else None
    n = chosen.get("n") if isinstance(chosen, dict) else None
    practice = {
        session["practice"]
        for key in ("judging", "solving")
        if isinstance(session := content.get(key), dict) and session.get("practice")
    }
    n_problems -= len(practice)
    # What is no number is said elsewhere.
    if str(n).isdecimal() and int(str(n)) >= max(n_problems, 1):
        message = f"experts would rank {n} of {n_problems} problems; give fewer than there are"
        yield document.mistake(("machine", "experts_on", "n"), message)


def _reviewed(
    document: Document,
    content: dict[str, Any],
    problems: list[str],
    solvers: list[str],
    broken: frozenset[str],
) -> Iterator[Mistake]:
    """Decisions about words in solutions that nobody made, and those that are made twice."""
    judging = content.get("judging")
    judging = judging if isinstance(judging, dict) else {}
    practice = judging.get("practice")
    seen: set[tuple[str, str, str]] = set()
    for (_, index), entry in _mappings(judging, "reviewed"):
        loc: Loc = ("judging", "reviewed", index)
        problem, solver, words = (entry.get(key) for key in ("problem", "solver", "words"))
        known = {"problem": problems, "solver": solvers}
        # Those who solved the problem to practice on are named by their files alone.
        named = {} if practice and problem == practice else {"problem": problem, "solver": solver}
        for noun, word in named.items():
            is_known = not word or word in known[noun] or noun in broken
            if isinstance(word, str) and not is_known:
                message = f"there is no {noun} {shown(word)}{nearest(word, known[noun])}"
                yield document.mistake((*loc, noun), message)
        if isinstance(words, str):
            decided = (str(problem or ""), str(solver or ""), " ".join(words.split()).casefold())
            if decided in seen:
                message = f"{shown(words)} is decided twice; keep one entry"
                yield document.mistake(loc, message)
            seen.add(decided)


def _mappings(content: dict[str, Any], section: str) -> Iterator[tuple[Loc, dict[str, Any]]]:
    entries = content.get(section)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            yield (section, index), entry


def _ids(content: dict[str, Any], section: str) -> Iterator[tuple[Loc, str]]:
    entries = content.get(section)
    if section == "withheld":
        names = [entries] if isinstance(entries, str) else entries
        for index, name in enumerate(names if isinstance(names, list) else []):
            if isinstance(name, str) and name:
                yield (section, index), name
        return
    for loc, entry in _mappings(content, section):
        name = entry.get("id")
        if isinstance(name, str) and name:
            yield (*loc, "id"), name
