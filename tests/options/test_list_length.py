"""What docs/explanation/list-length.md proves about the length of lists, tried on random ones."""

from __future__ import annotations

import numpy as np
import pytest

from quem import lists as measures
from tests.docs.pages import ROOT, table_rows

PAGE = ROOT / "docs/explanation/list-length.md"
DRAWN = 200_000


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
    """How much more the best length scores than one option, of 200,000 random lists."""
    rng = np.random.default_rng(longest)
    drawn = rng.dirichlet(np.full(longest, concentration), size=DRAWN)
    scores = expected(name, -np.sort(-drawn, axis=1), longest)
    return np.asarray(scores.max(axis=1) - scores[:, 0])


def test_the_table_of_olar_is_right() -> None:
    """How often a longer list has a higher OLAR, and by how much it can, as the page says."""
    rows = {row[0]: row[1:] for row in table_rows(PAGE.read_text("utf-8")) if row[0].isdecimal()}
    assert list(rows) == ["2", "3", "5", "10"]
    for longest, cells in rows.items():
        for concentration, cell in zip((1, 10), cells, strict=False):
            found = gains("OLAR", int(longest), concentration)
            assert f"{100 * (found > 1e-12).mean():.2g}%" == cell
            assert found.max() <= bound(int(longest))
        assert cells[2] == f"{bound(int(longest)):.4f}"


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
