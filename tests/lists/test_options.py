"""Table 1 of Atanasova et al., and measures of option lists at their edges."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from quem import lists as measures
from quem.errors import QuemError
from tests.lists.golden import GOLDEN, options

PRINTED = GOLDEN["option_lists"]
TABLE, NAMES = PRINTED["table"], PRINTED["measures"]
UNRANKED = ("F1", "F1s", "LAR")


@pytest.fixture(scope="module")
def scores() -> measures.Scores:
    """The scores of all lists of the table by all of its measures."""
    return measures.evaluate(
        {kind: options(kind) for kind in TABLE}, {kind: ["c"] for kind in TABLE}, NAMES
    )


def rounded(value: float, name: str) -> Decimal:
    """A score as the paper prints it: rounded half up."""
    digits = Decimal("0.001") if name == "OLAR" else Decimal("0.01")
    return Decimal(round(value, 12)).quantize(Decimal("1e-9")).quantize(digits, ROUND_HALF_UP)


@pytest.mark.parametrize("name", NAMES)
def test_table(scores: measures.Scores, name: str) -> None:
    """All 20 lists have the printed scores."""
    printed = {kind: Decimal(row["printed"][NAMES.index(name)]) for kind, row in TABLE.items()}
    values = scores[name].tolist()
    assert {k: rounded(v, name) for k, v in zip(TABLE, values, strict=True)} == printed


@pytest.mark.parametrize("name", NAMES)
def test_stars(scores: measures.Scores, name: str) -> None:
    """A list is starred that scores no worse than one of a strictly better gold rank."""
    which = 0 if name in UNRANKED else 1
    gold = np.array([row["gold"][which] for row in TABLE.values()])
    values = scores[name]
    for score, rank, (kind, row) in zip(values, gold, TABLE.items(), strict=True):
        better = values[gold < rank]
        starred = len(better) > 0 and score >= better.min() - 1e-12
        assert starred == (name in row["starred"]), kind


@pytest.mark.parametrize("name", NAMES)
def test_correlations(scores: measures.Scores, name: str) -> None:
    """The correlations of rounded scores with the gold ranks are the printed ones."""
    which = 0 if name in UNRANKED else 1
    gold = [-row["gold"][which] for row in TABLE.values()]
    shown = [float(rounded(score, name)) for score in scores[name].tolist()]
    printed = PRINTED["correlations"]
    assert kendalltau(shown, gold).statistic == pytest.approx(printed["kendall"][name], abs=5e-4)
    assert spearmanr(shown, gold).statistic == pytest.approx(printed["spearman"][name], abs=5e-4)


@pytest.mark.parametrize(
    ("name", "listed", "relevant", "expected"),
    [
        ("F1", "axb", "abc", 4 / 6),
        ("F1s", "axb", "abc", 6 / 8),
        ("AP", "axb", "abc", (1 + 2 / 3) / 3),
        ("APs", "axb", "abc", (1 + 2 / 3 + 3 / 4) / 4),
        ("APL", "axb", "abc", (1 + 2 / 3 + 2 / 3 * (2 + 2 / 3) / 4) / 4),
        ("RBPL", "axb", "abc", 0.5 + 0.125 + 2 / 3 * 0.125),
        (
            "nDCGL",
            "axb",
            "abc",
            (1 + 0.5 + 2 / 3 / math.log2(5)) / (1 + 1 / math.log2(3) + 0.5 + 1 / math.log2(5)),
        ),
        ("RR@1", "xab", "abc", 0),
        ("RR@2", "xab", "abc", 0.5),
        ("AP@2", "axb", "abc", 1 / 3),
        ("RBP@1", "ab", "ab", 0.5),
        ("RBP(p=0.8)", "xa", "a", 0.2 * 0.8),
        ("F1", "", "a", 0),
        ("F1s", "", "a", 2 / 3),
        ("AP", "", "a", 0),
        ("APs", "", "a", 0.5),
        ("APL", "", "a", 0),
        ("nDCGL", "", "a", 0),
        ("RBPL", "", "a", 0),
        ("RBP", "ab", "", 0),
        ("LAR", "xab", "ab", (1 + 1 / 3) / 2),
        ("LAR", "xy", "ab", 1 / 4),
        ("OLAR(m=0.1)", "xab", "ab", (1 + 1 / 3 + 0.1 / 2) / 2.1),
        ("OLAR(m=0.1)", "ba", "ab", (1 + 1 / 2 + 0.1) / 2.1),
    ],
)
def test_several_relevant(name: str, listed: str, relevant: str, expected: float) -> None:
    """With several relevant items, or an empty list, these are the scores."""
    score = measures.score(list(listed), list(relevant), name)
    assert score.value == pytest.approx(expected)


GRADED = {"a": 3, "b": 1, "c": 0, "d": -1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nDCG", (1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3))),
        ("nDCG(gain=exponential)", (1 / math.log2(3) + 7 / 2) / (7 + 1 / math.log2(3))),
        ("nDCG@2", 1 / math.log2(3) / (3 + 1 / math.log2(3))),
        ("RBP(top=3)", 0.5 * (1 / 3 * 0.5 + 1 * 0.25)),
        ("RBP(top=3)@2", 0.5 * (1 / 3 * 0.5)),
        ("RBP(rel=2)", 0.125),
        ("AP(rel=2)", 1 / 3),
        ("AP(rel=0)", (1 / 2 + 2 / 3) / 3),
        ("RR(rel=2)", 1 / 3),
    ],
)
def test_graded_relevance(name: str, expected: float) -> None:
    """Grades are gains, or relevant from a grade on."""
    assert measures.score(["d", "b", "a", "x"], GRADED, name).value == pytest.approx(expected)


NONE = "no item is relevant for this query"


@pytest.mark.parametrize(
    ("name", "listed", "relevant", "reason"),
    [
        *((n, "ab", "", NONE) for n in NAMES if n not in {"nDCG", "RBP"}),
        ("nDCG", "ab", "", "no item has a gain for this query"),
        ("LAR", "", "a", "the list is empty"),
        ("OLAR", "", "a", "the list is empty"),
        ("OLAR", "abcdef", "a", "the list is longer than max_length, 5; name a larger one"),
    ],
)
def test_undefined(name: str, listed: str, relevant: str, reason: str) -> None:
    """Where there is no score there is a reason, and no 0."""
    score = measures.score(list(listed), list(relevant), name)
    assert math.isnan(score.value)
    assert score.reason == reason


@pytest.mark.parametrize("name", NAMES)
def test_properties_of_the_paper(name: str) -> None:
    """The three properties are found where the paper says so."""
    properties = measures.properties(name)
    assert [prop.holds for prop in properties] == PRINTED["properties"][name]


def test_olar_loses_confidence_at_length_six() -> None:
    """The m of the paper is too large for lists of six, and a counterexample says so."""
    properties = measures.properties("OLAR(m=0.0499)", max_length=6)
    assert properties.correctness.holds
    assert properties.priority.holds
    counterexample = properties.confidence.counterexample
    assert counterexample is not None
    better, worse = counterexample.better, counterexample.worse
    assert (better.count("c"), worse.count("c")) == (1, 1)
    assert len(better) < len(worse) == 6
    assert counterexample.better_score < counterexample.worse_score
    assert str(counterexample).startswith(f"{better} (0.59")


@pytest.mark.parametrize("longest", [1, 2, 3, 8, 20])
def test_olar_has_all_properties(longest: int) -> None:
    """With its own m, OLAR has all three properties at any length."""
    properties = measures.properties(f"OLAR(max_length={longest})", longest)
    assert all(prop.holds for prop in properties)


@pytest.mark.parametrize(
    ("name", "longest", "message"),
    [
        ("distance", 5, "distance: lower is better, and the properties are of measures where"),
        ("kendall", 5, "kendall: has no score for the list c: list and ground truth have fewer"),
        ("OLAR", 6, "OLAR: has no score for the list cwwwww: the list is longer than max_length"),
        ("OLAR", 0, "max_length: should be a whole number of at least 1, and not 0"),
    ],
)
def test_properties_that_cannot_be_checked(name: str, longest: int, message: str) -> None:
    """A measure that does not score such lists is refused, with the reason."""
    with pytest.raises(QuemError, match=message):
        measures.properties(name, longest)
