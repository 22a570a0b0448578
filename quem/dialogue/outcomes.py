"""Efficiency and precision of simulated dialogues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.settings import Settings
    from quem.dialogue.simulation import Dialogues

__all__ = ["efficiency", "means_of_targets", "precision", "unselected"]


def efficiency(told: Dialogues, settings: Settings) -> NDArray[np.float64]:
    """Which share of the questions each dialogue did without.

    Parameters
    ----------
    told : Dialogues
    settings : Settings
        Its ``efficiency`` says of what, its ``no_selection`` what counts where no case was
        selected.

    Returns
    -------
    array of float, shape (targets, strategies, users, dialogues)
        NaN where a dialogue is left out.
    """
    m = told.quality.shape[2] - 1
    if settings.efficiency == "questions":
        share = 1 - (told.stop - 1.0) / max(m - 1, 1)
    else:
        share = 1 - told.stop / m
    if settings.efficiency == "halved":
        share = share / 2
    none = np.nan if settings.no_selection == "leave_out" else 0.0
    return np.where(told.stop >= 0, share, none)


def precision(told: Dialogues, settings: Settings) -> NDArray[np.float64]:
    """Whether the case selected in each dialogue has the solution of the target.

    Parameters
    ----------
    told : Dialogues
    settings : Settings
        Its ``no_selection`` says what counts where no case was selected.

    Returns
    -------
    array of float, shape (targets, strategies, users, dialogues)
        1 or 0; NaN where a dialogue is left out.
    """
    none = {
        "top": told.top_right[:, :, np.newaxis].astype(float),
        "zero": np.zeros(1),
        "leave_out": np.full(1, np.nan),
    }[settings.no_selection]
    return np.where(told.stop >= 0, told.right, none)


def unselected(told: Dialogues) -> NDArray[np.float64]:
    """The share of dialogues in which no case was selected, shape (strategies, users).

    Parameters
    ----------
    told : Dialogues
    """
    share: NDArray[np.float64] = (told.stop < 0).mean(axis=(0, 3))
    return share


def means_of_targets(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average over the dialogues of a target, the last axis; NaN where all are left out.

    Parameters
    ----------
    values : array of float
    """
    there = ~np.isnan(values)
    count = there.sum(axis=-1)
    total = np.where(there, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
