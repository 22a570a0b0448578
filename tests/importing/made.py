"""Folders, tables and logs as agents and evaluation programs write them."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import zstandard

if TYPE_CHECKING:
    from pathlib import Path

_ZSTANDARD = 93


def write_tree(root: Path, first: list[str], second: list[str]) -> Path:
    """Write a folder of two levels, with two files at each place."""
    for one in first:
        for other in second:
            place = root / one / other
            place.mkdir(parents=True)
            (place / "plan.md").write_text(f"Do what {len(one)} and {len(other)} say.\n")
            (place / "code.py").write_text("print(1)\n")
    return root


def write_long(path: Path, problems: int, solvers: int) -> Path:
    """Write JSON Lines with an answer in each."""
    rows = (
        {"prompt": f"Question {p}?", "model": f"org/m{s}", "output": f"Answer {s} to {p}."}
        for p in range(problems)
        for s in range(solvers)
    )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def sample(number: int, epoch: int, text: str) -> dict[str, Any]:
    """A sample as Inspect logs it."""
    call = {"id": "a", "function": "look", "arguments": {}, "type": "function"}
    message = {"role": "assistant", "content": text}
    return {
        "id": number,
        "epoch": epoch,
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": f"Question {number}?"}]},
        ],
        "target": "",
        "output": {
            "model": "m",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": text,
        },
        "messages": [{**message, "tool_calls": [call]}],
        "scores": {"match": {"value": "C", "history": []}},
        **{name: {} for name in ("metadata", "store", "model_usage", "role_usage", "attachments")},
        "events": [],
    }


def _header(model: str, task: str, count: int) -> dict[str, Any]:
    """What a log says of its run."""
    at = "2026-10-01T12:00:00+00:00"
    texts = ("eval_id", "run_id", "task_id")
    parts = ["task_attribs", "task_args", "task_args_passed", "dataset", "config", "packages"]
    parts += ["model_generate_config", "model_args"]
    about: dict[str, Any] = {**{name: name for name in texts}, **{name: {} for name in parts}}
    score = {"name": "match", "scorer": "match", "params": {}, "metrics": {}}
    usage: dict[str, Any] = {"model_usage": {}, "role_usage": {}, "connection_limit_history": []}
    return {
        "version": 2,
        "status": "success",
        "eval": {**about, "model": model, "task": task, "task_version": 0, "created": at},
        "plan": {"name": "plan", "steps": [], "config": {}},
        "stats": {"started_at": at, "completed_at": at, **usage},
        "results": {"total_samples": count, "completed_samples": count, "scores": [score]},
        "invalidated": False,
        "tags": [],
        "metadata": {},
    }


def write_eval(
    path: Path, model: str, samples: list[dict[str, Any]], *, packed: bool = True, task: str = "qa"
) -> Path:
    """Write a log of Inspect AI: a zip archive whose parts are packed by Zstandard, or deflated."""
    header = _header(model, task, len(samples))
    left_out = ("messages", "output", "store", "events", "attachments")
    summaries = [
        {**{name: one[name] for name in one if name not in left_out}, "completed": True}
        for one in samples
    ]
    parts = {
        f"samples/{one['id']}_epoch_{one['epoch']}.json": json.dumps(one).encode()
        for one in samples
    }
    parts["summaries.json"] = json.dumps(summaries).encode()
    parts["header.json"] = json.dumps(header).encode()
    if path.suffix == ".json":
        path.write_text(json.dumps({**header, "samples": samples}))
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            if packed:
                # The directory names the method that zipfile cannot write, afterwards.
                raw = zstandard.ZstdCompressor(write_content_size=False).compress(content)
                archive.writestr(zipfile.ZipInfo(name), raw)
            else:
                archive.writestr(name, content)
    if packed:
        _name_method(path, {name: len(content) for name, content in parts.items()})
    return path


def _name_method(path: Path, sizes: dict[str, int]) -> None:
    """Say in an archive of stored parts that they are packed by Zstandard."""
    with zipfile.ZipFile(path) as archive:
        starts = [(entry.filename, entry.header_offset) for entry in archive.infolist()]
        directory = archive.start_dir
    raw = bytearray(path.read_bytes())
    for name, start in starts:
        raw[start + 8 : start + 10] = _ZSTANDARD.to_bytes(2, "little")
        raw[start + 22 : start + 26] = sizes[name].to_bytes(4, "little")
    at = directory
    for name, _ in starts:
        raw[at + 10 : at + 12] = _ZSTANDARD.to_bytes(2, "little")
        raw[at + 24 : at + 28] = sizes[name].to_bytes(4, "little")
        lengths = [int.from_bytes(raw[at + n : at + n + 2], "little") for n in (28, 30, 32)]
        at += 46 + sum(lengths)
    path.write_bytes(raw)


def write_harness(path: Path, docs: int, filters: tuple[str, ...]) -> Path:
    """Write samples of lm-evaluation-harness, each once for each filter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "doc_id": doc,
            "doc": {"question": f"Question {doc}?"},
            "target": "1",
            "arguments": {"gen_args_0": {"arg_0": f"Q: Question {doc}?\nA:", "arg_1": {}}},
            "resps": [[f" The answer is {doc}."]],
            "filtered_resps": [str(doc)],
            "filter": name,
            "exact_match": 1.0,
        }
        for name in filters
        for doc in range(docs)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path
