"""Questions and lists in files or memory: reading and errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import quem
from quem.options import evaluate
from quem.options.loading import load_options
from tests.options.made import KEY, LISTS, analysed, drawn, study_in

if TYPE_CHECKING:
    from pathlib import Path


def signs(path: Path) -> list[list[str]]:
    """The lists of each system: c for a correct option, w for a wrong one."""
    return [one.lists for one in load_options(path).answers]


PLAIN = [["cw", "wcw", "w"], ["w", "cw", "c"]]


def test_lists_are_read(tmp_path: Path) -> None:
    path = study_in(tmp_path)
    assert signs(path) == PLAIN
    data = load_options(path)
    assert data.systems == ("x", "y")
    assert data.counts() == {"question": 3, "system": 2, "list": 6, "option": 10}
    assert data.answers[0].confidence.tolist() == [0.9, 0.5, 0.6, 0.6, 0.1, 0.7]
    assert data.warnings == ()
    assert {file.name for file in data.files} == {"study.yaml", "questions.csv", "lists.csv"}


def test_json_lines_say_the_same(tmp_path: Path) -> None:
    lists: dict[tuple[str, str], list[dict[str, object]]] = {}
    for line in LISTS.splitlines()[1:]:
        question, system, option, confidence = line.split(",")
        entry: dict[str, object] = {"option": option, "confidence": float(confidence)}
        lists.setdefault((question, system), []).append(entry)
    lines = [
        json.dumps({"question": question, "system": system, "options": options})
        for (question, system), options in lists.items()
    ]
    path = study_in(tmp_path, text="\n".join(lines), name="lists.jsonl")
    assert signs(path) == PLAIN
    key = '{"question": "Q1", "correct": 7}\n\n{"question": 2, "correct": "b"}\n'
    (tmp_path / "key.jsonl").write_text(key)
    text = '{"question": "Q1", "options": [3, 7]}\n{"question": 2, "options": []}\n'
    path = study_in(tmp_path, text=text, name="l.ndjson", questions="key.jsonl")
    assert signs(path) == [["wc", ""]]
    assert load_options(path).systems == ("system",)


def test_questions_can_have_several_correct_options(tmp_path: Path) -> None:
    """Lines of a table, a list of JSON Lines, or a list in the study file say the same."""
    correct: dict[str, Any] = {"Q1": ["a", "c", "z"], "Q2": ["b"], "Q3": "c"}
    lines = [json.dumps({"question": q, "correct": options}) for q, options in correct.items()]
    (tmp_path / "key.jsonl").write_text("\n".join(lines))
    listed = [{"id": question, "correct": options} for question, options in correct.items()]
    lists = LISTS + "Q1,y,z,0.4\nQ1,y,a,0.3\n"
    for form in (
        {"key": "question,correct\nQ1,a\nQ2,b\nQ1,c\nQ3,c\nQ1,z\n"},
        {"questions": "key.jsonl"},
        {"questions": listed},
    ):
        data = load_options(study_in(tmp_path, lists, **form))
        assert data.key.ids == ("Q1", "Q2", "Q3")
        assert data.key.correct == (("a", "c", "z"), ("b",), ("c",))
        assert data.answers[0].n_correct.tolist() == [3, 1, 1]
        assert [one.lists for one in data.answers] == [PLAIN[0], ["wcc", "cw", "c"]]


def test_doubtful_data_are_told(tmp_path: Path) -> None:
    """Options that are nearly right, gaps in positions, and columns that are not read."""
    lists = "question,option,position,color\nQ1, A ,1,red\nQ1,b,3,red\nQ2,b,1,red\n"
    warnings = {
        doubt.code: doubt.message for doubt in load_options(study_in(tmp_path, lists)).warnings
    }
    assert set(warnings) == {"nearly-correct", "gap-in-positions", "ignored-column"}
    assert warnings["nearly-correct"].endswith("'A' for 'a'")
    assert "'Q1'" in warnings["gap-in-positions"]
    assert "'color'" in warnings["ignored-column"]


def of(rows: str, head: str = "question,system,option,confidence") -> str:
    return f"{head}\n{rows}"


PLACED = "question,option,position"
BAD_LISTS = [
    (of("Q1,x,a,0.9\nQ9,x,a,1\nQ9,x,b,1\n"), ":3:1: question: unknown question 'Q9'"),
    (of("Q1,x,a,0.9\nQ1,x,a,0.8\n"), ":3:3: option: duplicate: 'a' is twice in the list for 'Q1'"),
    *(
        (of(f"Q1,x,a,{value}\n"), f":2:4: confidence: '{value}' is not a finite number")
        for value in ("high", "nan", "1e999", "80%")
    ),
    (of("Q1,,a,1\nQ2,x,a,1\n"), ":2:2: system: is empty"),
    (of("Q1,x,a,1\nQ1,x,,\n"), ":3:3: option: is empty, and the list for 'Q1' has other lines"),
    (of("Q1,a,0\n", PLACED), ":2:3: position: '0' is not a whole number from 1"),
    (of("Q1,a,1\nQ1,b,1\n", PLACED), ":3:3: position: duplicate: '1' is twice in the list"),
    (of("Q1,a,1\nQ1,b,\n", PLACED), ":3:3: position: is empty, and the list"),
    (of("Q1,a,1,1\n", "question,option,score,confidence"), ":1:4: confidence: duplicate column"),
]


def listed(options: str, **more: str) -> str:
    others = "".join(f', "{key}": {value}' for key, value in more.items())
    return f'{{"question": "Q1", "options": {options}{others}}}\n'


BAD_JSON = [
    ('{"question": "Q1"}', ":1: options: is missing"),
    ('{"options": ["a"]}', ":1: question: is missing"),
    (listed('"a"'), ":1: options: should be a dict or a list of items"),
    (listed('["a", ""]'), ":1: options: each option must"),
    (listed("[true]"), ":1: options: an id should be a"),
    (listed('[{"confidence": 1}]'), ":1: options: an option must be"),
    (listed('[{"option": "a", "confidence": Infinity}]'), ":1: options: input should be a finite"),
    (listed(f'[{{"option": "a", "confidence": 1{"0" * 400}}}]'), ":1: options: this is not a numb"),
    (listed("[]", system="null"), ":1: system: is empty"),
    (listed('["a"]') + listed('["b"]'), ":2: question: duplicate: the list for 'Q1' is also in"),
]
KEYED = "question,correct"
BAD_KEYS = [
    (KEY + "Q1,a\n", ":5:1: question: duplicate: the question 'Q1' with the correct option 'a'"),
    (KEY + "Q4,\n", ":5:2: correct: is empty"),
    (of("Q1,a\n", "question,answer"), ":1: correct: column 'correct' not found"),
]
BAD_JSON_KEYS = [
    ('{"question": "Q1", "correct": [true]}', ":1: correct[1]: an id should be a text"),
    ('{"question": ["Q1"], "correct": "a"}', ":1: question: an id should be a text"),
    ('{"question": "Q1", "correct": "a", "answer": "a"}', ":1: answer: unknown key"),
    ('{"question": "Q1", "correct": ["a", "a"]}', "with the correct option 'a' is already on line"),
]
BAD_FILES = {
    "lists.csv": BAD_LISTS,
    "lists.jsonl": BAD_JSON,
    "questions.csv": BAD_KEYS,
    "key.jsonl": BAD_JSON_KEYS,
}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [(name, *one) for name, table in BAD_FILES.items() for one in table],
    ids=[f"{name}{message}" for name, table in BAD_FILES.items() for _, message in table],
)
def test_wrong_files(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    """The first message names file, line, cell and remedy; a table has no other."""
    if name.startswith("lists"):
        path = study_in(tmp_path, text, name=name)
    else:
        path = study_in(tmp_path, key=text, questions=name)
        (tmp_path / "questions.csv").rename(tmp_path / name)
    with pytest.raises(quem.QuemError) as caught:
        load_options(path)
    first, *others = map(str, caught.value.mistakes)
    assert first.startswith(str(tmp_path / name))
    assert message in first
    assert not others or name.endswith(".jsonl")


BAD_STUDIES: list[tuple[dict[str, Any], str]] = [
    ({"lists": None}, "lists: is missing"),
    ({"lists": "list.csv"}, "lists: there is no file 'list.csv'; did you mean lists.csv?"),
    ({"questions": []}, "questions: there is no question"),
    ({"systems": [{"id": "x"}, {"id": "x"}]}, "systems: the id 'x' is used twice"),
    ({"systems": [{"id": "x"}, {"id": "Y"}]}, "system: unknown system 'y'; did"),
    ({"systems": [{"id": "x", "lists": "lists.csv"}], "lists": None}, "names 'y'"),
    ({"lists": ["lists.csv", "lists.csv"]}, "is also in"),
]


@pytest.mark.parametrize(("study", "message"), BAD_STUDIES)
def test_wrong_studies(tmp_path: Path, study: dict[str, Any], message: str) -> None:
    with pytest.raises(quem.QuemError) as caught:
        quem.analyze(quem.load_study(study_in(tmp_path, **study)), samples=0)
    assert any(message in str(mistake) for mistake in caught.value.mistakes), caught.value


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
        for name, table in filed.tables().items():
            columns = [column for column in table if column not in {"study", "name"}]
            pd.testing.assert_frame_equal(table[columns], result.table(name)[columns])
        assert [w.code for w in result.warnings] == [w.code for w in filed.warnings]


ONE = {"s": {"Q1": ["a"]}}
TWICE = pd.DataFrame({"question": ["Q1"] * 2, "option": ["a", "b"], "position": [1, 1]})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lists": {"Q1": ["a"]}}, "lists: system 'Q1': should be a dict of question to list"),
        ({"lists": {"s": {"Q1": ["a", "a"]}}}, "question 'Q1', system 's', options: a: is more"),
        ({"lists": {"s": {"Q9": ["a"]}}}, "lists: question 'Q9', system 's', question: unknown q"),
        ({"lists": {"s": {"Q1": {"a": "x"}}}}, "system 's', options.a: 'x' is not a number"),
        ({"lists": {"s": {"Q1": {"a": float("inf")}}}}, "options.a: input should be a finite"),
        ({"lists": {}}, "lists: holds no list"),
        ({"lists": 3}, "lists: should be a DataFrame, or a dict of system to qu"),
        ({"lists": pd.DataFrame({"question": ["Q1"]})}, "lists: option: column 'option' not"),
        ({"lists": TWICE}, "lists:2:3: position: duplicate: '1' is twice in the list"),
        ({"lists": {"s": {1: [], "1": []}}, "correct": {1: "a"}}, "the list for '1' is also in li"),
        ({"correct": {}}, "correct: there is no question"),
        ({"correct": {"Q1": None}}, "correct: question 'Q1', correct: is empty"),
        ({"correct": ["a"]}, "correct: should be a DataFrame, or a dict of question to"),
        ({"correct": {("Q", 1): "a"}}, "correct: question ('Q', 1), question: an id should be"),
        ({"headline": "MAE"}, "headline: is not a setting any longer"),
        ({"measures": "nope"}, "measures: there is no measure 'nope'"),
    ],
)
def test_wrong_objects(given: dict[str, Any], message: str) -> None:
    """Errors are one message with the question or key, without a file."""
    with pytest.raises(quem.QuemError) as caught:
        evaluate(**{"lists": ONE, "correct": {"Q1": "a", "Q2": "b"}, **given})
    assert message in str(caught.value)
    assert "<memory>" not in str(caught.value)
