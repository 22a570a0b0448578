"""``quem init --from``: what comes out of each kind of source, and what is refused."""

from __future__ import annotations

import json
import string
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from quem.importing.writing import ids_of
from quem.solutions.files import is_ignored
from quem.studyfile.reading import read_study
from tests.importing.made import (
    ERROR,
    answers,
    init,
    made,
    refusal,
    sample,
    write_eval,
    write_harness,
    write_lines,
    write_long,
    write_tree,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TASKS = [f"task-{n}" for n in range(1, 5)]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory as Linux counts it")


@pytest.mark.parametrize(
    "levels", [(["atlas", "bolt", "Maria K."], TASKS), (TASKS, ["a", "b", "c"])]
)
def test_a_tree_either_way(tmp_path: Path, levels: tuple[list[str], list[str]]) -> None:
    source, study = write_tree(tmp_path / "work", *levels), tmp_path / "study"
    shown = init(study, "--from", source, "--dry-run")
    assert (shown.exit_code, "task-4     2 files  2 files" in shown.stdout) == (0, True)
    assert not study.exists()
    assert made(study, source) == (4, 3, 12)
    assert read_study(study / "study.yaml").id == "study-study"
    assert (study / "solutions/task-1").is_dir()
    assert "TODO" in (study / "problems/task-1.md").read_text()
    before = {p: p.read_bytes() for p in study.rglob("*") if p.is_file()}
    assert "already holds" in str(init(study, "--from", source).exception)
    assert {p: p.read_bytes() for p in study.rglob("*") if p.is_file()} == before


def test_a_tree_that_could_be_read_either_way(tmp_path: Path) -> None:
    """It is refused with both options, and each of them decides."""
    source = write_tree(tmp_path / "work", ["keller", "sahin"], ["ward", "lab"])
    message = refusal(tmp_path / "study", source)
    for layout, plan in (
        ("solver/problem", "ward/keller/plan.md"),
        ("problem/solver", "keller/ward/plan.md"),
    ):
        assert f"--layout {layout}" in message
        study = tmp_path / layout[:6]
        assert made(study, source, "--layout", layout) == (2, 2, 4)
        assert (study / "solutions" / plan).is_file()


def test_a_tree_of_uuids_with_a_table(tmp_path: Path) -> None:
    """The folders of a task hold who did it; a table beside them has the prompts."""
    tasks = [f"{n}{n}{n}0aa1c-0000-4000-8000-000000000000" for n in range(3)]
    source = tmp_path / "work"
    for task in tasks:
        write_tree(source / task, ["human", "agent-1"], ["deliverables"])
    rows = [f"{task},Finance,Clerk,Write the memo {n}.,x.xlsx" for n, task in enumerate(tasks)]
    table = "\n".join(["task_id,sector,occupation,prompt,reference_files", *rows])
    (source / "tasks.csv").write_text(table)
    assert made(tmp_path / "study", source) == (3, 2, 6)
    statement = tmp_path / "study/problems" / f"{tasks[1]}.md"
    assert statement.read_text() == "Write the memo 1.\n"


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "csv"])
def test_a_long_table(tmp_path: Path, form: str) -> None:
    """One answer a row; problems without an id are named by their statement."""
    rows = answers(20, 6)
    source = tmp_path / f"answers.{form}"
    if form == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), source)
    elif form == "csv":
        lines = [f'{r["prompt"]},{r["model"]},"{r["output"]}\nSo, that."' for r in rows]
        source.write_text("\n".join(["prompt,model,output", *lines]))
    elif form == "json":
        source.write_text(json.dumps(rows))
    else:
        write_lines(source, rows)
    assert made(tmp_path / "study", source) == (20, 6, 120)
    spec = read_study(tmp_path / "study/study.yaml")
    assert [system.name for system in spec.systems][:2] == ["org/m0", "org/m1"]
    assert len(spec.problems[0].id) == 8


def test_a_wide_table_as_spreadsheets_save_it(tmp_path: Path) -> None:
    """A byte order mark, semicolons, line breaks in cells; every other column is a solver."""
    lines = [f'{p};"What is\n{p}?";"a\nb {p}";c;d' for p in range(10)]
    source = tmp_path / "wide.csv"
    source.write_bytes(("\ufeffid;prompt;gpt;claude;Maria K.\n" + "\n".join(lines)).encode())
    assert made(tmp_path / "study", source) == (10, 3, 30)
    spec = read_study(tmp_path / "study/study.yaml")
    assert [(s.id, s.name) for s in spec.systems][-1] == ("Maria-K", "Maria K.")
    assert made(tmp_path / "two", source, "--columns", "ignore=claude") == (10, 2, 20)


