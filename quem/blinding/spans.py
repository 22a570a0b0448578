"""Words in texts of several pieces: characters of a page, or of HTML between tags."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Replaces redacted words: the same for all words, lengths, judges, and languages, since it is part
# of what is ranked. Screen readers read it as a word.
MARK = "[removed]"
# Letters in circles and other styles, and signs that nobody sees, anywhere in a word.
_ODD = re.compile(
    "([Ⓐ-ⓩＡ-ｚ\U0001d400-\U0001d7ff\U0001f130-\U0001f189])"
    "|[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]"
)
# Vowels and final consonants of Korean syllables that are written as letters.
_JAMO = range(0x1160, 0x1200)


def seen(text: str) -> str:
    """A text without signs that nobody sees, and with plain letters in place of styled ones."""
    if text.isascii():
        return text
    return _ODD.sub(lambda sign: unicodedata.normalize("NFKC", sign[1] or ""), text)


def found_spans(
    pieces: Iterable[str], patterns: Iterable[re.Pattern[str]]
) -> list[tuple[int, int]]:
    """Find words in a text of several pieces."""
    text, owners = normalized(pieces)
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


def normalized(pieces: Iterable[str]) -> tuple[str, list[tuple[int, int]]]:
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
        for sign in seen(piece):
            if cluster and (unicodedata.combining(sign) or ord(sign) in _JAMO):
                cluster, last = cluster + sign, number
                continue
            if cluster:
                yield cluster, first, last
            cluster, first, last = sign, number, number
    if cluster:
        yield cluster, first, last
