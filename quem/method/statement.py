"""What is said of a system: each sentence once, for terminal, page, notebook, and figures."""

from __future__ import annotations

from dataclasses import dataclass
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
    join_words,
)

if TYPE_CHECKING:
    from quem.method.core import Core, SystemEstimate
    from quem.method.reference import Population, Reference


@dataclass(frozen=True)
class Statement:
    """A system's result in words; empty strings where there is nothing to say."""

    name: str
    verb: str  # what the system does, or "ranked"
    value: str  # such as "7.2 years", "at least 4.0 years"; empty where no years are stated
    qualifier: str  # such as "95% prediction interval 3.6 to 10.9"
    reason: str  # why the population's estimate leads, or why no years are stated
    other: str  # the other estimate
    place: str  # where the system is among the subjects
    chances: str
    center: float  # NaN where no years are stated
    interval: tuple[float, float | None]

    @property
    def claim(self) -> str:
        """The result without how sure it is."""
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
    verb, reason, other = "ranked", "", ""
    value, qualifier, center = "", "", np.nan
    interval: tuple[float, float | None] = (np.nan, np.nan)
    if of.leads == "paper":
        verb, value, qualifier = (
            core.study.spec.verb,
            _years(core, of.experience),
            paper_range(core, of),
        )
        center, interval = of.experience, of.interval
        if of.reference.says:
            other = f"Estimate for {population_name(core.population)}: {population_text(core, of)}."
    elif of.leads == "reference":
        end = of.reference.interval[0] if of.reference.open else of.reference.experience
        value = f"{'at least ' if of.reference.open else ''}{_years(core, end)}"
        qualifier = reference_range(core, of.reference)
        center, interval = of.reference.experience, of.reference.interval
        other = f"Regression as in the paper: {paper_text(core, of)}."
        reason = "" if core.population.declared else why_not_paper(core, of)
    else:
        reason = why_silent(core)
    chances = ""
    if of.leads == "reference" or of.reference.says:
        each = [f"{format_probability(p)} at least {years:g}" for years, p in of.reference.at_least]
        chances = f"Chances: {', '.join(each)} {core.unit}." if each else ""
    return Statement(
        of.name,
        verb,
        value,
        qualifier,
        reason,
        other,
        place_text(core, of),
        chances,
        center,
        interval,
    )


def _years(core: Core, value: float) -> str:
    return f"{format_number(value)} {core.unit}"


def paper_range(core: Core, of: SystemEstimate) -> str:
    """The paper's interval by its name."""
    return (
        f"{format_percent(core.settings.level)} prediction interval {format_interval(of.interval)}"
    )


def paper_text(core: Core, of: SystemEstimate) -> str:
    """The paper's estimate with its interval."""
    return f"{_years(core, of.experience)} ({paper_range(core, of)})"


def reference_range(core: Core, of: Reference) -> str:
    """The population's interval, or lower bound, by its name."""
    level = core.settings.level
    low, high = of.interval
    if high is None:
        return f"{format_percent((1 + level) / 2)} lower bound"
    return f"{format_percent(level)} credible interval {format_interval((low, high))}"


def population_text(core: Core, of: SystemEstimate) -> str:
    """The population's estimate with its interval."""
    reference = of.reference
    if reference.open:
        return (
            f"at least {_years(core, reference.interval[0])} ({reference_range(core, reference)})"
        )
    return f"{_years(core, reference.experience)} ({reference_range(core, reference)})"


def population_name(of: Population) -> str:
    """Name the population that years speak about."""
    return "the declared population" if of.declared else "the assumed population"


def assumption(core: Core) -> str:
    """Say whom the years of the population's estimate speak about."""
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
    """Say how many subjects a system was ranked above."""
    n = len(core.line.x)
    below = core.subjects_below(of)
    if below == n:
        others = f"all {n} subjects"
    else:
        others = f"{below} of {format_count(n, 'subject')}" if below else f"none of {n} subjects"
    return f"Its average rank, {format_number(of.rank)}, is higher than that of {others}."


def varies_text(of: SystemEstimate) -> list[str]:
    """Say that no single level describes a system; nothing where it varies as subjects do."""
    texts = []
    ratio = of.variation.ratio_problems
    if ratio is not None and ratio >= TWICE:
        much = "and subjects do not" if np.isinf(ratio) else ""
        times = f"{format_number(ratio)} times as much between problems as subjects do (SD ratio)"
        text = f"varies between problems, {much}" if much else f"varies {times}"
        texts.append(f"{of.name} {text}, so a single level describes it poorly.")
    ratio = of.variation.ratio_judges
    if ratio is not None and ratio >= TWICE:
        if np.isinf(ratio):
            texts.append(f"Judges disagree about {of.name}, and not about subjects.")
        else:
            times = f"{format_number(ratio)} times as much"
            texts.append(f"Judges disagree {times} about {of.name} as about subjects.")
    return texts


