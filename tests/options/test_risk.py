"""Risk by coverage agrees with answering the surest questions one by one, in every order."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from statsmodels.stats.proportion import proportion_confint

from quem.lists.inference import draw_queries
from quem.options.risk import RiskCurve, risk_curve
from quem.study.options import OptionsSettings
from tests.options.made import Lists, analysed, answers_of, drawn, some_lists, study_in

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("best", "whole")


def curve_of(lists: Lists, bootstrap: int = 0) -> RiskCurve:
    """The risk of a system whose questions all count."""
    counted = np.ones(len(lists), dtype=bool)
    return risk_curve(
        0, answers_of(lists).by_confidence(), counted, OptionsSettings(bootstrap=bootstrap)
    )


def judged(lists: Lists) -> list[tuple[float, bool, bool]]:
    """Of each list that is not empty: its highest confidence, and which errors it has."""
    found = []
    for listed in filter(None, lists):
        best_first = sorted(listed, key=lambda option: -option[0])
        found.append((best_first[0][0], not best_first[0][1], not any(r for _, r in listed)))
    return found


def area_by_hand(answers: list[tuple[float, bool, bool]], kind: int) -> float:
    """The mean risk of the 1, 2, ... surest, over every order of equal ones."""
    orders: list[list[tuple[float, bool, bool]]] = [[]]
    for level in sorted({answer[0] for answer in answers}, reverse=True):
        tied = [answer for answer in answers if answer[0] == level]
        orders = [before + list(order) for before in orders for order in permutations(tied)]
    wrong = np.array([[answer[1 + kind] for answer in order] for order in orders])
    counts = np.arange(1, len(answers) + 1)
    return float((wrong.cumsum(axis=1) / counts).mean())


@settings(max_examples=40)
@given(some_lists(most_correct=2, shortest=0).filter(lambda lists: 0 < sum(map(bool, lists)) < 7))
def test_areas_and_curves_are_those_of_a_loop(lists: Lists) -> None:
    """Ties are in all orders; the curve steps at each confidence; empty lists are not answered."""
    result = curve_of(lists)
    answers = judged(lists)
    assert (result.n, result.n_answered) == (len(lists), len(answers))
    levels = sorted({answer[0] for answer in answers}, reverse=True)
    assert result.threshold.tolist() == levels
    for kind, name in enumerate(KINDS):
        risk = getattr(result, name)
        assert risk.area == pytest.approx(area_by_hand(answers, kind))
        assert risk.overall == pytest.approx(np.mean([answer[1 + kind] for answer in answers]))
        ideal = sorted(answer[1 + kind] for answer in answers)
        counts = np.arange(1, len(ideal) + 1)
        assert risk.least_area == pytest.approx((np.cumsum(ideal) / counts).mean())
        assert risk.least_area <= risk.area + 1e-12
        for at, level in enumerate(levels):
            sure = [answer[1 + kind] for answer in answers if answer[0] >= level]
            assert result.coverage[at] == pytest.approx(len(sure) / len(lists))
            assert risk.risk[at] == pytest.approx(np.mean(sure))
            expected = proportion_confint(sum(sure), len(sure), 0.05, method="wilson")
            assert risk.intervals[at] == pytest.approx(expected, abs=1e-9)


def test_intervals_draw_questions() -> None:
    """The interval of an area has the quantiles of areas of drawn questions, one by one."""
    rng = np.random.default_rng(3)
    lists = [
        [(float(c), bool(i == rng.integers(4))) for i, c in enumerate(rng.random(3).round(1))]
        for _ in range(12)
    ]
    result = curve_of(lists, bootstrap=60)
    answers = judged(lists)
    # Draws count questions in the order of their confidence.
    answers.sort(key=lambda answer: -answer[0])
    areas = []
    for times in draw_queries(len(lists), replicates=60, seed=0):
        for counts in times.astype(int).tolist():
            again = [a for a, count in zip(answers, counts, strict=True) for _ in range(count)]
            areas.append([area_in_closed_form(again, kind) for kind in range(2)])
    low, high = np.quantile(areas, [0.025, 0.975], axis=0)
    for kind, name in enumerate(KINDS):
        expected = (low[kind], high[kind])
        assert getattr(result, name).area_interval == pytest.approx(expected)


def area_in_closed_form(answers: list[tuple[float, bool, bool]], kind: int) -> float:
    """The same area as a sum over how many are answered."""
    total, before, errors = 0.0, 0, 0.0
    for level in sorted({answer[0] for answer in answers}, reverse=True):
        tied = [answer[1 + kind] for answer in answers if answer[0] == level]
        for j in range(1, len(tied) + 1):
            total += (errors + j * sum(tied) / len(tied)) / (before + j)
        before, errors = before + len(tied), errors + sum(tied)
    return total / len(answers)


def test_the_two_ways_by_hand_agree() -> None:
    """All orders of ties, and their mean in closed form."""
    answers = [(0.5, i % 3 == 0, i > 4) for i in range(6)] + [(0.7, True, False)]
    assert factorial(6) == 720
    for kind in range(2):
        by_orders = area_by_hand(answers, kind)
        assert area_in_closed_form(answers, kind) == pytest.approx(by_orders)


def test_confidences_that_say_nothing_have_the_risk_of_all(tmp_path: Path) -> None:
    """With one confidence for all, the area is the risk of all answers; better ones have less."""
    lists = [[(0.5, i % 3 == 0), (0.4, i % 2 == 0)] for i in range(30)]
    result = curve_of(lists)
    for name in KINDS:
        risk = getattr(result, name)
        assert risk.area == pytest.approx(risk.overall)
    key, drawn_lists = drawn(150, systems=2, seed=1)
    found = analysed(study_in(tmp_path, drawn_lists, key))
    weak, strong = found.findings.risks
    assert strong.best.area < weak.best.area
    assert strong.best.area_interval[1] < strong.best.overall
    table = found.tables()["risk-coverage"]
    last = table[table["system"] == "s1"].iloc[-1]
    assert last["coverage"] == 1
    assert last["risk_option"] == pytest.approx(strong.best.overall)
    assert last["risk_list_low"] <= last["risk_list"] <= last["risk_list_high"]
