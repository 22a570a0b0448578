"""The problems that experts rank, where machine judges rank all: their draw, and its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.store.events import note_once
from quem.store.models import EventRow
from quem.studyfile.draw import digest_of_solutions, order_of_draw

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from quem.solutions import Solutions
    from quem.studyfile.relevance import JudgedSpec

_WHAT = "problems-drawn"


@dataclass(frozen=True)
class ProblemDraw:
    """Which problems experts rank."""

    digest: str  # of the solutions and the study's nonce; see `quem.studyfile.draw`
    problems: tuple[str, ...]  # sorted by lot
    solvers: tuple[str, ...]  # whose solutions they were drawn from
    drawn_at: str = ""  # when ballots of them were first dealt, in UTC; empty where none is


def draw_of(spec: JudgedSpec, solutions: Solutions) -> ProblemDraw | None:
    """Draw the problems that experts rank, from the solutions as they are now."""
    if spec.machine is None or spec.machine.experts_on is None:
        return None
    practice = (spec.judging.practice, spec.solving.practice if spec.solving else "")
    by_problem = {p: of for p, of in solutions.by_problem.items() if of and p not in practice}
    digest = digest_of_solutions(
        (
            (problem, solver, solution.digest)
            for problem, by_solver in by_problem.items()
            for solver, solution in by_solver.items()
        ),
        spec.machine.experts_on.nonce,
    )
    drawn = order_of_draw(by_problem, digest)[: spec.machine.experts_on.n]
    return ProblemDraw(digest, drawn, tuple(sorted(set().union(*by_problem.values()))))


def record_draw(c: Session, study_id: str, draw: ProblemDraw) -> None:
    """Note which problems judges are given; it holds from then on, whatever changes."""
    names = {"problems": list(draw.problems), "solvers": list(draw.solvers)}
    note_once(c, study_id, "server", _WHAT, digest=draw.digest, **names)


def recorded_draw(c: Session, study_id: str) -> ProblemDraw | None:
    """Give the draw that judges were dealt by; None where nobody was."""
    mine = EventRow.study_id == study_id, EventRow.what == _WHAT
    event = c.scalars(select(EventRow).where(*mine).order_by(EventRow.key).limit(1)).one_or_none()
    if event is None:
        return None
    problems, solvers = (tuple(event.detail[name]) for name in ("problems", "solvers"))
    return ProblemDraw(
        event.detail["digest"], problems, solvers, f"{event.made_at:%Y-%m-%dT%H:%M:%SZ}"
    )
