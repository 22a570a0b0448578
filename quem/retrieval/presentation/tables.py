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


def all_tables(findings: RetrievalFindings) -> dict[str, pd.DataFrame]:
    """Give every table that has a row, by file stem.

    Parameters
    ----------
    findings : RetrievalFindings
    """
    tables = {
        "measures": measures_table(findings),
        "scores": scores_table(findings),
        "differences": differences_table(findings),
        "times": times_table(findings),
        "rounds": rounds_table(findings),
        "mac-fac": mac_fac_table(findings),
        "mac-fac-queries": mac_fac_queries_table(findings),
    }
    return {stem: table for stem, table in tables.items() if len(table)}


def measures_table(findings: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever and measure.

    Returns
    -------
    DataFrame
        Columns retriever, measure, better, mean, low, high, n_queries, ranked (whether these are
        at least half of the queries), failures (queries without a list); with the judges, each
        against the others, as a last retriever where they are the ground truth.
    """
    return pd.DataFrame(_measures(findings))


def _measures(findings: RetrievalFindings) -> Iterator[dict[str, Any]]:
    for one in [*findings.scored, *([findings.judges] if findings.judges else [])]:
        means = one.means
        if means is None:
            continue
        for at, measure in enumerate(findings.measures):
            yield {
                "retriever": one.id or one.name,
                "measure": measure.name,
                "better": measure.definition.better,
                "mean": float(means.mean[at]),
                "low": float(means.low[at]),
                "high": float(means.high[at]),
                "n_queries": int(means.defined[at]),
                "ranked": findings.is_ranked(means, at),
                "failures": one.n_failed,
            }


def scores_table(findings: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever, query and measure.

    Returns
    -------
    DataFrame
        Columns retriever, query, measure, score, reason (why there is no score, or why an empty
        list was scored).
    """
    n_queries, n_measures = len(findings.task.queries), len(findings.measures)
    names = np.array([measure.name for measure in findings.measures], dtype=object)
    queries = np.array(findings.task.queries.ids, dtype=object)
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
        for one in findings.scored
        if one.scores is not None
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def differences_table(findings: RetrievalFindings) -> pd.DataFrame:
    """Give one row a pair of retrievers and measure.

    Returns
    -------
    DataFrame
        Columns a, b, measure, n_queries, tested (not if these are fewer than half), difference (a
        less b), low, high, higher, equal, lower (on how many queries a is so), p, p_holm,
        patterns, exact.
    """
    ids = [one.id for one in findings.scored]
    return pd.DataFrame(
        [
            {
                "a": ids[pair.first],
                "b": ids[pair.second],
                "measure": findings.measures[pair.measure].name,
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
            for pair in findings.differences
        ]
    )


def times_table(findings: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever that was timed and query: columns retriever, query, seconds."""
    queries = np.array(findings.task.queries.ids, dtype=object)
    parts = []
    for one in findings.evaluated:
        held = ~np.isnan(one.run.seconds)
        if held.any():
            parts.append(
                pd.DataFrame(
                    {"retriever": one.id, "query": queries[held], "seconds": one.run.seconds[held]}
                )
            )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def rounds_table(findings: RetrievalFindings) -> pd.DataFrame:
    """Give one row a retriever that was timed and round.

    Returns
    -------
    DataFrame
        Columns retriever, round (from 1), seconds (the mean over the queries that were timed).
    """
    return pd.DataFrame(
        [
            {"retriever": one.id, "round": number, "seconds": seconds}
            for one in findings.evaluated
            for number, seconds in enumerate(one.run.rounds().tolist(), 1)
        ]
    )


def mac_fac_table(findings: RetrievalFindings) -> pd.DataFrame:
    """Give one row a pair of filter and k, and measure.

    Returns
    -------
    DataFrame
        Columns filter, k, measure, mean, low, high, n_queries, seconds, mac_seconds,
        full_seconds (of the second phase alone), time_share, time_share_low, time_share_high.
    """
    return pd.DataFrame(_mac_fac(findings))


def _mac_fac(findings: RetrievalFindings) -> Iterator[dict[str, Any]]:
    if findings.mac_fac is None:
        return
    full = time_of(findings.mac_fac.full.rounds(), findings.settings.level).median
    for pair in findings.mac_fac.pairs:
        for at, measure in enumerate(pair.measures):
            yield {
                "filter": pair.filter,
                "k": pair.k,
                "measure": measure.name,
                "mean": float(pair.means.mean[at]),
                "low": float(pair.means.low[at]),
                "high": float(pair.means.high[at]),
                "n_queries": int(pair.means.defined[at]),
                "seconds": findings.time(pair).median,
                "mac_seconds": pair.mac_seconds,
                "full_seconds": full,
                "time_share": pair.share.median,
                "time_share_low": pair.share.low,
                "time_share_high": pair.share.high,
            }


def mac_fac_queries_table(findings: RetrievalFindings) -> pd.DataFrame:
    """Give one row a pair of filter and k, query and measure, with the time of the query."""
    rows: list[pd.DataFrame] = []
    queries = np.array(findings.task.queries.ids, dtype=object)
    for pair in findings.mac_fac.pairs if findings.mac_fac else ():
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


def analysis_dict(findings: RetrievalFindings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    findings : RetrievalFindings
    """
    spec, task, truth = findings.study.spec, findings.task, findings.truth
    return {
        "format": 1,
        "kind": spec.kind,
        "study": {"id": spec.id, "title": spec.title},
        "settings": findings.settings.model_dump(mode="json"),
        "warnings": [{"code": d.code, "message": d.message} for d in findings.warnings],
        "queries": {"n": len(task.queries), "leave_one_out": task.leave_one_out},
        "cases": {"n": len(task.cases)},
        "asked_for": findings.depth,
        "ground_truth": {
            "kind": truth.kind,
            "source": truth.source,
            "reused": truth.reused,
            "n_queries": int((truth.lists.sizes > 0).sum()),
            "judges": list(findings.experts.judges) if findings.experts else None,
        },
        "headline": findings.measures[findings.headline].name,
        "measures": [
            {"measure": measure.name, "better": measure.definition.better}
            for measure in findings.measures
        ],
        "retrievers": [_retriever(one, findings) for one in findings.evaluated],
        "judges": _means(findings.judges.means, findings.measures, findings)
        if findings.judges
        else None,
        "differences": _differences(findings),
        "mac_fac": _mac_fac_export(findings),
    }


def _retriever(one: Evaluated, findings: RetrievalFindings) -> dict[str, Any]:
    lists = one.run.lists
    return {
        "id": one.id,
        "name": one.name,
        "source": one.source,
        "is_ground_truth": one.is_truth,
        "n_failed": one.n_failed,
        "tied_share": one.tied_share,
        **_time(findings.time(one)),
        "n_timed": len(one.run.timed),
        "scores": _means(one.means, findings.measures, findings),
        "failed": [
            {"query": lists.queries[query], "reason": why}
            for query, why in lists.failed.items()
            if not one.is_truth
        ],
    }


def _time(time: Time) -> dict[str, Any]:
    return {"seconds": time.median, "seconds_interval": [time.low, time.high]}


def _means(
    means: Means | None, measures: tuple[Measure, ...], findings: RetrievalFindings
) -> list[dict[str, Any]] | None:
    if means is None:
        return None
    return [
        {
            "measure": measure.name,
            "mean": float(means.mean[at]),
            "interval": [float(means.low[at]), float(means.high[at])],
            "n_queries": int(means.defined[at]),
            "ranked": findings.is_ranked(means, at),
        }
        for at, measure in enumerate(measures)
    ]


def _differences(findings: RetrievalFindings) -> list[dict[str, Any]]:
    ids = [one.id for one in findings.scored]
    return [
        {
            "a": ids[pair.first],
            "b": ids[pair.second],
            "measure": findings.measures[pair.measure].name,
            "n_queries": pair.n,
            "tested": pair.tested,
            "difference": pair.difference,
            "interval": list(pair.interval),
            "p": pair.p,
            "p_holm": pair.p_holm,
            "exact": pair.exact,
        }
        for pair in findings.differences
    ]


def _mac_fac_export(findings: RetrievalFindings) -> dict[str, Any] | None:
    if findings.mac_fac is None:
        return None
    return {
        "mac": findings.mac_fac.mac,
        "fac": findings.mac_fac.fac,
        "full_seconds": time_of(findings.mac_fac.full.rounds(), findings.settings.level).median,
        "pairs": [
            {
                "filter": pair.filter,
                "k": pair.k,
                **_time(findings.time(pair)),
                "mac_seconds": pair.mac_seconds,
                "time_share": pair.share.median,
                "time_share_interval": [pair.share.low, pair.share.high],
                "scores": _means(pair.means, pair.measures, findings),
            }
            for pair in findings.mac_fac.pairs
        ],
    }


def attached_files(findings: RetrievalFindings) -> dict[str, Iterable[bytes]]:
    """Give the files that are neither tables nor figures, by name."""
    files: dict[str, Iterable[bytes]] = {}
    stems = file_stems([retriever.id for retriever in findings.study.spec.retrievers])
    ids = [retriever.id for retriever in findings.study.spec.retrievers]
    for one in findings.evaluated:
        lists = findings.truth.lists if one.is_truth else one.run.lists
        content = run_parts(lists.top(findings.depth), one.id, findings.settings.ties)
        if content is not None:
            files[f"{stems[ids.index(one.id)]}.txt"] = content
    content = qrels_parts(findings.truth.lists)
    if content is not None:
        files["qrels.txt"] = content
    if findings.truth.mark and not findings.truth.reused:
        files[FILE] = similarities_parts(
            findings.truth.lists, findings.truth.mark, findings.truth.depth
        )
    return files
