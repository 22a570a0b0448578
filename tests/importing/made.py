"""Folders, tables and logs as agents and evaluation programs write them, and their import."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import zstandard
from click.testing import CliRunner, Result

from quem.cli import main
from quem.errors import QuemError
from quem.solutions import find_solutions
from quem.studyfile.reading import draft_study, read_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_ZSTANDARD = 93
ERROR = {"message": "TimeoutError: 60 s\nand more", "traceback": "", "traceback_ansi": ""}


def init(*words: object) -> Result:
    """Run ``quem init``."""
    return CliRunner().invoke(main, ["init", *map(str, words)])


def made(folder: Path, *words: object) -> tuple[int, int, int]:
    """Import into a folder; gives the problems, solvers and solutions of what is then a study."""
    result = init(folder, "--from", *words)
    assert result.exit_code == 0, result.output
    assert f"Next: quem serve {folder}" in result.stderr
    study = folder / "study.yaml"
    checked = CliRunner().invoke(main, ["check", str(study)])
    assert checked.exit_code == 0, checked.output
    spec = read_study(study)
    solutions, mistakes, warnings = find_solutions(draft_study(study), complete=True)
    assert [*mistakes, *warnings] == []
    return len(spec.problems), len(spec.systems) + len(spec.subjects), len(solutions)


def refusal(folder: Path, *words: object) -> str:
    """Why a source is refused; nothing is written then."""
    result = init(folder, "--from", *words)
    assert isinstance(result.exception, QuemError), result.output
    assert not folder.exists()
    return str(result.exception)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def write_tree(root: Path, first: Sequence[str], second: Sequence[str]) -> Path:
    """Write a folder of two levels, with two files at each place."""
    for one in first:
        for other in second:
            place = root / one / other
            place.mkdir(parents=True)
            (place / "plan.md").write_text(f"Do what {len(one)} and {len(other)} say.\n")
            (place / "code.py").write_text("print(1)\n")
    return root


def answers(problems: int, solvers: int) -> list[dict[str, str]]:
    """An answer of each solver to each problem."""
    return [
        {"prompt": f"Question {p}?", "model": f"org/m{s}", "output": f"Answer {s} to {p}."}
        for p in range(problems)
        for s in range(solvers)
    ]


def write_long(path: Path, problems: int, solvers: int) -> Path:
    """Write JSON Lines with an answer in each."""
    return write_lines(path, answers(problems, solvers))


def sample(number: int, epoch: int, text: str) -> dict[str, Any]:
    """A sample as Inspect logs it."""
    call = {"id": "a", "function": "look", "arguments": {}, "type": "function"}
    message = {"role": "assistant", "content": text}
    choices = [{"message": message, "stop_reason": "stop"}]
    return {
        "id": number,
        "epoch": epoch,
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": f"Question {number}?"}]},
        ],
        "target": "",
        "output": {"model": "m", "choices": choices, "completion": text},
        "messages": [{**message, "tool_calls": [call]}],
        "scores": {"match": {"value": "C", "history": []}},
        **{name: {} for name in ("metadata", "store", "model_usage", "role_usage", "attachments")},
        "events": [],
    }


def _header(model: str, task: str, count: int) -> dict[str, Any]:
    """The header of a log."""
    at = "2026-10-01T12:00:00+00:00"
    empty = ["task_attribs", "task_args", "task_args_passed", "dataset", "config", "packages"]
    empty += ["model_generate_config", "model_args"]
    about: dict[str, Any] = {name: name for name in ("eval_id", "run_id", "task_id")}
    about |= {"model": model, "task": task, "task_version": 0, "created": at}
    score = {"name": "match", "scorer": "match", "params": {}, "metrics": {}}
    usage: dict[str, Any] = {"model_usage": {}, "role_usage": {}, "connection_limit_history": []}
    return {
        "version": 2,
        "status": "success",
        "eval": {**about, **{name: {} for name in empty}},
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
    """Write a log of Inspect AI: as JSON, or a zip archive packed by Zstandard or deflated."""
    header = _header(model, task, len(samples))
    if path.suffix == ".json":
        path.write_text(json.dumps({**header, "samples": samples}))
        return path
    left_out = {"messages", "output", "store", "events", "attachments"}
    short = [{name: one[name] for name in one.keys() - left_out} for one in samples]
    parts: dict[str, object] = {
        f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples
    }
    parts["summaries.json"] = [{**one, "completed": True} for one in short]
    parts["header.json"] = header
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            content = json.dumps(part).encode()
            if not packed:
                archive.writestr(name, content)
                continue
            raw = zstandard.ZstdCompressor(write_content_size=False).compress(content)
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, raw)
            # The directory, which is written last, names the method that zipfile cannot write.
            entry.compress_type, entry.file_size = _ZSTANDARD, len(content)
    return path


def write_harness(path: Path, docs: int, filters: tuple[str, ...]) -> Path:
    """Write samples of lm-evaluation-harness, each once for each filter."""
    rows = (
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
    )
    return write_lines(path, rows)
