"""How each command ends: exit code, what it says where, what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import quem
from tests.examples import long_csv, study_with
from tests.patience import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Outcome

READ = "found: 6 subjects, 1 system, 2 judges, 2 problems, 28 ranks"


def test_check_says_that_a_study_has_no_mistakes(
    quem_command: Callable[..., Outcome], make_study: Callable[..., Path]
) -> None:
    """A right study gives exit 0 and a line on stdout, and nothing is written."""
    path = make_study(study_with(analysis={"reference_population": {"years": [0, 15]}}))
    before = sorted(path.parent.iterdir())
    code, out, err = quem_command("check", path)
    assert (code, out, err) == (0, f"{path}: no errors, no warnings\n{READ}\n", "")
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize("command", ["check", "analyze", "analyze --json", "analyze --out new"])
def test_mistakes_end_with_1_and_write_nothing(
    command: str, quem_command: Callable[..., Outcome], make_study: Callable[..., Path]
) -> None:
    """Every mistake is a line on stderr; there is no result, no traceback and no file."""
    table = long_csv().replace("J1,P1,S2,3", "J1,P1,S2,three")
    path = make_study(study_with(titel="x"), rankings__csv=table)
    before = sorted(path.parent.rglob("*"))
    name, *options = command.split()
    options = [str(path.parent / "new") if word == "new" else word for word in options]
    code, out, err = quem_command(name, path, *options)
    assert (code, out) == (1, "")
    assert [line.split(": ")[:3] for line in err.splitlines()] == [
        ["error", f"{path}:{len(path.read_text().splitlines()) - 1}:2", "titel"],
        ["error", f"{path.parent / 'rankings.csv'}:3:4", "rank"],
    ]
    assert sorted(path.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("analyze", "Missing argument 'STUDY'"),
        ("chekc x", "No such command 'chekc'"),
        ("check a b", "unexpected extra argument"),
        ("analyze x --levle 1", "No such option"),
        ("analyze x --level 95", "95 is not between 0 and 1; 95 percent is written 0.95"),
        ("analyze x --level nan", "is not between 0 and 1"),
        ("analyze x --form cubist", "'cubist' is not one of 'linear'"),
        ("analyze x --years-error -1", "must be 0 or more"),
        ("analyze x --at-least inf", "inf is not a finite number"),
        ("analyze x --at-least -5", "-5 is not a finite number, 0 or more"),
        ("analyze x --level 2", "2 is not between 0 and 1\n"),
    ],
)
def test_wrong_usage_ends_with_2(
    words: str, message: str, quem_command: Callable[..., Outcome]
) -> None:
    """A command that cannot be meant is told with its usage on stderr."""
    code, out, err = quem_command(*words.split())
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("Usage: quem")


@pytest.mark.parametrize("words", [["--help"], ["check", "-h"], ["--version"]])
def test_help_and_version_end_with_0(
    words: list[str], quem_command: Callable[..., Outcome]
) -> None:
    """Help and version are results: on stdout, with exit 0."""
    code, out, err = quem_command(*words)
    assert (code, err) == (0, "")
    assert out.startswith(f"quem, version {quem.__version__}" if "--v" in words[0] else "Usage:")


def test_a_bug_ends_with_3_and_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch,
    quem_command: Callable[..., Outcome],
    make_study: Callable[..., Path],
) -> None:
    """What is no user's mistake says so, with the lines that a report needs."""

    def broken(_: object, **__: object) -> None:
        raise RuntimeError("a bolt is loose")

    monkeypatch.setattr("quem.rankings.loading.load_study", broken)
    code, out, err = quem_command("check", make_study(study_with()))
    assert (code, out) == (3, "")
    assert "RuntimeError: a bolt is loose" in err
    assert err.endswith("This is a bug in quem; please report it with the lines above.\n")


def test_ctrl_c_ends_with_130() -> None:
    """Interrupted while it works, the command says so and nothing else."""
    waiting = (
        "import sys, time, quem.studyfile.reading as reading; from quem.cli import run; "
        "reading.kind_of = lambda _: print('works', flush=True) or time.sleep(600); "
        "sys.argv = ['quem', 'check', 'study.yaml']; run()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", waiting],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "works\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "Interrupted."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_is_no_study_file(tmp_path: Path, quem_command: Callable[..., Outcome]) -> None:
    """What might never end is refused, and not waited for."""
    pipe = tmp_path / "study.yaml"
    os.mkfifo(pipe)
    code, _, err = quem_command("check", pipe)
    assert code == 1
    assert err == f"error: {pipe}: is not a regular file; save the study file as one\n"


