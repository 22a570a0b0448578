"""Runs of machine judges: their rankings in files beside a study.

``machines/M1/runs/0001.json`` is the first run of the machine judge ``M1``. A run is added and
never changed; the last one counts. It holds the data for all statistics; requests and answers are
in the transcripts, which its calls name.
"""

from __future__ import annotations

import datetime as dt  # noqa: TC003  pydantic reads it
import json
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from pathlib import Path


FOLDER = "machines"
Status = Literal["ok", "invalid", "refused", "error"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Part):
    """One order of one problem's solutions, with the machine's ranking."""

    problem: str
    block: int = 1
    repeat: int  # from 0
    key: str  # of the transcript
    status: Status
    order: tuple[str, ...]  # solvers in order of presentation
    attempts: int = 1  # number of requests until a valid answer
    # Solvers, best first; ties together. Empty unless the status is ``ok``.
    ranked: tuple[tuple[str, ...], ...] = ()
    cannot: dict[str, str] = {}  # reasons of solutions that were not ranked, by solver
    # The server, as the service names it
    model: str = ""
    fingerprint: str = ""


class Run(_Part):
    """A run of a machine judge on a study."""

    format: Literal["quem-machine-run/1"] = "quem-machine-run/1"
    study: str
    judge: str
    number: int  # from 1
    declared_model: str = ""
    prompt: str  # SHA-256 of the prompt
    temperature: float = 0.0
    repeats: int
    began_at: dt.datetime
    ended_at: dt.datetime
    # Of each solution that it was shown, by problem and solver.
    digests: dict[str, dict[str, str]] = {}
    calls: tuple[Call, ...] = ()

    @property
    def blocked(self) -> bool:
        """Whether it ranked blocks."""
        return any(call.block > 1 for call in self.calls)

    @property
    def failed(self) -> float:
        """The share of the calls without a valid ranking; 1 without calls."""
        failed = sum(call.status != "ok" for call in self.calls)
        return failed / len(self.calls) if self.calls else 1.0

    def count(self, status: Status) -> int:
        """The number of calls with a status."""
        return sum(call.status == status for call in self.calls)


def runs_folder(study: Path, judge: str) -> Path:
    """The folder of a machine judge's runs, beside the study file."""
    return study.parent / FOLDER / judge / "runs"


def read_runs(study: Path, study_id: str, judge: str) -> list[Run]:
    """All runs of a machine judge in order."""
    runs = []
    for path in sorted(runs_folder(study, judge).glob("[0-9]*.json")):
        try:
            run = Run.model_validate_json(path.read_bytes())
        except (ValidationError, OSError, json.JSONDecodeError) as error:
            message = (
                "cannot be read as a run of a machine judge; move it elsewhere, and `quem judge` "
                "makes it again from the answers that are kept"
            )
            raise QuemError(Mistake(str(path), message=message)) from error
        if (run.study, run.judge) != (study_id, judge):
            message = f"is of {run.judge} in the study {run.study}; move it elsewhere"
            raise QuemError(Mistake(str(path), message=message))
        runs.append(run)
    return sorted(runs, key=lambda run: run.number)
