"""Tables of a study: the subjects of a solving session, and the candidates of relevance.

A study names it instead of a list (``subjects: subjects.csv``), so that the study file is never
rewritten. The columns are ``id``, ``name``, ``experience``, and ``state``, one ``answer QUESTION``
per question, and ``state PROBLEM``, ``seconds PROBLEM``, ``away PROBLEM``, and ``paused PROBLEM``
per problem. A table made by hand needs only ``id`` and ``experience``. If ``reuse`` or ``answer
reuse`` is yes, they agreed to be in a panel.

The candidates (``candidates: candidates.csv``), which `quem score --pool` writes, have the columns
``problem`` and ``id``, and ``query`` and ``case`` with the original ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from quem.errors import Mistake, QuemError
from quem.io.rows import Rows, csv_text, read_rows
from quem.io.text import no_formula, shown, without_apostrophe
from quem.studyfile.declared import entries_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from quem.studyfile.document import Document

_OWN = ("id", "name", "experience", "state")
_ANSWER = "answer "
_REQUIRED = ("id", "experience")
_OF_PROBLEM = ("state", "seconds", "away", "paused")
_SOLVED, _UNSOLVED = ("submitted", "timeout"), ("skipped", "none")
_GONE = ("withdrawn", "declined", "absent")
_MOST_NAMED = 20
# Consent to a reference panel: a column or a question.
_REUSE, _AGREED = ("reuse", f"{_ANSWER}reuse"), ("yes", "true")
COLUMNS = ("problem", "id", "query", "case")


@dataclass(frozen=True)
class SolvedProblem:
    """A subject's outcome on one problem, with times."""

    state: str  # "timeout" if the time was over, "none" without a solution
    # Time at work with the page in view, away from it, and in pauses
    seconds: float = 0.0
    away: float = 0.0
    paused: float = 0.0


@dataclass(frozen=True)
class SubjectRecord:
    """A row of the table."""

    id: str
    name: str
    experience: float | None  # None if not given; such people are not subjects of the study
    # People who withdrew, declined, or solved nothing are not subjects of the study either.
    state: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)  # by question
    problems: Mapping[str, SolvedProblem] = field(default_factory=dict)


def subjects_text(
    records: Iterable[SubjectRecord], questions: Sequence[str], problems: Sequence[str]
) -> str:
    """The table; equal records give equal text."""
    of_problems = [f"{what} {p}" for p in problems for what in _OF_PROBLEM]
    rows = [[*_OWN, *(f"{_ANSWER}{question}" for question in questions), *of_problems]]
    for one in records:
        years = "" if one.experience is None else f"{one.experience:g}"
        cells = [one.id, one.name, years, one.state]
        cells += [one.answers.get(question, "") for question in questions]
        for problem in problems:
            solved = one.problems.get(problem, SolvedProblem("none"))
            times = (solved.seconds, solved.away, solved.paused)
            cells += [solved.state, *(f"{seconds:.1f}" for seconds in times)]
        rows.append([no_formula(cell) for cell in cells])
    return csv_text(rows)


def fill_in_subjects(document: Document) -> list[Mistake]:
    """Fill a study with the subjects of its table, and their missing solutions."""
    content, at = document.content, ("subjects",)
    named, is_solved = content.get("subjects"), content.get("solving") is not None
    if not isinstance(named, str):
        message = (
            "the subjects come from the solving session; write subjects: subjects.csv, which "
            "closing the session writes"
        )
        return [document.mistake(at, message)] if is_solved else []
    content["subjects"] = []
    path = document.beside(named)
    if is_solved and not path.exists():
        return []
    if wrong := document.not_there(at, named):
        return [wrong]
    try:
        table = read_rows(path, what="table of subjects", known=_OWN, required=_REQUIRED)
    except QuemError as error:
        return list(error.mistakes)
    problems = [entry["id"] for _, entry in entries_of(document, "problems")]
    subjects, missing = _subjects(table, problems)
    if not table.mistakes:
        declared = content.get("missing")
        content["subjects"] = subjects
        content["missing"] = [*(declared if isinstance(declared, list) else []), *missing]
    return table.mistakes[:_MOST_NAMED]


