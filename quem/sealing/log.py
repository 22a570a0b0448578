"""The log beside a sealed study: seals and the first analysis, each line chained to the last."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Line:
    """Something that happened to a sealed study."""

    what: str
    at: str  # in UTC
    # The hash of a record; or the contents, and the digests of rankings, as analyzed.
    detail: dict[str, Any]


def log_file(study: Path) -> Path:
    """Say where the log of a study is."""
    return study.with_suffix(".seal.log")


def record_file(study: Path, number: int) -> Path:
    """Say where a record of a study is; the first is number 1."""
    return study.with_suffix(".seal.json" if number == 1 else f".seal-{number}.json")


def read_log(study: Path) -> tuple[list[Line], str]:
    """Read the log of a study, up to the first line that does not fit."""
    return _read(log_file(study))[:2]


def _read(path: Path) -> tuple[list[Line], str, str]:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return [], "", ""
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    lines: list[Line] = []
    before = ""
    for number, text in enumerate(raw.removesuffix(b"\n").split(b"\n"), 1):
        try:
            content = json.loads(text)
            link = content.pop("link")
            line = Line(content["what"], content["at"], dict(content["detail"]))
            is_whole = link == _link(before, content) and text == _text(content, link)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            is_whole = False
        if not is_whole:
            return lines, f"line {number} does not match its link: it was changed", before
        lines.append(line)
        before = link
    if not raw.endswith(b"\n"):
        return lines, "its last line has no end: it was cut off", before
    return lines, "", before


def append(study: Path, line: Line) -> None:
    """Append a line to the log of a study."""
    path = log_file(study)
    _, trouble, before = _read(path)
    if trouble:
        raise FileError(path, f"{trouble}; restore the log as it was")
    content = {"what": line.what, "at": line.at, "detail": line.detail}
    try:
        with path.open("ab") as file:
            file.write(_text(content, _link(before, content)) + b"\n")
    except OSError as error:
        raise FileError(path, f"cannot be written to: {error.strerror or error}") from None


def _link(before: str, content: dict[str, Any]) -> str:
    text = json.dumps([before, content], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(content: dict[str, Any], link: str) -> bytes:
    return json.dumps({**content, "link": link}, ensure_ascii=False, sort_keys=True).encode()
