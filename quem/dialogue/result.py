"""The result of an evaluation of dialogues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.simulation import evaluated_on
from quem.lists.score_table import Entry, Inference, ScoredBy, ScoreTable
from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.outcomes import DialogueFindings


@dataclass(frozen=True, repr=False)
class DialogueResult(BaseResult["DialogueFindings"]):
    """How good a conversational CBR system is with each strategy."""

    findings: DialogueFindings
    kind = "dialogue"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        findings = self.findings
        best = findings.strategies[findings.whole.order(0)[0]]
        return (
            f"<DialogueResult of {self.study.spec.id}: {len(findings.experiment.targets)} targets, "
            f"best rank quality: {best} {findings.whole.mean.max():.3f}>"
        )

    @staticmethod
    def presentation() -> Presentation[DialogueFindings]:
        """Say how the results are shown."""
        from quem.dialogue.presentation import PRESENTATION

        return PRESENTATION

    @property
    def study(self) -> DialogueStudy:
        """The study that was analyzed."""
        return self.findings.study

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""
        return self.study.files

    def score_table(self) -> ScoreTable:
        """Give the scores of each strategy on each target, to be compared.

        The measures are rank quality, averaged over the dialogue, and efficiency and precision by
        each user. What only the strategies depend on, such as ``neighbors``, may differ.
        """
        findings, spec = self.findings, self.study.spec
        experiment = findings.experiment
        by_user = [
            f"{what} {user}" for what in ("efficiency", "precision") for user in findings.users
        ]
        scores = [findings.whole, findings.efficiency, findings.precision]
        values = np.concatenate([one.targets for one in scores], axis=2)
        truth, settings = evaluated_on(experiment)
        used = findings.inference
        seed = experiment.settings.seed
        return ScoreTable(
            kind="dialogue",
            title=spec.title,
            study=spec.id,
            source=self.study.name,
            entries=tuple(Entry(name, name, spec.id) for name in findings.strategies),
            queries=experiment.targets.ids,
            measures=tuple(ScoredBy(name, "higher") for name in ("rank quality", *by_user)),
            headline=0,
            values=values.transpose(1, 0, 2),
            truth=truth,
            settings=settings,
            inference=Inference(used.level, used.bootstrap, used.permutations, seed),
            nouns=("strategy", "target"),
        )

    @property
    def outcomes(self) -> pd.DataFrame:
        """One row per measure, user, and strategy: efficiency and precision with intervals."""
        return self.table("outcomes")

    @property
    def rank_quality(self) -> pd.DataFrame:
        """One row per strategy and number of answers: rank quality with intervals."""
        return self.table("rank-quality")

    @property
    def targets(self) -> pd.DataFrame:
        """One row per target and strategy: its means over dialogues."""
        return self.table("targets")
