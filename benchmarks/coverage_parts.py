"""The parts of the coverage study that hold a method to a bar, each with its cases and bars.

    python benchmarks/coverage.py --part jagged

Figures are in percent of the studies for which they are defined; designs of a cell are pooled.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pandas as pd
from coverage_worths import WORTHS_CASES
from scipy.special import fdtrc

from quem.comparison.automatic import automatic_tests
from quem.comparison.years import worth_differences
from quem.experience.batch import batch_estimates, fit_batch
from quem.experience.checks import DECISIVE, outlying, veteran
from quem.experience.expected_ranks import fit_worths
from quem.experience.hierarchical import hierarchical
from quem.experience.judges import MISFIT, judge_statistics
from quem.experience.profile import jaggedness
from quem.experience.simulation import HIGH, LOW, Noise, Scenario, simulate
from quem.experience.skill import FEWEST_SUBJECTS, FORMS, SIGNIFICANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from coverage_worths import WorthCase
    from numpy.typing import NDArray

    from quem.experience.simulation import Simulated

_LEVEL = 0.95
_NOISES = {"low": LOW, "high": HIGH, "taste": Noise(person=0.5, judge=3.0, taste=2.0)}


@dataclass(frozen=True)
class PartCase:
    """Studies of one design."""

    part: str
    cell: str  # what is pooled with other designs, as the table names it
    noise: str
    subjects: int
    judges: int
    problems: int
    system: float | None  # the years of a typical system; None for a peer
    studies: int  # in each part
    more: dict[str, Any] = field(default_factory=dict)  # other fields of the scenario

    def rows(self, seed: int, part: int) -> list[dict[str, Any]]:
        """Simulate a part, and count; each part of a case has random numbers of its own."""
        key = (crc32(repr(replace(self, studies=0)).encode()), part)
        scenario = Scenario(
            self.subjects, self.judges, self.problems, (self.system,), _NOISES[self.noise]
        )
        simulated = simulate(
            replace(scenario, **self.more),
            self.studies,
            np.random.SeedSequence(seed, spawn_key=key),
        )
        return [
            {
                "what": what,
                "defined": int(defined.sum()),
                "is_so": int((is_so & defined).sum()),
                **of,
            }
            for what, is_so, defined, of in PARTS[self.part].counts(simulated)
        ]


Counts = tuple[str, "NDArray[np.bool_]", "NDArray[np.bool_]", dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """A part of the study."""

    cases: tuple[PartCase, ...] | tuple[WorthCase, ...]
    parts: int
    # From simulated studies: what is counted, in which studies it is so, in which it is defined,
    # and other figures: ``width`` and the ``line``'s, of which the median over the designs is
    # shown, sums of ``squares`` and the line's ``line_squares``, or another ``cell``.
    counts: Callable[[Simulated], Iterable[Counts]]
    # From a cell and what is counted: the lowest and highest percentage, or None.
    bars: Callable[[str, str], tuple[float, float] | None]
    # From the same: the most that the width or error may be of the line's, or None.
    most: Callable[[str, str], float | None] = lambda *_: None


def _covers(
    simulated: Simulated, normalize: str = "none", form: str = "linear"
) -> tuple[Any, NDArray[np.bool_]]:
    """What is estimated, and whether the headline covers: one-sided outside the range."""
    of = batch_estimates(simulated, level=_LEVEL, normalize=normalize, form=form)  # type: ignore[arg-type]
    truth = simulated.truth[:, 0]
    low, high = of.prediction[:, 0].T
    with np.errstate(invalid="ignore"):
        two_sided = (low <= truth) & (truth <= high)
        bound = (of.lower[:, 0] <= truth) | (of.upper[:, 0] >= truth)
    return of, np.where(of.inside[:, 0], two_sided, bound)


def _headline(simulated: Simulated) -> Iterator[Counts]:
    """The headline's coverage, under two normalizations."""
    for normalize in ("none", "expected"):
        of, covered = _covers(simulated, normalize)
        yield normalize, covered, np.isfinite(of.experience[:, 0]), {}