def test_years_of_experience_in_a_table(tmp_path: Path) -> None:
    """Solvers with years are subjects, others systems; a cell may be as long as an answer."""
    source = tmp_path / "answers.csv"
    solvers = [("ann", 3), ("bo", 8.5), ("gpt", "")]
    rows = [f"{p},{s},word,{y}" for p in "ab" for s, y in solvers]
    rows[0] = rows[0].replace("word", "word " * 27_000)
    source.write_text("\n".join(["problem,solver,answer,years", *rows]))
    assert made(tmp_path / "study", source) == (2, 3, 6)
    spec = read_study(tmp_path / "study/study.yaml")
    assert {s.id: s.experience for s in spec.subjects} == {"ann": 3, "bo": 8.5}
    assert [s.id for s in spec.systems] == ["gpt"]


@pytest.mark.parametrize("packed", [True, False], ids=["zstandard", "deflated"])
def test_logs_of_inspect(tmp_path: Path, *, packed: bool) -> None:
    """Two logs of two epochs: the first epoch, and the other answers left out."""
    (tmp_path / "logs").mkdir()
    for model in ("openai/gpt-4o", "anthropic/claude"):
        text = f"<think>{model}</think>\nAnswer."
        samples = [sample(n, epoch, text) for epoch in (1, 2) for n in range(20)]
        path = tmp_path / "logs" / f"{model.replace('/', '-')}.eval"
        write_eval(path, model, samples, packed=packed)
    study = tmp_path / "study"
    dry = init(study, "--from", tmp_path / "logs", "--dry-run")
    assert "left out: answers of other epochs: 40" in dry.stderr
    assert made(study, tmp_path / "logs") == (20, 2, 40)
    assert {path.read_text() for path in (study / "solutions/7").iterdir()} == {"Answer.\n"}
    assert (study / "problems/7.md").read_text() == "Be brief.\n\nQuestion 7?\n"
    message = refusal(tmp_path / "none", tmp_path / "logs", "--epoch", 3)
    assert "has no sample of epoch 3" in message


def test_samples_of_the_harness(tmp_path: Path) -> None:
    """One document is logged once for each filter, and counts once."""
    name = "samples_gsm8k_2026-01-31T12-00-00.123456.jsonl"
    source = write_harness(tmp_path / "org__model" / name, 5, ("strict", "flexible"))
    dry = init(tmp_path / "study", "--from", source.parent, "--dry-run")
    assert "left out: further filters of an answer: 5" in dry.stderr
    assert made(tmp_path / "study", source.parent) == (5, 1, 5)
    assert read_study(tmp_path / "study/study.yaml").systems[0].name == "org/model"
    rows = source.read_text().replace('[[" The answer', '[[["-1.5", "False"], " The answer')
    source.write_text(rows)
    assert "holds likelihoods" in refusal(tmp_path / "none", source)


@pytest.mark.parametrize(
    "name",
    ["a/task-1/more.md", "a/task-5", "table.csv", "lines.jsonl", "samples_qa.jsonl", "run.eval"],
)
def test_a_link_out_of_the_folder(tmp_path: Path, name: str) -> None:
    """It is refused by its name: nobody's other files become a solution."""
    source, secret = tmp_path / "work", tmp_path / "secret"
    write_tree(secret, ["a", "b"], TASKS)
    write_long(secret / "lines.jsonl", 3, 2)
    (secret / "table.csv").write_text("problem,solver,answer\np,a,x\np,b,y\n")
    write_harness(secret / "samples_qa.jsonl", 3, ("none",))
    write_eval(secret / "run.eval", "org/m", [sample(1, 1, "An answer.")])
    targets = {"a/task-1/more.md": secret / "a/task-1/plan.md", "a/task-5": secret / "a/task-1"}
    if name in targets:
        write_tree(source, ["a", "b"], TASKS)
    else:
        source.mkdir()
    target = targets.get(name, secret / name)
    assert target.exists()
    (source / name).symlink_to(target)
    assert f"{source / name}: is a link out of the folder" in refusal(tmp_path / "study", source)
    (source / name).unlink()
    (source / name).symlink_to(source / name)
    assert f"{source / name}: is a link" in refusal(tmp_path / "study", source)


