"""What the analysis of option lists finds, and the result that people read, draw and save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.lists.inference import fewest_of
from quem.lists.score_table import Entry, Inference, ScoredBy, ScoreTable, content_digest
from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.lists import Properties
    from quem.lists.inference import PairDifference
    from quem.options.calibration import Calibration
    from quem.options.lists import LengthGroup, Scorer, Ways
    from quem.options.loading import OptionsStudy
    from quem.options.thresholds import Sweep
    from quem.studyfile.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True)
class Undefined:
    """Lists that a measure does not score."""

    system: int
    measure: int
    reason: str
    count: int


@dataclass(frozen=True)
class SystemScores:
    """What a system's lists are worth."""

    system: int
    # Lists that are there, questions without one, and lists without an option
    n_lists: int
    n_missing: int
    n_empty: int
    share: float  # of lists with a correct option
    share_interval: tuple[float, float]
    mean_length: float
    mean_length_interval: tuple[float, float]
    scores: tuple[float, ...]  # the mean of each measure
    intervals: tuple[tuple[float, float], ...]
    defined: tuple[int, ...]  # on how many questions each measure is defined


@dataclass(frozen=True, eq=False)
class OptionsFindings:
    """The result of an analysis, as plain results."""

    data: OptionsStudy
    settings: OptionsSettings  # as used
    scorer: Scorer
    # Of shape (systems, questions): how many options each list has, -1 where it does not count; and
    # the place of the first correct one, from 1, 0 without one
    lengths: Integers
    places: Integers
    ways: Ways  # how all correct options are placed in each list
    scores: Floats  # of shape (systems, questions, measures)
    system_scores: tuple[SystemScores, ...]  # one a system
    undefined: tuple[Undefined, ...]
    groups: tuple[LengthGroup, ...]
    sweeps: tuple[Sweep, ...]  # of the systems with confidences
    calibrations: tuple[Calibration, ...]  # of those of them whose confidences lie between 0 and 1
    pairs: tuple[PairDifference, ...]
    # Of the measures that have a direction, on short lists.
    properties: tuple[tuple[str, Properties], ...] = ()
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def fewest(self) -> int:
        """Over how many questions a mean has to be, so that it is ranked and tested."""
        return fewest_of(len(self.data.key.ids))

    @property
    def headline(self) -> str:
        """The name of the measure that the answer is given in."""
        return self.scorer.names[self.scorer.headline]

    def name_of(self, system: int) -> str:
        """Name a system as the study file does."""
        system_id = self.data.systems[system]
        for declared in self.data.spec.systems:
            if declared.id == system_id:
                return declared.name or declared.id
        return system_id


@dataclass(frozen=True, repr=False)
class OptionsResult(BaseResult["OptionsFindings"]):
    """How good the lists of options are that systems answer with."""

    findings: OptionsFindings
    kind = "options"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        at = self.findings.scorer.headline
        systems = ", ".join(
            f"{self.findings.name_of(s.system)} {s.scores[at]:.4g}"
            for s in self.findings.system_scores
        )
        return (
            f"<OptionsResult of {self.findings.data.spec.id}: {self.findings.headline} {systems}>"
        )

    @staticmethod
    def presentation() -> Presentation[OptionsFindings]:
        """Say how the results are shown."""
        from quem.options.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: the study file, questions and lists."""
        return self.findings.data.files

    def score_table(self) -> ScoreTable:
        """Give the score of each system on each question, to be compared."""
        findings, spec, used = self.findings, self.findings.data.spec, self.findings.settings
        key = findings.data.key
        settings: dict[str, str] = {"missing": used.missing}
        scorer = findings.scorer
        if any("max_length" in dict(one.values) for one in scorer.measures):
            settings["max_length"] = str(scorer.max_length)
        return ScoreTable(
            kind="options",
            title=spec.title,
            study=spec.id,
            source=findings.data.name,
            entries=tuple(
                Entry(system, findings.name_of(at), spec.id)
                for at, system in enumerate(findings.data.systems)
            ),
            queries=key.ids,
            measures=tuple(
                ScoredBy(name, one.definition.better)
                for name, one in zip(scorer.names, scorer.measures, strict=True)
            ),
            headline=scorer.headline,
            values=findings.scores,
            truth=content_digest(
                part
                for question, options in sorted(zip(key.ids, key.correct, strict=True))
                for option in sorted(options)
                for part in (question, option)
            ),
            settings=settings,
            inference=Inference(used.level, used.bootstrap, used.permutations, used.seed),
            nouns=("system", "question"),
        )

    @property
    def scores(self) -> pd.DataFrame:
        """One row per system and measure: mean, interval, number of questions."""
        return self.table("scores")
