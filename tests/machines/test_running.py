"""Runs of fake machine judges, as a command and as a service, through `quem judge`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from quem.cli import main
from quem.errors import QuemError
from quem.studyfile.runs import read_runs
from tests.machines.fakes import SECRET, serving
from tests.patience import until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.studyfile.runs import Run

FAKES = Path(__file__).with_name("fakes.py")
SOLVERS = (*(f"S{n}" for n in range(1, 12)), "sys")
PROBLEMS = tuple(f"P{n}" for n in range(1, 7))


def write_study(folder: Path, machine: str, *, solvers: tuple[str, ...] = SOLVERS) -> Path:
    """Write a study with solutions whose quality is known, and one machine judge."""
    rng = np.random.default_rng(4)
    lines = ["id: fakes", "title: Fakes", "problems:"]
    lines += [f"  - {{id: {problem}}}" for problem in PROBLEMS]
    lines += ["judges: [{id: J1}]", "subjects:"]
    lines += [f"  - {{id: {s}, experience: {n}}}" for n, s in enumerate(solvers, 1) if s != "sys"]
    lines += ["systems: [{id: sys}]", "machine: {}", "machines:"]
    lines += [f"  - {{id: M1, repeats: 4, per_minute: 100000, {machine}}}"]
    for problem in PROBLEMS:
        group = folder / "solutions" / problem
        group.mkdir(parents=True)
        for place, solver in enumerate(solvers):
            quality = 6.0 if solver == "sys" else place + 1
            text = f"quality {quality + rng.normal():.2f}\n"
            text += ("beep\n" if solver == "sys" else "") + "word " * int(rng.integers(10, 200))
            (group / f"{solver}.txt").write_text(text, "utf-8")
    path = folder / "study.yaml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def command_study(folder: Path, kind: str, more: str = "") -> Path:
    """Write a study whose machine judge is a command."""
    command = json.dumps([sys.executable, str(FAKES), kind])
    return write_study(folder, f"command: {command}{more}")


def service_study(folder: Path, url: str, more: str = "") -> Path:
    """Write a study whose machine judge is a service."""
    return write_study(folder, f"url: {url}, model: fake{more}")


def with_experts(path: Path, error: float = 1.0, problems: Sequence[str] = PROBLEMS) -> Path:
    """Let two experts rank the solutions of problems by quality, with errors."""
    rng = np.random.default_rng(0)
    rows = ["judge,problem,solver,rank"]
    for judge in ("J1", "J2"):
        for problem in problems:
            texts = [
                (path.parent / "solutions" / problem / f"{solver}.txt").read_text("utf-8")
                for solver in SOLVERS
            ]
            quality = [float(text.split()[1]) + rng.normal(0, error) for text in texts]
            order = np.argsort(np.argsort(quality)) + 1
            rows += [f"{judge},{problem},{s},{r}" for s, r in zip(SOLVERS, order, strict=True)]
    path.with_name("rankings.csv").write_text("\n".join(rows) + "\n", "utf-8")
    text = path.read_text("utf-8").replace("judges: [{id: J1}]", "judges: [{id: J1}, {id: J2}]")
    path.write_text(f"{text}rankings: rankings.csv\n", "utf-8")
    return path


def judged(path: Path, *options: str) -> tuple[int, str]:
    """Run `quem judge`; gives its exit code, and all that it printed."""
    done = CliRunner().invoke(main, ["judge", str(path), *options])
    if isinstance(done.exception, QuemError):
        return 1, "\n".join([done.output, *map(str, done.exception.mistakes)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def last_run(path: Path) -> Run:
    """Give the run that counts."""
    return read_runs(path, "fakes", "M1")[-1]


def ranks(run: Run) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give adjusted ranks, shape (repeats, problems, solvers); NaN where there are none."""
    found = np.full((run.repeats, len(PROBLEMS), len(SOLVERS)), np.nan)
    for call in run.calls:
        below = 0
        for tied in reversed(call.ranked):
            for solver in tied:
                at = call.repeat, PROBLEMS.index(call.problem), SOLVERS.index(solver)
                found[at] = below + (len(tied) + 1) / 2
            below += len(tied)
    return found


