"""Laws that hold for any study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

import quem
from quem.errors import QuemError
from tests.experience.made import cells_of, random_ranks, study_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.experience.made import Cell

quick = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
Ranks = dict["Cell", float | None]


@st.composite
def studies(draw: st.DrawFn) -> tuple[Ranks, dict[str, float]]:
    """Draw the ranks of a small study with ties, failed and missing solutions."""
    years = {f"S{i}": float(y) for i, y in enumerate(draw(st.lists(
        st.integers(0, 20), min_size=4, max_size=6
    )))}  # fmt: skip
    assume(len(set(years.values())) > 1)
    ranks: Ranks = {}
    cell = st.integers(1, 7) | st.integers(1, 7) | st.sampled_from([None, "absent"])
    for judge in ("J0", "J1")[: draw(st.integers(1, 2))]:
        for problem in ("P0", "P1", "P2")[: draw(st.integers(1, 3))]:
            for solver in (*years, "K0", "K1"):
                rank = draw(cell)
                if rank != "absent":
                    ranks[judge, problem, solver] = None if rank is None else float(rank)
    return ranks, years


def numbers(
    ranks: Mapping[Cell, float | None],
    years: Mapping[str, float],
    **changed: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Everything an analysis says in numbers; discards studies that have no answer."""
    try:
        document = quem.analyze(study_of(ranks, years, **changed)).to_dict()
    except QuemError:
        assume(condition=False)
    averages = {row.pop("solver"): row for row in document["averages"]}
    estimates = {row.pop("system"): row for row in document["estimates"]}
    return {
        "averages": {s: a["average_rank"] for s, a in averages.items() if a["n_ranks"]},
        "estimates": estimates,
        "function": document["skill_function"],
        "overall": document["agreement"]["overall"] if document["agreement"] else None,
        "left": {
            (what, row["id"], row["system"]): [row["estimate"], *row["interval"], row["change"]]
            for what in ("judges", "subjects", "problems")
            for row in document["influence"][what]
        },
        "anova": [list(row.values()) for row in document["anova"]],
    }


def close(a: object, b: object) -> None:
    """Compare nested numbers, NaN equal to NaN and rounding forgiven."""
    if isinstance(a, dict) and isinstance(b, dict):
        assert set(a) == set(b)
        for key in a:
            close(a[key], b[key])
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            close(one, other)
    elif isinstance(a, float) and isinstance(b, float):
        assert a == pytest.approx(b, rel=1e-6, abs=1e-6, nan_ok=True)
    else:
        assert a == b


NAMES = ["S0", "S1", "S2", "S3", "K0", "K1", "J0", "J1", "P0", "P1", "P2"]
NOTATIONS: dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "dense": lambda r: rankdata(r, method="dense"),
    "competition": lambda r: rankdata(r, method="min"),
    "last": lambda r: rankdata(r, method="max"),
    "fractional": lambda r: rankdata(r, method="average"),
    "with gaps": lambda r: rankdata(r, method="dense") * 3 + 4,
    "scores": lambda r: np.exp(r / 2) - 40,
}


def rewritten(ranks: Mapping[Cell, float | None], notation: str) -> Ranks:
    """Write every group's order in another notation."""
    new_ranks: Ranks = dict(ranks)
    for group in {cell[:2] for cell in ranks}:
        here = [c for c, r in ranks.items() if c[:2] == group and r is not None]
        new = NOTATIONS[notation](np.array([ranks[c] for c in here], dtype=float))
        new_ranks |= {c: float(r) for c, r in zip(here, new, strict=True)}
    return new_ranks


@quick
@given(studies(), st.sampled_from(sorted(NOTATIONS)))
def test_any_notation_of_the_same_order(
    study: tuple[Ranks, dict[str, float]], notation: str
) -> None:
    """Dense, competition or fractional ranks, gaps or scores: only the order counts."""
    ranks, years = study
    close(numbers(rewritten(ranks, notation), years), numbers(ranks, years))


@quick
@given(studies(), st.sampled_from(sorted(NOTATIONS)))
def test_rank_sums_are_kept(study: tuple[Ranks, dict[str, float]], notation: str) -> None:
    """In each group the adjusted ranks sum to n (n + 1)/2."""
    ranks, years = study
    assume(ranks)
    cells = cells_of(study_of(rewritten(ranks, notation), years))
    sums = np.bincount(cells.group, cells.adjusted)
    n = np.bincount(cells.group)
    assert sums.tolist() == (n * (n + 1) / 2).tolist()


