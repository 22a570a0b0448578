"""What a running app serves: one study, its solutions, and its store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.solutions import check_solutions
from quem.store.ballots import Group, Plan
from quem.store.engine import open_store
from quem.store.judges import sync_judges
from quem.store.layouts import Content
from quem.store.place import find_place
from quem.store.rankings import shown_digests
from quem.store.studies import register_study, secret_of
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
    secret : str
        The key of the hashes that judges see.
    doubts : tuple of Doubt
        About the solutions.
    """

    path: Path
    spec: ExperienceStudy
    solutions: Solutions
    store: Store
    plan: Plan
    secret: str
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

    def contents(self, group: Group) -> dict[str, Content | None]:
        """Give what the solutions of a group hold now; None for one that cannot be read."""
        return {solver: self._content(group.problem, solver) for solver in group.solvers}

    def _content(self, problem: str, solver: str) -> Content | None:
        solution = self.solution(problem, solver)
        try:
            if solution is None:
                return None
            digest = solution.digest
            corrects = (problem, solver, digest) in self.corrections
            return Content(digest, solution.older_digest, corrects)
        except OSError:
            return None

    @cached_property
    def corrections(self) -> set[tuple[str, str, str]]:
        """Problem, solver and digest of the contents that only correct what was there before."""
        return {(one.problem, one.solver, one.sha256) for one in self.spec.corrections}

    def changed(self) -> Iterator[tuple[str, str]]:
        """Give problem and solver of the solutions that are no longer what judges were shown."""
        with self.store.read() as c:
            shown = shown_digests(c, self.id)
        for (problem, solver), digests in shown.items():
            content = self._content(problem, solver)
            if content is None or digests - {content.digest, content.older}:
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
        secret = secret_of(c, spec.id)
    plan = _plan(spec, solutions)
    return Site(Path(path), spec, solutions, store, plan, secret, tuple(doubts))


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
