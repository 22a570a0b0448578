"""Organizers' decisions about solutions, in the activity log and so in archives."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from quem.solutions.model import is_unchanged
from quem.solutions.patterns import plain
from quem.store.events import record
from quem.store.models import EventRow, PersonRow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sqlalchemy.orm import Session

    from quem.solutions import Solution, Solutions
    from quem.studyfile.models import Reviewed

_COUNTS = ("of", "reviewed", "replaced", "kept", "open")


@dataclass(frozen=True)
class Guess:
    """A judge's guess of a solution's author."""

    judge: str
    problem: str
    solver: str
    guess: str  # person, system, or unsure


@dataclass(frozen=True)
class RecordedBlinding:
    """The review at the first ranking, judges' guesses, and the texts they read."""

    of: int  # number of solutions shown to judges
    reviewed: int = 0
    # Words by decision.
    replaced: int = 0
    kept: int = 0
    open: int = 0
    guesses: tuple[Guess, ...] = ()
    # The text of each solution as judges received it, by problem and solver.
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def recorded_blinding(c: Session, study_id: str, shown: int) -> RecordedBlinding:
    """The recorded blinding of a study; `shown` is the number of solutions shown to judges."""
    rows = c.execute(
        select(EventRow.what, EventRow.detail, PersonRow.id)
        .join(PersonRow, PersonRow.key == EventRow.person_key, isouter=True)
        .where(EventRow.study_id == study_id)
        .where(EventRow.what.in_(("blinding-frozen", "maker-guessed")))
        .order_by(EventRow.key)
    )
    frozen = RecordedBlinding(shown)
    guesses: dict[tuple[str, str, str], Guess] = {}
    for what, detail, judge in rows:
        if what == "blinding-frozen":
            frozen = RecordedBlinding(*(detail[name] for name in _COUNTS))
        elif judge:
            place = judge, detail["problem"], detail["solver"]
            guesses.setdefault(place, Guess(*place, detail["guess"]))
    return replace(frozen, guesses=tuple(guesses.values()))


_CHOICES = {"redact": "replaced", "accept": "kept"}
_OPEN = "open"
_DECIDED, _REVIEWED, _FROZEN = "word-decided", "solution-reviewed", "blinding-frozen"
_Place = tuple[str, str, str]
# The answer to whether a solution that changed after it was judged is the same.
_SAME, _NEW = "solution-same", "solution-new"


def note_decisions(c: Session, study_id: str, actor: str, decided: Iterable[Reviewed]) -> None:
    """Log new decisions, and those that were made again after being undone."""
    now = {(one.problem, one.solver, plain(one.words)): one for one in decided}
    logged = _logged(c, study_id)
    changed: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for (problem, solver, _), one in now.items():
        choice = _CHOICES[one.decision]
        if logged.pop((problem, solver, plain(one.words)), ("", ""))[0] != choice:
            changed[one.words, choice].append((problem, solver))
    for (problem, solver, _), (_, words) in logged.items():
        changed[words, _OPEN].append((problem, solver))
    for (word, choice), solutions in changed.items():
        record(c, study_id, actor, _DECIDED, word=word, choice=choice, solutions=solutions)


def note_reviewed(c: Session, study_id: str, actor: str, place: _Place, guess: str = "") -> None:
    """Log an organizer's review of a solution: its problem, solver, and digest."""
    problem, solver, digest = place
    detail = {"solver": solver, "problem": problem, "digest": digest}
    detail |= {"guess": guess} if guess else {}
    record(c, study_id, actor, _REVIEWED, None, **detail)


def reviewed_digests(c: Session, study_id: str) -> dict[tuple[str, str], set[str]]:
    """The digests of reviewed solutions, by problem and solver."""
    digests: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for _, detail in _details(c, study_id, _REVIEWED):
        digests[detail["problem"], detail["solver"]].add(detail["digest"])
    return digests


def is_reviewed(solution: Solution, seen: Mapping[tuple[str, str], Collection[str]]) -> bool:
    """Whether the current content of a solution was reviewed."""
    digests = seen.get((solution.problem, solution.solver), ())
    return any(is_unchanged(solution, digest) for digest in digests)


def count_unreviewed(c: Session, study_id: str, solutions: Solutions) -> int:
    """The number of unreviewed solutions; 0 after the first ranking."""
    if is_frozen(c, study_id):
        return 0
    seen = reviewed_digests(c, study_id)
    groups = solutions.by_problem.values()
    return sum(not is_reviewed(one, seen) for group in groups for one in group.values())


def is_frozen(c: Session, study_id: str) -> bool:
    """Whether the review is frozen, since the first ranking."""
    return bool(_details(c, study_id, _FROZEN))


def frozen_look(c: Session, study_id: str) -> bool | None:
    """Whether texts had the uniform look at the first ranking; None before it."""
    frozen = _details(c, study_id, _FROZEN)
    return bool(frozen[0][1].get("same_look")) if frozen else None


def freeze_review(c: Session, study_id: str, facts: dict[str, int]) -> None:
    """Freeze the state of the review at the first ranking, once."""
    if not is_frozen(c, study_id):
        record(c, study_id, "server", _FROZEN, **facts)


def answer_change(c: Session, study_id: str, actor: str, place: _Place, *, is_same: bool) -> None:
    """Log whether a changed solution is the same: problem, solver, and current digest."""
    problem, solver, digest = place
    what = _SAME if is_same else _NEW
    record(c, study_id, actor, what, where=problem, solver=solver, sha256=digest)


def answered_changes(c: Session, study_id: str) -> dict[_Place, bool]:
    """The valid answers of `answer_change`, by problem, solver, and digest."""
    rows = _details(c, study_id, _SAME, _NEW)
    return {(d["where"], d["solver"], d["sha256"]): what == _SAME for what, d in rows}


def _details(c: Session, study_id: str, *names: str) -> list[tuple[str, dict[str, Any]]]:
    """Name and detail of each event of some names, oldest first."""
    mine = EventRow.study_id == study_id, EventRow.what.in_(names)
    rows = c.execute(select(EventRow.what, EventRow.detail).where(*mine).order_by(EventRow.key))
    return [(what, detail) for what, detail in rows]


def _logged(c: Session, study_id: str) -> dict[_Place, tuple[str, str]]:
    """The current decisions by the log: choice and words, by place."""
    held: dict[_Place, tuple[str, str]] = {}
    for _, detail in _details(c, study_id, _DECIDED):
        for problem, solver in detail["solutions"]:
            place = problem, solver, plain(detail["word"])
            held.pop(place, None)
            if detail["choice"] != _OPEN:
                held[place] = detail["choice"], detail["word"]
    return held
