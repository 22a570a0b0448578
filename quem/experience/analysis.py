"""The QUEM method from rankings to findings: one step a room, composed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError
from quem.experience.agreement import judge_agreement
from quem.experience.averages import Averages, average_cells
from quem.experience.cells import judged_cells, score_cells
from quem.experience.doubts import doubts_of
from quem.experience.estimate import estimate_system
from quem.experience.findings import Findings
from quem.experience.influence import leave_out_cells, leave_out_subjects, residuals
from quem.experience.resample import bootstrap
from quem.experience.significance import factorial_anova, permutation_test
from quem.experience.skill import FORMS, choose_form, compare_forms, fit, refusal
from quem.experience.variants import vary
from quem.rankings import PrintedAverages
from quem.study import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.errors import Doubt
    from quem.experience.cells import Cells
    from quem.load import Study

__all__ = ["ExperienceAnalysis", "analyze_experience"]

_LARGE_AGREEMENT = 20_000_000


def analyze_experience(study: Study, **settings: Any) -> ExperienceAnalysis:  # noqa: ANN401
    """Analyse a study of kind ``experience`` (see `quem.analyze`)."""
    used = _settings(study, settings)
    experience = _experience(study)
    cells = None
    if isinstance(study.data, PrintedAverages):
        _refuse_for_averages(study, used)
        averages = _printed(study.data, study, experience)
    else:
        cells = judged_cells(study.data, study.declared, reference=used.reference)
        cells = score_cells(cells, score=used.score, normalize=used.normalize)
        averages = average_cells(cells, experience)
    findings = _findings(study, used, cells, averages)
    return ExperienceAnalysis(study, replace(findings, doubts=tuple(doubts_of(study, findings))))


def _findings(
    study: Study, settings: Analysis, cells: Cells | None, averages: Averages
) -> Findings:
    x, y = averages.fitted()
    _refuse_flat(study, x, y)
    systems = [averages.solvers[i] for i in averages.of_kind("system")]
    x_systems = averages.average[averages.of_kind("system")]
    forms = compare_forms(x, y, x_systems)
    name = choose_form(forms) if settings.form == "auto" else settings.form
    if message := refusal(FORMS[name], x, x_systems):
        raise QuemError([Mistake(study.name, key="analysis.form", message=message)])
    function = forms[name].function if name in forms else fit(FORMS[name], x, y)
    level, seed = settings.level, settings.seed
    estimates = [
        estimate_system(s, function, averages, level=level, at_least=settings.at_least)
        for s in systems
    ]
    years = {estimate.system: estimate.experience for estimate in estimates}
    experience = averages.experience
    left_out = {
        what: tuple(leave_out_cells(what, cells, averages, function, years, level)) if cells else ()
        for what in ("judge", "problem")
    }
    small = cells is not None and (
        len(cells.judges) * len(cells.problems) * len(cells.solvers) <= _LARGE_AGREEMENT
        and cells.block.max(initial=1) == 1
    )
    anova = factorial_anova(cells, experience) if cells else None
    return Findings(
        settings=settings,
        cells=cells,
        averages=averages,
        function=function,
        forms=forms,
        p_value=function.p_value,
        permutation=permutation_test(x, y, permutations=settings.permutations, seed=seed),
        estimates=tuple(estimates),
        judges=left_out["judge"],
        subjects=tuple(leave_out_subjects(averages, function, years, level)),
        problems=left_out["problem"],
        diagnostics=tuple(residuals(averages, function)),
        variants=tuple(vary(cells, experience, averages, function, forms, estimates, settings)),
        agreement=judge_agreement(cells, seed=seed) if cells and small else None,
        anova=tuple(anova) if anova is not None else None,
        bootstrap=bootstrap(
            cells, experience, function.form, replicates=settings.bootstrap, level=level, seed=seed
        )
        if cells and settings.bootstrap
        else None,
    )


def _settings(study: Study, changed: dict[str, Any]) -> Analysis:
    """The study's settings with those of the caller in their place."""
    from pydantic import ValidationError

    wanted = {key: value for key, value in changed.items() if value is not None}
    try:
        return Analysis.model_validate({**study.spec.analysis.model_dump(), **wanted})
    except ValidationError as error:
        mistakes = []
        for detail in error.errors(include_url=False):
            key = ".".join(["analysis", *map(str, detail["loc"])])
            message = detail["msg"].removeprefix("Value error, ")
            mistakes.append(Mistake(study.name, key=key, message=message))
    raise QuemError(mistakes)


