"""Calibration agrees with sums by hand, and its intervals draw whole questions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from quem.options import evaluate
from quem.scores.inference import Inference, drawn_queries
from tests.options.made import analysed, study_in

if TYPE_CHECKING:
    from pathlib import Path


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
    """The row of calibration, and those of the bins, as dicts."""
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
    """Brier score, ECE and bins, with few and many equal confidences."""
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
    """The interval of the Brier score has the quantiles of samples of questions, one by one."""
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
