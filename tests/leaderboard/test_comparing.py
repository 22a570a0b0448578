"""Leaderboards of studies: what they are made of, what is refused, and what they say."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.leaderboard.compare import compare_scores
from quem.lists.inference import query_means, sign_flips
from tests.leaderboard.made import FEW, QUERIES, compared, table_of, write_retrievers
from tests.options.made import study_in

if TYPE_CHECKING:
    from quem.leaderboard.result import LeaderboardResult
    from quem.lists.score_table import ScoreTable

NAN = float("nan")
SHIPPED = Path(__file__).resolve().parents[2] / "studies"


def _refused(*given: object, **settings: object) -> str:
    with pytest.raises(quem.QuemError) as error:
        quem.compare(*given, **settings)  # type: ignore[call-overload]
    return str(error.value)


def test_one_study_gives_the_numbers_of_its_analysis(tmp_path: Path) -> None:
    """Means, intervals, and the test of two retrievers are those of `quem analyze`."""
    path = write_retrievers(tmp_path, "one", {"a": 0.4, "b": 1.2})
    analyzed = quem.analyze(quem.load_study(path, kind="retrieval"))
    board = compared(path)
    for at, one in enumerate(analyzed.findings.scored):
        assert one.means is not None
        assert board.findings.mean[at] == pytest.approx(one.means.mean)
        assert board.findings.low[at] == pytest.approx(one.means.low)
        assert board.findings.high[at] == pytest.approx(one.means.high)
    for pair in analyzed.findings.differences:
        other = board.findings.contrast(0, 1, pair.measure)
        assert other.difference == pytest.approx(-pair.difference)
        assert other.interval == pytest.approx((-pair.interval[1], -pair.interval[0]))
        assert (other.p, other.p_joint) == (pair.p, pair.p)
        assert (other.better, other.equal, other.worse) == (pair.lower, pair.equal, pair.higher)
    assert board.leaderboard["system"][:2].tolist() == ["b", "a"]
    assert board.leaderboard["place"][:2].tolist() == [1, 2]
    assert "few-common-queries" in {doubt.code for doubt in board.warnings}


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "truth": ({"truth": 1}, "two.yaml: the ground truth is not that of"),
    "queries": (
        {"queries": QUERIES + 2},
        "two.yaml: 2 queries are only here ('q24' and 'q25'); systems are compared on the same",
    ),
    "ties": (
        {"ties": "trec"},
        "two.yaml: analysis.ties: is trec here and expected in",
    ),
    "measures": (
        {"measures": ["AP", "P@5"]},
        "two.yaml: analysis.measures: P@5 is only here and RR and nDCG@5 are only in",
    ),
    "headline": ({"headline": "RR"}, "two.yaml: analysis.headline: is RR here and AP in"),
    "level": ({"level": 0.9}, "level: the studies ask for different levels: 0.95 ("),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_does_not_fit_is_refused(tmp_path: Path, what: str) -> None:
    """Another truth, other queries, measures, or settings are named with place and remedy."""
    changed, message = CHANGES[what]
    one = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9})
    two = write_retrievers(tmp_path, "two", {"c": 0.5}, seed=3, **changed)
    studies = [quem.load_study(path) for path in (one, two)]
    said = _refused(*studies)
    assert said.replace(f"{tmp_path}/", "").startswith(message)
    assert "\n" not in said
    if what == "level":
        assert quem.compare(*studies, level=0.8).findings.settings.level == 0.8
    if what == "measures":
        assert "--measures 'AP'" in said
        common = quem.compare(*studies, measures=["AP"]).findings
        assert [one.name for one in common.table.measures] == ["AP"]


def test_settings_that_are_none_are_refused(tmp_path: Path) -> None:
    """Systems, measures, and settings that there are not are named with what there is."""
    study = quem.load_study(write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9}))
    assert "systems: there is no retriever 'c'; there are a and b" in _refused(
        study, systems=["a", "c"]
    )
    assert "a comparison needs two entries, and only a is here" in _refused(study, systems=["a"])
    result = quem.analyze(study)
    assert "headline: there is no measure 'P@3'" in _refused(result, headline="P@3")
    with pytest.raises(TypeError, match="compare takes no form"):
        quem.compare(study, form="log")
    experience = quem.load_study(SHIPPED / "p3-1997" / "study.yaml")
    with pytest.raises(TypeError, match="studies of one kind, and not one of kind experience"):
        quem.compare(study, experience)
    options = quem.load_study(study_in(tmp_path, name="lists-of-options.csv"))
    assert "is of kind options, and" in _refused(study, options)


def test_strategies_are_compared_with_their_parameters(tmp_path: Path) -> None:
    """What strategies are made of may differ, and how they are measured may not."""
    shutil.copy(SHIPPED / "ccbr" / "bikes.csv", tmp_path)
    head = (
        "kind: dialogue\ncases: {file: bikes.csv, class: fault, id: bike}\n"
        "users: [T5 0.1, DL]\nstrategies: [DD, ND]\n"
    )
    lines = (tmp_path / "bikes.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "few.csv").write_text("\n".join(lines[:9]))
    (tmp_path / "last.csv").write_text("\n".join([lines[0], *lines[9:17]]))
    for name, more, queries in (
        ("near", "", ""),
        ("far", "neighbors: 20, ", ""),
        ("other", "k: 5, ", ""),
        ("within", "", "queries: leave-one-in\n"),
        ("few", "", "queries: few.csv\n"),
        ("last", "", "queries: last.csv\n"),
    ):
        analysis = f"analysis: {{{more}orders: 1, bootstrap: 50, permutations: 99}}\n"
        (tmp_path / f"{name}.yaml").write_text(
            f"{head}id: {name}\n{queries}{analysis}", encoding="utf-8"
        )
    near, far, other = (
        quem.load_study(tmp_path / f"{name}.yaml", kind="dialogue")
        for name in ("near", "far", "other")
    )
    result = quem.compare(near, far)
    findings = result.findings
    assert [measure.name for measure in findings.table.measures] == [
        "rank quality", "efficiency T5 0.1", "efficiency DL", "precision T5 0.1", "precision DL"
    ]  # fmt: skip
    # DD has no neighbors, and is the same with any number of them.
    assert findings.contrast(0, 2, 0).equal == 64
    assert findings.contrast(0, 2, 0).p_joint == 1
    assert findings.contrast(1, 3, 0).equal < 64
    analyzed = quem.analyze(near).findings
    assert findings.mean[:2, 0] == pytest.approx(analyzed.whole.mean[:, 0])
    assert findings.mean[:2, 2] == pytest.approx(analyzed.efficiency.mean[:, 1])
    assert "analysis.k: is 5 here and 10 in" in _refused(near, other)
    within, few, last = (
        quem.load_study(tmp_path / f"{name}.yaml", kind="dialogue")
        for name in ("within", "few", "last")
    )
    assert "queries: is leave-one-in here and leave-one-out in" in _refused(near, within)
    assert "8 targets are only here ('B09', 'B10'" in _refused(few, last)
    assert len(quem.compare(few).findings.table.queries) == 8
    chosen = quem.compare(near, measures=["precision DL"], headline="efficiency DL").findings
    assert [m.name for m in chosen.table.measures] == ["precision DL", "efficiency DL"]
    assert chosen.measure(chosen.headline) == "efficiency DL"


def _board(values: Any, *measures: tuple[str, str], **more: Any) -> LeaderboardResult:  # noqa: ANN401
    table: ScoreTable = table_of(np.array(values, dtype=float), measures or (("AP", "higher"),))
    return compare_scores([table], **{**FEW, **more})


def test_few_scores_are_neither_ranked_nor_tested() -> None:
    """A system with a score on fewer than half of the queries comes last, without letters."""
    rng = np.random.default_rng(0)
    values = rng.random((3, 20, 1))
    values[1] += 1
    values[2, 8:] = NAN
    values[2, :8] += 5
    result = _board(values)
    frame = result.leaderboard
    assert frame["system"].tolist() == ["System 1", "System 0", "System 2"]
    assert frame["place"].astype(object).where(frame["place"].notna(), None).tolist() == [
        1,
        2,
        None,
    ]
    assert frame["letters"].tolist() == ["a", "b", ""]
    assert [c.is_tested for c in result.findings.contrasts] == [True, False, False]
    apart = (values[0] - values[1])[:, :1]
    assert (
        result.findings.contrast(0, 1, 0).p_joint
        == sign_flips(apart, permutations=199, seed=0)[0].p
    )
    messages = {warning.code: warning.message for warning in result.warnings}
    assert messages["few-defined"].startswith("System 2 is not ranked by AP")


def test_measures_that_disagree_are_named() -> None:
    """Significant differences in opposite directions are a conflict."""
    rng = np.random.default_rng(2)
    base = rng.random((3, 30, 3))
    base[0, :, 0] += 1
    base[1, :, 1] += 1
    result = _board(base, ("AP", "higher"), ("RR", "higher"), ("P", "higher"))
    findings = result.findings
    assert findings.letters(0) == ["a", "b", "b"]
    assert findings.letters(2) == ["a", "a", "a"]
    codes = {warning.code: warning.message for warning in result.warnings}
    said = "System 1 is better depends on the measure: at 95% System 0 is better by AP, and System"
    assert said in codes["measures-conflict"]


def test_pairs_use_their_common_queries() -> None:
    """A missing score takes a query out of the pairs with that system, and out of no other."""
    rng = np.random.default_rng(4)
    values = rng.random((3, 30, 1))
    values[0, :10] = NAN
    values[2, 25:] = NAN
    findings = _board(values).findings
    assert [c.n for c in findings.contrasts] == [20, 15, 25]
    for one in findings.contrasts:
        apart = values[one.second, :, 0] - values[one.first, :, 0]
        assert one.difference == pytest.approx(np.nanmean(apart))
        expected = query_means(apart[:, np.newaxis], level=0.95, replicates=50, seed=0)
        assert one.interval == pytest.approx((expected.low[0], expected.high[0]))
        assert one.is_tested == (one.n >= 15)
    values[2, :] = NAN
    values[2, :15] = 1.0
    result = _board(values)
    messages = {warning.code: warning.message for warning in result.warnings}
    assert "no test of System 0 and System 2" in messages["not-on-common-queries"]
