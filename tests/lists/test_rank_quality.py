"""Rank quality: worked examples, a second implementation, and the data sets of the paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from quem import lists as measures
from tests.lists.golden import DATA, GOLDEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

PUBLISHED = GOLDEN["rank_quality"]
GRANULARITY = {"zoo": 0.11616508185472013, "spect": 0.06364235716590218, "pima": 0.9986945258246528}


@pytest.mark.parametrize("case", PUBLISHED["examples"], ids=lambda case: case["name"])
def test_examples(case: dict[str, Any]) -> None:
    """Ties inside, across and beyond the boundary have these qualities."""
    partial, true = np.array([case["partial"]]), np.array([case["true"]])
    assert measures.rank_quality(partial, true, case["k"]) == pytest.approx(case["c"])


def by_hand(partial: list[float], true: list[float], k: int, lam: float = 2) -> float:
    """The comparison function, written out for one list, one case at a time."""
    n = len(partial)
    k = min(k, n)
    weight = [((i - (k - 1)) / (k - 1)) ** (2 * lam) if k > 1 else 1.0 for i in range(n)]
    order = sorted(range(n), key=lambda case: partial[case])
    groups: list[list[int]] = []
    for place, case in enumerate(order):
        if groups and math.isclose(partial[order[groups[-1][0]]], partial[case], abs_tol=1e-9):
            groups[-1].append(place)
        else:
            groups.append([place])
    up_to = k
    for group in groups:
        first, last = group[0], group[-1]
        if first < k <= last:
            up_to = first if k - first < (last - first + 1) / 2 else last + 1
    if up_to == 0:
        return 0.0
    total = 0.0
    for group in groups:
        mean = sum(weight[place] for place in group) / len(group)
        total += sum(mean * true[order[place]] for place in group if place < up_to)
    target = sum(w * d for w, d in zip(weight, sorted(true)[:k], strict=False))
    return 1 - (total - target) / sum(weight[:up_to])


@pytest.mark.parametrize("k", [1, 2, 4, 9, 20])
def test_against_a_second_implementation(k: int) -> None:
    """Many lists with ties have the quality that the formula gives, one by one."""
    rng = np.random.default_rng(k)
    partial, true = (rng.integers(0, 4, (200, 9)) / 3 for _ in range(2))
    expected = [by_hand(p, t, k, 3) for p, t in zip(partial.tolist(), true.tolist(), strict=True)]
    assert measures.rank_quality(partial, true, k, lam=3) == pytest.approx(expected)


def test_as_a_measure() -> None:
    """As a measure of lists it is computed from similarities, with lists of any length."""
    truth = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.3, "e": 0.1}
    run = {"whole": {"e": 0.9, "a": 0.8, "b": 0.8, "c": 0.8, "d": 0.1}, "top": {"c": 1, "d": 0.5}}
    scores = measures.evaluate(run, dict.fromkeys(run, truth), ["rank_quality@3", "rank_quality"])
    true = [1 - truth[case] for case in "eabcd"]
    whole = by_hand([0.1, 0.2, 0.2, 0.2, 0.9], true, 3)
    assert scores["rank_quality@3"].tolist()[0] == pytest.approx(whole)
    # k is 2, the length of the list: its weights are 1 and 0.
    assert scores["rank_quality@3"].tolist()[1] == pytest.approx(1 - (0.3 - 0.1))
    assert scores["rank_quality"].tolist()[0] == pytest.approx(
        by_hand([0.1, 0.2, 0.2, 0.2, 0.9], true, 5)
    )


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        (["a", "b"], "the list has no similarities, only an order"),
        ({}, "the list is empty"),
        ({"a": 1, "x": 0.5}, "the list has an item that the ground truth does not have"),
        ({"a": 1.1}, "a similarity is not between 0 and 1"),
    ],
)
def test_undefined(listed: object, reason: str) -> None:
    """Where there is no score there is a reason, and no 0."""
    score = measures.score(listed, {"a": 1, "b": 0.5}, "rank_quality@2")  # type: ignore[arg-type]
    assert math.isnan(score.value)
    assert score.reason == reason


def _cases(name: str) -> tuple[NDArray[np.float64], bool]:
    """The attributes of a case base, and whether they are numbers."""
    if name == "zoo":
        rows = [line.split(",") for line in (DATA / "zoo.data").read_text().split()]
        return np.array([[float(cell) for cell in row[1:-1]] for row in rows]), False
    if name == "spect":
        text = "".join((DATA / f"SPECT.{part}").read_text() for part in ("train", "test"))
        return np.array(
            [[float(cell) for cell in row.split(",")[1:]] for row in text.split()]
        ), False
    rows = [line.split(",") for line in (DATA / "pima-indians-diabetes.data").read_text().split()]
    return np.array([[float(cell) for cell in row[:-1]] for row in rows]), True


def _distances(name: str) -> NDArray[np.float64]:
    """The mean over attributes of the share of the range, or of whether they differ."""
    cases, numeric = _cases(name)
    total = np.zeros((len(cases), len(cases)))
    for column in cases.T:
        off = np.abs(column[:, np.newaxis] - column)
        total += off / np.ptp(column) if numeric else off > 0
    mean: NDArray[np.float64] = total / cases.shape[1]
    return mean


@pytest.mark.skipif(not DATA.is_dir(), reason="the data sets of the paper are not here")
@pytest.mark.parametrize("name", GRANULARITY)
def test_data_sets(name: str) -> None:
    """The printed granularities, and the quality of complete lists, reproduce."""
    distances = _distances(name)
    assert measures.granularity(distances) == pytest.approx(GRANULARITY[name], abs=1e-12)
    n = len(distances)
    others = distances[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    for k in (3, 5, 10, 15, 20):
        quality = measures.rank_quality(others, others, k)
        expected = PUBLISHED["self"][f"{name} k={k}"]
        assert quality.mean() == pytest.approx(expected["mean"], abs=1e-9), k
        assert quality.min() == pytest.approx(expected["min"], abs=1e-9), k
        assert quality.max() == pytest.approx(expected["max"], abs=1e-9), k
