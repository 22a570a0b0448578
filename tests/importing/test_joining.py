"""``quem init --from`` several sources: people's folders, agents' logs, and tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from quem.cli import main
from quem.errors import QuemError
from quem.studyfile.reading import read_study
from tests.importing.made import sample, write_eval

if TYPE_CHECKING:
    from pathlib import Path

PROBLEMS = {
    "t1-bearing": "A bearing runs hot after two hours at full load. What do you check first?",
    "t2-seal": "A seal leaks only when the pump is cold. Why, and how do you prove it?",
    "t3-noise": "The gearbox hums at 1,450 rpm and nowhere else. Which part is it?",
}


def run(*words: object) -> Result:
    """Run ``quem init``."""
    return CliRunner().invoke(main, ["init", *map(str, words)])


def refusal(folder: Path, *words: object) -> str:
    """Why nothing is written."""
    result = run(folder, *words)
    assert isinstance(result.exception, QuemError), result.output
    assert not folder.exists()
    return str(result.exception)


def write_people(root: Path) -> Path:
    """A folder for each person, and one of statements; no name looks like a problem's."""
    (root / "prompts").mkdir(parents=True)
    for problem, statement in PROBLEMS.items():
        (root / "prompts" / f"{problem}.md").write_text(f"{statement}\n")
        for person in ("ann", "bo"):
            (root / person).mkdir(exist_ok=True)
            (root / person / f"{problem}.md").write_text(f"{person} on {problem}\n")
    return root


def write_log(path: Path, model: str, **more: Any) -> Path:  # noqa: ANN401  of a sample
    """A log whose samples have numbers, and the statements as their inputs."""
    samples = [
        {**sample(number, 1, f"{path.stem} {number}"), "input": statement, **more}
        for number, statement in enumerate(PROBLEMS.values(), 1)
    ]
    return write_eval(path, model, samples)


def write_table(path: Path, *names: str) -> Path:
    """A table of one model's answers."""
    rows = ({"task_id": name, "model": "z", "output": f"z on {name}"} for name in names)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_people_an_agent_and_a_table(tmp_path: Path) -> None:
    """Problems are joined by statement and by id; what is alone is named with the nearest."""
    people, log = write_people(tmp_path / "people"), write_log(tmp_path / "agent.eval", "org/x")
    table = write_table(tmp_path / "results.jsonl", "T1_BEARING", "t2 seal", "t3-nose")
    sources = ("--from", people, "--from", log, "--from", table)
    result = run(tmp_path / "study", *sources)
    assert result.exit_code == 0, result.output
    assert "write --name t3-nose=t3-noise" in result.stderr
    result = run(tmp_path / "again", *sources, "--name", "t3-nose=t3-noise", "--name", "agent=bot")
    assert "found: 3 problems, 4 solvers, 12 solutions" in result.stderr
    spec = read_study(tmp_path / "again/study.yaml")
    assert [problem.id for problem in spec.problems] == list(PROBLEMS)
    assert [system.id for system in spec.systems] == ["ann", "bo", "bot", "z"]
    assert (tmp_path / "again/solutions/t2-seal/bot.md").read_text() == "agent 2\n"
    assert (tmp_path / "again/problems/t2-seal.md").read_text() == f"{PROBLEMS['t2-seal']}\n"
    assert "t1-bearing" in (tmp_path / "again/IMPORT.md").read_text()


def test_people_who_worked_by_human_cli(tmp_path: Path) -> None:
    """They are subjects, with their experience from a table and how long they worked."""
    (tmp_path / "humans").mkdir()
    for name in ("ann", "bo"):
        store = {"HumanAgentState:accumulated_time": 90.25, "HumanAgentState:answer": "x"}
        write_log(tmp_path / "humans" / f"{name}.eval", "none/none", store=store)
    log = write_log(tmp_path / "agent.eval", "org/x")
    sources = ("--from", tmp_path / "humans", "--from", log)
    assert "how experienced ann, bo are" in refusal(tmp_path / "study", *sources)
    people = tmp_path / "people.csv"
    people.write_text("participant,experience\nann,4\nbob,11.5\n")
    assert "nobody called 'bob'" in refusal(tmp_path / "study", *sources, "--from", people)
    people.write_text("participant,experience\nann,4\nbo,11.5\n")
    assert run(tmp_path / "study", *sources, "--from", people).exit_code == 0
    spec = read_study(tmp_path / "study/study.yaml")
    assert [(one.id, one.experience) for one in spec.subjects] == [("ann", 4), ("bo", 11.5)]
    assert spec.subjects[0].seconds == {"1": 90, "2": 90, "3": 90}
    assert [one.name for one in spec.systems] == ["org/x"]


def test_runs_of_one_model(tmp_path: Path) -> None:
    """They need a name each, and the message says which."""
    logs = [write_log(tmp_path / f"{name}.eval", "org/x") for name in ("one", "two")]
    sources = ("--from", logs[0], "--from", logs[1])
    message = refusal(tmp_path / "study", *sources)
    assert message.count("\n") == 0
    assert "--name one=ID --name two=ID" in message
    assert run(tmp_path / "study", *sources, "--name", "one=a", "--name", "two=b").exit_code == 0
    assert [s.id for s in read_study(tmp_path / "study/study.yaml").systems] == ["a", "b"]


def test_failed_samples(tmp_path: Path) -> None:
    """How many failed, and the first error; a log where all failed is refused with it."""
    error = {"message": "TimeoutError: 60 s\nand more", "traceback": "", "traceback_ansi": ""}
    dead = write_log(tmp_path / "dead.eval", "org/x", error=error)
    message = refusal(tmp_path / "study", "--from", dead)
    assert "failed (3)" in message
    assert message.endswith("sample 1: TimeoutError: 60 s")
    alive = write_log(tmp_path / "alive.eval", "org/y")
    samples = [{**sample(1, 1, ""), "error": error}, sample(2, 1, "done"), sample(3, 1, "done")]
    ill = write_eval(tmp_path / "ill.eval", "org/z", samples)
    result = run(tmp_path / "study", "--from", alive, "--from", ill)
    assert "failed: 1; first" in result.stderr
    assert [one.reason for one in read_study(tmp_path / "study/study.yaml").missing] == ["failed"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--name", "nobody=x"], "nothing is called so"),
        (["--from", "other.jsonl"], "has no problem of the sources before"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, words: list[str], message: str) -> None:
    """It is refused, and nothing is guessed."""
    people = write_people(tmp_path / "people")
    write_table(tmp_path / "other.jsonl", "elsewhere", "beyond")
    given = [tmp_path / word if word.endswith("jsonl") else word for word in words]
    assert message in refusal(tmp_path / "study", "--from", people, *given)


def test_names_of_signs_alone_are_not_the_same(tmp_path: Path) -> None:
    """Without letters and digits, two names say nothing of each other."""
    one = write_table(tmp_path / "one.jsonl", "?", "shared")
    other = tmp_path / "other.jsonl"
    rows = ({"task_id": name, "model": "y", "output": "y"} for name in ("!", "shared"))
    other.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    result = run(tmp_path / "study", "--from", one, "--from", other)
    assert "found: 3 problems, 2 solvers, 4 solutions" in result.stderr
