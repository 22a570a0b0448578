"""The tables of an evaluation, as they are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.retrieval.findings import time_of
from quem.retrieval.ground_truth_cache import FILE, similarities_parts
from quem.retrieval.trec import file_stems, qrels_parts, run_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.lists import Measure
    from quem.lists.inference import Means
    from quem.retrieval.findings import Evaluated, RetrievalFindings, Time

__all__ = [
    "all_tables",
    "analysis_dict",
    "attached_files",
    "differences_table",
    "mac_fac_queries_table",
    "mac_fac_table",
    "measures_table",
    "rounds_table",
    "scores_table",
    "times_table",
]


def all_tables(found: RetrievalFindings) -> dict[str, pd.DataFrame]:
    """Give every table that has a row, by file stem.

    Parameters
    ----------
    found : RetrievalFindings
    """
    tables = {
        "measures": measures_table(found),
        "scores": scores_table(found),
        "differences": differences_table(found),
        "times": times_table(found),
        "rounds": rounds_table(found),
        "mac-fac": mac_fac_table(found),
        "mac-fac-queries": mac_fac_queries_table(found),
    }
    return {stem: table for stem, table in tables.items() if len(table)}


def measures_table(found: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever and measure.

    Returns
    -------
    DataFrame
        Columns retriever, measure, better, mean, low, high, n_queries, ranked (whether these are
        at least half of the queries), failures (queries without a list); with the judges, each
        against the others, as a last retriever where they are the ground truth.
    """
    return pd.DataFrame(_measures(found))


def _measures(found: RetrievalFindings) -> Iterator[dict[str, Any]]:
    for one in [*found.scored, *([found.judges] if found.judges else [])]:
        means = one.means
        if means is None:
            continue
        for at, measure in enumerate(found.measures):
            yield {
                "retriever": one.id or one.name,
                "measure": measure.name,
                "better": measure.definition.better,
                "mean": float(means.mean[at]),
                "low": float(means.low[at]),
                "high": float(means.high[at]),
                "n_queries": int(means.defined[at]),
                "ranked": found.is_ranked(means, at),
                "failures": one.n_failed,
            }


