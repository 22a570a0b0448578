"""Years of the versions of a study that only a machine judge has ranked; see `machines.track`."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.experience.analysis import analyze_experience
from quem.experience.machines import last_ranking
from quem.machines import audit
from quem.machines.panel import expert_ranks, ranked_by
from quem.machines.track import FEWEST, line_of, track
from quem.study.runs import FOLDER
from quem.wording import format_count, format_p, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate
    from quem.experience.loading import Study
    from quem.machines.panel import Ranked
    from quem.machines.track import Line, Tracked
    from quem.study.models import System
    from quem.study.runs import Run

    Floats = NDArray[np.float64]

__all__ = ["Saying", "TrackFindings", "Version", "note_sayings", "track_versions"]

_DRIFTED = 0.01
_MANY, _LONG_DAYS = 4, 180
_WIDE = 2.0
_REMEDY = "have experts rank this version"


@dataclass(frozen=True)
class Version:
    """One version, by experts or by the machine.

    Parameters
    ----------
    estimate : Estimate or None
        By the experts alone; None where they have not ranked it.
    tracked : Tracked or None
        By the machine, where experts have not ranked it and nothing speaks against it.
    refused : str
        Why the machine gives no years; empty where it does.
    """

    system: System
    estimate: Estimate | None = None
    tracked: Tracked | None = None
    refused: str = ""


@dataclass(frozen=True)
class Saying:
    """What was said of a version before experts ranked it.

    Parameters
    ----------
    years, low, high : float
        NaN where there was a bound alone.
    bound : float
        NaN where there was an interval.
    """

    system: str
    judge: str
    run: int
    said_on: str
    years: float
    low: float
    high: float
    bound: float


@dataclass(frozen=True)
class TrackFindings:
    """Versions of a system over time, by experts and between their sessions.

    Parameters
    ----------
    of : str
        The name that the versions share; empty where all systems are taken for versions.
    versions : tuple of Version
        By date, if all have one, else in the order of the study file.
    calibrated : tuple of str
        Those that experts and the machine ranked.
    said : tuple of Saying
        Of versions that experts ranked later.
    level : float
    """

    study: Study
    run: Run
    of: str
    versions: tuple[Version, ...]
    calibrated: tuple[str, ...]
    generous: float
    spread: float
    said: tuple[Saying, ...]
    level: float
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def tracked(self) -> tuple[Version, ...]:
        """Those that the machine alone ranked, with years or a reason why not."""
        return tuple(one for one in self.versions if one.estimate is None)


def track_versions(study: Study, judge: str) -> TrackFindings:
    """Give years to the versions that a machine judge alone has ranked.

    Parameters
    ----------
    study : Study
        Its systems that experts ranked calibrate the machine; the others are tracked.

    Raises
    ------
    QuemError
        The machine has no run, or ranked no version that experts did not rank.
    """
    run = last_ranking((study.machines or {}).get(judge, []))
    if run is None:
        message = f"{judge} has ranked nothing yet; run `quem judge`"
        raise QuemError([Mistake(study.name, key="machines", message=message)])
    experts = expert_ranks(study, "humans")
    by_experts = _averages(experts.means)
    ranked = {s for s, x in zip(experts.solvers, by_experts, strict=True) if np.isfinite(x)}
    everybody = frozenset(solver for solvers in run.digests.values() for solver in solvers)
    everybody |= frozenset(solver for call in run.calls for solver in call.order)
    machine = ranked_by(run, study, everybody | frozenset(ranked), "humans")
    by_machine = dict(zip(machine.solvers, _averages(machine.means), strict=True))
    new = [
        system
        for system in study.spec.systems
        if system.id not in ranked and np.isfinite(by_machine.get(system.id, np.nan))
    ]
    if not new:
        message = (
            f"{judge} ranked no system that experts have not ranked; add a version to the study "
            "file, and run `quem judge`"
        )
        raise QuemError([Mistake(study.name, key="systems", message=message)])
    of = new[-1].of
    family = [system for system in study.spec.systems if system.of == of]
    calibrated = [
        system
        for system in family
        if system.id in ranked and np.isfinite(by_machine.get(system.id, np.nan))
    ]
    lines = _lines(study, experts.solvers, by_experts, by_machine)
    reason = _reason(study, run, experts, lines, calibrated)
    # Located among the people alone, so that versions do not move each other.
    alone = replace(study, machines=None)
    years = analyze_experience(alone, reference="humans", bootstrap=0, permutations=0)
    estimates = {estimate.system: estimate for estimate in years.findings.estimates}
    level = study.spec.analysis.level
    at = dict(zip(experts.solvers, by_experts, strict=True))
    pairs = (
        np.array([at[system.id] for system in calibrated]),
        np.array([by_machine[system.id] for system in calibrated]),
    )
    versions = [
        _version(system, estimates, calibrated, lines, pairs, by_machine, reason, level)
        for system in family
        if system.id in ranked or system in new
    ]
    if all(version.system.date for version in versions):
        versions.sort(key=lambda version: version.system.date or dt.date.min)
    differences = lines[0].years(pairs[0]) - lines[1].years(pairs[1])
    findings = TrackFindings(
        study,
        run,
        of,
        tuple(versions),
        tuple(system.id for system in calibrated),
        -float(differences.mean()) if len(differences) else np.nan,
        float(differences.std(ddof=1)) if len(differences) > 1 else np.nan,
        tuple(one for one in _sayings(study) if one.system in estimates and one.judge == judge),
        level,
    )
    return replace(findings, warnings=tuple(_warnings(findings)))


def _averages(means: Floats) -> Floats:
    known = np.isfinite(means)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, means, 0.0).sum(axis=0) / known.sum(axis=0))


def _lines(
    study: Study, solvers: tuple[str, ...], by_experts: Floats, by_machine: dict[str, float]
) -> tuple[Line, Line]:
    """Fit the subjects' years on the experts' averages, and on the machine's."""
    years = {subject.id: subject.experience for subject in study.spec.subjects}
    rows = [
        (x, by_machine[solver], years[solver])
        for solver, x in zip(solvers, by_experts, strict=True)
        if solver in years and np.isfinite(x) and np.isfinite(by_machine.get(solver, np.nan))
    ]
    if len(rows) < FEWEST:
        message = "experts and the machine judge ranked fewer than 3 people in common"
        raise QuemError([Mistake(study.name, key="subjects", message=message)])
    h, m, y = np.array(rows).T
    return line_of(h, y), line_of(m, y)


