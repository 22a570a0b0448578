"""The certificate of a claim: how robust "A scores higher than B" is, in at most 12 lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from quem.scores.inference import MOST_EXACT, Difference, judge_sample
from quem.scores.unjudged import MOST_JUDGED, Case, Unjudged, find_unjudged
from quem.wording import format_count, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Measure
    from quem.scores.scoring import HumanReference, Scored
    from quem.scores.table import Claim, ScoreTable

    Floats = NDArray[np.float64]

Verdict = Literal["yes", "open", "no", "-"]

# With fewer judges, the sample says little about others.
ENOUGH_JUDGES = 5
_FEW_QUERIES = 5
_SAME = 1e-12
_NAMED = 3  # listed cases to judge
_QUERIES = "sample of queries"
_JUDGES = "sample of judges"
_UNJUDGED = "unjudged cases"
_TIES = "order of ties"
_OTHERS = "other measures"
_HUMANS = "human reference"


class Line(NamedTuple):
    """A threat to a claim, and its verdict."""

    question: str
    verdict: Verdict  # a dash where not applicable
    text: str


@dataclass(frozen=True)
class Certificate:
    """The robustness of a claim."""

    claim: str
    verdict: str
    lines: tuple[Line, ...]
    to_judge: tuple[Case, ...] = ()  # if none is relevant, the bounds settle the claim

    def __str__(self) -> str:
        """At most 12 lines of text."""
        width = max(len(line.question) for line in self.lines)
        head = [f"Claim    {self.claim}", f"Verdict  {self.verdict}"]
        return "\n".join([*head, *(f"  {v:<5} {q:<{width}}  {text}" for q, v, text in self.lines)])

    def as_dict(self) -> dict[str, Any]:
        """The contents as plain data."""
        return {
            "claim": self.claim,
            "verdict": self.verdict,
            "lines": [line._asdict() for line in self.lines],
            "to_judge": [case._asdict() for case in self.to_judge],
        }


def certify(table: ScoreTable, claim: Claim) -> Certificate:
    """Examine a claim."""
    examined = _Examined(table, claim)
    lines = [*examined.lines(), *(check(table, claim) for check in table.checks)]
    a, b = (table.labels[at] for at in (claim.a, claim.b))
    means = [measured(table.means.mean[at, claim.measure]) for at in (claim.a, claim.b)]
    text = (
        f"{a} scores {examined.more} than {b} by {table.columns[claim.measure]}: {means[0]} "
        f"against {means[1]}, {measured(examined.lead, sign=True)}"
    )
    verdict = _verdict(lines, examined.unexamined)
    return Certificate(text, verdict, tuple(lines), tuple(examined.to_judge))


def _verdict(lines: Sequence[Line], unexamined: Sequence[str]) -> str:
    said = {line.question: line.verdict for line in lines}
    if "no" in (said.get(_QUERIES), said.get(_UNJUDGED), said.get(_TIES)):
        return "contradicted"
    if said[_QUERIES] != "yes":
        return "not shown"
    doubts = [
        f"{word}: {join_words(questions)}"
        for word, questions in (
            ("against it", [line.question for line in lines if line.verdict == "no"]),
            ("open", [line.question for line in lines if line.verdict == "open"]),
            ("not examined", unexamined),
        )
        if questions
    ]
    return "; ".join(["supported on these judgments", *doubts]) if doubts else "supported"


class _Examined:
    """A claim, with the sign of differences such that more favors it."""

    def __init__(self, table: ScoreTable, claim: Claim) -> None:
        self.table, self.claim = table, claim
        self.sign = int(table.signs[claim.measure])
        self.pair = next(
            pair
            for pair in table.pairs
            if pair.measure == claim.measure and {pair.a, pair.b} == {claim.a, claim.b}
        )
        self.lead = self._turned(self.pair) * self.pair.difference
        self.more, self.less = ("higher", "lower") if self.sign > 0 else ("better", "worse")
        self.evidence: Scored | None = table.evidence
        self.unexamined: list[str] = []
        self.to_judge: list[Case] = []

    def lines(self) -> Iterator[Line]:
        """The lines of every kind."""
        yield self._queries()
        if self.evidence:
            systems = [self.evidence.systems.index(self.table.systems[at]) for at in self.claim[:2]]
            names = [one.name for one in self.evidence.measures]
            measure = names.index(self.table.columns[self.claim.measure])
            yield self._judges(self.evidence, systems, measure)
            yield from self._unjudged(self.evidence, systems, self.evidence.measures[measure])
            yield self._ties(self.evidence, systems, self.evidence.measures[measure])
        yield self._others()
        if self.evidence and (references := self.evidence.human_reference):
            yield self._humans(references, systems[0], measure)

    def _turned(self, pair: Difference) -> int:
        """The sign that makes a difference the lead of the claim's first system."""
        return int(self.table.signs[pair.measure]) * (1 if pair.a == self.claim.a else -1)

    def _bounded(self, low: float, high: float) -> Verdict:
        return "yes" if low > _SAME else "no" if high < -_SAME else "open"

    # Each line

    def _queries(self) -> Line:
        pair, inference = self.pair, self.table.inference
        verdict: Verdict = "open"
        if pair.p <= inference.alpha:
            verdict = "yes" if self.lead > 0 else "no"
        ahead, behind = pair.higher, pair.lower
        if pair.a != self.claim.a:
            ahead, behind = behind, ahead
        if self.sign < 0:
            ahead, behind = behind, ahead
        said = [
            self._test(ahead + behind),
            f"{self.more} on {ahead:,}, {self.less} on {behind:,} of {pair.n:,}",
        ]
        return Line(_QUERIES, verdict, "; ".join(said))

    def _test(self, unequal: int) -> str:
        """The interval and p of the joint test; or why there are none."""
        pair, table, inference = self.pair, self.table, self.table.inference
        if not inference.samples:
            return "not tested"
        if not pair.tested:
            return (
                f"not tested, as both have scores on only {pair.n:,} of "
                f"{format_count(len(table.queries), table.nouns.query)}"
            )
        same = [one for one in table.pairs if one.measure == pair.measure and one.tested]
        level = format_percent(inference.level)
        n = len(same)
        alone = f" ({level} for this pair, not for all {n:,} at once)" if n > 1 else ""
        text = f"{_span(*_ordered(self._turned(pair), pair.low, pair.high))}{alone}, p {_p(pair.p)}"
        adjusted = [f"adjusted for {n:,} pairs"] if n > 1 else []
        if len(table.measures) > 1:
            adjusted.append(
                f"not {'' if adjusted else 'adjusted '}for {len(table.measures)} measures"
            )
        text += f" ({', '.join(adjusted)})" if adjusted else ""
        exact = len(table.queries) <= MOST_EXACT
        least = max(2.0 ** (1 - unequal), 0.0 if exact else 1 / (1 + inference.samples))
        if unequal and inference.alpha < least <= 1:
            differ = " differ" if 2.0 ** (1 - pair.n) <= inference.alpha else ""
            text += f"; too few {table.nouns.queries}{differ}: the least possible p is {_p(least)}"
        elif pair.n <= _FEW_QUERIES:
            text += f"; with only {format_count(pair.n, table.nouns.query)}"
        return text

    def _judges(self, evidence: Scored, systems: Sequence[int], measure: int) -> Line:
        if len(evidence.judges) < 2:  # noqa: PLR2004
            said = "one judge" if evidence.judges else "no judges are named"
            return Line(_JUDGES, "-", said)
        a, b = systems
        apart = self.sign * np.array(
            [values[a, :, measure] - values[b, :, measure] for values in evidence.by_judge.values()]
        )
        apart[np.abs(apart) < _SAME] = 0
        apart = apart[~np.isnan(apart).all(axis=1)]
        sample = judge_sample(apart, self.table.inference.level)
        ahead = int((np.nanmean(apart, axis=1) > _SAME).sum()) if len(apart) else 0
        text = f"{self.more} for {ahead} of {format_count(len(apart), 'judge')}"
        if np.isnan(sample.low):
            return Line(_JUDGES, "open", f"{text}; no two of them graded the same query")
        text += f"; {_span(sample.low, sample.high)} for others like them"
        if (n := int((~np.isnan(apart)).any(axis=0).sum())) <= _FEW_QUERIES:
            text += f", with only {format_count(n, self.table.nouns.query)}"
        if len(apart) < ENOUGH_JUDGES:
            return Line(_JUDGES, "open", f"{text}; {len(apart)} are few")
        return Line(_JUDGES, self._bounded(sample.low, sample.high), text)

    def _unjudged(
        self, evidence: Scored, systems: Sequence[int], measure: Measure
    ) -> Iterator[Line]:
        values = self.table.values[:, :, self.claim.measure]
        now = values[self.claim.a] - values[self.claim.b]
        found = find_unjudged(evidence, systems, measure, now)
        if found is None:
            self.unexamined.append(_UNJUDGED)
            return
        if not len(found):
            none = "none among the cases that either lists"
            yield Line(_UNJUDGED, self._bounded(self.lead, self.lead), none)
            return
        low, high = _ordered(self.sign, found.low, found.high)
        verdict = self._bounded(low, high)
        text = f"{_span(low, high)} over all grades of {format_count(len(found), 'unjudged case')}"
        if verdict == "open":
            text += self._settling(found)
        yield Line(_UNJUDGED, verdict, text)

    def _settling(self, found: Unjudged) -> str:
        """The cases to judge to settle the sign of the difference."""
        n, self.to_judge = found.to_judge()
        if n is None:
            return f"; judging the {MOST_JUDGED:,} most telling ones would not settle it"
        if not n:
            return ""
        these, none = (f"these {n:,} cases", "none is") if n > 1 else ("this case", "it is not")
        named = ", ".join(f"{case.query} {case.case}" for case in self.to_judge[:_NAMED])
        more = ", ..." if n > _NAMED else ""
        return f"; judge {these} to settle it, if {none} relevant: {named}{more}"

    def _ties(self, evidence: Scored, systems: Sequence[int], measure: Measure) -> Line:
        ends, tied = [], 0
        for at, system in zip(self.claim[:2], systems, strict=True):
            lists = evidence.lists(system)
            values = self.table.values[at, :, self.claim.measure]
            least, greatest, n = _over_orders(lists, measure, values)
            ends.append(_ordered(self.sign, least, greatest))
            tied += n
        if not tied:
            return Line(_TIES, self._bounded(self.lead, self.lead), "none are tied")
        (worst_a, best_a), (worst_b, best_b) = ends
        low, high = float(np.nanmean(worst_a - best_b)), float(np.nanmean(best_a - worst_b))
        text = f"{_span(low, high)} over all orders of {format_count(tied, 'tied item')}"
        return Line(_TIES, self._bounded(low, high), text)

    def _others(self) -> Line:
        table, claim = self.table, self.claim
        more, less = ("higher", "lower") if (table.signs > 0).all() else ("better", "worse")
        others = [
            (self._turned(pair) * pair.difference, pair)
            for pair in table.pairs
            if {pair.a, pair.b} == {claim.a, claim.b} and pair.measure != claim.measure
        ]
        if not others:
            return Line(_OTHERS, "-", "one measure")
        significant = [pair.p <= table.inference.alpha for _, pair in others]
        ahead = [lead > _SAME for lead, _ in others]
        sure = sum(one and both for one, both in zip(ahead, significant, strict=True))
        behind = [
            (table.columns[pair.measure], is_sure)
            for (lead, pair), is_sure in zip(others, significant, strict=True)
            if lead < -_SAME
        ]
        verdict: Verdict = "yes" if all(ahead) and sure else "open"
        n = len(others)
        text = f"{more} by {sum(ahead)} of {n} other{'s' if n > 1 else ''}, {sure} significant"
        for word, wanted in ((f"significantly {less}", True), (less, False)):
            names = [name for name, is_sure in behind if is_sure == wanted]
            text += f"; {word} by {join_words(names)}" if names else ""
        if any(is_sure for _, is_sure in behind):
            verdict = "no"
        return Line(_OTHERS, verdict, text)

    def _humans(self, references: HumanReference, system: int, measure: int) -> Line:
        with np.errstate(invalid="ignore"):
            each = _mean(references.judges[:, :, measure])
            own = _mean(references.systems[:, system, :, measure])
        lowest, highest = measured(np.nanmin(each)), measured(np.nanmax(each))
        text = (
            f"a judge's own order scores {measured(float(np.nanmean(each)))} against the other "
            f"judges (lowest {lowest}, highest {highest}); "
            f"{self.table.labels[self.claim.a]} {measured(float(np.nanmean(own)))}"
        )
        return Line(_HUMANS, "-", text)


