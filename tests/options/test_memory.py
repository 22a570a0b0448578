"""Option lists evaluated in memory: as a study of files, and with clear messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import quem
from quem.options import evaluate
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from quem.options.result import OptionsResult

STUDIES = Path(__file__).resolve().parents[2] / "studies"


def same_tables(result: OptionsResult, filed: OptionsResult) -> None:
    """All tables are equal but for how study and systems are named."""
    for name, table in filed.tables().items():
        columns = [column for column in table if column not in {"study", "name"}]
        pd.testing.assert_frame_equal(table[columns], result.table(name)[columns])


def test_the_shipped_study_in_memory() -> None:
    """The lists of the paper as DataFrames give the tables of the files."""
    folder = STUDIES / "option-lists"
    lists, questions = (pd.read_csv(folder / name) for name in ("lists.csv", "questions.csv"))
    lists["system"] = "table-1"
    filed = quem.analyze(quem.load_study(folder / "study.yaml", kind="options"))
    result = evaluate(
        lists, questions, measures=filed.table_of_scores.columns, max_length=5, samples=0
    )
    same_tables(result, filed)


def test_forms_equal_files(tmp_path: Path) -> None:
    """Systems with confidences: a frame, types of pandas, and dicts give what files do."""
    key, text = drawn(20, systems=2, seed=3)
    path = study_in(tmp_path, text, key)
    filed = analysed(path)
    lists = pd.read_csv(tmp_path / "lists.csv")
    correct: dict[str, str] = dict(pd.read_csv(tmp_path / "questions.csv").itertuples(index=False))
    typed = lists.astype({"question": "string", "system": "category", "confidence": "Float64"})
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for question, system, option, confidence in lists.itertuples(index=False):
        nested.setdefault(system, {}).setdefault(question, {})[option] = confidence
    alone = {name: [option] for name, option in correct.items()}
    used: dict[str, Any] = {"samples": 99}
    for form, right in ((lists, correct), (typed, pd.Series(correct)), (nested, alone)):
        result = evaluate(form, right, **used)
        same_tables(result, filed)
        assert [w.code for w in result.warnings] == [w.code for w in filed.warnings]


ONE = {"s": {"Q1": ["a"]}}


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"Q1": ["a"]}, "lists: system 'Q1': should be a dict of question to list"),
        ({"s": {"Q1": ["a", "a"]}}, "question 'Q1', system 's', options: a: is more than once"),
        ({"s": {"Q9": ["a"]}}, "lists: question 'Q9', system 's', question: unknown q"),
        ({"s": {"Q1": {"a": "x"}}}, "system 's', options.a: 'x' is not a number"),
        ({"s": {"Q1": {"a": float("inf")}}}, "options.a: input should be a finite number"),
        ({}, "lists: holds no list"),
        (3, "lists: should be a DataFrame, or a dict of system to qu"),
        (pd.DataFrame({"question": ["Q1"], "answer": ["a"]}), "lists: option: column 'option' not"),
        (
            pd.DataFrame({"question": ["Q1"] * 2, "option": ["a", "b"], "position": [1, 1]}),
            "lists:2:3: position: duplicate: '1' is twice in the list",
        ),
    ],
)
def test_wrong_lists(lists: Any, message: str) -> None:  # noqa: ANN401  wrong data
    """What is wrong is one message, with the question, and without a file."""
    with pytest.raises(quem.QuemError) as caught:
        evaluate(lists, {"Q1": "a", "Q2": "b"})
    assert message in str(caught.value)
    assert "<memory>" not in str(caught.value)


@pytest.mark.parametrize(
    ("correct", "message"),
    [
        ({}, "correct: there is no question"),
        ({"Q1": None}, "correct: question 'Q1', correct: is empty"),
        (["a"], "correct: should be a DataFrame, or a dict of question to"),
        ({("Q", 1): "a"}, "correct: question ('Q', 1), question: an id should be"),
    ],
)
def test_wrong_answers(correct: Any, message: str) -> None:  # noqa: ANN401  wrong data
    with pytest.raises(quem.QuemError) as caught:
        evaluate(ONE, correct)
    assert message in str(caught.value)


def test_a_question_in_two_types() -> None:
    with pytest.raises(quem.QuemError, match="the list for '1' is also in lists: question 1, sys"):
        evaluate({"s": {1: ["a"], "1": []}}, {1: "a"})


@pytest.mark.parametrize(("key", "value"), [("headline", "MAE"), ("measures", "nope")])
def test_wrong_settings(key: str, value: str) -> None:
    """A setting that is wrong is named by its key."""
    with pytest.raises(quem.QuemError, match=f"{key}: "):
        evaluate(ONE, {"Q1": "a"}, **{key: value})
