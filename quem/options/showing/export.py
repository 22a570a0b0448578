"""The content of analysis.json, as plain data (see ``docs/analysis-json.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quem.measures import Properties
    from quem.options.findings import Findings, Standing
    from quem.options.thresholds import Sweep

__all__ = ["options_dict"]


def options_dict(found: Findings) -> dict[str, Any]:
    """Give the content of analysis.json; NaN stands for null.

    Parameters
    ----------
    found : Findings
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


def _system(found: Findings, standing: Standing) -> dict[str, Any]:
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


def _threshold(found: Findings, sweep: Sweep) -> dict[str, Any]:
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
