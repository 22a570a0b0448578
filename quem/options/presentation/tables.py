"""The results as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from quem.lists import Properties
    from quem.options.findings import OptionsFindings, SystemScores
    from quem.options.thresholds import Sweep

__all__ = ["all_tables", "options_dict"]


def all_tables(findings: OptionsFindings) -> dict[str, pd.DataFrame]:
    """Give the tables by file stem.

    Parameters
    ----------
    findings : OptionsFindings

    Returns
    -------
    dict of str to DataFrame
        scores, lists and lengths; thresholds where a system tells confidences, differences
        where there are two systems.
    """
    made = {"scores": _scores(findings), "lists": _lists(findings), "lengths": _lengths(findings)}
    if findings.sweeps:
        made["thresholds"] = _thresholds(findings)
    if findings.pairs:
        made["differences"] = _differences(findings)
    return made


def _scores(findings: OptionsFindings) -> pd.DataFrame:
    """One row a system and measure."""
    rows = [
        {
            "system": findings.data.systems[standing.system],
            "measure": name,
            "mean": standing.scores[at],
            "low": standing.intervals[at][0],
            "high": standing.intervals[at][1],
            "n_questions": standing.defined[at],
            "ranked": standing.defined[at] >= findings.fewest,
            "failures": standing.n_missing,
        }
        for standing in findings.standings
        for at, name in enumerate(findings.scorer.names)
    ]
    return pd.DataFrame(rows)


def _lists(findings: OptionsFindings) -> pd.DataFrame:
    """One row a list: question, system, length, place of the correct option, scores."""
    n = len(findings.data.key.ids)
    place = findings.places.ravel().astype(float)
    length = findings.lengths.ravel()
    frame = pd.DataFrame(
        {
            "question": np.tile(
                np.array(findings.data.key.ids, dtype=object), len(findings.scores)
            ),
            "system": np.repeat(np.array(findings.data.systems, dtype=object), n),
            "length": pd.array(length, dtype="Int64"),
            "place_of_correct": pd.array(np.where(place > 0, place, np.nan), dtype="Int64"),
        }
    )
    scores = findings.scores.reshape(len(frame), -1)
    scored = pd.DataFrame(scores, columns=list(findings.scorer.names))
    return pd.concat([frame, scored], axis=1)[length >= 0]


def _lengths(findings: OptionsFindings) -> pd.DataFrame:
    """One row a system and length."""
    rows = []
    for group in findings.groups:
        row: dict[str, Any] = {
            "system": findings.data.systems[group.system],
            "length": group.length,
            "n_lists": group.count,
            "n_correct": group.correct,
            "share_correct": group.share,
            "share_low": group.share_interval[0],
            "share_high": group.share_interval[1],
        }
        row |= dict(zip(findings.scorer.names, group.scores, strict=True))
        row |= {
            f"{findings.headline}_low": group.headline_interval[0],
            f"{findings.headline}_high": group.headline_interval[1],
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _thresholds(findings: OptionsFindings) -> pd.DataFrame:
    """One row a system and threshold."""
    parts = []
    for sweep in findings.sweeps:
        columns: dict[str, Any] = {
            "system": findings.data.systems[sweep.system],
            "threshold": sweep.threshold,
            "mean_length": sweep.mean_length,
            "share_correct": sweep.share,
        }
        columns |= dict(zip(findings.scorer.names, sweep.scores.T, strict=True))
        columns |= {
            f"{findings.headline}_low": sweep.low,
            f"{findings.headline}_high": sweep.high,
            "is_best": np.arange(len(sweep.threshold)) == sweep.best,
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _differences(findings: OptionsFindings) -> pd.DataFrame:
    """One row a pair of systems and measure."""
    systems = findings.data.systems
    rows = [
        {
            "first": systems[pair.first],
            "second": systems[pair.second],
            "measure": findings.scorer.names[pair.measure],
            "n_questions": pair.n,
            "tested": pair.tested,
            "difference": pair.difference,
            "low": pair.interval[0],
            "high": pair.interval[1],
            "first_higher": pair.higher,
            "equal": pair.equal,
            "first_lower": pair.lower,
            "p": pair.p,
            "p_holm": pair.p_holm,
        }
        for pair in findings.pairs
    ]
    return pd.DataFrame(rows)


def options_dict(findings: OptionsFindings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN stands for null.

    Parameters
    ----------
    findings : OptionsFindings
    """
    spec = findings.data.spec
    return {
        "format": 1,
        "kind": spec.kind,
        "study": {"id": spec.id, "title": spec.title},
        "settings": findings.settings.model_dump(mode="json"),
        "warnings": [{"code": d.code, "message": d.message} for d in findings.warnings],
        "n_questions": len(findings.data.key.ids),
        "max_length": findings.scorer.max_length,
        "headline": findings.headline,
        "measures": [
            {"name": name, "measure": measure.name}
            for name, measure in zip(findings.scorer.names, findings.scorer.measures, strict=True)
        ],
        "systems": [_system(findings, standing) for standing in findings.standings],
        "differences": [
            {
                "first": findings.data.systems[pair.first],
                "second": findings.data.systems[pair.second],
                "measure": findings.scorer.names[pair.measure],
                "n": pair.n,
                "tested": pair.tested,
                "difference": pair.difference,
                "interval": pair.interval,
                "first_higher": pair.higher,
                "equal": pair.equal,
                "first_lower": pair.lower,
                "p": pair.p,
                "p_holm": pair.p_holm,
                "patterns": pair.patterns,
                "exact": pair.exact,
            }
            for pair in findings.pairs
        ],
        "promises": [_properties(name, promised) for name, promised in findings.properties],
    }


