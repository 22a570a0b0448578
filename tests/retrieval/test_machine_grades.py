"""Grades of machine judges correct the experts' means, and never vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from quem.retrieval.machine_grades import powered_mean
from tests.retrieval.made import codes, evaluated, mistakes, write_study
from tests.trials.retrieval_judges import MACHINES, covers_with_machines

if TYPE_CHECKING:
    from pathlib import Path

    from quem.retrieval.result import RetrievalResult

_H = [0.35, 0.71, 0.08, 0.77, 0.42, 0.95, 0.49, 0.81, 0.84]
_M = [0.5, 0.68, 0.23, 0.94, 0.81, 0.87, 0.33, 0.73, 0.74]
_OTHERS = [0.31, 0.75, 0.54, 0.27, 0.27, 0.74, 0.82, 0.5, 0.38, 0.56, 0.64, 0.61, 0.63, 0.66, 0.35]
_OTHERS += [0.75, 0.52, 0.77, 0.87, 0.44, 0.27]


def _golden() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    labeled = np.arange(30) < 9
    return np.array([*_H, *[np.nan] * 21]), np.array([*_M, *_OTHERS]), labeled


def test_the_mean_is_that_of_prediction_powered_inference() -> None:
    """As ppi_mean_pointestimate of ppi_py 0.2.3 gives it with the same λ, to 1e-9."""
    h, m, labeled = _golden()
    found = powered_mean(h, m, labeled, level=0.95)
    assert found.mean == pytest.approx(0.5226310107213696, abs=1e-9)
    # By the formulas, with other functions.
    share = np.cov(_H, _M)[0, 1] / np.var([*_M, *_OTHERS], ddof=1) * 21 / 30
    assert found.share == pytest.approx(share)
    rest = np.array(_H) - share * np.array(_M)
    parts = [(rest.var() * 9 / 7 / 9, 7), (share**2 * np.var(_OTHERS, ddof=1) / 21, 20)]
    total = sum(v for v, _ in parts)
    freedom = total**2 / sum(v**2 / df for v, df in parts)
    ends = stats.t.interval(0.95, freedom, found.mean, np.sqrt(total))
    assert found.interval == pytest.approx(ends)
    alone = stats.t.interval(0.95, 8, np.mean(_H), stats.sem(_H))
    assert found.alone_interval == pytest.approx(alone)
    assert found.worth == pytest.approx(9 / (1 - np.corrcoef(_H, _M)[0, 1] ** 2 * 21 / 30))


def test_a_steady_liking_cancels() -> None:
    """A constant added to all of a machine's scores changes nothing."""
    h, m, labeled = _golden()
    one, other = (powered_mean(h, m + liking, labeled, level=0.95) for liking in (0, 0.4))
    assert one.mean == pytest.approx(other.mean)
    assert one.interval == pytest.approx(other.interval)


@pytest.mark.parametrize(
    ("h", "m", "n"),
    [
        (_H, [1.0 - x for x in _M], 9),
        (_H, [0.5] * 9, 9),
        (_H[:2], _M[:2], 2),
        (_H, [np.nan] * 9, 9),
    ],
)
def test_machines_that_add_nothing(h: list[float], m: list[float], n: int) -> None:
    """Upside down, without any difference, with 2 queries, or without scores: experts alone."""
    others = [np.nan if np.isnan(m[0]) else 0.5] * 20
    labeled = np.arange(n + 20) < n
    found = powered_mean(
        np.array([*h, *[np.nan] * 20]), np.array([*m, *others]), labeled, level=0.95
    )
    assert found.share == 0
    assert (found.mean, found.interval) == (found.alone, found.alone_interval)
    everywhere = powered_mean(np.array(_H), np.array(_M), np.ones(9, dtype=bool), level=0.95)
    assert everywhere.share == 0


def test_queries_without_a_score_by_experts_bias_nothing() -> None:
    """Where machines know which queries have no score, the mean over the others stays right."""
    rng = np.random.default_rng(1)
    off = []
    for _ in range(300):
        truth = rng.random(60) * 0.5
        undefined = rng.random(60) < 0.3
        # The machine gives what has no score by experts the highest one.
        m = np.where(undefined, 1.0, truth + rng.normal(0, 0.05, 60))
        labeled = np.zeros(60, dtype=bool)
        labeled[rng.permutation(60)[:20]] = True
        h = np.where(labeled & ~undefined, truth, np.nan)
        off.append(powered_mean(h, m, labeled, level=0.95).mean - 0.25)
    assert abs(np.mean(off)) < 3.5 * np.std(off) / np.sqrt(300)


@pytest.mark.parametrize("name", ["good, n = 15", "biased, n = 25", "useless, n = 15"])
def test_intervals_cover(name: str) -> None:
    """Of 300 simulated studies, about 95% of the intervals; good machines narrow them."""
    rng = np.random.default_rng(3)
    each = [covers_with_machines(MACHINES[name], rng) for _ in range(300)]
    covered, _, share = np.mean(each, axis=0).tolist()
    # Three standard errors.
    assert 0.912 < covered < 0.988
    assert share < 0.7 or "useless" in name
    assert share < 1.06


