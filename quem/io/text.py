"""Text files in their many encodings and line ends, with clear refusals."""

from __future__ import annotations

import codecs
import re
import stat
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# First bytes of zipped workbooks (.xlsx, .ods) and old ones (.xls).
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
# Chinese and Japanese have no spaces: each of their characters counts as a word, their signs not.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGNS}]|[^\s{_SIGNS}\u3000-\u303f\uff00-\uff65]+")
_LONGEST_SHOWN = 60
_LEAST_PERCENT, _ALL = 50, 100


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def no_formula(cell: str) -> str:
    """Put an apostrophe in front of a text that a spreadsheet would calculate."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def without_apostrophe(cell: str) -> str:
    """The inverse of `no_formula`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def word_count(text: str) -> int:
    """The number of words in a text."""
    return len(_WORD.findall(text))


def read_text(path: Path, name: str, *, what: str, legacy: bool = False) -> str:
    r"""Read a file as text with ``\n`` line ends.

    UTF-8 and UTF-16, with or without a byte order mark.
    """
    raw = _bytes(path, name, what)
    if raw.startswith(_WORKBOOKS):
        form = "CSV" if legacy else "plain text"
        raise _refusal(name, f"is an Excel or OpenDocument workbook; save the {what} as {form}")
    encoding = _encoding(raw)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        text = _legacy_text(raw) if legacy and encoding == "utf-8" else ""
        if not text:
            line = raw.count(b"\n", 0, error.start) + 1
            message = f"is not {encoding.upper()} text; save the {what} as UTF-8"
            raise QuemError(Mistake(name, line, message=message)) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        message = f"holds binary data; the {what} must be a text file"
        raise QuemError(Mistake(name, line, message=message))
    return text


def shown(word: str) -> str:
    """A quotation of the user's text for a message, truncated."""
    return repr(word[:_LONGEST_SHOWN])


def percent_hint(value: float) -> str:
    """A hint on a share given in percent: "; 95 percent is written 0.95"."""
    if not _LEAST_PERCENT <= value < _ALL:
        return ""
    return f"; {value:g} percent is written {value / _ALL:g}"


def closest(word: str, known: Iterable[str]) -> str:
    """The known word closest to a misspelled one; empty if none is close."""
    from difflib import get_close_matches

    folded = {candidate.casefold(): candidate for candidate in reversed(list(known))}
    close = get_close_matches(word.casefold()[:80], list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint on the known word closest to a misspelled one: "; did you mean X?"."""
    close = closest(word, known)
    return f"; did you mean {close}?" if close else ""


def _bytes(path: Path, name: str, what: str) -> bytes:
    """The content of a regular file; reading another, such as a pipe, might never end."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise _refusal(name, f"is not a regular file; save the {what} as one")
        return path.read_bytes()
    except IsADirectoryError:
        raise _refusal(name, f"is a folder; specify the {what} inside it") from None
    except FileNotFoundError:
        raise _refusal(name, f"file not found; check the name of the {what}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refusal(name, f"cannot be read: {reason}") from None


def _encoding(raw: bytes) -> str:
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return encoding
    # UTF-16 without a mark: every other byte of mostly Latin text is zero.
    head = raw[:400]
    if head[1::2].count(0) > len(head) // 4:
        return "utf-16-le"
    if head[0::2].count(0) > len(head) // 4:
        return "utf-16-be"
    return "utf-8"


def _legacy_text(raw: bytes) -> str:
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return ""


def _refusal(name: str, message: str) -> QuemError:
    return QuemError(Mistake(name, message=message))
