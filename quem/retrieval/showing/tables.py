"""The tables of an evaluation, as they are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.retrieval.findings import time_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.retrieval.findings import Findings

__all__ = [
    "all_tables",
    "differences_table",
    "mac_fac_queries_table",
    "mac_fac_table",
    "measures_table",
    "rounds_table",
    "scores_table",
    "times_table",
]


def all_tables(found: Findings) -> dict[str, pd.DataFrame]:
    """Give every table that has a row, by file stem.

    Parameters
    ----------
    found : Findings
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


def measures_table(found: Findings) -> pd.DataFrame:
    """Give one row a retriever and measure.

    Returns
    -------
    DataFrame
        Columns retriever, measure, better, mean, low, high, n_queries, ranked (whether these are
        at least half of the queries), failures (queries without a list); with the judges, each
        against the others, as a last retriever where they are the ground truth.
    """
    return pd.DataFrame(_measures(found))


def _measures(found: Findings) -> Iterator[dict[str, Any]]:
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


def scores_table(found: Findings) -> pd.DataFrame:
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


def differences_table(found: Findings) -> pd.DataFrame:
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


def times_table(found: Findings) -> pd.DataFrame:
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


def rounds_table(found: Findings) -> pd.DataFrame:
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


def mac_fac_table(found: Findings) -> pd.DataFrame:
    """Give one row a pair of filter and k, and measure.

    Returns
    -------
    DataFrame
        Columns filter, k, measure, mean, low, high, n_queries, seconds, mac_seconds,
        full_seconds (of the second phase alone), time_share, time_share_low, time_share_high.
    """
    return pd.DataFrame(_mac_fac(found))


def _mac_fac(found: Findings) -> Iterator[dict[str, Any]]:
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


def mac_fac_queries_table(found: Findings) -> pd.DataFrame:
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
