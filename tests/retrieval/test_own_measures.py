"""Measures of a study's own, of both kinds that name measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import quem
from quem.cli import main
from quem.scores.listing import list_measures
from tests.options.made import analysed, study_in
from tests.retrieval.made import mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path

RUN = "query,case,score\nq1,a,3\nq1,b,2\nq1,c,2\nq2,d,1\nq2,b,0.5\nq3,x,1\n"
QRELS = "query,case,grade\nq1,b,1\nq1,a,0\nq2,b,2\nq3,a,1\n"
CODE = '''
import quem.lists
from helper import known


def novelty(items, truth):
    """The share of the list that nobody has judged."""
    return 1 - known(items, truth) / len(items) if items else None


def _found(run):
    return run.hits().found, ()


found = quem.lists.Definition(
    name="hits", summary="How many relevant cases are found.", compute=_found
)
number = 3


class Thing:
    pass


def fails(items, truth):
    return truth["nobody"]
'''
HELPER = "def known(items, truth):\n    return sum(i in truth for i in items)\n"


def _study(folder: Path, measures: list[Any], *, code: str = CODE, **analysis: Any) -> Path:  # noqa: ANN401  settings
    return write_study(
        folder,
        [{"id": "r", "run": "run.csv"}],
        {"qrels": "qrels.csv"},
        cases=None,
        queries=None,
        run_csv=RUN,
        qrels_csv=QRELS,
        mine_py=code,
        helper_py=HELPER,
        analysis={"measures": measures, **analysis},
    )


NOVELTY = {"python": "mine:novelty", "better": "lower"}
FOUND = {"python": "mine:found"}


def test_scores_beside_ours(tmp_path: Path) -> None:
    """A function and a definition of a file have scores and means like ours."""
    path = _study(tmp_path, [NOVELTY, {**NOVELTY, "k": 2}, FOUND, "AP"])
    study = quem.load_study(path, kind="retrieval")
    assert {file.name for file in study.files} >= {"mine.py", "helper.py"}
    result = quem.analyze(study)
    table = result.table_of_scores
    assert table.columns == ("novelty", "novelty@2", "found", "AP")
    np.testing.assert_allclose(table.values[0, :, 0], [1 / 3, 1 / 2, 1])
    # One of b and c, which tie, is second: half of the orders have the unknown one there.
    np.testing.assert_allclose(table.values[0, :, 1], [0.25, 0.5, 1])
    assert table.values[0, :, 2].tolist() == [1, 1, 0]
    assert result.to_dict()["settings"]["measures"][1] == "novelty@2"
    assert "novelty: The share of the list that nobody has judged (mine:novelty" in result.to_html()
    listed = list_measures(own=study.own_measures)
    assert listed.startswith("Measures of the study's own\n  novelty  The share of the list")
    assert "mine:novelty of the study" in list_measures("novelty", study.own_measures)


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ([{"python": "mine:fails"}], "fails: query 'q1': the function raised KeyError: 'nobody'"),
        ([{"python": "mine:number"}], "measures[1].python: is not a measure; name a function("),
        ([{"python": "mine:Thing"}], "measures[1].python: is not a measure; name a function("),
        ([{"python": "mine:novelti"}], "has no 'novelti'; did you mean novelty?"),
        ([{"python": "other:novelty"}], "there is no file other.py in the study's folder"),
        ([{"python": "novelty"}], "'novelty' does not name a Python function"),
        ([{**NOVELTY, "name": "a b"}], "measures[1].name: 'a b' cannot be the name of a measure"),
        ([NOVELTY, {**FOUND, "name": "novelty"}], "measures[2].name: another measure has the name"),
        ([{**NOVELTY, "best": "low"}], "measures[1].best: unknown key; did you mean better?"),
        ([{**FOUND, "k": 2}], "found@2: found has no cutoff"),
        ([NOVELTY, "novelty(p=1)"], "novelty(p=1): 'p' is not a parameter of novelty; it has k"),
        ([NOVELTY, "novelti"], "there is no measure 'novelti'"),
    ],
)
def test_mistakes(tmp_path: Path, measures: list[Any], message: str) -> None:
    """What is wrong with a measure of the study is named, with its place."""
    assert message in mistakes(_study(tmp_path, measures))


def test_code_can_be_refused(tmp_path: Path) -> None:
    """With `code=False` and `--no-code` nothing of the study is run."""
    (tmp_path / "o").mkdir()
    for study in (
        _study(tmp_path, [NOVELTY], code="raise SystemExit\n"),
        study_in(tmp_path / "o", analysis={"measures": [NOVELTY, "OLAR"]}),
    ):
        with pytest.raises(quem.QuemError, match=r"'mine:novelty' is Python code, which --no-code"):
            quem.load_study(study, code=False)
        found = CliRunner().invoke(main, ["check", str(study), "--no-code"])
        assert found.exit_code == 1
        assert "--no-code" in str(found.exception)


def test_measures_of_options(tmp_path: Path) -> None:
    """A function is given numbers for options, and the correct one."""
    (tmp_path / "mine.py").write_text(
        "def early(items, truth):\n"
        '    """One over the place of the correct option."""\n'
        "    return next((1 / n for n, i in enumerate(items, 1) if i in truth), 0)\n",
        encoding="utf-8",
    )
    result = analysed(study_in(tmp_path, analysis={"measures": [{"python": "mine:early"}, "RR"]}))
    scores = result.table_of_scores.values
    np.testing.assert_array_equal(scores[..., 0], scores[..., 1])
    short = quem.lists.define(lambda items, _: -len(items), name="short")
    other = quem.analyze(result.findings.study, measures=["early", short])
    assert other.table_of_scores.columns == ("early", "short")


def test_a_name_of_ours_needs_a_prefix(tmp_path: Path) -> None:
    """A function called `map` is `own.map`; without the prefix the name is that of quem's AP."""
    path = _study(tmp_path, [{**NOVELTY, "name": "map"}, "map", "AP"])
    result = quem.analyze(quem.load_study(path, kind="retrieval"))
    assert result.table_of_scores.columns == ("own.map", "AP")
