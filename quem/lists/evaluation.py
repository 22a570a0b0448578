"""Scores of lists against their ground truth."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from quem.errors import Mistake, QuemError, collecting, refuse
from quem.lists.lists import Lists, Ties, check_ties
from quem.lists.names import Chosen, measure
from quem.lists.names import measures as find_measures
from quem.lists.ragged import Ragged
from quem.lists.registry import Items, is_own, read_items

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from quem.lists.measure import Measure, Outcome

Query = TypeVar("Query", bound=Hashable)

_NOTHING: Items = {}
_TOO_LARGE = "scores or true values are too large to compute with"


@dataclass(frozen=True)
class Score:
    """The score of one list."""

    value: float  # NaN where the measure is undefined
    reason: str = ""  # why undefined

    def __float__(self) -> float:
        """The value."""
        return self.value


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a run."""

    queries: tuple[Hashable, ...]  # in the order of the ground truth
    measures: tuple[Measure, ...]
    values: NDArray[np.float64]  # of shape (queries, measures): NaN where a measure is undefined
    reason_codes: NDArray[np.intp]  # of shape (queries, measures): indices into `reasons`
    reasons: tuple[str, ...]  # why scores are undefined; the first is empty
    ignored: tuple[Hashable, ...] = ()  # queries of the run without ground truth

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(column.name for column in self.measures)

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each measure over the queries where it is defined; NaN if there are none."""
        count = np.array([*self.defined.values()])
        mean = np.where(count, np.nansum(self.values, axis=0) / np.maximum(count, 1), np.nan)
        return dict(zip(self.names, mean.tolist(), strict=True))

    @property
    def defined(self) -> dict[str, int]:
        """The number of queries for which each measure is defined."""
        count = (~np.isnan(self.values)).sum(axis=0)
        return dict(zip(self.names, count.tolist(), strict=True))

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.queries)

    def __getitem__(self, name: Chosen) -> NDArray[np.float64]:
        """The scores of a measure, shape (queries,)."""
        return self.values[:, self._column(name)]

    def undefined(self) -> Iterator[tuple[Hashable, str, str]]:
        """The queries and measures without a score, with the reason."""
        for row, column in np.argwhere(self.reason_codes > 0).tolist():
            yield (
                self.queries[row],
                self.names[column],
                self.reasons[self.reason_codes[row, column]],
            )

    def to_frame(self) -> pd.DataFrame:
        """The scores as a table: one row per query, one column per measure."""
        import pandas as pd

        index = pd.Index(list(self.queries), name="query")
        return pd.DataFrame(self.values, index=index, columns=list(self.names))

    def _column(self, name: Chosen) -> int:
        own = {one.definition.name: one.definition for one in self.measures}
        wanted = measure(name, own).name
        if wanted not in self.names:
            raise KeyError(f"there are no scores by {wanted}; there are by {', '.join(self.names)}")
        return self.names.index(wanted)


def evaluate(
    run: Mapping[Query, Items],
    truth: Mapping[Query, Items],
    measures: Chosen | Iterable[Chosen],
    *,
    ties: Ties = "expected",
) -> Scores:
    """Score a run.

    Parameters
    ----------
    run : mapping
        Query to its list: item to score, pairs of item and score, or items alone, best first.
        Whatever the order, the item of the highest score is the first. A query of the ground
        truth that is not in the run has an empty list.
    truth : mapping
        Query to its ground truth: item to grade or similarity, pairs of these, or the relevant
        items alone, each of grade 1.
    measures : str, or iterable of str, Measure, Definition or callable
        See `quem.lists.measures`, and for those of the user `quem.lists.define`.
    ties : {"expected", "given", "trec"}
        The order of items of equal score, in the lists and in the ground truth: all orders, each
        as likely, over which each score is the mean; as they are given; or as trec_eval has them:
        scores in 32 bits, then the last id first.

    Returns
    -------
    Scores

    Raises
    ------
    QuemError
        A measure is wrong, or the user's code of one fails; an item is twice in a list, a score
        is not a finite number, or run and ground truth have no query in common.
    """
    chosen = find_measures(measures)
    _check(run, truth, ties)
    queries = list(truth)
    ignored = tuple(query for query in run if query not in truth)
    known: dict[str, int] = {"": 0}
    values = np.full((len(queries), len(chosen)), np.nan)
    codes = np.zeros(values.shape, dtype=np.intp)
    for part, lists in _parts(run, truth, queries, ties):
        for column, wanted in enumerate(chosen):
            with np.errstate(over="ignore", invalid="ignore"):
                scores, undefined = computed(wanted, lists)
            if not np.isfinite(scores).all():
                undefined = (*undefined, (~np.isfinite(scores), _TOO_LARGE))
            reason = np.zeros(len(lists), dtype=np.intp)
            for where, why in reversed(undefined):
                if where.any():
                    reason[where] = known.setdefault(why, len(known))
            values[part, column] = np.where(reason > 0, np.nan, scores)
            codes[part, column] = reason
    return Scores(tuple(queries), chosen, values, codes, tuple(known), ignored)


def score(
    listed: Items,
    truth: Items,
    by: Chosen,
    /,
    *,
    ties: Ties = "expected",
    **values: object,
) -> Score:
    """Score one list.

    Parameters
    ----------
    listed : mapping or sequence
        Item to score, pairs of item and score, or items alone, best first.
    truth : mapping or sequence
        Item to grade or similarity, pairs of these, or the relevant items.
    ties
        See `evaluate`.
    **values
        Parameters of the measure.

    Returns
    -------
    Score

    Raises
    ------
    QuemError
        As `evaluate` does.
    """
    wanted = [measure(by, **values)]
    scores = evaluate({"": listed}, {"": truth}, wanted, ties=ties)
    return Score(float(scores.values[0, 0]), scores.reasons[int(scores.reason_codes[0, 0])])


def computed(wanted: Measure, lists: Lists) -> Outcome:
    """Score lists; errors of a custom measure carry its name."""
    if not is_own(wanted.definition):
        return wanted.compute(lists)
    try:
        scores, undefined = wanted.compute(lists)
        values = np.asarray(scores, dtype=np.float64)
        where = tuple((np.asarray(at, dtype=bool), str(why)) for at, why in undefined)
    except QuemError:
        raise
    except Exception as error:
        from quem.io.custom_functions import raised

        raise QuemError(f"{wanted.name}: its definition {raised(error)}") from error
    shapes = {values.shape, *(at.shape for at, _ in where)}
    if shapes != {(len(lists),)}:
        raise QuemError(
            f"{wanted.name}: its definition gives arrays of shape "
            f"{', '.join(map(str, sorted(shapes)))} for {len(lists)} lists; it should give a "
            "score of each"
        )
    # Scores that are not numbers are undefined, even without a reason.
    return values, (*where, (np.isnan(values), "the definition gives no value"))


def _check(run: object, truth: object, ties: str) -> None:
    for value, what in ((run, "run"), (truth, "ground truth")):
        if not isinstance(value, Mapping):
            raise QuemError(
                f"the {what} should be a dict of query to list, and not {type(value).__name__}"
            )
    run, truth = cast("Mapping[Any, Any]", run), cast("Mapping[Any, Any]", truth)
    check_ties(ties)
    if not truth:
        raise QuemError("the ground truth has no query")
    if run and not any(query in truth for query in run):
        raise QuemError("run and ground truth have no query in common; check how queries are named")


def _parts(
    run: Mapping[Any, Items],
    truth: Mapping[Any, Items],
    queries: Sequence[Hashable],
    ties: Ties,
) -> Iterator[tuple[slice, Lists]]:
    """Read the queries in parts of about equal numbers of items."""
    runs, scored = _read(run, queries, best_first=True)
    truths, _ = _read(truth, queries, best_first=False)
    has_scores = np.array(scored, dtype=bool)
    sizes = np.fromiter(map(len, runs), np.intp, len(runs))
    mistakes: list[Mistake] = []
    for part in Ragged(sizes).parts():
        with collecting(mistakes):
            lists = Lists.of(runs[part], truths[part], queries[part], ties, has_scores[part])
            if not mistakes:
                yield part, lists
    refuse(mistakes)


def _read(
    lists: Mapping[Any, Items], queries: Sequence[Hashable], *, best_first: bool
) -> tuple[list[dict[Hashable, float]], list[bool]]:
    """The lists as dicts, and which of them have scores."""
    plain = [lists.get(query, _NOTHING) for query in queries]
    if {type(items) for items in plain} == {dict}:
        # Large runs are uniform; checking each list separately would take as long as scoring.
        return cast("list[dict[Hashable, float]]", plain), [True] * len(plain)
    read, scored = [], []
    mistakes: list[str] = []
    for query in queries:
        try:
            items, has_scores = read_items(lists.get(query, {}), best_first=best_first)
        except QuemError as error:
            mistakes += [f"query {query!r}: {mistake}" for mistake in error.mistakes]
        else:
            read.append(items)
            scored.append(has_scores)
    refuse(mistakes)
    return read, scored
