"""Facts on retrievers besides their scores, as rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from quem.report.rows import Interval, Row, col
from quem.retrieval.running import NOT_ASKED, Run, Time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.retrieval.analysis import Evaluation
    from quem.retrieval.mac_fac import MacFac
    from quem.scores.result import Scored

JUDGED_DEPTH = 10  # if the headline has no cutoff


class RetrieverRow(Row):
    """Facts on a retriever besides its scores."""

    title: ClassVar[str] = "Retrievers"
    id: str = col("as in the study file")
    name: str = col("for people", "retriever")
    failures: int = col("queries without a list, each scored as an empty list")
    tied: float | None = col("share of positions whose similarity another case of the list has")
    judged: float | None = col(
        "judged share of the cases within the headline's cutoff; empty unless grades are the "
        "ground truth"
    )
    ms: float | None = col(
        "milliseconds per query: the median over the rounds of the mean", "ms/query", 3
    )
    ms_interval: Interval | None = col("of that, between order statistics", "interval", 3)
    speedup: float | None = col(
        "the time of the retriever that is the ground truth, as a multiple of this one's",
        "speedup",
    )


def retriever_rows(of: Evaluation) -> Iterator[RetrieverRow]:
    level = of.inference.level
    names = {one.id: one.name or one.id for one in of.study.spec.retrievers}
    for at, name in enumerate(of.scored.systems):
        run = of.runs[name]
        time = run.time(level).in_ms
        speedup = of.truth_run.share_of(run, level).median if of.truth_run else np.nan
        yield RetrieverRow(
            id=name,
            name=names[name],
            failures=len(failures_of(run)),
            tied=tied_share(run),
            judged=judged_share(of, at),
            ms=_known(time.median),
            ms_interval=time.interval,
            speedup=_known(speedup),
        )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def failures_of(run: Run) -> dict[int, str]:
    """The queries without a list, with the reason."""
    lists = run.lists
    if lists.failed:
        return {query: why for query, why in lists.failed.items() if why != NOT_ASKED}
    if len(run.taken):
        return {}
    return dict.fromkeys(np.flatnonzero(lists.sizes == 0).tolist(), "is not in the file")


def tied_share(run: Run) -> float | None:
    lists = run.lists
    if not (lists.scored and len(lists.case)):
        return None
    same = (np.diff(lists.similarity) == 0) & (np.diff(lists.query) == 0)
    tied = np.append(same, [False]) | np.append([False], same)
    return float(tied.mean())


def judged_share(of: Evaluation, at: int) -> float | None:
    """The judged share of the cases within the headline's cutoff, or of the 10 best."""
    if of.truth.kind != "grades":
        return None
    matched = of.scored.matched[at]
    near = matched.rows.position <= (of.measures[0].depth or JUDGED_DEPTH)
    return float((matched.found[near] >= 0).mean()) if near.any() else None


class TimeRow(Row):
    """A retriever's time for a query."""

    retriever: str = col("id")
    query: str = col("id")
    seconds: float = col("median over the rounds")


def time_rows(findings: Scored) -> Iterator[TimeRow]:
    found: Evaluation = findings.found
    for name, run in found.runs.items():
        for query, seconds in zip(run.timed.tolist(), run.seconds.tolist(), strict=True):
            yield TimeRow(retriever=name, query=run.lists.queries[query], seconds=seconds)


class FailureRow(Row):
    """A query without a list of a retriever."""

    retriever: str = col("id")
    query: str = col("id")
    reason: str = col("why it has no list")


def failure_rows(findings: Scored) -> Iterator[FailureRow]:
    found: Evaluation = findings.found
    for name in found.scored.systems:
        for query, why in failures_of(found.runs[name]).items():
            named = found.runs[name].lists.queries[query]
            yield FailureRow(retriever=name, query=named, reason=why)


class FilterRow(Row):
    """The result of one filter size and one k by one measure."""

    filter: int = col("cases that pass")
    k: int = col("length of the list")
    measure: str = col("as it is spelled")
    mean: float | None = col("against the second phase's list of all cases")
    interval: Interval | None = col("percentile bootstrap over queries")
    n: int = col("queries where it is defined")
    seconds: float | None = col("of both phases, per query")
    share: float | None = col("time of both phases over that of the second alone")
    share_interval: Interval | None = col("of that, between order statistics")


def filter_rows(findings: Scored) -> Iterator[FilterRow]:
    mac_fac: MacFac | None = findings.found.mac_fac
    level = findings.table.inference.level
    for pair in mac_fac.pairs if mac_fac else ():
        for at, measure in enumerate(pair.measures):
            low, high = float(pair.means.low[at]), float(pair.means.high[at])
            yield FilterRow(
                filter=pair.filter,
                k=pair.k,
                measure=measure.name,
                mean=_known(pair.means.mean[at]),
                interval=None if np.isnan(low) else (low, high),
                n=int(pair.means.n[at]),
                seconds=_known(pair.run.time(level).median),
                share=_known(pair.share.median),
                share_interval=pair.share.interval,
            )


class TruthRow(Row):
    """The ground truth of the lists."""

    kind: Literal["similarities", "grades", "ranks"] = col("what it is")
    source: str = col("where it is from")
    judges: tuple[str, ...] = col("judges in the mean; empty unless known")
    ms: float | None = col("milliseconds per query of the retriever that it is")
    ms_interval: Interval | None = col("of that, between order statistics")


def truth_row(findings: Scored) -> TruthRow:
    found: Evaluation = findings.found
    time = found.truth_run.time(found.inference.level).in_ms if found.truth_run else Time()
    return TruthRow(
        kind=found.truth.kind,
        source=found.truth.source,
        judges=found.truth.columns.judges,
        ms=_known(time.median),
        ms_interval=time.interval,
    )
