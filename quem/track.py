r"""Years of versions that only a machine judge ranked, between sessions of experts.

Experts and the machine ranked V versions among the same subjects on the same problems, and the
machine alone the next one. With the subjects' lines :math:`Y_h` and :math:`Y_m` on the experts'
and the machine's averages,

.. math:: \delta_v = Y_h(h_v) - Y_m(m_v), \quad e = Y_m(m_{new}) + \bar\delta,

v_1 = s_h^2 \Bigl(1 + \frac1S + \frac{(x_e - \bar x)^2}{S_{xx}}\Bigr), \quad
    v_2 = s_\delta^2 \Bigl(1 + \frac1V\Bigr),

where :math:`x_e` is where the experts' line has e, and the interval :math:`e \pm t \sqrt{v_1 +
v_2}` has Satterthwaite's degrees of freedom, of S - 2 and V - 1. Wide intervals are never refused:
that would select intervals that are narrow by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from quem.errors import Mistake, QuemError
from quem.method.line import SIGNIFICANT, Line, fit_line
from quem.method.statement import line_trouble
from quem.parts import analyze_experience
from quem.parts.machine_quality import expert_ranks, run_ranks, servers, unusable
from quem.wording import (
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
    join_words,
    short,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.method.core import SystemEstimate
    from quem.rankings.loading import Study
    from quem.studyfile.models import System
    from quem.studyfile.runs import Run

    Floats = NDArray[np.float64]

# Versions and subjects. With 2 versions intervals cover 89 to 91% if bias differs.
_FEWEST = 3


class Tracked(NamedTuple):
    """Years by a machine judge, corrected for its bias."""

    years: float
    error: float
    df: float
    side: Literal["inside", "above", "below"]  # relative to calibrated versions and subjects

    def at_least(self, years: float) -> float:
        """The probability that a subject of that quality has at least this many years."""
        return float(stdtr(self.df, (self.years - years) / self.error))


class Version(NamedTuple):
    """The results on a version; a row of ``versions.csv``."""

    system: str
    version: str
    date: str
    by: Literal["experts", "machine", "nobody"]  # source of the years
    experience: float = np.nan  # NaN for a bound alone, and without years
    low: float = np.nan  # of its interval
    high: float = np.nan  # infinite for a lower bound
    refused: str = ""  # why there are no years


@dataclass(frozen=True)
class TrackFindings:
    """Versions of a system, ranked by experts and between their sessions."""

    study: Study
    run: Run
    of: str  # base name of the versions; the id of a version without one
    versions: tuple[Version, ...]  # by date if all have one, else in file order
    calibrated: tuple[str, ...]  # ranked by both
    differences: Floats  # of these, years by experts minus years by the machine, shape (V,)
    newest: tuple[str, Tracked | None]  # the last version without expert rankings


def track(experts: Line, machine: Line, versions: tuple[Floats, Floats], new: float) -> Tracked:
    """The years of a version from its average by the machine.

    Shapes: `versions` (V,) each, averages by experts and by the machine.
    """
    h, m = versions
    differences = experts.predict(h) - machine.predict(m)
    years = float(machine.predict(np.array([new]))[0] + differences.mean())
    intercept, slope = experts.coefficients
    off, n = experts.x - experts.x.mean(), len(h)
    at = (years - intercept) / slope - experts.x.mean()
    v1 = experts.residual_sd**2 * (1 + 1 / len(off) + at**2 / (off @ off))
    v2 = differences.var(ddof=1) * (1 + 1 / n)
    df = (v1 + v2) ** 2 / (v1**2 / experts.df + v2**2 / (n - 1))
    room = np.ptp(m) / 2
    above = new > m.max() + room or new >= machine.x.max() or years > experts.y.max()
    below = new < m.min() - room or years < experts.y.min()
    side: Literal["inside", "above", "below"] = "above" if above else "below" if below else "inside"
    return Tracked(years, float(np.sqrt(v1 + v2)), float(df), side)


def track_versions(study: Study, judge: str | None = None, of: str | None = None) -> TrackFindings:
    """The years of versions that only a machine judge ranked."""
    judge = _chosen(study, "machines", "--machine", [m.id for m in study.spec.machines], judge)
    runs = (study.machines or {}).get(judge)
    if not runs:
        raise _mistake(study, "machines", f"{judge} has ranked nothing yet; run `quem judge`")
    run, ranks = runs[-1], expert_ranks(study)
    if ranks is None:
        raise _mistake(study, "rankings", "versions are tracked by ranks of whole groups")
    # Placed among the subjects alone, so that versions do not affect each other.
    people = [one.id for one in study.spec.subjects if one.id in ranks]
    h = _among(ranks, people).groupby("problem").mean().mean()
    shown = frozenset(solver for call in run.calls for solver in call.order)
    by_problem = run_ranks(run, study.declared, shown | {*h.index})
    by_problem = _among(by_problem, people).groupby("problem").mean()
    m = by_problem.mean().dropna()
    new = [system for system in study.spec.systems if system.id not in h and system.id in m]
    if not new:
        what = "ranked no system that experts have not ranked; add a version, and run `quem judge`"
        raise _mistake(study, "systems", f"{judge} {what}")
    of = _chosen(study, "systems", "--of", [system.of or system.id for system in new], of)
    core = analyze_experience(replace(study, machines=None)).core
    if not core.line.holds:
        what = f"the experts' rankings allow no years: {line_trouble(core)}"
        raise _mistake(study, "rankings", what)
    years = {s.id: s.experience for s in study.spec.subjects if s.id in h and s.id in m}
    if len(years) < _FEWEST:
        what = f"experts and {judge} ranked fewer than {_FEWEST} people in common"
        raise _mistake(study, "subjects", what)
    y = np.array(list(years.values()))
    by_experts, by_machine = (fit_line(x[list(years)].to_numpy(), y) for x in (h, m))
    ranked = [system for system in study.spec.systems if system.id in h or system.id in m]
    family = [system for system in ranked if (system.of or system.id) == of]
    if all(system.date for system in family):
        family.sort(key=lambda system: str(system.date))
    calibrated = [system for system in family if system.id in h and system.id in m]
    names = [system.id for system in calibrated]
    pairs = h[names].to_numpy(), m[names].to_numpy()
    estimates = {estimate.system: estimate for estimate in core.estimates}
    versions: list[Version] = []
    newest: tuple[str, Tracked | None] = ("", None)
    for system in family:
        row = Version(system.id, system.version, str(system.date or ""), "experts")
        if system.id in estimates:
            versions.append(_by_experts(row, estimates[system.id]))
        elif system in new:
            reason = next(_reasons(run, of, by_machine, calibrated, system, by_problem), "")
            tracked = None if reason else track(by_experts, by_machine, pairs, m[system.id])
            versions.append(_by_machine(row, tracked, reason, study.spec.analysis.level))
            newest = system.id, tracked if versions[-1].by == "machine" else None
    differences = by_experts.predict(pairs[0]) - by_machine.predict(pairs[1])
    return TrackFindings(study, run, of, tuple(versions), tuple(names), differences, newest)


def _among(ranks: pd.DataFrame, people: Sequence[str]) -> pd.DataFrame:
    """Ranks among subjects: 1 + b for a subject above b of them, 1 + b(S - 1)/S for others."""
    known = ranks[list(people)]
    size = known.notna().sum(axis=1)
    located = {
        one: (known.lt(own, axis=0) + known.eq(own, axis=0) / 2).sum(axis=1) * (size - 1) / size
        for one, own in ranks.items()
    }
    return pd.DataFrame({**(1 + pd.DataFrame(located)), **known.rank(axis=1)}).where(ranks.notna())


def _by_experts(row: Version, of: SystemEstimate) -> Version:
    """The leading estimate of an analysis."""
    if of.leads is None:
        reason = "the experts' rankings do not narrow its years down"
        return row._replace(by="nobody", refused=reason)
    if of.leads == "paper":
        low, high = of.interval
        return row._replace(experience=of.experience, low=low, high=high)
    low, end = of.reference.interval
    if end is None:
        return row._replace(low=low, high=np.inf)
    return row._replace(experience=of.reference.experience, low=low, high=end)


def _by_machine(row: Version, tracked: Tracked | None, reason: str, level: float) -> Version:
    if tracked is None or tracked.side == "below":
        reason = reason or "it is below what the machine was calibrated on"
        return row._replace(by="nobody", refused=f"{reason}; have experts rank this version")
    if tracked.side == "above":
        low = float(tracked.years - stdtrit(tracked.df, level) * tracked.error)
        return row._replace(by="machine", low=low, high=np.inf)
    half = float(stdtrit(tracked.df, (1 + level) / 2) * tracked.error)
    low, high = tracked.years - half, tracked.years + half
    return row._replace(by="machine", experience=tracked.years, low=low, high=high)


def _reasons(
    run: Run,
    of: str,
    line: Line,
    calibrated: Sequence[System],
    system: System,
    by_problem: pd.DataFrame,
) -> Iterator[str]:
    """Why a machine judge cannot estimate a version's years; empty where it can."""
    if why := unusable(run):
        yield f"{run.judge} cannot be used: {why}"
    if run.blocked:
        yield f"{run.judge} ranked blocks, whose ranks cannot be compared"
    if len(calibrated) < _FEWEST:
        counted = format_count(len(calibrated), "version")
        yield f"experts and {run.judge} both ranked {counted} of {of}, and {_FEWEST} are needed"
    if len(servers(run)) > 1:
        yield f"the service of {run.judge} changed in the middle of the run"
    if not (line.rises and line.p_value < SIGNIFICANT):
        p = format_p(line.p_value)
        yield f"by {run.judge} more experienced people are not clearly better ({p})"
    own = by_problem[system.id].notna()
    usual = by_problem[[one.id for one in calibrated]].notna().any(axis=1)
    if (own != usual).any():
        where = f"{join_words(own.index[own])}, and the calibrated versions on"
        yield f"{run.judge} ranked it on {where} {format_count(int(usual.sum()), 'problem')}"
    if {one.architecture for one in calibrated} != {system.architecture}:
        yield "it is of another architecture than the versions that experts ranked"


