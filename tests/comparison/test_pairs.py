"""Two systems of one study: their difference in years, and what undoes a lead."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from scipy import stats

import quem
from tests.made import random_ranks, study_of
from tests.method.brute import YEARS, people_of, places, posterior, system_of, within
from tests.method.test_golden import GOLDEN, close, result_of
from tests.parts.test_worths import analyzed as decided

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SIX = ("years", "interval", "ahead", "won", "rankings", "judges")


def pair_of(ranks: Floats) -> dict[str, Any]:
    """The one pair of a study, and what its summary says."""
    result = quem.compare(study_of(ranks, YEARS, 2))
    (pair,) = result.to_dict()["pairs"]
    return {**pair, "says": " ".join(result.summary().split())}


@pytest.mark.parametrize("name", ["complete", "incomplete"])
def test_golden_pairs(name: str) -> None:
    result = quem.compare(result_of(name).study)
    (pair,) = result.to_dict()["pairs"]
    (key,) = GOLDEN[name]["pairs"]
    want = GOLDEN[name]["pairs"][key]
    assert key == f"{pair['b']} - {pair['a']}"
    assert {kind: pair[kind] for kind in SIX} == {kind: close(want[kind]) for kind in SIX}
    numbers = {key for key in pair if not isinstance(pair[key], str)}
    assert numbers == set(SIX)


@pytest.mark.parametrize("shape", [(3, 6), (2, 3), (1, 6), (3, 1)])
@pytest.mark.parametrize(
    "systems", [(4.0, 9.0), (6.0, 6.5), (2.0, 30.0), (30.0, 5.0), (30.0, 31.0)]
)
def test_pairs_by_brute_force(shape: tuple[int, int], systems: tuple[float, float]) -> None:
    """On a dense grid the same numbers come out; ends are open where a system is."""
    rng = np.random.default_rng(hash((shape, systems)) % 1000)
    ranks = random_ranks(rng, YEARS, systems, judges=shape[0], problems=shape[1], noise=1.5)
    pair = pair_of(ranks)
    people, low, high = people_of(places(ranks)[1], YEARS), 0.0, 18.0
    a, b = (system_of(ranks, YEARS, len(YEARS) + k) for k in (0, 1))
    grid = np.linspace(low, high, 2001)
    near = [posterior(people, of, grid)[1] for of in (a, b)]
    if people.line.slope <= 0 or any(all(ends) for ends in near):
        assert (pair["years"], pair["ahead"]) == (None, None)
        return
    (_, open_a), (_, open_b) = near
    if open_a and open_b:
        assert (pair["years"], pair["interval"]) == (None, [None, None])
        assert "Both rank at or above the most experienced subjects" in pair["says"]
        return
    want = within(people, a, b, low, high)
    ends = [None if open_a else want["interval"][0], None if open_b else want["interval"][1]]
    assert pair["years"] == pytest.approx(want["years"], abs=0.05)
    assert pair["ahead"] == pytest.approx(want["ahead"], abs=0.005)
    for found, expected in zip(pair["interval"], ends, strict=True):
        assert found == (None if expected is None else pytest.approx(expected, abs=0.05))


def test_a_close_pair_in_a_wide_population() -> None:
    """The grid is fine where the mass is."""
    rng = np.random.default_rng(1)
    ranks = random_ranks(rng, YEARS, [6.3, 7.0], judges=8, problems=12, noise=1.0)
    study = study_of(ranks, YEARS, 2, analysis={"reference_population": {"years": [0, 60]}})
    (pair,) = quem.compare(study).to_dict()["pairs"]
    a, b = (system_of(ranks, YEARS, len(YEARS) + k) for k in (0, 1))
    want = within(people_of(places(ranks)[1], YEARS), a, b, 0.0, 60.0, points=1501)
    assert pair["years"] == pytest.approx(want["years"], abs=0.03)
    assert pair["interval"] == pytest.approx(want["interval"], abs=0.03)


@pytest.mark.parametrize(
    ("systems", "start"),
    [
        ((4.0, 12.0), "K2 is ahead of K1 by"),
        ((12.0, 4.0), "K1 is ahead of K2 by"),
        ((6.0, 6.5), "These data do not separate K1 and K2."),
        ((2.0, 30.0), "K2 is ahead of K1 by at least"),
        ((30.0, 2.0), "K1 is ahead of K2 by at least"),
    ],
)
def test_the_leader_comes_first(systems: tuple[float, float], start: str) -> None:
    says = pair_of(random_ranks(np.random.default_rng(3), YEARS, systems))["says"]
    assert f"Study in memory {start}" in says


def test_one_ranking_gives_no_years() -> None:
    pair = pair_of(random_ranks(np.random.default_rng(1), YEARS, [4.0, 9.0], judges=1, problems=1))
    assert [pair[kind] for kind in SIX] == [None, [None, None], None, 1.0, 1, 1]
    assert "No difference in years between K1 and K2: one ranking" in pair["says"]


def test_averages_give_no_difference(tmp_path: Path) -> None:
    people = [{"id": f"S{at}", "experience": y} for at, y in enumerate(YEARS)]
    content: dict[str, Any] = {"id": "a", "title": "Averages", "subjects": people}
    content |= {"systems": [{"id": "A"}, {"id": "B"}]}
    content |= {"rankings": {"from": "averages", "file": "averages.csv"}}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    averages = {"solver": "average_rank", **{f"S{at}": f"{1.5 + at}" for at in range(7)}}
    averages |= {"A": "3", "B": "7"}
    text = "".join(f"{solver},{average}\n" for solver, average in averages.items())
    (tmp_path / "averages.csv").write_text(text, encoding="utf-8")
    result = quem.compare(quem.load_study(tmp_path / "study.yaml", kind="experience"))
    (pair,) = result.to_dict()["pairs"]
    assert [pair[kind] for kind in SIX] == [None, [None, None], None, None, None, None]
    assert "No difference in years between A and B: only average" in result.summary()


@pytest.mark.parametrize("seed", range(6))
def test_a_lead_is_undone_by_the_fewest_rankings(seed: int) -> None:
    """No smaller set of rankings, or of judges, does it: every set is tried."""
    rng = np.random.default_rng(seed)
    ranks = random_ranks(rng, YEARS, [6.0, 7.5], judges=3, problems=3, noise=3.0)
    ranks[0, 0, -1] = np.nan
    adjusted = stats.rankdata(ranks, axis=2, nan_policy="omit")
    off = adjusted[..., -1] - adjusted[..., -2]
    off = off * np.sign(np.nansum(off))
    pair = pair_of(ranks)
    for kind, units in (("rankings", off[np.isfinite(off)]), ("judges", np.nansum(off, axis=1))):
        left = {
            m: min(units.sum() - sum(some) for some in combinations(units.tolist(), m))
            for m in range(1, len(units) + 1)
            if units.sum() > 0
        }
        assert pair[kind] == next((m for m, least in left.items() if least <= 1e-9), None)
    held = (adjusted[..., -1] - adjusted[..., -2])[np.isfinite(off)]
    assert pair["won"] == pytest.approx(((held > 0) + 0.5 * (held == 0)).mean())


def test_systems_that_never_met_have_years_alone() -> None:
    ranks = random_ranks(np.random.default_rng(7), YEARS, [3.0, 11.0])
    ranks[:, :3, -1] = ranks[:, 3:, -2] = np.nan
    pair = pair_of(ranks)
    assert pair["years"] > 0
    assert [pair[kind] for kind in ("won", "rankings", "judges")] == [None, None, None]


def test_blocks_are_compared_where_they_hold_both() -> None:
    """Years come from expected ranks and their errors; a lead from the blocks with both."""
    rng = np.random.default_rng(3)
    ranks = random_ranks(rng, YEARS, [4.0, 10.0], problems=8)
    names = [*(f"S{at}" for at in range(len(YEARS))), "A", "B"]
    rows, won = [], []
    for judge, problem in np.ndindex(ranks.shape[:2]):
        order = rng.permutation(9).tolist()
        for block, members in enumerate((order[:5], order[4:]), 1):
            of = {names[at]: float(ranks[judge, problem, at]) for at in members}
            place = {"judge": f"J{judge}", "problem": f"P{problem}", "block": block}
            rows += [{**place, "solver": solver, "rank": rank} for solver, rank in of.items()]
            won += [of["B"] > of["A"]] if {"A", "B"} <= of.keys() else []
    people = dict(zip(names, YEARS, strict=False))
    result = quem.compare(quem.study(rows, people=people, systems=["A", "B"]))
    (pair,) = result.to_dict()["pairs"]
    low, high = pair["interval"]
    assert 0 < low < pair["years"] < high
    assert pair["won"] == pytest.approx(np.mean(won))
    assert result.differences.loc[0, "n_rankings"] == len(won)


def test_decisions_are_rankings_of_two(tmp_path: Path) -> None:
    rng, years = np.random.default_rng(4), {f"S{at}": y for at, y in enumerate(YEARS)}
    skill = {**years, "KA": 4.0, "KB": 9.0}
    rows: list[tuple[Any, ...]] = []
    for at in range(600):
        one, other = sorted(rng.choice(list(skill), 2, replace=False).tolist())
        first = rng.random() < 1 / (1 + np.exp((skill[other] - skill[one]) / 3))
        pair = (one, other) if first else (other, one)
        rows.append((f"J{at % 3}", f"P{at % 4}", *pair, ""))
    (pair,) = quem.compare(decided(tmp_path, rows, years).study).to_dict()["pairs"]
    won = [row[2] == "KB" for row in rows if {row[2], row[3]} == {"KA", "KB"}]
    assert pair["won"] == pytest.approx(np.mean(won))
    assert pair["rankings"] == sum(won) - sum(not one for one in won)
    assert pair["interval"][0] < pair["years"]


@pytest.mark.parametrize(("systems", "is_said"), [(2, False), (3, True)])
def test_chances_of_many_pairs(systems: int, is_said: bool) -> None:  # noqa: FBT001
    """Above two pairs one line says that chances are not adjusted."""
    ranks = random_ranks(np.random.default_rng(3), YEARS, [3.0, 6.0, 9.0][:systems])
    result = quem.compare(study_of(ranks, YEARS, systems))
    assert ("Chances are not adjusted" in result.summary()) == is_said
