"""Confidences: the sweep over thresholds, calibration, and the length of lists, by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem import lists as measures
from quem.options import evaluate
from quem.scores.inference import Inference, drawn_queries
from tests.options.made import analysed, study_in

if TYPE_CHECKING:
    from pathlib import Path


_OPTIONS = st.lists(st.tuples(st.sampled_from("cw"), st.integers(0, 5)), min_size=1, max_size=5)


@given(
    st.lists(_OPTIONS, min_size=2, max_size=8),
    st.integers(0, 2),
    st.sampled_from(["OLAR", "AP", "F1"]),
)
def test_scores_are_those_of_lists_cut_by_hand(
    drawn: list[list[tuple[str, int]]], lacking: int, name: str
) -> None:
    """Every threshold, length, share and score; ties of confidence keep their order."""
    lists = {
        f"Q{q}": [(f"{sign}{i}", tenths / 10) for i, (sign, tenths) in enumerate(listed)]
        for q, listed in enumerate(drawn)
    }
    truths = {q: [option for option, _ in one if option[0] == "c"] for q, one in lists.items()}
    for right in truths.values():
        right += [f"lost{n}" for n in range(max(lacking, not right))]
    rows = evaluate({"s": lists}, truths, measures=name, samples=0).table("thresholds")
    assert rows.threshold.tolist() == sorted({c for one in lists.values() for _, c in one})
    values: Any = {"max_length": max(map(len, drawn))} if name == "OLAR" else {}
    for row in rows.to_dict("records"):
        shown = {}
        for q, listed in lists.items():
            best = sorted(listed, key=lambda option: -option[1])
            reached = [option for option, c in best if c >= row["threshold"]]
            shown[q] = reached or [best[0][0]]
        hits = [bool({*options} & {*truths[q]}) for q, options in shown.items()]
        scores = [measures.score(shown[q], truths[q], name, **values).value for q in shown]
        assert row["length"] == pytest.approx(np.mean([*map(len, shown.values())]))
        assert row["correct"] == pytest.approx(np.mean(hits))
        assert row["mean"] == pytest.approx(np.nanmean(scores))


def test_lists_against_their_confidences_are_told(tmp_path: Path) -> None:
    """Positions that contradict confidences warn; confidences order the sweep."""
    lists = "question,option,position,confidence\nQ1,b,1,0.2\nQ1,a,2,0.8\nQ2,b,1,0.9\nQ3,c,1,0.7\n"
    result = analysed(study_in(tmp_path, lists))
    (message,) = (d.message for d in result.warnings if d.code == "order-against-confidence")
    assert message.startswith("1 ")
    # At .7 Q1 shows its second option alone, which is the right one.
    rows = result.table("thresholds")
    assert rows.threshold.tolist() == [0.2, 0.7, 0.8, 0.9]
    assert rows.correct.tolist() == [1, 1, 1, 1]
    assert rows.length.tolist() == pytest.approx([4 / 3, 1, 1, 1])


def test_nothing_of_confidences_without_all_of_them(tmp_path: Path) -> None:
    """A system that leaves some out is not swept, and warned of; one that tells none is not."""
    lists = "question,system,option,confidence\nQ1,x,a,0.5\nQ1,x,b,\nQ2,y,b,\nQ3,z,c,1\nQ3,z,a,0\n"
    result = analysed(study_in(tmp_path, lists))
    for name in ("thresholds", "calibration"):
        assert {*result.table(name).system} == {"z"}
    partial = [d.message for d in result.warnings if d.code == "partial-confidence"]
    assert partial == ["1 of 2 options of x have no confidence, so confidences are not evaluated"]
    assert result.to_html()


def drawn_options(questions: int, seed: int, digits: int = 9) -> pd.DataFrame:
    """Four options a question, with confidences that are nearly probabilities."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet([0.6] * 5, size=questions)
    which = (rng.random(questions)[:, np.newaxis] > chances.cumsum(axis=1)).sum(axis=1)
    rows = pd.DataFrame(
        {
            "question": np.repeat([f"Q{at}" for at in range(questions)], 4),
            "option": [f"o{at}" for at in range(4)] * questions,
            "position": [*range(1, 5)] * questions,
            "confidence": (chances[:, :4] ** 0.7).ravel().round(digits),
        }
    )
    return rows.assign(correct=(np.arange(4) == which[:, np.newaxis]).ravel())


