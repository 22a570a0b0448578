"""How commands end, what is wrong usage of them, and what a newcomer sees."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import quem
from quem.cli import FORMER, main
from quem.kinds import KINDS
from tests.examples import long_csv, study_with
from tests.options.made import study_in
from tests.patience import SECONDS
from tests.scores.made import write_retrievers
from tests.served import write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.commands.conftest import Command

READ = "found: 6 subjects, 1 system, 2 judges, 2 problems, 28 ranks"
QUEM = (sys.executable, "-m", "quem")


def process(*words: object, stdout: object, **env: str) -> tuple[int, bytes, str]:
    done = subprocess.run(
        [*QUEM, *map(str, words)],
        check=False,
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        env={**os.environ, **env},
    )
    return done.returncode, done.stdout, done.stderr.decode()


def test_check_says_that_a_study_has_no_mistakes(
    run: Command, make_study: Callable[..., Path]
) -> None:
    path = make_study(study_with(analysis={"reference_population": {"years": [0, 15]}}))
    before = sorted(path.parent.iterdir())
    assert run("check", path) == (0, f"{path}: no errors, no warnings\n{READ}\n", "")
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize("words", ["check", "analyze", "analyze --json", "analyze --out new"])
def test_mistakes_end_with_1_and_write_nothing(
    words: str, run: Command, make_study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every mistake is a line on stderr; there is no result, no traceback and no file."""
    table = long_csv().replace("J1,P1,S2,3", "J1,P1,S2,three")
    path = make_study(study_with(titel="x"), rankings__csv=table)
    monkeypatch.chdir(path.parent)
    before = sorted(path.parent.rglob("*"))
    name, *options = words.split()
    code, out, err = run(name, path, *options)
    assert (code, out) == (1, "")
    assert [line.split(": ")[:3] for line in err.splitlines()] == [
        ["error", f"{path}:{len(path.read_text().splitlines()) - 1}:2", "titel"],
        ["error", f"{path.parent / 'rankings.csv'}:3:4", "rank"],
    ]
    assert sorted(path.parent.rglob("*")) == before


def test_a_bug_ends_with_3_and_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, run: Command, make_study: Callable[..., Path]
) -> None:

    def broken(_: object, **__: object) -> None:
        raise RuntimeError("a bolt is loose")

    monkeypatch.setattr("quem.rankings.loading.load_study", broken)
    code, out, err = run("check", make_study(study_with()))
    assert (code, out) == (3, "")
    assert "RuntimeError: a bolt is loose" in err
    assert err.splitlines()[-1].startswith("This is a bug in quem")


def test_ctrl_c_ends_with_130() -> None:
    waiting = (
        "import sys, time, quem.studyfile.reading as reading; from quem.cli import run; "
        "reading.kind_of = lambda _: print('works', flush=True) or time.sleep(600); "
        "sys.argv = ['quem', 'check', 'study.yaml']; run()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", waiting], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as working:
        assert working.stdout is not None
        assert working.stdout.readline() == "works\n"
        working.send_signal(signal.SIGINT)
        out, err = working.communicate(timeout=SECONDS)
    assert (working.returncode, out, err.strip()) == (130, "", "Interrupted.")


def said(err: str) -> list[str]:
    return [line for line in err.splitlines() if not line.startswith("warning: ")]


def test_outputs_that_do_not_take_everything(make_study: Callable[..., Path]) -> None:
    """Poor encodings, a full disk, and a pipe whose reader left, as `head` does."""
    study = make_study(study_with(title="Ω and Ж"))
    moved = study.rename(study.with_name("Ω.yaml"))
    code, out, err = process("check", moved, stdout=subprocess.PIPE, PYTHONIOENCODING="latin-1")
    assert (code, b"/?.yaml: no errors" in out) == (0, True), err
    words = ("analyze", moved, "--json")
    _, out, _ = process(*words, stdout=subprocess.PIPE, PYTHONIOENCODING="ascii")
    assert json.loads(out)["study"]["title"] == "Ω and Ж"
    with open("/dev/full", "wb") as full:  # noqa: PTH123  a device
        code, _, err = process("check", moved, stdout=full)
    assert (code, said(err)) == (
        1,
        ["error: the output cannot be written: No space left on device"],
    )
    reading, writing = os.pipe()
    os.close(reading)
    code, _, err = process("check", moved, stdout=writing)
    os.close(writing)
    assert (code, said(err)) == (0, [])


