"""Logs of Inspect AI, as zip archives (``.eval``) and as JSON."""

from __future__ import annotations

import json
import re
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from quem.errors import FileError
from quem.importing.answer_tables import ROLES
from quem.importing.collected import MOST_BYTES, Answer, Collected, Names, Origin, refuse_large
from quem.io.packages import Package
from quem.io.records import PiecesOfJson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_THOUGHT = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
_ATTACHMENT = "attachment://"
SAMPLE = re.compile(r"(?:_journal/)?samples/.+\.json")
_SAMPLE = "sample of samples"
_ROLES = ("system", "user")
_PERSON = ("subject", "participant", "person", "name")
_LONGEST = 200


def find_logs(files: Sequence[Path]) -> list[Path]:
    """The logs among some files."""
    return [file for file in files if _is_log(file)]


def _is_log(path: Path) -> bool:
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json":
        return False
    try:
        with path.open("rb") as file:
            head = file.read(2000)
    except OSError:
        return False
    # Only files that begin like a log are parsed.
    if b'"eval"' not in head:
        return False
    refuse_large(path)
    try:
        start = _start(path)
    except (OSError, ValueError, RecursionError):
        return False
    return "samples" in start and "model" in _part(start, "eval")


def read_logs(logs: list[Path], names: Names, *, epoch: int = 1) -> Collected:
    """Read logs: one solver per model or person, one problem per sample."""
    collected = Collected("logs of Inspect AI: a solver for each model", sources=logs, names=names)
    headers = {log: _header(log) for log in logs}
    tasks = {_part(header, "eval").get("task", "") for header in headers.values()}
    for log, header in headers.items():
        about = _part(header, "eval")
        task = f"{about.get('task', '')} " if len(tasks) > 1 else ""
        for sample in _samples(log):
            _add(collected, log, f"{task}{sample.get('id')}", about, sample, epoch)
    if not collected.answers and collected.left_out:
        raise FileError(logs[0], f"has no sample of epoch {epoch}; name another --epoch")
    return collected


def _header(log: Path) -> dict[str, Any]:
    with _explained(log):
        if log.suffix == ".json":
            header = _start(log)
        else:
            with _opened(log) as package:
                names = package.names
                # An interrupted run has no header yet.
                start = "header.json" if "header.json" in names else "_journal/start.json"
                header = json.loads(package.read(start))
        header["eval"]["model"]
    return header


def _samples(log: Path) -> Iterator[dict[str, Any]]:
    """Read the samples of a log one at a time."""
    with _explained(log):
        if log.suffix == ".json":
            parts = _parts_of(log)
            yield from (one for name, one in parts if name == _SAMPLE and isinstance(one, dict))
            return
        with _opened(log) as package:
            for name in package.names:
                if SAMPLE.fullmatch(name):
                    sample = json.loads(package.read(name))
                    if isinstance(sample, dict):
                        yield sample


def _start(log: Path) -> dict[str, Any]:
    """The part of a JSON log before its samples."""
    start: dict[str, Any] = {}
    for name, part in _parts_of(log):
        if name != _SAMPLE:
            start[name] = part
        if start.keys() >= {"eval", "samples"}:
            break
    return start


def _parts_of(log: Path) -> Iterator[tuple[str, Any]]:
    """Read a JSON log part by part; samples one by one, after an empty part."""
    refuse_large(log)
    with log.open(encoding="utf-8-sig") as file:
        text = PiecesOfJson(file)
        text.skip("{")
        for _ in text.members("}"):
            name = text.value()
            text.skip(":")
            if name == "samples" and text.ahead() == "[":
                yield name, None
                text.skip("[")
                yield from ((_SAMPLE, text.value()) for _ in text.members("]"))
            else:
                yield name, text.value()


def _opened(log: Path) -> Package:
    return Package(log, most_parts=100_000, most_bytes=MOST_BYTES)


