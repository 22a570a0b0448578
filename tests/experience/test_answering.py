"""Answers to the study's own questions, against loops and SciPy."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import kendalltau

import quem
from quem.cli import main
from quem.rankings import Rankings
from quem.report.files import json_text
from quem.store.answers import Answer
from quem.studyfile.models import Judging, Question
from tests.commands.sessions import STATES, close, hold_session
from tests.docs.schema import mistakes
from tests.experience.made import random_ranks, study_of
from tests.served import write_judging_study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CLEAR = Question(id="clear", about="solution", kind="scale", text="How clear?")
WRONG = Question(id="wrong", about="solution", kind="flag", text="Wrong")
WHY = Question(id="why", about="solution", kind="text", text="Why?")
HARD = Question(id="hard", about="task", kind="choice", text="Hard?", options=("no", "yes"))
AGAIN = Question(id="again", about="study", kind="choice", text="Again?", options=("no", "yes"))
ASKED = (CLEAR, WRONG, WHY, HARD, AGAIN)


def study_with(*answers: Answer, withheld: Sequence[str] = ()) -> quem.Study:
    """Make a study of random ranks whose judges answered."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=3, subjects=5, systems=1)
    study = study_of(ranks, years, withheld=list(withheld))
    assert isinstance(study.data, Rankings)
    spec = study.spec.model_copy(update={"judging": Judging(questions=ASKED)})
    return replace(study, spec=spec, data=replace(study.data, answers=answers))


def scores(study: quem.Study, seed: int) -> list[Answer]:
    """Let each judge score each solution."""
    rng = np.random.default_rng(seed)
    data = study.data
    assert isinstance(data, Rankings)
    return [
        Answer(data.judges[j], data.problems[p], 1, 1, data.solvers[s], "clear", str(score))
        for j, p, s, score in zip(
            data.judge, data.problem, data.solver, rng.integers(1, 6, len(data.rank)), strict=True
        )
    ]


def test_scores_are_means_and_go_with_ranks_as_scipy_says() -> None:
    """Means by solver over judges and tasks, and tau-b of them with the average ranks."""
    given = scores(study_with(), 1)
    result = quem.analyze(study_with(*given)).findings
    found = result.answering
    assert found is not None
    by_hand = {
        solver: np.mean([int(a.answer) for a in given if a.solver == solver])
        for solver in {a.solver for a in given}
    }
    assert {s.solver: s.mean for s in found.scores} == pytest.approx(by_hand)
    order = [by_hand[solver] for solver in result.averages.solvers]
    tau = kendalltau(order, result.averages.average).statistic
    (scored,) = found.scored
    assert scored.n == len(order)
    assert scored.tau == pytest.approx(tau)
    assert {r.answer: r.n for r in found.replies} == {
        str(v): sum(a.answer == str(v) for a in given) for v in range(1, 6)
    }


def test_what_is_not_counted() -> None:
    """Repeats, withheld solvers, and answers that are not offered any more are left out."""
    plain = study_with()
    assert isinstance(plain.data, Rankings)
    judge, problem = plain.data.judges[0], plain.data.problems[0]
    gone, *_, solver = plain.data.solvers
    one = Answer(judge, problem, 1, 1, solver, "clear", "2")
    others = [
        replace(one, occasion=2),
        replace(one, solver=gone),
        replace(one, answer="6"),
        replace(one, question="removed"),
    ]
    found = quem.analyze(study_with(one, *others, withheld=[gone])).findings.answering
    assert found is not None
    assert [(s.solver, s.n, s.mean) for s in found.scores] == [(solver, 1, 2.0)]
    assert [(s.n, np.isnan(s.tau)) for s in found.scored] == [(1, True)]
    assert sum(r.n for r in found.replies) == 1
    assert quem.analyze(study_with(*others, withheld=[gone])).findings.answering is None


QUESTIONS = """{questions: [
  {id: clear, about: solution, kind: scale, text: How clear is it?, ends: [unclear, clear]},
  {id: why, about: solution, kind: text, text: Why?},
  {id: hard, about: task, kind: choice, text: How hard was it?, options: [easy, hard]}]}"""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A closed session whose first judge answered."""
    answered = replace(
        STATES[0],
        answers={"clear": {"sys": "4", "S1": "2"}, "hard": {"": "easy"}},
        written={"why": {"sys": "=short"}},
    )
    study = write_judging_study(tmp_path, problems=1, judges=3, judging=QUESTIONS)
    hold_session(study, states=(answered, *STATES[1:])).close()
    close(study)
    return study


def test_answers_reach_the_report_and_the_export(session: Path, tmp_path: Path) -> None:
    """analysis.json follows its schema, and answers.csv has one row per answer."""
    analysis = quem.analyze(quem.load_study(session))
    document = json.loads(json_text(analysis.to_dict()))
    assert mistakes(document) == []
    found = document["answering"]
    assert {(s["solver"], s["mean"]) for s in found["scores"]} == {("sys", 4), ("S1", 2)}
    assert [r["n"] for r in found["replies"] if r["question"] == "why"] == [1]
    page = analysis.to_html()
    for words in ("Answers to questions", "How clear is it?", "Asked of", "Each task", "easy"):
        assert words in page
    assert "=short" not in page
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["export", str(session), "--out", str(out)])
    assert done.exit_code == 0, done.output
    with (out / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = {(r["solver"], r["question"]): r["answer"] for r in csv.DictReader(file)}
    # A text that a spreadsheet would calculate has an apostrophe in front.
    assert rows == {
        ("sys", "clear"): "4",
        ("S1", "clear"): "2",
        ("", "hard"): "easy",
        ("sys", "why"): "'=short",
    }
