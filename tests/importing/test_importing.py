"""``quem init --from``: what comes out of each kind of source, and what is refused."""

from __future__ import annotations

import json
import string
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from quem.cli import main
from quem.errors import QuemError
from quem.importing.naming import ids_of
from quem.solutions import find_solutions
from quem.solutions.files import is_ignored
from quem.studyfile.reading import draft_study, read_study
from tests.importing.made import sample, write_eval, write_harness, write_long, write_tree

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: object) -> Result:
    """Run ``quem init``."""
    return CliRunner().invoke(main, ["init", *map(str, words)])


def counts(folder: Path) -> tuple[int, int, int]:
    """Problems, solvers and solutions of a study that ``quem check`` accepts."""
    checked = CliRunner().invoke(main, ["check", str(folder / "study.yaml")])
    assert checked.exit_code == 0, checked.output
    spec = read_study(folder / "study.yaml")
    solutions, mistakes, warnings = find_solutions(
        draft_study(folder / "study.yaml"), complete=True
    )
    assert not mistakes
    assert not warnings
    return len(spec.problems), len(spec.systems) + len(spec.subjects), len(solutions)


def made(folder: Path, source: Path, *options: object) -> tuple[int, int, int]:
    """What becomes of a source."""
    result = run(folder, "--from", source, *options)
    assert result.exit_code == 0, result.output
    assert f"Next: quem serve {folder}" in result.stderr
    return counts(folder)


def refusal(folder: Path, source: Path, *options: object) -> str:
    """Why a source is refused; nothing is written then."""
    result = run(folder, "--from", source, *options)
    assert isinstance(result.exception, QuemError), result.output
    assert not folder.exists()
    return str(result.exception)


TASKS = [f"task-{n}" for n in range(1, 5)]


@pytest.mark.parametrize(
    "levels", [(["atlas", "bolt", "Maria K."], TASKS), (TASKS, ["a", "b", "c"])]
)
def test_a_tree_either_way(tmp_path: Path, levels: tuple[list[str], list[str]]) -> None:
    """Folders of three solvers with four tasks, and the other way round, are the same study."""
    source = write_tree(tmp_path / "work", *levels)
    assert made(tmp_path / "study", source) == (4, 3, 12)
    assert (tmp_path / "study/solutions/task-1").is_dir()
    assert "TODO" in (tmp_path / "study/problems/task-1.md").read_text()


def test_a_tree_that_could_be_read_either_way(tmp_path: Path) -> None:
    """It is refused with both options, and each of them decides."""
    source = write_tree(tmp_path / "work", ["keller", "sahin"], ["ward", "lab"])
    message = refusal(tmp_path / "study", source)
    assert "--layout solver/problem" in message
    assert "--layout problem/solver" in message
    assert made(tmp_path / "one", source, "--layout", "solver/problem") == (2, 2, 4)
    assert (tmp_path / "one/solutions/ward/keller/plan.md").is_file()
    assert made(tmp_path / "other", source, "--layout", "problem/solver") == (2, 2, 4)
    assert (tmp_path / "other/solutions/keller/ward/plan.md").is_file()


