"""What a judging session recorded of its blinding: the review, and judges' guesses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.store.models import EventRow, PersonRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

_COUNTS = ("of", "reviewed", "replaced", "kept", "open")


@dataclass(frozen=True)
class Guess:
    """Who a judge thought made a solution."""

    judge: str
    problem: str
    solver: str
    guess: str  # person, system, or unsure


@dataclass(frozen=True)
class RecordedBlinding:
    """How far the review was at the first ranking, what judges guessed, and what they read."""

    of: int  # solutions that judges were shown
    reviewed: int = 0
    # Words by what was decided about them.
    replaced: int = 0
    kept: int = 0
    open: int = 0
    guesses: tuple[Guess, ...] = ()
    # The text of each solution as judges received it, by problem and solver.
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def recorded_blinding(c: Session, study_id: str, shown: int) -> RecordedBlinding:
    """Read what is recorded of a study; `shown` is the number of solutions that judges got."""
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
