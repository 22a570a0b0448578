"""Everything that the QUEM method finds in a study, as plain results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quem.errors import StudyWarning
    from quem.experience.agreement import JudgeAgreement
    from quem.experience.averages import Averages
    from quem.experience.bootstrap import Bootstrap
    from quem.experience.cells import RankCells
    from quem.experience.estimate import Estimate
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.influence import LeaveOneOut, SubjectDiagnostic, Variant
    from quem.experience.loading import Study
    from quem.experience.recognized import Recognized
    from quem.experience.retest import Retest
    from quem.experience.significance import AnovaRow, PermutationTest
    from quem.experience.skill import FormFit, SkillFunction
    from quem.study import ExperienceSettings

__all__ = ["ExperienceFindings"]


@dataclass(frozen=True)
class ExperienceFindings:
    """What the method found.

    Parameters
    ----------
    study : Study
    settings : ExperienceSettings
        As used.
    cells : RankCells or None
        None for a study of averages computed elsewhere; so are agreement, anova and
        bootstrap.
    averages : Averages
    function : SkillFunction
        The headline's.
    forms : dict of str to FormFit
        Every form that could be fitted.
    p_value : float
        Of the F test over subjects that experience goes with quality.
    permutation : PermutationTest or None
    estimates : tuple of Estimate
        One a system that has ranks.
    judges, subjects, problems : tuple of LeaveOneOut
        The estimates without each; empty where that is unknown.
    diagnostics : tuple of SubjectDiagnostic
    variants : tuple of Variant
        The estimates under other settings.
    agreement : JudgeAgreement or None
    anova : tuple of AnovaRow or None
    bootstrap : Bootstrap or None
    recognized : Recognized or None
        The estimates without the authors whom judges recognized; None where there are none.
    retest : Retest or None
        The agreement of the judges with themselves; None where no group was repeated.
    pooled : ExpectedRanks or None
        The worths that `averages` are made of; None where ranks were averaged.
    warnings : tuple of StudyWarning
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
    judges: tuple[LeaveOneOut, ...]
    subjects: tuple[LeaveOneOut, ...]
    problems: tuple[LeaveOneOut, ...]
    diagnostics: tuple[SubjectDiagnostic, ...]
    variants: tuple[Variant, ...]
    agreement: JudgeAgreement | None
    anova: tuple[AnovaRow, ...] | None
    bootstrap: Bootstrap | None
    recognized: Recognized | None = None
    retest: Retest | None = None
    pooled: ExpectedRanks | None = None
    warnings: tuple[StudyWarning, ...] = ()

    def name_of(self, solver: str) -> str:
        """Name a system as the study does, with its version; any other solver by its id."""
        for system in self.study.spec.systems:
            if system.id == solver:
                return " ".join(filter(None, [system.name or system.id, system.version]))
        return solver
