"""Tables of answers: one per row (long) or one per cell (wide)."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.errors import FileError, Mistake, refuse
from quem.importing.collected import (
    Answer,
    Collected,
    Missing,
    SourceProblem,
    refuse_large,
)
from quem.io.delimited import Delimited, read_delimited
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json, read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from quem.importing.collected import Names

ROLES: Mapping[str, tuple[str, ...]] = {
    "problem": ("problem", "problem_id", "task_id", "prompt_id", "question_id", "item", "id"),
    "solver": ("solver", "model", "system", "author", "subject", "participant"),
    "answer": (*("answer", "response", "output", "completion", "solution", "text", "generation"),),
    "statement": ("prompt", "question", "input", "statement", "instruction"),
    "experience": ("experience", "years"),
}
_ENDINGS = (".csv", ".tsv")
_DIGITS = 8
_MOST_NAMED = 12
_EXAMPLE = '{"problem": "p1", "solver": "gpt", "answer": "..."}'
# Roles of the last message in a chat.
_ASSISTANTS = ("assistant", "model", "ai", "gpt")


@dataclass(frozen=True)
class AnswerTable:
    """A table as read."""

    path: Path
    header: list[str]
    rows: list[list[object]]
    lines: list[int]  # of each row, for messages
    roles: dict[str, str]  # column of each role in `ROLES`
    ignored: set[str]  # columns that are not solvers

    @property
    def layout(self) -> str:
        """The layout, "long", "wide", or "people"; empty where the columns do not decide."""
        known = self.roles
        if "experience" in known and not {"answer", "statement"} & known.keys():
            return "people" if "solver" in known or known.get("problem") == "id" else ""
        names_problem = "problem" in known or "statement" in known
        if {"solver", "answer"} <= known.keys() and names_problem:
            return "long"
        if names_problem and not {"solver", "answer"} & known.keys():
            return "wide" if self.others() else ""
        return ""

    def others(self) -> list[str]:
        """The columns without a role."""
        taken = {*self.roles.values(), *self.ignored, ""}
        return [name for name in self.header if name not in taken]

    def cell(self, row: list[object], role: str) -> object:
        """The cell of a row in a role's column; None without such a column."""
        name = self.roles.get(role)
        return None if name is None else row[self.header.index(name)]


def is_table(path: Path) -> bool:
    """Whether a file is a table, by its extension."""
    return is_json(path) or is_parquet(path) or path.suffix.casefold() in _ENDINGS


def read_table(path: Path, columns: Sequence[tuple[str, str]] = ()) -> AnswerTable:
    """Read a table and assign roles to its columns."""
    name = str(path)
    refuse_large(path)
    if is_json(path):
        records = read_records(path, name, what="answers", example=_EXAMPLE, key="problem")
        header = list(dict.fromkeys(key for entry in records.entries for key in entry))
        rows: list[list[object]] = [[entry.get(key) for key in header] for entry in records.entries]
        lines = records.lines
    else:
        table = _delimited(path, name)
        header, lines = table.header[0], table.lines()
        rows = [list(cells) for cells in zip(*(c.cells() for c in table.columns), strict=True)]
    roles, ignored = _roles(path, header, columns)
    filled = [
        (r, at) for r, at in zip(rows, lines, strict=True) if any(c not in (None, "") for c in r)
    ]
    return AnswerTable(
        path, header, [r for r, _ in filled], [at for _, at in filled], roles, ignored
    )


def _delimited(path: Path, name: str) -> Delimited:
    if is_parquet(path):
        return read_parquet(path, name, what="answers")

    return read_delimited(path, name, what="answers")


def _roles(
    path: Path, header: list[str], columns: Sequence[tuple[str, str]]
) -> tuple[dict[str, str], set[str]]:
    folded = {name.strip().casefold(): name for name in reversed(header)}
    roles: dict[str, str] = {}
    ignored: set[str] = set()
    mistakes = []
    for role, name in columns:
        column = folded.get(name.strip().casefold())
        if column is None:
            message = f"has no column {name[:60]!r}; it has {_listed(header)}"
            mistakes.append(Mistake(str(path), message=message))
        elif role == "ignore":
            ignored.add(column)
        else:
            roles[role] = column
    for role, names in ROLES.items():
        if role in roles:
            continue
        fits = [folded[name] for name in names if name in folded]
        fits = [name for name in fits if name not in ignored and name not in roles.values()]
        # A row number is often called "id".
        fits = [name for name in fits if name.casefold() != "id"] or fits
        if len(fits) > 1:
            choices = " or ".join(f"--columns {role}={name}" for name in fits)
            message = f"has more than one column for the {role}; choose: {choices}"
            mistakes.append(Mistake(str(path), message=message))
        elif fits:
            roles[role] = fits[0]
    refuse(mistakes)
    return roles, ignored


