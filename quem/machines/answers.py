"""Reading what a machine judge answered: the ranking, a refusal, or what is wrong in its form.

Nothing is guessed from prose, no missing letter is added, and no surplus one dropped: an answer
that cannot be read is missing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_SAID = ("ranked", "refused")
_COMPARED = ("ranked", "cannot", "refused")
# Deeper ones are no answers, and would cost much to try.
_MOST_OBJECTS = 200


class InvalidAnswerError(ValueError):
    """What is wrong in the form of an answer; the machine is asked again, with this message."""


@dataclass(frozen=True)
class Answer:
    """A ranking, by letters."""

    ranked: tuple[tuple[str, ...], ...]  # best first; equal ones together
    cannot: dict[str, str] = field(default_factory=dict)  # why solutions could not be ranked
    usage: dict[str, Any] = field(default_factory=dict)  # tokens, as far as it says them


@dataclass(frozen=True)
class Refusal:
    """The machine declined the task."""

    reason: str
    usage: dict[str, Any] = field(default_factory=dict)


def read_answer(text: str, letters: Sequence[str]) -> Answer | Refusal:
    """Read the one JSON object of an answer."""
    found = list(_objects(text.lstrip("\ufeff").strip()))
    if not found:
        raise InvalidAnswerError("no JSON object")
    said = [one for one in found if any(key in one for key in _SAID)]
    if len({_canonical(one) for one in said}) > 1:
        raise InvalidAnswerError("several different answers")
    if not said:
        raise InvalidAnswerError("neither ranked nor refused")
    one = said[0]
    usage = one["usage"] if isinstance(one.get("usage"), dict) else {}
    if "refused" in one:
        if not isinstance(one["refused"], str) or "ranked" in one:
            raise InvalidAnswerError("refused is not a text, or is beside ranked")
        return Refusal(one["refused"], usage)
    ranked, cannot = _letters(one, letters)
    return Answer(ranked, cannot, usage)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The whole text, each fenced block, and if none of them parses, objects inside the text."""
    whole = [_parsed(candidate) for candidate in (text, *_FENCED.findall(text))]
    if any(parsed is not None for parsed in whole):
        yield from (parsed for parsed in whole if isinstance(parsed, dict))
        return
    decoder = json.JSONDecoder()
    for match, _ in zip(re.finditer(r"\{", text), range(_MOST_OBJECTS), strict=False):
        try:
            parsed, _end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(parsed, dict) and any(key in parsed for key in _SAID):
            yield parsed


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _canonical(one: dict[str, Any]) -> str:
    return json.dumps({key: one.get(key) for key in _COMPARED}, sort_keys=True)


def _letters(
    one: dict[str, Any], letters: Sequence[str]
) -> tuple[tuple[tuple[str, ...], ...], dict[str, str]]:
    """Each letter of the group exactly once, and something ranked."""
    ranked, cannot = one["ranked"], one.get("cannot") or {}
    if not isinstance(ranked, list) or not isinstance(cannot, dict):
        raise InvalidAnswerError("ranked is not a list, or cannot is not an object")
    groups = [[group] if isinstance(group, str) else group for group in ranked]
    if any(
        not isinstance(group, list) or not group or not all(isinstance(s, str) for s in group)
        for group in groups
    ):
        raise InvalidAnswerError("a tie group is empty or holds something else than letters")
    tied = tuple(tuple(letter.strip().upper() for letter in group) for group in groups)
    why = {letter.strip().upper(): str(reason) for letter, reason in cannot.items()}
    seen = [*(letter for group in tied for letter in group), *(s.strip().upper() for s in cannot)]
    wrong = {
        "unknown": sorted(set(seen) - set(letters)),
        "missing": sorted(set(letters) - set(seen)),
        "twice": sorted({letter for letter in seen if seen.count(letter) > 1}),
    }
    if any(wrong.values()):
        parts = (f"{what}: {', '.join(those)}" for what, those in wrong.items() if those)
        raise InvalidAnswerError("; ".join(parts))
    if not tied:
        raise InvalidAnswerError("nothing is ranked")
    return tied, why
