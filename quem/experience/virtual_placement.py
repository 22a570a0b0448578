"""Systems and people placed among anchors of a reference panel, in the same coarse way.

A new judge ranks a system with a few of the panel's people. Its place among them gives a rank
among all people. Each of the people is placed in the same way by the old judges' rankings, so
that the line through the people holds for the system.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from quem.experience.averages import Averages
from quem.experience.cells import judged_cells
from quem.experience.components import Incidence
from quem.experience.skill import Added
from quem.panels.placing import draw_anchors, score_of, seed_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate
    from quem.panels.package import ReferencePanel
    from quem.rankings import Rankings
    from quem.studyfile import Declared

    Floats = NDArray[np.float64]
    # Problem and whose place is asked for (empty for the systems) to the ids of the anchors.
    AnchorsOf = Callable[[str, str], Sequence[str]]

# Beyond this the new judges do not see what the old ones saw.
MOST_TIMES_AS_WIDE = 1.5


@dataclass(frozen=True)
class PlacedAnchor:
    """A person as an anchor of one problem, placed among the other anchors."""

    problem: str
    person: str
    level: float  # the consensus rank by the old judges
    # Mean score among the other anchors, by the new judges and by the old ones
    new: float
    old: float


@dataclass(frozen=True)
class Drift:
    """How the new judges see people otherwise than the old ones."""

    variance: float  # τ², in squared ranks; NaN where nobody is an anchor twice
    # Mean squares of the differences, between and within people; NaN where undefined
    between: float
    within: float
    values: float  # n0, differences a person
    # Mean τ-b of the new judges' orders of anchors and the old consensus; NaN where undefined.
    agreement_new: float
    agreement_old: float  # the same of each old judge and the consensus of the other old judges


@dataclass(frozen=True)
class PanelPlacement:
    """Systems placed on a panel."""

    panel: ReferencePanel = field(repr=False)
    averages: Averages  # of people and systems, as ranks among the people
    problems: tuple[str, ...]  # those on which every system was placed
    judge_variance: float  # σ_J², of the old judges' scores of a person, mean over people
    judges: int  # how many new judges
    widening: dict[str, float]  # w of each system, in squared ranks
    drift: Drift
    anchors: tuple[PlacedAnchor, ...]  # of the problems, in order
    scores: dict[tuple[str, str, str], float]  # new judge, problem, and system to score
    drawn: bool = True  # whether the judges ranked the anchors that are drawn by lot

    @property
    def people(self) -> int:
        """How many people were an anchor."""
        return len({anchor.person for anchor in self.anchors})

    def added(self, system: str) -> Added | None:
        """What the place of a system varies more than those of the people."""
        variance = max(self.widening[system], np.nan_to_num(self.drift.variance))
        return Added(float(variance), self.people - 1) if variance > 0 else None


@dataclass(frozen=True)
class _Old:
    """The old judges' rankings of the people as an array."""

    people: tuple[str, ...]
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    ranks: Floats  # judges x problems x people

    def without(self, problem: str, person: str) -> dict[str, float]:
        """Give the others' consensus ranks without a person, stretched to all places."""
        ranks = self.ranks[:, self.problems.index(problem)]
        own = ranks[:, self.people.index(person)][:, np.newaxis]
        n, judges = len(self.people), len(self.judges)
        total = (ranks - (own < ranks) - (own == ranks) / 2).sum(axis=0)
        levels = (total / judges - 0.5) * n / (n - 1) + 0.5
        named = dict(zip(self.people, levels.tolist(), strict=True))
        del named[person]
        return named

    def rank(self, judge: int, problem: str) -> dict[str, float]:
        """Give one judge's ranks on a problem."""
        ranks = self.ranks[judge, self.problems.index(problem)]
        return dict(zip(self.people, ranks.tolist(), strict=True))


def _old(panel: ReferencePanel) -> _Old:
    people, judges, problems = panel.people, panel.spec.judges, panel.problems
    ranks = [
        [[panel.ranks[judge, problem][person] for person in people] for problem in problems]
        for judge in judges
    ]
    return _Old(people, judges, problems, np.array(ranks))


def _below(ranks: Mapping[str, float], one: str, anchors: Iterable[str]) -> float:
    """Count the anchors that a judge puts below somebody, ties one half."""
    own = ranks[one]
    return sum((ranks[other] < own) + (ranks[other] == own) / 2 for other in anchors)


