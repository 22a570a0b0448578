"""``quem init --from`` odd folders and logs: each becomes a study, or one clear message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from quem.cli import main
from quem.errors import QuemError
from tests.importing.made import sample, write_eval

if TYPE_CHECKING:
    from pathlib import Path

ERROR = {"message": "boom", "traceback": "", "traceback_ansi": ""}
TWO = ("task-1", "task-2")


def tree(solvers: tuple[str, ...], text: bytes = b"Wait.", ending: str = ".md") -> dict[str, bytes]:
    """A folder for each solver, with two tasks."""
    return {f"{solver}/{task}{ending}": text for solver in solvers for task in TWO}


# The files, and the counts that are found or how the message goes on after the folder's name.
FOLDERS: dict[str, tuple[dict[str, bytes], str]] = {
    "names of other alphabets": (tree(("Ånn Ö.", "机器人", "🤖 bot")), "3 solvers, 6 solutions"),
    "names of devices": (tree(("con", "aux.v1")), "2 solvers, 4 solutions"),
    "names that differ in case": (tree(("Bot", "bot")), "2 solvers, 4 solutions"),
    "utf-16": (tree(("a", "b"), "Größe".encode("utf-16"), ".txt"), "2 solvers, 4 solutions"),
    "latin-1": (tree(("a", "b"), "Größe".encode("latin1")), "/a/task-1.md:1: is not UTF-8"),
    "binary": (tree(("a", "b"), b"\0\1\2"), "/a/task-1.md: is in no format"),
    "an empty answer": ({**tree(("a", "b")), "a/task-1.md": b""}, "/a/task-1.md: is empty"),
    "three levels": (
        {f"{r}/{w}/task-1.md": b"x" for r in ("one", "two") for w in "ab"},
        ": does not say which names are problems",
    ),
    "files only": ({"a_task-1.md": b"x", "b_task-1.md": b"x"}, ": holds files only"),
    "statements only": ({f"prompts/{task}.md": b"x" for task in TWO}, ": holds statements only"),
    "nothing": ({}, ": holds nothing"),
    "litter": (
        {**tree(("a", "b")), ".DS_Store": b"x", "a/Thumbs.db": b"x", "notes.docx": b"x"},
        "left out: files beside the folders: 1",
    ),
}
LOGS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no samples": ([], ": holds no answers"),
    "other epochs": ([sample(1, 2, "a")], ": has no sample of epoch 1"),
    "one failed": ([{**sample(1, 1, ""), "error": ERROR}, sample(2, 1, "b")], "failed: 1; first"),
    "all failed": ([{**sample(1, 1, ""), "error": ERROR}], ": all of it failed (1)"),
    "an empty answer": ([sample(1, 1, ""), sample(2, 1, "b")], "1 solver, 1 solution"),
}
BROKEN = {
    "cut.eval": (b"PK\x03\x04 and no more", ": is not a zip archive"),
    "empty.eval": (b"", ": is not a zip archive"),
    "cut.json": (b'{"eval": {"model": "x"}, "samples": [', ": is not a log of Inspect AI"),
    "other.json": (b"[1, 2, 3]", ":1: must be a record"),
}


def told(source: Path) -> str:
    """What is said of a source, and that nothing is written where it is refused."""
    study = source.parent / "study"
    result = CliRunner().invoke(main, ["init", str(study), "--from", str(source)])
    assert study.exists() == (result.exit_code == 0)
    if result.exit_code == 0:
        checked = CliRunner().invoke(main, ["check", str(study / "study.yaml")])
        assert checked.exit_code == 0, checked.output
        return result.stderr
    assert isinstance(result.exception, QuemError), result.output
    return str(result.exception)


@pytest.mark.parametrize("name", FOLDERS)
def test_odd_folders(tmp_path: Path, name: str) -> None:
    """Each becomes a study or is refused by its place."""
    files, message = FOLDERS[name]
    (tmp_path / "work").mkdir()
    for place, content in files.items():
        path = tmp_path / "work" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    refused = f"{tmp_path / 'work'}{message}"
    assert (refused if message[0] in ":/" else message) in told(tmp_path / "work")


@pytest.mark.parametrize("name", LOGS)
def test_odd_logs(tmp_path: Path, name: str) -> None:
    """Each becomes a study or is refused by its place."""
    samples, message = LOGS[name]
    log = write_eval(tmp_path / "run.eval", "org/x", samples)
    assert (f"{log}{message}" if message[0] == ":" else message) in told(log)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_logs(tmp_path: Path, name: str) -> None:
    """Each is refused by its place."""
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    assert f"{tmp_path / name}{message}" in told(tmp_path / name)


def test_a_mistake_in_all_rows(tmp_path: Path) -> None:
    """It is told once, with the first places and how many there are."""
    rows = ({"problem": f"p{p}", "model": "m", "answer": "a\0b"} for p in range(100))
    source = tmp_path / "answers.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    message = told(source)
    assert message.count("\n") == 4
    assert message.endswith("(and 95 more)")
