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
def test_ties_inside_across_and_beyond_the_boundary(case: dict[str, Any]) -> None:
    partial, true = np.array([case["partial"]]), np.array([case["true"]])
    assert measures.rank_quality(partial, true, case["k"]) == pytest.approx(case["c"])


def by_hand(partial: list[float], true: list[float], k: int, lam: float = 2) -> tuple[float, int]:
    """The comparison function, written out for one list, one case at a time, and k-hat."""
    n = len(partial)
    k = min(k, n)
    weight = [((i - (k - 1)) / (k - 1)) ** (2 * lam) if k > 1 else 1.0 for i in range(n)]
    order = sorted(range(n), key=lambda case: partial[case])
    groups: list[list[int]] = []
    for place, case in enumerate(order):
        if groups and math.isclose(
            partial[order[groups[-1][0]]], partial[case], rel_tol=0, abs_tol=1e-9
        ):
            groups[-1].append(place)
        else:
            groups.append([place])
    up_to = k
    for group in groups:
        first, last = group[0], group[-1]
        if first < k <= last:
            up_to = first if k - first < (last - first + 1) / 2 else last + 1
    if up_to == 0:
        return 0.0, 0
    total = 0.0
    for group in groups:
        mean = sum(weight[place] for place in group) / len(group)
        total += sum(mean * true[order[place]] for place in group if place < up_to)
    target = sum(w * d for w, d in zip(weight, sorted(true)[:k], strict=False))
    return 1 - (total - target) / sum(weight[:up_to]), up_to


@pytest.mark.parametrize("k", [1, 2, 4, 9, 20])
def test_against_a_second_implementation(k: int) -> None:
    rng = np.random.default_rng(k)
    partial, true = (rng.integers(0, 4, (200, 9)) / 3 for _ in range(2))
    expected = [
        by_hand(p, t, k, 3)[0] for p, t in zip(partial.tolist(), true.tolist(), strict=True)
    ]
    assert measures.rank_quality(partial, true, k, lam=3) == pytest.approx(expected)


def test_as_a_measure() -> None:
    truth = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.3, "e": 0.1}
    run = {"whole": {"e": 0.9, "a": 0.8, "b": 0.8, "c": 0.8, "d": 0.1}, "top": {"c": 1, "d": 0.5}}
    scores = measures.evaluate(run, dict.fromkeys(run, truth), ["rank_quality@3", "rank_quality"])
    true = [1 - truth[case] for case in "eabcd"]
    whole, _ = by_hand([0.1, 0.2, 0.2, 0.2, 0.9], true, 3)
    assert scores["rank_quality@3"].tolist()[0] == pytest.approx(whole)
    # k is 2, the length of the list: its weights are 1 and 0.
    assert scores["rank_quality@3"].tolist()[1] == pytest.approx(1 - (0.3 - 0.1))
    assert scores["rank_quality"].tolist()[0] == pytest.approx(
        by_hand([0.1, 0.2, 0.2, 0.2, 0.9], true, 5)[0]
    )


def distances(name: str) -> NDArray[np.float64]:
    if name == "spect":
        text = "".join((DATA / f"SPECT.{part}").read_text() for part in ("train", "test"))
        kept = slice(1, None)
    else:
        file, kept = {
            "zoo": ("zoo.data", slice(1, -1)),
            "pima": ("pima-indians-diabetes.data", slice(-1)),
        }[name]
        text = (DATA / file).read_text()
    cases = np.array([[float(cell) for cell in row.split(",")[kept]] for row in text.split()])
    apart = np.abs(cases[:, np.newaxis] - cases)
    far = apart / np.ptp(cases, axis=0) if name == "pima" else apart > 0
    return np.asarray(far.mean(axis=2))


@pytest.mark.skipif(not DATA.is_dir(), reason="the data sets of the paper are not here")
@pytest.mark.parametrize("name", GRANULARITY)
def test_data_sets(name: str) -> None:
    """The printed granularities, and the quality of complete lists, reproduce."""
    far = distances(name)
    assert measures.granularity(far) == pytest.approx(GRANULARITY[name], abs=1e-12)
    n = len(far)
    others = far[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    for k in (3, 5, 10, 15, 20):
        quality = measures.rank_quality(others, others, k)
        expected = PUBLISHED["self"][f"{name} k={k}"]
        found = {"mean": quality.mean(), "min": quality.min(), "max": quality.max()}
        assert found == pytest.approx({key: expected[key] for key in found}, abs=1e-9), k
