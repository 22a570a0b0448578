"""Sentences on a system, for terminal, page, notebook, and figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quem.method.line import FEWEST_SUBJECTS, SIGNIFICANT
from quem.method.variances import TWICE
from quem.wording import (
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_probability,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.method.core import Core, SystemEstimate
    from quem.method.reference import Reference


@dataclass(frozen=True)
class Statement:
    """A system's result in words; empty strings where there is nothing to say."""

    name: str
    place: str  # rank of the system among the subjects
    rank_among: str  # the same for a label, such as "above 4 of 7 people"
    chances: str
    verb: str = "ranked"  # predicate of the system
    value: str = ""  # such as "7.2 years", "at least 4.0 years"; empty if no years are stated
    qualifier: str = ""  # such as "95% prediction interval 3.6 to 10.9"
    meaning: str = ""  # its certainty, as a sentence
    reason: str = ""  # why the population's estimate leads, or why no years are stated
    other: str = ""  # the other estimate
    center: float = np.nan  # NaN if no years are stated
    interval: tuple[float, float | None] = (np.nan, np.nan)

    @property
    def claim(self) -> str:
        """The result without its certainty."""
        if self.value:
            return f"{self.name} {self.verb} like a person with {self.value} of experience"
        return f"No experience estimate for {self.name}"

    @property
    def sentence(self) -> str:
        """The whole result."""
        if self.value:
            return f"{self.claim} ({self.qualifier})."
        return f"{self.claim}: {self.reason} {self.place}"


def state(core: Core, of: SystemEstimate) -> Statement:
    """Put a system's result into words."""
    reference, n = of.reference, len(core.line.x)
    each = [f"{format_probability(p)} at least {years:g}" for years, p in reference.at_least]
    said = partial(
        Statement,
        of.name,
        place_text(core, of),
        f"above {core.subjects_below(of) or 'none'} of {n} people",
        f"Chances: {', '.join(each)} {core.unit}." if each and reference.says else "",
    )
    if of.leads is None:
        return said(reason=why_silent(core, of.name))
    if of.leads == "paper":
        other = f"Estimate for {population_name(core)}: {population_text(core, of)}."
        return said(
            verb=core.study.spec.verb,
            value=_years(core, of.experience),
            qualifier=paper_range(core, of),
            meaning=paper_meaning(core, of),
            other=other if reference.says else "",
            center=of.experience,
            interval=of.interval,
        )
    qualifier = reference_range(core, reference)
    limit = "; these subjects do not support an upper limit" if reference.open else f" {core.unit}"
    return said(
        value=_population_years(core, reference),
        qualifier=qualifier,
        meaning=f"{qualifier}{limit}.",
        reason="" if core.population.declared else why_not_paper(core, of),
        other=f"Regression as in the paper: {paper_text(core, of)}.",
        center=reference.experience,
        interval=reference.interval,
    )


def _years(core: Core, value: float) -> str:
    return f"{format_number(value)} {core.unit}"


def paper_range(core: Core, of: SystemEstimate) -> str:
    """The name of the paper's interval with its ends."""
    return (
        f"{format_percent(core.settings.level)} prediction interval {format_interval(of.interval)}"
    )


def paper_text(core: Core, of: SystemEstimate) -> str:
    """The paper's estimate with its interval."""
    return f"{_years(core, of.experience)} ({paper_range(core, of)})"


def paper_meaning(core: Core, of: SystemEstimate) -> str:
    """The meaning of the paper's interval."""
    low, high = of.interval
    span = f"between {format_number(low)} and {format_number(high)} {core.unit}"
    kind = f"{format_percent(core.settings.level)} prediction interval"
    if low < 0:
        span = f"anything from none to {format_number(high)} {core.unit}"
        kind = paper_range(core, of)
    return f"One further person with that average rank would have {span} ({kind})."


def reference_range(core: Core, of: Reference) -> str:
    """The name of the population's interval, or lower bound, with its ends."""
    level = core.settings.level
    low, high = of.interval
    if high is None:
        return f"{format_percent((1 + level) / 2)} lower bound"
    return f"{format_percent(level)} credible interval {format_interval((low, high))}"


def _population_years(core: Core, of: Reference) -> str:
    if of.open:
        return f"at least {_years(core, of.interval[0])}"
    return _years(core, of.experience)


def population_text(core: Core, of: SystemEstimate) -> str:
    """The population's estimate with its interval."""
    return f"{_population_years(core, of.reference)} ({reference_range(core, of.reference)})"


def population_name(core: Core) -> str:
    """The name of the reference population."""
    of = core.population
    if of.declared:
        return "the declared population"
    return f"the assumed population (uniform from {of.low:g} to {of.high:g} {core.unit})"


