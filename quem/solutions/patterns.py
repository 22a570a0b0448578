"""Word search: with any hyphens and spaces, regardless of case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Separators that vary within words: space, hyphen, underscore, or none.
BREAK = r"[\s_\-\u2010-\u2015]"
# Invisible characters, which may be anywhere in a word.
UNSEEN = str.maketrans(dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""))
_SHORT = 2
# Wide characters, as in Chinese and Japanese, whose words are not separated by spaces.
_WIDE = ("W", "F")


def normal(text: str) -> str:
    """A text normalized for word search."""
    return unicodedata.normalize("NFC", text.translate(UNSEEN))


def folded(text: str) -> str:
    """A text in lower case, as far as that keeps its length."""
    return text.lower()


def plain(words: str) -> str:
    """Words in lower case with single spaces as separators."""
    return " ".join(re.sub(rf"{BREAK}+", " ", normal(words)).split()).casefold()


def loose(word: str) -> str:
    """A pattern that allows other spaces and hyphens."""
    parts = [re.escape(part) for part in re.split(rf"{BREAK}+", word) if part]
    return f"{BREAK}*".join(parts)


@lru_cache(maxsize=4096)
def word_pattern(word: str, *, exact: bool = False) -> re.Pattern[str] | None:
    """The pattern of a whole word; None without letters and digits."""
    word = normal(word.strip())
    if not re.search(r"\w", word):
        return None
    # "acme_1" and "ACME2" name ACME; "S11" and "P1.5" do not name S1 and P1.
    after = r"(?![^\W_])" if word[-1].isdecimal() or len(word) <= _SHORT else r"(?![^\W\d_])"
    before = r"(?<![^\W_])"
    after = "" if _is_wide(word[-1]) and len(word) >= _SHORT else after
    before = "" if _is_wide(word[0]) and len(word) >= _SHORT else before
    return re.compile(before + loose(word) + after, re.NOFLAG if exact else re.IGNORECASE)


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in _WIDE
