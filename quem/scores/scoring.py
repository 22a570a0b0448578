"""Scores of runs against judgments: a value per system, query, and measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from quem.errors import QuemError, StudyWarning
from quem.lists.evaluation import computed
from quem.lists.lists import Lists, Ties, check_ties
from quem.scores.matching import Judgments, Matched, Truth, match
from quem.scores.read import read_judgments, read_run
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from quem.lists.measure import Measure
    from quem.scores.columns import Floats, Keys

Empty = Literal["leave-out", "zero"]


class HumanReference(NamedTuple):
    """Each judge's own order, and the systems, scored by the mean grades of the other judges."""

    judges: Floats  # of shape (judges, queries, measures)
    systems: Floats  # of shape (judges, systems, queries, measures)


@dataclass(frozen=True)
class Scored:
    """The scores of systems."""

    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats  # of shape (systems, queries, measures): NaN where undefined
    judgments: Judgments  # of the counted queries
    matched: tuple[Matched, ...]  # lists of each system
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def queries(self) -> list[str]:
        """The counted queries, in the order of the judgments."""
        return self.judgments.queries

    def lists(self, system: int) -> Lists:
        """The lists of a system with the truth."""
        return self.matched[system].lists()

    def keys(self, system: int) -> Keys:
        """Keys of a system's listed cases, equal for the same case of a query."""
        return self.matched[system].key

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges' names; empty where unknown."""
        return self.judgments.judges

    @property
    def highest_grade(self) -> float:
        """The highest grade by any judge."""
        return float(np.nanmax(self.judgments.grades, initial=0.0))

    @cached_property
    def digest(self) -> str:
        """A digest of the judgments, independent of order."""
        return digest_of(self.judgments)

    @cached_property
    def by_judge(self) -> dict[str, Floats]:
        """The scores by the grades of each single judge, if there are several."""
        judges = self.judgments.judges
        if len(judges) < 2:  # noqa: PLR2004
            return {}
        return {
            name: self._against(self.judgments.of_judge(judge)) for judge, name in enumerate(judges)
        }

    @cached_property
    def human_reference(self) -> HumanReference | None:
        """The human reference; None without several judges."""
        n_judges = len(self.judgments.judges)
        if n_judges < 2:  # noqa: PLR2004
            return None
        judges, systems = [], []
        for judge in range(n_judges):
            own, others = self.judgments.of_judge(judge), self.judgments.without_judge(judge)
            lists = self.judgments.lists(others, own.rows, own.value, own.item)
            values = np.stack([computed(one, lists)[0] for one in self.measures], axis=1)
            values[own.empty | others.empty] = np.nan
            judges.append(values)
            systems.append(np.where(own.empty[:, np.newaxis], np.nan, self._against(others)))
        return HumanReference(np.stack(judges), np.stack(systems))

    def _against(self, truth: Truth) -> Floats:
        return np.stack([values_of(one, truth, self.measures) for one in self.matched])


def digest_of(judgments: Judgments, depth: int | None = None) -> str:
    """A digest of judgments, independent of order; of each query's best down to a depth."""
    from hashlib import sha256

    digest = sha256()
    keys = judgments.columns.key[judgments.row]
    for at, name in sorted(enumerate(map(str, judgments.queries)), key=itemgetter(1)):
        part = judgments.rows.cells(at)
        own, grades = keys[part], judgments.grades[:, part]
        if depth is not None and len(own) > depth:
            # Ties with the last could take its place.
            best = grades[0] >= np.sort(grades[0])[-depth]
            own, grades = own[best], grades[:, best]
        order = np.argsort(own, kind="stable")
        digest.update(f"{len(name)} {name} {len(order)} ".encode())
        digest.update(own[order].tobytes())
        digest.update(np.sort(grades[:, order], axis=0).tobytes())
    return digest.hexdigest()