def _subjects(
    table: Rows, problems: Sequence[str]
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """The entries of subjects and their missing solutions, as in a study file."""
    each = ((column, *column.partition(" ")[::2]) for column in table.header)
    columns = [one for one in each if one[1] in _OF_PROBLEM and one[2]]
    gone = {problem: column for column, _, problem in columns if problem not in problems}
    for problem, column in gone.items():
        message = f"there is no problem {shown(problem)}; if it left the study, delete its columns"
        table.refuse(1, column, message)
    subjects, missing = [], []
    first: dict[str, int] = {}
    for line, row in table.rows:
        if row.get("state") in _GONE:
            continue
        one = without_apostrophe(row["id"])
        if not one:
            table.refuse(line, "id", "is empty; add the id")
        elif first.setdefault(one, line) != line:
            table.refuse(line, "id", f"{shown(one)} is on line {first[one]} already; keep one")
        entry: dict[str, Any] = {"id": one, "experience": _number(table, line, row, "experience")}
        if name := row.get("name"):
            entry["name"] = without_apostrophe(name)
        if any(row.get(column, "").casefold() in _AGREED for column in _REUSE):
            entry["reuse"] = "true"
        seconds, unsolved = _solved(table, line, row, columns)
        entry |= {"seconds": seconds} if seconds else {}
        missing += [{"problem": one, "solver": entry["id"], "reason": "absent"} for one in unsolved]
        subjects.append(entry)
    return subjects, missing


def _solved(
    table: Rows, line: int, row: dict[str, str], columns: Iterable[tuple[str, str, str]]
) -> tuple[dict[str, float | None], list[str]]:
    """The seconds of each problem that a subject solved, and their unsolved problems."""
    seconds, unsolved = {}, []
    for column, what, problem in columns:
        cell, state = row[column], row.get(f"state {problem}", "submitted")
        if what == "seconds" and cell and state in _SOLVED:
            seconds[problem] = _number(table, line, row, column)
        elif what == "state" and cell in _UNSOLVED:
            unsolved.append(problem)
        elif what == "state" and cell and cell not in _SOLVED:
            states = ", ".join(_SOLVED + _UNSOLVED)
            table.refuse(line, column, f"{shown(cell)} is none of {states}")
    return seconds, unsolved


def _number(table: Rows, line: int, row: dict[str, str], column: str) -> float | None:
    cell = row[column]
    try:
        number = float(cell)
    except ValueError:
        number = -1.0
    if 0 <= number < float("inf"):
        return number
    what = f"{shown(cell)} is not a number, 0 or more" if cell else "is empty"
    table.refuse(line, column, f"{what}; use a value such as 7 or 7.5")
    return None


class PooledQuery(NamedTuple):
    """A query and its candidates."""

    id: str
    title: str
    text: str  # for judges, in Markdown
    candidates: Mapping[str, str | Path]  # by case: for judges, in Markdown, or a file


def candidates_text(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """The table, one row (problem, id, query, case) per candidate."""
    return csv_text([COLUMNS, *rows])


def fill_in_candidates(document: Document) -> list[Mistake]:
    """Fill a study with the candidates of the table that it names."""
    named = document.content.get("candidates")
    if not isinstance(named, str):
        return []
    document.content["candidates"] = []
    if wrong := document.not_there(("candidates",), named):
        return [wrong]
    try:
        path = document.beside(named)
        table = read_rows(path, what="table of candidates", known=COLUMNS, required=COLUMNS[:2])
    except QuemError as error:
        return list(error.mistakes)
    first: dict[tuple[str, str], int] = {}
    for line, row in table.rows:
        for column in COLUMNS[:2]:
            if not row[column]:
                table.refuse(line, column, "is empty; add the id")
        cell = row["problem"], row["id"]
        if all(cell) and first.setdefault(cell, line) != line:
            message = f"{shown(cell[1])} is on line {first[cell]} already; keep one"
            table.refuse(line, "id", message)
    if not table.mistakes:
        document.content["candidates"] = [
            {column: row[column] for column in COLUMNS if row.get(column)} for _, row in table.rows
        ]
    return table.mistakes[:_MOST_NAMED]
