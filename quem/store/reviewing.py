"""What organizers decided about words in solutions, in the activity log and so in archives."""

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
