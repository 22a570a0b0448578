"""Years of the versions of a study that only a machine judge has ranked; see `machines.track`."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.experience.analysis import analyze_experience
from quem.experience.machines import last_ranking, unsent_images, unusable
from quem.experience.wording import gate_reason
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

_DRIFTED = 0.01
_MANY, _LONG_DAYS = 4, 180
_WIDE = 2.0
_REMEDY = "have experts rank this version"


@dataclass(frozen=True)
class Version:
    """One version, by experts or by the machine."""

    system: System
    estimate: Estimate | None = None  # by the experts alone; None where they have not ranked it
    # By the machine, where experts have not ranked it and nothing speaks against it.
    tracked: Tracked | None = None
    refused: str = ""  # why the machine gives no years; empty where it does
    # Of a version that both ranked, how many years more it has by the machine's line than by that
    # of experts; else NaN.
    generous: float = float("nan")


@dataclass(frozen=True)
class Saying:
    """What was said of a version before experts ranked it."""

    system: str
    judge: str
    run: int
    said_on: str
    # NaN where there was a bound alone
    years: float
    low: float
    high: float
    bound: float  # NaN where there was an interval


@dataclass(frozen=True)
class TrackFindings:
    """Versions of a system over time, by experts and between their sessions."""

    study: Study
    run: Run
    of: str  # the name that the versions share; the id of a version that names none
    versions: tuple[Version, ...]  # by date, if all have one, else in the order of the study file
    calibrated: tuple[str, ...]  # those that experts and the machine ranked
    generous: float
    spread: float
    said: tuple[Saying, ...]  # of versions that experts ranked later
    level: float
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def tracked(self) -> tuple[Version, ...]:
        """Those that the machine alone ranked, with years or a reason why not."""
        return tuple(one for one in self.versions if one.estimate is None)


def track_versions(study: Study, judge: str, of: str | None = None) -> TrackFindings:
    """Give years to the versions that a machine judge alone has ranked."""
    run = last_ranking((study.machines or {}).get(judge, []))
    if run is None:
        raise QuemError(
            [
                Mistake(
                    study.name,
                    key="machines",
                    message=f"{judge} has ranked nothing yet; run `quem judge`",
                )
            ]
        )
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
        raise QuemError(
            [
                Mistake(
                    study.name,
                    key="systems",
                    message=(
                        f"{judge} ranked no system that experts have not ranked; add a version to "
                        "the study "
                        "file, and run `quem judge`"
                    ),
                )
            ]
        )
    of = _chosen(study, new, of)
    new = [system for system in new if _shared(system) == of]
    family = [system for system in study.spec.systems if _shared(system) == of]
    calibrated = [
        system
        for system in family
        if system.id in ranked and np.isfinite(by_machine.get(system.id, np.nan))
    ]
    # Located among the people alone, so that versions do not move each other.
    alone = replace(study, machines=None)
    years = analyze_experience(alone, reference="humans", bootstrap=0, permutations=0).findings
    if not years.gate.passed:
        raise QuemError(
            [
                Mistake(
                    study.name,
                    key="rankings",
                    message=f"the experts' rankings allow no years: {gate_reason(years)}",
                )
            ]
        )
    estimates = {estimate.system: estimate for estimate in years.estimates}
    lines = _lines(study, experts.solvers, by_experts, by_machine)
    reason = _reason(study, run, experts, lines, calibrated, of)
    level = study.spec.analysis.level
    at = dict(zip(experts.solvers, by_experts, strict=True))
    pairs = (
        np.array([at[system.id] for system in calibrated]),
        np.array([by_machine[system.id] for system in calibrated]),
    )
    differences = lines[0].years(pairs[0]) - lines[1].years(pairs[1])
    too_many = {s.id: -float(d) for s, d in zip(calibrated, differences, strict=True)}
    partly = _partly(machine, calibrated, new)
    versions = [
        Version(system, estimates[system.id], generous=too_many.get(system.id, np.nan))
        if system.id in estimates
        else _version(
            system,
            calibrated,
            lines,
            pairs,
            by_machine[system.id],
            reason or partly.get(system.id, ""),
            level,
        )
        for system in family
        if system.id in estimates or system in new
    ]
    if all(version.system.date for version in versions):
        versions.sort(key=lambda version: version.system.date or dt.date.min)
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


def _shared(system: System) -> str:
    return system.of or system.id


def _chosen(study: Study, new: list[System], of: str | None) -> str:
    """Give the name whose new versions are tracked."""
    names = list(dict.fromkeys(_shared(system) for system in new))
    if of in names:
        return str(of)
    if of is None and len(names) == 1:
        return names[0]
    each = join_words(names)
    message = f"there are new versions of {each}; name one by --of"
    if of is not None:
        message = f"there is no new version of {of!r}, but of {each}"
    raise QuemError([Mistake(study.name, key="systems", message=message)])


def _partly(machine: Ranked, calibrated: list[System], new: list[System]) -> dict[str, str]:
    """Say of which new versions the machine ranked other problems than of the calibrated ones."""
    known = np.isfinite(machine.means)

    def ranked(systems: list[System]) -> set[str]:
        at = [machine.solvers.index(system.id) for system in systems]
        return {machine.problems[p] for p in np.flatnonzero(known[:, at].any(axis=1))}

    wanted = ranked(calibrated)
    return {
        system.id: f"the machine judge ranked it on {join_words(sorted(own))}, and the calibrated "
        f"versions on {format_count(len(wanted), 'problem')}"
        for system in new
        if (own := ranked([system])) != wanted
    }


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
        raise QuemError(
            [
                Mistake(
                    study.name,
                    key="subjects",
                    message="experts and the machine judge ranked fewer than 3 people in common",
                )
            ]
        )
    h, m, y = np.array(rows).T
    return line_of(h, y), line_of(m, y)


def _reason(
    study: Study,
    run: Run,
    experts: Ranked,
    lines: tuple[Line, Line],
    calibrated: list[System],
    of: str,
) -> str:
    """Say why the machine can give no version years; empty where it can."""
    if why := unusable(run):
        return f"{run.judge} cannot be used: {why}"
    if run.blocked:
        return f"{run.judge} ranked blocks, whose ranks cannot be compared"
    if len(calibrated) < FEWEST:
        return (
            f"experts and {run.judge} both ranked {format_count(len(calibrated), 'version')} of "
            f"{of}, and {FEWEST} are needed"
        )
    if len(_services(run)) > 1:
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
    others = [
        what
        for what, was, now in (
            ("model", before.declared_model, run.declared_model),
            ("service", _services(before), _services(run)),
            ("prompt", before.prompt, run.prompt),
            ("temperature", before.temperature, run.temperature),
            ("number of repeats", before.repeats, run.repeats),
        )
        if was != now
    ]
    if others:
        return f"{run.judge} has another {join_words(others)} than in run {before.number}"
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


def _services(run: Run) -> set[tuple[str, str]]:
    """Name who answered, as the service says."""
    return {(call.model, call.fingerprint) for call in run.made if call.status == "ok"}


def _earlier(study: Study, run: Run) -> Run | None:
    """Give the last run before this one, of the same kind."""
    runs = [one for one in (study.machines or {}).get(run.judge, []) if one.kind == "rank"]
    earlier = [one for one in runs if one.number < run.number]
    return earlier[-1] if earlier else None


def _version(
    system: System,
    calibrated: list[System],
    lines: tuple[Line, Line],
    pairs: tuple[Floats, Floats],
    own: float,
    reason: str,
    level: float,
) -> Version:
    """Give years to a version with an average by the machine, or say why not."""
    for key in ("family", "architecture"):
        if not reason and {getattr(one, key) for one in calibrated} != {getattr(system, key)}:
            reason = f"it is of another {key} than the versions that experts ranked"
    if reason:
        return Version(system, refused=f"{reason}; {_REMEDY}")
    tracked = track(*lines, pairs, own, level=level)
    if tracked.side == "below":
        reason = "it is below what the machine was calibrated on"
        return Version(system, refused=f"{reason}; {_REMEDY}")
    return Version(system, tracked=tracked)


def _warnings(findings: TrackFindings) -> Iterator[StudyWarning]:
    if unsent := unsent_images(findings.run):
        yield StudyWarning("machine-without-images", unsent)
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
    except (OSError, UnicodeDecodeError) as error:
        raise QuemError(
            [Mistake(str(_file(study)), message=f"cannot be read: {error}; move it away")]
        ) from None
    said = []
    for number, line in enumerate(lines, 1):
        try:
            said.append(Saying(**{k: _from_json(v) for k, v in json.loads(line).items()}))
        except (ValueError, TypeError):
            raise QuemError(
                [
                    Mistake(
                        str(_file(study)),
                        line=number,
                        message="was not written by `quem track`; delete the line, or the file",
                    )
                ]
            ) from None
    return said


def _from_json(value: Any) -> Any:  # noqa: ANN401  JSON
    return float("nan") if value is None else value


def note_sayings(findings: TrackFindings) -> None:
    """Keep what is said of versions, so that it can be compared with what experts find later."""
    last = {(one.system, one.judge, one.run): one for one in _sayings(findings.study)}
    run, today, lines = findings.run, f"{dt.datetime.now(dt.UTC):%Y-%m-%d}", []
    for version in findings.tracked:
        if version.tracked is None:
            continue
        saying = _saying(version.system.id, version.tracked, run, today)
        before = last.get((saying.system, saying.judge, saying.run))
        # The same run says something else where experts have ranked more since.
        if before is None or not _is_same(before, saying):
            lines.append(json.dumps({k: _to_json(v) for k, v in asdict(saying).items()}))
    if lines:
        path = _file(findings.study)
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        except OSError as error:
            raise QuemError(
                [
                    Mistake(
                        str(path),
                        message=(
                            f"cannot be written: {error.strerror}; what is said now would not "
                            "be kept"
                        ),
                    )
                ]
            ) from None


def _saying(system: str, tracked: Tracked, run: Run, today: str) -> Saying:
    none = float("nan")
    if tracked.side == "inside":
        return Saying(
            system, run.judge, run.number, today, tracked.years, *tracked.interval, bound=none
        )
    return Saying(system, run.judge, run.number, today, none, none, none, tracked.bound)


def _is_same(one: Saying, other: Saying) -> bool:
    now, then = ([of.years, of.low, of.high, of.bound] for of in (one, other))
    return bool(np.allclose(now, then, equal_nan=True))


def _to_json(value: Any) -> Any:  # noqa: ANN401  JSON
    return None if isinstance(value, float) and np.isnan(value) else value
