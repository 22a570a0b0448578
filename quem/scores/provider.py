"""LAR, OLAR, and rank quality as measures of ir_measures, and so of PyTerrier's experiments.

``from quem.scores.provider import LAR, OLAR, RankQuality`` registers them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ir_measures
from ir_measures import Metric, measures, providers
from ir_measures.measures import ParamInfo

from quem import lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class _LAR(measures.Measure):
    """Length-aware recall: the correct option is in the list, and the list is short."""

    __name__ = "LAR"
    NAME = __name__
    PRETTY_NAME = "Length-Aware Recall"
    SHORT_DESC = "Whether a list has a correct option, and how short it is."
    SUPPORTED_PARAMS = {"rel": ParamInfo(dtype=int, default=1, desc="least grade that is relevant")}


class _OLAR(measures.Measure):
    """Ordered length-aware recall: the same, but higher if the correct option comes early."""

    __name__ = "OLAR"
    NAME = __name__
    PRETTY_NAME = "Ordered Length-Aware Recall"
    SHORT_DESC = "Whether a list has a correct option, how short it is, and how early it comes."
    SUPPORTED_PARAMS = {
        "rel": ParamInfo(dtype=int, default=1, desc="least grade that is relevant"),
        "max_length": ParamInfo(dtype=int, default=5, desc="greatest length of a list"),
    }


class _RankQuality(measures.Measure):
    """Rank quality: how well a list orders the cases nearest to the query.

    Grades count as similarities, as shares of the highest grade; only the order of scores counts.
    """

    __name__ = "RankQuality"
    NAME = __name__
    PRETTY_NAME = "Rank Quality"
    SHORT_DESC = "How well a list orders the k cases that are best by the judgments."
    SUPPORTED_PARAMS = {"cutoff": ParamInfo(dtype=int, required=False, desc="how many are best")}


LAR, OLAR, RankQuality = _LAR(), _OLAR(), _RankQuality()
_OURS = {"LAR": "LAR", "OLAR": "OLAR", "RankQuality": "rank_quality", "cutoff": "k"}


class QuemProvider(providers.Provider):
    """Computes these measures as `quem.lists` does, with the mean over orders of equal scores."""

    NAME = "quem"
    SUPPORTED_MEASURES = [
        _LAR(rel=providers.base.Any()),
        _OLAR(rel=providers.base.Any(), max_length=providers.base.Any()),
        _RankQuality(cutoff=providers.base.Any()),
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:  # noqa: ANN401
        truth = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        return _Evaluator([*measures], truth)


class _Evaluator(providers.Evaluator):
    def __init__(self, measures: list[Any], truth: dict[str, dict[str, int]]) -> None:
        super().__init__(measures, set(truth))
        self._truth = truth

    def _iter_calc(self, given: Any) -> Iterator[Metric]:  # noqa: ANN401
        listed = ir_measures.util.RunConverter(given).as_dict_of_dict()
        queries = {query: self._truth[query] for query in listed if query in self._truth}
        for measure in self.measures if queries else ():
            values = {_OURS.get(name, name): value for name, value in measure.params.items()}
            chosen = lists.measure(_OURS[str(measure.NAME)], **values)
            run: dict[str, Any] = listed
            truth: dict[str, Any] = queries
            if measure.NAME == "RankQuality":
                run, truth = _scaled(listed), _scaled(queries, _top(queries))
            scores = lists.evaluate(run, truth, [chosen], ties="expected")
            for query, value in zip(scores.queries, scores.values[:, 0].tolist(), strict=True):
                if not math.isnan(value):
                    yield Metric(query_id=str(query), measure=measure, value=value)


def _top(truth: dict[str, dict[str, int]]) -> float:
    return max((grade for cases in truth.values() for grade in cases.values()), default=1)


def _scaled(
    items: dict[str, dict[str, Any]], top: float | None = None
) -> dict[str, dict[str, float]]:
    """Numbers of each query scaled to 0 to 1: grades from 0, scores from the minimum."""
    scaled = {}
    for query, own in items.items():
        low = min(own.values(), default=0) if top is None else 0
        high = max(own.values(), default=1) if top is None else top
        span = (high - low) or 1
        scaled[query] = {case: max(value - low, 0) / span for case, value in own.items()}
    return scaled


for _measure in (LAR, OLAR, RankQuality):
    measures.register(_measure)
providers.register(QuemProvider())
ir_measures.DefaultPipeline.providers.append(providers.registry["quem"])
