"""An evaluation of dialogues as tables, which become CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.dialogue.outcomes import efficiency, means_of_targets, pairs_of, precision
from quem.dialogue.settings import open_choices

if TYPE_CHECKING:
    from quem.dialogue.findings import DialogueFindings, StrategyOutcomes
    from quem.dialogue.outcomes import UserAgreement
    from quem.dialogue.result import DialogueResult
    from quem.dialogue.search import Search
    from quem.dialogue.sensitivity import Sensitivity

__all__ = [
    "agreement_table",
    "analysis_dict",
    "differences_table",
    "outcomes_table",
    "quality_table",
    "search_table",
    "sensitivity_table",
    "targets_table",
]


def _by_user(findings: DialogueFindings) -> dict[str, StrategyOutcomes]:
    return {"efficiency": findings.efficiency, "precision": findings.precision}


def outcomes_table(findings: DialogueFindings) -> pd.DataFrame:
    """One row a measure, user and strategy, the best strategy first.

    Parameters
    ----------
    findings : DialogueFindings

    Returns
    -------
    DataFrame
        Columns measure, user, place, strategy, value, low, high, as_good_as_first (whether no
        test tells it from the first), unselected.
    """
    rows = []
    for measure, estimate in _by_user(findings).items():
        for column, user in enumerate(findings.users):
            order = estimate.order(column)
            for place, s in enumerate(order):
                rows.append(
                    {
                        "measure": measure,
                        "user": user,
                        "place": place + 1,
                        "strategy": findings.strategies[s],
                        "value": estimate.mean[s, column],
                        "low": estimate.low[s, column],
                        "high": estimate.high[s, column],
                        "as_good_as_first": not estimate.differs(
                            order[0], s, column, findings.inference.level
                        ),
                        "unselected": findings.unselected[s, column],
                    }
                )
    return pd.DataFrame(rows)


def quality_table(findings: DialogueFindings) -> pd.DataFrame:
    """One row a strategy and number of answers.

    Parameters
    ----------
    findings : DialogueFindings

    Returns
    -------
    DataFrame
        Columns strategy, answers, rank_quality, low, high, contracted (the share of lists that had
        contracted to nothing).
    """
    strategies, points = findings.quality.mean.shape
    return pd.DataFrame(
        {
            "strategy": np.repeat(findings.strategies, points),
            "answers": np.tile(np.arange(points), strategies),
            "rank_quality": findings.quality.mean.ravel(),
            "low": findings.quality.low.ravel(),
            "high": findings.quality.high.ravel(),
            "contracted": findings.contracted.ravel(),
        }
    )


def differences_table(findings: DialogueFindings) -> pd.DataFrame:
    """One row a measure, user or number of answers, and pair of strategies.

    Parameters
    ----------
    findings : DialogueFindings

    Returns
    -------
    DataFrame
        Columns measure, user (empty for rank quality), answers (NA except for rank quality at one
        point), strategy, other, difference, p_value (Holm).
    """
    parts = [
        *((name, estimate, findings.users, False) for name, estimate in _by_user(findings).items()),
        ("rank quality", findings.whole, [""], False),
        ("rank quality", findings.quality, [""] * findings.quality.mean.shape[1], True),
    ]
    rows = []
    for measure, estimate, users, by_answers in parts:
        for column, user in enumerate(users):
            for pair, (one, other) in enumerate(pairs_of(len(findings.strategies))):
                rows.append(
                    {
                        "measure": measure,
                        "user": user,
                        "answers": column if by_answers else pd.NA,
                        "strategy": findings.strategies[one],
                        "other": findings.strategies[other],
                        "difference": estimate.mean[one, column] - estimate.mean[other, column],
                        "p_value": estimate.p_values[pair, column],
                    }
                )
    columns = ["measure", "user", "answers", "strategy", "other", "difference", "p_value"]
    return pd.DataFrame(rows, columns=columns).astype({"answers": "Int64"})


def agreement_table(findings: DialogueFindings) -> pd.DataFrame:
    """One row a measure and pair of users, or of a user and rank quality.

    Parameters
    ----------
    findings : DialogueFindings

    Returns
    -------
    DataFrame
        Columns measure, one, other, tau_b, same_winner.
    """
    judges = [*findings.users, "rank quality"]
    rows = []
    for measure, told in (
        ("efficiency", findings.by_efficiency),
        ("precision", findings.by_precision),
    ):
        for one, other in pairs_of(len(judges)):
            rows.append(
                {
                    "measure": measure,
                    "one": judges[one],
                    "other": judges[other],
                    "tau_b": told.between[one, other],
                    "same_winner": bool(set(told.winners[one]) & set(told.winners[other])),
                }
            )
    return pd.DataFrame(rows)


def targets_table(findings: DialogueFindings) -> pd.DataFrame:
    """One row a target and strategy.

    Parameters
    ----------
    findings : DialogueFindings

    Returns
    -------
    DataFrame
        Columns target, strategy, rank_quality (averaged over the dialogue), and for each user
        "efficiency USER" and "precision USER": means over the target's dialogues.
    """
    experiment = findings.experiment
    targets, strategies, _ = findings.whole.targets.shape
    columns = {
        "target": np.repeat(experiment.cases.ids, strategies),
        "strategy": np.tile(findings.strategies, targets),
        "rank_quality": findings.whole.targets[:, :, 0].ravel(),
    }
    for name, measure in (("efficiency", efficiency), ("precision", precision)):
        values = means_of_targets(measure(findings.dialogues, experiment.settings))
        for place, user in enumerate(findings.users):
            columns[f"{name} {user}"] = values[:, :, place].ravel()
    return pd.DataFrame(columns)


def sensitivity_table(findings: DialogueFindings, tried: Sensitivity) -> pd.DataFrame:
    """One row an open choice, value, measure, user and strategy.

    Parameters
    ----------
    findings : DialogueFindings
    tried : Sensitivity

    Returns
    -------
    DataFrame
        Columns choice, choice_value, used, measure, user (empty for rank quality), strategy,
        value, change (from the evaluation).
    """
    rows = []
    for trial in tried.trials:
        whole = trial.whole[:, np.newaxis]
        for measure, values, base, users in (
            ("efficiency", trial.efficiency, findings.efficiency.mean, findings.users),
            ("precision", trial.precision, findings.precision.mean, findings.users),
            ("rank quality", whole, findings.whole.mean, [""]),
        ):
            for (s, column), value in np.ndenumerate(values):
                rows.append(
                    {
                        "choice": trial.choice,
                        "choice_value": str(trial.value),
                        "used": trial.used,
                        "measure": measure,
                        "user": users[column],
                        "strategy": findings.strategies[s],
                        "value": value,
                        "change": value - base[s, column],
                    }
                )
    return pd.DataFrame(rows)


def search_table(search: Search) -> pd.DataFrame:
    """One row a criterion: the combination nearest to published figures.

    Parameters
    ----------
    search : Search

    Returns
    -------
    DataFrame
        Columns nearest_in, the choices, efficiency_error, precision_error.
    """
    names = ("efficiency", "precision", "both", "both, efficiency as the paper defines it")
    told = (*search.best, search.as_defined)
    return pd.DataFrame(
        [
            {"nearest_in": name, **picked, "efficiency_error": one, "precision_error": other}
            for name, (picked, one, other) in zip(names, told, strict=True)
        ]
    )


def analysis_dict(result: DialogueResult) -> dict[str, Any]:
    """Give the content of analysis.json; NaN and infinity stand for null.

    Parameters
    ----------
    result : DialogueResult
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
        "efficiency": _by_user_export(found, found.efficiency),
        "precision": _by_user_export(found, found.precision),
        "rank_quality": _quality(found),
        "agreement": {
            "efficiency": _agreement(found, found.by_efficiency),
            "precision": _agreement(found, found.by_precision),
        },
        "sensitivity": _sensitivity(found, result.tried) if result.tried else None,
    }


