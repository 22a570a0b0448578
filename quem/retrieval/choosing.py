"""The measures of an evaluation, and the number of cases to retrieve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError, refuse
from quem.io.text import shown
from quem.lists import Measure, measure
from quem.lists.registry import is_own
from quem.scores.matching import Judgments
from quem.scores.table import Nouns, ScoreTable
from quem.studyfile.measures import spellings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.truth import Truth
    from quem.studyfile.document import Loc
    from quem.studyfile.retrieval import RetrievalSettings

DEFAULTS = {
    "similarities": (
        *("nDCG@10", "hits_norm@10", "quality_mueller@10"),
        *("correctness", "completeness", "MAE(by=case)"),
    ),
    "grades": ("nDCG@10", "AP", "RR", "P@10", "R@100"),
    "ranks": ("kendall", "spearman", "correctness", "completeness", "nDCG"),
}


def measures_of(study: RetrievalStudy, settings: RetrievalSettings) -> tuple[Measure, ...]:
    """The measures of a study; refuses those that its ground truth does not support.

    A measure with an optional k, named without one, is computed without k and with each k.
    """
    truth = study.data.truth
    named = spellings(settings.measures) or DEFAULTS[truth.kind if truth else "similarities"]
    chosen: dict[str, Measure] = {}
    mistakes = []
    for at, spelling in enumerate(named):
        try:
            plain = measure(spelling, study.own_measures)
            own = {plain.name: plain}
            for k in settings.k if dict(plain.values).get("k", 0) is None else ():
                with_k = measure(plain, k=k)
                own[with_k.name] = with_k
            messages = list(_unservable(own.values(), truth))
            chosen |= {name: one for name, one in own.items() if name not in chosen}
        except QuemError as error:
            messages = [mistake.message for mistake in error.mistakes]
        mistakes += [_wrong(study, settings, ("measures", at), one) for one in messages]
    refuse(mistakes)
    return tuple(chosen.values())


def _unservable(measures: Iterable[Measure], truth: Truth | None) -> Iterator[str]:
    if truth is not None and truth.kind == "ranks":
        for one in measures:
            if dict(one.values).get("rel") == 1 and not dict(one.values).get("top"):
                yield (
                    f"{one.name} asks which cases are relevant, and average ranks are 1 or more "
                    f"for each of them; name a rank, as in {one.definition.name}(rel=4), or use "
                    "nDCG"
                )
    ordered = [one for one in measures if one.needs_order]
    if truth is None or truth.kind != "grades" or not ordered:
        return
    judgments = Judgments.of(truth.columns)
    rows, value = judgments.truth.rows, judgments.truth.value
    tied = np.flatnonzero((np.diff(value) == 0) & (np.diff(rows.row) == 0))
    for one in ordered if len(tied) else ():
        query, grade = rows.row[tied[0]], value[tied[0]]
        equal = int((value[rows.cells(int(query))] == grade).sum())
        yield (
            f"{one.name} needs an order of the cases, and judgments of one grade have none "
            f"({shown(judgments.queries[query])} has {equal:,} of grade {grade:g}); use P, "
            "AP, RR, RBP, or nDCG, or a ground truth of similarities"
        )


def _wrong(study: RetrievalStudy, settings: RetrievalSettings, loc: Loc, message: str) -> Mistake:
    """The error on a setting in the study file or of the caller."""
    key = str(loc[0])
    if getattr(settings, key) != getattr(study.spec.analysis, key):
        return Mistake("", key=key, message=message)
    return study.mistake(("analysis", *loc), message)


def check_claims(
    study: RetrievalStudy, settings: RetrievalSettings, measures: tuple[Measure, ...]
) -> None:
    """Refuse claims about rows or columns that the table will lack, before anything runs."""
    specs = [one for one in study.spec.retrievers if one.id != study.spec.ground_truth.retriever]
    names = tuple(one.name or one.id for one in specs)
    none = np.zeros((len(specs), 0, len(measures)))
    nouns = Nouns("retriever", "query")
    table = ScoreTable(tuple(one.id for one in specs), (), measures, none, nouns=nouns, names=names)
    for claim in settings.claims:
        try:
            table.claim(claim)
        except QuemError as error:
            message = error.mistakes[0].message
            raise QuemError(_wrong(study, settings, ("claims",), message)) from None


def depth_of(measures: Iterable[Measure], n_candidates: int) -> int:
    """The number of cases to retrieve: all, unless each measure has a cutoff."""
    depths = [one.depth for one in measures]
    return n_candidates if None in depths else min(n_candidates, max(filter(None, depths)))


def truth_depth_of(measures: Iterable[Measure], n_candidates: int) -> int:
    """The number of cases needed from the ground truth.

    All relevant cases are needed, even with a cutoff k; a custom measure may use all.
    """
    measures = list(measures)
    if any("rel" in dict(one.values) or is_own(one.definition) for one in measures):
        return n_candidates
    return depth_of(measures, n_candidates)
