"""What a folder of solutions holds, without following anything out of it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.solutions.files import inspect, is_ignored, natural

if TYPE_CHECKING:
    from pathlib import Path

    from quem.solutions.model import SolutionFile

__all__ = ["Folder", "same"]

_DEEPEST = 6
_MOST_FILES = 50


def same(name: str) -> str:
    """Give a name as it is compared: some systems write accents as marks of their own."""
    return unicodedata.normalize("NFC", name)


@dataclass
class Folder:
    """A folder, its name for messages, and the mistakes that were found in it.

    Parameters
    ----------
    name : str
        The folder as a user would name it.
    root : Path
        The folder of all solutions, resolved, which no link may leave.
    mistakes : list of Mistake
        To which what is found is added.
    """

    path: Path
    name: str
    root: Path
    mistakes: list[Mistake] = field(default_factory=list)

    def entries(self) -> list[Path]:
        """List what is in the folder, in natural order, without what editors put there."""
        try:
            found = [path for path in self.path.iterdir() if not is_ignored(path.name)]
        except OSError as error:
            self.refuse(self.name, f"cannot be read: {error.strerror or error}")
            return []
        found.sort(key=lambda path: natural(path.name))
        return [path for path in found if self._stays(path)]

    def within(self, path: Path) -> Folder:
        """Give a folder inside this one."""
        return Folder(path, f"{self.name}/{path.name}", self.root, self.mistakes)

    def refuse(self, name: str, message: str) -> None:
        """Note a mistake at a file."""
        self.mistakes.append(Mistake(name, message=message))

    def files_of(self, entry: Path) -> tuple[SolutionFile, ...]:
        """Read a solution: a file, or a folder of files.

        Returns
        -------
        tuple of SolutionFile
            Empty where there is none that can be shown; the mistakes say why.
        """
        name = f"{self.name}/{entry.name}"
        if not entry.is_dir():
            return tuple(self._inspected([(entry, name, entry.name)]))
        before = len(self.mistakes)
        listed = self.within(entry).listed()
        if not listed and len(self.mistakes) == before:
            self.refuse(name, "is an empty folder; put the solution into it")
        if len(listed) > _MOST_FILES:
            message = f"holds {len(listed)} files; a judge can look at {_MOST_FILES} at most"
            self.refuse(name, message)
            return ()
        return tuple(self._inspected(listed))

    def listed(self, prefix: str = "", depth: int = 0) -> list[tuple[Path, str, str]]:
        """List files here and below: path, name for messages, path inside this folder."""
        found: list[tuple[Path, str, str]] = []
        for path in self.entries():
            if not path.is_dir():
                found.append((path, f"{self.name}/{path.name}", prefix + path.name))
            elif depth < _DEEPEST:
                found += self.within(path).listed(f"{prefix}{path.name}/", depth + 1)
            else:
                self.refuse(f"{self.name}/{path.name}", "lies too deep; put its files higher up")
        return found

    def _inspected(self, listed: list[tuple[Path, str, str]]) -> list[SolutionFile]:
        files = []
        for path, name, inner in listed:
            try:
                files.append(inspect(path, name, inner))
            except QuemError as error:
                self.mistakes += error.mistakes
        return files

    def _stays(self, path: Path) -> bool:
        """Whether a link, if it is one, leads to a place inside the folder of solutions."""
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
