"""Folders of files: one per solver with its problems, or one per problem."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from quem.errors import FileError, Mistake, QuemError, collecting, readable
from quem.importing.answer_tables import is_table, read_table, statements_of
from quem.importing.collected import Answer, Collected, Missing, Names, SourceProblem
from quem.io.text import read_text
from quem.solutions.files import inspect, is_ignored, natural

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


Layout = Literal["solver/problem", "problem/solver"]
LAYOUTS: tuple[Layout, ...] = ("solver/problem", "problem/solver")
_NUMBERED = re.compile(r"(?:p|q|t|task|problem|case|item|prompt|question)[-_ ]?\d+", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}|$)", re.IGNORECASE)
_STATEMENT = re.compile(r"(?:prompt|task|statement)\.(?:md|txt)", re.IGNORECASE)
_STATEMENTS = {"problems", "prompts", "tasks", "statements"}
_MOST_FILES = 50


@dataclass(frozen=True)
class _Entry:
    """An entry of the second level: a file, or a folder of files."""

    path: Path
    name: str


def read_tree(root: Path, layout: Layout | None, names: Names) -> Collected:
    """Read a folder with two levels of names."""
    folders, files = _listed(root)
    texts = _statement_folder(folders)
    if not folders or folders == [texts]:
        holds = "statements only" if texts else "files only" if files else "nothing"
        advice = "put the files of each solver, or those of each problem, into a folder"
        raise FileError(root, f"holds {holds}; {advice}")
    levels = {folder.name: _entries(folder) for folder in folders if folder != texts}
    statements = _listed(texts)[1] if texts else []
    layout = layout or _layout(root, levels, {file.stem for file in statements})
    collected = Collected(f"a folder of files, {layout}", names=names)
    for file in statements:
        _add_statement(collected, file.stem, file)
    for file in files:
        _read_beside(collected, file, levels, layout)
    for folder, entries in levels.items():
        for entry in entries:
            one, other = (folder, entry.name)
            problem, solver = (one, other) if layout == "problem/solver" else (other, one)
            if layout == "problem/solver" and _STATEMENT.fullmatch(entry.path.name):
                _add_statement(collected, problem, entry.path)
            else:
                _add_solution(collected, problem, solver, entry.path)
    for problem in [name for name, p in collected.problems.items() if not _solved(collected, name)]:
        collected.left_out["statements of problems without a solution"] += 1
        del collected.problems[problem]
    return collected


def _solved(collected: Collected, problem: str) -> bool:
    return any(name == problem for name, _ in collected.answers)


def _listed(folder: Path) -> tuple[list[Path], list[Path]]:
    """The folders and files in a folder, without those of editors and systems."""
    with readable(folder):
        entries = [path for path in folder.iterdir() if not is_ignored(path.name)]
    entries.sort(key=lambda path: natural(path.name))
    return [p for p in entries if p.is_dir()], [p for p in entries if not p.is_dir()]


def _statement_folder(folders: list[Path]) -> Path | None:
    """A folder of statements by problem beside the others."""
    matches = [f for f in folders if f.name.casefold() in _STATEMENTS]
    return matches[0] if len(matches) == 1 else None


def _entries(folder: Path) -> list[_Entry]:
    folders, files = _listed(folder)
    entries = [_Entry(path, path.name) for path in folders]
    # `gpt-4.1.md` and `gpt-4.1` are one solver's; `plan.v2` has no extension.
    return entries + [_Entry(path, path.stem or path.name) for path in files]


def _layout(root: Path, levels: dict[str, list[_Entry]], problems: set[str]) -> Layout:
    """The level of problems: the one that names the statements, or else looks like problems."""
    below = {
        entry.name
        for entries in levels.values()
        for entry in entries
        if not _STATEMENT.fullmatch(entry.path.name)
    }
    if bool(problems & levels.keys()) != bool(problems & below):
        return "problem/solver" if problems & levels.keys() else "solver/problem"
    above_share, below_share = _share(levels), _share(below)
    if above_share != below_share:
        return "problem/solver" if above_share > below_share else "solver/problem"
    folder = next(iter(levels))
    inner = next(iter(sorted(below)), "")
    raise FileError(
        root,
        (
            "does not say which names are problems; write --layout solver/problem if "
            f"{folder[:40]!r} "
            f"is a solver, or --layout problem/solver if {inner[:40]!r} is one"
        ),
    )


def _share(names: dict[str, list[_Entry]] | set[str]) -> float:
    hits = sum(bool(_NUMBERED.fullmatch(name) or _UUID.match(name)) for name in names)
    return hits / len(names) if names else 0.0


def _read_beside(
    collected: Collected, file: Path, levels: dict[str, list[_Entry]], layout: Layout
) -> None:
    """Read the statements of a table beside the folders; count anything else."""
    known = set(levels) if layout == "problem/solver" else set()
    known |= {e.name for entries in levels.values() for e in entries if not known}
    if is_table(file):
        try:
            statements = statements_of(read_table(file))
        except QuemError:
            statements = {}
        if known & statements.keys():
            collected.sources.append(file)
            for problem in known & statements.keys():
                name = collected.names.of(problem)
                collected.problems.setdefault(name, SourceProblem(statements[problem]))
            return
    collected.left_out["files beside the folders"] += 1


def _add_statement(collected: Collected, problem: str, file: Path) -> None:
    try:
        text = read_text(file, str(file), what="statement")
    except QuemError as error:
        collected.mistakes += error.mistakes
        return
    collected.sources.append(file)
    known = collected.problems.setdefault(collected.names.of(problem), SourceProblem())
    known.statement = known.statement or text.strip()


def _add_solution(collected: Collected, problem: str, solver: str, path: Path) -> None:
    files = []
    for file, inner in _files(path):
        if inner and _STATEMENT.fullmatch(inner):
            _add_statement(collected, problem, file)
            continue
        files.append((file, inner or file.name))
        with collecting(collected.mistakes):
            inspect(file, str(file), inner or file.name)
    place = str(path)
    if len(files) > _MOST_FILES:
        message = f"holds {len(files)} files; a judge can look at {_MOST_FILES} at most"
        collected.mistakes.append(Mistake(place, message=message))
    collected.sources += [file for file, _ in files]
    missing: Missing = "" if files else "absent"
    collected.add(problem, solver, Answer(place, files=tuple(files), missing=missing))


def _files(path: Path, inner: str = "") -> Iterator[tuple[Path, str]]:
    """Each file of a solution with its path inside it; empty for a single file."""
    if not path.is_dir():
        yield path, inner
        return
    folders, files = _listed(path)
    for entry in sorted([*folders, *files], key=lambda one: natural(one.name)):
        yield from _files(entry, f"{inner}/{entry.name}".lstrip("/"))
