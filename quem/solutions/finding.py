"""The solutions of a study, or all errors in them.

Links out of the folder are not followed.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, StudyWarning, collecting
from quem.io.text import nearest, shown
from quem.solutions.decisions import with_redactions
from quem.solutions.files import inspect, is_ignored, kind_of, natural
from quem.solutions.identity import is_exact, terms
from quem.solutions.model import LEVELED, Solution, SolutionFile, Solutions
from quem.solutions.sheets import find_sheets, study_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.studyfile.document import Loc
    from quem.studyfile.models import Judging
    from quem.studyfile.reading import StudyFile

_DEEPEST = 6
_MOST_FILES = 50


def same(name: str) -> str:
    """A name in its normal form: some systems decompose accents."""
    return unicodedata.normalize("NFC", name)


@dataclass
class Folder:
    """A folder, its name for messages, and the errors in it."""

    path: Path
    name: str  # as a user would name it
    root: Path  # folder of all solutions, resolved, which no link may leave
    mistakes: list[Mistake] = field(default_factory=list)  # shared list of errors
    judging: Judging | None = None  # the study file's settings of judging

    def entries(self) -> list[Path]:
        """The entries of the folder in natural order, without editors' files."""
        try:
            paths = [path for path in self.path.iterdir() if not is_ignored(path.name)]
        except OSError as error:
            self.refuse(self.name, f"cannot be read: {error.strerror or error}")
            return []
        paths.sort(key=lambda path: natural(path.name))
        return [path for path in paths if self._stays(path)]

    def within(self, path: Path) -> Folder:
        """A folder inside this one."""
        name = f"{self.name}/{path.name}"
        return Folder(path, name, self.root, self.mistakes, self.judging)

    def refuse(self, name: str, message: str) -> None:
        """Note an error at a file."""
        self.mistakes.append(Mistake(name, message=message))

    def files_of(self, entry: Path) -> tuple[SolutionFile, ...]:
        """Read a solution: a file, or a folder of files."""
        name = f"{self.name}/{entry.name}"
        if not entry.is_dir():
            return tuple(self._inspected([(entry, name, entry.name)]))
        before = len(self.mistakes)
        files = self.within(entry).listed()
        if not files and len(self.mistakes) == before:
            self.refuse(name, "is an empty folder; put the solution into it")
        if len(files) > _MOST_FILES:
            message = f"holds {len(files)} files; a judge can look at {_MOST_FILES} at most"
            self.refuse(name, message)
            return ()
        return tuple(self._inspected(files))

    def listed(self, prefix: str = "", depth: int = 0) -> list[tuple[Path, str, str]]:
        """All files below: path, name for messages, path inside this folder."""
        files: list[tuple[Path, str, str]] = []
        for path in self.entries():
            if not path.is_dir():
                files.append((path, f"{self.name}/{path.name}", prefix + path.name))
            elif depth < _DEEPEST:
                files += self.within(path).listed(f"{prefix}{path.name}/", depth + 1)
            else:
                self.refuse(f"{self.name}/{path.name}", "lies too deep; put its files higher up")
        return files

    def _inspected(self, places: list[tuple[Path, str, str]]) -> list[SolutionFile]:
        files = []
        for path, name, inner in places:
            with collecting(self.mistakes):
                file = inspect(path, name, inner)
                if self.judging:
                    same_look = self.judging.same_look and file.kind in LEVELED
                    headers = self.judging.keep_headers
                    file = replace(file, keep_headers=headers, same_look=same_look)
                files.append(file)
        return files

    def _stays(self, path: Path) -> bool:
        """Whether a path stays inside the folder of solutions."""
        if not path.is_symlink():
            return True
        name = f"{self.name}/{path.name}"
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            self.refuse(name, "is a link that leads nowhere; remove it")
            return False
        if target.is_relative_to(self.root) and not path.is_relative_to(target):
            return True
        self.refuse(name, "is a link out of the folder of solutions; put the file itself here")
        return False


_MOST_STRANGERS = 10
_NO_DOCUMENTS = {"readme", "license", "licence"}


def find_solutions(
    file: StudyFile, *, complete: bool
) -> tuple[Solutions, list[Mistake], list[StudyWarning]]:
    """Find the solutions of a study and the texts for judges.

    File names are compared with the declared ids; paths are never built from ids.
    """
    search = _Search(file, complete=complete)
    solutions = search.run()
    if solutions:
        solutions = replace(solutions, told=tuple(study_texts(file)))
    if file.spec and file.spec.judging.reviewed:
        known = terms(file.spec)
        solutions = with_redactions(solutions, file.spec, cache(partial(is_exact, known=known)))
    warnings = [printable(warning) for warning in search.warnings]
    return solutions, list(dict.fromkeys(search.mistakes)), warnings