def _mistake(study: Study, key: str, message: str) -> QuemError:
    return QuemError(Mistake(study.name, key=key, message=message))


def _chosen(study: Study, key: str, option: str, names: Sequence[str], chosen: str | None) -> str:
    """The selected base name."""
    known = list(dict.fromkeys(names))
    if chosen in known or (chosen is None and len(known) == 1):
        return chosen or known[0]
    if not known:
        raise _mistake(study, key, "declares no machine judge")
    wrong = f"there is no {chosen!r}; " if chosen else ""
    raise _mistake(study, key, f"{wrong}name one by {option}: {join_words(known)}")


def summary(findings: TrackFindings) -> str:
    """The versions in words."""
    judge, unit = findings.run.judge, findings.study.spec.experience_unit
    level = format_percent(findings.study.spec.analysis.level)
    lines = [f"Versions of {findings.of} in {findings.study.spec.title}", ""]
    for one in findings.versions:
        name = " ".join(filter(None, [one.system, one.version]))
        by = f"{unit} by {judge if one.by == 'machine' else 'experts'}"
        ends = format_interval((one.low, one.high))
        text = f"{format_number(one.experience)} {by} ({level} interval {ends})"
        if one.by == "nobody":
            text = f"no {unit}, as {one.refused}"
        elif np.isinf(one.high):
            text = f"at least {format_number(one.low)} {by} (lower bound)"
        lines += wrap(f"{name}: {text}.")
    mean = findings.differences.mean() if len(findings.differences) else np.nan
    if np.isfinite(mean):
        lines += [
            "",
            *wrap(
                f"{judge} has been {format_number(abs(mean))} {unit} too "
                f"{'generous' if mean < 0 else 'strict'} to {join_words(findings.calibrated)}; the "
                "years above are corrected for that."
            ),
        ]
    return "\n".join(lines)