@contextmanager
def _explained(log: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, RecursionError) as error:
        raise FileError(
            log, f"is not a log of Inspect AI that quem can read ({error}); write it again"
        ) from None
    except OSError as error:
        raise FileError(log, f"cannot be read: {error.strerror or error}") from None


def _add(
    collected: Collected,
    log: Path,
    problem: str,
    about: dict[str, Any],
    sample: dict[str, Any],
    epoch: int,
) -> None:
    number = sample.get("epoch", 1)
    if number != epoch:
        collected.left_out["answers of other epochs"] += 1
        return
    collected.left_out["scores"] += len(sample.get("scores") or {})
    attachments = sample.get("attachments") or {}
    said = [m for m in sample.get("messages") or [] if isinstance(m, dict)]
    collected.left_out["tool calls"] += sum(len(m.get("tool_calls") or []) for m in said)
    choices = _part(sample, "output").get("choices") or []
    message = _part(choices[0], "message") if choices else {}
    text = _THOUGHT.sub("", _text(collected, message.get("content"), attachments)).strip()
    place = f"{log}: sample {sample.get('id')}"
    origin = Origin(log, sample.get("id", ""), number)
    failed = bool(sample.get("error")) or not text
    if error := _part(sample, "error").get("message"):
        collected.errors.append(f"{place}: {str(error).strip().splitlines()[0][:_LONGEST]}")
    seconds = _human_seconds(sample)
    answer = Answer(
        place,
        "" if failed else text,
        missing="failed" if failed else "",
        origin=origin,
        seconds=seconds,
        run=str(log),
    )
    solver = str(about["model"]) if seconds is None else _person(collected, log, about)
    collected.add(problem, solver, answer, _statement(collected, sample.get("input"), attachments))


def _human_seconds(sample: dict[str, Any]) -> float | None:
    """A person's working time under Inspect's human_cli; None for a model."""
    store = _part(sample, "store")
    if "HumanAgentState:accumulated_time" not in store:
        return None
    seconds = store["HumanAgentState:accumulated_time"]
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _person(collected: Collected, log: Path, about: dict[str, Any]) -> str:
    """The person's name in a log by human_cli: from its metadata, or the file's name."""
    said = _part(about, "metadata")
    name = str(next((said[key] for key in _PERSON if said.get(key)), log.stem))
    solver = collected.names.of_run(str(log), name)
    collected.people.add(solver)
    years = next((said[key] for key in ROLES["experience"] if key in said), None)
    if isinstance(years, int | float):
        collected.solvers[solver] = float(years)
    return name


def _statement(collected: Collected, given: object, attachments: dict[str, str]) -> str:
    """The text of a sample's input: a string, or its system and user messages."""
    if not isinstance(given, list):
        return _text(collected, given, attachments).strip()
    messages = [m for m in given if isinstance(m, dict) and m.get("role") in _ROLES]
    texts = (_text(collected, m.get("content"), attachments).strip() for m in messages)
    return "\n\n".join(filter(None, texts))


def _text(collected: Collected, content: object, attachments: dict[str, str]) -> str:
    """The text of a message's content; its other parts are counted as left out."""
    if isinstance(content, str):
        return _attached(content, attachments)
    return "\n\n".join(filter(None, _parts(collected, content, attachments)))


def _parts(collected: Collected, content: object, attachments: dict[str, str]) -> Iterator[str]:
    for part in content if isinstance(content, list) else []:
        kind = part.get("type") if isinstance(part, dict) else ""
        if kind == "text":
            yield _attached(str(part.get("text", "")), attachments)
        elif kind != "reasoning":
            collected.left_out["attachments"] += 1


def _attached(text: str, attachments: dict[str, str]) -> str:
    """Resolve a long text that is stored beside the messages."""
    if text.startswith(_ATTACHMENT):
        return str(attachments.get(text.removeprefix(_ATTACHMENT), text))
    return text


def _part(content: object, key: str) -> dict[str, Any]:
    part = content.get(key) if isinstance(content, dict) else None
    return part if isinstance(part, dict) else {}
