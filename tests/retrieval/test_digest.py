"""The digest of the ground truth, by which studies are found comparable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from quem.lists import measure
from quem.retrieval.lists import lists_of
from quem.retrieval.result import Truth
from quem.retrieval.truth import truth_digest

MEASURES = [measure("nDCG@3"), measure("hits@2")]
CASES = tuple("abcdefgh")


def _truth(
    seed: int, order: list[int], *, computed: bool = False, depth: int = 8, extra: int = 0
) -> Truth:
    """Similarities of four queries, cut to a depth; `extra` more cases of each are there."""
    rng = np.random.default_rng(seed)
    similarity = {query: np.sort(rng.permutation(8) / 8)[::-1] for query in range(4)}
    places = {query: rng.permutation(8).astype(np.int32) for query in range(4)}
    keep = depth + extra
    each = [(places[query][:keep], similarity[query][:keep].copy()) for query in order]
    lists = lists_of([f"q{query}" for query in order], CASES, each)
    return Truth(lists, "similarities", "made", computed=computed)


def test_order_and_depth_do_not_matter() -> None:
    """The same truth in another order, or cut deeper than measures look, has the same digest."""
    plain = truth_digest(_truth(0, [0, 1, 2, 3]), MEASURES, 8)
    assert truth_digest(_truth(0, [3, 1, 0, 2]), MEASURES, 8) == plain
    whole = truth_digest(_truth(0, [0, 1, 2, 3], computed=True), MEASURES, 8)
    for depth, extra in ((3, 0), (3, 2), (5, 0)):
        cut = _truth(0, [2, 1, 0, 3], computed=True, depth=depth, extra=extra)
        assert truth_digest(cut, MEASURES, 8) == whole
    assert whole != plain, "of a file all similarities count"
    renamed = _truth(0, [0, 1, 2, 3])
    turned = replace(renamed.lists, cases=CASES[::-1], case=(7 - renamed.lists.case).astype("i4"))
    assert truth_digest(replace(renamed, lists=turned), MEASURES, 8) == plain


def test_every_change_matters() -> None:
    """A case, a similarity, or an order that differs makes another digest."""
    plain = _truth(0, [0, 1, 2, 3])
    seen = {truth_digest(plain, MEASURES, 8), truth_digest(_truth(1, [0, 1, 2, 3]), MEASURES, 8)}
    similarity = plain.lists.similarity.copy()
    similarity[5] += 1e-9
    case = plain.lists.case.copy()
    case[[0, 1]] = case[[1, 0]]
    for lists in (
        replace(plain.lists, similarity=similarity),
        replace(plain.lists, case=case),
        replace(plain.lists, scored=False),
        replace(plain.lists, scored=False, case=case),
        replace(plain.lists, queries=("x", "q1", "q2", "q3")),
    ):
        seen.add(truth_digest(replace(plain, lists=lists), MEASURES, 8))
    assert len(seen) == 7