def _study(tmp_path: Path, *, experts: int = 12, **truth: Any) -> Path:  # noqa: ANN401  keys
    """Twenty queries; experts judge some, a machine all, with its own noise."""
    rng = np.random.default_rng(5)
    grade = rng.integers(0, 4, (20, 10))
    runs = {}
    for name, noise in (("a", 1.0), ("b", 2.0)):
        lines = []
        for query in range(20):
            order = np.argsort(-(grade[query] + rng.normal(0, noise, 10)))
            lines += [f"q{query} Q0 d{d} {r} {20 - r} {name}" for r, d in enumerate(order.tolist())]
        runs[f"{name}_txt"] = "\n".join(lines)
    judged = [f"q{q},d{d},{grade[q, d]}" for q in range(experts) for d in range(10)]
    machine = [
        f"q{q},d{d},{j},{max(grade[q, d] + int(rng.integers(-1, 2)), 0)}"
        for q in range(20)
        for d in range(10)
        for j in ("gpt", "llama")
    ]
    return write_study(
        tmp_path,
        [{"id": "a", "run": "a.txt"}, {"id": "b", "run": "b.txt"}],
        {"qrels": "experts.csv", "machine_judgments": "machine.csv", **truth},
        cases=None,
        queries=None,
        experts_csv="query,case,grade\n" + "\n".join(judged) + "\n",
        machine_csv="query,case,judge,grade\n" + "\n".join(machine) + "\n",
        analysis={"measures": ["nDCG@5", "P@5"], "bootstrap": 0},
        **runs,
    )


def _means(result: RetrievalResult) -> Any:  # noqa: ANN401  a table
    return result.table("machine")


def test_experts_alone_are_beside(tmp_path: Path) -> None:
    """The table has each retriever and pair, by experts and with machines; scores are experts'."""
    result = evaluated(_study(tmp_path, experts_on="drawn"))
    table = _means(result)
    assert table[["a", "b", "measure"]].fillna("").to_numpy().tolist()[::2] == [
        ["a", "", "nDCG@5"],
        ["b", "", "nDCG@5"],
        ["a", "b", "nDCG@5"],
    ]
    assert table["n"].tolist() == [12] * 6
    assert table["experts_alone"].tolist()[:4] == pytest.approx(result.measures["mean"].tolist())
    assert result.measures["n_queries"].tolist() == [12] * 4
    assert (table["share"] > 0).any()
    machine = result.to_dict()["machine"]
    assert machine["judges"] == ["gpt", "llama"]
    assert (machine["n_experts"], machine["n_queries"], machine["drawn"]) == (12, 20, True)
    doubts = codes(result)
    assert "labeled-not-drawn" not in doubts
    assert "no-ground-truth" not in doubts
    assert "few-expert-queries" in doubts
    assert "by experts alone" in result.summary()
    assert "With machine judges" in result.to_html()


def _by_query(result: RetrievalResult) -> Any:  # noqa: ANN401  a table
    own = result.scores[result.scores["retriever"] == "a"]
    return own.pivot_table(index="query", columns="measure", values="score", sort=False)


def test_scores_of_machines_are_averaged(tmp_path: Path) -> None:
    """The mean is that of `powered_mean` with the mean of the scores by each machine."""
    path = _study(tmp_path)
    result = evaluated(path)
    lines = (tmp_path / "machine.csv").read_text().splitlines()[1:]
    each = []
    for judge in ("gpt", "llama"):
        rows = [line.split(",") for line in lines if f",{judge}," in line]
        text = "query,case,grade\n" + "".join(f"{q},{d},{g}\n" for q, d, _, g in rows)
        (tmp_path / "q.csv").write_text(text)
        other = write_study(
            tmp_path,
            [{"id": "a", "run": "a.txt"}],
            {"qrels": "q.csv"},
            cases=None,
            queries=None,
            analysis={"measures": ["nDCG@5", "P@5"], "bootstrap": 0},
        )
        each.append(_by_query(evaluated(other)))
    m = sum(each) / 2
    h = _by_query(result)
    for name in ("nDCG@5", "P@5"):
        own = h[name].reindex(m.index).to_numpy()
        wanted = powered_mean(own, m[name].to_numpy(), ~np.isnan(own), level=0.95)
        table = _means(result)
        row = table[(table["a"] == "a") & table["b"].isna() & (table["measure"] == name)].iloc[0]
        assert row["mean"] == pytest.approx(wanted.mean)
        assert row["low"] == pytest.approx(wanted.interval[0])


def test_machines_are_doubted(tmp_path: Path) -> None:
    """Where queries were chosen or it is not said; and where machines lack some."""
    assert "are not said to be drawn" in codes(evaluated(_study(tmp_path)))["labeled-not-drawn"]
    chosen = codes(evaluated(_study(tmp_path, experts_on="chosen")))
    assert "were chosen" in chosen["labeled-not-drawn"]
    path = _study(tmp_path, experts_on="drawn")
    lines = (tmp_path / "machine.csv").read_text().splitlines()
    (tmp_path / "machine.csv").write_text("\n".join(x for x in lines if "q19," not in x) + "\n")
    (tmp_path / "queries.csv").write_text("id\n" + "".join(f"q{q}\n" for q in range(20)))
    text = path.read_text().replace("kind: retrieval", "kind: retrieval\nqueries: queries.csv")
    path.write_text(text)
    assert "19 of the 20 queries" in codes(evaluated(path))["machine-queries-missing"]


def test_machine_grades_are_checked(tmp_path: Path) -> None:
    """A file without judges is one machine's; a case twice in it is refused."""
    path = _study(tmp_path)
    (tmp_path / "machine.csv").write_text("query,case,grade\nq0,d0,1\nq0,d0,2\n")
    assert "machine.csv:3:2: case: duplicate: the file has already graded" in mistakes(path)
    text = "".join(f"q{q},d{d},{d % 3}\n" for q in range(20) for d in range(10))
    (tmp_path / "machine.csv").write_text("query,case,grade\n" + text)
    assert evaluated(path).to_dict()["machine"]["judges"] == ["machine"]
