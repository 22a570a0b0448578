"""The sweep over thresholds agrees with lists that are cut by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem import lists as measures
from quem.options import evaluate
from tests.options.made import Lists, analysed, cut, some_lists, study_in

if TYPE_CHECKING:
    from pathlib import Path


@settings(max_examples=40, deadline=None)
@given(some_lists(most_correct=3), st.integers(0, 2), st.sampled_from(["OLAR", "AP", "F1"]))
def test_scores_are_those_of_lists_cut_by_hand(lists: Lists, lacking: int, name: str) -> None:
    """Every threshold, length, share and score; ties of confidence keep their order."""
    held = [max(sum(right for _, right in listed) + lacking, 1) for listed in lists]
    given_lists = {
        f"Q{q}": [(f"{'c' if right else 'w'}{i}", c) for i, (c, right) in enumerate(listed)]
        for q, listed in enumerate(lists)
    }
    truths = {}
    for (question, pairs), number in zip(given_lists.items(), held, strict=True):
        right = [option for option, _ in pairs if option[0] == "c"]
        truths[question] = right + [f"lost{n}" for n in range(number - len(right))]
    result = evaluate({"s": given_lists}, truths, measures=name, samples=0)
    rows = result.table("thresholds").to_dict("records")
    thresholds = sorted({c for listed in lists for c, _ in listed})
    assert [row["threshold"] for row in rows] == thresholds
    values = {"max_length": max(map(len, lists))} if name == "OLAR" else {}
    for row, threshold in zip(rows, thresholds, strict=True):
        shown = [cut(listed, threshold) for listed in lists]
        assert row["length"] == pytest.approx(np.mean([len(s) for s in shown]))
        hits = [any("c" in option for option in s) for s in shown]
        assert row["correct"] == pytest.approx(np.mean(hits))
        scores = []
        for options, number in zip(shown, held, strict=True):
            right = [option for option in options if "c" in option]
            truth = right + [f"lost{n}" for n in range(number - len(right))]
            scores.append(measures.score(options, truth, name, **values).value)  # type: ignore[arg-type]
        assert row["mean"] == pytest.approx(np.nanmean(scores))


def test_lists_against_their_confidences_are_told(tmp_path: Path) -> None:
    """Positions that contradict confidences warn; confidences order the sweep."""
    lists = "question,option,position,confidence\nQ1,b,1,0.2\nQ1,a,2,0.8\nQ2,b,1,0.9\nQ3,c,1,0.7\n"
    result = analysed(study_in(tmp_path, lists))
    (message,) = (d.message for d in result.warnings if d.code == "order-against-confidence")
    assert message.startswith("1 ")
    # At .7 Q1 shows its second option alone, which is the right one.
    rows = result.table("thresholds")
    assert rows.threshold.tolist() == [0.2, 0.7, 0.8, 0.9]
    assert rows.correct.tolist() == [1, 1, 1, 1]
    assert rows.length.tolist() == pytest.approx([4 / 3, 1, 1, 1])


def test_nothing_of_confidences_without_all_of_them(tmp_path: Path) -> None:
    """A system that leaves some out is not swept, and warned of; one that tells none is not."""
    lists = "question,system,option,confidence\nQ1,x,a,0.5\nQ1,x,b,\nQ2,y,b,\nQ3,z,c,1\nQ3,z,a,0\n"
    result = analysed(study_in(tmp_path, lists))
    for name in ("thresholds", "calibration"):
        assert {*result.table(name).system} == {"z"}
    partial = [d.message for d in result.warnings if d.code == "partial-confidence"]
    assert partial == ["1 of 2 options of x have no confidence, so confidences are not evaluated"]
    assert result.to_html()