def read_answers(tables: Sequence[AnswerTable], names: Names) -> Collected:
    """Read the answers of tables that belong together.

    Among several tables, one without a column of solvers holds one solver, named after the file.
    """
    collected = Collected("", sources=[table.path for table in tables], names=names)
    layouts = set()
    for table in tables:
        layout = table.layout
        single = table.roles.keys() >= {"answer"} and "solver" not in table.roles
        if single and len(tables) > 1 and {"problem", "statement"} & table.roles.keys():
            layout = "one solver"
        if not layout:
            raise _unclear(table)
        layouts.add(layout)
        _READERS[layout](collected, table)
    collected.rule = _rule(layouts, tables[0])
    _require_groups(collected, tables[0])
    return collected


def _rule(layouts: set[str], table: AnswerTable) -> str:
    used = ", ".join(f"{role} in {name!r}" for role, name in table.roles.items())
    what = {
        "long": "a table with an answer in each row",
        "wide": "a table with a column for each solver",
        "one solver": "a table for each solver",
        "people": "a table of people and their experience",
    }
    return f"{' and '.join(what[layout] for layout in sorted(layouts))}: {used}"


def _unclear(table: AnswerTable) -> FileError:
    lacks = [role for role in ("solver", "answer") if role not in table.roles]
    if not {"problem", "statement"} & table.roles.keys():
        lacks.insert(0, "problem")
    options = ",".join(f"{role}=COLUMN" for role in lacks or ["problem"])
    message = (
        f"does not say which column is which; name them by --columns {options}. It has "
        f"{_listed(table.header)}"
    )
    return FileError(table.path, message)


def _require_groups(collected: Collected, table: AnswerTable) -> None:
    """Refuse a table with one answer per problem: its problem column is another."""
    problems = {problem for problem, _ in collected.answers}
    if len(collected.solvers) > 1 and len(problems) == len(collected.answers) > 1:
        column = table.roles.get("problem", "")
        other = table.roles.get("statement", "COLUMN")
        message = (
            f"no two solvers answer the same problem by its column {column!r}; name another: "
            f"--columns problem={other if other != column else 'COLUMN'}"
        )
        collected.mistakes.append(Mistake(str(table.path), message=message))


def _long(collected: Collected, table: AnswerTable) -> None:
    years: dict[str, set[str]] = {}
    for row, problem, statement, place in _rows(collected, table):
        solver = _name(table.cell(row, "solver"))
        if not solver:
            collected.mistakes.append(Mistake(*place, message="names no solver; fill it in"))
            continue
        _add(collected, (problem, solver), statement, table.cell(row, "answer"), place)
        named = collected.names.of_run(str(table.path), solver)
        years.setdefault(named, set()).add(_name(table.cell(row, "experience")))
    if "experience" in table.roles:
        _note_years(collected, table, years)
    for name in table.others():
        collected.left_out[f"values of the column {name!r}"] += len(table.rows)


def _note_years(collected: Collected, table: AnswerTable, years: dict[str, set[str]]) -> None:
    """Read the years of experience where all rows of a solver agree."""
    for solver, said in years.items():
        values = {_years(text) for text in said if text}
        if len(values) == 1 and None not in values and "" not in said:
            collected.solvers[solver] = values.pop()
        elif values:
            column = table.roles["experience"]
            collected.left_out[f"solvers with unclear experience in {column!r}"] += 1


def _years(text: str) -> float | None:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if 0 <= value <= 100 else None  # noqa: PLR2004  nobody has more


