"""Warnings about an evaluation of retrievers; ``docs/reference/warnings.md`` explains each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import WarningRules
from quem.io.text import shown
from quem.lists.evaluation import computed
from quem.retrieval.rows import JUDGED_DEPTH, failures_of, judged_share
from quem.wording import format_count, format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.errors import StudyWarning
    from quem.retrieval.analysis import Evaluation
    from quem.scores.table import ScoreTable

_FEW = 3
_MOSTLY_JUDGED = 0.9
_ROUNDING = 1e-9  # of similarities

_RESULTS: WarningRules[Evaluation, ScoreTable] = WarningRules()


def find_warnings(of: Evaluation, table: ScoreTable) -> Iterator[StudyWarning]:
    """The warnings about lists and scores."""
    return _RESULTS.find(of, table)


def _named(queries: Iterable[str]) -> str:
    return join_words(map(shown, queries), _FEW)


def _of_all(n: int, total: int) -> str:
    if n == total:
        return "any query" if total > 1 else "the only query"
    return f"{n:,} of {format_count(total, 'query')}"


@_RESULTS.add("similarity-range")
def _similarity_range(of: Evaluation, _: ScoreTable) -> Iterator[str]:
    values = of.truth.columns.value
    if of.truth.kind != "similarities" or not len(values):
        return
    if values.min() < -_ROUNDING or values.max() > 1 + _ROUNDING:
        yield (
            f"similarities of the ground truth range from {values.min():g} to {values.max():g}; "
            "quality_mueller, MAE, and MSE assume similarities from 0 to 1"
        )


@_RESULTS.add("retriever-failed")
def _retriever_failed(of: Evaluation, _: ScoreTable) -> Iterator[str]:
    """The queries without a list, by reason."""
    runs = {f"the retriever {shown(name)}": run for name, run in of.runs.items()}
    for pair in of.mac_fac.pairs if of.mac_fac else ():
        runs[f"MAC/FAC with a filter of {pair.filter:,} and k = {pair.k:,}"] = pair.run
    for what, run in runs.items():
        # Missing queries of a file were reported when it was read.
        failed = failures_of(run) if run.lists.failed else {}
        by_reason: dict[str, list[str]] = {}
        for query, why in failed.items():
            by_reason.setdefault(why, []).append(run.lists.queries[query])
        reasons = [f"for {_named(names)} it {why}" for why, names in by_reason.items()]
        if failed:
            yield (
                f"{what} gave no list for {_of_all(len(failed), len(run.lists.queries))}, which "
                f"counts as empty: {join_words(reasons, _FEW)}"
            )


@_RESULTS.add("unstable-retriever")
def _unstable_retriever(of: Evaluation, _: ScoreTable) -> Iterator[str]:
    for name, run in of.runs.items():
        if run.unstable:
            queries = [run.lists.queries[query] for query in run.unstable]
            yield (
                f"the retriever {shown(name)} returned different lists when called again, for "
                f"{_of_all(len(queries), len(run.lists.queries))} ({_named(queries)}); the first "
                "is used"
            )


@_RESULTS.add("undefined-scores")
def _undefined_scores(of: Evaluation, table: ScoreTable) -> Iterator[str]:
    """Measures without a score despite a list and a ground truth."""
    counts = of.scored.counts
    sizes = np.array([matched.rows.sizes[counts] for matched in of.scored.matched])
    undefined = np.isnan(table.values) & (sizes > 0)[:, :, np.newaxis]
    said = []
    for at in np.flatnonzero(undefined.any(axis=(0, 1))).tolist():
        system, query = np.argwhere(undefined[:, :, at])[0].tolist()
        reasons = computed(of.scored.measures[at], of.scored.lists(system))[1]
        why = next((f" ({reason})" for where, reason in reasons if where[counts][query]), "")
        n = int(undefined[:, :, at].any(axis=0).sum())
        said.append(f"{table.columns[at]} for {_of_all(n, len(table.queries))}{why}")
    if said:
        yield f"undefined for some retriever: {join_words(said, _FEW)}; means exclude these"


@_RESULTS.add("unjudged-cases", remedy="judge the others")
def _unjudged_cases(of: Evaluation, table: ScoreTable) -> Iterator[str]:
    few = [
        f"{format_percent(round(share, 3))} of {shown(name)}"
        for at, name in enumerate(table.systems)
        if (share := judged_share(of, at)) is not None and share < _MOSTLY_JUDGED
    ]
    if few:
        depth = of.measures[0].depth or JUDGED_DEPTH
        yield (
            f"of the cases among the {depth} best only {join_words(few, _FEW)} are judged; the "
            "others count as not relevant"
        )
