"""``quem init --from`` several sources: people's folders, agents' logs, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from quem.studyfile.reading import read_study
from tests.importing.made import ERROR, init, refusal, sample, write_eval, write_lines

if TYPE_CHECKING:
    from pathlib import Path

PROBLEMS = {
    "t1-bearing": "A bearing runs hot after two hours at full load. What do you check first?",
    "t2-seal": "A seal leaks only when the pump is cold. Why, and how do you prove it?",
    "t3-noise": "The gearbox hums at 1,450 rpm and nowhere else. Which part is it?",
}


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


def write_table(path: Path, *names: str, model: str = "z") -> Path:
    return write_lines(
        path, ({"task_id": one, "model": model, "output": f"{model} on {one}"} for one in names)
    )


def test_people_an_agent_and_a_table(tmp_path: Path) -> None:
    """Problems are joined by statement and by id; what is alone is named with the nearest."""
    people, log = write_people(tmp_path / "people"), write_log(tmp_path / "agent.eval", "org/x")
    table = write_table(tmp_path / "results.jsonl", "T1_BEARING", "t2 seal", "t3-nose")
    sources = ("--from", people, "--from", log, "--from", table)
    assert "write --name t3-nose=t3-noise" in init(tmp_path / "study", *sources).stderr
    study = tmp_path / "again"
    result = init(study, *sources, "--name", "t3-nose=t3-noise", "--name", "agent=bot")
    assert "found: 3 problems, 4 solvers, 12 solutions" in result.stderr
    spec = read_study(study / "study.yaml")
    assert [problem.id for problem in spec.problems] == list(PROBLEMS)
    assert [system.id for system in spec.systems] == ["ann", "bo", "bot", "z"]
    assert (study / "solutions/t2-seal/bot.md").read_text() == "agent 2\n"
    assert (study / "problems/t2-seal.md").read_text() == f"{PROBLEMS['t2-seal']}\n"
    assert "t1-bearing" in (study / "IMPORT.md").read_text()


def test_people_who_worked_by_human_cli(tmp_path: Path) -> None:
    """They are subjects, with their experience from a table and how long they worked."""
    humans, study, people = (tmp_path / name for name in ("humans", "study", "people.csv"))
    humans.mkdir()
    store = {"HumanAgentState:accumulated_time": 90.25, "HumanAgentState:answer": "x"}
    for name in ("ann", "bo"):
        write_log(humans / f"{name}.eval", "none/none", store=store)
    sources = (humans, "--from", write_log(tmp_path / "agent.eval", "org/x"))
    assert "how experienced ann, bo are" in refusal(study, *sources)
    people.write_text("participant,experience\nann,4\nbob,11.5\n")
    assert "nobody called 'bob'" in refusal(study, *sources, "--from", people)
    people.write_text("participant,experience\nann,4\nbo,11.5\n")
    assert init(study, "--from", *sources, "--from", people).exit_code == 0
    spec = read_study(study / "study.yaml")
    assert [(one.id, one.experience) for one in spec.subjects] == [("ann", 4), ("bo", 11.5)]
    assert spec.subjects[0].seconds == {"1": 90, "2": 90, "3": 90}
    assert [one.name for one in spec.systems] == ["org/x"]


def test_runs_of_one_model(tmp_path: Path) -> None:
    one, two = (write_log(tmp_path / f"{name}.eval", "org/x") for name in ("one", "two"))
    study = tmp_path / "study"
    message = refusal(study, one, "--from", two)
    assert message.count("\n") == 0
    assert "--name one=ID --name two=ID" in message
    words = ("--from", one, "--from", two, "--name", "one=a", "--name", "two=b")
    assert init(study, *words).exit_code == 0
    assert [s.id for s in read_study(study / "study.yaml").systems] == ["a", "b"]


def test_failed_samples(tmp_path: Path) -> None:
    """How many failed, and the first error; a log where all failed is refused with it."""
    message = refusal(tmp_path / "study", write_log(tmp_path / "dead.eval", "org/x", error=ERROR))
    assert "failed (3)" in message
    assert message.endswith("sample 1: TimeoutError: 60 s")
    alive = write_log(tmp_path / "alive.eval", "org/y")
    samples = [{**sample(1, 1, ""), "error": ERROR}, sample(2, 1, "done"), sample(3, 1, "done")]
    ill = write_eval(tmp_path / "ill.eval", "org/z", samples)
    result = init(tmp_path / "study", "--from", alive, "--from", ill)
    assert "failed: 1; first" in result.stderr
    assert [one.reason for one in read_study(tmp_path / "study/study.yaml").missing] == ["failed"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--name", "nobody=x"], "nothing is called so"),
        (["--from", "other.jsonl"], "has no problem of the sources before"),
    ],
)
def test_what_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    people = write_people(tmp_path / "people")
    write_table(tmp_path / "other.jsonl", "elsewhere", "beyond")
    assert message in refusal(tmp_path / "study", people, *words)