def _by_user_export(findings: DialogueFindings, estimate: StrategyOutcomes) -> list[dict[str, Any]]:
    rows = []
    for column, user in enumerate(findings.users):
        order = estimate.order(column)
        rows.append(
            {
                "user": user,
                "range": estimate.spread(column),
                "strategies": [
                    {
                        "strategy": findings.strategies[s],
                        "value": float(estimate.mean[s, column]),
                        "interval": [
                            float(estimate.low[s, column]),
                            float(estimate.high[s, column]),
                        ],
                        "differs_from_first": estimate.differs(
                            order[0], s, column, findings.inference.level
                        ),
                        "unselected": float(findings.unselected[s, column]),
                    }
                    for s in order
                ],
            }
        )
    return rows


def _quality(findings: DialogueFindings) -> list[dict[str, Any]]:
    return [
        {
            "strategy": findings.strategies[s],
            "mean": float(findings.whole.mean[s, 0]),
            "interval": [float(findings.whole.low[s, 0]), float(findings.whole.high[s, 0])],
            "by_answers": findings.quality.mean[s].tolist(),
            "contracted": findings.contracted[s].tolist(),
        }
        for s in findings.whole.order(0)
    ]


def _agreement(findings: DialogueFindings, told: UserAgreement) -> dict[str, Any]:
    users = len(findings.users)
    return {
        "mean_tau": told.mean,
        "interval": [told.low, told.high],
        "same_winner": told.same_winner,
        "winners": [
            {"user": user, "strategies": [findings.strategies[s] for s in best]}
            for user, best in zip(findings.users, told.winners[:users], strict=True)
        ],
        "tau_with_rank_quality": told.between[:users, users].tolist(),
    }


def _sensitivity(findings: DialogueFindings, tried: Sensitivity) -> dict[str, Any]:
    del findings
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
