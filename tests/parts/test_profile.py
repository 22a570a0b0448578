"""Systems from problem to problem, against pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from tests.parts.made import key_of, random_ranks, study_of

if TYPE_CHECKING:
    from quem.parts.result import ExperienceResult


def records(result: ExperienceResult) -> list[dict[str, Any]]:
    """The rows of the CSV file."""
    table: list[dict[str, Any]] = result.table("problems").to_dict("records")  # type: ignore[assignment]
    return table


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_means_are_those_of_the_judges_who_ranked_the_system(seed: int, missing: float) -> None:
    """Means of system and people, and who is below, by pandas over rankings with the system."""
    rng = np.random.default_rng(seed)
    ranks, years = random_ranks(rng, judges=4, problems=5, systems=2, missing=missing)
    result = quem.analyze(study_of(ranks, years))
    table = result.ranks
    assert table is not None
    rows = {(row["system"], row["problem"]): row for row in records(result)}
    assert rows
    for system in ("K0", "K1"):
        ranked = table.groupby(["judge", "problem"], observed=True)["solver"]
        there = table[ranked.transform(lambda of, own=system: (of == own).any())]
        means = there.groupby(["problem", "solver"], observed=True)["adjusted_rank"].mean()
        own = means.xs(system, level="solver")
        assert [problem for name, problem in rows if name == system] == list(own.index)
        for problem, mean in own.to_dict().items():
            people = means.loc[str(problem)].filter(items=list(years))
            row = rows[system, str(problem)]
            assert row["mean_rank"] == pytest.approx(mean)
            assert row["people"] == pytest.approx(people.mean())
            assert row["below"] == (people < mean - 1e-9).sum()
            assert row["n_people"] == len(people)


def test_one_problem_has_no_profile() -> None:
    """Neither one problem nor blocks have one, and both draw nothing."""
    ranks, years = random_ranks(np.random.default_rng(1), problems=1)
    assert key_of(study_of(ranks, years), "problems") is None
    ranks, years = random_ranks(np.random.default_rng(1), subjects=9)
    rng = np.random.default_rng(2)
    blocks = {cell: 1 + int(rng.integers(2)) for cell in ranks}
    assert key_of(study_of(ranks, years), "problems") is not None
    blocked = quem.analyze(study_of(ranks, years, blocks=blocks))
    assert "problems" not in blocked.to_dict()
    assert blocked.plot("profile") is None
    assert quem.analyze(study_of(ranks, years)).plot("profile") is not None
