"""p values that are adjusted for their number."""

from __future__ import annotations

import numpy as np

__all__ = ["holm"]


def holm(p_values: list[float]) -> list[float]:
    r"""Adjust p values for their number; an unknown one counts as 1 and stays unknown.

    The k-th smallest of m becomes the largest of :math:`(m - i + 1) p_{(i)}` for i up to k, and
    1 at most. (multipletests of statsmodels gives the same, and collects garbage each time, which
    takes longer than a whole comparison.)

    Parameters
    ----------
    p_values : list of float

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics, 6(2), 65-70.
    """
    p = np.array(p_values, dtype=float)
    order = np.argsort(p, kind="stable")  # unknown ones last
    scaled = np.nan_to_num(p[order], nan=1.0) * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(value) for value in np.where(np.isnan(p), np.nan, adjusted)]