def assumption(core: Core) -> str:
    """The assumption of the population's estimate."""
    of = core.population
    if not of.declared or len(of.share) == 1:
        ends = f"{of.low:g} to {of.high:g} {core.unit}"
        if of.declared:
            return f"This uses the declared population: uniform from {ends}."
        return f"This assumes a uniform prior from {ends}."
    each = [
        f"{format_percent(round(share, 3))} with {low:g} to {high:g}"
        for share, low, high in zip(of.share, of.years, of.years[1:], strict=False)
    ]
    each[0] += f" {core.unit}"
    return f"This uses the declared population: {', '.join(each)}."


def place_text(core: Core, of: SystemEstimate) -> str:
    """The number of subjects ranked below a system, in words."""
    n, below = len(core.line.x), core.subjects_below(of)
    ends = {n: f"all {n} subjects", 0: f"none of {n} subjects"}
    others = ends.get(below, f"{below} of {format_count(n, 'subject')}")
    called = core.averages.called
    return f"Its {called}, {format_number(of.rank)}, is higher than that of {others}."


def varies_text(of: SystemEstimate) -> list[str]:
    """Sentences on a system that no single level describes; empty if it varies like subjects."""
    texts = []
    if (ratio := of.variation.ratio_problems or 0.0) >= TWICE:
        how = f"{format_number(ratio)} times as much between problems as subjects do (SD ratio)"
        if np.isinf(ratio):
            how = "between problems, and subjects do not"
        texts.append(f"{of.name} varies {how}, so a single level describes it poorly.")
    if (ratio := of.variation.ratio_judges or 0.0) >= TWICE:
        how = f"{format_number(ratio)} times as much about {of.name} as about subjects"
        if np.isinf(ratio):
            how = f"about {of.name}, and not about subjects"
        texts.append(f"Judges disagree {how}.")
    return texts


def cells_text(core: Core, of: SystemEstimate) -> str:
    """A sentence on a system whose cells say less than the subjects' do; else empty."""
    averages = core.averages
    if averages.judges is None or averages.problems is None or not of.variation.incidence.value:
        return ""
    for sums, noun in ((averages.judges, "judge"), (averages.problems, "problem")):
        held = sums.count > 0
        n, whole = int(held[:, of.at].sum()), int(held.any(axis=1).sum())
        if n < whole:
            if noun == "judge":
                return f"Only {n} of {whole} judges ranked {of.name}."
            return f"{of.name} was ranked on {n} of {whole} problems only."
    n, usual = averages.n_ranks[of.at], averages.n_ranks[averages.of_kind("subject")].mean()
    if n < usual:
        return f"{of.name} has {n:,} ranks, subjects have {format_number(usual)} on average."
    return f"Ranks of {of.name} are spread less evenly over judges or problems than subjects' are."


def why_not_paper(core: Core, of: SystemEstimate) -> str:
    """Why the estimate for the population leads where none is declared."""
    side = core.is_within(of.rank)
    if not core.line.holds:
        return f"{line_trouble(core)}."
    if side:
        x = core.line.x
        where = ("above every", "not below any") if side > 0 else ("below every", "not above any")
        is_same = bool(np.isclose(of.rank, x.max() if side > 0 else x.min()))
        return f"{of.name}’s {core.averages.called} is {where[is_same]} subject’s."
    y = core.line.y
    if not of.inside:
        beyond = f"above {y.max():g}" if of.experience > y.max() else f"below {y.min():g}"
        return f"On the line {of.name} has {_years(core, of.experience)}, {beyond} of the subjects."
    texts = [cells_text(core, of), *varies_text(of)]
    if of.variation.more:
        place = f"{of.name}’s place is less sure than people’s"
        texts.append(f"{place}, which the paper’s interval does not allow for.")
    return " ".join(filter(None, texts))


def line_trouble(core: Core) -> str:
    """Why the paper's line may not lead; empty where it may."""
    line = core.line
    if len(line.y) < FEWEST_SUBJECTS:
        return f"With {len(line.y)} subjects the paper’s line is not used"
    if line.p_value >= SIGNIFICANT:
        return f"The paper’s line is not significant ({format_p(line.p_value)})"
    if not line.rises:
        return f"{core.averages.called.capitalize()} does not rise with the subjects’ experience"
    return ""


def why_silent(core: Core, name: str = "") -> str:
    """Why no years are stated, for one system or all."""
    if core.people.slope <= 0:
        return (
            f"{core.averages.called} does not rise with the subjects’ experience, so it cannot be "
            f"converted to {core.unit}."
        )
    whose = f"the rankings of {name}" if name else "these rankings"
    ends = f"{core.population.low:g} to {core.population.high:g} {core.unit}"
    what = "declared population" if core.population.declared else "assumed population"
    return f"{whose} do not narrow down the {what}, {ends}."


def headline(core: Core, statements: Sequence[Statement]) -> str:
    """The headline of a study: the result of its best system, and of another one."""
    known = [one for one in statements if one.value]
    if not statements:
        return "No system has ranks; only the line through the people is reported."
    if not known:
        return f"{silent_claim(core)}."
    if len(statements) == 1:
        return f"{known[0].claim}."
    other = _beside(core, statements, known[0])
    like = f"{other.name}, like one with {other.value}" if other.value else ""
    return f"{known[0].claim}; {like or f'no years are stated for {other.name}'}."