def _experience(study: Study) -> NDArray[np.float64]:
    known = {subject.id: subject.experience for subject in study.spec.subjects}
    return np.array([known.get(solver, np.nan) for solver in study.data.solvers])


def _printed(data: PrintedAverages, study: Study, experience: NDArray[np.float64]) -> Averages:
    kinds = tuple(study.declared.solvers[solver] for solver in data.solvers)
    none = np.zeros(len(kinds), dtype=np.int64)
    return Averages(data.solvers, kinds, experience, data.average, none, none, 0, np.nan)


def _refuse_for_averages(study: Study, settings: Analysis) -> None:
    """Scores other than the printed ones need the ranks."""
    plain = Analysis()
    mistakes = [
        Mistake(
            study.name,
            key=f"analysis.{key}",
            message="needs the ranks, and this study has only their averages; leave it out",
        )
        for key in ("score", "normalize", "reference")
        if getattr(settings, key) != getattr(plain, key)
    ]
    if mistakes:
        raise QuemError(mistakes)


def _refuse_flat(study: Study, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    same = ""
    if not len(x) or np.ptp(x) < 1e-9 * max(1.0, float(np.abs(x).max())):
        same = "average rank"
    elif np.ptp(y) == 0:
        same = "experience"
    if same:
        message = (
            f"all subjects have the same {same}, so no line can be fitted; "
            "check the ranks, or add judges and problems"
        )
        raise QuemError([Mistake(study.name, key="rankings", message=message)])


@dataclass(frozen=True)
class ExperienceAnalysis:
    """How experienced the systems of a study are.

    Parameters
    ----------
    study : Study
    findings : Findings
        Every number, as plain results.
    """

    study: Study
    findings: Findings
    kind = "experience"

    @property
    def warnings(self) -> tuple[Doubt, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.doubts

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row a system: average rank, experience, intervals, bounds."""
        from quem.experience.showing.tables import estimates_table

        return estimates_table(self)

    @cached_property
    def averages(self) -> pd.DataFrame:
        """One row a solver: kind, experience, average rank, number of ranks."""
        from quem.experience.showing.tables import averages_table

        return averages_table(self)

    @cached_property
    def ranks(self) -> pd.DataFrame | None:
        """One row a judged solution; None for a study of averages computed elsewhere."""
        return self.findings.cells.to_frame() if self.findings.cells else None

    def summary(self, *, warnings: bool = True) -> str:
        """Say the answer, what it rests on and, unless told not to, the warnings, as text."""
        from quem.experience.showing.summary import summary_text

        return summary_text(self, warnings=warnings)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem: averages, estimates and, where there are any, ranks."""
        found = {"averages": self.averages, "estimates": self.estimates}
        return found if self.ranks is None else {"ranks": self.ranks, **found}

    def figures(self) -> dict[str, Figure]:
        """Draw every figure, by file stem."""
        from quem.experience.showing.figures import all_figures

        return all_figures(self)

    def plot_skill_function(self) -> Figure:
        """Draw the subjects and the skill function (Figure 2 of the paper)."""
        from quem.experience.showing.skill_figures import skill_function

        return skill_function(self)

    def plot_estimate(self) -> Figure:
        """Draw the bands and each system's estimate (Figure 3 of the paper)."""
        from quem.experience.showing.skill_figures import estimate

        return estimate(self)

    def plot_sensitivity(self) -> Figure:
        """Draw the estimate without each judge, subject and problem, and by other settings."""
        from quem.experience.showing.influence_figures import sensitivity

        return sensitivity(self)

    def plot_influence(self) -> Figure:
        """Draw the subjects' residuals and influence."""
        from quem.experience.showing.influence_figures import influence

        return influence(self)

    def plot_agreement(self) -> Figure | None:
        """Draw the judges' agreement as a heat map; None where there is none to draw."""
        from quem.experience.showing.judge_figures import agreement

        return agreement(self)

    def plot_ranks(self) -> Figure | None:
        """Draw every rank of each solver; None for averages computed elsewhere."""
        from quem.experience.showing.judge_figures import ranks

        return ranks(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the content of analysis.json."""
        from quem.experience.showing.export import analysis_dict

        return analysis_dict(self)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        from quem.experience.showing.context import report_context

        return report_context(self)

    def to_html(self) -> str:
        """Give the report as one self-contained HTML page."""
        from quem.report.html import report_html

        return report_html(self)

    def _repr_html_(self) -> str:
        from quem.report.html import notebook_html

        return notebook_html(self)
