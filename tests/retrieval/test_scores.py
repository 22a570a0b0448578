"""Scores that mislead nobody, and measures of a study's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import quem
from quem.cli import main
from quem.retrieval.analysis import check_retrieval
from tests.options.made import analysed, study_in
from tests.retrieval.made import DATA, codes, evaluated, mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path


def _judged(folder: Path, **analysis: Any) -> Path:  # noqa: ANN401
    """Lists with ties, and graded judgments of a part of the cases."""
    retrievers = [{"id": "t", "run": str(DATA / "bm25.run")}]
    truth = {"qrels": str(DATA / "qrels.txt")}
    return write_study(folder, retrievers, truth, cases=None, queries=None, analysis=analysis)


def test_grades_have_no_order(tmp_path: Path) -> None:
    """Measures that need one are refused by name, also by check; the defaults are without."""
    path = _judged(tmp_path, measures=["hits_norm@5", "AP"])
    message = mistakes(path)
    assert message.startswith("study.yaml:")
    assert "hits_norm@5 needs an order of the cases" in message
    assert "AP needs" not in message
    with pytest.raises(quem.QuemError, match="hits_norm@5 needs an order"):
        check_retrieval(quem.load_study(path, kind="retrieval"))
    result = evaluated(_judged(tmp_path))
    assert result.table_of_scores.columns == ("nDCG@10", "AP", "RR", "P@10", "R@100")
    (row,) = result.to_dict()["systems"]
    assert 0 < row["tied"] < 1
    judged = evaluated(path, measures="Judged@10").means["mean"]
    assert row["judged"] == pytest.approx(judged.item())
    assert "of 't' are judged" in codes(result)["unjudged-cases"]


def test_k_makes_columns(tmp_path: Path) -> None:
    result = evaluated(_judged(tmp_path, measures=["nDCG", "RR", "P@3"], k=[2, 5]))
    names = ("nDCG", "nDCG@2", "nDCG@5", "RR", "RR@2", "RR@5", "P@3")
    assert result.table_of_scores.columns == names
    heading = "measure t t (k = 2) t (k = 5)".split()
    assert heading in [line.split() for line in result.summary().splitlines()]


FAILING = """
def retrieve(query, k):
    if query.id == "q2":
        raise OSError("down")
    return [("b", 2), ("a" if query.id == "q1" else "c", 1)]
"""


def test_a_failure_scores_like_an_empty_list(tmp_path: Path) -> None:
    """As the same lists do in a file that lacks the query: 0."""
    retrievers: list[dict[str, Any]] = [
        {"id": "all", "linear": {"attributes": [{"name": "x"}]}},
        {"id": "fails", "python": "fails:retrieve"},
        {"id": "lacks", "run": "lacks.csv"},
    ]
    run = "query,position,case\nq1,1,b\nq1,2,a\nq3,1,b\nq3,2,c\n"
    keys = {"queries_csv": "id,x\nq1,1.6\nq2,3\nq3,2.2\n", "fails_py": FAILING, "lacks_csv": run}
    path = write_study(tmp_path, retrievers, "all", **keys)
    result = evaluated(path, measures=["hits_norm@2", "nDCG@2"])
    means = result.table_of_scores.means
    assert (means.mean[0] == means.mean[1]).all()
    assert ((means.mean > 0) & (means.mean < 1)).all()
    assert (means.n == 3).all()
    assert [one["failures"] for one in result.to_dict()["systems"]] == [1, 1]
    assert "1 of 3 queries, which counts as empty" in codes(result)["retriever-failed"]
    reasons = result.table("failures").set_index("retriever")["reason"]
    assert "raised OSError: down" in reasons["fails"]
    assert reasons["lacks"] == "is not in the file"


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
'''
HELPER = "def known(items, truth):\n    return sum(i in truth for i in items)\n"


def _study(folder: Path, measures: list[Any], code: str = CODE) -> Path:
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
        analysis={"measures": measures},
    )


NOVELTY = {"python": "mine:novelty", "better": "lower"}
FOUND = {"python": "mine:found"}


def test_scores_beside_ours(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ([{"python": "mine:number"}], "measures[1].python: is not a measure; name a function("),
        ([{"python": "mine:novelti"}], "has no 'novelti'; did you mean novelty?"),
        ([{**NOVELTY, "name": "a b"}], "measures[1].name: 'a b' cannot be the name of a measure"),
        ([NOVELTY, {**FOUND, "name": "novelty"}], "measures[2].name: another measure has the name"),
        ([{**NOVELTY, "best": "low"}], "measures[1].best: unknown key; did you mean better?"),
        ([{**FOUND, "k": 2}], "found@2: found has no cutoff"),
        ([NOVELTY, "novelty(p=1)"], "novelty(p=1): 'p' is not a parameter of novelty; it has k"),
    ],
)
def test_mistakes(tmp_path: Path, measures: list[Any], message: str) -> None:
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
    (tmp_path / "mine.py").write_text(
        "def early(items, truth):\n"
        "    return next((1 / n for n, i in enumerate(items, 1) if i in truth), 0)\n"
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