def _system(findings: OptionsFindings, standing: SystemScores) -> dict[str, Any]:
    at = standing.system
    names = findings.scorer.names
    sweeps = [sweep for sweep in findings.sweeps if sweep.system == at]
    return {
        "system": findings.data.systems[at],
        "name": findings.name_of(at),
        "n_lists": standing.n_lists,
        "n_missing": standing.n_missing,
        "n_empty": standing.n_empty,
        "share_correct": standing.share,
        "share_interval": standing.share_interval,
        "mean_length": standing.mean_length,
        "mean_length_interval": standing.mean_length_interval,
        "scores": [
            {
                "measure": name,
                "mean": mean,
                "interval": interval,
                "n": n,
                "ranked": n >= findings.fewest,
            }
            for name, mean, interval, n in zip(
                names, standing.scores, standing.intervals, standing.defined, strict=True
            )
        ],
        "undefined": [
            {"measure": names[u.measure], "reason": u.reason, "n": u.count}
            for u in findings.undefined
            if u.system == at
        ],
        "lengths": [
            {
                "length": group.length,
                "n_lists": group.count,
                "n_correct": group.correct,
                "share_correct": group.share,
                "share_interval": group.share_interval,
                "headline_interval": group.headline_interval,
                "scores": list(group.scores),
            }
            for group in findings.groups
            if group.system == at
        ],
        "threshold": _threshold(findings, sweeps[0]) if sweeps else None,
    }


def _threshold(findings: OptionsFindings, sweep: Sweep) -> dict[str, Any]:
    best = sweep.best
    curve = zip(
        sweep.threshold.tolist(),
        sweep.mean_length.tolist(),
        sweep.share.tolist(),
        sweep.scores.tolist(),
        zip(sweep.low.tolist(), sweep.high.tolist(), strict=True),
        strict=True,
    )
    return {
        "best": float(sweep.threshold[best]),
        "best_range": sweep.best_range,
        "score": float(sweep.scores[best, findings.scorer.headline]),
        "interval": sweep.best_interval,
        "corrected": sweep.corrected,
        "cross_validated": sweep.cross_validated,
        "cross_validated_interval": sweep.cross_validated_interval,
        "folds": sweep.folds,
        "as_given": sweep.given,
        "gain": sweep.gain,
        "gain_interval": sweep.gain_interval,
        "n": sweep.n,
        "curve": [
            {
                "threshold": threshold,
                "mean_length": length,
                "share_correct": share,
                "scores": scores,
                "headline_interval": interval,
            }
            for threshold, length, share, scores, interval in curve
        ],
    }


def _properties(name: str, promised: Properties) -> dict[str, Any]:
    return {
        "measure": name,
        "max_length": promised.max_length,
        **{prop.name.lower(): prop.holds for prop in promised},
        "counterexamples": [str(prop.counterexample) for prop in promised if not prop.holds],
    }
