"""The registry: how measures are spelled, what each says of itself, and examples."""

from __future__ import annotations

import math
import re

import pytest

from quem import lists as measures
from quem.errors import QuemError
from quem.lists.explanation import describe, explain
from tests.docs.pages import ROOT

ALL = measures.DEFINITIONS


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("AP", "AP"),
        ("ap", "AP"),
        (" AP @ 10 ", "AP@10"),
        ("AP(k=10)", "AP@10"),
        ("AP(rel=2)@10", "AP(rel=2)@10"),
        ("AP(rel=1)", "AP"),
        ("rbp(p=0.80, top=3)", "RBP(p=0.8, top=3)"),
        ("MAE(by=case)", "MAE(by=case)"),
        ("rank_quality@10", "rank_quality"),
        ("OLAR(max_length=7)", "OLAR(max_length=7)"),
    ],
)
def test_spelling(spelling: str, name: str) -> None:
    """A measure has one name, however it is spelled, and is found by it."""
    assert measures.measure(spelling).name == name
    assert measures.measure(name) == measures.measure(spelling)
    assert str(measures.measure(spelling)) == name


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("AP(", "'AP(' is not a measure; write it like AP, AP@10, RBP(p=0.8) or AP(rel=2)@10"),
        ("AP(rel)", "'AP(rel)' is not a measure; write it"),
        ("AP(rel=1, rel=2)", "is not a measure; write it"),
        ("AP(k=1)@2", "is not a measure; write it"),
        ("", "'' is not a measure; write it"),
        ("Kendal", "there is no measure 'Kendal'; did you mean kendall?"),
        ("F1s@3", "F1s: there is no parameter 'k'; it takes rel"),
        ("distance@3", "distance: there is no parameter 'k'; it takes none"),
        ("AP@1.5", "AP: k: should be a whole number of at least 1, and not '1.5'"),
        ("AP@many", "AP: k: should be a whole number of at least 1, and not 'many'"),
        ("AP(rel=nan)", "AP: rel: should be a number, and not 'nan'"),
        ("RBP(p=1)", "RBP: p: should be a number from 0 to 0.999999, and not '1'"),
        ("MAE(by=item)", "MAE: by: should be position or case, and not 'item'"),
    ],
)
def test_wrong_spelling(spelling: str, message: str) -> None:
    """What is no measure is refused, with what would be right."""
    with pytest.raises(QuemError, match=re.escape(message)):
        measures.measure(spelling)


@pytest.mark.parametrize("name", ALL)
def test_describes_itself(name: str) -> None:
    """Each measure says what it is, in sentences that end."""
    description = describe(ALL[name])
    assert description["better"] in {"higher", "lower"}
    assert description["source"]
    for key in ("summary", "ties", "short_lists", "unknown_items", "undefined"):
        assert description[key].endswith("."), key
    assert description["range"][0] is not None


@pytest.mark.parametrize("name", ALL)
def test_examples_have_scores(name: str) -> None:
    """An example shows the score with each of the parameters, or why there is none."""
    scores = explain(name)["example"]["scores"]
    assert [one["measure"] for one in scores] == list(ALL[name].shown)
    for one in scores:
        assert one["undefined"] if one["score"] is None else math.isfinite(one["score"])


def test_page_names_what_each_measure_needs() -> None:
    """The table of docs/reference/measures.md has each measure where its definition has it."""
    text = (ROOT / "docs/reference/measures.md").read_text("utf-8")
    for kind in ("order", "grades", "both"):
        (row,) = re.findall(rf"^\| `{kind}`:[^|]*\| (.*) \|$", text, re.MULTILINE)
        named = {name for name, definition in ALL.items() if definition.truth == kind}
        assert set(re.findall(r"`(\w+)`", row)) == named
