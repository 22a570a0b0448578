"""An evaluation of dialogues as tables, which become CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from quem.dialogue.agreement import pairs_of
from quem.dialogue.outcomes import efficiency, means_of_targets, precision

if TYPE_CHECKING:
    from quem.dialogue.findings import Estimate, Findings
    from quem.dialogue.search import Search
    from quem.dialogue.sensitivity import Sensitivity

__all__ = [
    "agreement_table",
    "differences_table",
    "outcomes_table",
    "quality_table",
    "search_table",
    "sensitivity_table",
    "targets_table",
]


def _by_user(found: Findings) -> dict[str, Estimate]:
    return {"efficiency": found.efficiency, "precision": found.precision}


def outcomes_table(found: Findings) -> pd.DataFrame:
    """One row a measure, user and strategy, the best strategy first.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    DataFrame
        Columns measure, user, place, strategy, value, low, high, as_good_as_first (whether no
        test tells it from the first), unselected.
    """
    rows = []
    for measure, estimate in _by_user(found).items():
        for column, user in enumerate(found.users):
            order = estimate.order(column)
            for place, s in enumerate(order):
                rows.append(
                    {
                        "measure": measure,
                        "user": user,
                        "place": place + 1,
                        "strategy": found.strategies[s],
                        "value": estimate.mean[s, column],
                        "low": estimate.low[s, column],
                        "high": estimate.high[s, column],
                        "as_good_as_first": not estimate.differs(
                            order[0], s, column, found.inference.level
                        ),
                        "unselected": found.unselected[s, column],
                    }
                )
    return pd.DataFrame(rows)


def quality_table(found: Findings) -> pd.DataFrame:
    """One row a strategy and number of answers.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    DataFrame
        Columns strategy, answers, rank_quality, low, high, contracted (the share of lists that had
        contracted to nothing).
    """
    strategies, points = found.quality.mean.shape
    return pd.DataFrame(
        {
            "strategy": np.repeat(found.strategies, points),
            "answers": np.tile(np.arange(points), strategies),
            "rank_quality": found.quality.mean.ravel(),
            "low": found.quality.low.ravel(),
            "high": found.quality.high.ravel(),
            "contracted": found.contracted.ravel(),
        }
    )


def differences_table(found: Findings) -> pd.DataFrame:
    """One row a measure, user or number of answers, and pair of strategies.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    DataFrame
        Columns measure, user (empty for rank quality), answers (NA except for rank quality at one
        point), strategy, other, difference, p_value (Holm).
    """
    parts = [
        *((name, estimate, found.users, False) for name, estimate in _by_user(found).items()),
        ("rank quality", found.whole, [""], False),
        ("rank quality", found.quality, [""] * found.quality.mean.shape[1], True),
    ]
    rows = []
    for measure, estimate, users, by_answers in parts:
        for column, user in enumerate(users):
            for pair, (one, other) in enumerate(pairs_of(len(found.strategies))):
                rows.append(
                    {
                        "measure": measure,
                        "user": user,
                        "answers": column if by_answers else pd.NA,
                        "strategy": found.strategies[one],
                        "other": found.strategies[other],
                        "difference": estimate.mean[one, column] - estimate.mean[other, column],
                        "p_value": estimate.p_values[pair, column],
                    }
                )
    columns = ["measure", "user", "answers", "strategy", "other", "difference", "p_value"]
    return pd.DataFrame(rows, columns=columns).astype({"answers": "Int64"})


def agreement_table(found: Findings) -> pd.DataFrame:
    """One row a measure and pair of users, or of a user and rank quality.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    DataFrame
        Columns measure, one, other, tau_b, same_winner.
    """
    judges = [*found.users, "rank quality"]
    rows = []
    for measure, told in (("efficiency", found.by_efficiency), ("precision", found.by_precision)):
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


def targets_table(found: Findings) -> pd.DataFrame:
    """One row a target and strategy.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    DataFrame
        Columns target, strategy, rank_quality (averaged over the dialogue), and for each user
        "efficiency USER" and "precision USER": means over the target's dialogues.
    """
    experiment = found.experiment
    targets, strategies, _ = found.whole.targets.shape
    columns = {
        "target": np.repeat(experiment.cases.ids, strategies),
        "strategy": np.tile(found.strategies, targets),
        "rank_quality": found.whole.targets[:, :, 0].ravel(),
    }
    for name, measure in (("efficiency", efficiency), ("precision", precision)):
        values = means_of_targets(measure(found.dialogues, experiment.settings))
        for place, user in enumerate(found.users):
            columns[f"{name} {user}"] = values[:, :, place].ravel()
    return pd.DataFrame(columns)


def sensitivity_table(found: Findings, tried: Sensitivity) -> pd.DataFrame:
    """One row an open choice, value, measure, user and strategy.

    Parameters
    ----------
    found : Findings
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
            ("efficiency", trial.efficiency, found.efficiency.mean, found.users),
            ("precision", trial.precision, found.precision.mean, found.users),
            ("rank quality", whole, found.whole.mean, [""]),
        ):
            for (s, column), value in np.ndenumerate(values):
                rows.append(
                    {
                        "choice": trial.choice,
                        "choice_value": str(trial.value),
                        "used": trial.used,
                        "measure": measure,
                        "user": users[column],
                        "strategy": found.strategies[s],
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
