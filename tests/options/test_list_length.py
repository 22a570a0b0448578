"""What docs/how-to/options.md proves about the length of lists, tried on random ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

from quem import lists as measures
from tests.docs.pages import ROOT

PAGE = ROOT / "docs/how-to/options.md"
DRAWN = 100_000


def expected(name: str, chances: np.ndarray, longest: int) -> np.ndarray:
    """The expected score of the first 1, 2, ... options, shape (lists, lengths).

    Shapes: `chances` (lists, longest).
    """
    values = {"max_length": longest} if name == "OLAR" else {}
    columns = []
    for n in range(1, longest + 1):
        shown = [f"o{i}" for i in range(n)]
        scores = [measures.score(shown, [o], name, **values).value for o in shown]  # type: ignore[arg-type]
        lacking = measures.score(shown, ["lost"], name, **values).value  # type: ignore[arg-type]
        held = chances[:, :n]
        columns.append(held @ np.array(scores) + (1 - held.sum(axis=1)) * lacking)
    return np.stack(columns, axis=1)


def bound(longest: int) -> float:
    """How much more than one option a longer list can score by OLAR at most."""
    m = 0.998 / (longest * (longest - 1))
    n = np.arange(1, longest + 1)
    return float((m * (np.cumsum(1 / n) - 1) / n / (2 + m)).max())


def gains(name: str, longest: int, concentration: float) -> np.ndarray:
    """How much more the best length scores than one option, of random lists."""
    rng = np.random.default_rng(longest)
    drawn = rng.dirichlet(np.full(longest, concentration), size=DRAWN)
    scores = expected(name, -np.sort(-drawn, axis=1), longest)
    return np.asarray(scores.max(axis=1) - scores[:, 0])


def test_olar_exceeds_that_of_one_option_by_no_more_than_the_page_says() -> None:
    """By at most the number of the page for each length, in many random lists of each kind."""
    text = PAGE.read_text("utf-8")
    for longest in (2, 5, 10):
        assert re.search(f"{bound(longest):.4f}[a-z ]* for N = {longest}[,.]", text)
        for concentration in (1, 10):
            assert gains("OLAR", longest, concentration).max() <= bound(longest)


@pytest.mark.parametrize("longest", [2, 3, 5, 10])
def test_the_bound_of_olar_is_reached(longest: int) -> None:
    """By equally likely options, one of which is certain to be correct, at any N."""
    most = 0.0
    for n in range(1, longest + 1):
        chances = np.zeros((1, longest))
        chances[0, :n] = 1 / n
        scores = expected("OLAR", chances, longest)[0]
        most = max(most, float(scores[n - 1] - scores[0]))
        lar = expected("LAR", chances, longest)[0]
        assert lar[n - 1] == pytest.approx(lar[0])
    assert most == pytest.approx(bound(longest))
    assert most > 0