def test_a_tree_of_uuids_with_a_table(tmp_path: Path) -> None:
    """The folders of a task hold who did it; a table beside them has the prompts."""
    tasks = [f"{n}{n}{n}0aa1c-0000-4000-8000-000000000000" for n in range(3)]
    source = tmp_path / "work"
    for task in tasks:
        for who in ("human", "agent-1"):
            (source / task / who / "deliverables").mkdir(parents=True)
            (source / task / who / "deliverables" / "memo.md").write_text("To whom it concerns.\n")
    rows = [f"{task},Finance,Clerk,Write the memo {n}.,x.xlsx" for n, task in enumerate(tasks)]
    table = "\n".join(["task_id,sector,occupation,prompt,reference_files", *rows])
    (source / "tasks.csv").write_text(table)
    assert made(tmp_path / "study", source) == (3, 2, 6)
    statement = tmp_path / "study/problems" / f"{tasks[1]}.md"
    assert statement.read_text() == "Write the memo 1.\n"


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "csv"])
def test_a_long_table(tmp_path: Path, form: str) -> None:
    """One answer a row; problems without an id are named by their statement."""
    rows = [
        {"prompt": f"Question {p}?", "model": f"org/m{s}", "output": f"Answer {s}\n to {p}, so."}
        for p in range(20)
        for s in range(6)
    ]
    source = tmp_path / f"answers.{form}"
    if form == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), source)
    elif form == "csv":
        lines = [f'{r["prompt"]},{r["model"]},"{r["output"]}"' for r in rows]
        source.write_text("\n".join(["prompt,model,output", *lines]))
    elif form == "json":
        source.write_text(json.dumps(rows))
    else:
        source.write_text("\n".join(map(json.dumps, rows)))
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
    """Who has years of experience is a subject, and the others are systems."""
    source = tmp_path / "answers.csv"
    rows = [
        f"{p},{s},text {s},{y}" for p in "ab" for s, y in [("ann", 3), ("bo", 8.5), ("gpt", "")]
    ]
    source.write_text("\n".join(["problem,solver,answer,years", *rows]))
    assert made(tmp_path / "study", source) == (2, 3, 6)
    spec = read_study(tmp_path / "study/study.yaml")
    assert {s.id: s.experience for s in spec.subjects} == {"ann": 3, "bo": 8.5}
    assert [s.id for s in spec.systems] == ["gpt"]


@pytest.mark.parametrize("packed", [True, False], ids=["zstandard", "deflated"])
def test_logs_of_inspect(tmp_path: Path, *, packed: bool) -> None:
    """Two logs of 40 samples in two epochs: the first epoch, and 80 answers left out."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for model in ("openai/gpt-4o", "anthropic/claude"):
        samples = [
            sample(n, epoch, f"<think>{model}</think>\nAnswer {n}.")
            for epoch in (1, 2)
            for n in range(40)
        ]
        write_eval(logs / f"{model.replace('/', '-')}.eval", model, samples, packed=packed)
    result = run(tmp_path / "study", "--from", logs)
    assert "left out: answers of other epochs: 80" in result.stderr
    assert counts(tmp_path / "study") == (40, 2, 80)
    answers = tmp_path / "study/solutions/7"
    assert {path.read_text() for path in answers.iterdir()} == {"Answer 7.\n"}
    assert (tmp_path / "study/problems/7.md").read_text() == "Be brief.\n\nQuestion 7?\n"
    assert "has no sample of epoch 3" in refusal(tmp_path / "none", logs, "--epoch", 3)


def test_samples_of_the_harness(tmp_path: Path) -> None:
    """One document is logged once for each filter, and counts once."""
    name = "samples_gsm8k_2026-01-31T12-00-00.123456.jsonl"
    source = write_harness(tmp_path / "org__model" / name, 5, ("strict", "flexible"))
    result = run(tmp_path / "study", "--from", source.parent)
    assert "left out: further filters of an answer: 5" in result.stderr
    assert counts(tmp_path / "study") == (5, 1, 5)
    assert read_study(tmp_path / "study/study.yaml").systems[0].name == "org/model"
    rows = source.read_text().replace('[[" The answer', '[[["-1.5", "False"], " The answer')
    source.write_text(rows)
    assert "holds likelihoods" in refusal(tmp_path / "none", source)


def _table(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, rows))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (
            [
                {"problem": "p", "solver": "s", "answer": "a"},
                {"problem": "p", "solver": "s", "answer": "b"},
            ],
            (":2: 's' has another answer to 'p'", ":1; keep one"),
        ),
        ([{"task": 1, "reply": "x", "bot": "y"}], ("--columns problem=COLUMN",)),
        (
            [{"problem": "p", "solver": "s", "answer": "a", "output": "b"}],
            ("--columns answer=answer or --columns answer=output",),
        ),
        (
            [{"id": n, "prompt": "q", "model": f"m{n}", "output": "a"} for n in range(4)],
            ("--columns problem=prompt",),
        ),
        ([{"problem": "p", "solver": "s", "answer": {"a": {"b": 1}}}], ("is not a text",)),
        ([{"problem": "p", "solver": "", "answer": "a"}], (":1: names no solver",)),
        ([{"problem": "p", "solver": "s", "answer": "a" * 1_000_001}], ("longer than 1 MB",)),
    ],
    ids=["twice", "unknown", "ambiguous", "row-ids", "nested", "nobody", "long"],
)
def test_tables_that_are_refused(
    tmp_path: Path, content: list[dict[str, Any]], parts: tuple[str, ...]
) -> None:
    """A table that is unclear is refused, with the place or the option to give."""
    source = tmp_path / "answers.jsonl"
    source.write_text(_table(content))
    message = refusal(tmp_path / "study", source)
    assert all(part in message for part in parts), message


def test_all_errors_of_a_folder_come_in_one_round(tmp_path: Path) -> None:
    """Each file that judges cannot be shown is named, and nothing is written."""
    source = write_tree(tmp_path / "work", ["a", "b"], TASKS)
    (source / "a/task-1/tool.exe").write_bytes(b"MZ\0\1")
    (source / "b/task-2/notes.md").write_text("")
    message = refusal(tmp_path / "study", source)
    assert "tool.exe" in message
    assert "notes.md: is empty" in message


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
    write_harness(secret / "model/samples_qa.jsonl", 3, ("none",))
    write_eval(secret / "run.eval", "org/m", [sample(1, 1, "An answer.")])
    if name.startswith("a/"):
        write_tree(source, ["a", "b"], TASKS)
        target = secret / "a/task-1"
        target = target / "plan.md" if name.endswith(".md") else target
    else:
        source.mkdir()
        target = secret / ("model" if name.startswith("samples") else "") / name
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


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A folder with a study is left as it is."""
    source = write_tree(tmp_path / "work", ["a", "b"], TASKS)
    assert made(tmp_path / "study", source)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    again = run(tmp_path / "study", "--from", source)
    assert "already holds" in str(again.exception)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_a_dry_run(tmp_path: Path) -> None:
    """It shows the table of problems and solvers and writes nothing."""
    source = write_tree(tmp_path / "work", ["a", "b"], TASKS)
    result = run(tmp_path / "study", "--from", source, "--dry-run")
    assert result.exit_code == 0
    assert "task-4     2 files  2 files" in result.stdout
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--dry-run",),
        ("--judging", "--report"),
        ("--judging", "--kind", "options"),
        ("--columns", "x"),
    ],
    ids=["dry-run", "two", "kind", "columns"],
)
def test_options_that_do_not_fit(tmp_path: Path, options: tuple[str, ...]) -> None:
    """They are wrong usage."""
    assert run(tmp_path / "study", *options).exit_code == 2


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
    folded = {one.casefold() for one in ids.values()}
    assert len(folded) == len(names)
    allowed = set(string.ascii_letters + string.digits + "._-")
    for one in ids.values():
        assert set(one) <= allowed
        assert 1 <= len(one) <= 60
        assert one[0] not in ".-"
        assert one[-1] not in ".-"
        assert not is_ignored(one)


