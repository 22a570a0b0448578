"""Systems of independent studies, and versions of a system over their dates."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.errors import QuemError
from tests.comparison.brute import people_of, posterior, read, system_of
from tests.made import random_ranks
from tests.method.test_golden import GOLDEN, close, result_of
from tests.method.test_quadrature import YEARS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

OLDER = (2.0, 5.0, 8.0, 9.0, 13.0, 16.0)
DATES = ("2024-04-01", "2025-03-01", "2026-02-01")


def study(
    seed: int,
    name: str,
    *systems: dict[str, Any],
    years: tuple[float, ...] = YEARS,
    of: tuple[float, ...] = (6.0, 7.0, 8.0),
    **keys: Any,  # noqa: ANN401  keys of a study file
) -> quem.Study:
    """A study of systems that are declared as given; without, it has one."""
    declared = [{"id": f"K{at}", **one} for at, one in enumerate(systems or ({},))]
    ranks = random_ranks(np.random.default_rng(seed), years, of[: len(declared)], noise=1.5)
    names = [*(f"S{at}" for at in range(len(years))), *(str(one["id"]) for one in declared)]
    rows = [
        {"judge": f"J{j}", "problem": f"P{p}", "solver": names[s], "rank": float(rank)}
        for (j, p, s), rank in np.ndenumerate(ranks)
    ]
    people = dict(zip(names, years, strict=False))
    return quem.study(rows, people=people, systems=declared, id=name, **keys)


def ranks_of(seed: int, years: tuple[float, ...], system: float) -> Floats:
    """The ranks of such a study."""
    return random_ranks(np.random.default_rng(seed), years, (system,), noise=1.5)


def test_golden_difference(tmp_path: Path) -> None:
    """A of one table against A of the other, for one population."""
    names = ("complete", "incomplete")
    for name in names:
        (tmp_path / name).mkdir()
    studies = [result_of(name, tmp_path / name).study for name in names]
    pairs = quem.compare(*studies, systems=["A"]).to_dict()["pairs"]
    want = GOLDEN["between_A_incomplete_minus_complete"]
    (pair,) = pairs
    for kind in ("years", "interval", "ahead"):
        assert pair[kind] == close(want[kind])
    assert (pair["won"], pair["rankings"], pair["judges"]) == (None, None, None)


UNIFORM = {"reference_population": {"years": [0, 12]}}
SHARES = {"reference_population": {"years": [2, 6, 20], "share": [3, 1]}}


@pytest.mark.parametrize(
    "declared", [({}, {}), (UNIFORM, SHARES), ({}, SHARES), (UNIFORM, UNIFORM)]
)
@pytest.mark.parametrize("systems", [(5.0, 9.0), (9.0, 6.0)])
def test_differences_by_brute_force(
    declared: tuple[dict[str, Any], dict[str, Any]], systems: tuple[float, float]
) -> None:
    """Each study keeps what it declares; all others are read for one population."""
    everybody, each = (YEARS, OLDER), []
    for seed, years, system, own in zip((1, 2), everybody, systems, declared, strict=True):
        ranks = ranks_of(seed, years, system)
        population = own.get("reference_population", {"years": [0, 1.5 * max(OLDER)]})
        breaks = np.array(population["years"], dtype=np.float64)
        share = np.array(population.get("share", [1.0]))
        grid = np.linspace(breaks[0], breaks[-1], 1501)
        at = np.clip(np.searchsorted(breaks, grid, "right") - 1, 0, len(share) - 1)
        density = (share / np.diff(breaks))[at]
        people, of = people_of(ranks, years), system_of(ranks, years, len(years))
        weights, near = posterior(people, of, grid, density)
        assert own or not near[1], "the ends are to be finite"
        each.append((grid, weights))
    (grid_a, of_a), (grid_b, of_b) = each
    want = read(grid_b[np.newaxis] - grid_a[:, np.newaxis], np.outer(of_a, of_b))
    studies = [
        study(seed, f"s{seed}", years=years, of=(system,), analysis=own)
        for seed, years, system, own in zip((1, 2), everybody, systems, declared, strict=True)
    ]
    result = quem.compare(*studies)
    (pair,) = result.to_dict()["pairs"]
    assert pair["years"] == pytest.approx(want["years"], abs=0.02)
    assert pair["interval"] == pytest.approx(want["interval"], abs=0.03)
    assert pair["ahead"] == pytest.approx(want["ahead"], abs=0.003)
    populations = {one["population"] for one in result.to_dict()["studies"]}
    assert len(populations) == (1 if declared[0] == declared[1] else 2)
    text = " ".join(result.summary().split())
    assert all(of in text for of in populations)


def test_one_open_end_between_studies() -> None:
    """A system above everybody has no upper limit, and so its lead has none."""
    result = quem.compare(study(1, "one"), study(2, "two", of=(40.0,)))
    (pair,) = result.to_dict()["pairs"]
    assert pair["interval"][1] is None
    assert pair["years"] > pair["interval"][0] > 0
    text = " ".join(result.summary().split())
    assert "K0 (two) is ahead of K0 (one) by at least" in text
    assert "97.5% lower bound" in text


def test_both_open_between_studies() -> None:
    """Two systems above everybody cannot be told apart in years."""
    result = quem.compare(study(1, "one", of=(40.0,)), study(2, "two", of=(40.0,)))
    (pair,) = result.to_dict()["pairs"]
    assert (pair["years"], pair["interval"], pair["ahead"]) == (None, [None, None], None)
    assert "Both rank at or above" in " ".join(result.summary().split())


def test_only_systems_of_different_studies_are_compared() -> None:
    """Those of one study are compared in it."""
    result = quem.compare(study(1, "one", {}, {}), study(2, "two", {"id": "new"}))
    pairs = [(one["a_study"], one["b_study"]) for one in result.to_dict()["pairs"]]
    assert pairs == [("one", "two"), ("one", "two")]


def versions(*dates: str | None, of: str = "Bot") -> list[dict[str, Any]]:
    """Versions of a system, of these dates."""
    return [
        {"of": of, "name": of, "version": str(at), **({"date": date} if date else {})}
        for at, date in enumerate(dates, 1)
    ]


def test_versions_are_in_the_order_of_their_dates() -> None:
    """In the table and the pairs, whatever their order in the file; others keep their place."""
    declared = versions(DATES[2], DATES[0], DATES[1])
    result = quem.compare(study(5, "one", *declared))
    assert list(result.estimates["date"]) == list(DATES)
    assert [(pair["a"], pair["b"]) for pair in result.to_dict()["pairs"]] == [
        ("K1", "K2"),
        ("K1", "K0"),
        ("K2", "K0"),
    ]
    assert "Versions of Bot" in result.summary()


def test_one_date_does_not_order() -> None:
    """Where some versions have none they keep their order, and no figure is drawn."""
    result = quem.compare(study(5, "one", *versions(DATES[1], None)))
    assert list(result.estimates["date"]) == [DATES[1], ""]
    assert result.figures() == {}


def test_the_figure_has_years_over_dates() -> None:
    """A point for each version at its date and years, of one study and of several."""
    old = study(6, "old", *versions(*DATES[:2]), of=(4.0, 6.0))
    new = study(7, "new", *versions(DATES[2]), of=(8.0,))
    for studies, n in (((old,), 2), ((old, new), 3)):
        result = quem.compare(*studies)
        figure = result.plot("versions")
        assert figure
        (axes,) = figure.axes
        known = result.estimates
        points = [line for line in axes.lines if line.get_marker() == "D"]
        years = [float(line.get_ydata()[0]) for line in points]  # type: ignore[index, arg-type]
        assert years == pytest.approx(known["experience"].tolist())
        dates = [line.get_xdata(orig=True)[0] for line in points]  # type: ignore[index]
        assert dates == [dt.date.fromisoformat(date) for date in DATES[:n]]
        names = {text.get_text().splitlines()[0] for text in axes.texts}
        assert names == {"Bot 1", "Bot 2"}


def test_versions_of_one_day_are_drawn() -> None:
    """They stand above each other."""
    result = quem.compare(study(5, "one", *versions(DATES[0], DATES[0])))
    assert result.to_html().count("<figure") == 1


def test_warnings_name_their_study() -> None:
    """Of several studies each says whose it is; a common id is one more."""
    few = study(1, "same", years=(1.0, 4.0, 9.0, 12.0))
    found = {one.code: one.message for one in quem.compare(few, study(2, "same")).warnings}
    assert found["few-subjects"].startswith("same: only 4 subjects")
    assert found["same-study"].startswith("2 studies have the ID same")
    codes = {one.code for one in quem.compare(study(1, "a"), study(2, "b")).warnings}
    assert not codes & {"same-study", "no-reference"}


ONE, OTHER = study(1, "old"), study(2, "new")
REFUSED: list[tuple[tuple[quem.Study, ...], dict[str, Any], str]] = [
    ((ONE,), {}, "systems: a comparison needs two systems with ranks, and only K0 has"),
    ((ONE, ONE), {}, "is named twice, and a study is not independent of itself"),
    (
        (ONE, study(2, "new", experience_unit="months")),
        {},
        "experience_unit: experience is counted in 'months' here and in 'years' in",
    ),
    (
        (ONE, study(2, "new", analysis={"level": 0.9})),
        {},
        "level: the studies ask for different levels: 0.95",
    ),
    ((ONE, OTHER), {"systems": ["bot"]}, "systems: there is no system 'bot' in"),
    (
        (ONE, study(2, "new", {}, {})),
        {"systems": ["K1"]},
        "systems: none of the named systems has ranks in this study",
    ),
]


@pytest.mark.parametrize(("studies", "more", "message"), REFUSED)
def test_refusals_name_the_remedy(
    studies: tuple[quem.Study, ...], more: dict[str, Any], message: str
) -> None:
    """What forbids a comparison of studies is said with its place."""
    with pytest.raises(QuemError) as refused:
        quem.compare(*studies, **more)
    assert message in str(refused.value)
