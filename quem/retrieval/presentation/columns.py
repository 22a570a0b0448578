"""Every value of the result of a retrieval study: analysis.json and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.report.columns import (
    COUNT,
    FLAG,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    STUDY,
    WARNINGS,
    Column,
    Columns,
    Table,
    Type,
    WholeTable,
    choice,
    each,
    head,
    null_or,
    of,
    settings,
)
from quem.retrieval.result import time_of
from quem.studyfile.retrieval import RetrievalSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.lists.inference import Means, PairDifference
    from quem.retrieval.result import (
        Evaluated,
        MacFacFound,
        MacFacPair,
        RetrievalFindings,
        Time,
        Truth,
    )
    from quem.retrieval.unjudged import Flip, Next, Unjudged

_POSITIVE = Type({"type": "integer", "minimum": 1})
_SECONDS = null_or(Type({"type": "number", "minimum": 0}))


class _Mean(NamedTuple):
    """The mean of one measure, of a retriever or of a filter."""

    means: Means
    at: int
    measure: Measure
    of: Any = None


def _means(
    means: Means | None, measures: tuple[Measure, ...], owner: object = None
) -> list[_Mean] | None:
    if means is None:
        return None
    return [_Mean(means, at, measure, owner) for at, measure in enumerate(measures)]


_MEASURE: Column[_Mean, RetrievalFindings] = Column("measure", NAME, "name", of="measure.name")
_MEAN: tuple[Column[_Mean, RetrievalFindings], ...] = (
    Column("mean", null_or(NUMBER), "over the queries", of=lambda row, _: row.means.mean[row.at]),
    Column(
        "interval",
        OPEN_INTERVAL,
        "of the mean, at `settings.level`",
        of=lambda row, _: (row.means.low[row.at], row.means.high[row.at]),
    ),
    Column(
        "n_queries",
        COUNT,
        "queries where it is defined",
        of=lambda row, _: row.means.defined[row.at],
    ),
)
_RANKED: Column[_Mean, RetrievalFindings] = Column(
    "ranked",
    FLAG,
    "whether these are at least half of the queries with a ground truth",
    of=lambda row, findings: findings.is_ranked(row.means, row.at),
)
_SCORES = Columns(_MEASURE, *_MEAN, _RANKED)


def _measured(findings: RetrievalFindings) -> Iterator[_Mean]:
    for one in [*findings.scored, *([findings.judges] if findings.judges else [])]:
        yield from _means(one.means, findings.measures, one) or []


_MEASURES: Columns[_Mean, RetrievalFindings] = Columns(
    Column("retriever", NAME, "id", of=lambda row, _: row.of.id or row.of.name),
    _MEASURE,
    Column("better", choice("higher", "lower"), "direction", of="measure.definition.better"),
    *_MEAN,
    _RANKED,
    Column("failures", COUNT, "queries without a list", of="of.n_failed"),
    Column(
        "judged",
        null_or(SHARE),
        "share of the cases that it looks at which are judged; empty unless grades are the truth",
        of=lambda row, findings: findings.judged_share(row.of, row.at),
    ),
)


def _names_of_queries(findings: RetrievalFindings) -> NDArray[Any]:
    return np.array(findings.task.queries.ids, dtype=object)


def _repeated(findings: RetrievalFindings, times: int) -> NDArray[Any]:
    return np.repeat(_names_of_queries(findings), times)


def _tiled(measures: tuple[Measure, ...], findings: RetrievalFindings) -> NDArray[Any]:
    names = np.array([measure.name for measure in measures], dtype=object)
    return np.tile(names, len(findings.task.queries))


def _reasons(scores: Any) -> NDArray[Any]:  # noqa: ANN401  scores of any owner
    return np.asarray(np.array(scores.reasons, dtype=object)[scores.reason.ravel()])


# One row per retriever, query, and measure; each column is computed at once.
_QUERY_SCORES: Columns[Evaluated, RetrievalFindings] = Columns(
    Column("retriever", NAME, "id", of="id"),
    Column("query", NAME, "id", of=lambda _, f: _repeated(f, len(f.measures))),
    Column("measure", NAME, "name", of=lambda _, f: _tiled(f.measures, f)),
    Column(
        "score",
        NUMBER,
        "empty where it is undefined",
        of=lambda row, _: row.scores.values.ravel() if row.scores else None,
    ),
    Column(
        "reason",
        NAME,
        "why there is no score, or why an empty list was scored",
        of=lambda row, _: _reasons(row.scores),
    ),
)


def _timed(row: Evaluated) -> NDArray[np.bool_]:
    return ~np.isnan(row.run.seconds)


_TIMES: Columns[Evaluated, RetrievalFindings] = Columns(
    Column("retriever", NAME, "id", of="id"),
    Column("query", NAME, "id", of=lambda row, f: _names_of_queries(f)[_timed(row)]),
    Column(
        "seconds",
        NUMBER,
        "median time of the query",
        of=lambda row, _: row.run.seconds[_timed(row)],
    ),
)


class _Round(NamedTuple):
    """One of the rounds in which queries are timed."""

    retriever: str
    round: int
    seconds: float


def _rounds(findings: RetrievalFindings) -> Iterator[_Round]:
    for one in findings.evaluated:
        for number, seconds in enumerate(one.run.rounds().tolist(), 1):
            yield _Round(one.id, number, seconds)


_ROUNDS: Columns[_Round, RetrievalFindings] = Columns(
    Column("retriever", NAME, "id"),
    Column("round", _POSITIVE, "from 1"),
    Column("seconds", NUMBER, "mean over the queries that were timed"),
)


def _scored_id(which: str) -> Callable[[Any, RetrievalFindings], str]:
    return lambda row, findings: findings.scored[getattr(row, which)].id


_DIFFERENCES: Columns[PairDifference, RetrievalFindings] = Columns(
    Column("a", NAME, "id", of=_scored_id("first")),
    Column("b", NAME, "id", of=_scored_id("second")),
    Column("measure", NAME, "name", of=lambda row, f: f.measures[row.measure].name),
    Column("n_queries", COUNT, "queries with a score of both", of="n"),
    Column("tested", FLAG, "false with fewer than half of the queries with a ground truth"),
    Column("difference", null_or(NUMBER), "of the means, a minus b"),
    Column("interval", OPEN_INTERVAL, "of the difference"),
    Column("higher", COUNT, "queries on which a is higher", only="csv"),
    Column("equal", COUNT, "queries on which they are equal", only="csv"),
    Column("lower", COUNT, "queries on which a is lower", only="csv"),
    Column("p", null_or(SHARE), "paired randomization test"),
    Column("p_holm", null_or(SHARE), "adjusted for the number of pairs"),
    Column("patterns", COUNT, "patterns of signs tried", only="csv"),
    Column("exact", FLAG, "whether these are all"),
)


def _time(
    time: Callable[[Any, RetrievalFindings], Time],
) -> tuple[Column[Any, RetrievalFindings], ...]:
    return (
        Column(
            "seconds",
            _SECONDS,
            "median time per query; null where nothing was timed",
            of=lambda row, findings: time(row, findings).median,
        ),
        Column(
            "seconds_interval",
            OPEN_INTERVAL,
            "of that",
            of=lambda row, findings: (time(row, findings).low, time(row, findings).high),
        ),
    )


class _Failure(NamedTuple):
    """A query without a list."""

    query: str
    reason: str


def _failures(one: Evaluated, _: RetrievalFindings) -> list[_Failure]:
    lists = one.run.lists
    if one.is_truth:
        return []
    return [_Failure(lists.queries[query], why) for query, why in lists.failed.items()]


_FAILED: Columns[_Failure, RetrievalFindings] = Columns(
    Column("query", NAME, "id"), Column("reason", NAME, "why it has no list")
)
_JUDGED: Columns[tuple[int | None, float], RetrievalFindings] = Columns(
    Column(
        "k", null_or(_POSITIVE), "of the best cases; null for whole lists", of=lambda r, _: r[0]
    ),
    Column("share", null_or(SHARE), "judged; null without lists", of=lambda row, _: row[1]),
)
_RETRIEVER: Columns[Evaluated, RetrievalFindings] = Columns(
    Column("id", NAME, "as in the study file"),
    Column("name", NAME, "as in the study file"),
    Column("source", choice("linear", "python", "similarities", "run"), "where its lists are from"),
    Column("is_ground_truth", FLAG, "whether it is the ground truth", of="is_truth"),
    Column("n_failed", COUNT, "queries without a list, each scored as an empty list"),
    Column(
        "tied_share",
        null_or(SHARE),
        "share of positions whose similarity another case of the list has; null without lists",
    ),
    Column(
        "judged",
        null_or(each(_JUDGED)),
        "share of the best cases that are judged; null unless grades are the ground truth",
        of=lambda row, findings: (
            list(findings.judged[row.id].items()) if row.id in findings.judged else None
        ),
    ),
    *_time(lambda row, findings: findings.time(row)),
    Column("n_timed", COUNT, "queries timed", of=lambda row, _: len(row.run.timed)),
    Column(
        "scores",
        null_or(each(_SCORES)),
        "one entry per measure; null for the ground truth",
        of=lambda row, findings: _means(row.means, findings.measures),
    ),
    Column("failed", each(_FAILED), "queries without a list", of=_failures),
)


def _full_seconds(findings: RetrievalFindings) -> float:
    if findings.mac_fac is None:
        return np.nan
    return time_of(findings.mac_fac.full.rounds(), findings.settings.level).median


_SHARE_OF_TIME: tuple[Column[Any, RetrievalFindings], ...] = (
    Column("mac_seconds", _SECONDS, "of the filter, per query; null where nothing was timed"),
    Column(
        "time_share",
        _SECONDS,
        "time of both phases over that of the second alone; null where nothing was timed",
        of="share.median",
    ),
    Column(
        "time_share_interval", OPEN_INTERVAL, "of that", of=lambda r, _: (r.share.low, r.share.high)
    ),
)
_FILTER: Column[Any, RetrievalFindings] = Column("filter", _POSITIVE, "cases that pass")
_K: Column[Any, RetrievalFindings] = Column("k", _POSITIVE, "length of the list")
_PAIR: Columns[MacFacPair, RetrievalFindings] = Columns(
    _FILTER,
    _K,
    *_time(lambda row, findings: findings.time(row)),
    *_SHARE_OF_TIME,
    Column(
        "scores",
        each(_SCORES),
        "against the second phase alone",
        of=lambda row, _: _means(row.means, row.measures),
    ),
)
_MAC_FAC: Columns[MacFacFound, RetrievalFindings] = Columns(
    Column("mac", NAME, "id of the filter"),
    Column("fac", NAME, "id of the second phase"),
    Column(
        "full_seconds",
        _SECONDS,
        "median time per query of the second phase alone; null where nothing was timed",
        of=lambda _, findings: _full_seconds(findings),
    ),
    Column("pairs", each(_PAIR, 1), "one entry per pair of filter and k"),
)


def _of_pair(column: Column[Any, RetrievalFindings]) -> Column[_Mean, RetrievalFindings]:
    """Give a column of a pair of filter and k as one of its measures."""
    return Column(
        column.name,
        column.type,
        column.meaning,
        of=lambda row, findings: column.value(row.of, findings),
    )


def _filtered(findings: RetrievalFindings) -> Iterator[_Mean]:
    for pair in findings.mac_fac.pairs if findings.mac_fac else ():
        yield from _means(pair.means, pair.measures, pair) or []


_FILTERED: Columns[_Mean, RetrievalFindings] = Columns(
    _of_pair(_FILTER),
    _of_pair(_K),
    _MEASURE,
    *_MEAN,
    Column(
        "seconds",
        NUMBER,
        "median time per query",
        of=lambda row, findings: findings.time(row.of).median,
    ),
    Column("mac_seconds", NUMBER, "of the filter", of="of.mac_seconds"),
    Column(
        "full_seconds",
        NUMBER,
        "of the second phase alone",
        of=lambda _, findings: _full_seconds(findings),
    ),
    *(_of_pair(column) for column in _SHARE_OF_TIME[1:]),
)
_FILTERED_QUERIES: Columns[MacFacPair, RetrievalFindings] = Columns(
    _FILTER,
    _K,
    Column("query", NAME, "id", of=lambda row, f: _repeated(f, len(row.measures))),
    Column("measure", NAME, "name", of=lambda row, f: _tiled(row.measures, f)),
    Column("score", NUMBER, "by the measure", of=lambda row, _: row.scores.values.ravel()),
    Column("reason", NAME, "why there is no score", of=lambda row, _: _reasons(row.scores)),
    Column(
        "seconds",
        NUMBER,
        "time of the query",
        of=lambda row, _: np.repeat(row.run.seconds, len(row.measures)),
    ),
)

_TRUTH: Columns[Truth, RetrievalFindings] = Columns(
    Column("kind", choice("similarities", "grades", "experts"), "what it is"),
    Column("source", NAME, "where it is from"),
    Column(
        "n_queries",
        COUNT,
        "queries with a ground truth",
        of=lambda row, _: (row.lists.sizes > 0).sum(),
    ),
    Column(
        "judges",
        null_or(each(NAME)),
        "null unless the judges are known",
        of=lambda _, findings: (
            findings.judges_of_truth.judges if findings.judges_of_truth else None
        ),
    ),
    Column(
        "consensus",
        choice("median", "mean", None),
        "what the judges' grades were brought together by; null unless judges gave grades",
        of=lambda _, findings: findings.graded.by if findings.graded else None,
    ),
)
_FLIP: Columns[Flip, RetrievalFindings] = Columns(
    Column("a", NAME, "id", of=_scored_id("first")),
    Column("b", NAME, "id", of=_scored_id("second")),
    Column("difference", null_or(NUMBER), "of the means by the headline, a minus b"),
    Column("low", null_or(NUMBER), "the least that grades of the unjudged cases can make it"),
    Column("high", null_or(NUMBER), "the most that they can make it"),
    Column("unjudged", COUNT, "unjudged cases of both lists"),
    Column("could_flip", FLAG, "whether the sign could change"),
    Column(
        "to_settle",
        null_or(COUNT),
        "cases to judge until the sign is certain if none is relevant; null where it cannot change",
    ),
)


def _positions(row: Next, _: RetrievalFindings) -> str:
    return "; ".join(f"{name} {at}" for name, at in row.positions.items())


_NEXT: Columns[Next, RetrievalFindings] = Columns(
    Column("query", NAME, "id"),
    Column("case", NAME, "id"),
    Column("positions", NAME, "where retrievers have it", of=_positions),
    Column(
        "removes",
        NUMBER,
        "by how much judging it narrows the bounds of the differences that could flip, in sum",
    ),
)
_UNJUDGED: Columns[Unjudged, RetrievalFindings] = Columns(
    Column("k", null_or(_POSITIVE), "down to where the headline looks; null for whole lists"),
    Column("top_grade", NUMBER, "the highest grade that an unjudged case could have", of="top"),
    Column("n_cases", COUNT, "unjudged cases of the retrievers that are compared"),
    Column("n_unbounded", COUNT, "pairs of these whose difference has no bounds"),
    Column("flips", each(_FLIP), "one entry per pair with bounds", of="flips"),
    Column("judge_next", each(_NEXT), "what to judge next, the most telling first", of="next"),
)


_QUERIES: Columns[RetrievalFindings, RetrievalFindings] = Columns(
    Column("n", _POSITIVE, "number of queries", of=lambda row, _: len(row.task.queries)),
    Column("leave_one_out", FLAG, "whether each query is a case too", of="task.leave_one_out"),
)
_CASES: Columns[RetrievalFindings, RetrievalFindings] = Columns(
    Column("n", _POSITIVE, "number of cases", of=lambda row, _: len(row.task.cases))
)
_USED: Columns[Measure, RetrievalFindings] = Columns(
    Column("measure", NAME, "name", of="name"),
    Column("better", choice("higher", "lower"), "direction", of="definition.better"),
    Column("summary", NAME, "what it is", of="definition.summary"),
)

DOCUMENT: Columns[RetrievalFindings, RetrievalFindings] = Columns(
    *head("retrieval"),
    Column("study", of(STUDY), "the study", of="study.spec"),
    settings(RetrievalSettings),
    WARNINGS,
    Column("queries", of(_QUERIES), "the queries", of=lambda row, _: row),
    Column("cases", of(_CASES), "the case base", of=lambda row, _: row),
    Column("asked_for", _POSITIVE, "cases requested of each retriever", of="depth"),
    Column("ground_truth", of(_TRUTH), "the ground truth", of="truth"),
    Column(
        "headline",
        NAME,
        "the measure of the result",
        of=lambda row, _: row.measures[row.headline].name,
    ),
    Column("measures", each(_USED, 1), "the measures"),
    Column("retrievers", each(_RETRIEVER), "one entry per retriever", of="evaluated"),
    Column(
        "judges",
        null_or(each(_SCORES)),
        "each judge against the others; null unless at least two judges are the ground truth",
        of=lambda row, _: _means(row.judges.means, row.measures) if row.judges else None,
    ),
    Column("differences", each(_DIFFERENCES), "one entry per pair and measure"),
    Column(
        "unjudged",
        null_or(of(_UNJUDGED)),
        "what unjudged cases could change; null where all are judged, and without grades",
    ),
    Column(
        "mac_fac", null_or(of(_MAC_FAC)), "two-phase retrieval; null unless the study asks for it"
    ),
)


def _pairs(findings: RetrievalFindings) -> tuple[MacFacPair, ...]:
    return findings.mac_fac.pairs if findings.mac_fac else ()


TABLES: tuple[Table[Any, RetrievalFindings], ...] = (
    Table("measures", "one row per retriever and measure", _MEASURES, _measured),
    WholeTable(
        "scores",
        "one row per retriever, query, and measure",
        _QUERY_SCORES,
        lambda findings: [one for one in findings.scored if one.scores is not None],
    ),
    Table("differences", "one row per pair and measure", _DIFFERENCES, lambda f: f.differences),
    Table(
        "flips",
        "one row per pair whose lists have unjudged cases",
        _FLIP,
        lambda findings: findings.unjudged.flips if findings.unjudged else (),
    ),
    Table(
        "judge-next",
        "one row per unjudged case to judge next",
        _NEXT,
        lambda findings: findings.unjudged.next if findings.unjudged else (),
    ),
    WholeTable(
        "times",
        "one row per retriever and query that were timed",
        _TIMES,
        lambda findings: [one for one in findings.evaluated if _timed(one).any()],
    ),
    Table("rounds", "one row per retriever and round that were timed", _ROUNDS, _rounds),
    Table("mac-fac", "one row per filter, k, and measure", _FILTERED, _filtered),
    WholeTable(
        "mac-fac-queries", "one row per filter, k, query, and measure", _FILTERED_QUERIES, _pairs
    ),
)
