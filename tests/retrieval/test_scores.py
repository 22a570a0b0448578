"""Scores, means and differences that mislead nobody: ties, failures, few queries, and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pytest

import quem
from quem.report.files import report_files
from quem.retrieval.analysis import check_retrieval
from tests.retrieval.made import codes, evaluated, mistakes, write_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.retrieval.result import RetrievalResult

THEIRS = {"P@5": ir_measures.P @ 5, "AP": ir_measures.AP, "nDCG@10": ir_measures.nDCG @ 10}
FILES: dict[str, Any] = {"cases": None, "queries": None}
TIED = np.array([0.1, 0.2, 0.3])


def _judged(folder: Path, ties: str, **more: Any) -> Path:  # noqa: ANN401
    """20 queries with lists full of ties, and graded judgments."""
    rng = np.random.default_rng(3)
    qrels, run = [], []
    for query in range(20):
        grades = rng.integers(-3, 3, 40)
        qrels += [f"q{query} 0 d{case} {grade}" for case, grade in enumerate(grades) if grade >= 0]
        for rank, case in enumerate(rng.permutation(40)[:25], 1):
            run.append(f"q{query} Q0 d{case} {rank} {float(rng.choice(TIED))!r} t")
    settings = {"measures": list(THEIRS), "bootstrap": 0, "ties": ties, **more}
    return write_study(
        folder,
        [{"id": "t", "run": "t.txt"}],
        {"qrels": "q.txt"},
        **FILES,
        t_txt="\n".join(run),
        q_txt="\n".join(rng.permutation(qrels).tolist()),
        analysis=settings,
    )


def _answers(result: RetrievalResult) -> list[tuple[str, ...]]:
    """The heads and rows of the first table."""
    table = result.context()["answers"]
    return [table.columns, *table.rows]


def _means(result: RetrievalResult) -> dict[str, float]:
    return dict(zip(result.measures["measure"], result.measures["mean"], strict=True))


def test_expected_scores_leave_ties_open(tmp_path: Path) -> None:
    """The mean of many runs with ties broken at random; the report says how many are tied."""
    path = _judged(tmp_path, "expected")
    result = evaluated(path)
    rng = np.random.default_rng(0)
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "q.txt")))  # type: ignore[no-untyped-call]
    run = list(ir_measures.read_trec_run(str(tmp_path / "t.txt")))  # type: ignore[no-untyped-call]
    drawn = [
        ir_measures.calc_aggregate(
            THEIRS.values(),
            qrels,
            [
                ir_measures.ScoredDoc(d.query_id, d.doc_id, d.score + rng.uniform(0, 0.01))
                for d in run
            ],
        )
        for _ in range(150)
    ]
    for name, mean in _means(result).items():
        values = [one[THEIRS[name]] for one in drawn]
        assert mean == pytest.approx(np.mean(values), abs=4 * np.std(values) / 150**0.5), name
    assert result.findings.scored[0].tied_share == 1
    assert "tied: the share of positions" in result.summary()
    assert dict(zip(*_answers(result), strict=True))["tied"] == "100%"
    assert "mean over all orders of cases with equal similarity" in result.summary()


def test_grades_have_no_order(tmp_path: Path) -> None:
    """Measures that need one are refused by name, also by check; the defaults are without."""
    path = _judged(tmp_path, "expected", measures="hits_norm@5 map distance")
    message = mistakes(path)
    assert (
        "hits_norm@5 needs an order of the cases, and judgments of one grade have none" in message
    )
    assert "distance needs an order" in message
    assert "AP needs" not in message
    assert "study.yaml:" in message
    with pytest.raises(quem.QuemError, match="hits_norm@5 needs an order"):
        check_retrieval(quem.load_study(path, kind="retrieval"))
    names = _means(evaluated(_judged(tmp_path, "expected", measures=[])))
    assert list(names) == [
        *("AP", "AP@10", "RR", "RR@10", "nDCG", "nDCG@10", "RBP", "RBP@10", "P", "P@10")
    ]


def _lists(**lists: dict[str, str]) -> dict[str, Any]:
    """Files of result lists, a string of cases a query; the truth is a, then b, then c."""
    files = {
        f"{name}_csv": "query,rank,case\n"
        + "".join(
            f"{query},{rank},{case}\n"
            for query, cases in own.items()
            for rank, case in enumerate(cases, 1)
        )
        for name, own in lists.items()
    }
    queries = dict.fromkeys(q for own in lists.values() for q in own)
    truth = "query,case,similarity\n" + "".join(
        f"{query},{case},{value}\n"
        for query in queries
        for case, value in zip("abc", (0.9, 0.6, 0.1), strict=True)
    )
    return {**files, "truth_csv": truth, **FILES}


def test_means_over_few_queries_are_not_ranked(tmp_path: Path) -> None:
    """Perfect on 2 of 20 queries: shown with its n, greyed, not tested, and warned of."""
    lucky = {f"q{n}": "abc" if n < 2 else "a" for n in range(20)}
    good = {f"q{n}": "abc" if n % 3 else "acb" for n in range(20)}
    other = {f"q{n}": "acb" if n % 3 else "cab" for n in range(20)}
    retrievers = [{"id": name, "run": f"{name}.csv"} for name in ("lucky", "good", "other")]
    path = write_study(
        tmp_path,
        retrievers,
        {"similarities": "truth.csv"},
        **_lists(lucky=lucky, good=good, other=other),
    )
    result = evaluated(path, measures=["kendall", "hits_norm@2"])
    table = result.measures.set_index(["retriever", "measure"])
    assert table.loc[("lucky", "kendall"), "n_queries"] == 2
    assert not table.loc[("lucky", "kendall"), "ranked"]
    assert table.loc[("lucky", "hits_norm@2"), "ranked"]
    pairs = {(p["a"], p["b"], p["measure"]): p for p in result.differences.to_dict("records")}
    untested = pairs["lucky", "good", "kendall"]
    assert not untested["tested"]
    assert np.isnan(untested["p_holm"])
    # Holm's number is that of the pairs that are tested.
    tested = pairs["good", "other", "kendall"]
    assert tested["tested"]
    assert tested["p_holm"] == tested["p"]
    assert "kendall of 'lucky' (2)" in codes(result)["few-defined"]
    line = next(line for line in result.summary().splitlines() if line.startswith("  lucky"))
    assert line.split("  ")[1:4] == ["lucky", "1.000 (1.000 to 1.000) †", "2"]
    assert "defined for fewer than half of the 20 queries" in result.summary()
    assert [row[0] for row in _answers(result)[1:]] == ["good", "other", "lucky"]
    page = report_files(result)["report.html"].decode()
    assert '<td class="n muted">1.000 (1.000 to 1.000) †</td>' in page
    assert '<td class="n muted">1.000 (1.000 to 1.000) n = 2 †</td>' in page
    beside = evaluated(path, measures=["kendall", "hits_norm@2"], headline="hits_norm@2")
    assert ("lucky", "1.000 n = 2 †") in [(row[0], row[-1]) for row in _answers(beside)]
    assert "few-defined" not in codes(evaluated(path, measures=["hits_norm@2"]))


FAILING = """
def retrieve(query, k, cases):
    if query.id == "q2" or BAD:
        raise OSError("down")
    return [(name, 1 / (1 + abs(case["x"] - (query["x"] or 0)))) for name, case in sorted(
        cases.items(), key=lambda pair: abs(pair[1]["x"] - (query["x"] or 0)))][:k]
