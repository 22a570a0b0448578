"""Gain from assistance: references, problems, and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.errors import QuemError
from tests.method.brute import System, people_of, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAN = float("nan")
FEW = settings(max_examples=20, deadline=None)
YEARS = {f"S{at}": 1.0 + at for at in range(9)}


def study(quality: Mapping[str, Floats], years: Mapping[str, float] = YEARS) -> quem.Study:
    """A study in which judges order by quality, (judges, problems), and some had help.

    An assisted solver is named by the person and one letter more.
    """
    rows = [
        {"judge": f"J{j}", "problem": f"P{p}", "solver": solver, "rank": 100 + float(value)}
        for solver, values in quality.items()
        for (j, p), value in np.ndenumerate(values)
        if np.isfinite(value)
    ]
    assisted = [
        {"id": name, "by": "bot", "person": name[:-1]} for name in quality if name not in years
    ]
    systems = [{"id": "bot", "name": "Bot", "version": "2"}]
    return quem.study(rows, people=years, systems=systems, assisted=assisted)


def simulated(seed: int, gain: float = 3.0, helped: Sequence[int] = (2, 4, 6)) -> dict[str, Floats]:
    """The quality of nine people on six problems; the helped have help on one half of them."""
    rng = np.random.default_rng(seed)
    quality = {}
    for at, (person, y) in enumerate(YEARS.items()):
        values = y + rng.normal(0, 1) + rng.normal(0, 1, 6) + rng.normal(0, 1, (3, 6))
        quality[person] = values
        if at in helped:
            half = (np.arange(6) < 3) != (helped.index(at) % 2)
            quality[f"{person}+"] = np.where(half, values + gain, NAN)
            quality[person] = np.where(half, NAN, values)
    return quality


def gain_of(made: quem.Study, level: float = 0.95) -> dict[str, Any]:
    (gain,) = quem.compare(made, level=level).to_dict()["assistance"]
    return dict(gain)


def test_helped_are_placed_among_those_who_never_had_help() -> None:
    """X = 1 + b (S − 1)/S with b of the S below, ties one half, is as counted by hand."""
    years = {"A": 1.0, "B": 3.0, "C": 5.0, "D": 7.0, "H": 4.0}
    quality = {person: np.full((1, 3), y) for person, y in years.items()}
    quality["H"] = np.array([[4.0, 4.0, NAN]])
    quality["H+"] = np.array([[NAN, NAN, 7.0]])
    (person,) = gain_of(study(quality, years))["people"]
    assert (person["a"], person["b"]) == ("H", "H+")
    assert person["alone"] == 1 + 2 * 3 / 4
    assert person["helped"] == 1 + 3.5 * 3 / 4


def ranks_among(quality: Mapping[str, Floats], solver: str) -> Floats:
    """A solver's rank among S who never had help, (judges, problems), counted one by one."""
    never = [person for person in YEARS if f"{person}+" not in quality]
    others = [quality[person] for person in never if person != solver]
    own = quality[solver]
    below = sum((other < own).astype(float) for other in others)
    if solver in never:
        return np.asarray(1 + below)
    n = len(never)
    return np.where(np.isfinite(own), 1 + below * (n - 1) / n, NAN)


@FEW
@given(st.integers(0, 10_000), st.sampled_from([0.8, 0.95]))
def test_one_person_s_test_is_that_of_two_samples(seed: int, level: float) -> None:
    """t, df, p, and interval are those of Student's test of two samples of problems."""
    quality = simulated(seed, helped=[4])
    gain = gain_of(study(quality), level=level)
    helped, alone = (
        np.nanmean(ranks_among(quality, name)[:, half], axis=0)
        for name, half in (("S4+", slice(0, 3)), ("S4", slice(3, 6)))
    )
    assume(min(np.ptp(helped), np.ptp(alone)) > 1e-9)
    oracle = stats.ttest_ind(helped, alone)
    assert (gain["t"], gain["df"]) == (pytest.approx(oracle.statistic), 4)
    assert gain["p_value"] == pytest.approx(oracle.pvalue)
    assert gain["interval"] == pytest.approx(list(oracle.confidence_interval(level)))


