"""What a running app serves: one study, its solutions, and its store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.solutions import check_solutions, is_unchanged
from quem.store.ballots import Group, Plan
from quem.store.engine import open_store
from quem.store.judges import sync_judges
from quem.store.place import find_place
from quem.store.studies import register_study, shown_digests
from quem.study.reading import draft_study

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from quem.errors import Doubt
    from quem.solutions import Solution, Solutions
    from quem.store.engine import Store
    from quem.study.models import ExperienceStudy, Problem

__all__ = ["Site", "open_site"]


@dataclass(frozen=True)
class Site:
    """A study that is judged.

    Parameters
    ----------
    path : Path
        The study file.
    spec : ExperienceStudy
    solutions : Solutions
    store : Store
    plan : Plan
    doubts : tuple of Doubt
        About the solutions.
    """

    path: Path
    spec: ExperienceStudy
    solutions: Solutions
    store: Store
    plan: Plan
    doubts: tuple[Doubt, ...] = ()

    @property
    def id(self) -> str:
        """The study's id in the store."""
        return self.spec.id

    @property
    def key(self) -> str:
        """A short name of the study that says nothing about it, for cookies."""
        return hashlib.sha256(self.spec.id.encode()).hexdigest()[:10]

    def problem(self, problem_id: str) -> Problem | None:
        """Give what the study file says of a problem."""
        return next((p for p in self.spec.problems if p.id == problem_id), None)

    def group(self, problem: str) -> dict[str, Solution]:
        """Give a problem's solutions, by solver."""
        if problem == self.spec.judging.practice:
            return self.solutions.practice
        return self.solutions.by_problem.get(problem, {})

    def solution(self, problem: str, solver: str) -> Solution | None:
        """Give a solution, or None where the study has it no more."""
        return self.group(problem).get(solver)

    def changed(self) -> Iterator[tuple[str, str]]:
        """Give problem and solver of the solutions that changed since judges saw them."""
        with self.store.read() as c:
            shown = shown_digests(c, self.id)
        for (problem, solver), digest in shown.items():
            if not is_unchanged(self.solution(problem, solver), digest):
                yield problem, solver


def open_site(path: str | os.PathLike[str], database: str | None = None) -> Site:
    """Open a study for judging: read it, find its solutions, open its store.

    Parameters
    ----------
    path : path-like
        The study file.
    database : str, optional
        A URL, or the path of an SQLite file; see `quem.store.place.find_place`.

    Raises
    ------
    QuemError
        With every mistake in the study file and its solutions, or in the database.
    """
    draft = draft_study(path)
    if draft.spec is None or draft.mistakes:
        raise QuemError(draft.mistakes)
    solutions, mistakes, doubts = check_solutions(draft, complete=True)
    if mistakes:
        raise QuemError(mistakes)
    spec = draft.spec
    store = open_store(find_place(Path(path), database))
    with store.write() as c:
        register_study(c, spec.id)
        sync_judges(c, spec.id, spec.judges)
    return Site(Path(path), spec, solutions, store, _plan(spec, solutions), tuple(doubts))


def _plan(spec: ExperienceStudy, solutions: Solutions) -> Plan:
    practice = spec.judging.practice
    by_problem = solutions.by_problem
    groups = [Group(p.id, tuple(by_problem.get(p.id, ()))) for p in spec.problems]
    groups = [group for group in groups if group.solvers and group.problem != practice]
    plan = Plan(
        tuple(groups),
        Group(practice, tuple(solutions.practice)) if practice else None,
        block_size=spec.design.block_size,
    )
    return replace(plan, repeat=min(spec.judging.repeat, len(plan.parts)))
