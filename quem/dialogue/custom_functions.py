"""Strategies, users and choices of questions that a study file names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quem.errors import QuemError
from quem.io.custom_functions import BrokenEntry, find_entry, load_entry, raised

__all__ = ["CustomFunction", "find_own"]

# What this process has loaded, by name, folder and fingerprint.
_LOADED: dict[tuple[str, str, str], Any] = {}


@dataclass
class CustomFunction:
    """A custom function, which goes to other processes by its name.

    Parameters
    ----------
    what : str
        What it is, for messages: "the strategy mine".
    entry : str
        ``module:callable``.
    folder : str
        That of the study file.
    fingerprint : str
        Changes with the files that it was loaded from; empty until it is.
    files : tuple of Path
        These.
    """

    what: str
    entry: str
    folder: str
    fingerprint: str = ""
    files: tuple[Path, ...] = field(default=())

    def load(self) -> None:
        """Load it; this runs the code of its file.

        Raises
        ------
        QuemError
            There is no such function, or its code raised.
        """
        try:
            found = load_entry(self.entry, Path(self.folder))
        except BrokenEntry as error:
            raise QuemError([str(error)]) from error
        digest = hashlib.sha256(self.entry.encode())
        for path in found.sources:
            digest.update(path.read_bytes())
        self.files, self.fingerprint = found.sources, digest.hexdigest()
        _LOADED[self.entry, self.folder, self.fingerprint] = found.target

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401  what the protocols say
        """Call it.

        Raises
        ------
        QuemError
            It raised something, or its files changed since the study was loaded.
        """
        key = (self.entry, self.folder, self.fingerprint)
        if key not in _LOADED:
            # In the process of a worker.
            self.load()
            if self.fingerprint != key[-1]:
                message = f"{self.what} ({self.entry}) has changed meanwhile; run it once more"
                raise QuemError([message])
        try:
            return _LOADED[key](*arguments)
        except QuemError:
            raise
        except Exception as error:
            raise QuemError([f"{self.what} ({self.entry}) {raised(error)}"]) from error


def find_own(what: str, entry: str, folder: Path, *, code: bool = True) -> CustomFunction:
    """Find a custom function, and run nothing yet.

    Parameters
    ----------
    code : bool
        Whether the study may run Python at all.

    Raises
    ------
    QuemError
        Its file is not in the folder, or code is refused.
    """
    find_entry(entry, folder, code=code)
    return CustomFunction(what, entry, str(folder))
