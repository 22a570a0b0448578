"""Strategies, users and choices of questions of one's own, as a study file names them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from quem.entry import BrokenEntry, load_entry, raised
from quem.errors import QuemError

__all__ = ["OwnFunction", "own_function"]


@dataclass(frozen=True)
class OwnFunction:
    """A function of one's own, which goes to other processes by its name.

    Parameters
    ----------
    what : str
        What it is, for messages: "the strategy mine".
    entry : str
        ``module:callable``.
    folder : str
        That of the study file.
    fingerprint : str
        Changes with the files that it was loaded from.
    files : tuple of Path
        These.
    """

    what: str
    entry: str
    folder: str
    fingerprint: str
    files: tuple[Path, ...] = ()

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401  what the protocols say
        """Call it.

        Raises
        ------
        QuemError
            It raised something.
        """
        function = _loaded(self.entry, self.folder)[0]
        try:
            return function(*arguments)
        except QuemError:
            raise
        except Exception as error:
            raise QuemError([f"{self.what} ({self.entry}) {raised(error)}"]) from error


def own_function(what: str, entry: str, folder: Path) -> OwnFunction:
    """Load a function of one's own.

    Parameters
    ----------
    what : str
    entry : str
    folder : Path

    Raises
    ------
    QuemError
        There is no such function, or its code raised.
    """
    _, sources = _loaded(entry, str(folder))
    digest = hashlib.sha256(entry.encode())
    for path in sources:
        digest.update(path.read_bytes())
    return OwnFunction(what, entry, str(folder), digest.hexdigest(), sources)


@cache
def _loaded(entry: str, folder: str) -> tuple[Any, tuple[Path, ...]]:
    try:
        found = load_entry(entry, Path(folder))
    except BrokenEntry as error:
        raise QuemError([str(error)]) from error
    return found.target, found.sources