def test_a_pipe_is_no_study_file(tmp_path: Path, run: Command) -> None:
    pipe = tmp_path / "study.yaml"
    os.mkfifo(pipe)
    assert run("check", pipe).refuses(f"error: {pipe}: is not a regular file")


@pytest.mark.parametrize("command", ["init", "analyze --out"])
def test_a_file_in_the_place_of_a_folder_is_a_mistake(
    command: str, run: Command, make_study: Callable[..., Path]
) -> None:
    path = make_study(study_with())
    taken = path.parent / "rankings.csv"
    name, *options = command.split()
    words = [name, *([path] if options else []), *options]
    assert run(*words, taken).refuses(f"error: {taken}: is a file")
    below = taken / "below"
    assert run(*words, below).refuses(f"error: {below}: cannot be written")


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_of_each_kind_can_be_started(kind: str, run: Command, tmp_path: Path) -> None:
    code, out, err = run("init", "--kind", kind, tmp_path / "my study")
    path = tmp_path / "my study" / "study.yaml"
    assert (code, out) == (0, "")
    assert err.endswith(f"Next: quem analyze '{path}'\n")
    assert run("check", path).code == 0
    assert run("analyze", path, "--json").code == 0
    before = path.read_bytes()
    assert run("init", "--kind", kind, path.parent).refuses("already holds")
    assert path.read_bytes() == before


def test_init_adds_a_page_of_quarto_once(run: Command, tmp_path: Path) -> None:
    assert "quarto render" in run("init", tmp_path, "--report").err
    assert "format:" in (tmp_path / "report.qmd").read_text()
    assert run("init", tmp_path, "--report").refuses("already holds report.qmd")


@pytest.mark.parametrize("words", ["serve", "links judges", "export", "import", "plan"])
def test_commands_of_another_kind_refuse(words: str, run: Command, tmp_path: Path) -> None:
    path = study_in(tmp_path)
    (tmp_path / "archive.jsonl").write_text("")
    before = sorted(tmp_path.iterdir())
    more = [tmp_path / "archive.jsonl"] if words == "import" else []
    outcome = run(*words.split(), path, *more)
    assert outcome.refuses(f"error: {path}:2:10: kind: this is an options study")
    assert outcome.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_python_refuses_what_a_kind_has_not(tmp_path: Path) -> None:
    path = study_in(tmp_path)
    with pytest.raises(TypeError, match="a study of kind options has no database"):
        quem.load_study(path, database="x.db")
    study = quem.load_study(path, kind="options")
    with pytest.raises(TypeError, match="takes an experience study, and this is of kind opt"):
        quem.plan(study)  # type: ignore[arg-type]
    with pytest.raises(quem.QuemError, match="is there for the kind experience"):
        quem.load_study(path, kind="experience")
    with pytest.raises(quem.QuemError, match="form: unknown setting"):
        quem.analyze(study, form="log")


