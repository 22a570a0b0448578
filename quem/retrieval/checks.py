"""What a reader of an evaluation must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import StudyWarning
from quem.io.text import shown
from quem.retrieval.stored import words_of
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.result import Evaluated, MacFacFound, RetrievalFindings

__all__ = ["entry_warnings", "find_warnings"]

_FEW_QUERIES = 10
_FEW_JUDGES = 5
_FEW = 3
_LEAVE = ("leaves", "leave")
# Similarities are rounded.
_ROUNDING = 1e-9


def entry_warnings(study: RetrievalStudy) -> Iterator[StudyWarning]:
    """Warnings that are known before anything is run."""
    yield from _few(len(study.data.task.queries))
    experts = study.data.experts
    if experts is not None:
        yield from _judges(len(experts.judges))
    if study.data.truth is not None:
        yield from _without_truth(study.data.truth)


def find_warnings(findings: RetrievalFindings) -> Iterator[StudyWarning]:
    """All warnings about the result of an evaluation."""
    yield from _few(len(findings.task.queries))
    if findings.experts is not None:
        yield from _judges(len(findings.experts.judges))
    yield from _without_truth(findings.truth.lists)
    if findings.truth.kind == "similarities":
        yield from _out_of_range(findings)
    for one in findings.evaluated:
        yield from _failed(one.run.lists, f"the retriever {shown(one.id)}", _lost(findings, one))
        yield from _unstable(one)
    yield from _undefined(findings)
    yield from _few_defined(findings)
    yield from _large_k(findings)
    yield from _no_trec_files(findings)
    if findings.mac_fac is not None:
        yield from _mac_fac(findings.mac_fac)
    elif findings.study.spec.mac_fac is not None:
        message = "MAC/FAC is left out because one of its retrievers failed to load"
        yield StudyWarning("mac-fac-left-out", message)


def _few(n_queries: int) -> Iterator[StudyWarning]:
    if n_queries == 1:
        message = (
            "only one query has been evaluated, so there are no intervals; results do not "
            "generalize to other queries"
        )
        yield StudyWarning("few-queries", message)
    elif n_queries < _FEW_QUERIES:
        message = (
            f"{n_queries} queries are few: the bootstrap intervals are too narrow with fewer "
            f"than {_FEW_QUERIES}, and the tests have little power; use more queries"
        )
        yield StudyWarning("few-queries", message)


def _judges(n_judges: int) -> Iterator[StudyWarning]:
    if n_judges == 1:
        message = (
            "the ground truth is the order of one judge, so the intervals ignore differences "
            "between judges; add judges"
        )
        yield StudyWarning("few-judges", message)
    elif n_judges < _FEW_JUDGES:
        message = (
            f"the ground truth is the consensus of only {n_judges} judges, so the intervals are "
            "too narrow; add judges"
        )
        yield StudyWarning("few-judges", message)


def _named(queries: list[str]) -> str:
    return join_words(map(shown, queries), _FEW)


def _of_all(n: int, total: int) -> str:
    if n == total:
        return "any query" if total > 1 else "the only query"
    return f"{n:,} of {total:,} queries"


def _without_truth(truth: CaseLists) -> Iterator[StudyWarning]:
    lacking = np.flatnonzero(truth.sizes == 0).tolist()
    if lacking:
        names = [truth.queries[query] for query in lacking]
        message = (
            f"no ground truth for {_of_all(len(names), len(truth.queries))} "
            f"({_named(names)}); nothing is scored there"
        )
        yield StudyWarning("no-ground-truth", message)


def _out_of_range(findings: RetrievalFindings) -> Iterator[StudyWarning]:
    values = findings.truth.lists.similarity
    if len(values) and (values.min() < -_ROUNDING or values.max() > 1 + _ROUNDING):
        message = (
            f"similarities of the ground truth range from {values.min():g} to {values.max():g}; "
            "quality_mueller, MAE and MSE assume similarities from 0 to 1"
        )
        yield StudyWarning("similarity-range", message)


def _lost(findings: RetrievalFindings, one: Evaluated) -> list[str]:
    """Measures that have no score for an empty list, and so leave failures out."""
    where = [query for query in one.run.lists.failed if findings.truth.lists.sizes[query]]
    if one.scores is None or not where:
        return []
    lost = np.isnan(one.scores.values[where])
    return [measure.name for at, measure in enumerate(findings.measures) if lost[:, at].all()]


def _failed(lists: CaseLists, what: str, lost: list[str]) -> Iterator[StudyWarning]:
    failed = {q: why for q, why in lists.failed.items() if why != "was not asked"}
    if not failed:
        return
    by_reason: dict[str, list[str]] = {}
    for query, why in failed.items():
        by_reason.setdefault(why, []).append(lists.queries[query])
    told = [f"for {_named(names)} it {why}" for why, names in list(by_reason.items())[:_FEW]]
    more = f"; and {len(by_reason) - _FEW} other reasons" if len(by_reason) > _FEW else ""
    message = (
        f"{what} gave no list for {_of_all(len(failed), len(lists.queries))}, which "
        f"{'counts as an empty list' if len(failed) == 1 else 'count as empty lists'}"
        + (f" ({join_words(lost, _FEW)} {_LEAVE[len(lost) > 1]} empty lists out)" if lost else "")
        + f": {'; '.join(told)}{more}"
    )
    yield StudyWarning("retriever-failed", message)


def _unstable(one: Evaluated) -> Iterator[StudyWarning]:
    if one.run.unstable:
        names = [one.run.lists.queries[query] for query in one.run.unstable]
        message = (
            f"the retriever {shown(one.id)} returned different lists when called again, for "
            f"{_of_all(len(names), len(one.run.lists.queries))} ({_named(names)}); the first is "
            "used"
        )
        yield StudyWarning("unstable-retriever", message)


def _undefined(findings: RetrievalFindings) -> Iterator[StudyWarning]:
    """Measures without a score where there is a list and a ground truth."""
    n = len(findings.task.queries)
    told = []
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
            told.append(f"{measure.name} for {_of_all(len(where), n)} ({why})")
    if told:
        message = f"undefined for some retriever: {join_words(told, _FEW)}; means exclude these"
        yield StudyWarning("undefined-scores", message)


def _few_defined(findings: RetrievalFindings) -> Iterator[StudyWarning]:
    """Means over so few queries that they are neither ranked nor tested."""
    told = [
        f"{measure.name} of {shown(one.id)} ({int(one.means.defined[at]):,})"
        for at, measure in enumerate(findings.measures)
        for one in findings.scored
        if one.means is not None and one.means.defined[at] and not findings.is_ranked(one.means, at)
    ]
    if told:
        message = (
            f"means over fewer than half of the {findings.n_scorable:,} queries with a ground "
            "truth "
            f"are not ranked and not tested: {join_words(told, _FEW)}"
        )
        yield StudyWarning("few-defined", message)


def _large_k(findings: RetrievalFindings) -> Iterator[StudyWarning]:
    n = findings.task.n_candidates
    large = [m.name for m in findings.measures if int(dict(m.values).get("k") or 0) > n]
    if large:
        message = f"{join_words(large, _FEW)}: k exceeds the {n} cases to search"
        yield StudyWarning("k-beyond-cases", message)


def _no_trec_files(findings: RetrievalFindings) -> Iterator[StudyWarning]:
    for names, what in ((findings.task.queries.ids, "queries"), (findings.task.cases.ids, "cases")):
        if words_of(names) is None:
            message = (
                f"ids of {what} differ only in spaces, which TREC files cannot hold; runs "
                "and qrels are not written"
            )
            yield StudyWarning("no-trec-files", message)


def _mac_fac(mac_fac: MacFacFound) -> Iterator[StudyWarning]:
    for pair in mac_fac.pairs:
        yield from _failed(
            pair.run.lists, f"MAC/FAC with a filter of {pair.filter:,} and k = {pair.k:,}", []
        )
    small = [pair for pair in mac_fac.pairs if pair.k > pair.filter]
    if small:
        each = join_words((f"k = {pair.k:,} of {pair.filter:,}" for pair in small), _FEW)
        message = f"a filter that keeps fewer cases than k cannot return k: {each}"
        yield StudyWarning("k-beyond-filter", message)
