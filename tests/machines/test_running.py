"""Runs of fake machine judges, as a command and as a service, through `quem judge`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from quem.cli import main
from quem.errors import QuemError
from quem.studyfile.runs import read_runs
from tests.machines.fakes import SECRET, serving
from tests.patience import until

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.studyfile.runs import Run

FAKES = Path(__file__).with_name("fakes.py")
SOLVERS = ("S1", "S2", "S3", "S4", "sys")
PROBLEMS = ("P1", "P2", "P3")


def study_for(folder: Path, machine: str, settings: str = "{}") -> Path:
    """Write a study with solutions whose quality is known, and one machine judge: 6 calls."""
    lines = ["id: fakes", "title: Fakes", "judges: [{id: J1}]", "systems: [{id: sys}]"]
    lines += ["problems:", *(f"  - {{id: {problem}}}" for problem in PROBLEMS)]
    lines += ["subjects:", *(f"  - {{id: S{n}, experience: {n}}}" for n in range(1, 5))]
    lines += [f"machine: {settings}", f"machines: [{{id: M1, per_minute: 100000, {machine}}}]"]
    quality = qualities()
    for at, solver in np.ndenumerate(np.broadcast_to(SOLVERS, quality.shape)):
        solution = folder / "solutions" / PROBLEMS[at[0]] / f"{solver}.txt"
        solution.parent.mkdir(parents=True, exist_ok=True)
        solution.write_text(f"quality {quality[at]}\n{'word ' * 100}", "utf-8")
    path = folder / "study.yaml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def qualities() -> NDArray[np.float64]:
    return np.random.default_rng(4).normal(0, 1, (len(PROBLEMS), len(SOLVERS)))


def command(kind: str, *arguments: str) -> str:
    return f"command: {json.dumps([sys.executable, str(FAKES), kind, *arguments])}"


def judged(path: Path, *options: str) -> tuple[int, str]:
    """Run `quem judge`; gives its exit code, and all that it printed, on one line."""
    done = CliRunner().invoke(main, ["judge", str(path), *options])
    said = [done.output]
    if isinstance(done.exception, QuemError):
        said += map(str, done.exception.mistakes)
    else:
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, " ".join(" ".join(said).split())


def runs(path: Path) -> list[Run]:
    return read_runs(path, "fakes", "M1")


def kept(path: Path) -> dict[str, str]:
    folder = path.parent / "machines"
    return {one.name: one.read_text("utf-8") for one in folder.rglob("*") if one.is_file()}


def by_quality(path: Path) -> bool:
    run, best = runs(path)[-1], (-qualities()).argsort(-1)
    assert len(run.calls) == 6
    return all(
        call.ranked == tuple((SOLVERS[s],) for s in best[PROBLEMS.index(call.problem)])
        for call in run.calls
    )


def test_a_command_from_a_dry_run_to_damaged_transcripts(tmp_path: Path) -> None:
    path = study_for(tmp_path, command("fair"))
    code, said = judged(path, "--dry-run")
    assert (code, f"given to the program {sys.executable}" in said, kept(path)) == (0, True, {})
    assert "undecided" not in said
    # Names in the texts are sent, so they are named; the answers stay those of the texts.
    named = study_for(tmp_path / "named", command("fair"))
    text = named.read_text("utf-8").replace("{id: sys}", "{id: sys, name: Deep Blunder}")
    named.write_text(text, "utf-8")
    (named.parent / "solutions/P1/S1.txt").write_text("quality 1, unlike Deep Blunder\n", "utf-8")
    code, said = judged(named, "--dry-run")
    assert "warning: identity: " in said
    assert "stay here; undecided words above may be sent" in said
    # Nothing counts before all calls are made; later commands go on.
    code, said = judged(path, "--max-calls", "5")
    assert (code, "5 requests sent" in said, runs(path)) == (1, True, [])
    code, said = judged(path)
    assert (code, "1 request sent" in said) == (0, True)
    (run,), files = runs(path), kept(path)
    assert by_quality(path)
    # Answers are never requested twice.
    for options in ((), ("--replay",)):
        code, said = judged(path, *options)
        assert (code, "0 requests sent" in said, kept(path)) == (0, True, files)
    assert len(files) == len(run.calls) + 1
    for call in run.calls:
        request = json.dumps(json.loads(files[f"{call.key}.json"])["request"])
        assert not any(solver in request for solver in SOLVERS)
    key = run.calls[3].key
    damaged = tmp_path / "machines/M1" / key[:2] / f"{key}.json"
    for rest in (damaged.read_bytes()[:100], b"\xff\xfe", b"[]"):
        damaged.write_bytes(rest)
        code, said = judged(path, "--replay")
        assert (code, f"{damaged.name}: is damaged" in said) == (1, True), said
    damaged.unlink()
    assert judged(path, "--replay")[0] == 1
    assert "1 request sent" in judged(path)[1]


@pytest.mark.parametrize(
    ("kind", "status", "requests", "attempts"),
    [
        ("fair", "ok", 6, 1),
        ("chatty", "ok", 6, 1),
        ("malformed-once", "ok", 12, 2),
        ("busy", "ok", 18, 1),
        ("500 once", "ok", 7, 1),
        ("no seed", "ok", 7, 1),
        ("malformed", "invalid", 18, 3),
        ("cut off", "invalid", 18, 3),
        ("refuses", "refused", 6, 1),
        ("declines", "refused", 6, 1),
        ("filtered", "refused", 6, 1),
    ],
)
def test_services_that_answer(
    tmp_path: Path, kind: str, status: str, requests: int, attempts: int
) -> None:
    """Unreadable answers are retried twice, refusals never; no rank is invented."""
    with serving(kind) as service:
        path = study_for(tmp_path, f"url: {service.url}, model: fake, concurrency: 1")
        code, said = judged(path, "--dry-run")
        assert (code, service.requests, kept(path)) == (0, [], {})
        assert "M1: 6 calls for 3 problems" in said
        assert "names, experience, and rankings stay here" in said
        for options in ((), ("--replay",)):
            assert judged(path, *options)[0] == 0
            assert len(service.requests) == requests
        again = [one["messages"][1]["content"] for one in service.requests if "seed" in one]
        told = sum("Your last answer could not be read" in one for one in again)
        assert told == 6 * (attempts - 1)
    (run,) = runs(path)
    assert Counter(call.status for call in run.calls) == {status: 6}
    assert {call.attempts for call in run.calls} == {attempts}
    assert by_quality(path) if status == "ok" else not any(call.ranked for call in run.calls)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("401", "answered HTTP 401: no such key: ***"),
        ("redirecting", "redirects (HTTP 302), which is not followed"),
        ("huge", "the answer is longer than 4 MB"),
        ("no JSON", "answered with something else than a chat completion"),
    ],
)
def test_services_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, message: str
) -> None:
    """One message, exit code 1, no run; the key is nowhere but in the header."""
    monkeypatch.setenv("QUEM_M1_KEY", f"{SECRET}\n")
    with serving(kind) as service:
        path = study_for(tmp_path, f"url: {service.url}, model: fake, key_env: QUEM_M1_KEY")
        code, said = judged(path)
        assert (code, message in said, SECRET in said) == (1, True, False)
        assert service.keys == {f"Bearer {SECRET}"}
    assert runs(path) == []
    assert kept(path)
    assert SECRET not in "".join(kept(path).values())


@pytest.mark.parametrize("key", ["", "sk with blanks", "sk-ü"])
def test_what_is_no_key_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("QUEM_M1_KEY", SECRET)
    with serving("fair") as service:
        path = study_for(tmp_path, f"url: {service.url}, model: fake, key_env: QUEM_M1_KEY")
        assert judged(path, "--max-calls", "3")[0] == 1
        monkeypatch.setenv("QUEM_M1_KEY", key)
        code, said = judged(path)
        assert (code, "M1 needs its key in the environment" in said) == (1, True)
        assert not key or key not in said
        code, said = judged(path, "--replay")
        assert (code, "QUEM_M1_KEY" in said, len(service.requests)) == (1, False, 3)


@pytest.mark.parametrize("kind", ["odd answer once", "400 once"])
def test_one_call_without_an_answer_stops_no_other(tmp_path: Path, kind: str) -> None:
    """It is an error in the run, and made again in the next one."""
    with serving(kind) as service:
        path = study_for(tmp_path, f"url: {service.url}, model: fake, concurrency: 1")
        code, said = judged(path)
        assert (code, "5 ok, 1 error" in said) == (0, True), said
        assert "1 request sent" in judged(path)[1]
    assert by_quality(path)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (f"{command('stuck')}, timeout: 0.5", "no answer in 0.5 seconds"),
        (command("fails"), "no such model"),
        ("command: [no-such-program]", "no-such-program cannot be started"),
    ],
)
def test_commands_that_give_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, message: str
) -> None:
    monkeypatch.setattr("random.uniform", lambda *_: 0.0)
    code, said = judged(study_for(tmp_path, f"{machine}, concurrency: 8"))
    assert (code, message in said) == (1, True)


def test_a_command_that_answers_500_mb_is_ended(tmp_path: Path) -> None:
    """It is read in pieces, up to 4 MB; the message names the judge."""
    written = tmp_path / "written"
    path = study_for(tmp_path, f"{command('huge', str(written))}, concurrency: 1")
    # A process counts what its parent held when it was forked, so a small one starts it.
    measured = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run([sys.executable, '-m', 'quem', 'judge', sys.argv[1]]).returncode\n"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured, str(path)], capture_output=True, check=True, text=True
    )
    code, memory = map(int, done.stdout.split()[-2:])
    assert (code, done.stderr.count("the answer is longer than 4 MB")) == (1, 1)
    assert memory < 300_000
    assert not written.exists()
    assert runs(path) == []


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    with serving("fair") as service:
        path = study_for(tmp_path, f"url: {service.url}, model: fake, concurrency: 1")
        argv = [sys.executable, "-m", "quem", "judge", str(path)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            until(lambda: len(service.requests) > 1, "calls")
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        answered, before = sum(name.endswith(".json") for name in kept(path)), len(service.requests)
        assert 1 <= answered < 6
        assert runs(path) == []
        assert judged(path)[0] == 0
        assert len(service.requests) - before == 6 - answered
    assert by_quality(path)


ABROAD = "url: https://api.example.org/v1, model: fake"
REFUSED: list[tuple[str, str, tuple[str, ...], str]] = [
    (ABROAD, "{}", (), "machine.shared_with: solutions would be sent to api.example.org"),
    (ABROAD, "{}", (), "allow it by --send-to api.example.org"),
    (ABROAD, "{}", ("--send-to", "api.example.org"), "machine.shared_with: solutions would be"),
    (ABROAD, "{shared_with: [api.example.org]}", (), "allow it by --send-to api.example.org"),
    (ABROAD.replace("s:", ":"), "{}", (), "only this computer can have http"),
    (f"{command('fair')}, max_input_bytes: 2000", "{}", (), "machines.M1: P1 has "),
    (command("fair"), "{}", ("--no-code",), "which --no-code does not run"),
    (command("fair"), "{prompt: mine.md}", (), "machine.prompt: the prompt lacks {token}"),
]


@pytest.mark.parametrize(("machine", "settings", "options", "message"), REFUSED)
def test_what_is_refused_before_anything_is_sent(
    tmp_path: Path, machine: str, settings: str, options: tuple[str, ...], message: str
) -> None:
    path = study_for(tmp_path, machine, settings)
    (tmp_path / "mine.md").write_text("Rank {letters}.", "utf-8")
    code, said = judged(path, *options)
    assert (code, message in said, kept(path)) == (1, True, {}), said


def test_a_prompt_of_the_study_is_sent(tmp_path: Path) -> None:
    path = study_for(tmp_path, command("fair"), "{prompt: mine.md}")
    (tmp_path / "mine.md").write_text("Rank {letters}. Marks hold {token}.", "utf-8")
    assert judged(path, "--max-calls", "1")[0] == 1
    (call,) = (json.loads(one) for one in kept(path).values())
    assert call["request"]["prompt"].startswith("Rank A, B, C, D, E. Marks")


def test_images_need_a_machine_that_sees(tmp_path: Path) -> None:
    path = study_for(tmp_path, command("fair"))
    text = tmp_path / "solutions" / "P1" / "S1.txt"
    text.with_suffix("").mkdir()
    text.rename(text.with_suffix("") / "plan.txt")
    Image.new("RGB", (40, 30), "red").save(text.with_suffix("") / "chart.png")
    code, said = judged(path)
    assert (code, "use images: true for a model that sees" in said, kept(path)) == (1, True, {})
