"""What organizers decided about solutions, in the activity log and so in archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.solutions.patterns import plain
from quem.store.events import record
from quem.store.models import EventRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from quem.study.models import Reviewed

# What an event is called, and the decision that it tells of; with none left, it was undone.
_EVENTS = {"redact": "words-redacted", "accept": "words-accepted", "": "decision-undone"}
_DECISIONS = {what: decision for decision, what in _EVENTS.items()}
_Place = tuple[str, str, str]
# An answer to the question whether a solution that changed after it was judged is the same.
_SAME, _NEW = "solution-same", "solution-new"


def note_decisions(c: Connection, study_id: str, actor: str, decided: Iterable[Reviewed]) -> None:
    """Log each decision that is not in the log yet, and each that is and was undone since."""
    now = {_place(one.problem, one.solver, one.words): one for one in decided}
    logged = _logged(c, study_id)
    for place, one in now.items():
        if place not in logged or logged[place][0] != one.decision:
            what = _EVENTS[one.decision]
            _record(c, study_id, actor, what, (one.problem, one.solver, one.words))
    for place, (_, words) in logged.items():
        if place not in now:
            _record(c, study_id, actor, _EVENTS[""], (place[0], place[1], words))


def answer_change(
    c: Connection, study_id: str, actor: str, place: _Place, *, is_same: bool
) -> None:
    """Log whether a changed solution is the same: problem, solver, and digest of what it is now."""
    problem, solver, digest = place
    what = _SAME if is_same else _NEW
    record(c, study_id, actor, what, where=problem, solver=solver, sha256=digest)


def answered_changes(c: Connection, study_id: str) -> dict[_Place, bool]:
    """Give the answers to `answer_change` that hold, by problem, solver, and digest."""
    rows = c.execute(
        select(EventRow.what, EventRow.detail)
        .where(EventRow.study_id == study_id, EventRow.what.in_((_SAME, _NEW)))
        .order_by(EventRow.key)
    )
    return {(d["where"], d["solver"], d["sha256"]): what == _SAME for what, d in rows}


def _record(c: Connection, study_id: str, actor: str, what: str, place: _Place) -> None:
    problem, solver, words = place
    record(c, study_id, actor, what, where=problem, solver=solver, words=words)


def _logged(c: Connection, study_id: str) -> dict[_Place, tuple[str, str]]:
    """What holds as far as the log says: decision and words, by place."""
    rows = c.execute(
        select(EventRow.what, EventRow.detail)
        .where(EventRow.study_id == study_id, EventRow.what.in_(_DECISIONS))
        .order_by(EventRow.key)
    )
    held: dict[_Place, tuple[str, str]] = {}
    for what, detail in rows:
        place = _place(detail["where"], detail["solver"], detail["words"])
        held.pop(place, None)
        if decision := _DECISIONS[what]:
            held[place] = decision, detail["words"]
    return held


def _place(problem: str, solver: str, words: str) -> _Place:
    return problem, solver, plain(words)