def _mean(scores: Floats) -> Floats:
    """The mean over queries by each judge, shape (judges,); NaN without any."""
    n = (~np.isnan(scores)).sum(axis=1)
    return np.where(n > 0, np.nansum(scores, axis=1) / np.maximum(n, 1), np.nan)


def _over_orders(lists: Lists, measure: Measure, values: Floats) -> tuple[Floats, Floats, int]:
    """Each query's lowest and highest score over all orders of ties; the number of tied items."""
    from quem.lists.evaluation import computed

    least, greatest, n = values.copy(), values.copy(), 0
    for queries in lists.run.parts():
        part = lists.part(queries)
        tie = part.run.ties(part.score)
        tied = np.bincount(tie)[tie] > 1
        n += int(tied.sum())
        has_ties = np.bincount(part.run.row[tied], minlength=len(part)) > 0
        at = np.flatnonzero(has_ties & ~np.isnan(values[queries]))
        by = part.relevance if "rel" in dict(measure.values) else part.value
        for relevant_first in (False, True) if len(at) else ():
            ends = computed(measure, part.untied(relevant_first=relevant_first, by=by))[0][at]
            where = queries.start + at
            least[where] = np.minimum(least[where], ends) if relevant_first else ends
            greatest[where] = np.maximum(greatest[where], ends) if relevant_first else ends
    return least, greatest, n


def _ordered(sign: int, low: Any, high: Any) -> tuple[Any, Any]:  # noqa: ANN401  numbers or arrays
    """The ordered ends of a range multiplied by a sign."""
    return (low, high) if sign > 0 else (-high, -low)


def _span(low: float, high: float) -> str:
    if not (np.isfinite(low) and np.isfinite(high)):
        return "–"
    return f"{measured(low, sign=True)} to {measured(high, sign=True)}"


def _p(p: float) -> str:
    return "< .001" if p < 0.0005 else f"{p:.3f}".removeprefix("0")  # noqa: PLR2004  prints .000