def retest(run: Run) -> float:
    """Give the mean tau-b of the first two repeats of a problem."""
    first, second = ranks(run)[:2]
    taus = [stats.kendalltau(a, b).statistic for a, b in zip(first, second, strict=True)]
    return float(np.mean(taus))


def statuses(run: Run) -> dict[str, int]:
    """Count the calls of each status."""
    return {status: run.count(status) for status in ("ok", "invalid", "refused", "error")}


def fair(folder: Path) -> Run:
    """Give the run of a fair command."""
    path = command_study(folder, "fair")
    assert judged(path)[0] == 0
    return last_run(path)


def test_a_fair_command(tmp_path: Path) -> None:
    """It ranks by quality; a second run asks nothing and changes nothing, a replay neither."""
    run = fair(tmp_path)
    assert statuses(run) == {"ok": 24, "invalid": 0, "refused": 0, "error": 0}
    assert retest(run) > 0.99
    path = tmp_path / "study.yaml"
    kept = sorted(file.name for file in (tmp_path / "machines").rglob("*") if file.is_file())
    for options in ((), ("--replay",)):
        code, said = judged(path, *options)
        assert (code, "0 requests sent" in said) == (0, True)
    again = sorted(file.name for file in (tmp_path / "machines").rglob("*") if file.is_file())
    assert again == kept
    assert len(kept) == 25
    for call in run.calls:
        text = (tmp_path / "machines/M1" / call.key[:2] / f"{call.key}.json").read_text("utf-8")
        request = json.dumps(json.loads(text)["request"])
        assert not any(solver in request for solver in SOLVERS)
        assert set(call.order) == set(SOLVERS)


@pytest.mark.parametrize(
    "kind", ["fair", "chatty", "malformed-once", "busy", "500 once", "no seed"]
)
def test_services_that_come_to_the_same(tmp_path: Path, kind: str) -> None:
    """Prose around the answer, a bad first answer, and a busy server change no rank."""
    expected = ranks(fair(tmp_path / "fair"))
    with serving(kind) as service:
        path = service_study(tmp_path / "service", service.url, ", concurrency: 1")
        code, said = judged(path)
        assert code == 0, said
        run = last_run(path)
        assert np.array_equal(ranks(run), expected)
        sent = {"malformed-once": 48, "busy": 72, "500 once": 25, "no seed": 25}.get(kind, 24)
        assert len(service.requests) == sent
        attempts = 2 if kind == "malformed-once" else 1
        assert {call.attempts for call in run.calls} == {attempts}
        before = len(service.requests)
        assert judged(path, "--replay")[0] == 0
        assert len(service.requests) == before


@pytest.mark.parametrize(
    ("kind", "status", "requests"),
    [
        ("malformed", "invalid", 72),
        ("refuses", "refused", 24),
        ("declines", "refused", 24),
        ("filtered", "refused", 24),
        ("cut off", "invalid", 72),
    ],
)
def test_services_without_a_ranking(tmp_path: Path, kind: str, status: str, requests: int) -> None:
    """What cannot be read is asked again twice, a refusal never; no rank is made up."""
    with serving(kind) as service:
        path = service_study(tmp_path, service.url)
        assert judged(path)[0] == 0
        run = last_run(path)
        assert statuses(run)[status] == len(run.calls) == 24
        assert len(service.requests) == requests
        assert np.isnan(ranks(run)).all()
        assert judged(path, "--replay")[0] == 0
        assert len(service.requests) == requests
    if kind == "malformed":
        again = [one for one in service.requests if one["seed"] >= 1000]
        assert all("could not be read" in one["messages"][1]["content"] for one in again)


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
    monkeypatch.setenv("QUEM_M1_KEY", SECRET)
    with serving(kind) as service:
        path = service_study(tmp_path, service.url, ", key_env: QUEM_M1_KEY")
        code, said = judged(path)
        assert code == 1
        assert message in " ".join(said.split())
        assert set(service.keys) == {f"Bearer {SECRET}"}
    assert read_runs(path, "fakes", "M1") == []
    files = [file for file in (tmp_path / "machines").rglob("*") if file.is_file()]
    assert files
    assert not any(SECRET in file.read_text("utf-8") for file in files)
    assert SECRET not in said