def lead(core: Core, statements: Sequence[Statement]) -> list[str]:
    """The certainty of the result, and the other estimate: a paragraph each."""
    if not statements:
        return []
    if not core.states_years:
        return [f"This study cannot say it in {core.unit}: {why_silent(core)}"]
    uses = [assumption(core)] * any(of.leads == "reference" for of in core.estimates)
    if len(statements) == 1:
        (one,) = statements
        sure, other = [one.meaning, one.reason, *uses], [one.other]
        (sure if uses else other).append(one.chances)
        return [text for of in (sure, other) if (text := " ".join(filter(None, of)))]
    best = next(one for one in statements if one.value)
    named = [one for one in (best, _beside(core, statements, best)) if one.value]
    each = [f"{one.name}: {one.qualifier}." for one in named]
    compare = ["`quem compare` says whether two of them differ."] if core.cells else []
    return [" ".join([*each, *uses]), *compare]


def _beside(core: Core, statements: Sequence[Statement], best: Statement) -> Statement:
    """The oldest version of the best system, if there are others; else the next best system."""
    names = {core.name_of(one.id): one.name for one in core.study.spec.systems}
    same = [name for name, bare in names.items() if bare and bare == names.get(best.name)]
    by_name = {one.name: one for one in statements if one is not best}
    return next((by_name[name] for name in same if name in by_name), next(iter(by_name.values())))


def silent_claim(core: Core) -> str:
    """The claim if no years are stated: "Both systems were ranked above all four people"."""
    n, best = len(core.line.x), core.best_first
    below = [core.subjects_below(of) for of in best]
    if min(below) == n or max(below) == 0:
        who = {1: best[0].name, 2: "Both systems"}.get(
            len(best), f"All {_small(len(best))} systems"
        )
        people = f"{'all' if below[0] else 'none of the'} {_small(n)} people"
        return f"{who} {'was' if len(best) == 1 else 'were'} ranked above {people}"
    amounts = {n: f"all {_small(n)}", 0: "none"}
    each = [f"{of.name} above {amounts.get(k, k)}" for of, k in zip(best, below, strict=True)]
    people = "" if below[0] == n else f" of {_small(n)}"
    each[0] = f"{best[0].name} was ranked above {amounts.get(below[0], below[0])}{people} people"
    return ", ".join([each[0], each[-1]] if len(each) > 1 else each)


_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _small(n: int) -> str:
    return _WORDS[n] if n < len(_WORDS) else str(n)


def agreement_text(core: Core) -> str:
    """A sentence on the agreement between judges; empty where unknown."""
    of = core.agreement
    if of is None or not np.isfinite(of.kendall_w):
        return ""
    return f"Kendall’s W {format_number(of.kendall_w, 2)} ({format_p(of.p_value)})"


def equation(core: Core) -> str:
    """The paper's line as an equation."""
    line = core.line
    intercept, slope, *more = line.coefficients
    called = core.averages.called
    averaged = f"log({called})" if line.form == "log" else called
    terms = [(slope, 2, averaged), *((one, 3, f"{called}²") for one in more)]
    each = [f"{'−+'[of > 0]} {format_number(abs(of), digits)} × {x}" for of, digits, x in terms]
    return f"{core.unit} = {format_number(intercept, 2)} {' '.join(each)}"


def basis(core: Core) -> list[str]:
    """The data behind the statements, one line each."""
    line, n = core.line, len(core.line.y)
    counts = [f"{n} people with {line.y.min():g} to {line.y.max():g} {core.unit}"]
    counts += [format_count(count, noun) for count, noun in amounts(core)]
    test = f"R² {format_number(line.r_squared, 2)}, {format_p(line.p_value)}"
    lines = [", ".join(counts), f"line: {equation(core)} ({test})"]
    if text := agreement_text(core):
        lines.append(f"agreement of the judges: {text}")
    for of in core.best_first if core.states_years else ():
        without = (
            f"without {one.what} {one.id} it is {format_number(one.experience)}"
            for one in of.rests_on
        )
        if of.rests_on:
            lines.append(f"{of.name}, on the paper’s line: {', '.join(without)}")
    return lines


def amounts(core: Core) -> list[tuple[int, str]]:
    """Counts of judges, problems, and ranks; those of failed solutions are averaged, too."""
    cells = core.cells
    if cells is None:
        return []
    judged = cells.judged()
    counts = [
        (len(np.unique(codes[judged])), noun)
        for codes, noun in ((cells.judge, "judge"), (cells.problem, "problem"))
    ]
    if cells.has_ranks:
        return [*counts, (int((~cells.of_kind("withheld")[cells.solver]).sum()), "rank")]
    return [*counts, (cells.n_groups, "decision")]