def _reason(
    study: Study,
    run: Run,
    experts: Ranked,
    lines: tuple[Line, Line],
    calibrated: list[System],
) -> str:
    """Say why the machine can give no version years; empty where it can."""
    if len(calibrated) < FEWEST:
        return (
            f"experts and {run.judge} ranked {format_count(len(calibrated), 'version')} both, and "
            f"{FEWEST} are needed"
        )
    servers = {(call.model, call.fingerprint) for call in run.made if call.status == "ok"}
    if len(servers) > 1:
        return f"the service of {run.judge} changed in the middle of the run"
    if not lines[1].rises:
        return (
            f"by {run.judge} more experienced people are not clearly better "
            f"({format_p(lines[1].p)})"
        )
    before = _earlier(study, run)
    return _changed(study, run, before, experts) if before else ""


def _changed(study: Study, run: Run, before: Run, experts: Ranked) -> str:
    """Say what is not as it was in the run before; empty where nothing is."""
    if (before.prompt, before.temperature) != (run.prompt, run.temperature):
        return f"{run.judge} has another prompt or temperature than in run {before.number}"
    people = {subject.id for subject in study.spec.subjects}
    for problem, digests in before.digests.items():
        now = run.digests.get(problem, {})
        changed = [s for s in digests if s in people and s in now and digests[s] != now[s]]
        if changed:
            return f"the solution of {changed[0]} on {problem} is another one than before"
    among = frozenset(solver for call in before.calls for solver in call.order)
    old = ranked_by(before, study, among)
    new = ranked_by(run, study, among)
    both = np.flatnonzero(old.ranked & new.ranked & experts.ranked)
    drifted = audit.drift(old.ranks[:, both], new.ranks[:, both])
    if drifted.p < _DRIFTED:
        return f"{run.judge} judges otherwise than in run {before.number} ({format_p(drifted.p)})"
    return ""


