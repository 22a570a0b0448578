"""Reference panels: systems and subjects placed among anchors by the same coarse scale.

A new judge ranks a system with a few of the panel's subjects. Its place among them gives a rank
among all subjects. Each subject is placed in the same way by the old judges' rankings, so that
the line through the subjects holds for the system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from quem.errors import QuemError, StudyWarning, WarningRules
from quem.method.averages import Averages
from quem.method.cells import RankCells, judged_cells
from quem.method.part import Part, PartTable
from quem.method.ranks import tau_b
from quem.method.variances import Variance, total
from quem.panels.placing import anchors_on, draw_anchors, score_of, seed_of
from quem.report.files import Section
from quem.report.rows import Row, col
from quem.wording import format_count, format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.method.core import Core, SystemEstimate
    from quem.panels.package import ReferencePanel
    from quem.rankings import Rankings
    from quem.rankings.loading import Study
    from quem.studyfile import ExperienceSettings

    Floats = NDArray[np.float64]
    # Problem and subject to the ids of the anchors for the subject.
    AnchorsOf = Callable[[str, str], Sequence[str]]

MOST_TIMES_AS_WIDE = 1.5  # beyond this, new and old judges disagree on the subjects


class Anchor(Row):
    """A subject as an anchor of one problem, placed among the other anchors."""

    title = "Anchors, and how judges place them"
    problem: str = col("id", "Problem")
    person: str = col("id in the panel", "Person")
    level: float = col("consensus rank by the old judges", "Consensus rank")
    old: float = col("mean score among the other anchors, old judges", "Old judges")
    new: float = col("the same by the new judges", "New judges")


class Placed(Row):
    """The variance of a system's place beyond that of subjects."""

    system: str = col("id")
    w: float = col("for fewer new judges than old ones, in squared ranks")
    times_as_wide: float | None = col(
        "the interval for the population, by the larger of w and tau2; null without an estimate"
    )


class PanelRow(Row):
    """The placement of systems on a panel."""

    digest: str = col("of the panel")
    id: str = col("of the study that it was made of")
    people: int = col("in the panel")
    old_judges: int = col("who ranked them")
    new_judges: int = col("who ranked the systems")
    problems: tuple[str, ...] = col("on which every system was placed")
    people_as_anchors: int = col("people who were an anchor")
    judge_variance: float = col(
        "between old judges, of a person's mean score; mean over people, in squared ranks"
    )
    tau2: float | None = col(
        "variance of the new judges' disagreement on people, in squared ranks; null where nobody "
        "was an anchor twice"
    )
    tau_years: float | None = col("its root in units of experience")
    tau_b_new: float | None = col(
        "mean Kendall's tau-b of the new judges' orders of anchors with the old consensus"
    )
    tau_b_old: float | None = col("the same of each old judge with the consensus of the others")
    systems: tuple[Placed, ...] = col("one entry per system")
    anchors: tuple[Anchor, ...] = col("one entry per problem and anchor")


@dataclass(frozen=True)
class Placement:
    """Systems placed on a panel."""

    panel: ReferencePanel
    systems: tuple[str, ...]
    problems: tuple[str, ...]  # with every system placed
    people: Floats  # of shape (old judges, problems, subjects): ranks among all subjects
    scores: Floats  # of shape (new judges, problems, systems), NaN where a judge did not rank
    anchors: tuple[Anchor, ...]
    agreement: tuple[float, float]  # mean tau-b with the old consensus, of new and of old judges
    drawn: bool  # whether the judges ranked the randomly drawn anchors

    @property
    def judges(self) -> int:
        """The number of new judges."""
        return int(np.isfinite(self.scores).any(axis=(1, 2)).sum())

    @property
    def rank(self) -> Floats:
        """The average rank of subjects and systems; every problem has equal weight."""
        return np.append(
            self.people.mean(axis=(0, 1)), np.nanmean(self.scores, axis=0).mean(axis=0)
        )

    @property
    def judge_variance(self) -> float:
        """Variance between old judges of a subject's mean score; mean over subjects."""
        return float(self.people.mean(axis=1).var(axis=0, ddof=1).mean())

    @property
    def widening(self) -> Floats:
        """The judges' variance of a system beyond that of subjects, shape (systems,)."""
        new = np.isfinite(self.scores).sum(axis=(0, 1)) / len(self.problems)
        return np.asarray(self.judge_variance * np.fmax(0, 1 / new - 1 / len(self.people)))

    @property
    def drift(self) -> float:
        """Disagreement tau² of new and old judges on subjects; NaN without repeated anchors.

        A one-way analysis of variance, over subjects, of new minus old scores of anchors.
        """
        person = [one.person for one in self.anchors]
        off = pd.Series([one.new - one.old for one in self.anchors], person, dtype=float)
        by = off.groupby(level=0)
        n, k, m = len(off), by.ngroups, by.size()
        if k < 2 or n == k:  # noqa: PLR2004
            return np.nan
        between = (m * (by.mean() - off.mean()) ** 2).sum() / (k - 1)
        within = ((off - by.transform("mean")) ** 2).sum() / (n - k)
        return max(0.0, float((between - within) * (k - 1) / (n - (m**2).sum() / n)))

    def added(self) -> dict[str, Variance]:
        """The variance of each system's average rank beyond that of subjects, in squared ranks."""
        df = len({one.person for one in self.anchors}) - 1
        values = np.fmax(self.widening, self.drift).tolist()
        each = zip(self.systems, values, strict=True)
        return {system: Variance(value, df) for system, value in each if value > 0}


