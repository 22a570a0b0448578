"""Word search: with any hyphens and spaces, regardless of case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from quem.blinding.spans import seen

# Separators that vary within words: space, hyphen, underscore, or none.
BREAK = r"[\s_\-\u2010-\u2015]"
# Letters of words without spaces between them, as in Chinese and Thai, or with endings, as in
# Korean; and scripts of other words, which end where another script begins.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3031-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
LATIN = "A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿ"
_SCRIPTS = (LATIN, "Ͱ-ͽͿ-Ͽἀ-῿", "Ѐ-ԯ")
_SHORT = 2
LONGEST = 200  # of words to decide on


def normal(text: str) -> str:
    """A text normalized for word search."""
    return unicodedata.normalize("NFC", seen(text))


def is_unspaced(words: str) -> bool:
    """Whether words are in a script without spaces between words, and more than one letter."""
    return bool(re.match(f"[{_UNSPACED}]{{2}}", words))


@lru_cache(maxsize=4096)
def beside(sign: str, *, digits: bool = True) -> str:
    """A pattern of what belongs to one word with a sign beside it: letters of its script."""
    if re.match(f"[{_UNSPACED}]", sign):
        return r"[^\s\S]"
    for script in _SCRIPTS:
        if re.match(f"[{script}]", sign):
            return rf"[{script}\d]" if digits else f"[{script}]"
    return rf"[^\W_{_UNSPACED}]" if digits else rf"[^\W\d_{_UNSPACED}]"


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the whole words around a span, which are what `word_pattern` finds."""
    first, last = max(start - LONGEST, 0), end + LONGEST
    while start > first and re.match(_around(text[start:end])[0], text[start - 1]):
        start -= 1
    while end < last and re.match(_around(text[start:end])[1], text[end : end + 1]):
        end += 1
    return start, end


def plain(words: str) -> str:
    """Words in lower case with single spaces as separators."""
    return " ".join(re.sub(rf"{BREAK}+", " ", normal(words)).split()).casefold()


def loose(word: str) -> str:
    """A pattern that allows other spaces and hyphens."""
    parts = [re.escape(part) for part in re.split(rf"{BREAK}+", word) if part]
    return f"{BREAK}*".join(parts)


def _around(words: str) -> tuple[str, str]:
    """Patterns of what precedes and follows words only inside longer ones."""
    if len(words) == 1:
        return r"[^\W_]", r"[^\W_]"
    # "acme_1" and "ACME2" name ACME; "S11" and "P1.5" do not name S1 and P1.
    digits = words[-1].isdecimal() or len(words) <= _SHORT
    return beside(words[0]), beside(words[-1], digits=digits)


@lru_cache(maxsize=4096)
def word_pattern(word: str, *, exact: bool = False) -> re.Pattern[str] | None:
    """The pattern of a whole word; None without letters and digits.

    Of an exact one the first letter has its case, so that Will and WILL match, and "will" does not.
    """
    word = normal(word.strip())
    if not re.search(r"\w", word):
        return None
    before, after = _around(word)
    first, rest = (re.escape(word[0]), word[1:]) if exact else ("", word)
    return re.compile(f"(?<!{before}){first}(?i:{loose(rest)})(?!{after})")
