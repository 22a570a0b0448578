"""Samples of lm-evaluation-harness."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.importing.collected import Answer, Collected, Names, refuse_large
from quem.io.records import Record, read_records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_KEYS = {"doc_id", "doc", "arguments", "resps", "filtered_resps"}
# samples_TASK_2026-01-31T12-00-00.123456.jsonl; the time may be missing.
_NAME = re.compile(r"samples_(.+?)(?:_\d{4}-\d{2}-\d{2}T[\d.:-]+)?\.jsonl")


def find_harness(files: Sequence[Path]) -> list[Path]:
    """The sample files among some files."""
    return [file for file in files if _NAME.fullmatch(file.name) and _is_harness(file)]


def _is_harness(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            first = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.keys() >= _KEYS


def read_harness(files: list[Path], names: Names) -> Collected:
    """Read samples: one system per folder, one problem per document of a task."""
    collected = Collected(
        "samples of lm-evaluation-harness: a system for each folder", sources=files, names=names
    )
    for file in files:
        match = _NAME.fullmatch(file.name)
        task = match[1] if match else file.stem
        system = file.resolve().parent.name.replace("__", "/")
        seen: set[object] = set()
        run = str(file.resolve().parent)
        for line, sample in enumerate(_records(file), 1):
            # A document is logged once for each filter of its answers.
            if str(sample.get("doc_id")) in seen:
                collected.left_out["further filters of an answer"] += 1
                continue
            seen.add(str(sample.get("doc_id")))
            place = f"{file}:{line}"
            text = _first(_first(sample.get("resps")))
            if not isinstance(text, str):
                raise QuemError(
                    Mistake(
                        str(file),
                        line,
                        message=(
                            "holds likelihoods, not answers: nothing was written in this "
                            "task; take a "
                            "task that generates text"
                        ),
                    )
                )
            answer = Answer(place, text.strip(), missing="" if text.strip() else "failed", run=run)
            problem = f"{task} {sample.get('doc_id')}"
            collected.add(problem, system, answer, _prompt(sample.get("arguments")))
        collected.left_out["scores"] += len(seen)
    return collected


def _records(file: Path) -> list[Record]:
    refuse_large(file)
    example = '{"doc_id": 0, "doc": {}, "arguments": {}, "resps": [["..."]], ...}'
    return read_records(file, str(file), what="samples", example=example).entries


def _prompt(arguments: object) -> str:
    """A model's prompt: under ``gen_args_0.arg_0``, in older versions the first of lists."""
    if isinstance(arguments, dict):
        given = arguments.get("gen_args_0")
        text = given.get("arg_0") if isinstance(given, dict) else None
    else:
        text = _first(_first(arguments))
    return text.strip() if isinstance(text, str) else ""


def _first(values: object) -> object:
    return values[0] if isinstance(values, list) and values else None