def score_runs(
    runs: Mapping[str, object],
    judgments: object,
    measures: Sequence[Measure],
    *,
    ties: Ties = "expected",
    empty: Empty = "leave-out",
) -> Scored:
    """Score runs by system name; `empty` queries have no relevant case."""
    check_ties(ties)
    read = read_judgments(judgments)
    every = Judgments.of(read, ties)
    counts = _relevant(every, measures)
    if not counts.any():
        raise QuemError(_undefined(measures[0], every))
    kept = every if counts.all() or empty == "zero" else every.only(counts)
    warnings = [*read.notes]
    if len(every.queries) > len(kept.queries):
        warnings.append(_left_out(len(every.queries) - len(kept.queries), len(every.queries)))
    known = set(every.queries)
    matched, layers = [], []
    for name, given in runs.items():
        run = read_run(given, name, kept.finder())
        one = match(run, kept)
        values = values_of(one, kept.truth, measures)
        if empty == "zero":
            values[~counts & np.isnan(values).any(axis=1)] = 0
        matched.append(one)
        layers.append(values)
        # Free this run's memory before the next is read.
        warnings += [*run.notes, *_unlike(name, one, sum(q not in known for q in run.queries))]
        del run
    every_value = np.stack(layers)
    if np.isnan(every_value[:, :, 0]).all():
        raise QuemError(_undefined(measures[0], every))
    return Scored(
        tuple(runs),
        tuple(measures),
        every_value,
        kept,
        tuple(matched),
        tuple(warnings),
    )


def values_of(matched: Matched, truth: Truth, measures: Sequence[Measure]) -> Floats:
    """Scores of a system; 0 for a query that the run lacks, NaN for one that the truth lacks."""
    values = np.full((len(matched.rows), len(measures)), np.nan)
    whole = matched.lists(truth)
    for part in whole.run.parts():
        lists = whole.part(part)
        for column, one in enumerate(measures):
            scores, undefined = computed(one, lists)
            for where, _ in undefined:
                scores = np.where(where, np.nan, scores)
            values[part, column] = np.where(np.isfinite(scores), scores, np.nan)
    for column, one in enumerate(measures):
        if one.definition.better == "higher":
            nothing = (matched.rows.sizes == 0) & np.isnan(values[:, column])
            values[nothing, column] = 0
    values[truth.empty] = np.nan
    return values


def _relevant(judgments: Judgments, measures: Sequence[Measure]) -> NDArray[np.bool_]:
    """Which queries count: those with a relevant case, if measures need relevance."""
    asks = [one for one in measures if one.definition.family in {"relevance", "options"}]
    relevance = judgments.majority
    if not asks:
        return judgments.rows.sizes > 0
    values = [dict(one.values).get("rel", 1.0) for one in asks]
    least = min((float(one) for one in values if isinstance(one, int | float)), default=1.0)
    similarities = bool(len(relevance)) and (relevance != np.floor(relevance)).mean() > 0.5  # noqa: PLR2004
    reached = relevance > 0 if similarities else relevance >= least
    return judgments.rows.only(reached).sizes > 0


def _undefined(headline: Measure, judgments: Judgments) -> str:
    remedy = ""
    if "rel" in dict(headline.values) and (judgments.majority > 0).any():
        remedy = f"; name a lower one, as in {headline.definition.name}(rel=0.5)"
    return (
        f"{headline.name} is undefined for all queries: no case has a grade that counts as "
        f"relevant{remedy}"
    )


def _left_out(count: int, of: int) -> StudyWarning:
    message = (
        f"{count:,} of {format_count(of, 'query')} have no relevant case and are left "
        "out (trec_eval counts them 0, as --empty zero does)"
    )
    return StudyWarning("no-relevant-case", message)


def _unlike(name: str, matched: Matched, extra: int) -> list[StudyWarning]:
    """Warnings on missing and additional queries of a run."""
    said = []
    if matched.missing:
        of = format_count(len(matched.rows), "query")
        message = f"{name} lacks {matched.missing:,} of {of}; it scores 0 there"
        said.append(StudyWarning("no-list", message))
    if extra:
        queries = format_count(extra, "query")
        are = "it is" if extra == 1 else "they are"
        message = f"{name} has {queries} without judgments; {are} left out"
        said.append(StudyWarning("unknown-query", message))
    return said
