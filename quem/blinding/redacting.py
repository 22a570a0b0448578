"""Redaction and highlighting of words in safe HTML, across tags and entities."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

from quem.blinding.spans import MARK, found_spans
from quem.solutions.patterns import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

TAG = re.compile(r'<(?:[^>"]|"[^"]*")*>')
# Attributes that can hold an author's text.
VALUE = re.compile(r' (?:alt|aria-label|href|lang|start|title|value)="([^"]*)"')
_INSIDE_WORDS = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|cite|code|del|dfn|em|i|ins|kbd|mark|q|s|samp|small|span|strong"
    r"|sub|sup|u|var|wbr)\b[^>]*>"
)
_ATTRIBUTE = re.compile(r' (alt|aria-label|href|lang|start|title|value)="([^"]*)"')
_READ = ("alt", "aria-label", "title")
# Tags, placeholders of sentences on workbooks, entities, and other characters.
_TOKEN = re.compile(
    r'<(?:[^>"]|"[^"]*")*>|\ue000(?:formula|more-\d+-\d+)\ue000|&(?:#\w{1,8}|\w{1,32});|.',
    re.DOTALL,
)
_SHOWN_MARK = f'<span class="redacted">{MARK}</span>'


def flat(html: str) -> str:
    """HTML without the tags that may be inside a word."""
    return _INSIDE_WORDS.sub("", html)


def redact_html(html: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """Redact words in texts, descriptions, and link targets."""
    if not patterns or not _occurs(html, patterns):
        return html

    def attribute(match: re.Match[str]) -> str:
        name, value = match[1], unescape(match[2])
        if name in _READ:
            return f' {name}="{escape(redact_text(value, patterns))}"'
        return "" if _has(value, patterns) or _has(unquote(value), patterns) else match[0]

    html = TAG.sub(lambda tag: _ATTRIBUTE.sub(attribute, tag[0]), html)

    def mark(texts: list[str]) -> list[str]:
        return [_SHOWN_MARK, *("" for _ in texts[1:])]

    return _changed(html, patterns, mark)


def redact_text(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """Redact words, keeping line breaks."""
    if not _has(text, patterns):
        return text
    parts, end = [], 0
    for start, stop in found_spans(text, patterns):
        parts += [text[end:start], MARK, "\n" * text.count("\n", start, stop)]
        end = stop
    return "".join([*parts, text[end:]])


def highlight_html(html: str, patterns: Iterable[re.Pattern[str]], attributes: str) -> str:
    """Mark words in the text of HTML; descriptions and addresses cannot be marked."""

    def mark(texts: list[str]) -> list[str]:
        return [f"<mark {attributes}>{text}</mark>" if text else "" for text in texts]

    return _changed(html, list(patterns), mark)


def _changed(
    html: str, patterns: Sequence[re.Pattern[str]], change: Callable[[list[str]], list[str]]
) -> str:
    """HTML with replaced words: each match is a list of texts between tags."""
    tokens: list[str] = _TOKEN.findall(html)
    places = found_spans(map(_read, tokens), patterns)
    for start, end in places:
        # Runs of text; the tags between them stay in place.
        runs: list[list[int]] = []
        for index in range(start, end):
            if not _is_tag(tokens[index]):
                if runs and runs[-1][-1] == index - 1:
                    runs[-1].append(index)
                else:
                    runs.append([index])
        texts = change(["".join(tokens[i] for i in run) for run in runs])
        for run, text in zip(runs, texts, strict=True):
            tokens[run[0]] = text
            for index in run[1:]:
                tokens[index] = ""
    return "".join(tokens)


def _is_tag(token: str) -> bool:
    return len(token) > 1 and token[0] in "<\ue000"


def _read(token: str) -> str:
    """A token as its reader sees it."""
    if _is_tag(token):
        return "" if _INSIDE_WORDS.fullmatch(token) else "\n"
    return unescape(token) if len(token) > 1 else token


def _occurs(html: str, patterns: Sequence[re.Pattern[str]]) -> bool:
    """Whether words occur in HTML; fast."""
    values = [unescape(value) for value in VALUE.findall(html)]
    return _has(
        "\n".join([unescape(TAG.sub("\n", flat(html))), *values, *map(unquote, values)]), patterns
    )


def _has(text: str, patterns: Sequence[re.Pattern[str]]) -> bool:
    text = normal(text)
    return any(pattern.search(text) for pattern in patterns)
