"""Estimates as records of the format Every Eval Ever: a JSON object per system."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.importing.naming import ids_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMA = "0.3.0"
Record = dict[str, Any]


def evaluations(document: Mapping[str, Any], organization: str = "") -> dict[str, Record]:
    """Describe the estimate of each system."""
    study = document["study"]
    years = [one["experience"] for one in document["averages"] if one["kind"] == "subject"]
    now = str(int(time.time()))
    records = {}
    for estimate in document["estimates"]:
        system = estimate["system"]
        results = []
        if document["headline"] == "years":
            results.append(_years(document, estimate, min(years), max(years)))
        if (document["settings"]["score"], document["settings"]["normalize"]) == ("rank", "none"):
            results.append(_rank(document, estimate))
        records[system] = {
            "schema_version": _SCHEMA,
            "evaluation_id": f"{study['id']}/{system}/{now}",
            "retrieved_timestamp": now,
            "source_metadata": {
                "source_name": study["title"] or study["id"],
                "source_type": "evaluation_run",
                "source_organization_name": organization or "unknown",
                "evaluator_relationship": "other",
            },
            "eval_library": {"name": "quem", "version": __version__},
            "model_info": {
                "name": " ".join(filter(None, [system, estimate["version"]])),
                "id": system,
                "additional_details": {
                    "deployment_type": "unknown",
                    "model_availability": "unknown",
                },
            },
            "evaluation_results": results,
        }
    return records


def evaluation_files(document: Mapping[str, Any], organization: str = "") -> dict[str, bytes]:
    """Write the records of `evaluations`, a file for each system, by file name."""
    records = evaluations(document, organization)
    texts = (json.dumps(one, ensure_ascii=False, indent=2) for one in records.values())
    names = ids_of(records, "system").values()
    return {
        f"every-eval-ever-{name}.json": f"{text}\n".encode()
        for name, text in zip(names, texts, strict=True)
    }


def _result(document: Mapping[str, Any], name: str, metric: Record, score: Record) -> Record:
    study = document["study"]
    source = {"dataset_name": study["title"] or study["id"], "source_type": "other"}
    config = {"lower_is_better": False, "score_type": "continuous", **metric}
    return {
        "evaluation_name": name,
        "source_data": source,
        "metric_config": config,
        "score_details": score,
    }


def _years(document: Mapping[str, Any], estimate: Record, low: float, high: float) -> Record:
    unit, level = document["study"]["experience_unit"], document["settings"]["level"]
    ends = estimate["prediction_interval"]
    details = {
        name: f"{estimate[name]:g} {unit}"
        for name in ("lower_bound", "upper_bound")
        if estimate[name] is not None
    }
    score: Record = {"score": min(max(estimate["experience"], low), high)}
    if details:
        details["bound"] = "one-sided: the system is outside the subjects' range"
    elif None not in ends:
        interval = {"lower": ends[0], "upper": ends[1], "confidence_level": level}
        method = "prediction interval of a person with the system's average rank"
        score["uncertainty"] = {"confidence_interval": {**interval, "method": method}}
    if None in ends:
        details["interval"] = "without an end"
    metric = {
        "evaluation_description": "Experience of people whose solutions judges rank alike (QUEM)",
        "metric_id": "quem_experience",
        "metric_name": "Experience",
        "metric_unit": unit,
        "min_score": low,
        "max_score": high,
    }
    return _result(
        document, "Human experience", metric, score | ({"details": details} if details else {})
    )


def _rank(document: Mapping[str, Any], estimate: Record) -> Record:
    metric = {
        "evaluation_description": "Average rank of solutions by expert judges, 1 for the worst",
        "metric_id": "quem_average_rank",
        "metric_name": "Average rank",
        "metric_unit": "rank",
        "min_score": 1.0,
        "max_score": float(len(document["averages"])),
    }
    return _result(document, "Average rank", metric, {"score": estimate["average_rank"]})