def test_a_key_is_needed_and_taken_from_the_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its absence is said before anything is sent."""
    monkeypatch.delenv("QUEM_M1_KEY", raising=False)
    path = service_study(tmp_path, "http://127.0.0.1:9/v1", ", key_env: QUEM_M1_KEY")
    code, said = judged(path)
    assert code == 1
    assert "needs its key in the environment variable QUEM_M1_KEY" in said


@pytest.mark.parametrize("key", ["sk with blanks", "sk-ü"])
def test_what_is_no_key_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """A line's end after it does no harm; else it is refused before anything is sent."""
    monkeypatch.setenv("QUEM_M1_KEY", key)
    with serving("fair") as service:
        path = service_study(tmp_path, service.url, ", key_env: QUEM_M1_KEY")
        code, said = judged(path)
        assert (code, "what is there is no key" in said, key in said) == (1, True, False)
        assert service.keys == []
        monkeypatch.setenv("QUEM_M1_KEY", f"{SECRET}\n")
        assert judged(path)[0] == 0
        assert set(service.keys) == {f"Bearer {SECRET}"}
    monkeypatch.delenv("QUEM_M1_KEY")
    code, said = judged(path, "--replay")
    assert (code, "0 requests sent" in said) == (0, True)


@pytest.mark.parametrize("kind", ["odd answer once", "400 once"])
def test_one_call_without_an_answer_stops_no_other(tmp_path: Path, kind: str) -> None:
    """It is an error in the run, and made again in the next one."""
    with serving(kind) as service:
        path = service_study(tmp_path, service.url, ", concurrency: 1")
        code, said = judged(path)
        assert (code, "23 ok, 1 error" in said) == (0, True), said
        assert "1 request sent" in judged(path)[1]
    assert statuses(last_run(path))["ok"] == 24


@pytest.mark.parametrize(
    ("kind", "timeout", "message"),
    [("stuck", 0.5, "no answer in 0.5 seconds"), ("fails", 60, "no such model")],
)
def test_commands_that_give_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, timeout: float, message: str
) -> None:
    """A program that does not end is ended; what one says last is said."""
    monkeypatch.setattr("random.uniform", lambda *_: 0.0)
    path = command_study(tmp_path, kind, f", timeout: {timeout}, concurrency: 8")
    code, said = judged(path)
    assert (code, message in said) == (1, True)
    missing = write_study(tmp_path / "missing", "command: [no-such-program]")
    code, said = judged(missing)
    assert (code, "no-such-program cannot be started" in said) == (1, True)


def test_a_command_that_answers_500_mb_is_ended(tmp_path: Path) -> None:
    """It is read in pieces, up to 4 MB; the message names the judge."""
    written = tmp_path / "written"
    command = json.dumps([sys.executable, str(FAKES), "huge", str(written)])
    path = write_study(tmp_path, f"command: {command}, concurrency: 1")
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
    assert code == 1
    assert done.stderr.count("the answer is longer than 4 MB") == 1
    assert memory < 300_000
    assert not written.exists()
    assert read_runs(path, "fakes", "M1") == []


def test_limits_stop_between_calls(tmp_path: Path) -> None:
    """Nothing counts before all calls are made; later commands go on."""
    path = command_study(tmp_path, "fair")
    code, said = judged(path, "--max-calls", "10")
    assert code == 1
    assert "run it again for the rest" in said
    assert "10 requests sent" in said
    assert read_runs(path, "fakes", "M1") == []
    code, said = judged(path)
    assert code == 0
    assert "14 requests sent" in said


