"""Scores of systems query by query, with what has to be the same where they are compared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class Entry(NamedTuple):
    """A system that was scored."""

    # As in its study, and for people
    id: str
    name: str
    study: str  # the id of its study


class ScoredBy(NamedTuple):
    """A measure: its name with all parameters that matter, and which scores are better."""

    name: str
    better: str


class Inference(NamedTuple):
    """How uncertainty is reported; see the settings of the kinds of study."""

    level: float = 0.95
    bootstrap: int = 2000
    permutations: int = 9999
    seed: int = 0


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """What a study says of each system on each query."""

    # Of the study
    kind: str
    title: str
    study: str
    source: str  # the study as the user named it, for messages
    entries: tuple[Entry, ...]  # the systems
    queries: tuple[str, ...]  # the ids of those that can be scored: they have a ground truth
    measures: tuple[ScoredBy, ...]
    headline: int  # which of them the answer is given in
    # Of shape (systems, queries, measures): NaN where a score is undefined.
    values: NDArray[np.float64]
    truth: str  # a digest of the ground truth, whatever the order of the queries
    # Those on which scores depend, by the key under ``analysis``.
    settings: dict[str, str] = field(default_factory=dict)
    inference: Inference = field(default_factory=Inference)
    nouns: tuple[str, str] = ("system", "query")  # what the kind calls a system, and a query

    def of(
        self,
        *,
        entries: Iterable[int] | None = None,
        queries: Iterable[int] | None = None,
        measures: Iterable[int] | None = None,
        headline: str = "",
    ) -> ScoreTable:
        """Give a part, by places; with another headline, if one is named."""
        rows, columns, layers = (
            list(range(count)) if wanted is None else list(wanted)
            for wanted, count in zip((entries, queries, measures), self.values.shape, strict=True)
        )
        chosen = tuple(self.measures[at] for at in layers)
        names = [one.name for one in chosen]
        wanted = headline or self.measures[self.headline].name
        return replace(
            self,
            entries=tuple(self.entries[at] for at in rows),
            queries=tuple(self.queries[at] for at in columns),
            measures=chosen,
            headline=names.index(wanted) if wanted in names else 0,
            values=self.values[np.ix_(rows, columns, layers)],
        )


def content_digest(parts: Iterable[bytes | str]) -> str:
    """Make a short text that changes with any of these parts, and with their order."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()[:32]


def saved_digits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to the 12 significant digits that files have, so that what is read again is equal."""
    distinct, places = np.unique(values, return_inverse=True)
    rounded = np.array([float(f"{value:.12g}") for value in distinct.tolist()])
    return rounded[places].reshape(values.shape) if rounded.size else values