def test_an_unknown_kind_is_named(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("kind: option\n")
    assert run("analyze", path).refuses(*KINDS, "did you mean options?")


@pytest.mark.parametrize(
    ("given", "threads"),
    [({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3"), ({"MKL_NUM_THREADS": "2"}, None)],
)
def test_linear_algebra_uses_one_thread(
    run: Command, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], threads: str | None
) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert run("--version").code == 0
    assert os.environ.get("OMP_NUM_THREADS") == threads


ROOT = Path(__file__).resolve().parents[2]
SHIPPED = {
    "p3": ROOT / "studies/p3-1997/study.yaml",
    "bikes": ROOT / "studies/ccbr/bikes.yaml",
}
MOST_SHOWN = 12
WRONG = {
    "analyze x --levle 1": "No such option",
    "analyze x --level 95": "95 is not between 0 and 1; 95 percent is",
    "analyze x --form cubist": "'cubist' is not one of",
    "analyze x --years-error -1": "must be 0 or more",
    "analyze x --at-least inf": "inf is not a finite number",
    "analyze {p3} --out ''": "is empty; name a folder",
    "analyze {p3} --json --out new": "--json writes nothing, so it takes no --out",
    "analyze {p3} --tables none,csv": "none leaves no other format",
    "analyze {p3} --tables csv --json": "--json writes nothing, so it takes no --tables",
    "analyze {p3} --figures jpeg": "'jpeg' is not one of",
    "analyze {p3} --figures svg --dpi 300": "--dpi is for figures as png",
    "analyze {p3} --data x": "--data is not for a study of kind experience",
    "analyze {bikes} --form log": "--form is not for a study of kind dialogue",
    "analyze {options} --at-least 3": "--at-least is not for a study of kind options",
    "check {options} --database x.db": "--database is not for a study of kind options",
    "compare x --level 95": "95 percent is written 0.95",
    "compare x --seed 1": "--seed is not for a study of kind experience",
    "compare x.yaml B --systems A": "there is no study B; each system takes",
    "compare {retrieval} --jobs 2": "--jobs is not for a study of kind retrieval",
    "plan --subjects many": "'many' is not a number such as 12",
    "plan --subjects 2-8": "Invalid value for '--subjects': must be 3 or more",
    "plan --judges 5-2": "'5-2' is not a rising range",
    "plan --problems 3,": "'' is not a number",
    "plan --experience 12": "Invalid value for '--experience'",
    "plan --experience 9-2": "must increase from least to most",
    "plan --width 0": "0 is not a finite number above 0",
    "plan --person -1": "-1 is not a finite number, 0 or more",
    "plan --json --out x": "--json writes nothing, so it takes no --out",
    "plan s.yaml --noise low": "a pilot gives the SDs; leave --noise out",
    "score qrels.txt a.run --judges 1": "--judges is for a --pool",
    "backup {judged}": "give either --to FOLDER",
    "backup {judged} --restore b --every 5m": "give either --to FOLDER",
    "backup {judged} --to a --replace": "--replace belongs to --restore",
    "backup {judged} --to a --every 5": "write one such as 90s",
    "export {judged} --pseudonyms": "--archive",
    "links strangers {judged}": "'strangers' is not one of",
    "links judges {judged} --name Ada": "--name",
    "links judges {judged} --reissue J1 --revoke J1": "J1",
    "links judges {judged} --erase J1 --reissue J1": "J1",
    "links judges {judged} --mail --erase J1": "--mail",
    "links judges {judged} --dry-run": "--dry-run",
    "links organizers {judged} --mail": "--mail",
    "links organizers {judged} --erase organizer": "--erase",
    "links organizers {judged} --add amy --experience 3": "--experience",
    "serve --demo study.yaml": "leave out STUDY",
    "serve --demo --database x": "leave out --database",
    "serve --demo --url https://a.org": "leave out --url",
    "init new --report --kind options": "--report is for studies",
    "init new --dry-run": "--dry-run",
    "init new --judging --kind options": "--judging is for studies",
} | {
    f"{name} study.yaml": f"is now quem {FORMER[name]}"
    for name in FORMER
    if name not in main.commands
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage_ends_with_2(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    makers: dict[str, Callable[[Path], Path]] = {
        "options": study_in,
        "judged": write_judging_study,
        "retrieval": lambda folder: write_retrievers(folder, "one", {"a": 0.3}, queries=2),
    }
    studies = SHIPPED | {name: make(tmp_path) for name, make in makers.items() if name in words}
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    outcome = run(*shlex.split(words.format_map(studies)))
    assert outcome.refuses(WRONG[words], code=2)
    assert sorted(tmp_path.rglob("*")) == before


def commands() -> Iterator[tuple[str, click.Command]]:
    for name, command in main.commands.items():
        if isinstance(command, click.Group):
            for one in command.commands.values():
                yield f"{name} {one.name}", one
        else:
            yield name, command


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_help_fits_a_screen(name: str, run: Command) -> None:
    helps = {"--help", "--help-all"}
    counts = []
    for words in ("-h", "--help-all"):
        code, out, err = run(*name.split(), words)
        if words == "-h":
            assert (code, err) == (0, "")
        lines = out.partition("\nOptions:\n")[2].splitlines()
        shown = [line.replace(",", "").split()[:2] for line in lines if line.startswith("  -")]
        counts.append(len([found for found in shown if not helps & {*found}]))
    command = dict(commands())[name]
    params = command.get_params(click.Context(command))
    options = [one for one in params if isinstance(one, click.Option) and not one.hidden]
    every = [one for one in options if not helps & {*one.opts}]
    assert counts[0] <= MOST_SHOWN
    assert max(counts) == len(every)


def test_the_version_is_printed(run: Command) -> None:
    assert run("--version") == (0, f"quem, version {quem.__version__}\n", "")