# 7.1: systems with fewer cells.
_FEWER: dict[str, tuple[int, int, dict[str, Any]]] = {
    "1 of 5 judges": (5, 6, {"system_judges": 1}),
    "2 of 5 judges": (5, 6, {"system_judges": 2}),
    "1 of 3 judges, 2 of 6 problems": (3, 6, {"system_judges": 1, "system_problems": 2}),
    "1 of 5 judges, 1 of 6 problems": (5, 6, {"system_judges": 1, "system_problems": 1}),
    "one judge a problem, in turn": (3, 6, {"in_turn": True}),
    "2 of 6 problems, all judges": (3, 6, {"system_problems": 2}),
}
INCIDENCE = Part(
    tuple(
        PartCase("incidence", f"{name}; {n} subjects; {noise}", noise, n, j, p, None, 1200, more)
        for (name, (j, p, more)), n, noise in product(_FEWER.items(), (7, 12), _NOISES)
    ),
    1,
    _headline,
    lambda *_: (93.0, 98.5),
)


# 7.2: jagged systems.
def _jagged(simulated: Simulated) -> Iterator[Counts]:
    """How often a system is called jagged, and how often the headline covers."""
    scenario = simulated.scenario
    people = np.arange(simulated.ranks.shape[-1]) < scenario.subjects
    information = fit_worths(simulated.ranks).information
    of = jaggedness(simulated.ranks, information, people, scenario.subjects)
    tested = np.isfinite(of.p)
    yield "flagged", of.is_jagged, tested, {}
    _, covered = _covers(simulated)
    yield "covered", covered, np.ones(len(covered), dtype=bool), {}


def _jagged_cases() -> Iterator[PartCase]:
    for n, p, system, noise in product(
        (5, 7, 12, 20), (3, 6, 12), (2.0, 6.5, 11.0, None), ("low", "high")
    ):
        where = "a peer" if system is None else f"{system:g} years"
        cell = f"blameless; {n} subjects, {p} problems; {where}; {noise}"
        yield PartCase("jagged", cell, noise, n, 3, p, system, 1500)
    for (judges, by), p, noise in product(((3, 1), (5, 1), (5, 2)), (3, 6, 12), _NOISES):
        cell = f"blameless; {by} of {judges} judges, {p} problems; {noise}"
        yield PartCase("jagged", cell, noise, 12, judges, p, None, 1500, {"system_judges": by})
    for times, p, n, noise in product((2, 3, 6, 10), (3, 6, 12), (7, 12), ("low", "high")):
        more = {"system_solution": times * _NOISES[noise].solution}
        cell = f"{times} times; {p} problems; {n} subjects"
        yield PartCase("jagged", cell, noise, n, 3, p, None, 1500, more)


# From 2% to 9%, and three standard errors of 1,500 studies. In 16,000 studies of 5 subjects, 12
# problems, low noise, and a system of 2 or 11 years it is 9.1% and 9.5%.
_SIZE = (0.9, 11.2)


def _jagged_bars(cell: str, what: str) -> tuple[float, float] | None:
    if what == "flagged":
        return {
            "3 times; 6 problems; 12 subjects": (67.0, 100.0),
            "6 times; 6 problems; 12 subjects": (87.0, 100.0),
        }.get(cell, _SIZE if cell.startswith("blameless") else None)
    if cell.startswith("3 times"):
        return (90.0 if "; 3 problems" in cell else 92.5, 100.0)
    return None


JAGGED = Part(tuple(_jagged_cases()), 1, _jagged, _jagged_bars)