def _located(own: Floats, ranks: Floats, levels: Floats, people: int) -> Floats:
    """Ranks among all subjects from places among anchors.

    Shapes: `own` (m,); `ranks` (m, k) or (k,); `levels` (k,).
    """
    own = own[:, np.newaxis]
    below = (ranks < own).sum(axis=1) + (ranks == own).sum(axis=1) / 2
    return np.where(np.isnan(own[:, 0]), np.nan, score_of(below, levels, people))


def placed_people(
    panel: ReferencePanel, problems: Sequence[str], count: int, anchors_of: AnchorsOf | None = None
) -> Floats:
    """Place every subject of a panel among anchors drawn from the others, by the old rankings."""
    people, n = panel.people, len(panel.people)
    placed = np.empty((len(panel.spec.judges), len(problems), n))
    for p, problem in enumerate(problems):
        ranks = panel.table[:, panel.problems.index(problem)]
        solved = panel.solved(problem)
        for i, person in enumerate(people):
            own = ranks[:, i]
            # The others' consensus ranks without the subject, stretched to the full range.
            others = ranks - (own[:, np.newaxis] < ranks) - (own[:, np.newaxis] == ranks) / 2
            levels = (others.mean(axis=0) - 0.5) * n / (n - 1) + 0.5
            named = dict(zip(people, levels.tolist(), strict=True))
            able = {one: named[one] for one in solved if one != person}
            seed = seed_of(panel.digest, problem, [person])
            anchors = anchors_of(problem, person) if anchors_of else draw_anchors(able, count, seed)
            at = [people.index(one) for one in anchors]
            placed[:, p, i] = _located(own, ranks[:, at], levels[at], n)
    return placed


def place_systems(
    panel: ReferencePanel,
    new: Floats,
    systems: Sequence[str],
    count: int,
    anchors_of: AnchorsOf | None = None,
) -> Placement | None:
    """Place systems by new judges' rankings of them with anchors; None without systems.

    Shapes: `new` (new judges, the panel's problems, subjects and systems).
    """
    n, old = len(panel.people), panel.table
    consensus = old.mean(axis=0)
    ranked = np.isfinite(new[..., :n])
    scores = np.full(new[..., n:].shape, np.nan)
    for j, p in np.argwhere(ranked.any(axis=2)):
        them = np.flatnonzero(ranked[j, p])
        scores[j, p] = _located(new[j, p, n:], new[j, p, them], consensus[p, them], n)
    is_placed = np.isfinite(scores).any(axis=0)
    known = np.flatnonzero(is_placed.any(axis=0))
    on = np.flatnonzero(is_placed[:, known].all(axis=1))
    if not (len(known) and len(on)):
        return None
    problems = tuple(panel.problems[p] for p in on)
    new, ranked, old, consensus = new[:, on, :n], ranked[:, on], old[:, on], consensus[on]
    anchors = tuple(_anchors(panel, problems, new, old))
    together = [
        (new[j, p, them], old[:, p, them])
        for j, p in np.argwhere(ranked.any(axis=2))
        for them in [np.flatnonzero(ranked[j, p])]
    ]
    of_new = pd.Series([tau_b(own, of.mean(axis=0)) for own, of in together])
    of_old = pd.Series([tau_b(one, of.sum(axis=0) - one) for _, of in together for one in of])
    return Placement(
        panel,
        tuple(systems[k] for k in known.tolist()),
        problems,
        placed_people(panel, problems, count, anchors_of),
        scores[:, on][..., known],
        anchors,
        (float(of_new.mean()), float(of_old.mean())),
        all(
            {panel.people[i] for i in np.flatnonzero(ranked[:, p].any(axis=0))}
            <= {*anchors_on(panel, problem, systems, count)}
            for p, problem in enumerate(problems)
        ),
    )


