"""Quality after Stromer and after Mueller: what a MAC/FAC retrieval loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition
from quem.measures.wording import EMPTY_LIST, PROCAKE, TOP, TRUTH_TIES_BY_ORDER

if TYPE_CHECKING:
    from quem.measures.lists import Lists
    from quem.measures.measure import Outcome

__all__ = ["MEASURES"]

_NO_TRUTH = "the ground truth is empty"


def _stromer(lists: Lists, k: int | None) -> Outcome:
    run, sizes = lists.run, lists.truth.sizes
    # With k beyond the ground truth, a perfect list could not reach 1.
    depth = sizes if k is None else np.minimum(sizes, k)
    places, true, limit = lists.places, lists.true_places, depth[run.row]
    # Both stand at each position from first to last with the same chance, and at no other.
    first = np.maximum(places.first, true.first)
    last = np.minimum(np.minimum(places.last, true.last), limit)
    count = np.maximum(last - first + 1, 0)
    weight = count * (2 + limit - (first + last) / 2) / (places.size * true.size)
    # The sum of 2 + k - i for i from 1 to k.
    whole = depth * (depth + 3) / 2
    return run.sum(weight) / np.maximum(whole, 1), ((sizes == 0, _NO_TRUTH),)


def _mueller(lists: Lists, k: int | None) -> Outcome:
    run, truth = lists.run, lists.truth
    depth = run.sizes if k is None else np.minimum(run.sizes, k)
    wanted = truth.sum(np.where(truth.position <= depth[truth.row], lists.true_value, 0))
    limit = depth[run.row]
    present = lists.places.within(limit) * lists.true_places.within(limit)
    missing = wanted - run.sum(np.where(lists.known, lists.value * present, 0))
    undefined = ((truth.sizes == 0, _NO_TRUTH), (run.sizes == 0, EMPTY_LIST))
    return 1 - missing / np.maximum(depth, 1), undefined


MEASURES = (
    Definition(
        name="quality_stromer",
        family="retrieval",
        summary="The weighted share of positions that hold the very case they should hold.",
        formula="Σ match(i) (2 + k - i) / Σ (2 + k - i), i = 1..k; match(i) = 1 if list and "
        "ground truth have the same case at position i, else 0",
        compute=_stromer,
        low=0,
        high=1,
        better="higher",
        truth="order",
        ties=TRUTH_TIES_BY_ORDER,
        short="Positions beyond the end of the list do not match. k is at most the length of the "
        "ground truth, so that a perfect list has 1.",
        unknown="It never matches, and holds its position.",
        undefined="For an empty ground truth.",
        citation="Bergmann & Stromer (2013), MAC/FAC Retrieval of Semantic Workflows, FLAIRS; "
        f"{PROCAKE}. The words there define err(i) as 1 for a missing case, the example counts "
        "matches; here the example is followed.",
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
    Definition(
        name="quality_mueller",
        family="retrieval",
        summary="What the list lacks of the most similar cases, by their true similarity.",
        formula="1 - Σ true sim(c) / |RL|, over the cases c that are among the |RL| best of the "
        "ground truth but not in RL; RL = the list, or its k best",
        compute=_mueller,
        low=0,
        high=1,
        better="higher",
        truth="order",
        ties=TRUTH_TIES_BY_ORDER,
        short="It is compared with as many true cases as it has, so that a short list is not "
        "punished for its length.",
        unknown="It takes the place of a case that is then missing.",
        undefined="For an empty list or ground truth.",
        citation="Müller & Bergmann (2014), A Cluster-Based Approach to Improve Similarity-Based "
        f"Retrieval for Process-Oriented Case-Based Reasoning, ECAI; {PROCAKE}",
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
)
