"""The estimates without solutions whose author the judge recognized."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

import quem
from tests.parts.made import Cell, Ranks, key_of, random_ranks, study_of, warned


def some_of(ranks: Ranks, seed: int, share: float = 0.15) -> set[Cell]:
    """Draw some of the cells."""
    rng = np.random.default_rng(seed)
    return {cell for cell in ranks if rng.random() < share}


def by_hand(ranks: Ranks, years: dict[str, float], recognized: set[Cell]) -> dict[str, float]:
    """Each system's estimate on a line through the averages of what is left, in loops."""
    scores: dict[str, list[float]] = {}
    for group in dict.fromkeys(cell[:2] for cell in ranks):
        left = [c for c in ranks if c[:2] == group and c not in recognized]
        adjusted = rankdata([ranks[cell] for cell in left])
        for cell, rank in zip(left, adjusted, strict=True):
            scores.setdefault(cell[2], []).append(float(rank))
    average = {solver: np.mean(values) for solver, values in scores.items()}
    subjects = [s for s in years if s in average]
    slope, intercept = np.polyfit([average[s] for s in subjects], [years[s] for s in subjects], 1)
    return {s: float(intercept + slope * x) for s, x in average.items() if s not in years}


def estimates(found: dict[str, Any]) -> dict[str, float]:
    """The estimates by system."""
    return {one["system"]: one["experience"] for one in found["estimates"]}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_estimates_agree_with_loops(seed: int, *, ties: bool) -> None:
    """They are those of a line fitted by hand to the ranks that are left."""
    ranks, years = random_ranks(np.random.default_rng(seed), systems=2, missing=0.1, ties=ties)
    marked = some_of(ranks, seed)
    found = key_of(study_of(ranks, years, recognized=marked), "recognized")
    assert (found["n_ranks"], found["of_ranks"]) == (len(marked), len(ranks))
    assert found["n_judges"] == len({judge for judge, _, _ in marked})
    assert estimates(found) == pytest.approx(by_hand(ranks, years, marked))


@pytest.mark.parametrize("form", ["linear", "log", "quadratic"])
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_recognized_solution_is_as_good_as_absent(form: str, blocks: int) -> None:
    """With any form, and in blocks, the estimate is that of a study without these ranks."""
    rng = np.random.default_rng(9)
    ranks, years = random_ranks(rng, systems=2, subjects=9, missing=0.1)
    marked = some_of(ranks, 9)
    keys: dict[str, Any] = {
        "analysis": {"form": form},
        "blocks": {cell: 1 + int(rng.integers(blocks)) for cell in ranks},
    }
    left = {cell: rank for cell, rank in ranks.items() if cell not in marked}
    wanted = {
        one["system"]: one["paper"]["experience"]
        for one in key_of(study_of(left, years, **keys), "estimates")
    }
    found = key_of(study_of(ranks, years, recognized=marked, **keys), "recognized")
    assert len(wanted) == 2
    assert estimates(found) == pytest.approx(wanted, rel=1e-5)


def test_nothing_left_to_fit_is_null() -> None:
    """With too few subjects left there is no estimate, and the warning stays."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=1, problems=1, subjects=7)
    marked = {cell for cell in ranks if cell[2] in ("S0", "S1", "S2", "S3", "S4")}
    result = quem.analyze(study_of(ranks, years, recognized=marked))
    found = result.to_dict()["recognized"]
    assert found == {
        "n_ranks": 5,
        "of_ranks": 8,
        "n_judges": 1,
        "estimates": [{"system": "K0", "experience": None}],
    }
    assert len(warned(result, "recognized-authors")) == 1


def test_they_are_told_where_somebody_was_recognized() -> None:
    """The warning names both estimates; the table of ranks marks these ranks."""
    ranks, years = random_ranks(np.random.default_rng(6))
    marked = some_of(ranks, 6, 0.1)
    result = quem.analyze(study_of(ranks, years, recognized=marked))
    (warning,) = warned(result, "recognized-authors")
    wanted, plain = (by_hand(ranks, years, some)["K0"] for some in (marked, set()))
    assert f"{wanted:.1f} instead of {plain:.1f} years" in warning.message
    assert result.ranks is not None
    assert int(result.ranks["recognized"].sum()) == len(marked)
    plain_result = quem.analyze(study_of(ranks, years))
    assert "recognized" not in plain_result.to_dict()
    assert not warned(plain_result, "recognized-authors")
