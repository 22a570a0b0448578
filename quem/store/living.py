"""Changes to a study during judging: current tasks, and the affected judges."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.orm import Session, selectinload

from quem.errors import StudyWarning
from quem.store.events import note_once
from quem.store.layouts import Content
from quem.store.models import Layout, PersonRow, TaskRow
from quem.store.planned import Group, JudgingPlan, ProblemDraw, draw_of
from quem.store.work import LAST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from quem.solutions import Solution, Solutions
    from quem.studyfile.relevance import JudgedSpec

Contents = dict[str, Content | None]
_MOST_PROBLEMS = 5
_AT_ONCE = 100  # judges per query
# Keys of layouts that others may still be committing when a greater one exists.
_NOT_YET = 1_000
# After a check longer than this, the next one waits nine times as long.
_FREE_SECONDS, _REST = 0.1, 9


def plan_of(spec: JudgedSpec, solutions: Solutions, kept: ProblemDraw | None = None) -> JudgingPlan:
    """The judging plan of a study."""
    practice = spec.judging.practice
    draw = draw_of(spec, solutions)
    if draw and kept:
        draw = kept
    groups = [
        Group(p.id, tuple(solutions.by_problem.get(p.id, ())))
        for p in spec.problems
        if draw is None or p.id in draw.problems
    ]
    plan = JudgingPlan(
        tuple(group for group in groups if group.solvers and group.problem != practice),
        Group(practice, tuple(solutions.practice)) if practice else None,
        block_size=spec.design.block_size,
        draw=draw,
    )
    return replace(plan, repeat=min(spec.judging.repeat, len(plan.parts)))


def contents_of(
    solutions: Solutions, group: Group, answered: Mapping[tuple[str, str, str], bool]
) -> Contents:
    """The current contents of a group's solutions; None for an unreadable one."""
    by_solver = solutions.group(group.problem)
    return {
        solver: _content(by_solver[solver], answered) if solver in by_solver else None
        for solver in group.solvers
    }


def _content(solution: Solution, answered: Mapping[tuple[str, str, str], bool]) -> Content | None:
    try:
        digest = solution.digest
        is_correction = answered.get((solution.problem, solution.solver, digest), False)
        return Content(digest, is_correction)
    except OSError:
        return None


def new_solvers(ballot: TaskRow, contents: Mapping[str, Content | None]) -> list[str]:
    """The solvers whose solutions are missing in a submitted ranking."""
    if ballot.placed is None or not ballot.is_submitted:
        return []
    placed = {item.solver: item for item in ballot.placed.items}
    return [
        solver
        for solver, content in contents.items()
        if solver not in placed
        or not (content is None or content.is_correction or content.is_in(placed[solver]))
    ]


@dataclass
class Effect:
    """The effect of a change to the study on judges who saw the solutions before."""

    what: str
    solver: str
    problems: set[str] = field(default_factory=set)
    judges: set[str] = field(default_factory=set)
    # Numbers of affected rankings, in progress and submitted
    open: int = 0
    submitted: int = 0
    digests: dict[str, str] = field(default_factory=dict)  # of the current contents, by problem

    def note(self, judge: str, ballot: TaskRow, content: Content | None) -> None:
        """Count a ranking."""
        self.judges.add(judge)
        self.problems.add(ballot.problem)
        self.submitted += ballot.is_submitted
        self.open += not ballot.is_submitted
        if content:
            self.digests[ballot.problem] = content.digest


def effects(
    c: Session,
    study_id: str,
    plan: JudgingPlan,
    contents: Callable[[Group], Contents],
    after: int = 0,
) -> list[Effect]:
    """The effects of changes to the study since judges saw it."""
    by_key: dict[tuple[str, str], Effect] = {}
    held_now = cache(contents)
    for judge, opened in groupby(_opened(c, study_id, after), key=itemgetter(0)):
        ballots = [ballot for _, ballot in opened]
        blocks: defaultdict[str, set[str]] = defaultdict(set)
        for ballot in ballots:
            blocks[ballot.problem] |= set(ballot.solvers or ())
        for ballot in ballots:
            group = plan.find(ballot)
            if group is None:
                continue
            now = held_now(group)
            if ballot.solvers is not None and ballot.block == ballot.occasion == 1:
                whole = next(g for g in plan.groups if g.problem == ballot.problem)
                added = held_now(whole)
                now = now | {s: added[s] for s in added if s not in blocks[ballot.problem]}
            for what, solver in _differences(ballot, now):
                effect = by_key.setdefault((what, solver), Effect(what, solver))
                effect.note(judge, ballot, now.get(solver))
    return [by_key[key] for key in sorted(by_key)]