def scores_table(found: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever, query and measure.

    Returns
    -------
    DataFrame
        Columns retriever, query, measure, score, reason (why there is no score, or why an empty
        list was scored).
    """
    n_queries, n_measures = len(found.task.queries), len(found.measures)
    names = np.array([measure.name for measure in found.measures], dtype=object)
    queries = np.array(found.task.queries.ids, dtype=object)
    parts = [
        pd.DataFrame(
            {
                "retriever": one.id,
                "query": np.repeat(queries, n_measures),
                "measure": np.tile(names, n_queries),
                "score": one.scores.values.ravel(),
                "reason": np.array(one.scores.reasons, dtype=object)[one.scores.reason.ravel()],
            }
        )
        for one in found.scored
        if one.scores is not None
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def differences_table(found: RetrievalFindings) -> pd.DataFrame:
    """Give one row a pair of retrievers and measure.

    Returns
    -------
    DataFrame
        Columns a, b, measure, n_queries, tested (not if these are fewer than half), difference (a
        less b), low, high, higher, equal, lower (on how many queries a is so), p, p_holm,
        patterns, exact.
    """
    ids = [one.id for one in found.scored]
    return pd.DataFrame(
        [
            {
                "a": ids[pair.first],
                "b": ids[pair.second],
                "measure": found.measures[pair.measure].name,
                "n_queries": pair.n,
                "tested": pair.tested,
                "difference": pair.difference,
                "low": pair.interval[0],
                "high": pair.interval[1],
                "higher": pair.higher,
                "equal": pair.equal,
                "lower": pair.lower,
                "p": pair.p,
                "p_holm": pair.p_holm,
                "patterns": pair.patterns,
                "exact": pair.exact,
            }
            for pair in found.differences
        ]
    )


def times_table(found: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever that was timed and query: columns retriever, query, seconds."""
    queries = np.array(found.task.queries.ids, dtype=object)
    parts = []
    for one in found.evaluated:
        held = ~np.isnan(one.run.seconds)
        if held.any():
            parts.append(
                pd.DataFrame(
                    {"retriever": one.id, "query": queries[held], "seconds": one.run.seconds[held]}
                )
            )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def rounds_table(found: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever that was timed and round.

    Returns
    -------
    DataFrame
        Columns retriever, round (from 1), seconds (the mean over the queries that were timed).
    """
    return pd.DataFrame(
        [
            {"retriever": one.id, "round": number, "seconds": seconds}
            for one in found.evaluated
            for number, seconds in enumerate(one.run.rounds().tolist(), 1)
        ]
    )


def mac_fac_table(found: RetrievalFindings) -> pd.DataFrame:
    """Give one row a pair of filter and k, and measure.

    Returns
    -------
    DataFrame
        Columns filter, k, measure, mean, low, high, n_queries, seconds, mac_seconds,
        full_seconds (of the second phase alone), time_share, time_share_low, time_share_high.
    """
    return pd.DataFrame(_mac_fac(found))


def _mac_fac(found: RetrievalFindings) -> Iterator[dict[str, Any]]:
    if found.mac_fac is None:
        return
    full = time_of(found.mac_fac.full.rounds(), found.settings.level).median
    for pair in found.mac_fac.pairs:
        for at, measure in enumerate(pair.measures):
            yield {
                "filter": pair.filter,
                "k": pair.k,
                "measure": measure.name,
                "mean": float(pair.means.mean[at]),
                "low": float(pair.means.low[at]),
                "high": float(pair.means.high[at]),
                "n_queries": int(pair.means.defined[at]),
                "seconds": found.time(pair).median,
                "mac_seconds": pair.mac_seconds,
                "full_seconds": full,
                "time_share": pair.share.median,
                "time_share_low": pair.share.low,
                "time_share_high": pair.share.high,
            }


def mac_fac_queries_table(found: RetrievalFindings) -> pd.DataFrame:
    """Give one row a pair of filter and k, query and measure, with the time of the query."""
    rows: list[pd.DataFrame] = []
    queries = np.array(found.task.queries.ids, dtype=object)
    for pair in found.mac_fac.pairs if found.mac_fac else ():
        count = len(pair.measures)
        rows.append(
            pd.DataFrame(
                {
                    "filter": pair.filter,
                    "k": pair.k,
                    "query": np.repeat(queries, count),
                    "measure": np.tile([m.name for m in pair.measures], len(queries)),
                    "score": pair.scores.values.ravel(),
                    "reason": np.array(pair.scores.reasons, dtype=object)[
                        pair.scores.reason.ravel()
                    ],
                    "seconds": np.repeat(pair.run.seconds, count),
                }
            )
        )
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def analysis_dict(found: RetrievalFindings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    found : RetrievalFindings
    """
    spec, task, truth = found.study.spec, found.task, found.truth
    return {
        "format": 1,
        "kind": spec.kind,
        "study": {"id": spec.id, "title": spec.title},
        "settings": found.settings.model_dump(mode="json"),
        "warnings": [{"code": d.code, "message": d.message} for d in found.doubts],
        "queries": {"n": len(task.queries), "leave_one_out": task.leave_one_out},
        "cases": {"n": len(task.cases)},
        "asked_for": found.depth,
        "ground_truth": {
            "kind": truth.kind,
            "source": truth.source,
            "reused": truth.reused,
            "n_queries": int((truth.lists.sizes > 0).sum()),
            "judges": list(found.experts.judges) if found.experts else None,
        },
        "headline": found.measures[found.headline].name,
        "measures": [
            {"measure": measure.name, "better": measure.definition.better}
            for measure in found.measures
        ],
        "retrievers": [_retriever(one, found) for one in found.evaluated],
        "judges": _means(found.judges.means, found.measures, found) if found.judges else None,
        "differences": _differences(found),
        "mac_fac": _mac_fac_export(found),
    }


def _retriever(one: Evaluated, found: RetrievalFindings) -> dict[str, Any]:
    lists = one.run.lists
    return {
        "id": one.id,
        "name": one.name,
        "source": one.source,
        "is_ground_truth": one.is_truth,
        "n_failed": one.n_failed,
        "tied_share": one.tied_share,
        **_time(found.time(one)),
        "n_timed": len(one.run.timed),
        "scores": _means(one.means, found.measures, found),
        "failed": [
            {"query": lists.queries[query], "reason": why}
            for query, why in lists.failed.items()
            if not one.is_truth
        ],
    }


def _time(time: Time) -> dict[str, Any]:
    return {"seconds": time.median, "seconds_interval": [time.low, time.high]}


def _means(
    means: Means | None, measures: tuple[Measure, ...], found: RetrievalFindings
) -> list[dict[str, Any]] | None:
    if means is None:
        return None
    return [
        {
            "measure": measure.name,
            "mean": float(means.mean[at]),
            "interval": [float(means.low[at]), float(means.high[at])],
            "n_queries": int(means.defined[at]),
            "ranked": found.is_ranked(means, at),
        }
        for at, measure in enumerate(measures)
    ]


def _differences(found: RetrievalFindings) -> list[dict[str, Any]]:
    ids = [one.id for one in found.scored]
    return [
        {
            "a": ids[pair.first],
            "b": ids[pair.second],
            "measure": found.measures[pair.measure].name,
            "n_queries": pair.n,
            "tested": pair.tested,
            "difference": pair.difference,
            "interval": list(pair.interval),
            "p": pair.p,
            "p_holm": pair.p_holm,
            "exact": pair.exact,
        }
        for pair in found.differences
    ]


def _mac_fac_export(found: RetrievalFindings) -> dict[str, Any] | None:
    if found.mac_fac is None:
        return None
    return {
        "mac": found.mac_fac.mac,
        "fac": found.mac_fac.fac,
        "full_seconds": time_of(found.mac_fac.full.rounds(), found.settings.level).median,
        "pairs": [
            {
                "filter": pair.filter,
                "k": pair.k,
                **_time(found.time(pair)),
                "mac_seconds": pair.mac_seconds,
                "time_share": pair.share.median,
                "time_share_interval": [pair.share.low, pair.share.high],
                "scores": _means(pair.means, pair.measures, found),
            }
            for pair in found.mac_fac.pairs
        ],
    }


def attached_files(found: RetrievalFindings) -> dict[str, Iterable[bytes]]:
    """Give the files that are neither tables nor figures, by name."""
    files: dict[str, Iterable[bytes]] = {}
    stems = file_stems([retriever.id for retriever in found.study.spec.retrievers])
    ids = [retriever.id for retriever in found.study.spec.retrievers]
    for one in found.evaluated:
        lists = found.truth.lists if one.is_truth else one.run.lists
        content = run_parts(lists.top(found.depth), one.id, found.settings.ties)
        if content is not None:
            files[f"{stems[ids.index(one.id)]}.txt"] = content
    content = qrels_parts(found.truth.lists)
    if content is not None:
        files["qrels.txt"] = content
    if found.truth.mark and not found.truth.reused:
        files[FILE] = similarities_parts(found.truth.lists, found.truth.mark, found.truth.depth)
    return files
