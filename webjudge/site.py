"""The served site: a study, its solutions, and its store."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from quem.blinding.workers import held
from quem.errors import FileError, Mistake, QuemError, StudyWarning, refuse
from quem.solutions import Solution, Solutions, check_solutions
from quem.solutions.checking import find_warnings
from quem.solutions.model import Signature, signature
from quem.solutions.sheets import is_unwritten
from quem.store.care import WORDS_A_MINUTE, count_words
from quem.store.database import THREADS, Store, open_store
from quem.store.living import Changes, Effect, contents_of, new_solvers, note_effects, plan_of
from quem.store.location import locate_database
from quem.store.people import has_people, sync_everybody
from quem.store.planned import Group, JudgingPlan, recorded_draw
from quem.store.reviewing import answered_changes, frozen_look, note_decisions
from quem.store.studies import register_study, secret_of, solving_state, status_of
from quem.studyfile.models import ExperienceSpec, Judge, LanguageCode, Person, Problem
from quem.studyfile.reading import draft_study
from webjudge.languages import ENGLISH

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from sqlalchemy.orm import Session

    from quem.store.layouts import Content
    from quem.store.models import PersonRow, TaskRow
    from quem.studyfile.relevance import JudgedSpec

_LATELY_SECONDS = 2.0
# Minutes per task in addition to reading.
_MINUTES_A_TASK = 1
_ROUNDED_TO = 5
_NO_SANDBOX = (
    "lets subjects upload files, which would be parsed without a sandbox here: {}; set "
    "solving.uploads to [], or trust the subjects and add --unsandboxed"
)


@dataclass(frozen=True)
class Site:
    """A study being judged."""

    path: Path  # the study file
    spec: JudgedSpec
    solutions: Solutions
    store: Store
    plan: JudgingPlan
    secret: str = field(repr=False)  # the key of the hashes that judges see
    warnings: tuple[StudyWarning, ...] = ()  # about the solutions
    # Organizers' answers whether a solution that changed after judging is the same, by
    # problem, solver, and digest.
    answered: dict[tuple[str, str, str], bool] = field(default_factory=dict)
    # Whether LibreOffice must run in the sandbox.
    sandboxed: bool = True
    # Current faults of the running server, for the dashboard: one sentence per key.
    troubles: dict[str, str] = field(default_factory=dict, compare=False)
    # Time of the last log entry per kind of database error.
    reported: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    # The dashboard's counts per plan, with their time.
    counted: dict[JudgingPlan, tuple[float, Any]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _known: dict[Group, tuple[float, dict[str, Content | None]]] = field(
        default_factory=dict, repr=False
    )
    # Cache of warnings by the files that they were found in.
    _checked: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _changes: Changes = field(default_factory=Changes, repr=False, compare=False)

    @property
    def id(self) -> str:
        """The study's id in the store."""
        return self.spec.id

    @property
    def key(self) -> str:
        """An opaque short name of the study, for cookies."""
        return hashlib.sha256(self.spec.id.encode()).hexdigest()[:10]

    @cached_property
    def minutes(self) -> int:
        """Minutes that a judge needs: the study file's, or an estimate from reading time."""
        if self.spec.minutes:
            return self.spec.minutes
        groups = self.plan.groups
        # Consecutive blocks share solutions, which are read repeatedly.
        words = sum(
            sum(map(count_words, self.group(group.problem).values()))
            * sum(self.plan.sizes(group))
            / len(group.solvers)
            for group in groups
        )
        again = 1 + self.plan.repeat / max(len(self.plan.parts), 1)
        tasks = len(self.plan.parts) + self.plan.repeat
        minutes = tasks * _MINUTES_A_TASK + again * words / WORDS_A_MINUTE
        return max(_ROUNDED_TO, round(minutes / _ROUNDED_TO) * _ROUNDED_TO)

    @cached_property
    def _declared(self) -> dict[str, Judge | Person]:
        """Judges and solving people of the study file, by id."""
        solving = self.spec.solving
        people: tuple[Judge | Person, ...] = solving.people if solving else ()
        return {one.id: one for one in (*people, *self.spec.judges)}

    def address(self, person: PersonRow) -> str:
        """Form of address of a judge or subject; may be empty."""
        declared = self._declared.get(person.id)
        return (declared.address if declared else "") or person.name

    def language(self, person: PersonRow) -> LanguageCode | None:
        """The study file's language for a judge or subject."""
        declared = self._declared.get(person.id)
        return declared.language if declared else None

    @property
    def usual_language(self) -> LanguageCode:
        """The default language of judges."""
        return self.spec.judging.language or ENGLISH

    def problem(self, problem_id: str) -> Problem | None:
        """A problem of the study file, by id."""
        return next((p for p in self.spec.problems if p.id == problem_id), None)

    def group(self, problem: str) -> dict[str, Solution]:
        """A problem's solutions, by solver."""
        if problem == self.spec.judging.practice:
            return self.solutions.practice
        return self.solutions.by_problem.get(problem, {})

    def solution(self, problem: str, solver: str) -> Solution | None:
        """A solution, or None if the study no longer has it."""
        return self.group(problem).get(solver)

    def contents(self, group: Group) -> dict[str, Content | None]:
        """Current contents of a group's solutions; None for an unreadable one."""
        return contents_of(self.solutions, group, self.answered)

    def to_place(self, ballot: TaskRow) -> int:
        """Number of solutions not yet placed in a submitted ranking."""
        group = self.plan.find(ballot) if ballot.is_submitted else None
        return len(new_solvers(ballot, self._lately(group))) if group else 0

    def _lately(self, group: Group) -> dict[str, Content | None]:
        """Contents of a group, cached for a moment, since a page lists many groups."""
        known = self._known.get(group)
        if known is None or monotonic() - known[0] > _LATELY_SECONDS:
            known = self._known[group] = monotonic(), self.contents(group)
        return known[1]

    def unreadable(self) -> list[str]:
        """Names of solutions whose files cannot be read now."""
        return [
            f"{solver} on {group.problem}"
            for group in self.plan.everything
            for solver, content in self.contents(group).items()
            if content is None
        ]

    def lacking(self, c: Session) -> dict[str, int]:
        """Counts of what is missing before the study can open, in the order of setup."""
        spec, found = self.spec, self.solutions
        solving = spec.solving and solving_state(c, self.id) != "closed"
        texts = {"briefing": found.briefing, "consent": found.consent}
        parts = {
            "solved": spec.awaits_subjects,
            "people": isinstance(spec, ExperienceSpec)
            and not (spec.subjects or spec.awaits_subjects),
            "statements": sum(map(is_unwritten, found.statements.values())),
            **{name: sheet and is_unwritten(sheet) for name, sheet in texts.items()},
            "solving": solving,
            "judges": not has_people(c, self.id, "judge"),
        }
        return {name: int(count) for name, count in parts.items() if count}

    def effects(self, c: Session) -> list[Effect]:
        """Effects of changes since the judges saw the study."""
        return self._changes.effects(c, self.id, self.plan, self.contents)

    def live_warnings(self) -> tuple[StudyWarning, ...]:
        """Warnings about current solutions; unwritten texts are listed elsewhere."""
        files = [file for one in self.solutions for file in one.files]
        files += [file for sheet in self.solutions.sheets() for file in sheet.files]
        found = [signature_of(file.path) for file in files]
        known = self._checked.setdefault("files", found)
        if found != known:
            # Report unreadable or partly written files, and keep the other warnings.
            with suppress(QuemError, OSError):
                self._checked["warnings"] = tuple(find_warnings(self.solutions, self.spec))
                self._checked["files"] = found
        warnings: tuple[StudyWarning, ...] = self._checked.get("warnings", self.warnings)
        return tuple(one for one in warnings if one.code != "unwritten-text")

    def unanswered(self, c: Session) -> dict[tuple[str, str], str]:
        """Problem, solver, and digest of solutions that changed after judging."""
        if status_of(c, self.id).state == "trial":
            return {}
        return {
            (problem, effect.solver): digest
            for effect in self.effects(c)
            if effect.what == "changed"
            for problem, digest in effect.digests.items()
            if (problem, effect.solver, digest) not in self.answered
        }