def course(findings: TrackFindings) -> Figure | None:
    """The versions by date, by experts in black and by the machine in red; None without years."""
    from quem.report.drawing import INK, SYSTEMS, one_axes, tidy, with_style

    table = pd.DataFrame(findings.versions)
    ends = table[["low", "high"]].to_numpy()
    finite = ends[np.isfinite(ends)]
    if not len(finite):
        return None
    margin = 0.12 * (np.ptp(finite) or 1.0)
    low, high = float(finite.min() - margin), float(finite.max() + margin)
    places = pd.Series(range(len(table)), dtype=float)
    if (table["date"] != "").all() and table["date"].is_unique:
        places = pd.to_datetime(table["date"]).map(pd.Timestamp.toordinal).astype(float)
    with with_style():
        figure, axes = one_axes(max(8.4, 1.0 * len(table)), 3.3, bottom=0.6)
        for place, one in zip(places, findings.versions, strict=True):
            color = INK if one.by == "experts" else SYSTEMS[0]
            axes.plot([place] * 2, np.clip([one.low, one.high], low, high), color=color)
            axes.plot(place, one.experience, "D", color=color)
            # An arrow for an open end.
            axes.plot(
                place, high if one.high == np.inf else np.nan, "^", color=color, clip_on=False
            )
        names = [f"{short(f'{v.system} {v.version}', 14)}\n{v.date}" for v in findings.versions]
        room = 0.08 * (np.ptp(places) or 1.0)
        axes.set_xticks(places, names)
        axes.set(xlim=(places.min() - room, places.max() + room), ylim=(low, high))
        tidy(axes, y=f"experience ({short(findings.study.spec.experience_unit, 20)})")
    return figure
