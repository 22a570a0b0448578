"""Answers to the study's own questions, against loops and SciPy."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import kendalltau

import quem
from quem.cli import main
from quem.rankings import Rankings
from quem.report.files import json_text
from quem.store.answers import Answer
from tests.docs.schema import mistakes
from tests.parts.made import key_of, random_ranks, study_of
from tests.served import write_judging_study
from tests.store.made import STATES, close, hold_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ASKED: list[dict[str, Any]] = [
    {"id": "clear", "about": "solution", "kind": "scale", "text": "How clear?"},
    {"id": "wrong", "about": "solution", "kind": "flag", "text": "Wrong"},
    {"id": "why", "about": "solution", "kind": "text", "text": "Why?"},
    {"id": "hard", "about": "task", "kind": "choice", "text": "Hard?", "options": ["no", "yes"]},
    {"id": "again", "about": "study", "kind": "choice", "text": "Again?", "options": ["no", "yes"]},
]


def study_with(*answers: Answer, withheld: Sequence[str] = ()) -> quem.Study:
    """Make a study of random ranks whose judges answered."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=3, subjects=5, systems=2)
    study = study_of(ranks, years, withheld=withheld, judging={"questions": ASKED})
    assert isinstance(study.data, Rankings)
    return replace(study, data=replace(study.data, answers=answers))


def answers_of(study: quem.Study, question: str, values: str) -> list[Answer]:
    """Let each judge answer about each solution; a blank is no answer."""
    table, rng = study.rankings, np.random.default_rng(1)
    assert table is not None
    rows = zip(table["judge"], table["problem"], table["solver"], strict=True)
    given = [(*row[:2], 1, 1, row[2], question, str(rng.choice(list(values)))) for row in rows]
    return [Answer(*one) for one in given if one[-1] != " "]


def test_scores_are_means_and_go_with_ranks_as_scipy_says() -> None:
    """Means by solver over judges and tasks, and tau-b of them with the average ranks."""
    given, flags = (
        answers_of(study_with(), "clear", "12345"),
        answers_of(study_with(), "wrong", "y "),
    )
    flags = [replace(one, answer="yes") for one in flags]
    result = quem.analyze(study_with(*given, *flags))
    found = result.to_dict()["questions"]
    rank = result.averages.set_index("solver")["average_rank"]
    by_hand = {
        ("clear", s): np.mean([int(a.answer) for a in given if a.solver == s]) for s in rank.index
    }
    # No flag is an answer too: each of three judges ranked each solver three times.
    by_hand |= {("wrong", s): sum(a.solver == s for a in flags) / 9 for s in rank.index}
    scores = {(row["question"], row["solver"]): row["mean"] for row in found["scores"]}
    assert scores == pytest.approx(by_hand)
    assert [row["question"] for row in found["scored"]] == ["clear", "wrong"]
    for row in found["scored"]:
        means = [by_hand[row["question"], solver] for solver in rank.index]
        assert row["n"] == len(rank)
        assert row["tau"] == pytest.approx(kendalltau(means, rank).statistic)
    replies = {row["answer"]: row["n"] for row in found["replies"] if row["question"] == "clear"}
    assert replies == Counter(one.answer for one in given)


def test_what_is_not_counted() -> None:
    """Repeats, withheld solvers, and answers that are not offered any more are left out."""
    plain = study_with()
    assert isinstance(plain.data, Rankings)
    judge, problem = plain.data.judges[0], plain.data.problems[0]
    solver, gone = plain.data.solvers[0], "K1"
    one = Answer(judge, problem, 1, 1, solver, "clear", "2")
    others = [
        replace(one, occasion=2),
        replace(one, solver=gone),
        replace(one, answer="6"),
        replace(one, question="removed"),
    ]
    found = key_of(study_with(one, *others, withheld=[gone]), "questions")
    assert [(s["solver"], s["n"], s["mean"]) for s in found["scores"]] == [(solver, 1, 2.0)]
    assert [(s["n"], s["tau"]) for s in found["scored"]] == [(1, None)]
    assert sum(row["n"] for row in found["replies"]) == 1
    assert key_of(study_with(*others, withheld=[gone]), "questions") is None


def test_answers_of_a_session_reach_the_report_and_the_export(tmp_path: Path) -> None:
    """analysis.json follows its schema, and answers.csv has one row per answer."""
    answered = replace(
        STATES[0],
        answers={"clear": {"sys": "4", "S1": "2"}, "hard": {"": "no"}},
        written={"why": {"sys": "=short"}},
    )
    judging = json.dumps({"questions": ASKED[:-1]})
    session = write_judging_study(tmp_path, problems=1, judges=3, judging=judging)
    hold_session(session, states=(answered, *STATES[1:])).close()
    close(session)
    analysis = quem.analyze(quem.load_study(session))
    document = json.loads(json_text(analysis.to_dict()))
    assert mistakes(document) == []
    found = document["questions"]
    means = {(s["question"], s["solver"], s["mean"]) for s in found["scores"]}
    assert {("clear", "sys", 4), ("clear", "S1", 2)} <= means
    assert [r["n"] for r in found["replies"] if r["question"] == "why"] == [1]
    page = analysis.to_html()
    assert "How clear?" in page
    assert "=short" not in page
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["export", str(session), "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = pd.read_csv(out / "answers.csv", dtype=str, keep_default_na=False)
    # A text that a spreadsheet would calculate has an apostrophe in front.
    assert set(zip(rows["solver"], rows["question"], rows["answer"], strict=True)) == {
        ("sys", "clear", "4"),
        ("S1", "clear", "2"),
        ("", "hard", "no"),
        ("sys", "why", "'=short"),
    }
