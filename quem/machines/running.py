"""A run of a machine judge: all its calls, from the cache or made now, and the file that counts."""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from threading import Event, Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from quem.errors import Mistake, QuemError
from quem.machines.answers import Answer, InvalidAnswerError, read_answer
from quem.machines.calling import CallError, Pace, Reply, asked, judge_of
from quem.machines.material import ImagesError, sheet_pieces, solution_pieces
from quem.machines.requests import Request, default_prompt, digest, read_prompt
from quem.machines.transcripts import Transcripts
from quem.solutions import check_solutions
from quem.store.living import plan_of
from quem.studyfile.blocks import PairCounts
from quem.studyfile.reading import draft_experience
from quem.studyfile.runs import Call, Run, read_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from quem.machines.calling import Judge
    from quem.solutions import Solutions
    from quem.studyfile import Declared, ExperienceSpec
    from quem.studyfile.machines import Machine


_ATTEMPTS = 3
# So many calls without an answer at the beginning, and nobody is there.
_NOBODY = 3


@dataclass(frozen=True)
class Judged:
    """A study as machine judges see it."""

    path: Path
    name: str  # the study file as the user named it
    spec: ExperienceSpec
    declared: Declared
    solutions: Solutions
    prompt: str

    def machine(self, judge: str) -> Machine:
        """Find a machine judge."""
        for machine in self.spec.machines:
            if machine.id == judge:
                return machine
        known = ", ".join(machine.id for machine in self.spec.machines) or "none"
        message = f"there is no machine judge {judge!r}; the study file has {known}"
        raise QuemError(Mistake(self.name, key="machines", message=message))


@dataclass(frozen=True)
class Task:
    """One order of one problem's solutions."""

    problem: str
    block: int
    repeat: int
    request: Request


