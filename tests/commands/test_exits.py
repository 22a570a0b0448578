"""How each command ends: exit code, what it says where, what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import quem
from quem.kinds import KINDS
from tests.examples import long_csv, study_with
from tests.options.made import study_in
from tests.patience import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Command

READ = "found: 6 subjects, 1 system, 2 judges, 2 problems, 28 ranks"
QUEM = (sys.executable, "-m", "quem")


def process(*words: object, stdout: object, **env: str) -> tuple[int, bytes, str]:
    """Run quem as a process with an output of its own."""
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
    """A right study gives exit 0 and a line on stdout, and nothing is written."""
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
    """A bug is reported as such, with its traceback."""

    def broken(_: object, **__: object) -> None:
        raise RuntimeError("a bolt is loose")

    monkeypatch.setattr("quem.rankings.loading.load_study", broken)
    code, out, err = run("check", make_study(study_with()))
    assert (code, out) == (3, "")
    assert "RuntimeError: a bolt is loose" in err
    assert err.splitlines()[-1].startswith("This is a bug in quem")


def test_ctrl_c_ends_with_130() -> None:
    """Interrupted while it works, the command says so and nothing else."""
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
    """The lines of stderr without warnings."""
    return [line for line in err.splitlines() if not line.startswith("warning: ")]


def test_outputs_that_do_not_take_everything(make_study: Callable[..., Path]) -> None:
    """Poor encodings, a full disk, and a pipe whose reader left, as `head` does."""
    study = make_study(study_with(title="Ω and Ж"))
    words = ("analyze", study, "--figures", "none", "--tables", "none")
    code, out, err = process(*words, stdout=subprocess.PIPE, PYTHONIOENCODING="latin-1")
    assert code == 0, err
    assert out.startswith(b"? and ?")
    assert b"years = -1.67 + 1.92" in out
    json_words = ("analyze", study, "--json")
    _, out, _ = process(*json_words, stdout=subprocess.PIPE, PYTHONIOENCODING="ascii")
    assert json.loads(out)["study"]["title"] == "Ω and Ж"
    with open("/dev/full", "wb") as full:  # noqa: PTH123  a device
        code, _, err = process("check", study, stdout=full)
    assert (code, said(err)) == (
        1,
        ["error: the output cannot be written: No space left on device"],
    )
    reading, writing = os.pipe()
    os.close(reading)
    code, _, err = process(*json_words, stdout=writing)
    os.close(writing)
    assert (code, said(err)) == (0, [])


def test_a_pipe_is_no_study_file(tmp_path: Path, run: Command) -> None:
    """Pipes are refused at once."""
    pipe = tmp_path / "study.yaml"
    os.mkfifo(pipe)
    assert run("check", pipe).refuses(f"error: {pipe}: is not a regular file")


@pytest.mark.parametrize("command", ["init", "analyze --out"])
def test_a_file_in_the_place_of_a_folder_is_a_mistake(
    command: str, run: Command, make_study: Callable[..., Path]
) -> None:
    """A file in place of a folder is an error before any work."""
    path = make_study(study_with())
    taken = path.parent / "rankings.csv"
    name, *options = command.split()
    words = [name, *([path] if options else []), *options]
    assert run(*words, taken).refuses(f"error: {taken}: is a file")
    below = taken / "below"
    assert run(*words, below).refuses(f"error: {below}: cannot be written")


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_of_each_kind_can_be_started(kind: str, run: Command, tmp_path: Path) -> None:
    """Studies by `init` are valid, can be analyzed, and are not overwritten."""
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
    """It never replaces one."""
    assert "quarto render" in run("init", tmp_path, "--report").err
    assert "format:" in (tmp_path / "report.qmd").read_text()
    assert run("init", tmp_path, "--report").refuses("already holds report.qmd")


@pytest.mark.parametrize(
    ("uv", "named"), [("tools/uv", "tools/uv run quem"), ("/elsewhere/uv", "uv run quem")]
)
def test_what_to_run_next_by_the_uv_of_a_checkout(
    tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch, uv: str, named: str
) -> None:
    """It names the command that works there, as quem is not on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV", str(tmp_path / uv))
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert f"Next: {named} analyze my-study/study.yaml" in run("init", "my-study").err


@pytest.mark.parametrize("words", ["serve", "links judges", "export", "import", "plan"])
def test_commands_of_another_kind_refuse(words: str, run: Command, tmp_path: Path) -> None:
    """One message says of what kind the study is, and nothing is written."""
    path = study_in(tmp_path)
    (tmp_path / "archive.jsonl").write_text("")
    before = sorted(tmp_path.iterdir())
    more = [tmp_path / "archive.jsonl"] if words == "import" else []
    outcome = run(*words.split(), path, *more)
    assert outcome.refuses(f"error: {path}:2:10: kind: this is an options study")
    assert outcome.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_python_refuses_what_a_kind_has_not(tmp_path: Path) -> None:
    """Sources and planning of another kind are named in the error."""
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
    """With those that are known, and the one that was probably meant."""
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
    """Threads of small matrices only wait for each other; who sets a number keeps it."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert run("--version").code == 0
    assert os.environ.get("OMP_NUM_THREADS") == threads
