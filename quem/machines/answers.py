"""Answers of machine judges: parsed as a ranking, a refusal, or an invalid form, and kept.

Nothing is guessed from prose; missing letters are not added, and surplus ones not dropped. An
unreadable answer is missing. A transcript, ``machines/M1/3f/3f9c….json`` beside the study, holds a
call. Nothing is ever overwritten, so an answer is never requested, or paid for, twice.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from quem.errors import FileError
from quem.studyfile.runs import FOLDER, Run, runs_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from quem.machines.material import Piece

T = TypeVar("T")
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_SAID = {"ranked", "refused"}
_COMPARED = ("ranked", "cannot", "refused")
# Deeper objects are not answers, and slow to try.
_MOST_OBJECTS = 200


class InvalidAnswerError(ValueError):
    """An invalid form; the machine is asked again with this message."""


@dataclass(frozen=True)
class Answer:
    """A ranking by letters."""

    ranked: tuple[tuple[str, ...], ...]  # best first; ties together
    cannot: dict[str, str] = field(default_factory=dict)  # reasons of unranked solutions


@dataclass(frozen=True)
class Refusal:
    """A declined task."""

    reason: str


def read_answer(text: str, letters: Sequence[str]) -> Answer | Refusal:
    """Parse the one JSON object of an answer."""
    found = _objects(text.lstrip("\ufeff").strip())
    if not found:
        raise InvalidAnswerError("no JSON object")
    said = [one for one in found if one.keys() & _SAID]
    if len({json.dumps([one.get(key) for key in _COMPARED], sort_keys=True) for one in said}) > 1:
        raise InvalidAnswerError("several different answers")
    if not said:
        raise InvalidAnswerError("neither ranked nor refused")
    one = said[0]
    if "refused" not in one:
        return Answer(*_letters(one["ranked"], one.get("cannot") or {}, letters))
    if not isinstance(one["refused"], str) or "ranked" in one:
        raise InvalidAnswerError("refused is not a text, or is beside ranked")
    return Refusal(one["refused"])


def _objects(text: str) -> list[dict[str, Any]]:
    """The whole text, each fenced block, and if none parses, objects inside the text."""
    found = [*_parsed(json.loads, [text, *_FENCED.findall(text)])]
    if not found:
        begin = islice((match.start() for match in re.finditer("{", text)), _MOST_OBJECTS)
        inside = _parsed(lambda at: json.JSONDecoder().raw_decode(text, at)[0], begin)
        found = [one for one in inside if one.keys() & _SAID]
    return [one for one in found if isinstance(one, dict)]


def _parsed(parse: Callable[[T], Any], those: Iterable[T]) -> Iterator[Any]:
    for one in those:
        try:
            yield parse(one)
        except (ValueError, RecursionError):
            continue


def _letters(
    ranked: object, cannot: object, letters: Sequence[str]
) -> tuple[tuple[tuple[str, ...], ...], dict[str, str]]:
    """Check that each letter occurs exactly once and something is ranked."""
    if not isinstance(ranked, list) or not isinstance(cannot, dict):
        raise InvalidAnswerError("ranked is not a list, or cannot is not an object")
    groups = [[group] if isinstance(group, str) else group for group in ranked]
    if not all(
        isinstance(group, list) and group and all(isinstance(s, str) for s in group)
        for group in groups
    ):
        raise InvalidAnswerError("a tie group is empty or holds something else than letters")
    tied = tuple(tuple(letter.strip().upper() for letter in group) for group in groups)
    why = [(letter.strip().upper(), str(reason)) for letter, reason in cannot.items()]
    seen = [*(letter for group in tied for letter in group), *(letter for letter, _ in why)]
    wrong = {
        "unknown": set(seen) - set(letters),
        "missing": set(letters) - set(seen),
        "twice": {letter for letter in seen if seen.count(letter) > 1},
    }
    if parts := [f"{what}: {', '.join(sorted(those))}" for what, those in wrong.items() if those]:
        raise InvalidAnswerError("; ".join(parts))
    if not tied:
        raise InvalidAnswerError("nothing is ranked")
    return tied, dict(why)


class Transcripts:
    """The calls of one machine judge."""

    def __init__(self, study: Path, judge: str) -> None:
        self._folder, self._runs = study.parent / FOLDER, runs_folder(study, judge)

    def find(self, key: str) -> dict[str, Any] | None:
        """The call if it was answered, else None."""
        path = self._path(key)
        try:
            known = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        except FileNotFoundError:
            return None
        except ValueError:
            known = None
        if not isinstance(known, dict) or not {"status", "answer", "ranked"} <= known.keys():
            raise FileError(path, "is damaged; move it elsewhere, so that the call is made again")
        return known

    def keep(self, key: str, call: dict[str, Any], pieces: Iterable[Piece] = ()) -> None:
        """Keep a call with its images; an existing one stays."""
        for piece in pieces:
            if piece.is_image:
                name = piece.sha256
                _write_new(self._folder / "blobs" / name[:2] / name, piece.data)
        text = json.dumps(call, ensure_ascii=False, indent=1)
        _write_new(self._path(key), text.encode("utf-8", "surrogatepass"))

    def keep_run(self, run: Run) -> None:
        """Add a run, which becomes the last one."""
        path = self._runs / f"{run.number:04}.json"
        if not _write_new(path, run.model_dump_json(indent=1).encode()):
            raise FileExistsError(path)

    def _path(self, name: str) -> Path:
        return self._runs.parent / name[:2] / f"{name}.json"


def _write_new(path: Path, data: bytes) -> bool:
    """Write a file atomically unless it exists; returns whether it was written."""
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # The first link wins; an existing file is not replaced.
        os.link(partial, path)
    except FileExistsError:
        return False
    finally:
        partial.unlink(missing_ok=True)
    return True
