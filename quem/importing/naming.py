"""Ids of a study from the names of a source: safe file names on every system."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from quem.solutions.files import is_ignored

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 60
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
# Device names on Windows, also with an extension.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def ids_of(names: Iterable[str], otherwise: str) -> dict[str, str]:
    """An id for each name.

    An id holds ``A-Z a-z 0-9 . _ -``, has at most 60 characters, and is unique regardless of case:
    ``Maria K.`` and ``Maria K`` become ``Maria-K`` and ``Maria-K-2``.
    """
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = _plain(name) or otherwise
        candidate, number = stem, 1
        while candidate.casefold() in taken:
            number += 1
            ending = f"-{number}"
            candidate = stem[: _LONGEST - len(ending)].rstrip(".-") + ending
        taken.add(candidate.casefold())
        ids[name] = candidate
    return ids


def _plain(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = _OTHER.sub("-", ascii_only).strip(".-")[:_LONGEST].rstrip(".-")
    if _DEVICES.fullmatch(plain) or is_ignored(plain):
        plain = f"x-{plain}"
    return plain
