"""What was sent to machine judges and what they answered, one file for each call.

``machines/M1/3f/3f9c….json`` beside the study. Nothing is ever overwritten, so that an answer that
was given once is never asked for, or paid for, again.
"""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.studyfile.runs import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from quem.studyfile.runs import Run


class Transcripts:
    """The calls of one machine judge."""

    def __init__(self, study: Path, judge: str) -> None:
        self.folder = study.parent / FOLDER / judge
        self._blobs = study.parent / FOLDER / "blobs"

    def find(self, key: str) -> dict[str, Any] | None:
        """Give a call that was answered; None where there is none."""
        path = self._path(key)
        try:
            known = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        except FileNotFoundError:
            return None
        except ValueError:
            known = None
        if not isinstance(known, dict) or not {"status", "answer", "ranked"} <= known.keys():
            raise QuemError(
                Mistake(
                    str(path),
                    message="is damaged; move it elsewhere, so that the call is made again",
                )
            )
        return known

    def keep(self, key: str, call: dict[str, Any], images: Iterable[tuple[str, bytes]]) -> None:
        """Keep a call; one that is kept already stays as it is."""
        for name, data in images:
            write_new(self._blobs / name[:2] / name, data)
        text = json.dumps(call, ensure_ascii=False, indent=1)
        write_new(self._path(key), text.encode("utf-8", "surrogatepass"))

    def keep_failure(self, key: str, call: dict[str, Any]) -> None:
        """Keep a call that nobody answered; it is made again in the next run."""
        text = json.dumps(call, ensure_ascii=False, indent=1)
        name = f"{key}.error-{secrets.token_hex(4)}.json"
        write_new(self._path(key).with_name(name), text.encode("utf-8", "surrogatepass"))

    def keep_run(self, run: Run) -> None:
        """Add a run, which from now on is the last one."""
        path = self.folder / "runs" / f"{run.number:04}.json"
        if not write_new(path, run.model_dump_json(indent=1).encode()):
            raise FileExistsError(path)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def write_new(path: Path, data: bytes) -> bool:
    """Write a file as a whole or not at all, and only where there is none; says whether."""
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            # Who links first wins; a file that is there is not replaced.
            os.link(partial, path)
        except FileExistsError:
            return False
        return True
    finally:
        partial.unlink(missing_ok=True)