def calibrated(rows: pd.DataFrame, **settings: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401
    right = rows[rows.correct].set_index("question").option.to_dict()
    key = {question: right.get(question, "none") for question in rows.question.unique()}
    result = evaluate(rows.drop(columns="correct"), key, **settings)
    (found,) = result.table("calibration").to_dict("records")
    bins: list[Any] = result.table("reliability").to_dict("records")
    return found, bins


def by_hand(rows: pd.DataFrame) -> tuple[float, float, list[tuple[float, float, int]]]:
    """The Brier score, the ECE and the bins: mean confidence, share, options."""
    confidence, correct = rows.confidence.tolist(), rows.correct.tolist()
    brier = sum((c - y) ** 2 for c, y in zip(confidence, correct, strict=True)) / len(confidence)
    ends = [np.quantile(confidence, i / 10, method="higher") for i in range(1, 10)]
    groups: dict[int, list[tuple[float, bool]]] = {}
    for c, y in zip(confidence, correct, strict=True):
        groups.setdefault(sum(c >= end for end in ends), []).append((c, y))
    found = [
        (float(np.mean([c for c, _ in g])), float(np.mean([y for _, y in g])), len(g))
        for _, g in sorted(groups.items())
    ]
    ece = sum(n * abs(mean - share) for mean, share, n in found) / len(confidence)
    return brier, ece, found


@pytest.mark.parametrize("digits", [1, 2, 9])
def test_scores_and_bins_are_those_of_a_loop(digits: int) -> None:
    rows = drawn_options(70, digits, digits)
    found, bins = calibrated(rows, samples=0)
    brier, ece, expected = by_hand(rows)
    assert (found["brier"], found["ece"]) == pytest.approx((brier, ece))
    assert found["base_rate"] == pytest.approx(rows.correct.mean())
    shown = [(one["confidence"], one["correct"], one["options"]) for one in bins]
    assert shown == [pytest.approx(one) for one in expected]
    assert sum(one["options"] for one in bins) == found["options"] == 280
    assert all(one["highest"] < other["lowest"] for one, other in pairwise(bins))
    ends = ("brier_low", "brier_high", "chance_most")
    assert np.isnan([found[name] for name in ends]).all()


def test_intervals_draw_whole_questions() -> None:
    rows = drawn_options(60, 4)
    found, bins = calibrated(rows)
    square = ((rows.confidence - rows.correct) ** 2).to_numpy().reshape(60, 4)
    inside = rows.confidence.between(bins[1]["lowest"], bins[1]["highest"]).to_numpy()
    right = (rows.correct.to_numpy() & inside).reshape(60, 4).sum(axis=1)
    held = inside.reshape(60, 4).sum(axis=1)
    briers, shares = [], []
    for times in drawn_queries(60, Inference()):
        for counts in times:
            briers.append(counts @ square.sum(axis=1) / 240)
            shares.append(counts @ right / (counts @ held))
    for low, high, drawn in (
        (found["brier_low"], found["brier_high"], briers),
        (bins[1]["low"], bins[1]["high"], shares),
    ):
        assert (low, high) == pytest.approx(tuple(np.nanquantile(drawn, [0.025, 0.975])))


def test_what_chance_makes_of_true_probabilities() -> None:
    """The 95% quantile of the ECE of options that are correct as often as is said."""
    rows = drawn_options(70, 4)
    found, _ = calibrated(rows)
    rng = np.random.default_rng(1)
    drawn = (rng.random((400, len(rows))) < rows.confidence.to_numpy()).tolist()
    chance = np.quantile([by_hand(rows.assign(correct=right))[1] for right in drawn], 0.95)
    assert found["chance_most"] == pytest.approx(chance, rel=0.06)


def test_confidences_that_are_no_probabilities_are_told(tmp_path: Path) -> None:
    """Scores beyond 0 to 1 have no calibration, and a warning; everything else is there."""
    lists = "question,system,option,score\n" + "".join(
        f"Q{i},{s},{o},{v}\n"
        for i in range(1, 4)
        for s, v in (("x", 7), ("y", 0.7))
        for o, v in (("a", v), ("b", v / 2))
    )
    result = analysed(study_in(tmp_path, lists))
    assert list(result.table("calibration").system) == ["y"]
    (message,) = (d.message for d in result.warnings if d.code == "no-probabilities")
    assert message.startswith("confidences of x go from 3.500 to 7")
    assert {*result.table("thresholds").system} == {"x", "y"}
    only_x = "".join(line + "\n" for line in lists.splitlines() if ",y," not in line)
    assert "reliability" not in analysed(study_in(tmp_path, only_x)).figures()


def expected(name: str, chances: np.ndarray) -> np.ndarray:
    """The expected score of the first 1, 2, ... options; both of shape (lists, options)."""
    longest = chances.shape[1]
    values: Any = {"max_length": longest} if name == "OLAR" else {}
    columns = []
    for n in range(1, longest + 1):
        shown = [f"o{i}" for i in range(n)]
        scores = [measures.score(shown, [o], name, **values).value for o in shown]
        lacking = measures.score(shown, ["lost"], name, **values).value
        held = chances[:, :n]
        columns.append(held @ np.array(scores) + (1 - held.sum(axis=1)) * lacking)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("longest", [2, 5, 10])
def test_a_longer_list_gains_no_more_by_olar_than_equally_likely_options(longest: int) -> None:
    """The page's bound holds for many random lists, and equally likely options reach it."""
    m, n = 0.998 / (longest * (longest - 1)), np.arange(1, longest + 1)
    bound = (m * (np.cumsum(1 / n) - 1) / n / (2 + m)).max()
    for concentration in (1, 10):
        rng = np.random.default_rng(longest)
        drawn = rng.dirichlet(np.full(longest, concentration), size=100_000)
        scores = expected("OLAR", -np.sort(-drawn, axis=1))
        assert (scores.max(axis=1) - scores[:, 0]).max() <= bound
    # A row for each number of equally likely options, one of which is certain to be correct.
    alike = np.tri(longest) / n[:, np.newaxis]
    scores, lar = expected("OLAR", alike), expected("LAR", alike)
    assert (scores.diagonal() - scores[:, 0]).max() == pytest.approx(bound)
    assert lar.diagonal() == pytest.approx(lar[:, 0])
