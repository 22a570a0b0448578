"""Warnings about an evaluation of retrievers, as tables of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from quem.errors import WarningRules
from quem.io.text import shown
from quem.wording import format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.retrieval.judges import JudgeGrades
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.result import Evaluated, RetrievalFindings
    from quem.retrieval.truth import ExpertRanks

    Judges: TypeAlias = ExpertRanks | JudgeGrades | None

_FEW_QUERIES = 10
_FEW_JUDGES = 5
_FEW = 3
# Of the cases that are looked at.
_MOSTLY_JUDGED, _UNEVEN = 0.9, 0.1
_LEAVE = ("leaves", "leave")
# Similarities are rounded.
_ROUNDING = 1e-9

_BEFORE: WarningRules[int, Judges, CaseLists | None] = WarningRules()
_TRUTH: WarningRules[RetrievalFindings] = WarningRules()
_RETRIEVERS: WarningRules[RetrievalFindings, Evaluated] = WarningRules()
_RESULTS: WarningRules[RetrievalFindings] = WarningRules()


def entry_warnings(study: RetrievalStudy) -> Iterator[StudyWarning]:
    """Warnings that are known before anything is run."""
    return _before(study, study.data.truth)


def find_warnings(findings: RetrievalFindings) -> Iterator[StudyWarning]:
    """All warnings about the result of an evaluation."""
    yield from _before(findings.study, findings.truth.lists)
    yield from _TRUTH.find(findings)
    for one in findings.evaluated:
        yield from _RETRIEVERS.find(findings, one)
    yield from _RESULTS.find(findings)


def _before(study: RetrievalStudy, truth: CaseLists | None) -> Iterator[StudyWarning]:
    return _BEFORE.find(len(study.data.task.queries), study.data.judges, truth)


@_BEFORE.add("few-queries")
def _few_queries(n_queries: int, _: Judges, __: CaseLists | None) -> Iterator[str]:
    if n_queries == 1:
        yield (
            "only one query has been evaluated, so there are no intervals; results do not "
            "generalize to other queries"
        )
    elif n_queries < _FEW_QUERIES:
        yield (
            f"{n_queries} queries are few: the bootstrap intervals are too narrow with fewer "
            f"than {_FEW_QUERIES}, and the tests have little power; use more queries"
        )


@_BEFORE.add("few-judges", remedy="add judges")
def _few_judges(_: int, judges: Judges, __: CaseLists | None) -> Iterator[str]:
    n_judges = len(judges.judges) if judges else _FEW_JUDGES
    if n_judges == 1:
        yield (
            "the ground truth is that of one judge, so the intervals ignore differences "
            "between judges"
        )
    elif n_judges < _FEW_JUDGES:
        yield (
            f"the ground truth is the consensus of only {n_judges} judges, so the intervals are "
            "too narrow"
        )


@_BEFORE.add("graded-once", remedy="let several judges grade the same cases")
def _graded_once(_: int, judges: Judges, __: CaseLists | None) -> Iterator[str]:
    each = getattr(judges, "graded_by", None)
    if judges is None or each is None or len(judges.judges) < 2 or not len(each):  # noqa: PLR2004
        return
    alone = int((each == 1).sum())
    if 2 * alone > len(each):
        yield (
            f"{alone:,} of {len(each):,} cases were graded by one judge only, so the intervals "
            "show little of how judges differ"
        )


def _named(queries: list[str]) -> str:
    return join_words(map(shown, queries), _FEW)


def _of_all(n: int, total: int) -> str:
    if n == total:
        return "any query" if total > 1 else "the only query"
    return f"{n:,} of {total:,} queries"


@_BEFORE.add("no-ground-truth")
def _no_ground_truth(_: int, __: Judges, truth: CaseLists | None) -> Iterator[str]:
    names = [q for q, n in zip(truth.queries, truth.sizes, strict=True) if not n] if truth else []
    if truth and names:
        yield (
            f"no ground truth for {_of_all(len(names), len(truth.queries))} "
            f"({_named(names)}); nothing is scored there"
        )


@_TRUTH.add("similarity-range")
def _similarity_range(findings: RetrievalFindings) -> Iterator[str]:
    values = findings.truth.lists.similarity
    if findings.truth.kind != "similarities" or not len(values):
        return
    if values.min() < -_ROUNDING or values.max() > 1 + _ROUNDING:
        yield (
            f"similarities of the ground truth range from {values.min():g} to {values.max():g}; "
            "quality_mueller, MAE, and MSE assume similarities from 0 to 1"
        )


@_RETRIEVERS.add("retriever-failed")
def _retriever_failed(findings: RetrievalFindings, one: Evaluated) -> Iterator[str]:
    yield from _failed(one.run.lists, f"the retriever {shown(one.id)}", _lost(findings, one))


def _lost(findings: RetrievalFindings, one: Evaluated) -> list[str]:
    """Measures that have no score for an empty list, and so leave failures out."""
    where = [query for query in one.run.lists.failed if findings.truth.lists.sizes[query]]
    if one.scores is None or not where:
        return []
    lost = np.isnan(one.scores.values[where])
    return [measure.name for at, measure in enumerate(findings.measures) if lost[:, at].all()]


def _failed(lists: CaseLists, what: str, lost: list[str]) -> Iterator[str]:
    """Name the queries for which there is no list, by reason."""
    failed = {q: why for q, why in lists.failed.items() if why != "was not asked"}
    if not failed:
        return
    by_reason: dict[str, list[str]] = {}
    for query, why in failed.items():
        by_reason.setdefault(why, []).append(lists.queries[query])
    reasons = [f"for {_named(names)} it {why}" for why, names in list(by_reason.items())[:_FEW]]
    more = f"; and {len(by_reason) - _FEW} other reasons" if len(by_reason) > _FEW else ""
    yield (
        f"{what} gave no list for {_of_all(len(failed), len(lists.queries))}, which "
        f"{'counts as an empty list' if len(failed) == 1 else 'count as empty lists'}"
        + (f" ({join_words(lost, _FEW)} {_LEAVE[len(lost) > 1]} empty lists out)" if lost else "")
        + f": {'; '.join(reasons)}{more}"
    )


@_RETRIEVERS.add("unstable-retriever")
def _unstable_retriever(_: RetrievalFindings, one: Evaluated) -> Iterator[str]:
    if one.run.unstable:
        names = [one.run.lists.queries[query] for query in one.run.unstable]
        yield (
            f"the retriever {shown(one.id)} returned different lists when called again, for "
            f"{_of_all(len(names), len(one.run.lists.queries))} ({_named(names)}); the first is "
            "used"
        )


@_RESULTS.add("undefined-scores")
def _undefined_scores(findings: RetrievalFindings) -> Iterator[str]:
    """Measures without a score where there is a list and a ground truth."""
    n = len(findings.task.queries)
    undefined = []
    for column, measure in enumerate(findings.measures):
        where = set()
        why = ""
        for one in findings.scored:
            assert one.scores is not None  # noqa: S101  those that are scored
            codes = one.scores.reason[:, column] * np.isnan(one.scores.values[:, column])
            own = set(one.run.lists.failed.values()) | set(findings.truth.lists.failed.values())
            for query in np.flatnonzero(codes).tolist():
                reason = one.scores.reasons[codes[query]]
                if reason not in own and findings.truth.lists.sizes[query]:
                    where.add(query)
                    why = why or reason
        if where:
            undefined.append(f"{measure.name} for {_of_all(len(where), n)} ({why})")
    if undefined:
        yield f"undefined for some retriever: {join_words(undefined, _FEW)}; means exclude these"


@_RESULTS.add("few-defined")
def _few_defined(findings: RetrievalFindings) -> Iterator[str]:
    """Means over so few queries that they are neither ranked nor tested."""
    few = [
        f"{measure.name} of {shown(one.id)} ({int(one.means.defined[at]):,})"
        for at, measure in enumerate(findings.measures)
        for one in findings.scored
        if one.means is not None and one.means.defined[at] and not findings.is_ranked(one.means, at)
    ]
    if few:
        yield (
            f"means over fewer than half of the {findings.n_scorable:,} queries with a ground "
            f"truth are not ranked and not tested: {join_words(few, _FEW)}"
        )


@_RESULTS.add("unjudged-cases", remedy="judge those in judge-next.csv")
def _unjudged_cases(findings: RetrievalFindings) -> Iterator[str]:
    few = [
        f"{format_percent(round(share, 3))} of {shown(name)}"
        for name, share in _judged(findings)
        if share < _MOSTLY_JUDGED
    ]
    if few:
        yield (
            f"of the cases {_among(findings)} only {join_words(few, _FEW)} are judged; the others "
            "count as not relevant"
        )


@_RESULTS.add("judged-unevenly", remedy="judge the cases of both")
def _judged_unevenly(findings: RetrievalFindings) -> Iterator[str]:
    shares = sorted(_judged(findings), key=lambda one: one[1])
    if len(shares) > 1 and shares[-1][1] - shares[0][1] > _UNEVEN:
        (least, low), (most, high) = shares[0], shares[-1]
        yield (
            f"{format_percent(round(high, 3))} of the cases {_among(findings)} of {shown(most)} "
            f"are judged, and {format_percent(round(low, 3))} of those of {shown(least)}, which "
            "may only look worse for that"
        )


def _judged(findings: RetrievalFindings) -> list[tuple[str, float]]:
    depth = findings.judged_depth
    shares = [(name, each[depth]) for name, each in findings.judged.items()]
    return [(name, share) for name, share in shares if not np.isnan(share)]


def _among(findings: RetrievalFindings) -> str:
    return f"among the {findings.judged_depth} best" if findings.judged_depth else "in the lists"


@_RESULTS.add("judges-could-differ", remedy="ask more judges")
def _judges_could_differ(findings: RetrievalFindings) -> Iterator[str]:
    """Significant with the consensus as fixed, and open where judges are drawn too."""
    names = [one.id for one in findings.scored]
    unsure = [
        f"{shown(names[pair.first])} and {shown(names[pair.second])}"
        for pair in findings.differences
        if pair.measure == findings.headline
        and pair.p_holm <= 1 - findings.settings.level
        and pair.interval[0] <= 0 <= pair.interval[1]
    ]
    if findings.n_panels and unsure:
        yield (
            f"the difference of {join_words(unsure, _FEW)} is significant if the judges' consensus "
            "is treated as fixed, and its interval over judges and queries includes 0"
        )


@_RESULTS.add("retriever-failed")
def _phase_failed(findings: RetrievalFindings) -> Iterator[str]:
    for pair in findings.mac_fac.pairs if findings.mac_fac else ():
        what = f"MAC/FAC with a filter of {pair.filter:,} and k = {pair.k:,}"
        yield from _failed(pair.run.lists, what, [])
