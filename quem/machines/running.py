"""A run of a machine judge: its calls, cached or new, and the record of the run."""

from __future__ import annotations

import datetime as dt
import hashlib
import random
import secrets
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from threading import Event, Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from quem.errors import Mistake, QuemError, refuse
from quem.machines.answers import InvalidAnswerError, Refusal, Transcripts, read_answer
from quem.machines.calling import CallError, Pace, Reply, judge_of
from quem.machines.material import ImagesError, sheet_pieces, solution_pieces
from quem.machines.requests import Request, default_prompt, digest, read_prompt
from quem.solutions import Solutions, check_solutions
from quem.store.living import plan_of
from quem.studyfile.blocks import PairCounts, lot
from quem.studyfile.reading import draft_experience
from quem.studyfile.runs import Call, Run, read_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from quem.studyfile import Declared, ExperienceSpec
    from quem.studyfile.machines import Machine

_ATTEMPTS = 3
# After this many failed calls at the start, the run ends.
_NOBODY = 3
T = TypeVar("T")


@dataclass(frozen=True)
class Judged:
    """A study as machine judges receive it."""

    path: Path
    name: str  # as the user named it
    spec: ExperienceSpec
    declared: Declared
    solutions: Solutions
    prompt: str


@dataclass(frozen=True)
class Task:
    """One order of one problem's solutions."""

    problem: str
    block: int
    repeat: int
    request: Request

    @property
    def where(self) -> dict[str, Any]:
        """The identity of a call."""
        order = self.request.solvers
        return {"problem": self.problem, "block": self.block, "repeat": self.repeat, "order": order}