def _anchors(
    panel: ReferencePanel, problems: Sequence[str], new: Floats, old: Floats
) -> Iterator[Anchor]:
    """Place each anchor among the others, by new and by old judges."""
    n = len(panel.people)
    for p, problem in enumerate(problems):
        levels = old[:, p].mean(axis=0)
        ranked = np.isfinite(new[:, p])
        them = np.flatnonzero(ranked.any(axis=0))
        for i in sorted(them.tolist(), key=lambda i: (levels[i], panel.people[i])):
            by_new = [
                _located(new[j, p, [i]], new[j, p, others], levels[others], n)[0]
                for j in np.flatnonzero(ranked[:, i])
                if len(others := np.setdiff1d(np.flatnonzero(ranked[j]), i))
            ]
            others = them[them != i]
            if by_new:
                yield Anchor(
                    problem=problem,
                    person=panel.people[i],
                    level=float(levels[i]),
                    old=float(_located(old[:, p, i], old[:, p, others], levels[others], n).mean()),
                    new=float(np.mean(by_new)),
                )


def placement_of(study: Study) -> Placement | None:
    """The systems of a study on its panel; None where subjects were ranked with them."""
    panel, source = study.panel, study.spec.panel
    if panel is None or source is None:
        return None
    cells = judged_cells(cast("Rankings", study.data), study.declared)
    systems = [one for one, kind in study.declared.solvers.items() if kind == "system"]
    solvers = [*panel.people, *systems]
    new = np.full((len(cells.judges), len(panel.problems), len(solvers)), np.nan)
    problem_at = pd.Index(panel.problems).get_indexer(pd.Index(cells.problems))
    solver_at = pd.Index(solvers).get_indexer(pd.Index(cells.solvers))
    use = solver_at[cells.solver] >= 0
    at = cells.judge[use], problem_at[cells.problem[use]], solver_at[cells.solver[use]]
    new[at] = cells.given[use]
    placed = place_systems(panel, new, systems, source.anchors)
    if placed is None:
        message = "no judge has ranked a system with its anchors yet, on a problem with all systems"
        raise QuemError(study.mistake(("rankings",), message))
    return placed


class PanelPart(Part[Placement]):
    """Systems on a reference panel."""

    name = "panel"
    tables = (PartTable("panel", "placement of the systems", PanelRow, many=False),)

    def adjust(
        self, study: Study, settings: ExperienceSettings, cells: RankCells
    ) -> RankCells | None:
        """Remove ranks among anchors, which cannot be averaged."""
        return cells if study.panel is None else None

    def average(
        self,
        study: Study,
        settings: ExperienceSettings,
        cells: RankCells | None,
        whole: Averages | None = None,
    ) -> Averages | None:
        """Subjects and systems as ranks among the subjects."""
        placed = placement_of(study)
        if placed is None:
            return None
        people = placed.panel.spec.people
        n, k = len(people), len(placed.systems)
        each = placed.people.shape[0] * placed.people.shape[1]
        return Averages(
            (*placed.panel.people, *placed.systems),
            ("subject",) * n + ("system",) * k,
            np.array([*(one.experience for one in people), *[np.nan] * k]),
            placed.rank,
            (placed.rank - 0.5) / n,
            np.append(np.full(n, each), np.isfinite(placed.scores).sum(axis=(0, 1))),
        )

    def vary(
        self, study: Study, settings: ExperienceSettings, cells: RankCells | None, of: Averages
    ) -> dict[str, Variance]:
        """The variance due to other judges."""
        placed = placement_of(study)
        if placed is None:
            return {}
        n2 = len(placed.panel.people) ** 2
        return {
            system: Variance(one.value / n2 / float(of.weight[of.solvers.index(system)]), one.df)
            for system, one in placed.added().items()
        }

    def find(self, core: Core) -> Placement | None:
        """The placement."""
        return placement_of(core.study)

    def rows(self, found: Placement, core: Core) -> Sequence[Sequence[Row]]:
        """All numbers of the placement."""
        new, old = found.agreement
        wide = {of.system: _times_as_wide(core, of) for of in core.estimates}
        row = PanelRow(
            digest=found.panel.digest,
            id=found.panel.spec.id,
            people=len(found.panel.people),
            old_judges=len(found.panel.spec.judges),
            new_judges=found.judges,
            problems=found.problems,
            people_as_anchors=len({one.person for one in found.anchors}),
            judge_variance=found.judge_variance,
            tau2=found.drift,
            tau_years=_years(core, found),
            tau_b_new=new,
            tau_b_old=old,
            systems=tuple(
                Placed(system=system, w=w, times_as_wide=wide.get(system))
                for system, w in zip(found.systems, found.widening.tolist(), strict=True)
            ),
            anchors=found.anchors,
        )
        return ([row],)

    def warn(self, found: Placement, core: Core) -> Iterable[StudyWarning]:
        """Warnings on other judges, other anchors, fewer problems."""
        return _RULES.find(found, core)

    def about(self, found: Placement, core: Core) -> str:
        """The placement of subjects and systems."""
        first, *more = self.lines(found, core)
        placed = "Each person was placed in the same way by the old judges’ rankings."
        return " ".join(["Systems were placed on a reference panel.", first, placed, *more])

    def lines(self, found: Placement, core: Core) -> Iterator[str]:
        """The comparisons, and how the new judges rank the subjects."""
        yield _who(found, core)
        yield from _drift_texts(found, core)

    def sections(self, found: Placement, core: Core) -> Iterator[Section]:
        """Procedure and anchors."""
        text = [_EXPLAINED, *self.lines(found, core), f"Digest of the panel: {found.panel.digest}."]
        yield Section("panel", "Reference panel", text, (), [Anchor.text_table(found.anchors)])


