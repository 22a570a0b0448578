"""How often the intervals of quem cover the truth in simulated studies, and how wide they are.

``python -m tests.trials.coverage FILE...`` writes the results of whole runs into docs/.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

import quem
from quem.method.reference import Population
from quem.planning.batch import Studies, between
from quem.simulation import NOISES, STRONG_TASTE, Scenario, simulate
from tests.comparison.test_assistance import study
from tests.trials.runner import allowance, markdown, registered, results_in

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.simulation import Noise, Simulated
    from tests.trials.runner import Results

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_NOISES = {**NOISES, "strong taste": STRONG_TASTE}
_STUDIES, _QUICK = 250, 500  # of each cell, in one trial
_AT_ONCE = 50
_SHOWN = 12
_KEYS = ("kind", "noise", "subjects")


@dataclass(frozen=True)
class Kind:
    """A kind of study, simulated with several numbers of subjects and noises."""

    name: str
    scenario: dict[str, Any] = field(default_factory=dict)  # fields of Scenario
    # How many times people's standard deviations those of systems are.
    system: dict[str, float] = field(default_factory=dict)
    is_typical: bool = False  # whether systems are exactly as good as their years say
    # What is covered: the years of systems, the difference of two, or of those of two studies; what
    # the same study says without chance in it; or by how many years people are better with help.
    covers: Literal["years", "difference", "two studies", "shift", "help"] = "years"
    other: dict[str, Any] = field(default_factory=dict)  # where the second study differs
    method: dict[str, Any] = field(default_factory=dict)  # fields of Studies
    subjects: tuple[int, ...] = (5, 7, 12, 20)
    # Least coverage in percent of the second line or of the difference, also under strong taste,
    # which is simulated only with a bar; that of what leads; and the most of the former.
    bar: float | None = 92.5
    taste: float | None = None
    leads: float | None = None
    most: float = 100.0
    is_tight: bool = False  # whether `nox -s coverage` runs it

    def cells(self) -> Iterator[tuple[str, int]]:
        noises = [name for name in _NOISES if name in NOISES or self.taste is not None]
        return product(noises, self.subjects)

    def scenarios(self, noise: str, subjects: int) -> tuple[Scenario, Scenario]:
        """What is simulated, and the second study of two."""
        people = _NOISES[noise]
        times = {name: factor * getattr(people, name) for name, factor in self.system.items()}
        systems = replace(people, **times, **({"person": 0.0} if self.is_typical else {}))
        more: dict[str, Any] = {"systems": (None,), **self.scenario}
        first = Scenario(subjects=subjects, noise=people, system_noise=systems, **more)
        return first, replace(first, **self.other)


def _of_skewed(who: str) -> Iterator[Kind]:
    declared = {"population": Population((0.0, 15.0))}
    of = {"recruits": who}
    yield Kind(f"mostly {who} recruited", of, leads=84.5, is_tight=True)
    yield Kind(f"mostly {who} recruited, population declared", of, method=declared, leads=92.5)


def _pair(name: str, years: tuple[float, float], **more: Any) -> Kind:  # noqa: ANN401  fields
    scenario = {"systems": years, **more.pop("scenario", {})}
    more = {"bar": 90.0, **more}
    return Kind(name, scenario, is_typical=True, covers="difference", **more)


def _helped(gain: float) -> Kind:
    return Kind(
        f"people better by {gain:g} years with help", {"gain": gain}, covers="help", subjects=(12,)
    )


def _two(name: str, one: tuple[float, float], other: tuple[float, float], **more: Any) -> Kind:  # noqa: ANN401
    recruited = {"recruited": one}
    other_recruited = {"recruited": other}
    return Kind(name, recruited, covers="two studies", other=other_recruited, bar=92.0, **more)


def _degraded() -> Iterator[Kind]:
    """Studies with chance in the place of one judge, or one subject."""
    for judges, (who, more) in product(
        (2, 3, 5),
        (
            ("nobody", {}),
            ("one judge", {"random_judges": 1}),
            ("one subject", {"random_subjects": 1}),
        ),
    ):
        none = dict.fromkeys(more, 0)
        scenario = {"judges": judges, **more}
        yield Kind(
            f"{judges} judges, {who} at random", scenario, covers="shift", other=none, bar=None
        )


_WIDE: dict[str, Any] = {"curve": "saturating", "experience": (1.0, 20.0)}
_ROUGH = {"years_error": 0.3}
_AROUND = (4.5, 8.5)
KINDS = (
    Kind("nothing wrong", taste=92.5, leads=92.5, most=99.0, is_tight=True),
    *_of_skewed("novices"),
    *_of_skewed("experts"),
    Kind("uneven ×3", {}, {"solution": 3}),
    Kind("uneven ×6", {}, {"solution": 6}, bar=90.5, is_tight=True),
    Kind("uneven ×3, 3 problems", {"problems": 3}, {"solution": 3}, is_tight=True),
    Kind("uneven ×6, 3 problems", {"problems": 3}, {"solution": 6}, bar=85.0, is_tight=True),
    Kind("judges split ×2", {}, {"taste": 2}, taste=89.5, is_tight=True),
    Kind("judges split ×4", {}, {"taste": 4}, taste=84.5, is_tight=True),
    Kind("judges split ×4, 2 judges", {"judges": 2}, {"taste": 4}, bar=90.5, is_tight=True),
    Kind("judges split ×4, 5 judges", {"judges": 5}, {"taste": 4}),
    Kind("2 judges, 3 problems", {"judges": 2, "problems": 3}),
    Kind("1 judge", {"judges": 1}),
    Kind("system ranked by 1 of 5 judges", {"judges": 5, "system_judges": 1}),
    Kind("system on 2 of 6 problems", {"system_problems": 2}),
    Kind("system by 1 of 3 judges, on 2 of 6", {"system_judges": 1, "system_problems": 2}),
    Kind("a fifth of the solutions absent", {"missing": 0.2}),
    Kind("persons skewed", {"persons": "skewed"}),
    Kind("persons t, 3 df", {"persons": "t3"}),
    Kind("ties", {"ties": 2.0}),
    Kind("skill saturates, 1 to 20 years", _WIDE),
    Kind(
        "population of 0 to 25 years declared",
        {"experience": (0.0, 25.0), "recruited": (1.0, 12.0)},
        method={"population": Population((0.0, 25.0))},
        bar=None,
    ),
    Kind("years in two clusters", {"population": "clusters"}),
    Kind("years lognormal", {"population": "lognormal"}),
    Kind("years known to 30%", _ROUGH),
    *(Kind(f"system of {y:g} years", {"systems": (y,)}) for y in (1.5, 9.0, 14.0, 18.0)),
    *(
        Kind(f"system typical of {y:g} years", {"systems": (y,)}, is_typical=True)
        for y in (6.5, 14.0)
    ),
    Kind("5 systems", {"systems": (None,) * 5}),
    Kind("5 systems of 9 years", {"systems": (9.0,) * 5}),
    Kind("systems spread ×2", {}, {"person": 2}, bar=None),
    Kind("3 subjects", subjects=(3,), bar=None),
    *(Kind(f"level {level:.0%}", method={"level": level}, bar=None) for level in (0.5, 0.8, 0.99)),
    _pair("0 years apart", (6.5, 6.5)),
    _pair("4 years apart", _AROUND),
    _pair("8 years apart", (2.5, 10.5)),
    _pair("4 years, judges split ×4", _AROUND, system={"taste": 4}, is_tight=True),
    _pair(
        "4 years, uneven ×3, 3 problems",
        _AROUND,
        scenario={"problems": 3},
        system={"solution": 3},
        is_tight=True,
    ),
    _pair("4 years, skill saturates", _AROUND, scenario=_WIDE),
    _pair("8 against 16 years", (8.0, 16.0)),
    _pair("9 against 13 years", (9.0, 13.0)),
    _pair("4 years, years known to 30%", _AROUND, scenario=_ROUGH, bar=None),
    _pair("4 years, years known to 30%, declared", _AROUND, scenario=_ROUGH, method=_ROUGH),
    _two("two studies, same recruits", (1.0, 12.0), (1.0, 12.0)),
    _two("two studies, 1 to 8, 5 to 20 years", (1.0, 8.0), (5.0, 20.0), is_tight=True),
    _two("two studies, 1 to 10, 8 to 20 years", (1.0, 10.0), (8.0, 20.0)),
    *_degraded(),
)
# Analyzed one by one, which takes 200 times as long.
SINGLE_KINDS = (
    Kind("blocks of 8", {"block_size": 8}, subjects=(12, 20)),
    _pair("4 years apart, blocks of 8", _AROUND, scenario={"block_size": 8}, subjects=(12, 20)),
    _helped(0.0),
    _helped(3.0),
)
_BY_NAME = {kind.name: kind for kind in (*KINDS, *SINGLE_KINDS)}


def tally(truth: Floats, experience: Floats, interval: Floats, says: Flags) -> Floats:
    """Studies; those that state something, and cover; two-sided ones, their widths; errors.

    Shapes: (b,), of intervals (b, 2), of the sums (6,).
    """
    low, high = interval[says].T
    width = (high - low)[np.isfinite(high - low)]
    covered = (low <= truth[says]) & (truth[says] <= high)
    error = ((experience - truth)[says] ** 2).sum()
    sums = (len(truth), says.sum(), covered.sum(), len(width), width.sum(), error)
    return np.array(sums, dtype=float)


def _tally_one_by_one(
    truth: Sequence[float], found: Sequence[tuple[float | None, tuple[float | None, float | None]]]
) -> Floats:
    """The same of single results: estimates, None where none is stated, and intervals."""
    says = np.array([years is not None for years, _ in found])
    years = [np.nan if years is None else years for years, _ in found]
    ends = [(-np.inf if a is None else a, np.inf if b is None else b) for _, (a, b) in found]
    return tally(np.array(truth), np.array(years), np.array(ends), says)


def cover(kind: Kind, noise: str, subjects: int, studies: int, seed: int) -> dict[str, list[float]]:
    found: dict[str, Floats] = {}
    if kind.covers == "help":
        gain, rng = kind.scenario["gain"], np.random.default_rng(seed)
        return {"difference": _with_help(_NOISES[noise], gain, studies, rng).tolist()}
    scenarios = kind.scenarios(noise, subjects)
    for part in np.random.SeedSequence(seed).spawn(-(-studies // _AT_ONCE)):
        seeds = part.spawn(2) if kind.covers == "two studies" else [part, part]
        pairs = zip(scenarios, seeds, strict=True)
        for name, sums in _tallies(kind, [simulate(of, _AT_ONCE, seed) for of, seed in pairs]):
            found[name] = found.get(name, 0.0) + sums
    return {name: sums.tolist() for name, sums in found.items()}


def _tallies(kind: Kind, of: list[Simulated]) -> Iterator[tuple[str, Floats]]:
    n, truths = of[0].scenario.subjects, [simulated.truth for simulated in of]
    if of[0].scenario.block_size is not None:
        yield from _in_blocks(kind, of[0])
        return
    one, other = (Studies(each.ranks, each.experience, **kind.method) for each in of)
    if kind.covers in {"difference", "two studies"}:
        if kind.covers == "difference":
            apart, found = np.diff(truths[0])[:, 0], one.difference(n, n + 1)
        else:
            apart, found = (truths[1] - truths[0])[:, 0], between(one, other, (n, n))
        yield "difference", tally(apart, found.years, found.interval, found.says)
        return
    for system, truth in enumerate(truths[0].T, n):
        of_system = one.estimate(system)
        line, reference = of_system.paper, of_system.reference
        years, interval, says = of_system.experience, of_system.interval, of_system.says
        yield "line", tally(truth, line.experience, line.interval, line.holds)
        yield "leads", tally(truth, years, interval, says)
        yield "reference", tally(truth, reference.experience, reference.interval, reference.says)
        if kind.covers == "shift":
            before = other.estimate(system)
            yield "shift", tally(before.experience, years, interval, says & before.says)


def _in_blocks(kind: Kind, of: Simulated) -> Iterator[tuple[str, Floats]]:
    made = [of.study(index) for index in range(len(of))]
    if kind.covers == "difference":
        pairs = [pair for one in made for pair in quem.compare(one).findings.pairs]
        apart = np.diff(of.truth)[:, 0].tolist()
        stated = [(pair.years, pair.interval) for pair in pairs]
        yield "difference", _tally_one_by_one(apart, stated)
        return
    found = [quem.analyze(one).core.estimates[0] for one in made]
    truth = of.truth[:, 0].tolist()
    silent = None, (None, None)
    references = [one.reference for one in found]
    stated = [(one.experience, one.interval) if one.says else silent for one in references]
    leads = [
        (one.experience, one.interval) if one.leads == "paper" else reference
        for one, reference in zip(found, stated, strict=True)
    ]
    yield "leads", _tally_one_by_one(truth, leads)
    yield "reference", _tally_one_by_one(truth, stated)


def _with_help(noise: Noise, gain: float, studies: int, rng: np.random.Generator) -> Floats:
    n, judges, problems, helped = 12, 3, 8, 4
    names = [f"S{i}" for i in range(n)] + [f"S{i}+" for i in range(helped)]
    found = []
    for _ in range(studies):
        years = rng.uniform(1, 12, n)
        quality = years + rng.normal(0, noise.person, n)
        quality = quality + rng.normal(0, noise.solution, (problems, n))
        quality = quality + rng.normal(0, noise.taste, (judges, 1, n))
        quality = quality + rng.normal(0, noise.judge, (judges, problems, n))
        quality = np.concatenate([quality, quality[..., :helped] + gain], axis=2)
        quality[:, problems // 2 :, :helped] = np.nan
        quality[:, : problems // 2, n:] = np.nan
        people = dict(zip(names, years.tolist(), strict=False))
        made = dict(zip(names, np.moveaxis(quality, 2, 0), strict=True))
        of = quem.compare(study(made, people)).findings.people
        found += [(one.years, one.interval) for one in of]
    return _tally_one_by_one([gain] * len(found), found)


def _run(kinds: Iterable[Kind], studies: int, rng: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind.name,
            "noise": noise,
            "subjects": subjects,
            **cover(kind, noise, subjects, studies, rng.getrandbits(64)),
        }
        for kind in kinds
        for noise, subjects in kind.cells()
    ]


def pooled(results: Results) -> pd.DataFrame:
    """The cells of all trials: shares in percent, mean widths and root mean squared errors."""
    columns = ["studies", "says", "covers", "bounded", "width", "error"]
    rows = [
        [*(cell[key] for key in _KEYS), what, *cell[what]]
        for result in results
        for cell in result["cells"]
        for what in ("line", "leads", "reference", "difference", "shift")
        if what in cell
    ]
    by = [*_KEYS, "what"]
    found = (
        pd.DataFrame(rows, columns=[*by, *columns]).groupby(by, sort=False, as_index=False).sum()
    )
    says = found["says"].where(found["says"] > 0)
    return found.assign(
        studies=found["studies"].astype(int),
        says=100 * found["says"] / found["studies"],
        covers=100 * found["covers"] / says,
        width=found["width"] / found["bounded"].where(found["bounded"] > 0),
        rmse=(found["error"] / says) ** 0.5,
    ).drop(columns=["bounded", "error"])


def _bar(results: Results) -> str:
    return missed(pooled(results))


def missed(cells: pd.DataFrame) -> str:
    """The cells that miss their bar, with allowance for fewer studies than it was set for."""
    found = []
    for row in cells.to_dict("records"):
        kind, what = _BY_NAME[row["kind"]], row["what"]
        bar = kind.taste if row["noise"] == "strong taste" else kind.bar
        if what == "leads":
            bar = kind.leads if row["noise"] in NOISES else None
        if what == "line" or bar is None:
            continue
        bar -= 100 * allowance(bar / 100, row["studies"])
        most = kind.most + 100 * allowance(kind.most / 100, row["studies"])
        if not bar <= row["covers"] <= most:
            cell = f"{kind.name}, {row['noise']}, {row['subjects']} subjects: {what}"
            found.append(f"{cell} covers {row['covers']:.1f}, bar {bar:.1f}")
    return "; ".join(found)


def _table(results: Results) -> str:
    return "\n\n".join(table(pooled(results)) for table in (summary, degradation))


def summary(cells: pd.DataFrame) -> str:
    def row(name: str, of: pd.DataFrame) -> list[str]:
        main = of[of["what"].isin(["reference", "difference"])]
        columns = [_span(of[of["what"] == what]["covers"]) for what in ("line", "leads")]
        return [name, *columns, f"**{_span(main['covers'])}**", _span(main["says"])]

    there = [(kind.name, cells[cells["kind"] == kind.name]) for kind in _BY_NAME.values()]
    rows = [row(name, of) for name, of in there if not of.empty and "shift" not in set(of["what"])]
    head = "studies | paper's line, where it holds | what leads | for the population | it says"
    return markdown(head, rows)


def degradation(cells: pd.DataFrame) -> str:
    """What chance in the place of a judge or subject does, with 12 subjects, low / high noise."""
    rows = []
    for kind in KINDS:
        of = cells[(cells["kind"] == kind.name) & (cells["subjects"] == _SHOWN)]
        if kind.covers != "shift" or of.empty:
            continue
        leads, shift = (of[of["what"] == what].set_index("noise") for what in ("leads", "shift"))
        columns = [leads["says"], leads["width"] / 2, shift["rmse"], leads["covers"]]
        texts = [
            "/".join(f"{column[noise]:.{digits}f}" for noise in NOISES)
            for column, digits in zip(columns, (0, 1, 1, 0), strict=True)
        ]
        rows.append([kind.name, *texts])
    return markdown("studies | years stated, % | half-width | moved by | covers, %", rows)


def _span(values: pd.Series[float]) -> str:
    if values.isna().all():
        return ""
    low, high = round(values.min()), round(values.max())
    return f"{low}" if low == high else f"{low}–{high}"


def _register(name: str, kinds: Sequence[Kind], studies: int, meaning: str, **more: Any) -> None:  # noqa: ANN401
    def run(rng: random.Random, folder: Path) -> dict[str, Any]:
        del folder
        return {"cells": _run(kinds, studies, rng)}

    run.__doc__ = meaning
    registered(name, bar=_bar, table=_table, **more)(run)


_register("coverage", KINDS, _STUDIES, "Coverage in all kinds of simulated studies", count=8)
_register("coverage-single", SINGLE_KINDS, _STUDIES, "The same in blocks, and with help", count=8)
_TIGHT = [kind for kind in KINDS if kind.is_tight]
_register("coverage-tight", _TIGHT, _QUICK, "Coverage nearest to its bars", count=1, resumed=False)


def _write_docs(paths: Iterable[str]) -> None:
    cells = pd.concat([pooled(results_in(Path(path))) for path in paths], ignore_index=True)
    numbers: dict[str, Any] = {"float_format": "%.4g", "lineterminator": "\n"}
    cells.to_csv(_DOCS / "coverage.csv", index=False, **numbers)
    cells = pd.read_csv(_DOCS / "coverage.csv")
    page = _DOCS / "explanation" / "coverage.md"
    text = page.read_text("utf-8")
    for table in (summary, degradation):
        begin, end = (f"<!-- {table.__name__} {word} -->" for word in ("begin", "end"))
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table(cells)}\n{end}{rest.partition(end)[2]}"
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    _write_docs(sys.argv[1:])