def _opened(c: Session, study_id: str, after: int) -> Iterator[tuple[str, TaskRow]]:
    """Judge and ballot of all opened ballots, judge by judge, without practice."""
    newer = (
        select(TaskRow.person_key)
        .join(Layout, Layout.task_key == TaskRow.key)
        .where(Layout.key > after)
    )
    mine = select(PersonRow.key, PersonRow.id).where(PersonRow.of(study_id, "judge"))
    if after:
        mine = mine.where(PersonRow.key.in_(newer))
    judges = c.execute(mine.order_by(PersonRow.key)).all()
    # In batches: all at once would exhaust memory, and databases plan cursors badly.
    opened = TaskRow.layout_id.is_not(None), TaskRow.practice.is_(False)
    order = TaskRow.person_key, TaskRow.position, TaskRow.key
    for first in range(0, len(judges), _AT_ONCE):
        some = {judge.key: judge.id for judge in judges[first : first + _AT_ONCE]}
        tasks = (
            select(TaskRow)
            .where(TaskRow.person_key.in_(some), *opened)
            .options(LAST, selectinload(TaskRow.layouts))
        )
        for ballot in c.scalars(tasks.order_by(*order)):
            yield some[ballot.person_key], ballot


class Changes:
    """A cache of `effects` for frequent calls.

    While no solution changes, only newly opened ballots are examined. If there are effects,
    everything is examined each time, limited to a tenth of the time.
    """

    def __init__(self) -> None:
        self._agreed: tuple[object, int] | None = None  # the checked state, and the last layout
        self._found: tuple[object, list[Effect]] = None, []
        self._until = 0.0

    def effects(
        self,
        c: Session,
        study_id: str,
        plan: JudgingPlan,
        contents: Callable[[Group], Contents],
    ) -> list[Effect]:
        """The effects of changes to the study since judges saw it; see `effects`."""
        held = {group: contents(group) for group in plan.everything}
        signature = plan, held
        if monotonic() < self._until and self._found[0] == signature:
            return self._found[1]
        last = c.execute(select(func.max(Layout.key))).scalar() or 0
        agreed, upto = self._agreed or (None, 0)
        after = max(upto - _NOT_YET, 1) if agreed == signature else 0
        start = monotonic()
        found = effects(c, study_id, plan, contents, after)
        if found and after:
            found = effects(c, study_id, plan, contents)
        took = monotonic() - start
        self._agreed = None if found else (signature, last)
        self._found = signature, found
        self._until = monotonic() + _REST * took if took > _FREE_SECONDS else 0.0
        return found


def note_effects(c: Session, study_id: str, changes: list[Effect]) -> None:
    """Log the effects of a change, unless they equal the last ones."""
    if changes:
        sentences = [effect_warning(effect).message for effect in changes]
        note_once(c, study_id, "server", "study-changed", effects=sentences)


def _differences(ballot: TaskRow, now: Contents) -> Iterator[tuple[str, str]]:
    # A saved ranking refers to its own layout, whatever its letters are now.
    layout = ballot.placed or ballot.layout
    items = {item.solver: item for item in layout.items} if layout else {}
    for solver, content in now.items():
        if solver not in items:
            yield "added", solver
        elif content is not None and not content.is_in(items[solver]):
            yield "corrected" if content.is_correction else "changed", solver
    for solver in items:
        if solver not in now:
            yield "removed", solver


def effect_warning(effect: Effect) -> StudyWarning:
    """A warning on the effect of a change."""
    where = ", ".join(sorted(effect.problems)[:_MOST_PROBLEMS])
    where += " and more" if len(effect.problems) > _MOST_PROBLEMS else ""
    count = effect.open + effect.submitted
    asks = f"{_counted(len(effect.judges), 'judge')} for {_counted(count, 'placement')}"
    of_these = f", {effect.submitted} of them in submitted rankings" if effect.submitted else ""
    if effect.what == "added":
        return StudyWarning("session-changed", f"adding {effect.solver} asks {asks}{of_these}")
    if effect.what == "removed":
        message = (
            f"removing {effect.solver} takes it out of {_counted(effect.open, 'ranking')} in "
            f"progress; {_counted(effect.submitted, 'submitted ranking')} keep it in their history"
        )
        return StudyWarning("session-changed", message)
    if effect.what == "corrected":
        message = (
            f"the corrected solution of {effect.solver} on {where} keeps its letter and place for "
            f"{_counted(len(effect.judges), 'judge')}"
        )
        return StudyWarning("session-changed", message)
    message = (
        f"the changed solution of {effect.solver} on {where} counts as a new one and asks "
        f"{asks}{of_these}; if it is the same solution, say so in the dashboard, under Solutions"
    )
    return StudyWarning("session-changed", message)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
