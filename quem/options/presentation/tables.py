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


def all_tables(found: OptionsFindings) -> dict[str, pd.DataFrame]:
    """Give the tables by file stem.

    Parameters
    ----------
    found : OptionsFindings

    Returns
    -------
    dict of str to DataFrame
        scores, lists and lengths; thresholds where a system tells confidences, differences
        where there are two systems.
    """
    made = {"scores": _scores(found), "lists": _lists(found), "lengths": _lengths(found)}
    if found.sweeps:
        made["thresholds"] = _thresholds(found)
    if found.pairs:
        made["differences"] = _differences(found)
    return made


def _scores(found: OptionsFindings) -> pd.DataFrame:
    """One row a system and measure."""
    rows = [
        {
            "system": found.data.systems[standing.system],
            "measure": name,
            "mean": standing.scores[at],
            "low": standing.intervals[at][0],
            "high": standing.intervals[at][1],
            "n_questions": standing.defined[at],
            "ranked": standing.defined[at] >= found.fewest,
            "failures": standing.n_missing,
        }
        for standing in found.standings
        for at, name in enumerate(found.scorer.names)
    ]
    return pd.DataFrame(rows)


def _lists(found: OptionsFindings) -> pd.DataFrame:
    """One row a list: question, system, length, place of the correct option, scores."""
    n = len(found.data.key.ids)
    place = found.places.ravel().astype(float)
    length = found.lengths.ravel()
    frame = pd.DataFrame(
        {
            "question": np.tile(np.array(found.data.key.ids, dtype=object), len(found.scores)),
            "system": np.repeat(np.array(found.data.systems, dtype=object), n),
            "length": pd.array(length, dtype="Int64"),
            "place_of_correct": pd.array(np.where(place > 0, place, np.nan), dtype="Int64"),
        }
    )
    scores = found.scores.reshape(len(frame), -1)
    scored = pd.DataFrame(scores, columns=list(found.scorer.names))
    return pd.concat([frame, scored], axis=1)[length >= 0]


def _lengths(found: OptionsFindings) -> pd.DataFrame:
    """One row a system and length."""
    rows = []
    for group in found.groups:
        row: dict[str, Any] = {
            "system": found.data.systems[group.system],
            "length": group.length,
            "n_lists": group.count,
            "n_correct": group.correct,
            "share_correct": group.share,
            "share_low": group.share_interval[0],
            "share_high": group.share_interval[1],
        }
        row |= dict(zip(found.scorer.names, group.scores, strict=True))
        row |= {
            f"{found.headline}_low": group.headline_interval[0],
            f"{found.headline}_high": group.headline_interval[1],
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _thresholds(found: OptionsFindings) -> pd.DataFrame:
    """One row a system and threshold."""
    parts = []
    for sweep in found.sweeps:
        columns: dict[str, Any] = {
            "system": found.data.systems[sweep.system],
            "threshold": sweep.threshold,
            "mean_length": sweep.mean_length,
            "share_correct": sweep.share,
        }
        columns |= dict(zip(found.scorer.names, sweep.scores.T, strict=True))
        columns |= {
            f"{found.headline}_low": sweep.low,
            f"{found.headline}_high": sweep.high,
            "is_best": np.arange(len(sweep.threshold)) == sweep.best,
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _differences(found: OptionsFindings) -> pd.DataFrame:
    """One row a pair of systems and measure."""
    systems = found.data.systems
    rows = [
        {
            "first": systems[pair.first],
            "second": systems[pair.second],
            "measure": found.scorer.names[pair.measure],
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
        for pair in found.pairs
    ]
    return pd.DataFrame(rows)


def options_dict(found: OptionsFindings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN stands for null.

    Parameters
    ----------
    found : OptionsFindings
    """
    spec = found.data.spec
    return {
        "format": 1,
        "kind": spec.kind,
        "study": {"id": spec.id, "title": spec.title},
        "settings": found.settings.model_dump(mode="json"),
        "warnings": [{"code": d.code, "message": d.message} for d in found.doubts],
        "n_questions": len(found.data.key.ids),
        "max_length": found.scorer.max_length,
        "headline": found.headline,
        "measures": [
            {"name": name, "measure": measure.name}
            for name, measure in zip(found.scorer.names, found.scorer.measures, strict=True)
        ],
        "systems": [_system(found, standing) for standing in found.standings],
        "differences": [
            {
                "first": found.data.systems[pair.first],
                "second": found.data.systems[pair.second],
                "measure": found.scorer.names[pair.measure],
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
            for pair in found.pairs
        ],
        "promises": [_properties(name, promised) for name, promised in found.properties],
    }


def _system(found: OptionsFindings, standing: SystemScores) -> dict[str, Any]:
    at = standing.system
    names = found.scorer.names
    sweeps = [sweep for sweep in found.sweeps if sweep.system == at]
    return {
        "system": found.data.systems[at],
        "name": found.name_of(at),
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
                "ranked": n >= found.fewest,
            }
            for name, mean, interval, n in zip(
                names, standing.scores, standing.intervals, standing.defined, strict=True
            )
        ],
        "undefined": [
            {"measure": names[u.measure], "reason": u.reason, "n": u.count}
            for u in found.undefined
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
            for group in found.groups
            if group.system == at
        ],
        "threshold": _threshold(found, sweeps[0]) if sweeps else None,
    }


def _threshold(found: OptionsFindings, sweep: Sweep) -> dict[str, Any]:
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
        "score": float(sweep.scores[best, found.scorer.headline]),
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