_EXPLAINED = (
    "The people were not asked again. Judges ranked each system with a few of them, one drawn from "
    "each stratum of consensus rank; its place among these gives a rank among all. Each person is "
    "placed in the same way by the old judges’ rankings, and the line goes through these virtual "
    "places. Agreement, and what judges and problems move, need ranks of whole groups."
)


def _who(found: Placement, core: Core) -> str:
    spec, source = found.panel.spec, core.study.spec.panel
    when = f", up to {spec.last_ranked_on}" if spec.last_ranked_on else ""
    return (
        f"{format_count(found.judges, 'new judge')} ranked "
        f"{'each system' if len(found.systems) > 1 else 'the system'} with "
        f"{source.anchors if source else 0} of the {len(spec.people)} people of the panel "
        f"“{spec.title}” on each of {format_count(len(found.problems), 'problem')}; "
        f"{format_count(len(spec.judges), 'judge')} had ranked all these people{when}."
    )


def _drift_texts(found: Placement, core: Core) -> Iterator[str]:
    if np.isnan(found.drift):
        yield (
            "Nobody was an anchor twice, so it is unknown whether the new judges see people "
            "differently; the interval allows for the taste of judges alone."
        )
    elif found.drift:
        yield (
            f"The new judges see people differently by ± {format_number(_years(core, found))} "
            f"{core.unit} (τ); the interval allows for that."
        )
    else:
        yield (
            "Nothing shows that the new judges see people differently (τ = 0), but a shift of 2 "
            "years would be noticed in only about half of such sessions."
        )
    new, old = (format_number(of, 2) for of in found.agreement)
    if np.isfinite(found.agreement[0]):
        yield (
            f"Their orders of the panel’s people agree with the old consensus with a mean τ-b of "
            f"{new}; those of each old judge with the other old judges, {old}."
        )


def _years(core: Core, found: Placement) -> float:
    """The root of tau² in years, by the slope of the line at the subjects' mean."""
    middle, step = core.line.x.mean(), 1e-4
    low, high = core.line.predict(np.array([middle - step, middle + step]))
    return float(abs(high - low) / (2 * step) * np.sqrt(found.drift))


def _times_as_wide(core: Core, of: SystemEstimate) -> float:
    """The relative width of an interval at the subjects' mean with the parts' variance."""
    people, q = core.people, (1 + core.settings.level) / 2
    plain = Variance(people.variance * (1 + 1 / people.n), people.n - 2)
    whole = total([plain, of.added])
    t = stdtrit([whole.df, plain.df], q)
    return float(t[0] / t[1] * np.sqrt(whole.value / plain.value))


_RULES: WarningRules[Placement, Core] = WarningRules()


@_RULES.add("panel-judges-differ", remedy="have them rank all people")
def _differ(_: Placement, core: Core) -> Iterator[str]:
    for of in core.estimates:
        if (times := _times_as_wide(core, of)) > MOST_TIMES_AS_WIDE:
            yield (
                f"the interval of {of.name} is {format_number(times)} times as wide because "
                "these judges see the people of the panel differently"
            )


@_RULES.add("panel-not-drawn", remedy="`quem panel place` writes a study with those that are drawn")
def _not_drawn(found: Placement, _: Core) -> Iterator[str]:
    if not found.drawn:
        yield "judges ranked other people of the panel than those that are drawn for these systems"


@_RULES.add("panel-problems-left-out", remedy="let judges rank them")
def _left_out(found: Placement, _: Core) -> Iterator[str]:
    if out := [problem for problem in found.panel.problems if problem not in found.problems]:
        yield (
            f"nobody ranked all systems with their anchors on {join_words(out)}, so people and "
            "systems are placed without"
        )