def test_out_is_a_folder_and_not_for_json(
    quem_command: Callable[..., Outcome], make_study: Callable[..., Path]
) -> None:
    """An --out that is empty, or that --json would ignore, is wrong usage."""
    path = make_study(study_with())
    code, _, err = quem_command("analyze", path, "--out", "")
    assert code == 2
    assert "is empty; name a folder" in err
    code, _, err = quem_command("analyze", path, "--json", "--out", path.parent / "new")
    assert code == 2
    assert "--json writes nothing, so it takes no --out" in err
    assert not (path.parent / "new").exists()


@pytest.mark.parametrize(
    ("uv", "named"), [("tools/uv", "tools/uv run quem"), ("/elsewhere/uv", "uv run quem")]
)
def test_what_to_run_next_by_the_uv_of_a_checkout(
    tmp_path: Path,
    quem_command: Callable[..., Outcome],
    monkeypatch: pytest.MonkeyPatch,
    uv: str,
    named: str,
) -> None:
    """It names the command that works there, as quem is not on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV", str(tmp_path / uv))
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    _, _, err = quem_command("init", "my-study")
    assert f"Next: {named} analyze my-study/study.yaml" in err


def test_init_names_a_folder_with_spaces_so_that_a_shell_reads_it(
    tmp_path: Path, quem_command: Callable[..., Outcome]
) -> None:
    """The next command can be pasted, and a file in the way is told without --out."""
    _, _, err = quem_command("init", tmp_path / "my study")
    assert f"Next: quem analyze '{tmp_path / 'my study' / 'study.yaml'}'" in err
    (tmp_path / "taken").write_text("")
    _, _, err = quem_command("init", tmp_path / "taken" / "below")
    assert "--out" not in err
    _, _, err = quem_command("init", tmp_path / "taken")
    assert "report" not in err


def test_a_reader_that_leaves_is_no_bug(tmp_path: Path) -> None:
    """The end of a pipe, as by `head`, is not told as a mistake."""
    subprocess.run(
        [sys.executable, "-m", "quem", "init", tmp_path], check=True, capture_output=True
    )
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "quem", "analyze", tmp_path / "study.yaml", "--json"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_init_writes_a_study_that_analyses_as_it_is(
    tmp_path: Path, quem_command: Callable[..., Outcome]
) -> None:
    """The study of `init` has neither mistakes nor warnings, and explains itself."""
    folder = tmp_path / "new" / "study"
    code, out, err = quem_command("init", folder)
    assert (code, out) == (0, "")
    assert f"Next: quem analyze {folder / 'study.yaml'}" in err
    assert sorted(path.name for path in folder.iterdir()) == ["rankings.csv", "study.yaml"]
    assert (folder / "study.yaml").read_text().startswith("# A QUEM study")
    assert quem_command("check", folder / "study.yaml")[0] == 0
    analysis = quem.analyze(quem.load_study(folder / "study.yaml", kind="experience"))
    assert {one.code for one in analysis.warnings} == {"no-reference"}
    assert list(analysis.estimates["system"]) == ["assistant"]


def test_init_never_overwrites(tmp_path: Path, quem_command: Callable[..., Outcome]) -> None:
    """A folder that holds a file of that name is refused, and nothing is written."""
    (tmp_path / "rankings.csv").write_text("mine")
    code, out, err = quem_command("init", tmp_path)
    assert (code, out) == (1, "")
    assert err == f"error: {tmp_path}: already holds rankings.csv; name another folder\n"
    assert (tmp_path / "rankings.csv").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["rankings.csv"]


@pytest.mark.parametrize("command", ["init", "analyze --out"])
def test_a_file_in_the_place_of_a_folder_is_a_mistake(
    command: str, quem_command: Callable[..., Outcome], make_study: Callable[..., Path]
) -> None:
    """What should be a folder and is a file is told, before any work is done."""
    path = make_study(study_with())
    taken = path.parent / "rankings.csv"
    name, *options = command.split()
    words = [name, *([path] if options else []), *options, taken]
    code, out, err = quem_command(*words)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {taken}: is a file")
    code, _, err = quem_command(*words[:-1], taken / "below")
    assert code == 1
    assert err.startswith(f"error: {taken / 'below'}: cannot be written")
