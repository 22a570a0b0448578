"""What a leaderboard says, and the result that people read, draw, and save."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quem.leaderboard.joining import labels
from quem.lists.groups import group_letters
from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.leaderboard.contrasts import Contrast
    from quem.leaderboard.settings import LeaderboardSettings
    from quem.lists.score_table import ScoreTable

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeaderboardFindings:
    """What was compared, and what came out."""

    table: ScoreTable  # the scores of all entries
    settings: LeaderboardSettings
    # Of shape (systems, measures): with their bootstrap intervals
    mean: Floats
    low: Floats
    high: Floats
    defined: NDArray[np.int64]  # of shape (systems, measures): on how many queries each is defined
    fewest: int  # over how many queries a mean has to be, so that it is ranked and tested
    # Of shape (systems, measures): the means of those that are ranked, with the sign that makes
    # more better.
    oriented: Floats
    contrasts: tuple[Contrast, ...]  # of each pair by each measure
    # By each measure: groups of systems that cannot be distinguished.
    groups: tuple[tuple[tuple[int, ...], ...], ...]
    files: tuple[Path, ...] = ()  # what the scores were made of
    warnings: tuple[StudyWarning, ...] = ()

    def with_warnings(self, warnings: Iterable[StudyWarning]) -> LeaderboardFindings:
        """Give the same with these warnings, each once."""
        return replace(self, warnings=tuple(dict.fromkeys(warnings)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each entry, with its study where that is needed."""
        return labels(self.table)

    @property
    def headline(self) -> int:
        """The place of the measure of the order."""
        return self.table.headline

    @property
    def n_pairs(self) -> int:
        """How many pairs of systems there are."""
        return len(self.names) * (len(self.names) - 1) // 2

    def measure(self, at: int) -> str:
        """Name a measure."""
        return self.table.measures[at].name

    def order(self, at: int) -> list[int]:
        """Give the systems, best first by a measure; last those that are not ranked."""
        column = self.oriented[:, at]
        return sorted(range(len(column)), key=lambda s: (np.isnan(column[s]), -column[s], s))

    def place(self, system: int, at: int) -> int | None:
        """Give the place of a system by a measure, from 1; equal means share the best of theirs."""
        column = self.oriented[:, at]
        if np.isnan(column[system]):
            return None
        return int((column > column[system] + 1e-9).sum()) + 1

    @cached_property
    def _letters(self) -> list[list[str]]:
        return [group_letters(list(groups), len(self.mean)) for groups in self.groups]

    def letters(self, at: int) -> list[str]:
        """Give the letters of each system by a measure: those that share one do not differ."""
        return self._letters[at]

    def contrasts_by(self, at: int) -> list[Contrast]:
        """Give the differences by one measure."""
        return [one for one in self.contrasts if one.measure == at]

    def contrast(self, first: int, second: int, at: int) -> Contrast:
        """Give the difference of two systems, the earlier one first, by a measure."""
        return self._found[first, second, at]

    @cached_property
    def _found(self) -> dict[tuple[int, int, int], Contrast]:
        return {(one.first, one.second, one.measure): one for one in self.contrasts}

    @property
    def studies(self) -> tuple[str, ...]:
        """The ids of the studies, each once."""
        return tuple(dict.fromkeys(entry.study for entry in self.table.entries))


@dataclass(frozen=True, repr=False)
class LeaderboardResult(BaseResult["LeaderboardFindings"]):
    """How systems compare that were scored on the same queries."""

    findings: LeaderboardFindings
    kind = "leaderboard"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        best = self.findings.order(self.findings.headline)[:3]
        names = ", ".join(self.findings.names[at] for at in best)
        return f"<LeaderboardResult by {self.findings.measure(self.findings.headline)}: {names}>"

    @staticmethod
    def presentation() -> Presentation[LeaderboardFindings]:
        """Say how the results are shown."""
        from quem.leaderboard.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""
        return self.findings.files

    @property
    def scores(self) -> pd.DataFrame:
        """One row per system and query: the score by each measure."""
        return self.table("scores")

    @property
    def leaderboard(self) -> pd.DataFrame:
        """One row per system and measure, best first: place, mean, interval, letters."""
        return self.table("leaderboard")

    @property
    def differences(self) -> pd.DataFrame:
        """One row per pair of systems and measure, with interval and p values."""
        return self.table("differences")
