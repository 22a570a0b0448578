"""``quem init --from``: what comes out of each kind of source, and what is refused."""

from __future__ import annotations

import json
import string
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from quem.importing.naming import ids_of
from quem.solutions.files import is_ignored
from quem.studyfile.reading import read_study
from tests.importing.made import (
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
    from pathlib import Path

TASKS = [f"task-{n}" for n in range(1, 5)]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory as Linux counts it")


@pytest.mark.parametrize(
    "levels", [(["atlas", "bolt", "Maria K."], TASKS), (TASKS, ["a", "b", "c"])]
)
def test_a_tree_either_way(tmp_path: Path, levels: tuple[list[str], list[str]]) -> None:
    """Folders of three solvers with four tasks, and the other way round, are the same study."""
    source, study = write_tree(tmp_path / "work", *levels), tmp_path / "study"
    shown = init(study, "--from", source, "--dry-run")
    assert (shown.exit_code, "task-4     2 files  2 files" in shown.stdout) == (0, True)
    assert not study.exists()
    assert made(study, source) == (4, 3, 12)
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
    """Solvers with years are subjects, others systems; cells may be as long as an answer."""
    source = tmp_path / "answers.csv"
    solvers = [("ann", 3), ("bo", 8.5), ("gpt", "")]
    rows = [f'{p},{s},"{"word " * 40_000}",{y}' for p in "ab" for s, y in solvers]
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


@given(st.lists(NAMES, unique=True, max_size=30))
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
@pytest.mark.parametrize("name", ["log.eval", "log.json", "wide.csv", "sparse.csv", "long.csv"])
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
        columns, every = (3_000, 1) if name == "wide.csv" else (30_000, 1_000)
        cells = ["an answer" if i % every == 0 else "" for i in range(columns)]
        rows = [",".join([f"p{n}", *cells]) for n in range(6)]
        source.write_text("\n".join([",".join(["problem", *map(str, range(columns))]), *rows]))
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
    """A table for which the memory does not suffice ends in one sentence."""
    source = tmp_path / "answers.csv"
    source.write_text("problem,solver,answer\n" + f"p,s,{'word' * 250}\n" * 200_000)
    code, errors, _ = _measured(tmp_path / "study", source, memory=600_000_000)
    assert (code, "error: there is not enough memory" in errors) == (1, True), errors


@pytest.mark.parametrize("name", ["answers.csv", "answers.jsonl", "samples_a.jsonl", "bomb.eval"])
def test_a_file_that_is_too_large(tmp_path: Path, name: str) -> None:
    """One sentence refuses it before it is read or unpacked."""
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
