"""Option sets cover what they promise, and say where they cannot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem.options.conformal import (
    conformal_threshold,
    correct_confidence,
    fewest_for_coverage,
    plain_threshold,
)
from quem.options.rules import compare_rules
from quem.options.thresholds import cut_lists
from quem.study.options import OptionsSettings
from tests.options.made import Lists, analysed, answers_of, drawn, some_lists, study_in
from tests.trials import conformal
from tests.trials.runner import TRIALS, run_trials

if TYPE_CHECKING:
    from pathlib import Path


@given(
    st.lists(st.one_of(st.integers(0, 9).map(float), st.just(-math.inf)), max_size=30),
    st.sampled_from([0.5, 0.8, 0.9, 0.95]),
)
def test_thresholds_are_those_of_the_definition(scores: list[float], coverage: float) -> None:
    """The k-th highest score; with ties and lists that lack the correct option, by counting."""
    n = len(scores)
    conformal_set = conformal_threshold(np.array(scores), coverage)
    plain = plain_threshold(np.array(scores), coverage)
    for threshold, of in ((conformal_set, n + 1), (plain, n)):
        k = math.ceil(round(coverage * of, 9))
        if k > n or not n:
            assert threshold == -math.inf
        else:
            assert threshold == sorted(scores, reverse=True)[k - 1]
    if n and plain > -math.inf:
        assert np.mean(np.array(scores) >= plain) >= coverage - 1e-9
        higher = [score for score in scores if score > plain]
        assert len(higher) / n < coverage


@settings(max_examples=40)
@given(some_lists(most_correct=2, shortest=0).filter(any))
def test_held_out_sets_are_those_of_a_loop(lists: Lists) -> None:
    """Each part by the threshold of the others: coverage, length and empty sets."""
    used = OptionsSettings(bootstrap=0, folds=3, coverage=0.6)
    answers = answers_of(lists).by_confidence()
    counted = np.ones(len(lists), dtype=bool)
    result = compare_rules(0, answers, cut_lists(answers, counted, used), counted, used)
    scores = [max((c for c, right in one if right), default=-math.inf) for one in lists]
    assert correct_confidence(answers).tolist() == scores
    order = np.random.default_rng(used.seed).permutation(len(lists)).tolist()
    for name, choose in (("conformal", conformal_threshold), ("simple-threshold", plain_threshold)):
        shown: dict[int, list[bool]] = {}
        for part in range(result.folds):
            inside = order[part :: result.folds]
            others = np.array([scores[q] for q in range(len(lists)) if q not in inside])
            threshold = choose(others, 0.6)
            shown |= {q: [r for c, r in lists[q] if c >= threshold] for q in inside}
        rule = result.rule(name)  # type: ignore[arg-type]
        assert rule.coverage == pytest.approx(np.mean([any(one) for one in shown.values()]))
        assert rule.mean_length == pytest.approx(np.mean([len(one) for one in shown.values()]))
        assert rule.empty == pytest.approx(np.mean([not one for one in shown.values()]))
        assert rule.threshold == choose(np.array(scores), 0.6)


def test_sets_cover_what_they_promise(tmp_path: Path) -> None:
    """A few of the trials: in the mean over studies within 1.5 points of the coverage."""
    trial = TRIALS["conformal"]
    assert trial.run is conformal.conformal_coverage
    results = run_trials(trial, 60, 0, tmp_path / "results.jsonl")
    assert [result["failed"] for result in results if result["failed"]] == []
    assert trial.bar(results) == ""
    low = [{**result, "true": result["true"] - 0.05} for result in results]
    assert "points" in trial.bar(low)


def test_sets_that_lists_cannot_cover_are_told(tmp_path: Path) -> None:
    """Where too many lists lack the correct option, sets are whole lists, and outputs say so."""
    lists = "question,option,confidence\n" + "".join(
        f"Q{i},{'a' if i % 5 else 'x'},0.{i % 9 + 1}\n" for i in range(50)
    )
    key = "question,correct\n" + "".join(f"Q{i},a\n" for i in range(50))
    result = analysed(study_in(tmp_path, lists, key))
    rule = result.findings.showings[0].rule("conformal")
    assert rule.threshold == -math.inf
    assert (rule.coverage, rule.mean_length) == (0.8, 1)
    assert "at most 80%" in result.summary()
    assert "No threshold reaches 90% for system (80%)" in result.to_html()
    assert result.tables()["rules"].set_index("rule")["threshold"].isna()["conformal"]
    reached = analysed(study_in(tmp_path, lists, key), coverage=0.7)
    assert reached.findings.showings[0].rule("conformal").threshold > 0
    assert "at most" not in reached.summary()


def test_questions_that_are_left_out_do_not_count(tmp_path: Path) -> None:
    """With `missing: leave-out` everything is as if these questions were not there."""
    key, lists = drawn(40, systems=1, seed=4)
    fewer = "".join(line + "\n" for line in lists.splitlines() if not line.startswith("Q1"))
    kept = "".join(line + "\n" for line in key.splitlines() if not line.startswith("Q1"))
    asked = {"utility": {"option": 0.1}, "missing": "leave-out", "max_length": 6}
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    out = analysed(study_in(first, fewer, key), **asked)
    gone = analysed(study_in(second, fewer, kept), **asked)
    for name in ("thresholds", "rules", "risk-coverage", "reliability"):
        assert out.tables()[name].equals(gone.tables()[name]), name
    counted = analysed(study_in(first, fewer, key), **{**asked, "missing": "empty"})
    whole = counted.findings.showings[0].rule("whole-list")
    assert whole.empty == pytest.approx(11 / 40)
    assert whole.coverage == pytest.approx(
        29 / 40 * gone.findings.showings[0].rule("whole-list").coverage
    )


def test_too_few_questions_are_told(tmp_path: Path) -> None:
    """90% needs 9 questions, 95% 19; below, sets are whole lists, and a warning says so."""
    assert [fewest_for_coverage(level) for level in (0.5, 0.9, 0.95, 0.99)] == [1, 9, 19, 99]
    for questions, coverage, few in ((8, 0.9, True), (9, 0.9, False), (9, 0.95, True)):
        key, lists = drawn(questions, systems=1, seed=2)
        result = analysed(study_in(tmp_path, lists, key), coverage=coverage)
        assert ("few-for-coverage" in {d.code for d in result.warnings}) == few
        assert ("too few\n" in result.summary()) == few
        assert ("too few questions for sets" in result.to_html()) == few
