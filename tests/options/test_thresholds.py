"""The sweep over thresholds agrees with lists that are cut by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem import lists as measures
from quem.options.lists import Scorer
from quem.options.thresholds import Sweep, cut_lists, sweep
from quem.studyfile.options import OptionsSettings
from tests.options.made import Lists, analysed, answers_of, cut, some_lists, study_in

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("AP", "OLAR", "F1")


def scorer_of(longest: int) -> Scorer:
    """Score by AP, OLAR and F1."""
    chosen = [measures.measure(name) for name in NAMES]
    chosen[1] = measures.measure("OLAR", max_length=longest)
    return Scorer(NAMES, tuple(chosen), 1, longest)


def swept(lists: Lists, used: OptionsSettings, lacking: int = 0) -> Sweep:
    """Sweep over all thresholds."""
    answers = answers_of(lists, lacking).by_confidence()
    cuts = cut_lists(answers, np.ones(len(lists), dtype=bool))
    return sweep(0, cuts, scorer_of(max(map(len, lists))), used)


@settings(max_examples=60)
@given(some_lists(most_correct=3), st.integers(0, 2))
def test_scores_are_those_of_lists_cut_by_hand(lists: Lists, lacking: int) -> None:
    """Every threshold, length, share and score; ties of confidence keep their order."""
    result = swept(lists, OptionsSettings(bootstrap=0), lacking)
    assert result.threshold.tolist() == sorted({c for listed in lists for c, _ in listed})
    longest = max(map(len, lists))
    held = [max(sum(right for _, right in listed) + lacking, 1) for listed in lists]
    for at, threshold in enumerate(result.threshold.tolist()):
        shown = [cut(listed, threshold) for listed in lists]
        assert result.mean_length[at] == pytest.approx(np.mean([len(s) for s in shown]))
        hits = [any("c" in option for option in s) for s in shown]
        assert result.share[at] == pytest.approx(np.mean(hits))
        for column, name in enumerate(NAMES):
            values = {"max_length": longest} if name == "OLAR" else {}
            scores = []
            for listed, number in zip(shown, held, strict=True):
                right = [option for option in listed if "c" in option]
                truth = right + [f"lost{n}" for n in range(number - len(right))]
                scores.append(measures.score(listed, truth, name, **values).value)  # type: ignore[arg-type]
            known = [score for score in scores if not np.isnan(score)]
            expected = np.mean(known) if known else np.nan
            assert result.scores[at, column] == pytest.approx(expected, nan_ok=True)


def test_lists_against_their_confidences_are_told(tmp_path: Path) -> None:
    """Positions that contradict confidences warn; confidences order the sweep."""
    lists = "question,option,position,confidence\nQ1,b,1,0.2\nQ1,a,2,0.8\nQ2,b,1,0.9\nQ3,c,1,0.7\n"
    result = analysed(study_in(tmp_path, lists))
    codes = {doubt.code for doubt in result.warnings}
    assert "order-against-confidence" in codes
    (sweep_result,) = result.findings.sweeps
    # At .7 Q1 shows its second option alone, which is the right one.
    assert sweep_result.threshold.tolist() == [0.2, 0.7, 0.8, 0.9]
    assert sweep_result.share.tolist() == [1, 1, 1, 1]
    assert sweep_result.mean_length.tolist() == pytest.approx([4 / 3, 1, 1, 1])


def test_nothing_of_confidences_without_all_of_them(tmp_path: Path) -> None:
    """A system that leaves some out is not swept, and warned of; one that tells none is not."""
    lists = "question,system,option,confidence\nQ1,x,a,0.5\nQ1,x,b,\nQ2,y,b,\nQ3,z,c,1\nQ3,z,a,0\n"
    result = analysed(study_in(tmp_path, lists))
    findings = result.findings
    for found in (findings.sweeps, findings.calibrations):
        assert [one.system for one in found] == [2]
    partial = [d.message for d in result.warnings if d.code == "partial-confidence"]
    assert partial == ["1 of 2 options of x have no confidence, so confidences are not evaluated"]
    assert result.to_html()
