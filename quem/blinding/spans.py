"""Words in texts of several pieces: characters of a page, or of HTML between tags."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

# Replaces redacted words: the same for all words, lengths, judges, and languages, since it is part
# of what is ranked. Screen readers read it as a word.
MARK = "[removed]"
_UNSEEN = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
# Vowels and final consonants of Korean syllables that are written as letters.
_JAMO = range(0x1160, 0x1200)


def found_spans(
    pieces: Iterable[str], patterns: Iterable[re.Pattern[str]]
) -> list[tuple[int, int]]:
    """Find words in a text of several pieces."""
    text, owners = _normal(pieces)
    return joined_spans(
        (owners[match.start()][0], owners[match.end() - 1][1] + 1)
        for pattern in patterns
        for match in pattern.finditer(text)
        if match.end() > match.start()
    )


def joined_spans(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted places without overlaps."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _normal(pieces: Iterable[str]) -> tuple[str, list[tuple[int, int]]]:
    """The normalized text, and the first and the last piece of each character."""
    signs: list[str] = []
    owners: list[tuple[int, int]] = []
    for cluster, first, last in _clusters(pieces):
        composed = unicodedata.normalize("NFC", cluster)
        signs.append(composed)
        owners += [(first, last)] * len(composed)
    return "".join(signs), owners


def _clusters(pieces: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Each character with its combining marks."""
    cluster, first, last = "", 0, 0
    for number, piece in enumerate(pieces):
        for sign in piece:
            if sign in _UNSEEN:
                continue
            if cluster and (unicodedata.combining(sign) or ord(sign) in _JAMO):
                cluster, last = cluster + sign, number
                continue
            if cluster:
                yield cluster, first, last
            cluster, first, last = sign, number, number
    if cluster:
        yield cluster, first, last
