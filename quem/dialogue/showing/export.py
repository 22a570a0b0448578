"""The content of analysis.json, as plain data (see ``docs/analysis-json.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.dialogue.settings import open_choices

if TYPE_CHECKING:
    from quem.dialogue.agreement import Agreement
    from quem.dialogue.findings import Estimate, Findings
    from quem.dialogue.result import DialogueAnalysis
    from quem.dialogue.sensitivity import Sensitivity

__all__ = ["analysis_dict"]


def analysis_dict(result: DialogueAnalysis) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    result : DialogueAnalysis
    """
    found, spec = result.findings, result.study.spec
    experiment = found.experiment
    inference = found.inference
    return {
        "format": 1,
        "kind": "dialogue",
        "study": {"id": spec.id, "title": spec.title},
        "settings": {
            **experiment.settings.to_dict(),
            "level": inference.level,
            "bootstrap": inference.bootstrap,
            "permutations": inference.permutations,
        },
        "questions": experiment.questions.rule,
        "warnings": [{"code": d.code, "message": d.message} for d in result.warnings],
        "case_base": {
            "cases": len(experiment.cases),
            "attributes": [
                {
                    "name": name,
                    "kind": "numeric" if kinds is None else "categorical",
                    "weight": weight,
                }
                for name, kinds, weight in zip(
                    experiment.cases.attributes,
                    experiment.cases.categories,
                    experiment.cases.weights.tolist(),
                    strict=True,
                )
            ],
            "classes": list(experiment.cases.labels),
            "granularity": found.granularity,
        },
        "dialogues_per_target": experiment.dialogues,
        "thresholds": [{"b": b, "distance": d} for b, d in experiment.levels.items()],
        "open_choices": [
            {"name": name, "value": value, "plausible": list(choice.values)}
            for name, value, choice in open_choices(experiment.settings)
        ],
        "efficiency": _by_user(found, found.efficiency),
        "precision": _by_user(found, found.precision),
        "rank_quality": _quality(found),
        "agreement": {
            "efficiency": _agreement(found, found.by_efficiency),
            "precision": _agreement(found, found.by_precision),
        },
        "sensitivity": _sensitivity(found, result.tried) if result.tried else None,
    }


def _by_user(found: Findings, estimate: Estimate) -> list[dict[str, Any]]:
    rows = []
    for column, user in enumerate(found.users):
        order = estimate.order(column)
        rows.append(
            {
                "user": user,
                "range": estimate.spread(column),
                "strategies": [
                    {
                        "strategy": found.strategies[s],
                        "value": float(estimate.mean[s, column]),
                        "interval": [
                            float(estimate.low[s, column]),
                            float(estimate.high[s, column]),
                        ],
                        "differs_from_first": estimate.differs(
                            order[0], s, column, found.inference.level
                        ),
                        "unselected": float(found.unselected[s, column]),
                    }
                    for s in order
                ],
            }
        )
    return rows


def _quality(found: Findings) -> list[dict[str, Any]]:
    return [
        {
            "strategy": found.strategies[s],
            "mean": float(found.whole.mean[s, 0]),
            "interval": [float(found.whole.low[s, 0]), float(found.whole.high[s, 0])],
            "by_answers": found.quality.mean[s].tolist(),
            "contracted": found.contracted[s].tolist(),
        }
        for s in found.whole.order(0)
    ]


def _agreement(found: Findings, told: Agreement) -> dict[str, Any]:
    users = len(found.users)
    return {
        "mean_tau": told.mean,
        "interval": [told.low, told.high],
        "same_winner": told.same_winner,
        "winners": [
            {"user": user, "strategies": [found.strategies[s] for s in best]}
            for user, best in zip(found.users, told.winners[:users], strict=True)
        ],
        "tau_with_rank_quality": told.between[:users, users].tolist(),
    }


def _sensitivity(found: Findings, tried: Sensitivity) -> dict[str, Any]:
    del found
    search = tried.found
    return {
        "trials": [
            {
                "choice": trial.choice,
                "value": trial.value,
                "used": trial.used,
                "efficiency": trial.efficiency.tolist(),
                "precision": trial.precision.tolist(),
                "rank_quality": trial.whole.tolist(),
                "unselected": trial.unselected,
                "efficiency_error": trial.errors[0],
                "precision_error": trial.errors[1],
            }
            for trial in tried.trials
        ],
        "constant": {"efficiency_error": tried.constant[0], "precision_error": tried.constant[1]},
        "search": None
        if search is None
        else {
            "combinations": search.combinations,
            "best": [
                {"nearest_in": name, "choices": picked, "efficiency_error": a, "precision_error": b}
                for name, (picked, a, b) in zip(
                    ("efficiency", "precision", "both", "both, as defined"),
                    (*search.best, search.as_defined),
                    strict=True,
                )
            ],
        },
    }