@dataclass(frozen=True)
class Planned:
    """The requests of a run to one machine judge."""

    study: Judged
    machine: Machine
    tasks: tuple[Task, ...]
    is_part: bool = False  # whether it covers only some problems, so that it does not count

    @property
    def n_bytes(self) -> int:
        """Bytes to send, without repeated requests."""
        return sum(task.request.size for task in self.tasks)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of content to send: briefing, statements, solutions, and images."""
        requests = [task.request for task in self.tasks]
        kinds = {
            "briefing": any(one.briefing for one in requests),
            "statements": any(one.problem for one in requests),
            "solutions": bool(requests),
            "images": any(piece.is_image for one in requests for piece in one.pieces),
        }
        return tuple(kind for kind, there in kinds.items() if there)


class Limits:
    """Limits of all calls of a command, and their use so far."""

    def __init__(self, calls: int | None = None, *, replay: bool = False) -> None:
        self.replay = replay
        self.stopped = Event()
        self.missing: list[str] = []
        self.requests = 0
        self._left, self._lock = calls, Lock()

    def take(self) -> bool:
        """Reserve one more call."""
        with self._lock:
            if self.stopped.is_set() or self._left == 0:
                return False
            self._left = self._left and self._left - 1
            return True

    def count(self, requests: int) -> None:
        """Count the transmissions of a call."""
        with self._lock:
            self.requests += requests


def judged_study(path: Path, *, sandboxed: bool = True) -> Judged:
    """Read a study with all its solutions."""
    draft = draft_experience(path)
    spec = draft.checked()
    solutions, mistakes, _ = check_solutions(draft, complete=True, sandboxed=sandboxed)
    refuse(mistakes)
    if not spec.machines:
        message = (
            "declares no machine judge; add one, such as {id: M1, command: [python, judge.py]}"
        )
        raise QuemError(Mistake(draft.name, key="machines", message=message))
    own = spec.machine.prompt if spec.machine else ""
    prompt = read_prompt(*draft.beside(own)) if own else default_prompt()
    return Judged(path, draft.name, spec, draft.declared, solutions, prompt)


def plan_run(
    study: Judged, machine: Machine, *, problems: Collection[str] | None = None
) -> Planned:
    """Plan the requests to a machine judge."""
    show, most = {"images": machine.images}, machine.max_input_bytes
    wrong: list[str] = []
    tasks: list[Task] = []
    briefing = sheet_pieces(study.solutions.briefing, **show)
    for problem, block, solvers in _groups(study, machine):
        if problems is not None and problem not in problems:
            continue
        try:
            statement = sheet_pieces(study.solutions.statements.get(problem), **show)
            of = study.solutions.by_problem[problem]
            shown = {solver: solution_pieces(of[solver], **show) for solver in solvers}
        except ImagesError as error:
            wrong.append(f"{problem}: {error}; use images: true for a model that sees")
            continue
        first = first_order(study.spec.id, machine.id, problem, block, solvers)
        for repeat, order in enumerate(orders(first, machine.repeats)):
            pieces = tuple(shown[solver] for solver in order)
            request = Request(study.prompt, briefing, statement, order, pieces, repeat)
            tasks.append(Task(problem, block, repeat, request))
        if (size := request.size) > most:
            sizes = {s: sum(len(p.text.encode()) for p in pieces) for s, pieces in shown.items()}
            each = ", ".join(f"{s} {sizes[s]:,}" for s in sorted(sizes, key=lambda s: -sizes[s]))
            wrong.append(f"{problem} has {size:,} bytes, and max_input_bytes is {most:,}: {each}")
    if wrong:
        key = f"machines.{machine.id}"
        raise QuemError(Mistake(study.name, key=key, message=message) for message in wrong)
    return Planned(study, machine, tuple(tasks), is_part=problems is not None)


def _groups(study: Judged, machine: Machine) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """All problems, in blocks where judges have blocks; without failed solutions."""
    plan = plan_of(study.spec.model_copy(update={"machine": None}), study.solutions)
    met, failed = PairCounts(), study.declared.failed
    for group in plan.groups:
        if group.problem not in study.declared.problems:
            continue
        rng = random.Random(f"{study.spec.id} {machine.id} {group.problem}")  # noqa: S311
        for part in plan.deal(group, met, rng):
            there = tuple(one for one in part.solvers if (group.problem, one) not in failed)
            if len(there) > 1:
                yield group.problem, part.block, there


def run_machine(planned: Planned, limits: Limits, done: Callable[[int], object]) -> Run | None:
    """Make the missing calls of a run, and write the run when it is complete."""
    maker, n = _Maker(planned, limits), len(planned.tasks)
    began = dt.datetime.now(dt.UTC)
    with closing(maker.judge), ThreadPoolExecutor(planned.machine.concurrency) as pool:
        # Shuffled, so that a change of the server during the run is not confounded with problems.
        order = random.sample(range(n), n)
        futures = {at: pool.submit(maker.call, planned.tasks[at]) for at in order}
        try:
            for future in as_completed(futures.values()):
                future.result()
                done(1)
        except BaseException:
            limits.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    calls = [call for at in range(n) if (call := futures[at].result())]
    return _kept(planned, maker.transcripts, calls, began) if len(calls) == n else None


def _kept(planned: Planned, transcripts: Transcripts, calls: list[Call], began: dt.datetime) -> Run:
    """Add a run, unless it is partial or equal to the last one."""
    study, machine = planned.study, planned.machine
    runs = read_runs(study.path, study.spec.id, machine.id)
    shown = sorted({(call.problem, one) for call in calls for one in call.order})
    digests: dict[str, dict[str, str]] = {problem: {} for problem, _ in shown}
    for problem, solver in shown:
        digests[problem][solver] = study.solutions.by_problem[problem][solver].digest
    run = Run(
        study=study.spec.id,
        judge=machine.id,
        number=runs[-1].number + 1 if runs else 1,
        declared_model=machine.model,
        prompt=hashlib.sha256(study.prompt.encode()).hexdigest(),
        temperature=machine.temperature,
        repeats=machine.repeats,
        began_at=began,
        ended_at=dt.datetime.now(dt.UTC),
        digests=digests,
        calls=tuple(calls),
    )
    if planned.is_part:
        return run
    whenever = {"number", "began_at", "ended_at"}
    if runs and runs[-1].model_dump(exclude=whenever) == run.model_dump(exclude=whenever):
        return runs[-1]
    transcripts.keep_run(run)
    return run


class _Maker:
    """Makes the calls of a run, from the cache where possible."""

    def __init__(self, planned: Planned, limits: Limits) -> None:
        study, machine = planned.study, planned.machine
        self.transcripts = Transcripts(study.path, machine.id)
        self._planned, self._limits = planned, limits
        self.judge = judge_of(machine, study.path, replay=limits.replay)
        self._pace = Pace(machine.per_minute, limits.stopped.wait)
        self._lock = Lock()
        self._answered = self._failed = 0

    def call(self, task: Task) -> Call | None:
        """Make one call, asking again after an invalid form; None if it is left."""
        wrong, known = "", dict[str, Any]()
        for attempt in range(_ATTEMPTS):
            request = replace(task.request, seed=task.repeat + 1000 * attempt, wrong=wrong)
            body = self.judge.request(request)
            key = digest({"judge": self.judge.identity, "request": body})
            if found := self.transcripts.find(key):
                known = found
            elif self._limits.replay:
                self._limits.missing.append(key)
                return None
            elif not self._limits.take():
                return None
            else:
                about = {
                    "format": "quem-machine-call/1",
                    "study": self._planned.study.spec.id,
                    "judge": self._planned.machine.id,
                    **task.where,
                    "time": f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ}",
                    "request": body,
                }
                try:
                    known = self._asked(request, key, {**about, "attempt": attempt})
                except CallError as error:
                    self._failure(key, about, error)
                    stopped = self._limits.stopped.is_set()
                    return None if stopped else Call(key=key, status="error", **task.where)
            if known["status"] != "invalid":
                break
            wrong = known["message"]
        solver_of = dict(zip(request.letters, request.solvers, strict=True))
        return Call(
            key=key,
            attempts=attempt + 1,
            ranked=tuple(tuple(solver_of[s] for s in tied) for tied in known["ranked"]),
            cannot={solver_of[letter]: why for letter, why in known["cannot"].items()},
            **{name: known[name] for name in ("status", "model", "fingerprint")},
            **task.where,
        )

    def _asked(self, request: Request, key: str, about: dict[str, Any]) -> dict[str, Any]:
        start = perf_counter()
        reply, times = self._pace.asked(self.judge, request)
        known = {
            **about,
            **asdict(reply),
            **_read(reply, request),
            "seconds": round(perf_counter() - start, 3),
        }
        self.transcripts.keep(key, known, request.pieces)
        self._limits.count(times)
        with self._lock:
            self._answered += 1
        return known

    def _failure(self, key: str, about: dict[str, Any], error: CallError) -> None:
        """Note a failed call; if all calls fail, there is no run."""
        if self._limits.stopped.is_set():
            return
        # Under another name, so that the next run repeats the call.
        name = f"{key}.error-{secrets.token_hex(4)}"
        self.transcripts.keep(name, {**about, "status": "error", "message": error.message})
        with self._lock:
            self._failed += 1
            nobody = not self._answered and self._failed >= min(_NOBODY, len(self._planned.tasks))
        if nobody or error.final:
            # Before the next call in this thread.
            self._limits.stopped.set()
            raise QuemError(f"{self._planned.machine.id}: {error.message}")


def _read(reply: Reply, request: Request) -> dict[str, Any]:
    """The status of an answer and its contents by letter."""
    state: dict[str, Any] = {"status": "ok", "message": "", "ranked": [], "cannot": {}}
    if reply.refused:
        return state | {"status": "refused", "message": reply.refused}
    if reply.cut:
        return state | {"status": "invalid", "message": "the answer was cut off"}
    try:
        answer = read_answer(reply.answer, request.letters)
    except InvalidAnswerError as error:
        return state | {"status": "invalid", "message": str(error)}
    if isinstance(answer, Refusal):
        return state | {"status": "refused", "message": answer.reason}
    return state | {"ranked": [list(tied) for tied in answer.ranked], "cannot": answer.cannot}


def first_order(
    study: str, judge: str, problem: str, block: int, solvers: Iterable[str]
) -> tuple[str, ...]:
    """Sort solvers by the SHA-256 of ``study US judge US problem US block US solver``.

    It depends on names alone, and differs by machine and problem.
    """
    return tuple(sorted(solvers, key=lambda one: lot(study, judge, problem, str(block), one)))


def orders(first: Sequence[T], repeats: int) -> list[tuple[T, ...]]:
    """The orders of all repeats: the first one rotated evenly, each then reversed.

    Reversal cancels a position bias that is linear in the position; rotation most of one that is
    not.
    """
    turns = (repeats + 1) // 2
    balanced = []
    for repeat in range(repeats):
        start = repeat // 2 * len(first) // turns
        order = (*first[start:], *first[:start])
        balanced.append(order[::-1] if repeat % 2 else order)
    return balanced