def _measured(folder: Path, source: Path, memory: int = 0) -> tuple[int, str, int]:
    """Import in a process of its own: exit code, errors, and the most megabytes that it took."""
    code = (
        "import resource, sys; from quem.cli import run\n"
        f"if {memory}: resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))\n"
        f"sys.argv = ['quem', 'init', {str(folder)!r}, '--from', {str(source)!r}]\n"
        "try: run()\n"
        # Not `ru_maxrss`, which counts the process that started this one.
        "finally: print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0][:-3])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr, int(ran.stdout.splitlines()[-1])


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory as Linux counts it")


@linux
def test_a_log_takes_little_memory(tmp_path: Path) -> None:
    """A small log of many samples with many messages is read sample by sample."""
    many = [{"role": "assistant", "content": "x"} for _ in range(20_000)]
    samples = []
    for number in range(60):
        one = sample(number, 1, f"Answer {number}.")
        samples.append({**one, "messages": [*one["messages"], *many]})
    source = write_eval(tmp_path / "log.eval", "m", samples, packed=False)
    with zipfile.ZipFile(source) as archive:
        unpacked = sum(part.file_size for part in archive.infolist()) / 1_000_000
    code, errors, megabytes = _measured(tmp_path / "study", source)
    assert (code, unpacked > 40) == (0, True), errors
    assert megabytes < 150 + 4 * unpacked


def write_json_log(path: Path, samples: list[dict[str, Any]]) -> Path:
    """Write a log as one JSON text, after its packed form."""
    packed = write_eval(path.with_suffix(".eval"), "m", samples, packed=False)
    with zipfile.ZipFile(packed) as archive:
        header = json.loads(archive.read("header.json"))
    packed.unlink()
    path.write_text(json.dumps({**header, "samples": samples}))
    return path


@linux
@pytest.mark.parametrize("form", ["log.json", "wide.csv", "sparse.csv", "long.csv"])
def test_a_file_takes_little_memory(tmp_path: Path, form: str) -> None:
    """Neither many messages of a log nor many columns or rows of a table take much."""
    source = tmp_path / form
    if form == "log.json":
        many = [{"role": "assistant", "content": "x"} for _ in range(20_000)]
        write_json_log(source, [{**sample(n, 1, f"A {n}."), "messages": many} for n in range(60)])
    elif form == "long.csv":
        rows = [f"p{n // 6},s{n % 6},{'word ' * 250}{n}" for n in range(12_000)]
        source.write_text("\n".join(["problem,solver,answer", *rows]))
    else:
        columns, every = (3_000, 1) if form == "wide.csv" else (30_000, 1_000)
        rows = [
            ",".join([f"p{n}", *("an answer" if i % every == 0 else "" for i in range(columns))])
            for n in range(6)
        ]
        source.write_text("\n".join([",".join(["problem", *map(str, range(columns))]), *rows]))
    code, errors, megabytes = _measured(tmp_path / "study", source)
    assert code == 0, errors
    assert megabytes < 150 + 4 * source.stat().st_size / 1_000_000


def test_a_table_of_too_many_solutions(tmp_path: Path) -> None:
    """A study has at most 200,000; more are refused in one sentence, before anything is written."""
    source = tmp_path / "answers.csv"
    source.write_text(
        "problem,solver,answer\n" + "".join(f"p{n // 2},s{n},a\n" for n in range(900))
    )
    assert "answers.csv: has 450 problems and 900 solvers" in refusal(tmp_path / "study", source)


@pytest.mark.parametrize("text", ["", "[]", '{"eval": {"model": 1}, "samples": [', '{"eval" 1'])
def test_damaged_logs_in_json(tmp_path: Path, text: str) -> None:
    """A log that ends too early is refused; what does not begin like one is no log."""
    source = tmp_path / "log.json"
    source.write_text(text)
    assert "log.json" in refusal(tmp_path / "study", source)


def test_a_log_that_unpacks_to_too_much(tmp_path: Path) -> None:
    """One sentence refuses it before it is unpacked."""
    source = tmp_path / "bomb.eval"
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(11):
            archive.writestr(f"samples/{number}_epoch_1.json", b" " * 100_000_000)
    assert "bomb.eval: unpacks to more than 1,000 MB" in refusal(tmp_path / "study", source)


@pytest.mark.parametrize("name", ["answers.csv", "answers.jsonl", "samples_a.jsonl"])
def test_a_table_that_is_too_large(tmp_path: Path, name: str) -> None:
    """One sentence refuses it before it is read."""
    source = tmp_path / name
    with source.open("wb") as file:
        file.write(b'{"doc_id":0,"doc":{},"arguments":[],"resps":[],"filtered_resps":[]}\n')
        file.truncate(1_000_000_001)
    assert f"{name}: is larger than 1 GB" in refusal(tmp_path / "study", source)


def test_long_answers_in_a_table(tmp_path: Path) -> None:
    """A cell may be as long as an answer."""
    source = tmp_path / "answers.csv"
    rows = [f'p{n},s{solver},"{"word " * 40_000}"' for n in range(2) for solver in range(2)]
    source.write_text("\n".join(["problem,solver,answer", *rows]))
    assert made(tmp_path / "study", source) == (2, 2, 4)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
def test_too_little_memory_is_no_bug(tmp_path: Path) -> None:
    """A table for which the memory does not suffice ends in one sentence."""
    source = tmp_path / "answers.csv"
    source.write_text("problem,solver,answer\n" + f"p,s,{'word' * 250}\n" * 400_000)
    code, errors, _ = _measured(tmp_path / "study", source, memory=1_200_000_000)
    assert (code, "error: there is not enough memory" in errors) == (1, True), errors
