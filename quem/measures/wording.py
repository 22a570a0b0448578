"""What several measures say alike."""

from __future__ import annotations

from quem.measures.measure import Parameter

__all__ = [
    "ATANASOVA",
    "EMPTY_LIST",
    "FEW_COMMON",
    "GRADE",
    "LIST_TIED",
    "LIU",
    "NOTHING_RELEVANT",
    "NO_SIMILARITIES",
    "PROCAKE",
    "TIES_BY_ORDER",
    "TOP",
    "TRUTH_TIED",
    "TRUTH_TIES_BY_ORDER",
    "UNJUDGED",
]

PROCAKE = "ProCAKE, Retriever Evaluation (documentation of the ProCAKE framework)"
ATANASOVA = (
    "Atanasova, Karadzhov, Kiprov, Nakov & Sebastiani (2019), Evaluating Variable-Length "
    "Multiple-Option Lists in Chatbots and Mobile Search, SIGIR"
)
LIU = "Liu, Moffat, Baldwin & Zhang (2016), Quit While Ahead: Evaluating Truncated Rankings, SIGIR"

TIES_BY_ORDER = (
    "Items of equal score stand in the order in which they are given; with ties by id, the last "
    "id first; with expected ties, the score is the mean over all their orders, in closed form."
)
TRUTH_TIES_BY_ORDER = (
    f"{TIES_BY_ORDER} The same holds for the ground truth, whose order it needs: grades that are "
    "equal have none."
)
UNJUDGED = "An item that the ground truth does not have is not relevant, and holds its position."

EMPTY_LIST = "the list is empty"
NOTHING_RELEVANT = "no item is relevant for this query"
FEW_COMMON = "list and ground truth have fewer than two items in common"
LIST_TIED = "all common items are tied in the list"
NO_SIMILARITIES = "the list has no similarities, only an order"
TRUTH_TIED = "all common items are tied in the ground truth"

TOP = Parameter("k", None, "how many of the best items are looked at; all by default", least=1)
GRADE = Parameter("rel", 1.0, "from which grade on an item is relevant", kind=float)