@quick
@given(studies(), st.randoms(use_true_random=False))
def test_the_order_of_rows(study: tuple[Ranks, dict[str, float]], random: Any) -> None:  # noqa: ANN401
    """Shuffled rows, and so judges, problems and systems in another order, change nothing."""
    ranks, years = study
    rows = list(ranks.items())
    random.shuffle(rows)
    shuffled, wanted = numbers(dict(rows), years), numbers(ranks, years)
    # Degrees of freedom and sums of squares are of factors, in whatever order of levels.
    close(shuffled, wanted)


@quick
@given(studies(), st.permutations(NAMES))
def test_relabelling(study: tuple[Ranks, dict[str, float]], names: list[str]) -> None:
    """Other names for solvers, judges and problems give the same results under these names."""
    ranks, years = study
    new = {old: f"{old[0]}-{i}" for i, old in enumerate(names)}

    def label(old: str) -> str:
        return new.get(old, old)

    renamed = {(label(j), label(p), label(s)): r for (j, p, s), r in ranks.items()}
    relabelled = numbers(renamed, {label(s): y for s, y in years.items()})
    wanted = numbers(ranks, years)
    for part in ("averages", "estimates"):
        wanted[part] = {label(s): value for s, value in wanted[part].items()}
    wanted["left"] = {
        (what, label(one), label(system)): value
        for (what, one, system), value in wanted["left"].items()
    }
    close(relabelled, wanted)


@quick
@given(studies(), st.floats(0.01, 100), st.floats(0, 1000))
def test_an_affine_change_of_experience(
    study: tuple[Ranks, dict[str, float]], factor: float, offset: float
) -> None:
    """Estimates and intervals move with the unit and the origin of experience."""
    ranks, years = study
    moved = {s: factor * y + offset for s, y in years.items()}
    before, after = numbers(ranks, years), numbers(ranks, moved)
    scale = factor * max(years.values()) + offset + 1
    for system, old in before["estimates"].items():
        new = after["estimates"][system]
        pairs = [(old["experience"], new["experience"])]
        for name in ("prediction_interval", "mean_interval"):
            pairs += zip(old[name], new[name], strict=True)
        pairs += [(old[b], new[b]) for b in ("lower_bound", "upper_bound") if old[b] is not None]
        assert new["inside_range"] == old["inside_range"]
        for one, other in pairs:
            assert other == pytest.approx(factor * one + offset, rel=1e-6, abs=1e-7 * scale)
        one, other = (each["calibration"]["interval"] for each in (old, new))
        if abs(before["function"]["p_value"] - 0.05) > 1e-6 and np.isfinite(one).all():
            wanted = [factor * end + offset for end in one]
            assert other == pytest.approx(wanted, rel=1e-4, abs=1e-4 * scale)
    close(before["function"]["permutation_p"], after["function"]["permutation_p"])
    close(before["function"]["r_squared"], after["function"]["r_squared"])
    close(before["anova"], after["anova"])


@quick
@given(studies(), st.data())
def test_a_failed_solution_is_last(
    study: tuple[Ranks, dict[str, float]], data: st.DataObject
) -> None:
    """Failing is the same as having a rank below all others, tied with all that failed."""
    ranks, years = study
    assume(ranks)
    groups = sorted({cell[:2] for cell in ranks})
    failing: Ranks = dict(ranks)
    for group in groups:
        failing |= dict.fromkeys([c for c in ranks if c[:2] == group and data.draw(st.booleans())])
    lowest = {cell: -99.0 if rank is None else rank for cell, rank in failing.items()}
    cells, wanted = (cells_of(study_of(each, years)) for each in (failing, lowest))
    assert cells.adjusted.tolist() == wanted.adjusted.tolist()


@quick
@given(st.integers(0, 10_000), st.integers(1, 8))
def test_a_withheld_solver_leaves_the_others_in_place(seed: int, place: int) -> None:
    """Where ranks are whole and untied, dropping a solver and declaring it withheld are one."""
    ranks, years = random_ranks(np.random.default_rng(seed), judges=2, problems=2, systems=2)
    top = len(years) + 2
    full: Ranks = {}
    for group in {cell[:2] for cell in ranks}:
        for cell, rank in ranks.items():
            if cell[:2] == group and rank is not None:
                full[cell] = rank + (rank >= place)
        full[*group, "W"] = float(place)
    without = {cell: rank for cell, rank in full.items() if cell[2] != "W"}
    named = numbers(full, years, withheld=["W"])
    if place <= top:
        close(numbers(without, years, withheld=["W"]), named)
    for solver, average in named["averages"].items():
        held = [r for cell, r in full.items() if cell[2] == solver and r is not None]
        assert average == pytest.approx(np.mean(held))
