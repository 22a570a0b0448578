"""``quem init --from`` odd folders, tables and logs: each a study, or one clear message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.importing.made import ERROR, init, made, refusal, sample, write_eval, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TWO = ("task-1", "task-2")
TREE = ("a", "b")


def tree(
    solvers: tuple[str, ...] = TREE, text: bytes = b"Wait.", ending: str = ".md"
) -> dict[str, bytes]:
    """A folder for each solver, with two tasks."""
    return {f"{solver}/{task}{ending}": text for solver in solvers for task in TWO}


Maker: TypeAlias = "Callable[[Path], Path]"


def folder(files: dict[str, bytes]) -> Maker:
    def make(place: Path) -> Path:
        (place / "work").mkdir()
        for name, content in files.items():
            path = place / "work" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return place / "work"

    return make


def file(name: str, content: bytes) -> Maker:
    def make(place: Path) -> Path:
        (place / name).write_bytes(content)
        return place / name

    return make


def log(*samples: dict[str, Any]) -> Maker:
    return lambda place: write_eval(place / "run.eval", "org/x", [*samples])


def table(*rows: dict[str, Any]) -> Maker:
    return lambda place: write_lines(place / "answers.jsonl", rows)


FAILED = {**sample(1, 1, ""), "error": ERROR}
LITTER = {".DS_Store": b"x", "a/Thumbs.db": b"x", "notes.docx": b"x"}
# The sources, and what a dry run says.
READ: dict[str, tuple[Maker, str]] = {
    "names of other alphabets": (folder(tree(("Ånn Ö.", "机器人", "🤖 bot"))), "6 solutions"),
    "names of devices": (folder(tree(("con", "aux.v1"))), "2 solvers, 4 solutions"),
    "names that differ in case": (folder(tree(("Bot", "bot"))), "2 solvers, 4 solutions"),
    "utf-16": (folder(tree(TREE, "Größe".encode("utf-16"), ".txt")), "2 solvers, 4 solutions"),
    "litter": (folder({**tree(), **LITTER}), "left out: files beside the folders: 1"),
    "one failed": (log(FAILED, sample(2, 1, "b")), "failed: 1; first"),
    "an empty answer": (log(sample(1, 1, ""), sample(2, 1, "b")), "1 solver, 1 solution"),
}
ROW = {"problem": "p", "solver": "s", "answer": "a"}
RUNS: list[dict[str, Any]] = [
    {"id": n, "prompt": "q", "model": f"m{n}", "output": "a"} for n in range(4)
]
THREE = {f"{r}/{w}/task-1.md": b"x" for r in ("one", "two") for w in TREE}
MANY = b"".join(b"p%d,s%d,a\n" % (n // 2, n) for n in range(900))
# The sources, and what is said beside their place.
REFUSED: dict[str, tuple[Maker, str]] = {
    "latin-1": (folder(tree(TREE, "Größe".encode("latin1"))), "/a/task-1.md:1: is not UTF-8"),
    "binary": (folder(tree(TREE, b"\0\1\2")), "/a/task-1.md: is in no format"),
    "empty": (folder({**tree(), "a/task-1.md": b""}), "/a/task-1.md: is empty"),
    "a program": (folder({**tree(), "b/task-2.exe": b"MZ\0\1"}), "/b/task-2.exe: "),
    "three levels": (folder(THREE), ": does not say which names are problems"),
    "files only": (folder({"a_task-1.md": b"x", "b_task-1.md": b"x"}), ": holds files only"),
    "statements only": (folder(tree(("prompts",))), ": holds statements only"),
    "nothing": (folder({}), ": holds nothing"),
    "no samples": (log(), ": holds no answers"),
    "other epochs": (log(sample(1, 2, "a")), ": has no sample of epoch 1"),
    "all failed": (log(FAILED), ": all of it failed (1)"),
    "twice": (table(ROW, {**ROW, "answer": "b"}), ":2: 's' has another answer to 'p'"),
    "unknown": (table({"task": 1, "reply": "x", "bot": "y"}), "--columns problem=COLUMN"),
    "ambiguous": (
        table({**ROW, "output": "b"}),
        "--columns answer=answer or --columns answer=output",
    ),
    "row ids": (table(*RUNS), "--columns problem=prompt"),
    "nested": (table({**ROW, "answer": {"a": {"b": 1}}}), "is not a text"),
    "no problem": (table({**ROW, "problem": ""}), ":1: names no problem"),
    "nobody": (table({**ROW, "solver": ""}), ":1: names no solver"),
    "long": (table({**ROW, "answer": "a" * 1_000_001}), "longer than 1 MB"),
    "all rows": (
        table(*({**ROW, "problem": f"p{p}", "answer": "a\0b"} for p in range(9))),
        "(and 4 more)",
    ),
    "cut archive": (file("a.eval", b"PK\x03\x04 and no more"), ": is not a zip archive"),
    "empty archive": (file("a.eval", b""), ": is not a zip archive"),
    "cut log": (file("a.json", b'{"eval": {"model": "x"}, "samples": ['), ": is not a log of"),
    "no JSON": (file("a.json", b'{"eval" 1'), ""),
    "empty list": (file("a.json", b"[]"), ""),
    "empty JSON": (file("a.json", b""), ""),
    "numbers": (file("a.json", b"[1, 2, 3]"), ":1: must be a record"),
    "many": (
        file("a.csv", b"problem,solver,answer\n" + MANY),
        ": has 450 problems and 900 solvers",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_odd_sources_that_are_read(tmp_path: Path, name: str) -> None:
    make, message = READ[name]
    source = make(tmp_path)
    assert message in init(tmp_path / "study", "--from", source, "--dry-run").stderr
    made(tmp_path / "study", source)


@pytest.mark.parametrize("name", REFUSED)
def test_odd_sources_are_refused_by_place(tmp_path: Path, name: str) -> None:
    make, message = REFUSED[name]
    source = make(tmp_path)
    said = refusal(tmp_path / "study", source)
    assert str(source) in said
    assert message in said.replace(str(source), "")


CHAT = [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}]


@pytest.mark.parametrize(
    ("answer", "text"), [(4.5, "4.5"), (["One."], "One."), (CHAT, "So."), (CHAT[1], "So.")]
)
def test_forms_of_answers(tmp_path: Path, answer: object, text: str) -> None:
    """Numbers and chats are texts; problems are drawn, and unclear years are left out."""
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
    source = write_lines(tmp_path / "answers.jsonl", [ROW])
    said = refusal(tmp_path / "study", source, "--columns", "answer=none")
    assert "has no column 'none'; it has the columns problem, solver, answer" in said
