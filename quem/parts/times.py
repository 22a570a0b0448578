"""Solving times of subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quem.method.part import Part, PartTable
from quem.method.ranks import tau_b
from quem.report.files import Section
from quem.report.rows import Interval, Row, col
from quem.wording import format_count, format_number, format_percent, format_signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.method.core import Core

_FEWEST = 3


class ProblemTime(Row):
    """Minutes of work on one problem."""

    title: ClassVar[str] = "Minutes of work by problem"
    problem: str = col("id", "Problem")
    n: int = col("people whose time is known", "People")
    median: float = col("minutes", "Median")
    quartiles: Interval = col("first and third, in minutes", "Quartiles")
    least: float = col("minutes", "Shortest")
    most: float = col("minutes", "Longest")


class Times(Row):
    """Minutes of work for a solution."""

    n: int = col("solutions whose time is known")
    n_people: int = col("subjects who made them")
    median: float = col("minutes, over all solutions")
    typical: float = col(
        "minutes: geometric mean over subjects of their geometric means, as times are skewed"
    )
    interval: Interval | None = col(
        "confidence interval of `typical`, by Student's t on logarithms; null for one subject"
    )
    hours: float = col("of all together")
    tau: float = col(
        "Kendall's tau-b of experience and the geometric means; null for fewer than 3 subjects"
    )
    problems: tuple[ProblemTime, ...] = col("one entry per problem")


class TimesPart(Part[Times]):
    """Solving times from a session or the study file."""

    name = "times"
    tables = (PartTable(name, "solving times", Times, many=False),)

    def find(self, core: Core) -> Times | None:
        """The times of subjects; None if none is known."""
        subjects = core.study.spec.subjects
        ids = [problem.id for problem in core.study.spec.problems]
        seconds = [[subject.seconds.get(one, np.nan) for one in ids] for subject in subjects]
        minutes = np.array(seconds, dtype=np.float64).reshape(len(subjects), len(ids)) / 60
        # A time of 0 means that the clock did not run.
        minutes[~(minutes > 0)] = np.nan
        known = np.isfinite(minutes)
        there = known.any(axis=1)
        if not there.any():
            return None
        means = np.nanmean(np.log(minutes[there]), axis=1)
        years = np.array([subject.experience for subject in subjects])[there]
        return Times(
            n=int(known.sum()),
            n_people=len(means),
            median=float(np.median(minutes[known])),
            typical=float(np.exp(means.mean())),
            interval=_interval(means, core.settings.level),
            hours=float(minutes[known].sum() / 60),
            tau=tau_b(years, means) if len(means) >= _FEWEST else np.nan,
            problems=tuple(
                _problem(one, minutes[known[:, at], at])
                for at, one in enumerate(ids)
                if known[:, at].any()
            ),
        )

    def sections(self, found: Times, core: Core) -> Iterator[Section]:
        """Solving times, their correlation with experience, and the problems."""
        interval = ""
        if found.interval:
            level = format_percent(core.settings.level)
            ends = " to ".join(format_number(end or 0.0) for end in found.interval)
            interval = f" ({level} confidence interval {ends})"
        text = [
            f"{format_count(found.n_people, 'subject')} took {format_number(found.typical)} "
            f"minutes of work for a solution{interval} in the geometric mean, and "
            f"{format_number(found.hours)} hours together, without pauses and time out of view."
        ]
        if np.isfinite(found.tau):
            than = "less" if found.tau < 0 else "more" if found.tau else "neither more nor less"
            text.append(
                f"More experience goes with {than} time (Kendall’s τ-b "
                f"{format_signed(found.tau, 2)})."
            )
        tables = [ProblemTime.text_table(found.problems)]
        yield Section(self.name, "How long people took", text, (), tables)


def _interval(means: NDArray[np.float64], level: float) -> Interval | None:
    """The interval of the mean, by Student's t on logarithms."""
    from scipy.special import stdtrit

    if (n := len(means)) == 1:
        return None
    half = stdtrit(n - 1, (1 + level) / 2) * means.std(ddof=1) / np.sqrt(n)
    return float(np.exp(means.mean() - half)), float(np.exp(means.mean() + half))


def _problem(problem: str, minutes: NDArray[np.float64]) -> ProblemTime:
    first, median, third = np.percentile(minutes, (25, 50, 75)).tolist()
    return ProblemTime(
        problem=problem,
        n=len(minutes),
        median=median,
        quartiles=(first, third),
        least=float(minutes.min()),
        most=float(minutes.max()),
    )
