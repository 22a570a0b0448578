"""The content of analysis.json, and the files for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.retrieval.findings import time_of
from quem.retrieval.kept import FILE, similarities_parts
from quem.retrieval.trec import file_stems, qrels_parts, run_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.measures import Measure
    from quem.queries import Means
    from quem.retrieval.findings import Evaluated, Findings, Time

__all__ = ["analysis_dict", "attached_files"]


def analysis_dict(found: Findings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    found : Findings
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
        "mac_fac": _mac_fac(found),
    }


def _retriever(one: Evaluated, found: Findings) -> dict[str, Any]:
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
    means: Means | None, measures: tuple[Measure, ...], found: Findings
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


def _differences(found: Findings) -> list[dict[str, Any]]:
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


def _mac_fac(found: Findings) -> dict[str, Any] | None:
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


def attached_files(found: Findings) -> dict[str, Iterable[bytes]]:
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
