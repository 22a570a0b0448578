"""Cases for judges in Markdown: attributes line by line, with long texts below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# A longer value, or one of several lines, goes below the others.
_LONG = 80
_SPECIAL = re.compile(r"[`*_<>|~&\\\[\]$]")
# After a backslash these begin a formula, and are written as numeric entities.
_OF_FORMULAS = "\\[]$"
_AT_START = re.compile(r"^(\s*)([#>+=-]|\d+(?=[.)]))", re.MULTILINE)
_LONGEST_TITLE = 80


def case_text(case: Mapping[str, object]) -> str:
    """A case or query as a judge reads it, without its id."""
    known = {name: text for name, value in case.items() if (text := _value(value))}
    if len(known) == 1:
        return _plain(*known.values())
    short = {name: text for name, text in known.items() if not _is_long(text)}
    # Two spaces end a line within a paragraph, whose beginning lists show.
    lines = "  \n".join(f"{_name(name)} {_line(text)}" for name, text in short.items())
    long = (f"{_name(name)}\n\n{_plain(text)}" for name, text in known.items() if name not in short)
    return "\n\n".join(filter(None, (lines, *long)))


def short_title(case: Mapping[str, object]) -> str:
    """A query's only text on one line, cut at a word; empty if there are several."""
    texts = [text for value in case.values() if (text := _value(value))]
    if len(texts) != 1:
        return ""
    line = "".join(sign if sign.isprintable() else " " for sign in " ".join(texts[0].split()))
    if len(line) <= _LONGEST_TITLE:
        return line
    return f"{line[:_LONGEST_TITLE].rpartition(' ')[0] or line[:_LONGEST_TITLE]}…"


def _is_long(text: str) -> bool:
    return len(text) > _LONG or "\n" in text


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, list):
        return ", ".join(filter(None, map(_value, value)))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {text}" for key, one in value.items() if (text := _value(one)))
    return str(value).strip()


def _name(name: str) -> str:
    return f"**{_line(name)}:**"


def _line(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_literal, text)


def _literal(match: re.Match[str]) -> str:
    sign = match[0]
    return f"&#{ord(sign)};" if sign in _OF_FORMULAS else f"\\{sign}"


def _plain(text: str) -> str:
    """Keep the lines and paragraphs of a text, with markup escaped."""
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    escaped = _escaped("\n".join(lines))
    escaped = _AT_START.sub(_shielded, escaped)
    return re.sub(r"(?<!\n)\n(?!\n)", "  \n", escaped)


def _shielded(match: re.Match[str]) -> str:
    space, sign = match.groups()
    return f"{space}{sign}\\" if sign.isdecimal() else f"{space}\\{sign}"
