"""The contents of a source as problems, solvers, and answers, and of several sources joined."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from quem.errors import FileError, Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Limit of a source's unpacked size.
MOST_BYTES = 1_000_000_000
_MOST_PLACES = 5
Missing = Literal["", "absent", "failed"]
_MOST_LISTED = 10
# Shorter statements occur inside others by chance.
_TELLING = 40


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


def joined(sources: Sequence[tuple[Path, Collected]]) -> Collected:
    """Join sources: each problem of a later one is matched with earlier ones."""
    # Tables of people come last: only people with answers are kept.
    (_, whole), *others = sorted(sources, key=lambda one: not one[1].answers)
    for path, source in others:
        if source.answers:
            _add(whole, source, _same_problems(path, whole, source))
        unknown = (
            [] if source.answers else [one for one in source.solvers if one not in whole.solvers]
        )
        whole.mistakes += [Mistake(str(path), message=_stranger(one, whole)) for one in unknown]
        known = {one: years for one, years in source.solvers.items() if years is not None}
        whole.solvers |= known
        whole.rule += f"; {source.rule}"
        whole.left_out.update(source.left_out)
        whole.people |= source.people
        whole.sources += source.sources
        whole.errors += source.errors
        whole.mistakes += source.mistakes
    return whole


def _add(whole: Collected, source: Collected, names: Mapping[str, str]) -> None:
    for name, problem in source.problems.items():
        known = whole.problems.setdefault(names[name], replace(problem))
        known.statement = known.statement or problem.statement
        known.title = known.title or problem.title
    for (name, solver), answer in source.answers.items():
        whole.add(names[name], solver, answer)


def _stranger(name: str, whole: Collected) -> str:
    near = get_close_matches(name, whole.solvers, n=1)
    hint = (
        f"{near[0]!r} has" if near else f"there are {', '.join(list(whole.solvers)[:_MOST_LISTED])}"
    )
    return f"nobody called {name!r} has answered; {hint}"


def _same_problems(path: Path, whole: Collected, source: Collected) -> dict[str, str]:
    """The matching earlier name of each problem of a source; its own if there is none."""
    by_name = {_plain(name): name for name in whole.problems}
    by_name |= {_plain(p.title): name for name, p in whole.problems.items() if p.title}
    by_name.pop("", None)  # names of punctuation are all alike
    statements = {name: _text(p.statement) for name, p in whole.problems.items() if p.statement}
    found: dict[str, str] = {}
    for name, problem in source.problems.items():
        same = by_name.get(_plain(name)) or by_name.get(_plain(problem.title) or "-")
        same = same or _of_statement(_text(problem.statement), statements)
        if same and same not in found.values():
            found[name] = same
    if not found:
        raise FileError(path, _nothing_shared(whole, source))
    renamed = sum(name != same for name, same in found.items())
    by = f", {renamed} of them under another name" if renamed else ""
    whole.notes.append(f"{path}: {len(found)} problems joined{by}")
    lacking = [name for name in source.problems if name not in found]
    whole.notes += [f"{path}: {_alone(name, whole)}" for name in lacking[:_MOST_LISTED]]
    if (more := len(lacking) - _MOST_LISTED) > 0:
        whole.notes.append(f"{path}: and {more} more in this source alone")
    return {name: found.get(name, name) for name in source.problems}


def _of_statement(text: str, statements: dict[str, str]) -> str:
    """The only problem whose statement equals, contains, or is contained in this one."""
    same = [name for name, known in statements.items() if known == text]
    if not same and len(text) >= _TELLING:
        same = [
            name
            for name, known in statements.items()
            if len(known) >= _TELLING and (known in text or text in known)
        ]
    return same[0] if text and len(same) == 1 else ""


def _nothing_shared(whole: Collected, source: Collected) -> str:
    ours, theirs = (", ".join(list(one.problems)[:3]) for one in (source, whole))
    return (
        f"has no problem of the sources before: its problems are {ours}, theirs {theirs}; write "
        "--name OLD=NEW for each that is the same"
    )


def _alone(name: str, whole: Collected) -> str:
    near = get_close_matches(name, whole.problems, n=1, cutoff=0.4)
    hint = f"; if it is {near[0]!r}, write --name {name}={near[0]}" if near else ""
    return f"{name!r} is in this source alone{hint}"


def _plain(name: str) -> str:
    """Letters and digits alone, and numbers without leading zeros."""
    words = re.findall(r"[^\W\d_]+|\d+", name.casefold())
    return "".join(word.lstrip("0") or "0" if word.isdigit() else word for word in words)


def _text(statement: str) -> str:
    return " ".join(statement.casefold().split())


def require_experience(whole: Collected) -> None:
    """Refuse people without known experience."""
    unknown = sorted(name for name in whole.people if whole.solvers.get(name) is None)
    if unknown:
        named = ", ".join(unknown[:_MOST_LISTED])
        raise QuemError(
            f"nothing says how experienced {named} {'is' if len(unknown) == 1 else 'are'}; add a "
            "table with the columns participant and experience: --from people.csv"
        )