def test_a_transcript_that_is_damaged_is_named(tmp_path: Path) -> None:
    """Whatever is left of it."""
    run = fair(tmp_path)
    path = tmp_path / "study.yaml"
    key = run.calls[3].key
    kept = tmp_path / "machines/M1" / key[:2] / f"{key}.json"
    whole = kept.read_bytes()
    for rest in (whole[:100], b"\xff\xfe", b"[]"):
        kept.write_bytes(rest)
        code, said = judged(path, "--replay")
        assert (code, f"{kept.name}" in said, "is damaged" in said) == (1, True, True)
    kept.unlink()
    assert "1 request sent" in judged(path)[1]


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Killed in the middle, nothing that was answered is asked again."""
    with serving("fair") as service:
        path = service_study(tmp_path, service.url, ", concurrency: 1")
        command = [sys.executable, "-m", "quem", "judge", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with process:
            until(lambda: len(service.requests) > 4, "calls")
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        kept = len(list((tmp_path / "machines/M1").glob("??/*.json")))
        assert kept >= 4
        assert read_runs(path, "fakes", "M1") == []
        before = len(service.requests)
        assert judged(path)[0] == 0
        assert len(service.requests) - before == 24 - kept
    assert len(last_run(path).calls) == 24


def test_a_dry_run_sends_and_writes_nothing(tmp_path: Path) -> None:
    """It says what would be sent."""
    with serving("fair") as service:
        path = service_study(tmp_path, service.url)
        code, said = judged(path, "--dry-run")
        assert service.requests == []
    assert code == 0
    assert "M1: 24 calls for 6 problems" in said
    assert "127.0.0.1 on this computer" in said
    assert "names, experience, and rankings stay here" in said
    assert not (tmp_path / "machines").exists()


def test_nothing_leaves_this_computer_that_was_not_allowed_twice(tmp_path: Path) -> None:
    """By the option and by the study file."""
    path = service_study(tmp_path, "https://api.example.org/v1")
    code, said = judged(path)
    assert code == 1
    assert "machine.shared_with: solutions would be sent to api.example.org" in said
    assert "allow it by --send-to api.example.org" in said
    code, said = judged(path, "--send-to", "api.example.org")
    assert (code, "--send-to" in said) == (1, False)
    plain = service_study(tmp_path / "plain", "http://api.example.org/v1")
    code, said = judged(plain)
    assert (code, "only this computer can have http" in said) == (1, True)


def test_a_group_that_is_too_long_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    """With the sizes of its solutions; nothing is ever cut off."""
    path = command_study(tmp_path, "fair", ", max_input_bytes: 2000")
    code, said = judged(path)
    assert code == 1
    assert "P1 has" in said
    assert "max_input_bytes is 2,000" in said
    assert not (tmp_path / "machines").exists()


def test_a_prompt_of_the_study(tmp_path: Path) -> None:
    """It is sent, and its hash kept; without its places it is refused."""
    path = command_study(tmp_path, "fair")
    text = path.read_text("utf-8").replace("machine: {}", "machine: {prompt: mine.md}")
    path.write_text(text, "utf-8")
    (tmp_path / "mine.md").write_text("Rank {letters}.", "utf-8")
    code, said = judged(path)
    assert (code, "the prompt lacks {token}" in said) == (1, True)
    (tmp_path / "mine.md").write_text("Rank {letters}. Marks hold {token}.", "utf-8")
    assert judged(path)[0] == 0
    call = last_run(path).calls[0]
    kept = (tmp_path / "machines/M1" / call.key[:2] / f"{call.key}.json").read_text("utf-8")
    assert json.loads(kept)["request"]["prompt"].startswith("Rank A, B, C, D")


def test_programs_of_a_stranger_are_named_and_can_be_refused(tmp_path: Path) -> None:
    """A dry run names them; --no-code runs none."""
    path = command_study(tmp_path, "fair")
    code, said = judged(path, "--dry-run")
    assert (code, f"given to the program {sys.executable}" in said) == (0, True)
    code, said = judged(path, "--no-code")
    assert (code, "which --no-code does not run" in said) == (1, True)
    assert not (tmp_path / "machines").exists()