def _earlier(study: Study, run: Run) -> Run | None:
    """Give the last run before this one, of the same kind."""
    runs = [one for one in (study.machines or {}).get(run.judge, []) if one.kind == "rank"]
    earlier = [one for one in runs if one.number < run.number]
    return earlier[-1] if earlier else None


def _version(
    system: System,
    estimates: dict[str, Estimate],
    calibrated: list[System],
    lines: tuple[Line, Line],
    pairs: tuple[Floats, Floats],
    by_machine: dict[str, float],
    reason: str,
    level: float,
) -> Version:
    if system.id in estimates:
        return Version(system, estimates[system.id])
    for key in ("family", "architecture"):
        own = getattr(system, key)
        others = {getattr(one, key) for one in calibrated}
        if not reason and others != {own}:
            reason = f"it is of another {key} than the versions that experts ranked"
    if reason:
        return Version(system, refused=f"{reason}; {_REMEDY}")
    tracked = track(*lines, pairs, by_machine[system.id], level=level)
    if tracked.side == "below":
        return Version(
            system,
            refused=f"it is below what the machine was calibrated on; {_REMEDY}",
        )
    return Version(system, tracked=tracked)


def _warnings(findings: TrackFindings) -> Iterator[StudyWarning]:
    given = [one for one in findings.tracked if one.tracked]
    if not given:
        return
    if len(findings.calibrated) == FEWEST:
        message = (
            f"years are based on {FEWEST} versions that experts ranked too; with more the interval "
            "is narrower"
        )
        yield StudyWarning("few-calibrations", message)
    ranked = [v.system.date for v in findings.versions if v.estimate and v.system.date]
    newest = [v.system.date for v in given if v.system.date]
    days = (max(newest) - max(ranked)).days if ranked and newest else 0
    if len(given) > _MANY or days > _LONG_DAYS:
        since = f"{format_count(len(given), 'version')}"
        since += f" and {days} days" if days else ""
        message = f"{since} since the last version that experts ranked; {_REMEDY}"
        yield StudyWarning("calibration-old", message)
    wide = [
        one.system.id
        for one in given
        if one.tracked
        and np.diff(one.tracked.interval)[0] / 2 > _WIDE * one.tracked.half_of_experts
    ]
    if wide:
        message = (
            f"the interval of {join_words(wide)} is more than twice as wide as experts would give; "
            "what the machine judge likes changes from version to version"
        )
        yield StudyWarning("liking-unsteady", message)


def _file(study: Study) -> Path:
    return study.path.parent / FOLDER / "track.jsonl"


def _sayings(study: Study) -> list[Saying]:
    """Read what was said before."""
    try:
        lines = _file(study).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    said = []
    for number, line in enumerate(lines, 1):
        try:
            said.append(Saying(**{k: _from_json(v) for k, v in json.loads(line).items()}))
        except (ValueError, TypeError):
            message = "was not written by `quem track`; delete the line, or the file"
            raise QuemError([Mistake(str(_file(study)), line=number, message=message)]) from None
    return said


def _from_json(value: Any) -> Any:  # noqa: ANN401  JSON
    return float("nan") if value is None else value


def note_sayings(findings: TrackFindings) -> None:
    """Keep what is said of versions, so that it can be compared with what experts find later."""
    known = {(one.system, one.judge, one.run) for one in _sayings(findings.study)}
    run, lines = findings.run, []
    for version in findings.tracked:
        tracked = version.tracked
        if tracked is None or (version.system.id, run.judge, run.number) in known:
            continue
        inside = tracked.side == "inside"
        values = {
            "system": version.system.id,
            "judge": run.judge,
            "run": run.number,
            "said_on": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}",
            "years": tracked.years if inside else None,
            "low": tracked.interval[0] if inside else None,
            "high": tracked.interval[1] if inside else None,
            "bound": None if inside else tracked.bound,
        }
        lines.append(json.dumps(values))
    if lines:
        with _file(findings.study).open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
