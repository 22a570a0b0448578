"""Warnings about a result, one rule per reason.

Every code is explained in ``docs/reference/warnings.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning, WarningRules
from quem.method.agreement import turned_around
from quem.method.line import FEWEST_SUBJECTS, SIGNIFICANT
from quem.method.reference import BEYOND
from quem.method.rests import estimates_of
from quem.method.statement import cells_text, varies_text
from quem.wording import format_count, format_interval, format_number, format_p, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.method.core import Core, SystemEstimate
    from quem.method.reference import Population

_DECISIVE = 1 / 3  # of the half-width of the paper's interval

_DATA: WarningRules[Core] = WarningRules()
_ESTIMATE: WarningRules[Core, SystemEstimate] = WarningRules()
# The highest experience of the subjects, and its unit; also for plans.
POPULATION: WarningRules[Population, float, str] = WarningRules()


def find_warnings(core: Core) -> Iterator[StudyWarning]:
    """The warnings of a result, those on the data first."""
    yield from core.study.data.warnings
    yield from _DATA.find(core)
    yield from POPULATION.find(core.population, float(core.line.y.max()), core.unit)
    for of in core.estimates:
        yield from _ESTIMATE.find(core, of)


@_DATA.add("judge-less-experienced", remedy="judges should have at least as much as every subject")
def _judge_less_experienced(core: Core) -> Iterator[str]:
    spec = core.study.spec
    for judge in spec.judges:
        above = [
            f"{subject.id} ({subject.experience:g} {core.unit})"
            for subject in spec.subjects
            if judge.experience is not None
            and subject.experience > judge.experience
            and _has_ranks(core, subject.id)
        ]
        if above:
            own = f"judge {judge.id} ({judge.experience:g} {core.unit})"
            yield f"{own} has less experience than {join_words(above)}"


def _has_ranks(core: Core, solver: str) -> bool:
    averages = core.averages
    at = averages.solvers.index(solver) if solver in averages.solvers else -1
    return at >= 0 and bool(np.isfinite(averages.rank[at]))


@_DATA.add("no-ranks")
def _no_ranks(core: Core) -> Iterator[str]:
    # A system that assists subjects need not have its own solutions.
    assisting = {assisted.by for assisted in core.study.spec.assisted}
    unranked: dict[bool, list[str]] = {False: [], True: []}
    for solver, kind in core.study.declared.solvers.items():
        if solver in assisting or _has_ranks(core, solver):
            continue
        unranked[kind == "withheld"].append(solver)
    if names := unranked[False]:
        verbs = "has no ranks and is" if len(names) == 1 else "have no ranks and are"
        yield f"{join_words(names)} {verbs} excluded"
    if core.cells and (names := unranked[True]):
        verb = "is in no ranking and matches" if len(names) == 1 else "are in no ranking and match"
        yield f"withheld {join_words(names)} {verb} no unused rank"


@_DATA.add("no-system")
def _no_system(core: Core) -> Iterator[str]:
    if not core.estimates:
        yield "no system has ranks; only the line through the people is reported"


@_DATA.add("many-systems", remedy="rank fewer systems at once")
def _many_systems(core: Core) -> Iterator[str]:
    n_systems, n_subjects = len(core.estimates), len(core.line.y)
    if n_systems > n_subjects / 2:
        yield f"{n_systems} systems among {n_subjects} subjects shift the subjects' ranks"


@_DATA.add("assisted", remedy="use `quem compare` to measure their gain")
def _assisted(core: Core) -> Iterator[str]:
    if "assisted" in core.study.declared.solvers.values():
        yield "assisted solvers keep their rank positions but are neither fitted nor estimated here"


@_DATA.add("averages-only")
def _averages_only(core: Core) -> Iterator[str]:
    if core.averages.n_ranks.sum() == 0 and core.cells is None:
        yield "only average ranks are known, so agreement and what the system varies are not"


@_DATA.add("not-in-rankings", remedy="add the ranks or remove the entries from the study file")
def _not_in_rankings(core: Core) -> Iterator[str]:
    cells = core.cells
    if cells is None:
        return
    unused = [
        f"{noun} {names[code]}"
        for noun, names, codes in (
            ("judge", cells.judges, cells.judge),
            ("problem", cells.problems, cells.problem),
        )
        for code in np.flatnonzero(np.bincount(codes, minlength=len(names)) == 0)
        # Machine judges rank problems that experts are not asked to rank.
        if not (noun == "problem" and core.study.spec.machine)
    ]
    if unused:
        yield f"{join_words(unused)} {'is' if len(unused) == 1 else 'are'} not in the rankings"


@_DATA.add("unequal-groups")
def _unequal_groups(core: Core) -> Iterator[str]:
    cells = core.cells
    if cells is None or cells.is_blocked or not len(cells.size):
        return
    first = np.unique(cells.group, return_index=True)[1]
    sizes, counts = np.unique(cells.size[first], return_counts=True)
    if len(sizes) > 1:
        each = [
            f"{format_count(int(n), 'group')} of {size}"
            for size, n in zip(sizes.tolist(), counts.tolist(), strict=True)
        ]
        yield (
            f"group sizes differ ({join_words(each)} solutions), so equal ranks are not comparable "
            "on the paper's line; the estimate for the population compares places"
        )


@_DATA.add("rank-gap")
def _rank_gap(core: Core) -> Iterator[str]:
    if core.cells is None or not core.cells.gaps:
        return
    gap, *others = core.cells.gaps
    ranks = f"rank{'' if len(gap.ranks) == 1 else 's'} {join_words(map(str, gap.ranks))}"
    remedy = (
        "the declared withheld solvers do not explain it"
        if "withheld" in core.study.declared.solvers.values()
        else "if so, declare its solver under `withheld`"
    )
    also = join_words(f"{other.judge} on {other.problem}" for other in others)
    yield (
        f"{gap.judge}'s ranking of {gap.problem} skips {ranks}, which suggests a ranked solution "
        f"is missing from the data; {remedy}" + (f". Also: {also}" if others else "")
    )


@_DATA.add("decreasing-skill-function", remedy="check the direction of the ranks (1 = worst)")
def _decreasing(core: Core) -> Iterator[str]:
    if not core.line.rises and core.line.p_value < SIGNIFICANT:
        yield f"{core.averages.called} does not rise with the subjects' experience"


@_DATA.add("not-significant", remedy="add subjects, or subjects who differ more in experience")
def _not_significant(core: Core) -> Iterator[str]:
    if not core.line.p_value < SIGNIFICANT:
        yield (
            f"{core.averages.called} and the subjects' experience are not clearly related "
            f"({format_p(core.line.p_value)})"
        )


@_DATA.add("few-subjects", remedy="add subjects")
def _few_subjects(core: Core) -> Iterator[str]:
    if (n := len(core.line.y)) < FEWEST_SUBJECTS:
        yield f"only {n} subjects have ranks; the paper's line needs {FEWEST_SUBJECTS}"


@_DATA.add("no-reference")
def _no_reference(core: Core) -> Iterator[str]:
    if not core.population.declared and core.states_years:
        name = next(of.name for of in core.best_first if of.leads)
        yield (
            "no reference population is declared; "
            f"{core.population.low:g} to {core.population.high:g} {core.unit} ({BEYOND:g} x the "
            "most experienced subject) is assumed. Set `reference_population` to the people "
            f"{name} should be compared with"
        )


@POPULATION.add(
    "population-beyond-subjects", remedy="recruit people of these years, or declare fewer"
)
def _population_beyond(population: Population, most: float, unit: str) -> Iterator[str]:
    if population.declared and population.high > BEYOND * most:
        yield (
            f"the declared population reaches to {population.high:g} {unit}, the subjects to "
            f"{most:.3g}: ranks do not distinguish systems above all subjects, and their "
            "intervals are too low"
        )


@_DATA.add("judge-reversed")
def _judge_reversed(core: Core) -> Iterator[str]:
    if core.agreement is None or core.cells is None:
        return
    for of in core.agreement.judges:
        if not of.is_reversed:
            continue
        text = (
            f"{of.judge}'s order runs against the other judges' "
            f"(r = {format_number(of.others, 2)}, {format_interval(of.interval, 2)}) and against "
            f"experience (r = {format_number(of.experience, 2)}). Did {of.judge} give 1 to the "
            "best?"
        )
        turned = estimates_of(
            turned_around(core.cells, of.judge), core.averages, core.line.form, core.again
        )
        each = [
            f"the estimate for {one.name} would be {format_number(years)} {core.unit}"
            for one, years in zip(core.estimates, turned.tolist(), strict=True)
            if np.isfinite(years)
        ]
        yield f"{text} Turned around, {join_words(each)}" if each and core.line.holds else text


@_ESTIMATE.add("uneven-system")
def _uneven_system(core: Core, of: SystemEstimate) -> Iterator[str]:
    yield from (text.rstrip(".") for text in (cells_text(core, of), *varies_text(of)) if text)


@_ESTIMATE.add("decisive", remedy="look at this ranking, and add others of its kind")
def _decisive(_core: Core, of: SystemEstimate) -> Iterator[str]:
    if of.leads is None:
        return
    half = (of.interval[1] - of.interval[0]) / 2
    for one in of.rests_on:
        if abs(one.experience - of.experience) > _DECISIVE * half:
            yield (
                f"without {one.what} {one.id} the paper's estimate for {of.name} is "
                f"{format_number(one.experience)} instead of {format_number(of.experience)}"
            )