@dataclass(frozen=True)
class Planned:
    """What a run asks of one machine judge."""

    study: Judged
    machine: Machine
    tasks: tuple[Task, ...]
    is_part: bool = False  # whether it is of some problems only, so that it does not count

    @property
    def n_bytes(self) -> int:
        """What is sent, without what is asked again."""
        return sum(task.request.size for task in self.tasks)

    @property
    def hidden(self) -> dict[str, int]:
        """How many characters that nobody sees were taken out, by solution."""
        return {
            f"{solver} on {task.problem}": count
            for task in self.tasks
            for solver, pieces in zip(task.request.solvers, task.request.solutions, strict=True)
            if (count := sum(piece.hidden for piece in pieces))
        }

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is sent: the briefing, statements, solutions, and images, as far as there are."""
        requests = [task.request for task in self.tasks]
        kinds = {
            "briefing": any(one.briefing for one in requests),
            "statements": any(one.problem for one in requests),
            "solutions": bool(requests),
            "images": any(True for one in requests for _ in one.images()),
        }
        return tuple(kind for kind, there in kinds.items() if there)


class Limits:
    """What all calls of a command may come to, and have come to."""

    def __init__(self, calls: int | None = None, *, replay: bool = False) -> None:
        self.replay = replay
        self.stopped = Event()
        self.missing: list[str] = []
        self.requests = 0
        self._left, self._lock = calls, Lock()

    def take(self) -> bool:
        """Ask for one more call."""
        with self._lock:
            if self.stopped.is_set() or self._left == 0:
                return False
            self._left = self._left and self._left - 1
            return True

    def count(self, requests: int) -> None:
        """Note how often something was sent for a call."""
        with self._lock:
            self.requests += requests


def judged_study(path: Path, *, sandboxed: bool = True) -> Judged:
    """Read a study with all its solutions."""
    draft = draft_experience(path)
    if draft.spec is None or draft.mistakes:
        raise QuemError(draft.mistakes)
    solutions, mistakes, _ = check_solutions(draft, complete=True, sandboxed=sandboxed)
    if mistakes:
        raise QuemError(mistakes)
    if not draft.spec.machines:
        message = (
            "declares no machine judge; add one, such as {id: M1, command: [python, judge.py]}"
        )
        raise QuemError(Mistake(draft.name, key="machines", message=message))
    prompt = default_prompt()
    if draft.spec.machine and draft.spec.machine.prompt:
        file, name = draft.beside(draft.spec.machine.prompt)
        prompt = read_prompt(file, name)
    return Judged(path, draft.name, draft.spec, draft.declared, solutions, prompt)


def plan_run(
    study: Judged, machine: Machine, *, problems: Collection[str] | None = None
) -> Planned:
    """What a machine judge is to be asked."""
    show, key = {"images": machine.images}, f"machines.{machine.id}"
    mistakes: list[Mistake] = []
    tasks: list[Task] = []
    briefing = tuple(sheet_pieces(study.solutions.briefing, **show))
    for problem, block, solvers in _groups(study, machine):
        if problems is not None and problem not in problems:
            continue
        try:
            statement = sheet_pieces(study.solutions.statements.get(problem), **show)
            shown = {
                solver: tuple(solution_pieces(study.solutions.by_problem[problem][solver], **show))
                for solver in solvers
            }
        except ImagesError as error:
            message = f"{problem}: {error}; use images: true for a model that sees"
            mistakes.append(Mistake(study.name, key=key, message=message))
            continue
        first = first_order(study.spec.id, machine.id, problem, block, solvers)
        for repeat, order in enumerate(orders(first, machine.repeats)):
            pieces = tuple(shown[solver] for solver in order)
            request = Request(study.prompt, briefing, tuple(statement), order, pieces, repeat)
            tasks.append(Task(problem, block, repeat, request))
        if (size := request.size) > machine.max_input_bytes:
            sizes = {s: sum(len(p.text.encode()) for p in pieces) for s, pieces in shown.items()}
            each = ", ".join(f"{s} {sizes[s]:,}" for s in sorted(sizes, key=lambda s: -sizes[s]))
            most = f"max_input_bytes is {machine.max_input_bytes:,}"
            message = f"{problem} has {size:,} bytes, and {most}: {each}"
            mistakes.append(Mistake(study.name, key=key, message=message))
    if mistakes:
        raise QuemError(mistakes)
    return Planned(study, machine, tuple(tasks), is_part=problems is not None)


def _groups(study: Judged, machine: Machine) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """All problems, in blocks where judges have blocks; without solutions that failed."""
    everything = study.spec.model_copy(update={"machine": None})
    plan = plan_of(everything, study.solutions)
    met = PairCounts()
    for group in plan.groups:
        if group.problem not in study.declared.problems:
            continue
        rng = random.Random(f"{study.spec.id} {machine.id} {group.problem}")  # noqa: S311
        for part in plan.deal(group, met, rng):
            there = tuple(
                solver
                for solver in part.solvers
                if (group.problem, solver) not in study.declared.failed
            )
            if len(there) > 1:
                yield group.problem, part.block, there


def run_machine(
    planned: Planned,
    limits: Limits | None = None,
    done: Callable[[int], object] = lambda _: None,
) -> Run | None:
    """Make the calls of a run that are not answered yet, and write the run when all are."""
    limits = limits or Limits()
    machine, study = planned.machine, planned.study
    judge = judge_of(machine, study.path, replay=limits.replay)
    maker = _Maker(planned, judge, limits)
    began = dt.datetime.now(dt.UTC)
    # So that a server which changes in the middle does not coincide with a problem.
    tasks = list(planned.tasks)
    random.shuffle(tasks)
    calls: list[Call] = []
    try:
        with ThreadPoolExecutor(machine.concurrency) as pool:
            try:
                futures = [pool.submit(maker.call, task) for task in tasks]
                for future in as_completed(futures):
                    call = future.result()
                    calls += [call] if call else []
                    done(1)
            except BaseException:
                limits.stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    finally:
        judge.close()
    if len(calls) < len(tasks):
        return None
    place = {(t.problem, t.block, t.repeat): at for at, t in enumerate(planned.tasks)}
    calls.sort(key=lambda call: place[call.problem, call.block, call.repeat])
    return _kept(planned, maker.transcripts, calls, began)


def _kept(planned: Planned, transcripts: Transcripts, calls: list[Call], began: dt.datetime) -> Run:
    """Add a run, unless it is a part of one, or the last one says the same."""
    study, machine = planned.study, planned.machine
    runs = read_runs(study.path, study.spec.id, machine.id)
    shown = {(task.problem, solver) for task in planned.tasks for solver in task.request.solvers}
    digests: dict[str, dict[str, str]] = {}
    for problem, solver in sorted(shown):
        solution = study.solutions.by_problem[problem][solver]
        digests.setdefault(problem, {})[solver] = solution.digest
    run = Run(
        study=study.spec.id,
        judge=machine.id,
        number=runs[-1].number + 1 if runs else 1,
        declared_model=machine.model,
        prompt=hashlib.sha256(study.prompt.encode()).hexdigest(),
        temperature=machine.temperature,
        repeats=max(call.repeat for call in calls) + 1 if calls else machine.repeats,
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
    """Makes the calls of a run, each from the cache where it is there."""

    def __init__(self, planned: Planned, judge: Judge, limits: Limits) -> None:
        self.transcripts = Transcripts(planned.study.path, planned.machine.id)
        self._planned, self._judge, self._limits = planned, judge, limits
        self._pace = Pace(planned.machine.per_minute, limits.stopped.wait)
        self._lock = Lock()
        self._answered = self._failed = 0

    def call(self, task: Task) -> Call | None:
        """Make one call, asking again where the form is wrong; None where it is left."""
        request = task.request
        for attempt in range(_ATTEMPTS):
            seed = task.repeat + 1000 * attempt
            request = replace(task.request, seed=seed, wrong=request.wrong)
            key = self._key(request)
            known = self.transcripts.find(key)
            if known is None:
                if self._limits.replay:
                    self._limits.missing.append(key)
                    return None
                if not self._limits.take():
                    return None
                try:
                    known = self._asked(task, request, key, attempt)
                except CallError as error:
                    return self._unanswered(task, request, key, error)
            call = self._call(task, known, key, attempt)
            if call.status != "invalid" or attempt == _ATTEMPTS - 1:
                return call
            request = replace(request, wrong=known["message"])
        raise AssertionError

    def _key(self, request: Request) -> str:
        return digest({"judge": self._judge.identity, "request": self._judge.request(request)})

    def _asked(self, task: Task, request: Request, key: str, attempt: int) -> dict[str, Any]:
        start = perf_counter()
        reply, times = asked(self._judge, request, self._pace, self._limits.stopped.wait)
        known = {
            **self._about(task, request),
            "attempt": attempt,
            **_read(reply, request),
            "answer": reply.text,
            "notes": reply.notes,
            "model": reply.model,
            "fingerprint": reply.fingerprint,
            "seconds": round(perf_counter() - start, 3),
        }
        self.transcripts.keep(key, known, request.images())
        self._limits.count(times)
        with self._lock:
            self._answered += 1
        return known

    def _about(self, task: Task, request: Request) -> dict[str, Any]:
        return {
            "format": "quem-machine-call/1",
            "study": self._planned.study.spec.id,
            "judge": self._planned.machine.id,
            "problem": task.problem,
            "block": task.block,
            "repeat": task.repeat,
            "order": list(request.solvers),
            "time": f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ}",
            "request": self._judge.request(request),
        }

    def _unanswered(self, task: Task, request: Request, key: str, error: CallError) -> Call | None:
        """Note a call that nobody answered; where nobody ever did, there is no run."""
        if self._limits.stopped.is_set():
            return None
        said = {**self._about(task, request), "status": "error", "message": str(error)}
        self.transcripts.keep_failure(key, said)
        with self._lock:
            self._failed += 1
            nobody = not self._answered and self._failed >= min(_NOBODY, len(self._planned.tasks))
        if nobody or error.final:
            # Before the next call begins in this thread.
            self._limits.stopped.set()
            raise QuemError(f"{self._planned.machine.id}: {error}")
        return Call(
            problem=task.problem,
            block=task.block,
            repeat=task.repeat,
            key=key,
            status="error",
            order=request.solvers,
        )

    def _call(self, task: Task, known: dict[str, Any], key: str, attempt: int) -> Call:
        solver_of = dict(zip(task.request.letters, task.request.solvers, strict=True))
        return Call(
            problem=task.problem,
            block=task.block,
            repeat=task.repeat,
            key=key,
            status=known["status"],
            order=task.request.solvers,
            attempts=attempt + 1,
            ranked=tuple(tuple(solver_of[s] for s in tied) for tied in known["ranked"]),
            cannot={solver_of[letter]: why for letter, why in known["cannot"].items()},
            model=known["model"],
            fingerprint=known["fingerprint"],
            input_tokens=known["input_tokens"],
            output_tokens=known["output_tokens"],
        )


def _read(reply: Reply, request: Request) -> dict[str, Any]:
    """Read an answer: its status, and what it says by letters."""
    state: dict[str, Any] = {"status": "ok", "message": "", "ranked": [], "cannot": {}}
    state |= {
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
    }
    if reply.refused:
        return state | {"status": "refused", "message": reply.refused}
    if reply.cut:
        return state | {"status": "invalid", "message": "the answer was cut off"}
    try:
        answer = read_answer(reply.text, request.letters)
    except InvalidAnswerError as error:
        return state | {"status": "invalid", "message": str(error)}
    for name in ("input_tokens", "output_tokens"):
        value = answer.usage.get(name)
        if state[name] is None and isinstance(value, int | float) and value >= 0:
            state[name] = int(value)
    if isinstance(answer, Answer):
        return state | {"ranked": [list(tied) for tied in answer.ranked], "cannot": answer.cannot}
    return state | {"status": "refused", "message": answer.reason}


T = TypeVar("T")
_BETWEEN = "\x1f"


def first_order(
    study: str, judge: str, problem: str, block: int, solvers: Iterable[str]
) -> tuple[str, ...]:
    """Sort solvers by the SHA-256 of ``study US judge US problem US block US solver``.

    It depends on names alone, and differs by machine and problem.
    """

    def lot(solver: str) -> str:
        key = _BETWEEN.join([study, judge, problem, str(block), solver])
        return hashlib.sha256(key.encode()).hexdigest()

    return tuple(sorted(solvers, key=lot))


def orders(first: Sequence[T], repeats: int) -> list[tuple[T, ...]]:
    """Give the orders of all repeats: the first one rotated evenly, each then reversed.

    Reversal cancels a liking for a place that is linear in the place; rotation most of one that
    is not.
    """
    turns = (repeats + 1) // 2
    balanced = []
    for repeat in range(repeats):
        start = repeat // 2 * len(first) // turns
        order = (*first[start:], *first[:start])
        balanced.append(order[::-1] if repeat % 2 else order)
    return balanced