# 7.3: the gate.
def _gated(simulated: Simulated) -> Iterator[Counts]:
    """Coverage of what passes, and of all."""
    of, covered = _covers(simulated)
    n, inside = simulated.scenario.subjects, of.inside[:, 0]
    x, y = of.average[:, :n], simulated.experience
    fit = fit_batch(FORMS["linear"], x, y, np.ones(x.shape))
    rises = np.diff(fit.predict(np.array([[0.0, 1.0]])))[:, 0] > 0
    explained = ((fit.predict(x) - y.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    left = ((fit.predict(x) - y) ** 2).sum(axis=1)
    significant = fdtrc(1, n - 2, explained / (left / (n - 2))) < SIGNIFICANT
    passed = rises & significant
    every = np.ones(len(passed), dtype=bool)
    yield "pass", passed, every, {}
    yield "inside", covered, inside, {}
    yield "inside and passed", covered, inside & passed, {}
    yield "outside and passed", covered, ~inside & passed, {}


_GATED = {5: 88.0, 6: 91.0, 7: 92.0}
GATE = Part(
    tuple(
        PartCase("gate", f"{n} subjects; {noise}", noise, n, j, p, None, 1000)
        for n, noise, (j, p) in product(
            (3, 4, 5, 6, 7, 8, 10, 12, 20), ("low", "high"), ((1, 3), (2, 3), (3, 6), (5, 12))
        )
    ),
    4,
    _gated,
    lambda cell, what: (
        (_GATED.get(int(cell.split()[0]), 93.0), 100.0)
        if what == "inside and passed" and int(cell.split()[0]) >= FEWEST_SUBJECTS
        else None
    ),
)


# 7.4: the model of persons, problems, and judges.
def _modeled(simulated: Simulated) -> Iterator[Counts]:
    """Coverage of both intervals where bounded, and their width beside the line's."""
    n, truth = simulated.scenario.subjects, simulated.truth[:, 0]
    y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
    ranks = simulated.ranks
    of = hierarchical(ranks, fit_worths(ranks), y, np.array([n]), level=_LEVEL)
    line = np.diff(batch_estimates(simulated, level=_LEVEL).prediction[:, 0])[:, 0]
    is_peer = simulated.scenario.systems == (None,)
    for what, ends in (("peer", of.peer),) if is_peer else (("typical", of.typical),):
        low, high = ends[:, 0].T
        exists = ~np.isnan(low)
        bounded = exists & np.isfinite(low) & np.isfinite(high)
        with np.errstate(invalid="ignore"):
            covered = (low <= truth) & (truth <= high)
        width = float(np.median((high - low)[bounded])) if bounded.any() else np.nan
        figures = {"width": width, "line": float(np.median(line))}
        yield what, covered, exists, figures


def _modeled_bars(cell: str, what: str) -> tuple[float, float] | None:
    few = cell.startswith("5 subjects")
    if what == "peer":
        return (89.0, 100.0) if few else (92.5, 97.0)
    if few:
        return (92.0, 100.0)
    return (94.0, 100.0) if "14 years" in cell else (93.5, 98.0)


HIERARCHICAL = Part(
    tuple(
        PartCase(
            "hierarchical",
            f"{n} subjects; {'a peer' if system is None else f'{system:g} years'}; {noise}",
            noise,
            n,
            j,
            p,
            system,
            400,
        )
        for n, system, noise, j, p in product(
            (5, 7, 12, 20),
            (1.5, 4.0, 6.5, 9.0, 11.5, 14.0, None),
            ("low", "high"),
            (2, 3, 5),
            (3, 6, 12),
        )
    ),
    1,
    _modeled,
    _modeled_bars,
)


# 7.5: skill functions for learning curves.
def _forms(simulated: Simulated) -> Iterator[Counts]:
    """Coverage of the headline by each form; width, error, and bias beside the line's."""
    truth = simulated.truth[:, 0]
    every = np.ones(len(truth), dtype=bool)
    line, covered = _covers(simulated)
    yield "linear", covered, every, _beside(_width(line), _width(line))
    for form in ("exponential", "averaged"):
        of, covered = _covers(simulated, form=form)
        yield form, covered, every, _beside(_width(of), _width(line))
        error, of_line = (each.experience[:, 0] - truth for each in (of, line))
        bias = _beside(float(error.mean()), float(of_line.mean()))
        yield f"{form}: estimate too low, and bias", error < 0, every, bias
        if simulated.scenario.systems != (None,):
            continue
        for where, which in (("", every), (" inside the range", line.inside[:, 0])):
            squares, line_squares = (float((e[which] ** 2).sum()) for e in (error, of_line))
            pooled = {"cell": _ANY, "squares": squares, "line_squares": line_squares}
            nearer = np.abs(error) < np.abs(of_line)
            yield f"{form}: nearer than the line{where}, and error", nearer, which, pooled


def _width(of: Any) -> float:  # noqa: ANN401  what _covers gives
    return float(np.median(np.diff(of.prediction[:, 0])))


def _beside(figure: float, of_line: float) -> dict[str, float]:
    return {"width": figure, "line": of_line}


_ANY = "any curve; 12 and 20 subjects; a peer"
_POSITIONS: dict[str, tuple[float | None, dict[str, Any]]] = {
    "a peer": (None, {}),
    "a peer of 3 years": (3.0, {"system_person": LOW.person}),
    "a peer of 15 years": (15.0, {"system_person": LOW.person}),
    **{f"{years:g} years": (years, {}) for years in (2.0, 8.0, 15.0, 19.0)},
}
FORMS_PART = Part(
    tuple(
        PartCase(
            "forms",
            f"{curve}; {n} subjects; {where}",
            "low",
            n,
            3,
            6,
            system,
            3000,
            {"experience": (1.0, 20.0), "curve": curve, **more},
        )
        for curve, n, (where, (system, more)) in product(
            ("linear", "saturating", "logarithmic"), (12, 20), _POSITIONS.items()
        )
    ),
    1,
    _forms,
    # 92%, and two standard errors and a half of 3,000 studies.
    lambda _, what: (90.8, 100.0) if what == "averaged" else None,
    # Over all peers it is 8%, from those far outside the range.
    lambda _, what: 1.06 if what.startswith("averaged: nearer than the line inside") else None,
)


# 7.6: two systems of one study.
def _paired(simulated: Simulated) -> Iterator[Counts]:
    """The size of the automatic test, or coverage of the difference in years."""
    first, second = simulated.truth[0]
    truth, n = round(first - second, 9), simulated.scenario.subjects
    scenario, every = simulated.scenario, np.ones(len(simulated), dtype=bool)
    if not truth:
        apart = simulated.ranks[..., n] - simulated.ranks[..., n + 1]
        found = automatic_tests(apart).finds(SIGNIFICANT) != 0
        yield "found", found, every, {}
        if scenario.system_taste is None:
            yield "found", found, every, {"cell": "size; mean without taste for systems"}
    if scenario.system_taste is None and scenario.noise.taste:
        y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
        of = worth_differences(simulated.ranks, y, n, n + 1, level=_LEVEL)
        defined = np.isfinite(of.low)
        with np.errstate(invalid="ignore"):
            covered = (of.low <= truth) & (truth <= of.high)
            inside = (of.low <= of.years) & (of.years <= of.high)
        yield "covered", covered, defined, {}
        yield "estimate inside its interval", inside, defined, {"cell": "all of these"}


def _paired_cases() -> Iterator[PartCase]:
    same = {"systems": (6.5, 6.5)}
    for noise, j, p in product(("low", "high"), (2, 3, 5), (3, 6, 12)):
        none = replace(_NOISES[noise], taste=0.0)
        tastes: dict[str, dict[str, Any]] = {
            "no taste": {"noise": none},
            "taste half of person": {},
            "taste for systems twice person": {"noise": none, "system_taste": 2 * none.person},
        }
        for taste, more in tastes.items():
            cell = f"size; {taste}; {j} judges, {p} problems; {noise}"
            yield PartCase("pairs", cell, noise, 12, j, p, None, 1000, {**same, **more})
    for noise, (n, j, p), d in product(("low", "high"), _PAIRED, (0, 2, 4, 8, 10)):
        cell = f"{d} years; {n} subjects, {j} judges, {p} problems; {noise}"
        more = {"systems": (6.5 + d / 2, 6.5 - d / 2)}
        yield PartCase("pairs", cell, noise, n, j, p, None, 1500, more)


def _paired_bars(cell: str, what: str) -> tuple[float, float] | None:
    if what == "found":
        if cell.startswith("size; mean"):
            return (0.0, 6.0)
        if not cell.startswith("size"):
            return None
        return (0.0, 14.0 if "for systems" in cell else 9.0)
    if what == "estimate inside its interval":
        return (100.0, 100.0)
    return None if cell.startswith("size") else (93.0, 98.0)


_PAIRED = ((7, 2, 6), (7, 3, 6), (12, 2, 6), (12, 3, 6), (12, 5, 12), (20, 3, 6), (20, 5, 12))
PAIRS = Part(tuple(_paired_cases()), 1, _paired, _paired_bars)


# 7.7: judges and subjects by name.
def _named(simulated: Simulated) -> Iterator[Counts]:
    """How often the judge or subject who is meant is named, and how often others are."""
    scenario = simulated.scenario
    if scenario.veteran is None:
        yield from _judges(simulated)
    if scenario.first_judge == 1 and not scenario.is_first_reversed:
        yield from _subjects(simulated)


def _all(is_so: NDArray[np.bool_] | np.bool_) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """What is so, and that it is defined everywhere."""
    each = np.asarray(is_so)
    return each, np.ones_like(each)


def _judges(simulated: Simulated) -> Iterator[Counts]:
    scenario = simulated.scenario
    none = np.full(simulated.truth.shape, np.nan)
    of = judge_statistics(
        simulated.ranks.swapaxes(1, 2), np.concatenate([simulated.experience, none], axis=1)
    )
    with np.errstate(invalid="ignore"):
        misfit = of.misfit > MISFIT
    if scenario.is_first_reversed:
        yield "reversed: found", *_all(of.is_reversed[:, 0]), {}
        yield "reversed: another", *_all(of.is_reversed[:, 1:].any(axis=1)), {}
    elif scenario.first_judge != 1:
        yield "misfit: found", *_all(misfit[:, 0]), {}
    else:
        yield "reversed: any", *_all(of.is_reversed.any(axis=1)), {}
        if scenario.judges > 2:  # noqa: PLR2004  two are alike
            yield "misfit: a judge", *_all(misfit), {}
            yield "misfit: any", *_all(misfit.any(axis=1)), {}


def _subjects(simulated: Simulated) -> Iterator[Counts]:
    y = simulated.experience
    n = y.shape[1]
    of = batch_estimates(simulated, level=_LEVEL)
    x, at = of.average[:, :n], of.average[:, n:]
    centered = x - x.mean(axis=1, keepdims=True)
    s_xx = (centered**2).sum(axis=1, keepdims=True)
    slope = (centered * y).sum(axis=1, keepdims=True) / s_xx
    left = y - y.mean(axis=1, keepdims=True) - slope * centered
    within = 1 - 1 / n - centered**2 / s_xx
    others = ((left**2).sum(axis=1, keepdims=True) - left**2 / within) / (n - 3)
    far = outlying(left / np.sqrt(others * within), n - 2)
    change = -left / within * (1 / n + centered * (at - x.mean(axis=1, keepdims=True)) / s_xx)
    half = np.diff(of.prediction[:, 0], axis=1) / 2
    decisive = np.abs(change) > DECISIVE * half
    veterans = veteran(y)
    if simulated.scenario.veteran is not None:
        yield "veteran: found", *_all(veterans == 0), {}
        yield "outlying: found", *_all(far[:, 0]), {}
    else:
        yield "veteran: any", *_all(veterans >= 0), {}
        yield "outlying: any", *_all(far.any(axis=1)), {}
        yield "decisive: any", *_all(decisive.any(axis=1)), {}


# Shares of the misfitting judges that are found, with 7 and 12 subjects, by judges, times of noise,
# and noise, and 4 points on either side.
_MISFITS = {
    (3, 3, "low"): (42.0, 59.0),
    (3, 5, "low"): (79.0, 98.0),
    (5, 3, "low"): (82.0, 100.0),
    (5, 5, "low"): (94.0, 100.0),
    (3, 3, "high"): (19.0, 28.0),
    (3, 5, "high"): (46.0, 64.0),
    (5, 3, "high"): (66.0, 84.0),
    (5, 5, "high"): (86.0, 100.0),
}


def _named_cases() -> Iterator[PartCase]:
    designs = ((2, 6), (3, 3), (3, 6), (5, 6))
    blameless: dict[str, Any] = {}
    for more, name in ((blameless, "blameless"), ({"is_first_reversed": True}, "one reversed")):
        for n, noise, (j, p) in product((7, 12), ("low", "high"), designs):
            cell = f"{name}; {n} subjects; {j} judges, {p} problems; {noise}"
            yield PartCase("judges", cell, noise, n, j, p, None, 1500, more)
    for (j, times, noise), n in product(_MISFITS, (7, 12)):
        cell = f"one judge with {times} times the noise; {n} subjects; {j} judges; {noise}"
        yield PartCase("judges", cell, noise, n, j, 6, None, 8000, {"first_judge": float(times)})
    for years, n, noise in product((20, 40), (7, 12), ("low", "high")):
        cell = f"a veteran of {years} years; {n} subjects; {noise}"
        yield PartCase("judges", cell, noise, n, 3, 6, None, 8000, {"veteran": float(years)})


def _named_bars(cell: str, what: str) -> tuple[float, float] | None:
    if what == "misfit: found":
        (key,) = (
            key
            for key in _MISFITS
            if f"with {key[1]} times" in cell and f"{key[0]} judges; {key[2]}" in cell
        )
        return _MISFITS[key]
    few, far = "; 7 subjects" in cell, "of 40 years" in cell
    bars = {
        "reversed: any": (0.0, 0.5),
        "reversed: another": (0.0, 1.0),
        "reversed: found": (85.0 if cell.endswith("high") else 95.0, 100.0),
        "misfit: a judge": (0.0, 5.0),
        "misfit: any": (0.0, 9.0) if "5 judges" in cell else None,
        # With n subjects spread evenly 2^(3 - n), half of it on each side: 6.2% of 7.
        "veteran: any": (0.0, 9.0 if few else 4.0),
        "outlying: any": (2.0, 8.0),
        # In 20,000 studies 8.6% to 10.1% of 7 subjects.
        "decisive: any": (0.0, 13.0 if few else 4.0),
        "outlying: found": (95.0, 100.0) if far else None,
        "veteran: found": (96.0, 100.0) if far else (64.0, 72.0) if few else (35.0, 43.0),
    }
    return bars[what]


JUDGES = Part(tuple(_named_cases()), 1, _named, _named_bars)
# 7.8: worths. The reliability is reached in all studies of a cell or in none.
WORTHS = Part(
    WORTHS_CASES,
    1,
    lambda _: (),
    lambda _, what: (93.0, 97.0) if what == "covered" else (100.0, 100.0),
)

PARTS = {
    "forms": FORMS_PART,
    "incidence": INCIDENCE,
    "jagged": JAGGED,
    "gate": GATE,
    "hierarchical": HIERARCHICAL,
    "pairs": PAIRS,
    "judges": JUDGES,
    "worths": WORTHS,
}

_DIGITS = dict.fromkeys(PARTS, 1) | {"forms": 2}


def run_case(case: PartCase | WorthCase, seed: int, part: int) -> dict[str, Any]:
    """Simulate one part of one case."""
    return {"case": asdict(case), "part": part, "rows": case.rows(seed, part)}


def table(name: str, results: Iterable[dict[str, Any]]) -> tuple[pd.DataFrame, int]:
    """Pool results by cell; gives a row for each cell and what is counted, and the bars missed."""
    totals: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        for row in result["rows"]:
            cell = row.get("cell", result["case"]["cell"])
            totals.setdefault((cell, row["what"]), []).append(row)
    made, missed = [], 0
    for (cell, what), rows in totals.items():
        defined = sum(row["defined"] for row in rows)
        share = 100 * sum(row["is_so"] for row in rows) / defined if defined else np.nan
        bar = PARTS[name].bars(cell, what)
        mark = ""
        if bar:
            good = bar[0] <= share <= bar[1]
            missed += not good
            mark = f"{bar[0]:g} to {bar[1]:g}" + ("" if good else " MISSED")
        width, most = "", PARTS[name].most(cell, what)
        if figures := _figures(rows, defined):
            own, line = figures
            width = f"{own:.{_DIGITS[name]}f} ({line:.{_DIGITS[name]}f})"
            if most:
                good = own <= most * line
                missed += not good
                width += f", at most {most:g} times" + ("" if good else " MISSED")
        made.append((cell, what, round(share, 1), defined, mark, width))
    return pd.DataFrame(made, columns=["cell", "what", "%", "of", "bar", "width (line's)"]), missed


def summary(cells: pd.DataFrame) -> str:
    """What is counted over all cells of a table, in Markdown: one row each."""
    missed = cells["bar"].str.contains("MISSED") | cells["width (line's)"].str.contains("MISSED")
    groups = cells.assign(missed=missed).groupby("what", sort=False)
    made = groups.agg(
        cells=("%", "size"),
        lowest=("%", "min"),
        mean=("%", "mean"),
        highest=("%", "max"),
        missed=("missed", "sum"),
    )
    return made.round(1).reset_index().to_markdown(index=False, floatfmt=".1f")


def _figures(rows: list[dict[str, Any]], defined: int) -> tuple[float, float] | None:
    """What is shown beside the line's: a median width or bias, or the root of mean squares."""
    if "squares" in rows[0]:
        sums = (sum(row[name] for row in rows) for name in ("squares", "line_squares"))
        own, line = (float(np.sqrt(total / defined)) for total in sums)
        return own, line
    known = [row for row in rows if row.get("width") is not None]
    if not known:
        return None
    own, line = (float(np.nanmedian([row[name] for row in known])) for name in ("width", "line"))
    return own, line
