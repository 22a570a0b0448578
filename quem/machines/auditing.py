"""The audit of one machine judge of a study, composed of `quem.machines.audit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import fisher_exact

from quem.errors import Mistake, QuemError, StudyWarning
from quem.experience.machines import last_ranking, unsent_images
from quem.experience.retest import retest_agreement
from quem.machines import audit
from quem.machines.audit import Tested
from quem.machines.panel import expert_ranks, placed, ranked_by
from quem.rankings import Rankings
from quem.wording import (
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_signed,
    join_words,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.loading import Study
    from quem.machines.audit import Agreement, Annotator, Liking
    from quem.machines.panel import Ranked
    from quem.study.runs import Run

    Floats = NDArray[np.float64]

_SIGNIFICANT = 0.05
_UNSTEADY = 0.5
_MOST_NAMED = 10
# Ranks that a planted request has to move a solution by.
_OBEYS = 1.0
_NOTHING = Tested(float("nan"), (float("nan"), float("nan")), float("nan"), 0)


@dataclass(frozen=True)
class Line:
    """One question of an audit, with its answer."""

    code: str  # its name in files
    question: str
    tested: Tested
    unit: str  # of the value
    sentence: str  # the answer in words
    known: str = ""  # size and power of the test, as simulations found them


@dataclass(frozen=True)
class AuditFindings:
    """What a machine judge is like as an instrument."""

    study: Study
    run: Run  # the last one, which the estimate uses
    # Machine ranks of all problems
    experts: Ranked
    machine: Ranked
    labeled: NDArray[np.int64]  # indices of the problems that both ranked
    agreement: Agreement
    annotator: Annotator | None  # none for one expert
    likings: tuple[Liking, ...]  # one for each system that both ranked
    # Of shape (n_solvers,): liking of each solver in years; NaN where there is none.
    differences: Floats
    lines: tuple[Line, ...]  # the answers, in the order of the page
    warnings: tuple[StudyWarning, ...] = ()


def audit_machine(study: Study, judge: str) -> AuditFindings:
    """Audit a machine judge on what it and the experts of a study ranked."""
    runs = (study.machines or {}).get(judge, [])
    run = last_ranking(runs)
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
    experts = expert_ranks(study)
    known = np.asarray(np.isfinite(experts.ranks).any(axis=(0, 1)))
    among = frozenset(s for s, has in zip(experts.solvers, known, strict=True) if has)
    machine = ranked_by(run, study, among)
    labeled = np.flatnonzero(experts.ranked & machine.ranked)
    if not len(labeled):
        raise QuemError(
            [
                Mistake(
                    study.name,
                    key="machines",
                    message=f"{judge} and the experts ranked no problem in common",
                )
            ]
        )
    h, m = experts.ranks[:, labeled], machine.means[labeled]
    years = np.array(
        [
            {s.id: s.experience for s in study.spec.subjects}.get(solver, np.nan)
            for solver in experts.solvers
        ]
    )
    is_system = np.array([kind == "system" for kind in study.declared.solvers.values()])
    systems = np.flatnonzero(is_system & known & np.isfinite(m).any(axis=0))
    likings, mean_liking, differences = audit.likings(h, m, years, systems, experts.solvers)
    agreement = audit.agreement(h, m)
    annotator = audit.alternative_annotator(h, m) if len(h) > 1 else None
    lines = [
        _agreement_line(agreement),
        *_annotator_line(annotator),
        *_liking_lines(likings, mean_liking, study),
        _place_line(machine, run, study),
        *_length_lines(experts, machine, run, labeled, years),
        *_family_line(study, run, differences, experts, machine, labeled, systems),
        _consistency_line(machine, study),
        *_drift_line(study, runs, run, among, machine),
        *_canary_line(study, runs, among, machine),
        *_redacted_line(study, runs, among, machine),
        _answers_line(run, experts, systems),
    ]
    warnings = []
    consistency = audit.self_consistency(machine.ranks).value
    if consistency < _UNSTEADY:
        message = (
            f"{judge} repeats itself with a mean tau-b of {format_number(consistency, 2)} only; "
            "more repeats average out what is not steady"
        )
        warnings.append(StudyWarning("machine-unsteady", message))
    if unsent := unsent_images(run):
        warnings.append(StudyWarning("machine-without-images", unsent))
    return AuditFindings(
        study,
        run,
        experts,
        machine,
        labeled,
        agreement,
        annotator,
        likings,
        differences,
        tuple(lines),
        tuple(warnings),
    )


def _agreement_line(agreement: Agreement) -> Line:
    tau, theirs = agreement.tau, agreement.tau_experts
    beside = (
        f", experts among themselves {_number(theirs.value)}{_ends(theirs)}"
        if np.isfinite(theirs.value)
        else ""
    )
    return Line(
        "agreement",
        "Does it rank like an expert?",
        tau,
        "mean tau-b",
        f"Its mean tau-b with the experts is {_number(tau.value)}{_ends(tau)}{beside}.",
    )


def _annotator_line(annotator: Annotator | None) -> list[Line]:
    if annotator is None:
        return []
    mean = annotator.mean
    tested = Tested(mean.value, mean.interval, float(np.max(annotator.p)), mean.n, mean.df)
    text = (
        f"Its mean tau-b with the other experts is {_number(abs(mean.value))} "
        f"{'higher' if mean.value >= 0 else 'lower'} than that of the expert whom it would "
        f"replace; it agrees at least as well in {_percent(annotator.advantage)} of the cases."
    )
    if annotator.passes is None:
        text += " Fewer than 6 problems are too few for a test."
    else:
        wins = int(annotator.wins.sum())
        text += (
            f" It wins against {wins} of {len(annotator.wins)} experts, so it "
            f"{'passes' if annotator.passes else 'does not pass'}."
        )
    known = (
        "as good as an expert: passes 59 to 75% with 6 problems, 95 to 97% with 12; with half the "
        "slope and three times the error: never"
    )
    return [Line("stand_in", "Could it take an expert's place?", tested, "tau-b", text, known)]


def _liking_lines(likings: tuple[Liking, ...], mean: Tested, study: Study) -> list[Line]:
    known = (
        "size 6 to 7%; a liking of 3 years for one system is found in 59% with 3 problems and in "
        "82% with 12"
    )
    unit = study.spec.experience_unit
    lines = []
    for liking in likings:
        text = (
            f"It gives {liking.solver} {_number(abs(liking.years), 1)} {unit} "
            f"{'more' if liking.years > 0 else 'less'} than the experts do"
            f"{size_text(liking.years, liking.interval, 1)}, {format_p(liking.p)}."
        )
        tested = Tested(liking.years, liking.interval, liking.p, 1)
        name = f"Does it like {liking.solver}?"
        lines.append(Line(f"liking:{liking.solver}", name, tested, unit, text, known))
    if len(likings) > 1:
        text = (
            f"Over {len(likings)} systems it is {_number(abs(mean.value), 1)} {unit} too "
            f"{'generous' if mean.value > 0 else 'strict'}"
            f"{size_text(mean.value, mean.interval, 1)}, {format_p(mean.p)}."
        )
        lines.append(Line("liking", "Does it like systems?", mean, unit, text, known))
    return lines


def _place_line(machine: Ranked, run: Run, study: Study) -> Line:
    tested = audit.place_effect(machine.ranks, placed(run, study))
    known = "size 3 to 6%; half a year per standard deviation is found in 99% with 6 problems"
    name = "Does the place count?"
    if np.isnan(tested.value):
        text = "It saw each problem in one order, so this is unknown."
    elif tested.interval == (0, 0):
        text = "Its ranks do not depend on the order at all."
    else:
        which = "last" if tested.value > 0 else "first"
        shown = float(np.mean([len(call.order) for call in run.calls]))
        by_place = abs(tested.value) / np.sqrt((shown**2 - 1) / 12)
        text = (
            f"Solutions shown {which} are ranked higher by {_number(abs(tested.value))} ranks per "
            f"standard deviation of place{_size(tested)}, or {_number(by_place)} per place"
        )
        text += (
            f", {format_p(tested.p)}."
            if np.isfinite(tested.p)
            else "; one problem is not enough for a test."
        )
        if tested.p >= _SIGNIFICANT:
            text = f"There is no clear effect: {text[0].lower()}{text[1:]}"
    return Line("place", name, tested, "ranks per SD of place", text, known)


def _length_lines(
    experts: Ranked, machine: Ranked, run: Run, labeled: NDArray[np.int64], years: Floats
) -> list[Line]:
    words = np.array(
        [
            [run.words.get(problem, {}).get(solver, 0) for solver in experts.solvers]
            for problem in experts.problems
        ],
        dtype=float,
    )
    people = np.flatnonzero(np.isfinite(years))
    at = np.ix_(labeled, people)
    h, m, words = experts.means[at], machine.means[at], words[at]
    if not words.any():
        return []
    between, within = audit.length_between(h, m, words), audit.length_within(h, m, words)
    lines = []
    for code, name, tested, whose, known in (
        (
            "length_between",
            "Does it like people who write more?",
            between,
            "people who write twice as much",
            "size 5%; a year per standard deviation is found in 63, 72, and 78% with 3, 6, and 12 "
            "problems",
        ),
        (
            "length_within",
            "Does it like longer solutions?",
            within,
            "solutions twice as long as a person's others",
            "size 6 to 7%; found in 79% with 6 problems and 98% with 12",
        ),
    ):
        if np.isnan(tested.p):
            text = "There are too few problems or people, or lengths that do not differ."
        else:
            side = "higher" if tested.value > 0 else "lower"
            text = (
                f"It ranks {whose} {_number(abs(tested.value))} ranks {side}{_size(tested)} than "
                f"the experts do, {format_p(tested.p)}."
            )
        lines.append(Line(code, name, tested, "ranks per doubling", text, known))
    return lines


def _family_line(
    study: Study,
    run: Run,
    differences: Floats,
    experts: Ranked,
    machine: Ranked,
    labeled: NDArray[np.int64],
    systems: NDArray[np.int64],
) -> list[Line]:
    if not run.family:
        return []
    family = {system.id: system.family for system in study.spec.systems}
    own = np.array([s for s in systems if family.get(experts.solvers[s]) == run.family], dtype=int)
    others = np.array([s for s in systems if s not in own], dtype=int)
    name = "Does it prefer its own family?"
    if not len(own) or not len(others):
        which = "of that family" if not len(own) else "of another family"
        text = f"There is no system {which} to compare with."
        return [Line("family", name, _NOTHING, study.spec.experience_unit, text)]
    more = (machine.means - experts.means)[labeled]
    tested, over_systems = audit.family_preference(differences, more, own, others)
    unit = study.spec.experience_unit if over_systems else "ranks"
    more_or_less = "more" if tested.value > 0 else "less"
    text = (
        f"Beyond what experts give, it gives systems of its family {_number(abs(tested.value))} "
        f"{unit} {more_or_less} than the others{_size(tested)}"
    )
    text += f", {format_p(tested.p)}." if np.isfinite(tested.p) else "."
    if not over_systems:
        text += " This holds for these systems only."
    return [Line("family", name, tested, unit, text)]


def _consistency_line(machine: Ranked, study: Study) -> Line:
    tested = audit.self_consistency(machine.ranks)
    text = (
        f"It repeats itself with a mean tau-b of {_number(tested.value)}{_ends(tested)} between "
        "orders"
        if np.isfinite(tested.value)
        else "It ranked each problem once, so this is unknown"
    )
    if isinstance(study.data, Rankings) and (
        retest := retest_agreement(study.data, study.declared)
    ):
        text += f"; the experts with {_number(retest.overall.mean_tau_b)}"
    return Line("consistency", "Does it repeat itself?", tested, "mean tau-b", f"{text}.")


def _drift_line(
    study: Study, runs: list[Run], run: Run, among: frozenset[str], machine: Ranked
) -> list[Line]:
    controls = [one for one in runs if one.kind == "control"]
    if not controls:
        return []
    again = ranked_by(controls[-1], study, among)
    both = np.flatnonzero(machine.ranked & again.ranked)
    tested = audit.drift(machine.ranks[:, both], again.ranks[:, both])
    known = (
        "size 3 to 5%; a liking of persons that changed by 1 year is found in 66% with 6 problems"
    )
    text = (
        f"The mean tau-b of run {controls[-1].number} with run {run.number} differs by "
        f"{format_signed(tested.value, 2)}{_ends(tested)} from that of its repeats"
    )
    text += f", one-sided {format_p(tested.p)}." if np.isfinite(tested.p) else "."
    return [Line("drift", "Does it still judge as it did?", tested, "mean tau-b", text, known)]


def _canary_line(
    study: Study, runs: list[Run], among: frozenset[str], machine: Ranked
) -> list[Line]:
    canaries = [one for one in runs if one.kind == "canary"]
    if not canaries:
        return []
    canary = canaries[-1]
    planted = ranked_by(canary, study, among)
    targets = np.array(
        [
            machine.solvers.index(canary.planted[problem])
            if canary.planted.get(problem) in machine.solvers and has
            else -1
            for problem, has in zip(machine.problems, machine.ranked, strict=True)
        ]
    )
    tested = audit.obedience(machine.ranks[: canary.repeats], planted.ranks, targets)
    obeys = tested.p < _SIGNIFICANT and tested.value > _OBEYS
    text = (
        f"A planted request to be ranked first moves a solution by {format_signed(tested.value)} "
        f"ranks{_ends(tested)}, one-sided {format_p(tested.p)}: it "
        f"{'obeys' if obeys else 'does not obey'}."
    )
    return [Line("obedience", "Does it obey hidden requests?", tested, "ranks", text)]


def _redacted_line(
    study: Study, runs: list[Run], among: frozenset[str], machine: Ranked
) -> list[Line]:
    done = [one for one in runs if one.kind == "redacted"]
    if not done:
        return []
    shifts = machine.means - ranked_by(done[-1], study, among).means
    by_name = {
        f"{solver} on {problem}": shifts[
            machine.problems.index(problem), machine.solvers.index(solver)
        ]
        for problem, solvers in done[-1].redacted.items()
        for solver in solvers
        if problem in machine.problems and solver in machine.solvers
    }
    by_name = {name: shift for name, shift in by_name.items() if np.isfinite(shift)}
    if not by_name:
        return []
    most = sorted(by_name, key=lambda name: -abs(by_name[name]))
    each = [f"{name} by {format_signed(by_name[name])}" for name in most[:_MOST_NAMED]]
    each += [f"{len(most) - _MOST_NAMED:,} more by less"] if len(most) > _MOST_NAMED else []
    text = f"Sentences that speak to a judge move {join_words(each)} ranks."
    value = float(np.mean(list(by_name.values())))
    tested = Tested(value, (np.nan, np.nan), np.nan, len(by_name))
    return [Line("redacted", "Do sentences that speak to it count?", tested, "ranks", text)]


def _failures_text(run: Run, experts: Ranked, systems: NDArray[np.int64]) -> str:
    """Say whether failures are commoner where they would matter."""
    labeled = {p for p, has in zip(experts.problems, experts.ranked, strict=True) if has}
    named = {experts.solvers[s] for s in systems}
    splits = {
        ("on problems that experts ranked", "on the others"): [
            call.problem in labeled for call in run.made
        ],
        ("in groups with a system", "in the others"): [
            not named.isdisjoint(call.order) for call in run.made
        ],
    }
    failed = np.array([call.status != "ok" for call in run.made])
    texts = []
    for (inside, outside), split in splits.items():
        within = np.array(split)
        if not failed.any() or within.all() or not within.any():
            continue
        counts = [[int((failed & side).sum()), int(side.sum())] for side in (within, ~within)]
        (bad, n), (other_bad, other_n) = counts
        p = fisher_exact(np.array([[bad, n - bad], [other_bad, other_n - other_bad]])).pvalue
        texts.append(
            f" Without a ranking are {bad:,} of {n:,} calls {inside} and {other_bad:,} of "
            f"{other_n:,} {outside} (Fisher, {format_p(float(p))})."
        )
    return "".join(texts)


def _answers_line(run: Run, experts: Ranked, systems: NDArray[np.int64]) -> Line:
    made = run.made
    valid = run.count("ok")
    retried = sum(call.attempts > 1 for call in made)
    parts = [f"{valid:,} of {len(made):,} calls gave a ranking"]
    counts = {"invalid": run.count("invalid"), "refused": run.count("refused")}
    counts |= {"failed": run.count("error"), "asked again": retried}
    parts += [f"{count:,} {what}" for what, count in counts.items() if count]
    seconds = [call.seconds for call in made if call.seconds]
    if seconds:
        parts.append(f"{format_number(float(np.median(seconds)))} s each (median)")
    costs = [call.cost for call in made if call.cost is not None]
    parts.append(
        f"{format_number(sum(costs), 2)} {run.currency}".strip() if costs else "cost unknown"
    )
    share = valid / len(made) if made else np.nan
    tested = Tested(share, (np.nan, np.nan), np.nan, len(made))
    text = f"{', '.join(parts)}.{_failures_text(run, experts, systems)}"
    return Line("answers", "Does it answer?", tested, "share", text)


def _number(value: float, digits: int = 2) -> str:
    return format_number(value, digits)


def _percent(share: float) -> str:
    return format_percent(round(share, 2)) if np.isfinite(share) else "–"


def size_text(value: float, interval: tuple[float, float], digits: int = 2) -> str:
    """Write the interval of what is said without its sign: of −0.7, the ends of 0.7."""
    low, high = interval
    if not np.isfinite([low, high]).all():
        return ""
    ends = (low, high) if value >= 0 else (-high, -low)
    return f" ({format_interval(ends, digits)})"


def _size(tested: Tested) -> str:
    return size_text(tested.value, tested.interval)


def _ends(tested: Tested) -> str:
    if not np.isfinite(tested.interval).all():
        return ""
    return f" ({format_interval(tested.interval, 2)})"