def signature_of(path: Path | None) -> Signature | None:
    """The signature of a file; None without a readable one."""
    with suppress(OSError):
        return signature(path) if path else None
    return None


def open_site(
    path: str | os.PathLike[str],
    database: str | None = None,
    *,
    sandboxed: bool = True,
    threads: int = THREADS,
    tell: Callable[[int, int], object] = lambda _done, _all: None,
) -> Site:
    """Open a study for judging, with its solutions and store."""
    spec, solutions, warnings = _read(Path(path), sandboxed=sandboxed, tell=tell)
    store = open_store(locate_database(Path(path), database), threads)
    try:
        with store.write() as c:
            register_study(c, spec.id, store.place.beside(Path(path)))
            secret = secret_of(c, spec.id)
            plan = plan_of(spec, solutions, recorded_draw(c, spec.id))
            answered = answered_changes(c, spec.id)
        site = Site(
            Path(path),
            spec,
            solutions,
            store,
            plan,
            secret,
            warnings,
            answered,
            sandboxed=sandboxed,
        )
        _prepare(site)
    except BaseException:
        store.close()
        raise
    return site


def reopened(site: Site) -> Site:
    """Reload an edited study; the store stays open."""
    spec, solutions, warnings = _read(site.path, sandboxed=site.sandboxed)
    if spec.id != site.id:
        message = f"is now the study {spec.id!r}; start the server again to serve it"
        raise FileError(site.path, message)
    new = with_study(site, spec, solutions, warnings)
    _prepare(new)
    return new