def cells_text(core: Core, of: SystemEstimate) -> str:
    """Say that fewer judges or problems ranked a system than ranked subjects; else empty."""
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
    return f"{of.name} was ranked in fewer groups than the subjects."


def why_not_paper(core: Core, of: SystemEstimate) -> str:
    """Say why the estimate for the population leads where none is declared."""
    side = core.is_within(of.rank)
    if not core.line.holds:
        return f"{line_trouble(core)}."
    if side:
        return f"{of.name}’s average rank is {'above' if side > 0 else 'below'} every subject’s."
    y = core.line.y
    if not of.inside:
        beyond = f"above {y.max():g}" if of.experience > y.max() else f"below {y.min():g}"
        return f"On the line {of.name} has {_years(core, of.experience)}, {beyond} of the subjects."
    return " ".join(filter(None, [cells_text(core, of), *varies_text(of)]))


def line_trouble(core: Core) -> str:
    """Say why the paper's line may not lead; empty where it may."""
    line = core.line
    if len(line.y) < FEWEST_SUBJECTS:
        return f"With {len(line.y)} subjects the paper’s line is not used"
    if not line.rises:
        return "Average rank falls with the subjects’ experience"
    if line.p_value >= SIGNIFICANT:
        return f"The paper’s line is not significant ({format_p(line.p_value)})"
    return ""


def why_silent(core: Core) -> str:
    """Say why no years are stated."""
    if core.people.slope <= 0:
        return (
            "average rank does not rise with the subjects’ experience, so it cannot be converted "
            f"to {core.unit}."
        )
    ends = f"{core.population.low:g} to {core.population.high:g} {core.unit}"
    return f"these rankings do not narrow it down; {ends} are all compatible with them."


def silent_claim(core: Core) -> str:
    """What is known where no years are stated: "Both systems were ranked above all four people"."""
    n = len(core.line.x)
    people = f"all {_small(n)} people"
    above = [of for of in core.estimates if core.subjects_below(of) == n]
    names = [of.name for of in core.best_first]
    if above and len(above) == len(core.estimates):
        if len(names) == 2:  # noqa: PLR2004  both
            return f"Both systems were ranked above {people}"
        many = f"All {_small(len(names))} systems were" if len(names) > 1 else f"{names[0]} was"
        return f"{many} ranked above {people}"
    each = [
        f"{of.name} {'was ranked ' if not at else ''}above {core.subjects_below(of)}"
        for at, of in enumerate(core.best_first[:2])
    ]
    return f"{join_words(each)} of {_small(n)} people"


_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _small(n: int) -> str:
    return _WORDS[n] if n < len(_WORDS) else str(n)


def rests_text(of: SystemEstimate) -> list[str]:
    """Say who moves the paper's estimate most."""
    return [
        f"without {one.what} {one.id} it is {format_number(one.experience)}" for one in of.rests_on
    ]


def agreement_text(core: Core) -> str:
    """Say how well the judges agree; empty where that is unknown."""
    of = core.agreement
    if of is None or not np.isfinite(of.kendall_w):
        return ""
    return f"Kendall’s W {format_number(of.kendall_w, 2)} ({format_p(of.p_value)})"


def equation(core: Core) -> str:
    """The paper's line as an equation."""
    line = core.line
    intercept, slope, *more = line.coefficients
    averaged = "log(average rank)" if line.form == "log" else "average rank"
    text = f"{core.unit} = {format_number(intercept, 2)} + {format_number(slope, 2)} × {averaged}"
    return text + "".join(f" + {format_number(one, 3)} × average rank²" for one in more)


def basis(core: Core) -> list[str]:
    """What the statements are based on, a line each."""
    line, n = core.line, len(core.line.y)
    counts = [f"{n} people with {line.y.min():g} to {line.y.max():g} {core.unit}"]
    counts += [format_count(count, noun) for count, noun in amounts(core)]
    test = f"R² {format_number(line.r_squared, 2)}, {format_p(line.p_value)}"
    lines = [", ".join(counts), f"line: {equation(core)} ({test})"]
    if text := agreement_text(core):
        lines.append(f"agreement of the judges: {text}")
    moved = ((of.name, rests_text(of)) for of in core.best_first if core.states_years)
    lines += [f"{name}, on the paper’s line: {', '.join(texts)}" for name, texts in moved if texts]
    return lines


def amounts(core: Core) -> list[tuple[int, str]]:
    """Count judges, problems, and ranks."""
    cells = core.cells
    if cells is None:
        return []
    judged = cells.judged()
    counts = [
        (len(np.unique(codes[judged])), noun)
        for codes, noun in ((cells.judge, "judge"), (cells.problem, "problem"))
    ]
    if cells.has_ranks:
        return [*counts, (int(judged.sum()), "rank")]
    return [*counts, (cells.n_groups, "decision")]
