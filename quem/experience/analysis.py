"""The QUEM method from rankings to findings: one module per step, composed here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError
from quem.experience.agreement import judge_agreement, orders_in_common
from quem.experience.answering import answering
from quem.experience.averages import Averages, average_cells
from quem.experience.bootstrap import bootstrap
from quem.experience.cells import judged_cells, score_cells, tabulate
from quem.experience.checks import find_warnings
from quem.experience.components import Incidence
from quem.experience.estimate import estimate_system, round_years
from quem.experience.expected_ranks import fit_worths, pool, pooled_averages, pools_without
from quem.experience.fit_statistics import fit_statistics
from quem.experience.hierarchical import model_estimates
from quem.experience.influence import (
    leave_out_cells,
    leave_out_pooled,
    leave_out_recognized,
    leave_out_subjects,
    residuals,
    vary,
    with_judge_turned,
)
from quem.experience.judges import judge_fits
from quem.experience.machine_quality import machine_quality
from quem.experience.machines import use_machines
from quem.experience.profile import profiles
from quem.experience.result import ExperienceFindings, ExperienceResult
from quem.experience.retest import retest_agreement
from quem.experience.significance import factorial_anova, permutation_test
from quem.experience.skill import (
    FEWEST_SUBJECTS,
    FORMS,
    Added,
    choose_form,
    compare_forms,
    fit,
    refusal,
)
from quem.experience.standard_errors import standard_errors
from quem.experience.telling import blinding_of
from quem.experience.times import solving_times
from quem.experience.virtual_placement import place_on_panel
from quem.rankings import PrintedAverages, Rankings
from quem.studyfile import ExperienceSettings
from quem.studyfile.schema import changed_settings
from quem.wording import join_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.experience.cells import RankCells
    from quem.experience.estimate import Estimate
    from quem.experience.expected_ranks import ExpectedRanks
    from quem.experience.hierarchical import ModelEstimate
    from quem.experience.judges import JudgeFit
    from quem.experience.machines import MachineUse
    from quem.experience.pooled_rankings import What
    from quem.experience.profile import Profile
    from quem.experience.skill import SkillFunction
    from quem.experience.virtual_placement import PanelPlacement
    from quem.panels.package import ReferencePanel
    from quem.rankings.loading import Study

_PARTS: tuple[What, ...] = ("judge", "problem")


def analyze_experience(study: Study, **settings: object) -> ExperienceResult:
    """Analyze a study of kind ``experience`` (see `quem.analyze`)."""
    used = changed_settings(study.spec.analysis, settings)
    seal = study.seal and study.seal.with_asked(used.model_dump(mode="json"))
    experience = _experience(study)
    cells, pooled, on_panel = None, None, None
    if study.panel:
        on_panel = _on_panel(study, study.panel, used)
        averages = on_panel.averages
    elif isinstance(study.data, PrintedAverages):
        _refuse_for_averages(study, used)
        averages = _printed(study.data, study, experience)
    else:
        cells = judged_cells(study.data, study.declared, reference=used.reference)
        used = _suited_to_blocks(study, used, cells)
        cells = score_cells(cells, score=used.score, normalize=used.normalize)
        if used.score == "pl":
            pooled = _pool(study, cells)
            averages = pooled_averages(pooled, cells, experience)
        else:
            averages = average_cells(cells, experience)
    machines = use_machines(study, used, cells, averages)
    given = "at_least" in study.spec.analysis.model_fields_set or settings.get("at_least")
    if given in (False, None) and study.spec.experience_unit == "years":
        used = used.model_copy(update={"at_least": round_years(averages.fitted()[1])})
    findings = _findings(study, used, cells, averages, pooled, machines, on_panel)
    findings = replace(findings, seal=seal)
    return ExperienceResult(replace(findings, warnings=tuple(find_warnings(findings))))


def check_experience(study: Study) -> tuple[StudyWarning, ...]:
    """Say what an analysis of a study would warn of, without what takes long."""
    return analyze_experience(study, bootstrap=0, permutations=0).warnings


def _findings(
    study: Study,
    settings: ExperienceSettings,
    cells: RankCells | None,
    alone: Averages,
    pooled: ExpectedRanks | None,
    machines: MachineUse | None,
    on_panel: PanelPlacement | None,
) -> ExperienceFindings:
    # What machine judges add is in the averages, and in what is made of averages of some cells.
    # What ranks are looked at again for is of the experts' alone.
    steered = machines.applied(cells) if machines and cells else cells
    helped = steered is not cells
    averages = average_cells(steered, alone.experience) if steered and helped else alone
    x, y = averages.fitted()
    _refuse_flat(study, x, y)
    systems = [averages.solvers[i] for i in averages.of_kind("system")]
    x_systems = averages.average[averages.of_kind("system")]
    forms = compare_forms(x, y, x_systems)
    name = choose_form(forms) if settings.form == "auto" else settings.form
    if message := refusal(FORMS[name], x, x_systems):
        raise QuemError(_wrong_setting(study, settings, "form", message))
    function = forms[name].function if name in forms else fit(FORMS[name], x, y)
    level, seed = settings.level, settings.seed
    whole = tabulate(cells) if cells and not cells.is_large and not cells.is_blocked else None
    worths = fit_worths(whole.ranks[np.newaxis]) if whole and systems else None
    by_model: dict[str, ModelEstimate] = {}
    profile_of: dict[str, Profile] = {}
    undefined = _undefined(settings, name, len(x), cells)
    if undefined and settings.interval == "hierarchical":
        raise QuemError(_wrong_setting(study, settings, "interval", undefined))
    if cells and whole and worths:
        profile_of = profiles(cells, whole, worths.information[0])
        if not undefined:
            columns = np.flatnonzero(cells.of_kind("system")[whole.solvers])
            years_of = averages.experience[whole.solvers]
            of_systems = model_estimates(whole, worths, years_of, columns, level)
            names = [cells.solvers[whole.solvers[column]] for column in columns]
            by_model = dict(zip(names, of_systems, strict=True))
    jagged = {system: profile.widening for system, profile in profile_of.items()}
    wanted: dict[str, Any] = {"level": level, "at_least": settings.at_least}
    of_experts = fit(function.form, *alone.fitted()) if helped else function
    by_experts = [
        replace(
            estimate_system(
                system,
                of_experts,
                alone,
                **wanted,
                jagged=jagged.get(system, 0.0),
                added=on_panel.added(system) if on_panel else None,
            ),
            model=by_model.get(system),
        )
        for system in systems
    ]
    estimates = by_experts
    if machines and helped:
        estimates = [
            replace(
                _with_machines(one, function, averages, machines, jagged, wanted),
                model=one.model,
                alone=one,
            )
            for one in by_experts
        ]
    years = {estimate.system: estimate.experience for estimate in estimates}
    experience = averages.experience
    without = {what: dict(pools_without(pooled, what)) if pooled else {} for what in _PARTS}
    args = (averages, function, years, level)
    left_out = {
        what: ()
        if not cells
        else tuple(leave_out_pooled(what, cells, without[what], *args))
        if pooled
        else tuple(leave_out_cells(what, steered or cells, *args))
        for what in _PARTS
    }
    orders = orders_in_common(cells) if cells and whole else None
    agreement = (
        judge_agreement(cells, orders, permutations=settings.permutations, seed=seed)
        if cells and orders
        else None
    )
    fits: list[JudgeFit] = []
    if cells and orders:
        turned = (cells, alone, function.form, by_experts, settings)
        fits = [
            replace(fit, turned=with_judge_turned(fit.judge, *turned)) if fit.is_reversed else fit
            for fit in judge_fits(cells, orders.common, experience)
        ]
    # Both take each cell's score, of which worths have none.
    averaged = cells if not pooled else None
    anova = factorial_anova(averaged, experience) if averaged else None
    return ExperienceFindings(
        study=study,
        settings=settings,
        cells=cells,
        averages=averages,
        function=function,
        forms=forms,
        p_value=function.p_value,
        permutation=permutation_test(x, y, permutations=settings.permutations, seed=seed),
        estimates=tuple(estimates),
        profiles=profile_of,
        judges=left_out["judge"],
        subjects=tuple(leave_out_subjects(averages, function, years, level)),
        problems=left_out["problem"],
        diagnostics=tuple(residuals(averages, function)),
        variants=tuple(
            vary(
                cells,
                experience,
                alone,
                of_experts,
                compare_forms(*alone.fitted(), x_systems) if helped else forms,
                by_experts,
                settings,
            )
        ),
        agreement=agreement,
        judge_fits=tuple(fits),
        anova=tuple(anova) if anova is not None else None,
        bootstrap=bootstrap(
            steered,
            experience,
            function.form,
            replicates=settings.bootstrap,
            level=level,
            seed=seed,
        )
        if steered and averaged and settings.bootstrap
        else None,
        recognized=leave_out_recognized(cells, alone, function.form, by_experts, settings)
        if cells
        else None,
        blinding=blinding_of(study.data, study.declared.solvers, seed=seed)
        if cells and isinstance(study.data, Rankings)
        else None,
        retest=retest_agreement(study.data, study.declared)
        if isinstance(study.data, Rankings)
        else None,
        pooled=pooled,
        worth_errors=standard_errors(pooled, without["problem"].values()) if pooled else None,
        worth_fit=fit_statistics(pooled) if pooled else None,
        answering=answering(cells, averages, study.data.answers, study.spec.judging.questions)
        if cells and isinstance(study.data, Rankings)
        else None,
        times=solving_times(study.spec.subjects, study.spec.problems, level),
        machines=machines,
        machine_quality=machine_quality(study, machines.runs) if machines else (),
        on_panel=on_panel,
    )


def _with_machines(
    alone: Estimate,
    function: SkillFunction,
    averages: Averages,
    machines: MachineUse,
    jagged: dict[str, float],
    wanted: dict[str, Any],
) -> Estimate:
    """Estimate a system by averages that machine judges steered.

    A system that varies much from problem to problem is jagged, or the machines are erratic on
    it; both are the same variance, so that the larger one counts.
    """
    erratic, own = machines.erratic[alone.system], jagged.get(alone.system, 0.0)
    if erratic.variance > own:
        added = Added(erratic.variance, erratic.df)
        return estimate_system(alone.system, function, averages, **wanted, added=added)
    return estimate_system(alone.system, function, averages, **wanted, jagged=own)


def _undefined(
    settings: ExperienceSettings, form: str, n_subjects: int, cells: RankCells | None
) -> str:
    """Say why the model of persons, problems, and judges is not defined; empty where it is."""
    reason = ""
    if cells is None:
        reason = "needs the ranks, and this study has only their averages"
    elif cells.is_blocked:
        reason = "needs ranks of whole groups, and some were judged in blocks"
    elif cells.is_large:
        reason = "would take too much memory in a study of this size"
    elif form != "linear":
        reason = f"needs the form linear, and it is {form}"
    elif settings.score != "rank":
        reason = f"needs the score rank, and it is {settings.score}"
    elif n_subjects < FEWEST_SUBJECTS:
        reason = f"needs {FEWEST_SUBJECTS} subjects with ranks, and there are {n_subjects}"
    return f"hierarchical {reason}; choose another interval" if reason else ""


def _suited_to_blocks(
    study: Study, settings: ExperienceSettings, cells: RankCells
) -> ExperienceSettings:
    """Pool worths where ranks of different blocks cannot be averaged."""
    if settings.score == "pl" or not cells.is_blocked:
        return settings
    for key in ("score", "normalize"):
        if getattr(settings, key) not in ("rank", "none"):
            raise QuemError(
                _wrong_setting(
                    study,
                    settings,
                    key,
                    "needs ranks of whole groups, and some were judged in blocks; leave it out",
                )
            )
    return settings.model_copy(update={"score": "pl"})


def _pool(study: Study, cells: RankCells) -> ExpectedRanks:
    """Fit worths, where the rankings put all solvers on one scale."""
    pooled = pool(cells)
    if pooled.is_connected:
        return pooled
    parts = "; ".join(
        f"({join_words(cells.solvers[solver] for solver in part)})"
        for part in pooled.connection.parts
    )
    raise QuemError(
        study.mistake(
            ("rankings",),
            (
                "the solvers fall into parts that were never compared with each other: "
                f"{parts}; let a "
                "judge rank solutions of different parts together, or analyze each part as a "
                "separate "
                "study"
            ),
        )
    )


def _on_panel(study: Study, panel: ReferencePanel, settings: ExperienceSettings) -> PanelPlacement:
    """Place the systems of a study on its panel, where the settings allow it."""
    plain = ExperienceSettings()
    mistakes = [
        _wrong_setting(study, settings, key, "needs the ranks of all people; leave it out")
        for key in ("score", "normalize", "reference")
        if getattr(settings, key) != getattr(plain, key)
    ]
    if mistakes:
        raise QuemError(mistakes)
    data, source = study.data, study.spec.panel
    assert isinstance(data, Rankings)  # noqa: S101  loading refuses the others
    assert source is not None  # noqa: S101  there is a panel
    placement = place_on_panel(panel, data, study.declared, source.anchors)
    if not placement.problems:
        raise QuemError(
            study.mistake(
                ("rankings",),
                "no judge has ranked a system with its anchors yet, on a problem with all systems",
            )
        )
    return placement


def _wrong_setting(study: Study, settings: ExperienceSettings, key: str, message: str) -> Mistake:
    """A setting that does not suit the study: in the study file, or as the caller gave it."""
    if getattr(settings, key) != getattr(study.spec.analysis, key):
        return Mistake("", key=key, message=message)
    return study.mistake(("analysis", key), message)


def _experience(study: Study) -> NDArray[np.float64]:
    known = {subject.id: subject.experience for subject in study.spec.subjects}
    return np.array([known.get(solver, np.nan) for solver in study.data.solvers])


def _printed(data: PrintedAverages, study: Study, experience: NDArray[np.float64]) -> Averages:
    kinds = tuple(study.declared.solvers[solver] for solver in data.solvers)
    none = np.empty((0, len(kinds)))
    no_cells = Incidence(none.astype(np.int64), none.astype(np.int64))
    return Averages(data.solvers, kinds, experience, data.average, no_cells, none)


def _refuse_for_averages(study: Study, settings: ExperienceSettings) -> None:
    """Scores other than the printed ones need the ranks."""
    plain = ExperienceSettings()
    message = "needs the ranks, and this study has only their averages; leave it out"
    mistakes = [
        _wrong_setting(study, settings, key, message)
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
        raise QuemError(
            study.mistake(
                ("rankings",),
                (
                    f"all subjects have the same {same}, so no line can be fitted; "
                    "check the ranks, or add judges and problems"
                ),
            )
        )