def test_crossed_halves_have_a_contrast_on_each_problem() -> None:
    """With half of the people helped on either half, two sets of three problems are left."""
    quality = simulated(3, helped=[2, 4, 5, 7])
    gain = gain_of(study(quality))
    people = ("S2", "S4", "S5", "S7")
    # Each judge ranked each problem, in one of the two ways.
    both = [
        np.nan_to_num(ranks_among(quality, f"{name}+")) - np.nan_to_num(ranks_among(quality, name))
        for name in people
    ]
    contrast = np.sum(both, axis=0).mean(axis=0) / 4
    halves = contrast[:3], contrast[3:]
    total = sum(half.mean() for half in halves)
    spread = sum(((half - half.mean()) ** 2).sum() for half in halves)
    assert gain["gain"] == pytest.approx(total)
    assert (gain["t"], gain["df"]) == (
        pytest.approx(total / np.sqrt(spread / 4 * (1 / 3 + 1 / 3))),
        4,
    )


def test_years_are_those_of_two_systems_with_cells_of_their_own() -> None:
    """A person's two trials by brute force; the trials' variances are computed one by one."""
    quality = simulated(5, helped=[4])
    (person,) = gain_of(study(quality))["people"]
    places = {name: (ranks_among(quality, name) - 0.5) / 8 for name in quality}
    subjects = np.stack([places[name] for name in YEARS], axis=2)
    p = np.nanmean(subjects, axis=(0, 1))
    weights = np.maximum(p * (1 - p), 0.0196)
    alone, helped = (_trial(subjects, weights, places[name]) for name in ("S4", "S4+"))
    # The line is that of all subjects' places, each in cells of their own.
    people = people_of(np.log(p / (1 - p)), list(YEARS.values()))
    want = within(people, alone, helped, low=0.0, high=13.5)
    assert person["years"] == pytest.approx(want["years"], abs=0.04)
    assert person["interval"] == pytest.approx(want["interval"], abs=0.05)
    assert person["ahead"] == pytest.approx(want["ahead"], abs=0.005)


def _trial(subjects: Floats, weights: Floats, own: Floats) -> System:
    """The variance of a trial on half of the problems."""
    held = np.isfinite(own).any(axis=0)
    cells, p = own[:, held], float(np.nanmean(own))
    w, (judges, problems) = max(p * (1 - p), 0.0196), cells.shape
    solution, taste, rest = _components(subjects)
    phi = (solution / problems + taste / judges + rest / cells.size) / weights.mean()
    parts = [(phi, len(weights) * (judges - 1) * (subjects.shape[1] - 1))]
    for axis in (0, 1):
        means = cells.mean(axis=axis)
        known = np.ma.masked_invalid(subjects[:, held]).mean(axis).filled(NAN)
        several = np.isfinite(known).sum(axis=0) > 1
        usual = np.nanvar(known[:, several], axis=0, ddof=1) / weights[several]
        m = len(means)
        parts.append((max(0.0, means.var(ddof=1) / w - usual.mean()) / m, m - 1))
    total = sum(value for value, _ in parts)
    df = total**2 / sum(value**2 / of for value, of in parts)
    return System(np.log(p / (1 - p)), total / w, df, 0.0, np.inf)


def _components(places: Floats) -> tuple[float, float, float]:
    """Variances by all pairs of solvers and of cells, one after the other."""
    judges, problems, n = places.shape
    sums = {(False, True): [0.0, 0], (True, False): [0.0, 0], (True, True): [0.0, 0]}
    cells = [(j, p) for j in range(judges) for p in range(problems)]
    for s in range(n):
        for t in range(s):
            off = places[..., s] - places[..., t]
            for at, one in enumerate(cells):
                for other in cells[:at]:
                    change = off[one] - off[other]
                    if np.isfinite(change):
                        kind = one[0] != other[0], one[1] != other[1]
                        sums[kind][0] += change**2
                        sums[kind][1] += 1
    of_problem, of_judge, both = (sums[k][0] / sums[k][1] / 4 for k in sums)
    rest = of_problem + of_judge - both
    return max(both - of_judge, 0.0), max(both - of_problem, 0.0), max(rest, 0.0)