"""


def test_a_failure_scores_like_an_empty_list(tmp_path: Path) -> None:
    """As the same lists do in a file that lacks the query; both count the failure."""
    code = FAILING.replace(" or BAD", "")
    retrievers: list[dict[str, Any]] = [
        {"id": "all", "linear": {"attributes": [{"name": "x"}]}},
        {"id": "fails", "python": "fails:retrieve"},
        {"id": "lacks", "run": "lacks.csv"},
        {"id": "never", "python": "never:retrieve"},
    ]
    keys: dict[str, Any] = {
        "queries_csv": "id,x\nq1,1.6\nq2,3\nq3,2.2\n",
        "fails_py": code,
        "never_py": FAILING.replace("BAD", "True"),
        "lacks_csv": "query,rank,case\nq1,1,a\n",
    }
    by = ["hits_norm@2", "nDCG@2", "kendall"]
    first = evaluated(write_study(tmp_path, retrievers, "all", **keys), measures=by)
    lists = {q: first.findings.scored[0].run.lists.of(n)[0] for n, q in ((0, "q1"), (2, "q3"))}
    keys["lacks_csv"] = "query,rank,case,similarity\n" + "".join(
        f"{q},{rank},{'abcd'[case]},{1 / rank}\n"
        for q, cases in lists.items()
        for rank, case in enumerate(cases, 1)
    )
    result = evaluated(write_study(tmp_path, retrievers, "all", **keys), measures=by)
    table = result.measures.set_index(["retriever", "measure"])
    for name in ("hits_norm@2", "nDCG@2"):
        means = table["mean"].xs(name, level=1).to_dict()
        assert 0 < means["fails"] == means["lacks"] < 1
        assert means["never"] == 0
        assert table.loc[("fails", name), "n_queries"] == 3
    assert table["failures"].xs("hits_norm@2", level=1).to_dict() == {
        "fails": 1,
        "lacks": 1,
        "never": 3,
    }
    heads, *rows = _answers(result)
    counted = {row[0]: row[heads.index("failures")] for row in rows}
    assert counted == {"fails": "1", "lacks": "1", "never": "3"}
    assert "failures: queries without a list" in result.summary()
    messages = [doubt.message for doubt in result.warnings if doubt.code == "retriever-failed"]
    assert (
        "1 of 3 queries, which counts as an empty list (kendall leaves empty lists out)"
        in messages[0]
    )
    assert "for any query, which count as empty lists" in messages[1]
    reasons = result.scores.set_index(["retriever", "query", "measure"])["reason"]
    assert "raised OSError: down" in reasons["fails", "q2", "hits_norm@2"]


@pytest.mark.parametrize("order", [("better", "worse"), ("worse", "better")])
@pytest.mark.parametrize(("measure", "sign"), [("nDCG@1", "+"), ("distance", "−")])
def test_the_sentence_has_the_sign_of_who_it_names_first(
    tmp_path: Path, order: tuple[str, str], measure: str, sign: str
) -> None:
    """Whichever the study names first; the better one has more, or less where less is better."""
    lists = {
        "better": {f"q{n}": "abc" for n in range(8)},
        "worse": {f"q{n}": "bca" if n else "bac" for n in range(8)},
    }
    retrievers = [{"id": name, "run": f"{name}.csv"} for name in order]
    path = write_study(tmp_path, retrievers, {"similarities": "truth.csv"}, **_lists(**lists))
    result = evaluated(path, measures=[measure])
    scores = result.measures.set_index("retriever")["mean"]
    apart = abs(scores["better"] - scores["worse"])
    line = next(line for line in result.summary().splitlines() if "better than worse" in line)
    sentence = f"better scores better than worse on {measure}: difference {sign}{apart:.3f} ("
    assert f"{sentence}{sign.strip('+')}" in line
