"""How words are looked for: as people write them, with other hyphens and spaces, in any case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Words that people write with a space, a hyphen, an underscore or nothing between.
BREAK = r"[\s_\-\u2010-\u2015]"
# Characters that nobody sees, which may be anywhere in a word.
UNSEEN = str.maketrans(dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""))
_SHORT = 2
# Wide characters, as of Chinese and Japanese, whose words have no spaces between.
_WIDE = ("W", "F")


def normal(text: str) -> str:
    """Give a text in the form in which words are looked for."""
    return unicodedata.normalize("NFC", text.translate(UNSEEN))


def folded(text: str) -> str:
    """Give a text in small letters, as far as that keeps its length."""
    return text.lower()


def plain(words: str) -> str:
    """Give words with one space for whatever is between them, in small letters."""
    return " ".join(re.sub(rf"{BREAK}+", " ", normal(words)).split()).casefold()


def loose(word: str) -> str:
    """Write a pattern that allows for other spaces and hyphens."""
    parts = [re.escape(part) for part in re.split(rf"{BREAK}+", word) if part]
    return f"{BREAK}*".join(parts)


def key_of(word: str) -> str:
    """Give letters that each text with the word holds, folded; looking for them is quick."""
    return folded(max(re.split(rf"{BREAK}+", word), key=len))


@lru_cache(maxsize=4096)
def word_pattern(word: str, *, exact: bool = False) -> re.Pattern[str] | None:
    """Make the pattern of a whole word; None where it has no letter and no digit."""
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