def with_study(
    site: Site, spec: JudgedSpec, solutions: Solutions, warnings: tuple[StudyWarning, ...]
) -> Site:
    """A copy of the site with another study file and solutions."""
    with site.store.read() as c:
        plan = plan_of(spec, solutions, recorded_draw(c, spec.id))
        answered = answered_changes(c, spec.id)
    return replace(
        site,
        spec=spec,
        solutions=solutions,
        plan=plan,
        warnings=warnings,
        answered=answered,
        counted={},
        _known={},
        _checked={},
    )


def _read(
    path: Path,
    *,
    sandboxed: bool,
    tell: Callable[[int, int], object] = lambda _done, _all: None,
) -> tuple[JudgedSpec, Solutions, tuple[StudyWarning, ...]]:
    draft = draft_study(path)
    spec = draft.checked()
    if sandboxed and spec.solving and spec.solving.uploads and not held()["seccomp"]:
        raise FileError(path, _NO_SANDBOX.format("; ".join(held()["why"])))
    solutions, mistakes, warnings = check_solutions(
        draft, complete=not spec.awaits_subjects, sandboxed=sandboxed, tell=tell
    )
    refuse(mistakes)
    return spec, solutions, tuple(warnings)


def _prepare(site: Site) -> None:
    """Read every file once, and synchronize the store with the study file."""
    spec = site.spec
    with site.store.write() as c:
        look = frozen_look(c, spec.id)
        if look not in (None, spec.judging.same_look):
            message = (
                f"is fixed since the first ranking; set it back to {str(look).lower()} "
                "(test rankings: delete them first)"
            )
            raise QuemError(Mistake(str(site.path), key="judging.same_look", message=message))
        sync_everybody(c, spec)
    site.live_warnings()  # from now on
    # Report unreadable files at the start, not to a judge.
    if unreadable := site.unreadable():
        message = "cannot be read; check the files' permissions"
        raise QuemError(
            [Mistake(str(site.path), message=f"{name}: {message}") for name in unreadable]
        )
    with site.store.write() as c:
        note_decisions(c, spec.id, "server", spec.judging.reviewed)
        note_effects(c, spec.id, site.effects(c))
