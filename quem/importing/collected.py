"""The contents of a source as problems, solvers, and answers."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from quem.errors import FileError, Mistake

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Limit of a source's unpacked size.
MOST_BYTES = 1_000_000_000
_MOST_PLACES = 5
Missing = Literal["", "absent", "failed"]


@dataclass(frozen=True)
class Origin:
    """The location of an answer in a log, so that scores can be written back."""

    log: Path
    sample: str | int  # id of the sample in the log
    epoch: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """A solver's answer to a problem."""

    place: str  # location for messages: "answers.jsonl:12"
    text: str = ""  # of an answer without files
    # Each file, and its path inside the solution; a path without slashes is a single file's.
    files: tuple[tuple[Path, str], ...] = ()
    missing: Missing = ""  # why there is no answer
    origin: Origin | None = None
    seconds: float | None = None  # working time, if known
    run: str = ""  # log or table file of one run of a model


class Names:
    """The user's names for runs, solvers, and problems of a source."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self._chosen = chosen
        self._used: set[str] = set()

    def of(self, name: str) -> str:
        """The name of a solver or problem."""
        if name not in self._chosen:
            return name
        self._used.add(name)
        return self._chosen[name]

    def of_run(self, run: str, solver: str) -> str:
        """The name of a run's solver: by its file's name, or by the solver's."""
        path = PurePath(run)
        known = (name for name in (path.name, path.stem) if name in self._chosen)
        return self.of(next(known, solver))

    @property
    def unused(self) -> list[str]:
        """Names that match nothing."""
        return [name for name in self._chosen if name not in self._used]


@dataclass
class SourceProblem:
    """A problem with its statement; empty where the source has none."""

    statement: str = ""
    title: str = ""


@dataclass
class Collected:
    """The contents of a source."""

    rule: str  # how the source was recognized, as a sentence for IMPORT.md
    # By name in the source, in its order.
    problems: dict[str, SourceProblem] = field(default_factory=dict)
    # By name in the source, in its order; with years of experience if known.
    solvers: dict[str, float | None] = field(default_factory=dict)
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)  # by problem and solver
    # What was left out, with counts.
    left_out: Counter[str] = field(default_factory=Counter)
    sources: list[Path] = field(default_factory=list)  # files read
    people: set[str] = field(default_factory=set)  # solvers marked as people
    errors: list[str] = field(default_factory=list)  # of failed runs, each with its place
    notes: list[str] = field(default_factory=list)  # how problems of several sources were joined
    # Errors that prevent a study.
    mistakes: list[Mistake] = field(default_factory=list)
    names: Names = field(default_factory=lambda: Names({}))

    def add(self, problem: str, solver: str, answer: Answer, statement: str = "") -> None:
        """Add an answer; a different one by the same solver to the same problem is an error.

        Duplicate answers and further statements of a problem are counted as left out.
        """
        problem, solver = self.names.of(problem), self.names.of_run(answer.run, solver)
        known = self.problems.setdefault(problem, SourceProblem())
        if statement and known.statement and known.statement != statement:
            self.left_out["statements that differ from the first of their problem"] += 1
        known.statement = known.statement or statement
        self.solvers.setdefault(solver, None)
        first = self.answers.setdefault((problem, solver), answer)
        if first is answer:
            return
        if first.text and first.text == answer.text:
            self.left_out["answers that are there twice"] += 1
            return
        self.mistakes.append(_second_answer(problem, solver, first, answer))


def _second_answer(problem: str, solver: str, first: Answer, second: Answer) -> Mistake:
    one, other = PurePath(first.run), PurePath(second.run)
    if one == other:
        message = (
            f"{solver[:60]!r} has another answer to {problem[:60]!r} at {first.place}; keep one"
        )
        return Mistake(second.place, message=message)
    keys = (one.name, other.name) if one.stem == other.stem else (one.stem, other.stem)
    options = " ".join(f"--name {shlex.quote(key)}=ID" for key in keys)
    message = f"is another run of {solver[:60]!r} than {one}; name them: {options}"
    return Mistake(str(other), message=message)


def few(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Distinct errors; equal messages are merged with their first places and a count."""
    by_message: dict[str, list[Mistake]] = {}
    for mistake in dict.fromkeys(mistakes):
        by_message.setdefault(mistake.message, []).append(mistake)
    shown = []
    for message, same in by_message.items():
        *first, last = same[:_MOST_PLACES]
        if (more := len(same) - _MOST_PLACES) > 0:
            last = replace(last, message=f"{message} (and {more:,} more)")
        shown += [*first, last]
    return shown


def refuse_large(path: Path) -> None:
    """Refuse a file that exceeds the memory limit."""
    if path.stat().st_size > MOST_BYTES:
        raise FileError(path, "is larger than 1 GB; split it")