@pytest.mark.parametrize(("gain", "low", "high"), [(0.0, -0.4, 0.4), (3.0, 2.3, 3.3)])
def test_gain_in_years_has_little_bias(gain: float, low: float, high: float) -> None:
    """Help worth 3 years reads about 3, help worth nothing about 0, and intervals cover both."""
    found = [
        person for seed in range(30) for person in gain_of(study(simulated(seed, gain)))["people"]
    ]
    known = [one for one in found if one["years"] is not None]
    assert len(known) > 0.9 * len(found)
    assert low < np.median([one["years"] for one in known]) < high
    ends = [one["interval"] for one in known]
    covered = [(a is None or a <= gain) and (b is None or gain <= b) for a, b in ends]
    assert np.mean(covered) > 0.9


def test_too_few_problems_have_no_test() -> None:
    quality = {name: values[:, [0, 5]] for name, values in simulated(1).items()}
    result = quem.compare(study(quality))
    (gain,) = result.to_dict()["assistance"]
    assert np.isfinite(gain["gain"])
    assert (gain["t"], gain["p_value"], gain["interval"]) == (None, None, [None, None])
    (message,) = (one.message for one in result.warnings if one.code == "no-test")
    assert message.startswith("no test of the gain by bot: too few problems")
    assert "(no test)" in result.summary()


def test_without_work_alone_there_is_no_gain() -> None:
    quality = simulated(2, helped=[2, 4, 6])
    quality["S2"][:] = NAN
    result = quem.compare(study(quality))
    (gain,) = result.to_dict()["assistance"]
    assert [person["a"] for person in gain["people"]] == ["S4", "S6"]
    (message,) = (one.message for one in result.warnings if one.code == "gain-not-measurable")
    assert "S2 (unassisted) has no ranks" in message


def test_without_people_who_never_had_help_all_unaided_are_the_reference() -> None:
    everybody = quem.compare(study(simulated(3, helped=range(9))))
    assert "changing-references" in {one.code for one in everybody.warnings}
    some = quem.compare(study(simulated(3)))
    assert not {one.code for one in some.warnings} & {"changing-references", "assisted"}


def without(quality: dict[str, Floats], at: Any, *names: str) -> dict[str, Floats]:  # noqa: ANN401
    """Quality where some are not ranked on problems."""
    for name in names:
        quality[name][:, at] = NAN
    return quality


TWICE = {**simulated(1, helped=[4]), "S4*": np.where(np.arange(6) == 1, 6.0, np.full((3, 6), NAN))}
TWICE["S4"] = np.where(np.arange(6) < 1, 5.0, TWICE["S4"])
NOBODY = ("S1", "S2", "S3", "S5", "S6", "S7", "S8")


@pytest.mark.parametrize(
    ("quality", "messages"),
    [
        (
            TWICE,
            [
                "assisted[1]: S4 solved P0 twice, as S4+ and alone",
                "assisted[2]: S4 solved P1 twice, as S4* and as S4+",
            ],
        ),
        (
            without(simulated(1, helped=[4]), 0, *NOBODY),
            ["fewer than 2 people without help were ranked on P0"],
        ),
        (
            without(simulated(2, helped=[2, 4]), slice(None), "S2", "S4+"),
            ["S2 (unassisted) has no ranks", "S4+ (assisted) has no ranks"],
        ),
    ],
)
def test_refusals(quality: dict[str, Floats], messages: list[str]) -> None:
    """A problem solved twice is refused, and so are missing references or halves."""
    with pytest.raises(QuemError) as refused:
        quem.compare(study(quality))
    lines = str(refused.value).splitlines()
    assert len(lines) == len(messages)
    assert all(message in line for message, line in zip(messages, lines, strict=True))


def test_blocks_have_no_gain() -> None:
    rows = [
        {"judge": "J", "problem": "P", "block": block, "solver": solver, "rank": at}
        for block in (1, 2)
        for at, solver in enumerate([*list(YEARS)[4 * block - 4 : 4 * block + 1], "S4+"])
    ]
    help_ = [{"id": "S4+", "by": "bot", "person": "S4"}]
    blocked = quem.study(rows, people=YEARS, systems=["bot"], assisted=help_)
    with pytest.raises(QuemError, match="this study was judged in blocks, and a gain"):
        quem.compare(blocked)
