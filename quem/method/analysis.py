"""The QUEM method from rankings to a result: one module per step, composed here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError
from quem.method.agreement import agreement
from quem.method.averages import Averages, average_cells
from quem.method.cells import judged_cells
from quem.method.core import Core, SystemEstimate, inside, round_years
from quem.method.line import fit_line, refusal
from quem.method.reference import (
    Population,
    calibrated,
    default_population,
    fit_people,
    posterior,
    read_posterior,
)
from quem.method.rests import left_out, rests_on
from quem.method.variances import Variance, Variation, variations
from quem.rankings import PrintedAverages
from quem.studyfile.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from quem.method.cells import RankCells
    from quem.method.part import Part
    from quem.method.reference import Reference
    from quem.method.rests import Rest
    from quem.rankings.loading import Study
    from quem.studyfile import ExperienceSettings

    Floats = NDArray[np.float64]


def analyze(study: Study, parts: Sequence[Part[Any]], **settings: object) -> Core:
    """Run the method on a study, with the changes that parts make."""
    used = changed_settings(study.spec.analysis, settings)
    cells, averages, again = ranked(study, used, parts)
    x, y = fitted(averages)
    refuse_flat(study, x, y)
    systems = averages.of_kind("system")
    if message := refusal(used.form, x, averages.rank[systems]):
        raise QuemError(_wrong_setting(study, used, "form", message))
    is_default = "at_least" not in study.spec.analysis.model_fields_set | settings.keys()
    if is_default and study.spec.experience_unit == "years":
        used = used.model_copy(update={"at_least": round_years(y)})
    line = fit_line(x, y, used.form)
    years = calibrated(y, used.years_error)
    population = _population(used, y)
    people = fit_people(averages.z[averages.of_kind("subject")], years)
    agreed = agreement(cells, averages.years) if cells else None
    core = Core(study, used, cells, averages, line, people, population, agreed, again)
    more = [part.vary(study, used, cells, averages) for part in parts]
    own = {system: of for part in parts for system, of in part.own(averages).items()}
    varied = {
        system: replace(
            of,
            own=own.get(system, of.own),
            more=tuple(each[system] for each in more if system in each),
        )
        for system, of in variations(cells, averages).items()
    }
    left = tuple(left_out(averages, used.form, cells, again))
    moved = rests_on(averages, used.form, left)
    estimates = tuple(
        _estimate(core, int(k), varied[averages.solvers[k]], moved[averages.solvers[k]])
        for k in systems
    )
    return replace(core, estimates=estimates, left_out=left)


def ranked(
    study: Study, settings: ExperienceSettings, parts: Sequence[Part[Any]]
) -> tuple[RankCells | None, Averages, Callable[[RankCells], Averages] | None]:
    """Steps 3 to 5: the cells, their averages, and a function that recomputes these."""
    known = {one.id: one.experience for one in study.spec.subjects}
    if isinstance(study.data, PrintedAverages):
        return None, _printed(study, known), None
    cells: RankCells | None = judged_cells(study.data, study.declared)
    for part in parts:
        cells = part.adjust(study, settings, cells) if cells else None
    for part in parts:
        averages = part.average(study, settings, cells)
        if averages is not None:
            return cells, averages, _again(part, study, settings, averages)
    assert cells is not None  # noqa: S101  a part without cells has averages
    years = np.array([known.get(solver, np.nan) for solver in cells.solvers])
    return cells, average_cells(cells, years), None


def _again(
    part: Part[Any], study: Study, settings: ExperienceSettings, whole: Averages
) -> Callable[[RankCells], Averages]:
    def again(kept: RankCells) -> Averages:
        averages = part.average(study, settings, kept, whole)
        assert averages is not None  # noqa: S101  as of all cells
        return averages

    return again


def fitted(averages: Averages) -> tuple[Floats, Floats]:
    """Average rank and years of the subjects, to whom the line is fitted."""
    subjects = averages.of_kind("subject")
    return averages.rank[subjects], averages.years[subjects]


def _population(settings: ExperienceSettings, years: Floats) -> Population:
    declared = settings.reference_population
    if declared is None:
        return default_population(years)
    share = np.asarray(declared.share or np.diff(declared.years), dtype=np.float64)
    return Population(declared.years, tuple((share / share.sum()).tolist()))


def _estimate(core: Core, at: int, variation: Variation, moved: list[Rest]) -> SystemEstimate:
    """Both estimates of a system, and which one leads."""
    averages, settings, line = core.averages, core.settings, core.line
    rank, weight = float(averages.rank[at]), float(averages.weight[at])
    experience = float(line.predict(np.array([rank]))[0])
    interval, mean_interval = line.intervals(rank, settings.level)
    added, error = (Variance(of.value / weight, of.df) for of in (variation.added, variation.error))
    of = posterior(core.people, float(averages.z[at]), core.population, added)
    reference = read_posterior(
        of,
        core.population,
        slope=core.people.slope,
        level=settings.level,
        at_least=settings.at_least,
    )
    is_inside = inside(line, rank, experience)
    may_lead = line.holds and is_inside and not variation.is_uneven
    solver = averages.solvers[at]
    return SystemEstimate(
        system=solver,
        name=core.name_of(solver),
        at=at,
        rank=rank,
        experience=experience,
        interval=interval,
        mean_interval=mean_interval,
        inside=is_inside,
        reference=reference,
        posterior=of,
        variation=variation,
        added=added,
        error=error,
        rests_on=tuple(moved),
        leads=leading(core.population, reference, may_lead=may_lead),
    )


def leading(population: Population, reference: Reference, *, may_lead: bool) -> Any:  # noqa: ANN401
    """The estimate stated first; `may_lead`: whether the paper's may be."""
    if may_lead and not population.declared:
        return "paper"
    return "reference" if reference.says else None


def _printed(study: Study, known: dict[str, float]) -> Averages:
    """Averages computed elsewhere, of groups of all solvers."""
    data = study.data
    assert isinstance(data, PrintedAverages)  # noqa: S101  the caller looked
    kinds = tuple(study.declared.solvers[solver] for solver in data.solvers)
    years = np.array([known.get(solver, np.nan) for solver in data.solvers])
    rank = np.where(np.array(kinds) == "withheld", np.nan, data.average)
    size = max(len(data.solvers), int(np.ceil(np.nanmax(rank))))
    place = (np.clip(rank, 1, size) - 0.5) / size
    return Averages(data.solvers, kinds, years, rank, place, np.zeros(len(rank), dtype=np.int64))


def _wrong_setting(study: Study, settings: ExperienceSettings, key: str, message: str) -> Mistake:
    """Locate an error in the study file, if the setting is from there."""
    if getattr(settings, key) == getattr(study.spec.analysis, key):
        return study.mistake(("analysis", key), message)
    return Mistake("", key=key, message=message)


def refuse_flat(study: Study, x: Floats, y: Floats) -> None:
    """Refuse subjects without variance, through whom no line can be fitted."""
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
        raise QuemError(study.mistake(("rankings",), message))
