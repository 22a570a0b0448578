"""Score tables made up for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from quem.scores.table import ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Named(NamedTuple):
    """A measure by name alone."""

    name: str
    better: str = "higher"


def table_of(values: NDArray[np.float64], *measures: Named, **more: Any) -> ScoreTable:  # noqa: ANN401
    """A table of scores of shape (systems, queries, measures)."""
    systems, queries, layers = values.shape
    return ScoreTable(
        tuple(f"s{at}" for at in range(systems)),
        tuple(f"q{at}" for at in range(queries)),
        measures or tuple(Named(f"m{at}") for at in range(layers)),
        values,
        **more,
    )
