"""Which measures an evaluation has, and how many cases it has to ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.text import shown
from quem.lists import measure
from quem.lists.registry import is_own
from quem.studyfile.measures import spellings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from quem.lists import Definition, Measure
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.result import TruthKind
    from quem.studyfile.retrieval import RetrievalSettings

DEFAULTS: dict[TruthKind, tuple[str, ...]] = {
    "similarities": (
        "hits",
        "hits_norm",
        "MAE",
        "MSE",
        "MAE(by=case)",
        "MSE(by=case)",
        "quality_stromer",
        "quality_mueller",
        "correctness",
        "completeness",
        "distance",
        "kendall",
        "spearman",
        "nDCG",
    ),
    "grades": ("AP", "RR", "nDCG", "RBP", "P"),
    "experts": (
        "hits_norm",
        "quality_stromer",
        "correctness",
        "completeness",
        "distance",
        "kendall",
        "kendall(variant=b)",
        "spearman",
        "nDCG",
    ),
}
# The one that the answer is given in, where none of them is named.
_HEADLINES: dict[TruthKind, str] = {
    "similarities": "nDCG",
    "grades": "nDCG",
    "experts": "kendall(variant=b)",
}
_DEFAULT_K = 10
_MAC_FAC = ("hits_norm", "quality_stromer", "quality_mueller", "nDCG")


def chosen_measures(
    named: Iterable[str],
    k_values: Iterable[int],
    kind: TruthKind,
    n_candidates: int,
    headline: str = "",
    own: Mapping[str, Definition] | None = None,
) -> tuple[tuple[Measure, ...], int]:
    """Say by which measures lists are scored, and which of them is the headline.

    A measure that knows k, and is named without one, is there without k and with each k.
    """
    named, k_values = list(named), list(k_values)
    if not named and not k_values and n_candidates > _DEFAULT_K:
        k_values = [_DEFAULT_K]
    chosen: dict[str, Measure] = {}
    for spelling in named or DEFAULTS[kind]:
        plain = measure(spelling, own)
        chosen[plain.name] = plain
        if _takes_k(plain):
            for k in k_values:
                with_k = measure(plain, k=k)
                chosen[with_k.name] = with_k
    best = measure(headline or (named[0] if named else _HEADLINES[kind]), own)
    if not headline and _takes_k(best) and k_values:
        best = measure(best, k=k_values[0])
    chosen.setdefault(best.name, best)
    return tuple(chosen.values()), list(chosen).index(best.name)


def truth_kind(study: RetrievalStudy) -> TruthKind:
    """Say what the ground truth is, before it is found."""
    if study.data.experts is not None:
        return "experts"
    if study.data.grades is not None or study.spec.ground_truth.qrels:
        return "grades"
    return "similarities"


def measures_of(
    study: RetrievalStudy, settings: RetrievalSettings
) -> tuple[tuple[Measure, ...], int]:
    """Choose the measures of a study, and refuse those that its ground truth cannot serve."""
    kind, n = truth_kind(study), study.data.task.n_candidates
    named, own = spellings(settings.measures), study.own_measures
    chosen: tuple[Measure, ...] = ()
    at = 0
    for key, headline in (("measures", ""), ("headline", settings.headline)):
        try:
            chosen, at = chosen_measures(named, settings.k, kind, n, headline, own)
            messages = list(_unservable(chosen, kind, study.data.truth))
        except QuemError as error:
            messages = [str(mistake.message) for mistake in error.mistakes]
        if messages:
            raise QuemError([_wrong(study, settings, key, message) for message in messages])
    return chosen, at


def _unservable(
    chosen: tuple[Measure, ...], kind: TruthKind, truth: CaseLists | None
) -> Iterator[str]:
    if kind == "grades" and truth is not None and truth.tied.any():
        yield from _without_order([one for one in chosen if one.needs_order], truth)
    if kind == "experts":
        yield from _without_relevance(chosen)


def _without_order(measures: list[Measure], truth: CaseLists) -> Iterator[str]:
    at = int(np.flatnonzero(truth.tied)[0])
    query = int(np.searchsorted(truth.starts, at, side="right")) - 1
    equal = int((truth.of(query)[1] == truth.similarity[at]).sum())
    for one in measures:
        yield (
            f"{one.name} needs an order of the cases, and judgments of one grade have none "
            f"({shown(truth.queries[query])} has {equal:,} of grade {truth.similarity[at]:g}); "
            "use P, AP, RR, RBP, or nDCG, or a ground truth of similarities"
        )


def _without_relevance(measures: Iterable[Measure]) -> Iterator[str]:
    for one in measures:
        if dict(one.values).get("rel") == 1 and not dict(one.values).get("top"):
            yield (
                f"{one.name} asks which cases are relevant, and average ranks are 1 or more for "
                f"each of them; name a rank, as in {one.definition.name}(rel=4), or use nDCG"
            )


def _wrong(study: RetrievalStudy, settings: RetrievalSettings, key: str, message: str) -> Mistake:
    """A setting that is wrong: in the study file, or as the caller gave it."""
    if getattr(settings, key) != getattr(study.spec.analysis, key):
        return Mistake("", key=key, message=message)
    return study.mistake(("analysis", key), message)


def _takes_k(one: Measure) -> bool:
    return dict(one.values).get("k", 0) is None


def depth_of(measures: Iterable[Measure], n_candidates: int) -> int:
    """Say how many cases have to be retrieved: all, unless each measure looks at the k best."""
    depths = [one.depth for one in measures]
    return n_candidates if None in depths else min(n_candidates, max(filter(None, depths)))


def truth_depth_of(measures: Iterable[Measure], n_candidates: int) -> int:
    """Say how many cases of the ground truth are needed.

    Of relevant cases all are, also where a list is looked at down to k only; and nobody knows
    what a measure of the user looks at.
    """
    measures = list(measures)
    if any("rel" in dict(one.values) or is_own(one.definition) for one in measures):
        return n_candidates
    return depth_of(measures, n_candidates)


def mac_fac_measures(k: int) -> tuple[Measure, ...]:
    """Say by which measures MAC/FAC is scored."""
    return tuple(measure(name, k=k) for name in _MAC_FAC)
