"""What the analysis of an experience study finds, and the result for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.experience.skill import gate_of
from quem.rankings.table import Rankings
from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.errors import StudyWarning
    from quem.experience.agreement import JudgeAgreement
    from quem.experience.answering import Answering
    from quem.experience.averages import Averages
    from quem.experience.bootstrap import Bootstrap
    from quem.experience.cells import RankCells
    from quem.experience.estimate import Estimate
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.fit_statistics import WorthFit
    from quem.experience.influence import LeaveOneOut, Recognized, SubjectDiagnostic, Variant
    from quem.experience.judges import JudgeFit
    from quem.experience.machine_quality import MachineQuality
    from quem.experience.machines import MachineUse
    from quem.experience.profile import Profile
    from quem.experience.retest import Retest
    from quem.experience.significance import AnovaRow, PermutationTest
    from quem.experience.skill import FormFit, Gate, SkillFunction
    from quem.experience.standard_errors import WorthErrors
    from quem.experience.telling import Blinding
    from quem.experience.times import SolvingTimes
    from quem.experience.virtual_placement import PanelPlacement
    from quem.rankings.loading import Study
    from quem.seal import Seal
    from quem.store.care import Care
    from quem.studyfile import ExperienceSettings


@dataclass(frozen=True)
class ExperienceFindings:
    """What the method found.

    Parameters
    ----------
    settings : ExperienceSettings
        As used.
    cells : RankCells or None
        None for a study of averages computed elsewhere; so are agreement, anova and
        bootstrap.
    function : SkillFunction
        The headline's.
    forms : dict of str to FormFit
        Every form that could be fitted.
    p_value : float
        Of the F test over subjects that experience goes with quality.
    estimates : tuple of Estimate
        One a system that has ranks.
    profiles : dict of str to Profile
        Each system from problem to problem; empty for averages, blocks, and a very large study.
    judges, subjects, problems : tuple of LeaveOneOut
        The estimates without each; empty where that is unknown.
    variants : tuple of Variant
        The estimates under other settings.
    judge_fits : tuple of JudgeFit
        How each judge goes with the others; empty where `agreement` is None, and for one judge.
    recognized : Recognized or None
        The estimates without the authors whom judges recognized; None where there are none.
    blinding : Blinding or None
        What is known of whether judges could tell who made the solutions; None without rankings.
    retest : Retest or None
        The agreement of the judges with themselves; None where no group was repeated.
    pooled : ExpectedRanks or None
        The worths that `averages` are made of; None where ranks were averaged.
    worth_errors : WorthErrors or None
        How sure the worths are; None where ranks were averaged, and for very many solvers.
    worth_fit : WorthFit or None
        How well the choices of each judge, and those about each solver, fit the worths.
    placing : Placing or None
        How solutions got their places; None where no judging session says it.
    answering : Answering or None
        What judges answered to the study's own questions; None where they answered none.
    times : SolvingTimes or None
        How long subjects took; None where the study does not know it.
    machines : MachineUse or None
        What machine judges add; None where the study uses none.
    machine_quality : tuple of MachineQuality
        How each of them ranks; empty where that is unknown.
    seal : Seal or None
        What differs from what was sealed; None where the study was never sealed.
    on_panel : PanelPlacement or None
        How systems were placed on a reference panel; None where people were ranked with them.
    """

    study: Study
    settings: ExperienceSettings
    cells: RankCells | None
    averages: Averages
    function: SkillFunction
    forms: dict[str, FormFit]
    p_value: float
    permutation: PermutationTest | None
    estimates: tuple[Estimate, ...]
    profiles: dict[str, Profile]
    judges: tuple[LeaveOneOut, ...]
    subjects: tuple[LeaveOneOut, ...]
    problems: tuple[LeaveOneOut, ...]
    diagnostics: tuple[SubjectDiagnostic, ...]
    variants: tuple[Variant, ...]
    agreement: JudgeAgreement | None
    anova: tuple[AnovaRow, ...] | None
    bootstrap: Bootstrap | None
    judge_fits: tuple[JudgeFit, ...] = ()
    recognized: Recognized | None = None
    blinding: Blinding | None = None
    retest: Retest | None = None
    pooled: ExpectedRanks | None = None
    worth_errors: WorthErrors | None = None
    worth_fit: WorthFit | None = None
    placing: None = None
    answering: Answering | None = None
    times: SolvingTimes | None = None
    machines: MachineUse | None = None
    machine_quality: tuple[MachineQuality, ...] = ()
    seal: Seal | None = None
    on_panel: PanelPlacement | None = None
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def gate(self) -> Gate:
        """Whether these data allow years as a headline."""
        return gate_of(self.function)

    @property
    def is_ranked(self) -> bool:
        """Whether the averages were made of ranks here, and not computed elsewhere."""
        return self.cells is not None or self.on_panel is not None

    @property
    def cares(self) -> tuple[Care, ...]:
        """How each judge of a session went about it; empty where no page recorded it."""
        data = self.study.data
        return data.cares if isinstance(data, Rankings) else ()

    def name_of(self, solver: str) -> str:
        """Name a system as the study does, with its version; any other solver by its id."""
        for system in self.study.spec.systems:
            if system.id == solver:
                return " ".join(filter(None, [system.name or system.id, system.version]))
        return solver


@dataclass(frozen=True, repr=False)
class ExperienceResult(BaseResult["ExperienceFindings"]):
    """How experienced the systems of a study are."""

    findings: ExperienceFindings
    kind = "experience"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        with_years = self.findings.gate.passed
        systems = ", ".join(
            f"{e.system} {e.experience:.4g}" if with_years else e.system
            for e in self.findings.estimates
        )
        return f"<ExperienceResult of {self.study.spec.id}: {systems or 'no system'}>"

    @staticmethod
    def presentation() -> Presentation[ExperienceFindings]:
        """Say how the results are shown."""
        from quem.experience.presentation import PRESENTATION

        return PRESENTATION

    @property
    def study(self) -> Study:
        """The study that was analyzed."""
        return self.findings.study

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: the study file and its rankings."""
        return self.study.files

    @property
    def estimates(self) -> pd.DataFrame:
        """One row per system: average rank, experience, intervals, bounds."""
        return self.table("estimates")

    @property
    def averages(self) -> pd.DataFrame:
        """One row per solver: kind, experience, average rank, number of ranks."""
        return self.table("averages")

    @property
    def ranks(self) -> pd.DataFrame | None:
        """One row per judged solution; None for averages computed elsewhere, and for decisions."""
        cells = self.findings.cells
        return self.table("ranks") if cells and cells.has_ranks else None
