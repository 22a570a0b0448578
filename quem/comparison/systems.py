"""The systems of the compared studies, in years of one reference population."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from quem.comparison.result import SystemRow
from quem.errors import Mistake, refuse
from quem.io.text import nearest, shown
from quem.method.reference import default_population, posterior, read_posterior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.method.core import Core, SystemEstimate
    from quem.method.reference import Population, Reference
    from quem.method.variances import Variance
    from quem.rankings.loading import Study


class Trial(NamedTuple):
    """The basis of a difference within one study."""

    name: str
    core: Core
    z: float  # mean position on the scale of the fitted line
    error: Variance  # variance of z, of a typical system
    reference: Reference  # its years, as those of a subject of the population


class Measured(NamedTuple):
    """A system as one study measured it."""

    study: int  # which of the compared studies, from 0
    of: SystemEstimate
    trial: Trial
    row: SystemRow


def for_all(cores: Sequence[Core]) -> tuple[Core, ...]:
    """The studies, each for its declared population.

    All others share one, up to 1.5 times the experience of the most experienced subject.
    """
    common = default_population(*(core.line.y for core in cores))
    return tuple(core if core.population.declared else _read(core, common) for core in cores)


def _read(core: Core, population: Population) -> Core:
    estimates = []
    for of in core.estimates:
        found = posterior(core.people, float(core.averages.z[of.at]), population, of.added)
        slope, level = core.people.slope, core.settings.level
        reference = read_posterior(found, population, slope=slope, level=level)
        estimates.append(replace(of, reference=reference, posterior=found))
    return replace(core, population=population, estimates=tuple(estimates))


def measured(cores: Sequence[Core]) -> list[Measured]:
    """All systems that have ranks, versions of one side by side."""
    names = [of.name for core in cores for of in core.estimates]
    systems = []
    for at, core in enumerate(cores):
        study, declared = core.study.spec.id, {one.id: one for one in core.study.spec.systems}
        for of in core.estimates:
            name, own, reference = of.name, declared[of.system], of.reference
            if names.count(name) > 1:
                name += f" ({study if len(cores) > 1 else of.system})"
            row = SystemRow(
                name=name,
                study=study,
                system=of.system,
                of=own.of or own.id,
                date=str(own.date or ""),
                experience=reference.experience if reference.says and not reference.open else None,
                interval=reference.interval if reference.says else (None, None),
            )
            trial = Trial(name, core, float(core.averages.z[of.at]), of.error, reference)
            systems.append(Measured(at, of, trial, row))
    return [one for family in families(systems).values() for one in family]


def families(systems: Sequence[Measured]) -> dict[str, list[Measured]]:
    """The versions of each system, by date if all have one, else in file order."""
    found: dict[str, list[Measured]] = {}
    for one in systems:
        found.setdefault(one.row.of, []).append(one)
    for family in found.values():
        if all(one.row.date for one in family):
            family.sort(key=lambda one: one.row.date)
    return found


def dated(systems: Sequence[Measured]) -> dict[str, list[Measured]]:
    """The systems with several versions that have dates and years, by base name."""
    known = [one for one in systems if one.row.date and one.of.reference.says]
    return {of: family for of, family in families(known).items() if len(family) > 1}


def chosen(
    systems: Sequence[Measured], names: Sequence[str], studies: Sequence[Study]
) -> list[Measured]:
    """The systems with some ids or base names; all if none are named."""
    if not names:
        return list(systems)
    found: set[int] = set()
    mistakes = []
    for name in dict.fromkeys(names):
        matches = [at for at, one in enumerate(systems) if one.of.system == name]
        matches = matches or [at for at, one in enumerate(systems) if one.row.of == name]
        found.update(matches)
        if not matches:
            message = _unknown(name, systems, studies)
            mistakes.append(Mistake("", key="systems", message=message))
    refuse(mistakes)
    return [systems[at] for at in sorted(found)]


def _unknown(name: str, systems: Sequence[Measured], studies: Sequence[Study]) -> str:
    where = " or ".join(study.name for study in studies)
    if any(system.id == name for study in studies for system in study.spec.systems):
        return f"{shown(name)} has no ranks in {where}; leave it out, or add them"
    known = [word for one in systems for word in (one.of.system, one.row.of)]
    hint = nearest(name, known) or f"; there are: {', '.join(dict.fromkeys(known)) or 'none'}"
    return f"there is no system {shown(name)} in {where}{hint}"
