"""Transcripts of machine judges, one file per call.

``machines/M1/3f/3f9c….json`` beside the study. Nothing is ever overwritten, so an answer is never
requested, or paid for, twice.
"""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Any

from quem.errors import FileError
from quem.studyfile.runs import FOLDER, runs_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from quem.machines.material import Piece
    from quem.studyfile.runs import Run


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
