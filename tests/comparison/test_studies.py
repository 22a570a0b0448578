"""Systems of one study and of several, versions over their dates, and what people do with them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.errors import QuemError
from tests.made import random_ranks
from tests.method.brute import YEARS, people_of, places, posterior, read, system_of

if TYPE_CHECKING:
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
        ranks = random_ranks(np.random.default_rng(seed), years, (system,), noise=1.5)
        population = own.get("reference_population", {"years": [0, 1.5 * max(OLDER)]})
        breaks = np.array(population["years"], dtype=np.float64)
        share = np.array(population.get("share", [1.0]))
        grid = np.linspace(breaks[0], breaks[-1], 1501)
        at = np.clip(np.searchsorted(breaks, grid, "right") - 1, 0, len(share) - 1)
        density = (share / np.diff(breaks))[at]
        people, of = people_of(places(ranks)[1], years), system_of(ranks, years, len(years))
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


@pytest.mark.parametrize("of", [8.0, 40.0])
def test_open_ends_between_studies(of: float) -> None:
    """Of two systems above everybody nothing is known in years; of one there is a lower bound."""
    result = quem.compare(study(1, "one", of=(of,)), study(2, "two", of=(40.0,)))
    (pair,) = result.to_dict()["pairs"]
    text = " ".join(result.summary().split())
    if of == 40:
        assert (pair["years"], pair["interval"], pair["ahead"]) == (None, [None, None], None)
        assert "Both rank at or above" in text
    else:
        assert pair["interval"][1] is None
        assert pair["years"] > pair["interval"][0] > 0
        assert "K0 (two) is ahead of K0 (one) by at least" in text


def test_only_systems_of_different_studies_are_compared() -> None:
    result = quem.compare(study(1, "one", {}, {}), study(2, "two", {"id": "new"}))
    pairs = [(one["a_study"], one["b_study"]) for one in result.to_dict()["pairs"]]
    assert pairs == [("one", "two"), ("one", "two")]


def versions(*dates: str) -> list[dict[str, Any]]:
    """Versions of a system, of these dates, as far as they have one."""
    keys = {"of": "Bot", "name": "Bot"}
    return [
        {**keys, "version": str(at), **({"date": date} if date else {})}
        for at, date in enumerate(dates, 1)
    ]


def test_versions_are_in_the_order_of_their_dates() -> None:
    """In the table and the pairs, whatever their order in the file; others keep their place."""
    result = quem.compare(study(5, "one", *versions(DATES[2], DATES[0], DATES[1])))
    assert list(result.estimates["date"]) == list(DATES)
    pairs = [(pair["a"], pair["b"]) for pair in result.to_dict()["pairs"]]
    assert pairs == [("K1", "K2"), ("K1", "K0"), ("K2", "K0")]
    assert "Versions of Bot" in result.summary()


def test_one_date_does_not_order() -> None:
    """Where some versions have none they keep their order, and no figure is drawn."""
    result = quem.compare(study(5, "one", *versions(DATES[1], "")))
    assert list(result.estimates["date"]) == [DATES[1], ""]
    assert result.figures() == {}


@pytest.mark.parametrize("n", [2, 3])
def test_the_figure_has_years_over_dates(n: int) -> None:
    """A point for each version at its date and years, of one study and of several."""
    old = study(6, "old", *versions(*DATES[:2]), of=(4.0, 6.0))
    new = study(7, "new", *versions(DATES[2]), of=(8.0,))
    result = quem.compare(old, new) if n == 3 else quem.compare(old)
    figure = result.plot("versions")
    assert figure
    (axes,) = figure.axes
    points = [line for line in axes.lines if line.get_marker() == "D"]
    years = [float(line.get_ydata()[0]) for line in points]  # type: ignore[index, arg-type]
    assert years == pytest.approx(result.estimates["experience"].tolist())
    dates = [line.get_xdata(orig=True)[0] for line in points]  # type: ignore[index]
    assert dates == [dt.date.fromisoformat(date) for date in DATES[:n]]
    assert {text.get_text().splitlines()[0] for text in axes.texts} == {"Bot 1", "Bot 2"}


def test_versions_of_one_day_are_drawn() -> None:
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


ONE = study(1, "old")
REFUSED: list[tuple[list[quem.Study], dict[str, Any], str]] = [
    ([ONE], {}, "systems: a comparison needs two systems with ranks, and only K0 has"),
    ([ONE, ONE], {}, "is named twice"),
    ([ONE, study(2, "new", experience_unit="months")], {}, "experience_unit: experience is"),
    ([ONE, study(2, "new", analysis={"level": 0.9})], {}, "level: the studies ask for different"),
    ([ONE, study(2, "new")], {"systems": ["bot"]}, "systems: there is no system 'bot' in"),
    ([ONE, study(2, "new", {}, {})], {"systems": ["K1"]}, "systems: none of the named systems has"),
]


@pytest.mark.parametrize(("studies", "more", "message"), REFUSED)
def test_refusals(studies: list[quem.Study], more: dict[str, Any], message: str) -> None:
    with pytest.raises(QuemError, match=message):
        quem.compare(*studies, **more)


STUDIES = Path(__file__).resolve().parents[2] / "studies" / "assembly-planners"


def loaded(name: str = "study") -> quem.Study:
    return quem.load_study(STUDIES / f"{name}.yaml", kind="experience")


@pytest.mark.parametrize(
    ("names", "first", "second"),
    [
        ("study", "Fitter 2 is ahead of Fitter 1 by", "Fitter 2’s lead disappears without the"),
        ("study next-year", "Fitter 3 is ahead of Fitter 1 by", "Assumes independent studies"),
        ("assistance", "4 people with the help of Fitter 2", "S2 alone"),
    ],
)
def test_the_same_is_said_everywhere(names: str, first: str, second: str) -> None:
    """In a terminal, on a page, and in a notebook; the page has a paragraph for a paper."""
    result = quem.compare(*map(loaded, names.split()))
    page, text = result.to_html(), " ".join(str(result).split())
    assert all(said in where for said in (first, second) for where in (page, text))
    assert first in result._repr_html_()
    assert ("<figure" in page) == (names != "assistance")
    assert "Analyses were done with quem" in page
    assert repr(result).startswith("<ComparisonResult of ")


@pytest.mark.parametrize("names", [["Fitter"], ["fitter-1", "fitter-2"]])
def test_named_systems_are_compared_alone(names: list[str]) -> None:
    (pair,) = quem.compare(loaded(), systems=names).to_dict()["pairs"]
    assert (pair["a"], pair["b"]) == ("fitter-1", "fitter-2")


def test_a_declared_population_is_named() -> None:
    result = quem.compare(loaded(), reference_population={"years": [0, 30], "share": [1]})
    assert "the declared population: uniform from 0 to 30 years." in str(result)
    assert "no-reference" not in {one.code for one in result.warnings}


@pytest.mark.parametrize(
    ("given", "settings", "message"),
    [
        (["next-year.yaml"], {}, r"quem\.compare\(quem\.load_study\(path\)\)"),
        ([], {}, "compare takes one study at least"),
        ([loaded()], {"seed": 0}, "compare takes no seed; its settings are systems, level"),
    ],
)
def test_what_is_no_study_is_told(given: Any, settings: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=message):
        quem.compare(*given, **settings)
