"""Calibration agrees with sums by hand, and its corrections are honest."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from quem.lists.inference import draw_queries
from quem.options.calibration import Calibration, calibration
from quem.options.lists import Answers
from quem.studyfile.options import OptionsSettings
from tests.options.made import analysed, study_in

if TYPE_CHECKING:
    from pathlib import Path


def drawn_answers(questions: int, rng: np.random.Generator, power: float = 1) -> Answers:
    """Draw four options a question; at power 1 their confidences are true probabilities."""
    chances = rng.dirichlet([0.6] * 5, size=questions)
    which = (rng.random(questions)[:, np.newaxis] > chances.cumsum(axis=1)).sum(axis=1)
    right = np.arange(4) == which[:, np.newaxis]
    ones = np.ones(questions, dtype=np.int64)
    question = np.repeat(np.arange(questions), 4)
    confidence = (chances[:, :4] ** power).ravel()
    return Answers(ones > 0, question, right.ravel(), confidence, ones)


def by_hand(answers: Answers, bins: int) -> tuple[float, float, list[tuple[float, float, int]]]:
    """The Brier score, the ECE and the bins: mean confidence, share, options."""
    confidence, correct = answers.confidence.tolist(), answers.correct.tolist()
    brier = sum((c - y) ** 2 for c, y in zip(confidence, correct, strict=True)) / len(confidence)
    ends = [np.quantile(confidence, i / bins, method="higher") for i in range(1, bins)]
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
    """Brier score, skill, ECE and bins, with few and many equal confidences."""
    answers = drawn_answers(70, np.random.default_rng(digits), 0.7)
    answers = Answers(
        answers.answered,
        answers.question,
        answers.correct,
        answers.confidence.round(digits),
        answers.n_correct,
    )
    result = calibration(0, answers, OptionsSettings(bootstrap=0))
    brier, ece, bins = by_hand(answers, 10)
    assert result.brier == pytest.approx(brier)
    assert result.ece == pytest.approx(ece)
    base = answers.correct.mean()
    assert result.skill == pytest.approx(1 - brier / np.mean((base - answers.correct) ** 2))
    assert [(b.mean, b.share, b.n) for b in result.bins] == [pytest.approx(b) for b in bins]
    assert sum(b.n for b in result.bins) == result.n_options == 280
    if digits == 9:
        assert {b.n for b in result.bins} <= {28}
    edges = [(b.low, b.high) for b in result.bins]
    assert all(high < low for (_, high), (low, _) in pairwise(edges))
    assert np.isnan([*result.brier_interval, *result.ece_interval, result.ece_corrected]).all()


def test_intervals_draw_whole_questions() -> None:
    """The interval of the Brier score has the quantiles of samples of questions, one by one."""
    answers = drawn_answers(60, np.random.default_rng(4), 0.7)
    result = calibration(0, answers, OptionsSettings(bootstrap=80))
    briers, shares = [], []
    low, high = result.bins[1].low, result.bins[1].high
    for times in draw_queries(60, replicates=80, seed=0):
        for counts in times.astype(int).tolist():
            rows = np.concatenate(
                [np.repeat([4 * q + np.arange(4)], n, 0).ravel() for q, n in enumerate(counts)]
            )
            c, y = answers.confidence[rows.astype(int)], answers.correct[rows.astype(int)]
            briers.append(np.mean((c - y) ** 2))
            shares.append(y[(c >= low) & (c <= high)].mean())
    assert result.brier_interval == pytest.approx(np.quantile(briers, [0.025, 0.975]))
    assert result.bins[1].share_interval == pytest.approx(np.quantile(shares, [0.025, 0.975]))


def measured(questions: int, power: float, times: int) -> list[Calibration]:
    """Evaluate many small samples of confidences."""
    used = OptionsSettings(bootstrap=100)
    rng = np.random.default_rng(0)
    return [calibration(0, drawn_answers(questions, rng, power), used) for _ in range(times)]


def test_confidences_that_are_no_probabilities_are_told(tmp_path: Path) -> None:
    """Scores beyond 0 to 1 have no calibration, and a warning; everything else is there."""
    lists = "question,system,option,score\n" + "".join(
        f"Q{i},{s},{o},{v}\n"
        for i in range(1, 4)
        for s, v in (("x", 7), ("y", 0.7))
        for o, v in (("a", v), ("b", v / 2))
    )
    result = analysed(study_in(tmp_path, lists))
    assert [one.system for one in result.findings.calibrations] == [1]
    messages = [d.message for d in result.warnings if d.code == "no-probabilities"]
    assert len(messages) == 1
    assert messages[0].startswith("confidences of x go from 3.500 to 7")
    document = result.to_dict()
    assert [bool(s["calibration"]) for s in document["systems"]] == [False, True]
    assert all(s["thresholds"] for s in document["systems"])
    page = " ".join(result.to_html().split())
    assert "Confidences of x are not all between 0 and 1" in page
    only_x = "".join(line + "\n" for line in lists.splitlines() if ",y," not in line)
    alone = analysed(study_in(tmp_path, only_x))
    assert "reliability" not in alone.figures()
    assert alone.findings.calibrations == ()