def _wide(collected: Collected, table: AnswerTable) -> None:
    solvers = dict.fromkeys(table.others())
    collected.solvers |= dict.fromkeys(map(collected.names.of, solvers)) | collected.solvers
    # Of two columns with one name the first counts.
    places = {name: at for at, name in reversed([*enumerate(table.header)]) if name in solvers}
    for row, problem, statement, place in _rows(collected, table):
        collected.problems.setdefault(collected.names.of(problem), SourceProblem(statement))
        for solver in solvers:
            # An empty cell of a spreadsheet is missing.
            if cell := row[places[solver]]:
                _add(collected, (problem, solver), statement, cell, place)
    for name in sorted(table.ignored):
        collected.left_out[f"values of the column {name!r}"] += len(table.rows)


def _single(collected: Collected, table: AnswerTable) -> None:
    solver = table.path.stem
    for row, problem, statement, place in _rows(collected, table):
        _add(collected, (problem, solver), statement, table.cell(row, "answer"), place)
    for name in table.others():
        collected.left_out[f"values of the column {name!r}"] += len(table.rows)


def _people(collected: Collected, table: AnswerTable) -> None:
    """Read subjects and their experience; their answers are in other sources."""
    role = "solver" if "solver" in table.roles else "problem"
    for row, line in zip(table.rows, table.lines, strict=True):
        name, years = _name(table.cell(row, role)), _years(_name(table.cell(row, "experience")))
        if not name or years is None:
            message = "needs a name and a number of years; fill them in"
            collected.mistakes.append(Mistake(str(table.path), line, message=message))
        else:
            collected.solvers[collected.names.of(name)] = years


_READERS: Mapping[str, Callable[[Collected, AnswerTable], None]] = {
    "long": _long,
    "wide": _wide,
    "one solver": _single,
    "people": _people,
}


def _rows(
    collected: Collected, table: AnswerTable
) -> Iterator[tuple[list[object], str, str, tuple[str, int]]]:
    """Each row with its problem, statement, and location."""
    for row, line in zip(table.rows, table.lines, strict=True):
        place = str(table.path), line
        statement = _text(table.cell(row, "statement"), ("user", "human", "system")) or ""
        same = table.roles.get("problem") == table.roles.get("statement")
        problem = "" if same else _name(table.cell(row, "problem"))
        if not problem and statement:
            problem = hashlib.sha256(statement.encode()).hexdigest()[:_DIGITS]
        if not problem:
            collected.mistakes.append(Mistake(*place, message="names no problem; fill it in"))
            continue
        yield row, problem, statement, place


def _add(
    collected: Collected, who: tuple[str, str], statement: str, cell: object, place: tuple[str, int]
) -> None:
    text = _text(cell, _ASSISTANTS)
    if text is None:
        message = "has an answer that is not a text; write the text alone"
        collected.mistakes.append(Mistake(*place, message=message))
        return
    path, line = place
    missing: Missing = "" if text else "absent" if cell is None else "failed"
    # One text for all cells of a row.
    answer = Answer(sys.intern(f"{path}:{line}"), text, missing=missing, run=path)
    collected.add(*who, answer, statement)


def _text(cell: object, speakers: tuple[str, ...]) -> str | None:
    """The text of a cell: a text, a number, or what these roles said in a chat.

    Of an answer, the last message; None without a text.
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return str(cell)
    messages = cell if isinstance(cell, list) else [cell]
    if len(messages) == 1 and isinstance(messages[0], str):
        return messages[0].strip()
    said = [
        str(m.get("content") or m.get("value") or m.get("text") or "").strip()
        for m in messages
        if isinstance(m, dict) and str(m.get("role") or m.get("from") or "assistant") in speakers
    ]
    if not any(said):
        return None
    return said[-1] if speakers is _ASSISTANTS else "\n\n".join(filter(None, said))


def _name(cell: object) -> str:
    return "" if cell is None or isinstance(cell, list | dict) else str(cell).strip()


def statements_of(table: AnswerTable) -> dict[str, str]:
    """The statements by problem in a table beside a folder of solutions."""
    if not {"problem", "statement"} <= table.roles.keys():
        return {}
    texts = ((_name(table.cell(r, "problem")), table.cell(r, "statement")) for r in table.rows)
    return {problem: text.strip() for problem, text in texts if isinstance(text, str)}


def _listed(header: list[str]) -> str:
    more = len(header) - _MOST_NAMED
    names = ", ".join(header[:_MOST_NAMED])
    return f"the columns {names}" + (f" and {more} more" if more > 0 else "")