def placed_people(
    panel: ReferencePanel, problems: Sequence[str], count: int, anchors_of: AnchorsOf | None = None
) -> Floats:
    """Place every person of a panel among anchors drawn from the others, by the old rankings."""
    old = _old(panel)
    n = len(old.people)
    placed = np.empty((len(old.judges), n, len(problems)))
    for p, problem in enumerate(problems):
        solved = panel.solved(problem)
        ranks = [old.rank(judge, problem) for judge in range(len(old.judges))]
        for i, person in enumerate(old.people):
            levels = old.without(problem, person)
            if anchors_of:
                anchors = anchors_of(problem, person)
            else:
                seed = seed_of(panel.digest, problem, [person])
                able = {one: levels[one] for one in solved if one != person}
                anchors = draw_anchors(able, count, seed)
            for j, of in enumerate(ranks):
                below = _below(of, person, anchors)
                placed[j, i, p] = score_of(below, (levels[one] for one in anchors), n)
    return placed


def drift_of(
    panel: ReferencePanel, new: Mapping[tuple[str, str], Mapping[str, float]]
) -> tuple[tuple[PlacedAnchor, ...], Drift]:
    """Compare how new and old judges see the anchors, by an analysis of variance over people."""
    old = _old(panel)
    n = len(old.people)
    anchors: list[PlacedAnchor] = []
    for problem in dict.fromkeys(problem for _, problem in new):
        levels = panel.consensus(problem)
        orders = [of for (_, p), of in new.items() if p == problem]
        before = [old.rank(judge, problem) for judge in range(len(old.judges))]
        ranked = {one for of in orders for one in of}
        for person in sorted(ranked, key=lambda one: (levels[one], one)):
            by_new = [
                score_of(_below(of, person, others), (levels[o] for o in others), n)
                for of in orders
                if person in of
                if (others := [one for one in of if one != person])
            ]
            others = sorted(ranked - {person})
            by_old = [
                score_of(_below(of, person, others), (levels[o] for o in others), n)
                for of in before
            ]
            if by_new:
                means = float(np.mean(by_new)), float(np.mean(by_old))
                anchors.append(PlacedAnchor(problem, person, levels[person], *means))
    return tuple(anchors), Drift(*_variance(anchors), *_agreement(panel, old, new))


def _variance(anchors: Sequence[PlacedAnchor]) -> tuple[float, float, float, float]:
    """Give τ², the mean squares, and n0 of the differences, NaN where they are undefined."""
    by_person: defaultdict[str, list[float]] = defaultdict(list)
    for anchor in anchors:
        by_person[anchor.person].append(anchor.new - anchor.old)
    m = np.array([len(values) for values in by_person.values()], dtype=float)
    total, groups = m.sum(), len(m)
    if groups < 2 or total == groups:  # noqa: PLR2004  nobody is an anchor twice
        return (np.nan,) * 4
    means = np.array([np.mean(values) for values in by_person.values()])
    grand = (m * means).sum() / total
    between = float((m * (means - grand) ** 2).sum() / (groups - 1))
    left = [np.var(values) * len(values) for values in by_person.values()]
    within = float(np.sum(left) / (total - groups))
    values = float((total - (m**2).sum() / total) / (groups - 1))
    return max(0.0, (between - within) / values), between, within, values


def _agreement(
    panel: ReferencePanel, old: _Old, new: Mapping[tuple[str, str], Mapping[str, float]]
) -> tuple[float, float]:
    """Give the mean τ-b of new judges, and of each old one with the others, over the anchors."""
    of_new, of_old = [], []
    for (_, problem), of in new.items():
        anchors = list(of)
        levels = panel.consensus(problem)
        of_new.append(_tau([of[one] for one in anchors], [levels[one] for one in anchors]))
        at = [old.people.index(one) for one in anchors]
        ranks = old.ranks[:, old.problems.index(problem), at]
        others = (ranks.sum(axis=0) - ranks) / (len(ranks) - 1)
        of_old += [_tau(own, rest) for own, rest in zip(ranks, others, strict=True)]
    return _mean(of_new), _mean(of_old)


def _tau(a: Sequence[float] | Floats, b: Sequence[float] | Floats) -> float:
    """Give Kendall's τ-b of a few values, for which SciPy's function takes long to be called."""
    one, other = (np.sign(np.subtract.outer(of, of)) for of in (a, b))
    pairs = np.sqrt((one**2).sum() * (other**2).sum())
    return float((one * other).sum() / pairs) if pairs else float("nan")


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")


def times_as_wide(estimate: Estimate, df: int, level: float) -> float:
    """Say how much wider an interval is for other judges having placed the system."""
    q = (1 + level) / 2
    plain = float(stdtrit(df, q)) * np.sqrt(max(estimate.error**2 - estimate.added, 0.0))
    whole = float(stdtrit(estimate.df, q)) * estimate.error
    return whole / float(plain) if plain else 1.0


