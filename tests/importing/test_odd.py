"""``quem init --from`` odd folders, tables and logs: each a study, or one clear message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.importing.made import ERROR, init, made, refusal, sample, write_eval, write_lines

if TYPE_CHECKING:
    from pathlib import Path

TWO = ("task-1", "task-2")
TREE = ("a", "b")


def tree(
    solvers: tuple[str, ...] = TREE, text: bytes = b"Wait.", ending: str = ".md"
) -> dict[str, bytes]:
    """A folder for each solver, with two tasks."""
    return {f"{solver}/{task}{ending}": text for solver in solvers for task in TWO}


# The files, and the counts that are found or how the message goes on after the folder's name.
FOLDERS: dict[str, tuple[dict[str, bytes], str]] = {
    "names of other alphabets": (tree(("Ånn Ö.", "机器人", "🤖 bot")), "3 solvers, 6 solutions"),
    "names of devices": (tree(("con", "aux.v1")), "2 solvers, 4 solutions"),
    "names that differ in case": (tree(("Bot", "bot")), "2 solvers, 4 solutions"),
    "utf-16": (tree(TREE, "Größe".encode("utf-16"), ".txt"), "2 solvers, 4 solutions"),
    "latin-1": (tree(TREE, "Größe".encode("latin1")), "/a/task-1.md:1: is not UTF-8"),
    "binary": (tree(TREE, b"\0\1\2"), "/a/task-1.md: is in no format"),
    "an empty answer": ({**tree(), "a/task-1.md": b""}, "/a/task-1.md: is empty"),
    "a program": ({**tree(), "a/task-1.md": b"", "b/task-2.exe": b"MZ\0\1"}, "/b/task-2.exe: "),
    "three levels": (
        {f"{r}/{w}/task-1.md": b"x" for r in ("one", "two") for w in TREE},
        ": does not say which names are problems",
    ),
    "files only": ({"a_task-1.md": b"x", "b_task-1.md": b"x"}, ": holds files only"),
    "statements only": ({f"prompts/{task}.md": b"x" for task in TWO}, ": holds statements only"),
    "nothing": ({}, ": holds nothing"),
    "litter": (
        {**tree(), ".DS_Store": b"x", "a/Thumbs.db": b"x", "notes.docx": b"x"},
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
ROW = {"problem": "p", "solver": "s", "answer": "a"}
TABLES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "twice": ([ROW, {**ROW, "answer": "b"}], ":2: 's' has another answer to 'p'"),
    "unknown": ([{"task": 1, "reply": "x", "bot": "y"}], "--columns problem=COLUMN"),
    "ambiguous": (
        [{**ROW, "output": "b"}],
        "--columns answer=answer or --columns answer=output",
    ),
    "row ids": (
        [{"id": n, "prompt": "q", "model": f"m{n}", "output": "a"} for n in range(4)],
        "--columns problem=prompt",
    ),
    "nested": ([{**ROW, "answer": {"a": {"b": 1}}}], "is not a text"),
    "no problem": ([{**ROW, "problem": ""}], ":1: names no problem"),
    "nobody": ([{**ROW, "solver": ""}], ":1: names no solver"),
    "long": ([{**ROW, "answer": "a" * 1_000_001}], "longer than 1 MB"),
    "all rows": ([{**ROW, "problem": f"p{p}", "answer": "a\0b"} for p in range(9)], "(and 4 more)"),
}
BROKEN = {
    "cut.eval": (b"PK\x03\x04 and no more", ": is not a zip archive"),
    "empty.eval": (b"", ": is not a zip archive"),
    "cut.json": (b'{"eval": {"model": "x"}, "samples": [', ": is not a log of Inspect AI"),
    "colon.json": (b'{"eval" 1', ""),
    "list.json": (b"[]", ""),
    "empty.json": (b"", ""),
    "other.json": (b"[1, 2, 3]", ":1: must be a record"),
    "many.csv": (
        b"problem,solver,answer\n" + b"".join(b"p%d,s%d,a\n" % (n // 2, n) for n in range(900)),
        ": has 450 problems and 900 solvers",
    ),
}


def told(source: Path, message: str) -> str:
    """What is said of a source, a study or refused; refusals begin with its place."""
    study = source.parent / "study"
    if message[:1] not in (":", "/"):
        dry = init(study, "--from", source, "--dry-run").stderr
        made(study, source)
        return dry
    said = refusal(study, source)
    assert str(source) in said
    return said.replace(str(source), "")


@pytest.mark.parametrize("name", FOLDERS)
def test_odd_folders(tmp_path: Path, name: str) -> None:
    """Each becomes a study or is refused by its place."""
    files, message = FOLDERS[name]
    (tmp_path / "work").mkdir()
    for place, content in files.items():
        path = tmp_path / "work" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert message in told(tmp_path / "work", message)


@pytest.mark.parametrize("name", LOGS)
def test_odd_logs(tmp_path: Path, name: str) -> None:
    """Each becomes a study or is refused by its place."""
    samples, message = LOGS[name]
    assert message in told(write_eval(tmp_path / "run.eval", "org/x", samples), message)


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_are_refused(tmp_path: Path, name: str) -> None:
    """A table that is unclear is refused, with the place or the option to give."""
    rows, message = TABLES[name]
    source = write_lines(tmp_path / "answers.jsonl", rows)
    said = refusal(tmp_path / "study", source)
    assert str(source) in said
    assert message in said


CHAT = [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}]


@pytest.mark.parametrize(
    ("answer", "text"), [(4.5, "4.5"), (["One."], "One."), (CHAT, "So."), (CHAT[1], "So.")]
)
def test_forms_of_answers(tmp_path: Path, answer: object, text: str) -> None:
    """Numbers and chats are texts; some problems are drawn, and unclear years are left out."""
    rows = [
        {"problem": f"p{n}", "model": "m", "prompt": CHAT, "answer": answer, "years": years}
        for n, years in enumerate(("", "many", 3))
    ]
    source = write_lines(tmp_path / "answers.jsonl", rows)
    words = (source, "--sample", 2, "--seed", 1)
    dry = init(tmp_path / "study", "--from", *words, "--dry-run").stderr
    assert "left out: problems beside 2 drawn at random (seed 1): 1" in dry
    assert "left out: solvers with unclear experience in 'years': 1" in dry
    assert made(tmp_path / "study", *words) == (2, 1, 2)
    (statement, _) = (tmp_path / "study/problems").iterdir()
    assert statement.read_text() == "Why?\n"
    written = {path.read_text() for path in (tmp_path / "study/solutions").glob("*/*")}
    assert written == {f"{text}\n"}


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    """They are named, with those that are."""
    source = write_lines(tmp_path / "answers.jsonl", [ROW])
    said = refusal(tmp_path / "study", source, "--columns", "answer=none")
    assert "has no column 'none'; it has the columns problem, solver, answer" in said


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(tmp_path: Path, name: str) -> None:
    """Each is refused by its place."""
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    assert f"{tmp_path / name}{message}" in refusal(tmp_path / "study", tmp_path / name)
