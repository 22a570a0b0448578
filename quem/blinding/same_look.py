"""Uniform look for texts of all authors: formatting goes, every word stays.

Headings and emphasis become plain text; bullets, quotes, and dashes become one sign each; emoji
are removed. Code, formulas, and tables stay as they are, and so does a text whose words would
change.
"""

from __future__ import annotations

import re
from html import escape, unescape

# Emoji with a meaning get a plain form.
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‘’‚‛‹›", "'"),
        **dict.fromkeys("\u00a0\u2009\u202f", " "),
        **dict.fromkeys("✅✔☑", "✓"),
        **dict.fromkeys("❌❎✖✘", "✗"),
        **dict.fromkeys("❓❔", "?"),
        **dict.fromkeys("❗❕", "!"),
        **dict(zip("➡⬅⬆⬇➕➖➗", "→←↑↓+-÷", strict=True)),
        "…": "...",
    }
)
_INNER_SPACE = re.compile("(?<=[«‹])[\u00a0\u202f ]|[\u00a0\u202f ](?=[»›])")
_LONG_DASH = re.compile(r"[ \t]{0,3}—[ \t]{0,3}|[ \t]{1,3}(?:–|--)[ \t]{1,3}")
# Emoji that are always shown in color, with joiners and variation selectors.
_EMOJI = re.compile(
    "( ?)(?:(?:[⌚⌛⏩-⏬⏰⏳☔☕♈-♓⚓⚡⚽⚾⛄⛅⛔⛪⛲⛳⛵⛺⛽✊✋✨➰➿⭐"
    "\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]"
    "|[\u2300-\u2bff]\ufe0f)[\ufe0f\u200d]*)+( ?)"
)
_VARIANT = re.compile("[\ufe0e\ufe0f]?\u20e3|[\ufe0e\ufe0f]")

_FENCED = re.compile(r"(?ms)^([ \t]*(```+|~~~+).*?(?:^[ \t]*\2[`~]*[ \t]*$|\Z))")
# Indented code, prompts, and table rows.
_KEPT = re.compile(r" {4}|\t|>>>|\$ |.*\S(?: {3}|\t)|.*\|.*\|")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*#{0,6}$")
_RULE = re.compile(r"^[ \t]*(?:={3,}|([-*_])(?:[ \t]*\1){2,})[ \t]*$")
_BULLET = re.compile(r"^([ \t]*)(?:[-*•‣◦▪▫●○■□·∙➢➤–—]|\+(?=[ \t]+\D))[ \t]+(?=\S)")
_NUMBER = re.compile(r"^([ \t]*\d+)[.)][ \t]+")
_EMPHASIS = (
    re.compile(r"(?<![\w*])\*\*(?=\S)(.{1,300}?)(?<=\S)\*\*(?![\w*])"),
    re.compile(r"(?<!\w)__(?=[^_ ]+ )([^_]+)(?<=\S)__(?!\w)"),
    re.compile(r"(?<![\w*])\*(?=\w)([^*]+)(?<=\S)\*(?![\w*])"),
    re.compile(r"(?<!\w)_(?=[^\W_])([^_]+)(?<=\S)_(?!\w)"),
)
# A line of this length was wrapped if the next begins like its continuation.
_WRAPPED = 60
_GOES_ON = re.compile(r" {0,3}(?!\d+\. )[\w\"'(]")

_PIECE = re.compile(
    r'(<(pre|code|kbd|samp|table)\b.*?</\2>|<span class="math".*?</span>|<(?:[^>"]|"[^"]*")*>)',
    re.DOTALL,
)
_HEADING_TAG = re.compile(r"(</?)h[1-6]\b")
_LOUD_TAG = re.compile(r"</?(?:b|em|i|mark|small|strong|u)\b[^>]*>")
_RULE_TAG = re.compile(r"<hr\b[^>]*>")
# Invisible space left by an emoji.
_EDGE = re.compile(r"(?<=<p>) |(?<=<li>) | (?=</(?:p|li)>)")
_WORD = re.compile(r"[^\W_]+")


def level_html(html: str) -> str:
    """Level the look of safe HTML."""
    pieces = _PIECE.split(html)
    # The split yields triples of text, markup, and tag name.
    for at in range(0, len(pieces), 3):
        text = unescape(pieces[at])
        level = level_signs(text)
        if not _same_words(text, level):
            return html
        pieces[at] = escape(level, quote=False)
    for at in range(1, len(pieces), 3):
        if not pieces[at + 1]:
            tag = _RULE_TAG.sub("<p></p>", _LOUD_TAG.sub("", pieces[at]))
            pieces[at] = _HEADING_TAG.sub(r"\1p", tag)
        pieces[at + 1] = ""
    return _EDGE.sub("", "".join(pieces))


def level_text(text: str) -> str:
    """Level the look of plain text."""
    pieces = _FENCED.split(text)
    # The split yields triples of text, code block, and its opening fence.
    pieces[::3] = map(_level_lines, pieces[::3])
    pieces[2::3] = [""] * (len(pieces) // 3)
    level = "".join(pieces)
    return level if _same_words(text, level) else text


def level_signs(text: str) -> str:
    """Unify quotes and dashes, and remove emoji."""
    text = _LONG_DASH.sub(" - ", _INNER_SPACE.sub("", text)).replace("–", "-")
    text = _EMOJI.sub(lambda match: match[1] or match[2], text.translate(_SIGNS))
    return _VARIANT.sub("", text)


def _level_lines(text: str) -> str:
    lines: list[str] = []
    may_go_on = False
    for line in text.split("\n"):
        is_kept = _KEPT.match(line)
        is_heading = is_kept or _HEADING.match(line)
        level = line if is_kept else _level_line(line)
        if may_go_on and not is_heading and _GOES_ON.match(level):
            lines[-1] += f" {level.lstrip()}"
        else:
            lines.append(level)
        may_go_on = not is_heading and len(level) >= _WRAPPED
    return "\n".join(lines)


def _level_line(line: str) -> str:
    line = _HEADING.sub(r"\1", _RULE.sub("", line))
    line = _NUMBER.sub(r"\1. ", _BULLET.sub(r"\1- ", line), count=1)
    for emphasis in _EMPHASIS:
        line = emphasis.sub(r"\1", line)
    level = level_signs(line).rstrip()
    return level if line[:1].isspace() else level.lstrip()


def _same_words(text: str, level: str) -> bool:
    return _WORD.findall(text) == _WORD.findall(level)
