"""Profiles: each system's mean ranks by problem, with the subjects'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.method.averages import averages_beside
from quem.method.part import Part, PartTable
from quem.report.files import Section, TextTable
from quem.report.rows import Row, col
from quem.wording import format_number, join_words, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.method.core import Core, SystemEstimate

    Floats = NDArray[np.float64]

_FEWEST, _MOST_DRAWN = 2, 40
_ROUNDING = 1e-9


class ProblemRank(Row):
    """The mean rank of a system on one problem, with its judges."""

    system: str = col("id")
    problem: str = col("id", "Problem")
    mean_rank: float = col("of the system, over judges", "Its mean rank", 2)
    people: float = col("mean of the people's mean ranks", "People’s mean", 2, kind="csv")
    below: int = col("people whose mean rank is lower", "People below it", kind="csv")
    n_people: int = col("people who have a mean rank there", "People", kind="csv")


@dataclass(frozen=True)
class Profile:
    """A system's mean ranks by problem, and those of the subjects by the same judges."""

    of: SystemEstimate
    problems: tuple[str, ...]
    own: Floats  # of shape (problems,)
    people: Floats  # of shape (problems, subjects); NaN where missing

    def rows(self) -> list[ProblemRank]:
        """One row per problem."""
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
    place = "result"
    tables = (PartTable("problems", "systems by problem", ProblemRank, stem="problems"),)

    def find(self, core: Core) -> tuple[Profile, ...] | None:
        """Systems with ranks on at least two problems."""
        return tuple(of for one in core.estimates if (of := _profile(core, one))) or None

    def rows(self, found: tuple[Profile, ...], core: Core) -> Sequence[Sequence[Row]]:
        """One row per system and problem."""
        return ([row for profile in found for row in profile.rows()],)

    def sections(self, found: tuple[Profile, ...], core: Core) -> Iterator[Section]:
        """The variation of each system, with its mean ranks."""
        text = [_evenness(found[0].of)] if len(found) == 1 else []
        text = [*filter(None, text), "One problem alone has no years."]
        tables = [] if len(found) == 1 else [_ratios(found)]
        yield Section(self.name, "From problem to problem", text, (self.name,), tables)

    def figures(self) -> dict[str, Any]:
        """Mean ranks on each problem."""
        return {self.name: draw_profile}


def _ratios(found: tuple[Profile, ...]) -> TextTable:
    rows = [
        (profile.of.name, *(format_number(np.nan if of is None else of) for of in ratios))
        for profile in found
        for ratios in [(profile.of.variation.ratio_problems, profile.of.variation.ratio_judges)]
    ]
    headings = ("Ratio of SDs to people’s", "between problems", "between judges")
    return TextTable("How much systems vary", headings, rows)


def _evenness(of: SystemEstimate) -> str:
    """Sentence on the variation of a system compared with subjects."""
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
    """Subjects as dots, their mean as a bar, and systems as diamonds, by problem."""
    import matplotlib as mpl

    from quem.report.drawing import INK, MUTED, colors, label_inches, one_axes, tidy
    from quem.report.labels import Label, place_labels

    names = list(dict.fromkeys(name for profile in found for name in profile.problems))
    names = names[:_MOST_DRAWN]
    mpl.rcParams.update({"font.size": 9.5, "axes.labelsize": 9.5})  # overrides the drawing's style
    left, n = 0.1 + 1.2 * label_inches(map(short, names)), len(names)
    figure, axes = one_axes(left + 6.3, 1.1 + 0.36 * n, left=left)
    axes.set_ylim(-0.6, n - 0.1)
    labels, points = [], []
    widest = max(found, key=lambda profile: len(profile.problems))
    for name, people in zip(widest.problems, widest.people, strict=True):
        if name not in names or not np.isfinite(people).any():
            continue
        row, mean = n - 1 - names.index(name), float(np.nanmean(people))
        axes.plot(people, [row] * len(people), "o", color=MUTED, alpha=0.45, markersize=6)
        axes.plot([mean, mean], [row - 0.3, row + 0.3], color=INK, linewidth=2)
        points += [(of, row) for of in (*people, mean)]
        if name == names[0]:
            labels.append(Label(mean, row + 0.3, ("people’s mean",), INK))
    for profile, color in zip(found, colors(), strict=False):
        drawn = [at for at, name in enumerate(profile.problems) if name in names]
        rows = [n - 1 - names.index(profile.problems[at]) for at in drawn]
        axes.plot(profile.own[drawn], rows, "D", color=color, markersize=8, zorder=3)
        points += zip(profile.own[drawn], rows, strict=True)
        name = short(profile.of.name)
        labels.append(Label(float(profile.own[drawn[0]]), rows[0], (name,), color, "bold"))
    axes.set_yticks(range(n - 1, -1, -1), [short(name) for name in names])
    tidy(axes, x="mean rank (dots: people); higher is better", grid="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    at = np.array(points, dtype=np.float64)
    place_labels(axes, labels[::-1], points=at[np.isfinite(at).all(axis=1)])
    return figure