def place_on_panel(
    panel: ReferencePanel,
    rankings: Rankings,
    declared: Declared,
    count: int,
    anchors_of: AnchorsOf | None = None,
) -> PanelPlacement:
    """Place systems that new judges ranked with anchors of a panel."""
    cells = judged_cells(rankings, declared)
    given: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    codes = zip(cells.judge.tolist(), cells.problem.tolist(), cells.solver.tolist(), strict=True)
    for (judge, problem, solver), rank in zip(codes, cells.given.tolist(), strict=True):
        given[cells.judges[judge], cells.problems[problem]][cells.solvers[solver]] = rank
    systems = [one for one, kind in declared.solvers.items() if kind == "system"]
    return place_among_anchors(panel, given, systems, count, anchors_of)


def place_among_anchors(
    panel: ReferencePanel,
    given: Mapping[tuple[str, str], Mapping[str, float]],
    systems: Sequence[str],
    count: int,
    anchors_of: AnchorsOf | None = None,
) -> PanelPlacement:
    """Place systems by rankings of them and of anchors."""
    people = frozenset(panel.people)
    of_people = {
        task: {one: rank for one, rank in of.items() if one in people}
        for task, of in given.items()
        if task[1] in panel.problems
    }
    of_people = {task: of for task, of in of_people.items() if of}
    n = len(panel.people)
    scores = {
        (judge, problem, system): score_of(
            _below(given[judge, problem], system, anchors),
            (levels[one] for one in anchors),
            n,
        )
        for (judge, problem), anchors in of_people.items()
        for levels in [panel.consensus(problem)]
        for system in systems
        if system in given[judge, problem]
    }
    placed = [one for one in systems if any(system == one for *_, system in scores)]
    problems = tuple(
        problem
        for problem in panel.problems
        if placed and all(any(s[1:] == (problem, one) for s in scores) for one in placed)
    )
    scores = {key: score for key, score in scores.items() if key[1] in problems}
    of_people = {task: of for task, of in of_people.items() if task[1] in problems}
    virtual = placed_people(panel, problems, count, anchors_of)
    anchors, drift = drift_of(panel, of_people)
    judge_variance = float(virtual.mean(axis=2).var(axis=0, ddof=1).mean()) if problems else np.nan
    averages = _averages(panel, virtual, scores, problems, placed)
    widening = {}
    for one in placed:
        per_problem = sum(s[2] == one for s in scores) / max(len(problems), 1)
        fewer = 1 / per_problem - 1 / len(panel.spec.judges) if per_problem else 0.0
        widening[one] = judge_variance * max(0.0, fewer)
    return PanelPlacement(
        panel,
        averages,
        problems,
        judge_variance,
        len({judge for judge, *_ in scores}),
        widening,
        drift,
        anchors,
        scores,
        _as_drawn(panel, of_people, systems, count),
    )


def _averages(
    panel: ReferencePanel,
    virtual: Floats,
    scores: Mapping[tuple[str, str, str], float],
    problems: Sequence[str],
    systems: Sequence[str],
) -> Averages:
    """Put people and systems together, as what a line is fitted to and read at."""
    people = panel.people
    solvers = (*people, *systems)
    judges = list(dict.fromkeys(judge for judge, *_ in scores))
    of_problems = np.zeros((len(problems), len(solvers)), dtype=np.int64)
    of_judges = np.zeros((virtual.shape[0] + len(judges), len(solvers)), dtype=np.int64)
    of_problems[:, : len(people)] = virtual.shape[0]
    of_judges[: virtual.shape[0], : len(people)] = len(problems)
    total = np.zeros(of_problems.shape)
    total[:, : len(people)] = virtual.sum(axis=0).T
    for (judge, problem, system), score in scores.items():
        at = problems.index(problem), solvers.index(system)
        total[at] += score
        of_problems[at] += 1
        of_judges[virtual.shape[0] + judges.index(judge), at[1]] += 1
    with np.errstate(invalid="ignore"):
        means = total / of_problems
    experience = [one.experience for one in panel.spec.people]
    return Averages(
        solvers,
        ("subject",) * len(people) + ("system",) * len(systems),
        np.array([*experience, *[np.nan] * len(systems)]),
        # Every problem counts alike, however many new judges ranked it.
        means.mean(axis=0) if len(problems) else np.full(len(solvers), np.nan),
        Incidence(of_problems, of_judges),
        means,
    )


def _as_drawn(
    panel: ReferencePanel,
    ranked: Mapping[tuple[str, str], Mapping[str, float]],
    systems: Sequence[str],
    count: int,
) -> bool:
    """Whether judges ranked no others than the anchors that the systems' draw gives."""
    for problem in {problem for _, problem in ranked}:
        levels = panel.consensus(problem)
        able = {one: levels[one] for one in panel.solved(problem)}
        drawn = draw_anchors(able, count, seed_of(panel.digest, problem, systems))
        if not {one for (_, p), of in ranked.items() if p == problem for one in of} <= {*drawn}:
            return False
    return True