def printable(warning: StudyWarning) -> StudyWarning:
    """The warning on one line: file names may hold line breaks or control codes."""
    message = "".join(sign if sign.isprintable() else " " for sign in warning.message)
    return replace(warning, message=message)


class _Search:
    """A traversal of the folder of solutions."""

    def __init__(self, file: StudyFile, *, complete: bool) -> None:
        content: dict[str, Any] = file.document.content
        self.file = file
        self.complete = complete
        self.mistakes: list[Mistake] = []
        self.warnings: list[StudyWarning] = []
        setting = file.spec.solutions if file.spec else content.get("solutions", "solutions")
        self.root_name = setting if isinstance(setting, str) and setting else "solutions"
        judging = content.get("judging")
        practice = judging.get("practice") if isinstance(judging, dict) else ""
        self.practice = practice if isinstance(practice, str) else ""
        self.judging = file.spec.judging if file.spec else None
        self.problems = [name for name in file.declared.problems if name != self.practice]
        self.missing = file.declared.failed | file.declared.absent

    def run(self) -> Solutions:
        sheets, mistakes = find_sheets(self.file)
        self.mistakes += mistakes
        if self.complete:
            self.mistakes += self._unusable_ids()
        folder = self._root()
        folders = self._folders(folder) if folder else {}
        by_problem = {
            problem: self._problem(folders[same(problem)], problem)
            for problem in self.problems
            if same(problem) in folders
        }
        practice = {}
        if self.practice and same(self.practice) in folders:
            practice = self._practice(folders[same(self.practice)])
        elif self.practice and folder and self.complete:
            self._missing_folder(self.practice, ("judging", "practice"))
        if self.complete and folder:
            for index, problem in enumerate(self.file.declared.problems):
                if problem in self.problems and same(problem) not in folders:
                    self._missing_folder(problem, ("problems", index))
        return Solutions(by_problem, practice, self.practice, **sheets)

    def _root(self) -> Folder | None:
        """The folder of all solutions, if there is one."""
        path, name = self.file.beside(self.root_name)
        if Path(self.root_name).is_absolute() or ".." in Path(self.root_name).parts:
            message = (
                f"{shown(self.root_name)} is not below the study's folder; name a folder there"
            )
            self._at(("solutions",), message)
            return None
        try:
            is_folder, exists = path.is_dir(), path.exists()
        except (OSError, ValueError):
            is_folder = exists = False
        if is_folder:
            return Folder(path, name, path.resolve(), self.mistakes, self.judging)
        if exists:
            self._at(
                ("solutions",), f"{shown(self.root_name)} is a file; name the solutions' folder"
            )
        elif self.complete:
            message = (
                f"there is no folder {shown(self.root_name)}; make one that holds a folder for "
                "each problem, with a file for each solver"
            )
            self._at(("solutions",), message)
        return None

    def _folders(self, folder: Folder) -> dict[str, Folder]:
        """The problems' folders by name."""
        known = {same(name) for name in (*self.problems, self.practice) if name}
        folders, strangers = {}, []
        for path in folder.entries():
            if path.is_dir() and same(path.name) in known:
                folders[same(path.name)] = folder.within(path)
            elif path.stem.casefold() not in _NO_DOCUMENTS:
                strangers.append(path.name)
        self._warn(folder, strangers, "problem", [*self.problems, self.practice])
        return folders

    def _problem(self, folder: Folder, problem: str) -> dict[str, Solution]:
        """The solutions of one problem, by solver, in the order of the study file."""
        solvers = self.file.declared.solvers_of(problem)
        ids = {same(solver): solver for solver in solvers}
        candidates: defaultdict[str, list[Path]] = defaultdict(list)
        strangers = []
        for path in folder.entries():
            solver = ids.get(same(path.name))
            if solver is None and not path.is_dir():
                solver = ids.get(same(path.stem))
            if solver is None:
                strangers.append(path.name)
            else:
                candidates[solver].append(path)
        if "solver" not in self.file.declared.broken:
            self._warn(folder, strangers, "solver", solvers)
        solutions = {}
        for solver in solvers:
            self._check_presence(folder, problem, solver, candidates[solver])
            if files := self._files(folder, solver, candidates[solver]):
                solutions[solver] = Solution(problem, solver, files)
        return solutions

    def _check_presence(
        self, folder: Folder, problem: str, solver: str, candidates: list[Path]
    ) -> None:
        if (problem, solver) in self.missing:
            if candidates:
                message = (
                    f"the study file declares the solution of {solver} missing, and here it is; "
                    "remove one of the two"
                )
                folder.refuse(f"{folder.name}/{candidates[0].name}", message)
        elif not candidates and self.complete and not self._has_reason(solver):
            message = (
                f"there is no solution of {solver}; put it here as {solver}.md (or .txt, .html, "
                ".png, .pdf…), or declare it under missing"
            )
            folder.refuse(folder.name, message)

    def _has_reason(self, solver: str) -> bool:
        """Whether an error in the study file already explains a missing solution."""
        return "solver" in self.file.declared.broken or _is_unusable(solver)

    def _practice(self, folder: Folder) -> dict[str, Solution]:
        """The solutions of the practice problem, whose solvers need not be declared."""
        candidates: defaultdict[str, list[Path]] = defaultdict(list)
        for path in folder.entries():
            candidates[path.name if path.is_dir() else path.stem].append(path)
        if not candidates and not folder.mistakes:
            folder.refuse(folder.name, "holds nothing to practise on; put some solutions here")
        read = {name: self._files(folder, name, paths) for name, paths in candidates.items()}
        return {name: Solution(self.practice, name, files) for name, files in read.items() if files}

    @staticmethod
    def _files(folder: Folder, solver: str, candidates: list[Path]) -> tuple[SolutionFile, ...]:
        if len(candidates) > 1:
            names = " and ".join(f"{folder.name}/{path.name}" for path in candidates[1:])
            message = f"{solver} has {names} too; keep one, or put all into a folder named {solver}"
            folder.refuse(f"{folder.name}/{candidates[0].name}", message)
        return folder.files_of(candidates[0]) if candidates else ()

    def _unusable_ids(self) -> Iterator[Mistake]:
        """Ids that no file below the folder can have as a name."""
        declared = [(loc, name) for loc, name in _ids(self.file.document.content)]
        for loc, name in declared:
            if _is_unusable(name):
                message = (
                    f"no file of solutions can be named {shown(name)}; choose an id without "
                    "slashes, that does not begin with a dot or end with ~"
                )
                yield self.file.document.mistake(loc, message)

    def _missing_folder(self, problem: str, loc: Loc) -> None:
        message = (
            f"there is no folder {self.root_name}/{problem}; make it, with a file for each solver"
        )
        self._at(loc, message)

    def _at(self, loc: Loc, message: str) -> None:
        self.mistakes.append(self.file.document.mistake(loc, message))

    def _warn(self, folder: Folder, strangers: list[str], noun: str, known: Iterable[str]) -> None:
        """Warn about files that match no declared id."""
        known = [name for name in known if name]
        for name in strangers[:_MOST_STRANGERS]:
            stem = name if kind_of(Path(name)) == "text" else Path(name).stem
            hint = nearest(stem, known)
            message = f"{folder.name}/{name} fits no declared {noun} and is not shown{hint}"
            self.warnings.append(StudyWarning("unknown-solution", message))
        if more := len(strangers) - _MOST_STRANGERS:
            if more < 0:
                return
            message = f"{folder.name}: {more} more fit no declared {noun} and are not shown"
            self.warnings.append(StudyWarning("unknown-solution", message))


def _is_unusable(name: str) -> bool:
    """Whether a name is impossible or ignored as a file name."""
    return "/" in name or "\\" in name or is_ignored(name)


def _ids(content: dict[str, Any]) -> Iterator[tuple[Loc, str]]:
    for section in ("problems", "subjects", "systems", "assisted", "withheld", "candidates"):
        entries = content.get(section)
        rows = [entries] if isinstance(entries, str) else entries
        for index, entry in enumerate(rows if isinstance(rows, list) else []):
            name = entry.get("id") if isinstance(entry, dict) else entry
            if isinstance(name, str):
                loc = (section, index, "id") if isinstance(entry, dict) else (section, index)
                yield loc, name
    judging = content.get("judging")
    practice = judging.get("practice") if isinstance(judging, dict) else None
    if isinstance(practice, str):
        yield ("judging", "practice"), practice
