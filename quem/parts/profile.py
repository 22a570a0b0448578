"""Each system from problem to problem, beside the people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.method.averages import averages_beside
from quem.parts.part import Part, PartTable
from quem.report.files import Section
from quem.report.rows import Row, col
from quem.wording import format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.method.core import Core, SystemEstimate
    from quem.report.files import TextTable

    Floats = NDArray[np.float64]

_FEWEST, _MOST_ROWS, _MOST_DRAWN = 2, 25, 40
_ROUNDING = 1e-9


class ProblemRank(Row):
    """A system on one problem, by the judges who ranked it there."""

    system: str = col("id")
    problem: str = col("id", "Problem")
    mean_rank: float = col("of the system, over judges", "Its mean rank", 2)
    people: float = col("mean of the people's mean ranks", "People’s mean", 2, kind="csv")
    below: int = col("people whose mean rank is lower", "People below it", kind="csv")
    n_people: int = col("people who have a mean rank there", "People", kind="csv")


@dataclass(frozen=True)
class Profile:
    """A system's mean ranks, and those of the people as the same judges saw them."""

    of: SystemEstimate
    problems: tuple[str, ...]
    own: Floats  # of shape (problems,)
    people: Floats  # of shape (problems, people); NaN where there is none

    def rows(self) -> list[ProblemRank]:
        """A row a problem."""
        return [
            ProblemRank(
                system=self.of.system,
                problem=problem,
                mean_rank=float(own),
                people=float(people.mean()) if len(people) else np.nan,
                below=int((people < own - _ROUNDING).sum()),
                n_people=len(people),
            )
            for problem, own, among in zip(self.problems, self.own, self.people, strict=True)
            for people in [among[np.isfinite(among)]]
        ]


def _profile(core: Core, of: SystemEstimate) -> Profile | None:
    cells, averages = core.cells, core.averages
    if cells is None or averages.problems is None:
        return None
    sums = averages_beside(cells, averages, of.at).problems
    assert sums is not None  # noqa: S101  those of cells
    there = np.flatnonzero(sums.count[:, of.at])
    if len(there) < _FEWEST:
        return None
    ranks = sums.rank[there] / np.where(sums.count[there] > 0, sums.count[there], np.nan)
    names = tuple(cells.problems[at] for at in there)
    return Profile(of, names, ranks[:, of.at], ranks[:, averages.of_kind("subject")])


class ProfilePart(Part[tuple[Profile, ...]]):
    """Mean ranks by problem; single problems have no years."""

    name = "profile"
    tables = (PartTable("problems", "systems by problem", ProblemRank, stem="problems"),)

    def find(self, core: Core) -> tuple[Profile, ...] | None:
        """The systems that two problems at least have ranks of."""
        return tuple(of for one in core.estimates if (of := _profile(core, one))) or None

    def rows(self, found: tuple[Profile, ...], core: Core) -> Sequence[Sequence[Row]]:
        """System by system."""
        return ([row for profile in found for row in profile.rows()],)

    def sections(self, found: tuple[Profile, ...], core: Core) -> Iterator[Section]:
        """How evenly each system does, with its mean ranks."""
        text = [
            *filter(None, (_evenness(profile.of) for profile in found)),
            "One problem alone has no years: it would rest on one rank of each judge.",
        ]
        tables = [_table(profile) for profile in found]
        yield Section(self.name, "From problem to problem", text, (self.name,), tables)

    def figures(self) -> dict[str, Any]:
        """Mean ranks on each problem."""
        return {self.name: draw_profile}


def _table(profile: Profile) -> TextTable:
    rows, note = profile.rows(), ""
    if len(rows) > _MOST_ROWS:
        note = f"The {_MOST_ROWS} of {len(rows):,} that lie furthest from the people’s mean."
        rows = sorted(rows, key=lambda row: -abs(np.nan_to_num(row.mean_rank - row.people)))
    return ProblemRank.text_table(rows[:_MOST_ROWS], profile.of.name, note)


def _evenness(of: SystemEstimate) -> str:
    """Say how much a system varies beside people."""
    ratios = (("problems", of.variation.ratio_problems), ("judges", of.variation.ratio_judges))
    known = [
        f"between {what} {format_number(ratio)} times"
        for what, ratio in ratios
        if ratio is not None and np.isfinite(ratio)
    ]
    if not known:
        return ""
    return f"{of.name} varies {join_words(known)} as much as people do (ratio of SDs)."


def draw_profile(found: tuple[Profile, ...], _: Core) -> Figure:
    """People as dots, their mean as a bar, and systems as diamonds, on each problem."""
    from quem.report.drawing import INK, MUTED, colors, label_inches, one_axes, tidy
    from quem.report.labels import Label, place_labels
    from quem.wording import short

    widest = max(found, key=lambda profile: len(profile.problems))
    names = widest.problems[:_MOST_DRAWN]
    row_of = {name: row for row, name in enumerate(reversed(names))}
    left = label_inches(map(short, names))
    figure, axes = one_axes(left + 4.7, 1.0 + 0.32 * (len(names) + 0.4 * len(found)), left=left)
    labels, points = [], []
    for profile, color in zip(found, colors(), strict=False):
        at = [i for i, name in enumerate(profile.problems) if name in row_of]
        rows = [row_of[profile.problems[i]] for i in at]
        axes.plot(profile.own[at], rows, "D", color=color, markersize=8, zorder=4)
        points.append(np.column_stack([profile.own[at], rows]))
        name = short(profile.of.name)
        labels += [Label(*points[-1][0], (name, short(name, 8)), color, "bold")]
    for name, people in zip(names, widest.people, strict=False):
        known, row = people[np.isfinite(people)], row_of[name]
        axes.plot(known, [row] * len(known), "o", color=MUTED, alpha=0.45, markersize=5)
        points.append(np.column_stack([known, np.full(len(known), row)]))
        if len(known):
            axes.plot([known.mean()] * 2, [row - 0.3, row + 0.3], color=INK, linewidth=2)
            if name == names[0]:
                labels.append(Label(known.mean(), row + 0.3, ("people’s mean",), INK))
    axes.set_yticks(range(len(names)), [short(name) for name in reversed(names)])
    axes.set_ylim(-0.6, len(names) - 0.2 + 0.4 * len(found))
    tidy(axes, x="mean rank (1 = worst)", grid="x")
    axes.tick_params(axis="y", length=0)
    place_labels(axes, labels, points=np.concatenate(points))
    return figure
