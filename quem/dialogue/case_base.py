"""Case bases: what a case is known to be, attribute by attribute, and its class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EncodedCases"]


@dataclass(frozen=True)
class EncodedCases:
    """Cases with attributes and a class.

    Parameters
    ----------
    ids : tuple of str
        Of the n cases.
    attributes : tuple of str
        Names of the m attributes.
    values : array of float, shape (n, m)
        A number, or the index of a category; NaN where it is missing.
    categories : tuple of (tuple of str or None)
        The categories of each attribute, the most frequent first; None for a numeric one.
    classes : array of int, shape (n,)
        Index of each case's class, which is its solution.
    labels : tuple of str
        The classes.
    weights : array of float, shape (m,)
        What an attribute counts in a distance.
    """

    ids: tuple[str, ...]
    attributes: tuple[str, ...]
    values: NDArray[np.float64]
    categories: tuple[tuple[str, ...] | None, ...]
    classes: NDArray[np.int64]
    labels: tuple[str, ...]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        """How many cases there are."""
        return len(self.ids)

    @cached_property
    def numeric(self) -> NDArray[np.intp]:
        """Which attributes are numeric."""
        return np.flatnonzero([names is None for names in self.categories])

    @cached_property
    def categorical(self) -> NDArray[np.intp]:
        """Which attributes are categorical."""
        return np.flatnonzero([names is not None for names in self.categories])

    @cached_property
    def lowest(self) -> NDArray[np.float64]:
        """The least value of each attribute."""
        least: NDArray[np.float64] = np.min(self.values, axis=0, where=self.known, initial=np.inf)
        return least

    @cached_property
    def spans(self) -> NDArray[np.float64]:
        """The range of each attribute; 0 where all cases have one value."""
        most = np.max(self.values, axis=0, where=self.known, initial=-np.inf)
        return np.asarray(most - self.lowest)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which values are not missing, shape (n, m)."""
        return ~np.isnan(self.values)

    def without(self, case: int) -> EncodedCases:
        """Leave one case out.

        Parameters
        ----------
        case : int
        """
        return replace(
            self,
            ids=self.ids[:case] + self.ids[case + 1 :],
            values=np.delete(self.values, case, axis=0),
            classes=np.delete(self.classes, case),
        )