def test_a_link_inside_the_folder(tmp_path: Path) -> None:
    """It is followed; one to a folder around it is refused."""
    source = write_tree(tmp_path / "work", ["a", "b"], TASKS)
    (source / "a/task-5").symlink_to(source / "a/task-1")
    (source / ".cache").symlink_to(tmp_path)
    assert made(tmp_path / "study", source) == (5, 2, 9)
    (source / "a/task-6").symlink_to(source / "a")
    assert "a/task-6: is a link" in refusal(tmp_path / "other", source)


NAMES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        ["../x", "CON", "con.md", "", ".", "..", "a/b", "Ä", "ä", "Maria K.", "Maria K"]
    ),
    st.text(alphabet=string.ascii_letters + ". -", max_size=70),
)


@given(st.lists(NAMES, unique=True, max_size=12))
def test_names_become_ids(names: list[str]) -> None:
    """Each name has an id of its own that is safe as a file's name on every system."""
    ids = ids_of(names, "solver")
    assert list(ids) == names
    assert len({one.casefold() for one in ids.values()}) == len(names)
    allowed = set(string.ascii_letters + string.digits + "._-")
    for one in ids.values():
        assert set(one) <= allowed
        assert 1 <= len(one) <= 60
        assert not {one[0], one[-1]} & {".", "-"}
        assert not is_ignored(one)


MEASURED = """
import resource, sys
from quem.cli import run
limit = int(sys.argv.pop())
if limit:
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    run()
finally:  # not `ru_maxrss`, which counts the process that started this one
    print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0][:-3])
"""


def _measured(study: Path, source: Path, memory: int = 0) -> tuple[int, str, int]:
    """Import in a process of its own: exit code, errors, and the most megabytes that it took."""
    command = [sys.executable, "-c", MEASURED, "init", str(study), "--from", str(source)]
    ran = subprocess.run([*command, str(memory)], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr, int(ran.stdout.splitlines()[-1])


@linux
@pytest.mark.parametrize("name", ["log.eval", "log.json", "wide.csv", "long.csv"])
def test_a_file_takes_little_memory(tmp_path: Path, name: str) -> None:
    """Neither many messages of a log nor many columns or rows of a table take much."""
    source = tmp_path / name
    if name.startswith("log"):
        many = [{"role": "assistant", "content": "x"} for _ in range(20_000)]
        samples = [{**sample(n, 1, f"Answer {n}."), "messages": many} for n in range(60)]
        write_eval(source, "m", samples, packed=False)
    elif name == "long.csv":
        rows = [f"p{n // 6},s{n % 6},{'word ' * 250}{n}" for n in range(12_000)]
        source.write_text("\n".join(["problem,solver,answer", *rows]))
    else:
        cells = ["an answer" if i % 9 == 0 else "" for i in range(27_000)]
        rows = [",".join([f"p{n}", *cells]) for n in range(6)]
        source.write_text("\n".join([",".join(["problem", *map(str, range(27_000))]), *rows]))
    size = source.stat().st_size
    if source.suffix == ".eval":
        with zipfile.ZipFile(source) as archive:
            size = sum(part.file_size for part in archive.infolist())
        assert size > 40_000_000
    code, errors, megabytes = _measured(tmp_path / "study", source)
    assert code == 0, errors
    assert megabytes < 150 + 4 * size / 1_000_000


@linux
def test_too_little_memory_is_no_bug(tmp_path: Path) -> None:
    source = tmp_path / "answers.csv"
    source.write_text("problem,solver,answer\n" + f"p,s,{'word' * 250}\n" * 200_000)
    code, errors, _ = _measured(tmp_path / "study", source, memory=600_000_000)
    assert (code, "error: there is not enough memory" in errors) == (1, True), errors


@pytest.mark.parametrize("name", ["answers.csv", "answers.jsonl", "samples_a.jsonl", "bomb.eval"])
def test_a_file_that_is_too_large(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    if name == "bomb.eval":
        with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(11):
                entry = zipfile.ZipInfo(f"samples/{number}_epoch_1.json")
                archive.writestr(entry, b" " * 1_000_000)
                entry.file_size = 100_000_000
    else:
        with source.open("wb") as file:
            file.write(b'{"doc_id":0,"doc":{},"arguments":[],"resps":[],"filtered_resps":[]}\n')
            file.truncate(1_000_000_001)
    said = "unpacks to more than 1,000 MB" if name == "bomb.eval" else "is larger than 1 GB"
    assert f"{name}: {said}" in refusal(tmp_path / "study", source)


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
