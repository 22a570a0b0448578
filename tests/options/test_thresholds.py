"""The sweep over thresholds agrees with lists that are cut by hand, and is honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem import lists as measures
from quem.lists.inference import draw_queries
from quem.options.lists import Answers, Scorer
from quem.options.thresholds import Sweep, sweep
from quem.study.options import OptionsSettings
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from pathlib import Path

Lists = list[list[tuple[float, bool]]]
USED = OptionsSettings(bootstrap=200, folds=4)


def answers_of(lists: Lists) -> Answers:
    """Make the answers of a system: of each list the confidences, and which option is right."""
    return Answers(
        np.ones(len(lists), dtype=bool),
        np.repeat(np.arange(len(lists)), [len(listed) for listed in lists]),
        np.array([right for listed in lists for _, right in listed], dtype=bool),
        np.array([confidence for listed in lists for confidence, _ in listed], dtype=float),
    )


def scorer_of(longest: int) -> Scorer:
    """Score by OLAR and AP."""
    chosen = (measures.measure("AP"), measures.measure("OLAR", max_length=longest))
    return Scorer(("AP", "OLAR"), chosen, 1, longest)


def cut(listed: list[tuple[float, bool]], threshold: float, least: int) -> list[str]:
    """The options that a threshold shows, best first; c is the correct one."""
    best_first = sorted(listed, key=lambda option: -option[0])
    reached = sum(confidence >= threshold for confidence, _ in best_first)
    shown = best_first[: max(reached, least)]
    return ["c" if right else f"w{i}" for i, (_, right) in enumerate(shown)]


def by_hand(lists: Lists, threshold: float, name: str, longest: int, least: int) -> list[float]:
    """The score of each list at a threshold."""
    values = {"max_length": longest} if name == "OLAR" else {}
    return [
        measures.score(cut(listed, threshold, least), ["c"], name, **values).value  # type: ignore[arg-type]
        for listed in lists
    ]


def swept(lists: Lists, used: OptionsSettings = USED) -> tuple[Sweep, int]:
    """Sweep, and tell the longest list."""
    longest = max(map(len, lists))
    scores = np.array(by_hand(lists, -np.inf, "OLAR", longest, 1))
    result = sweep(0, answers_of(lists), scores, scorer_of(longest), used)
    assert result is not None
    return result, longest


@st.composite
def some_lists(draw: st.DrawFn) -> Lists:
    """Lists of up to five options with coarse confidences, of which at most one is right."""
    lists = []
    for _ in range(draw(st.integers(2, 8))):
        confidences = draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
        right = draw(st.integers(-1, len(confidences) - 1))
        lists.append([(c / 5, i == right) for i, c in enumerate(confidences)])
    return lists


@settings(max_examples=40)
@given(some_lists(), st.integers(1, 3))
def test_scores_are_those_of_lists_cut_by_hand(lists: Lists, least: int) -> None:
    """Every threshold, length, share and score; ties of confidence keep their order."""
    result, longest = swept(lists, USED.model_copy(update={"least": least, "bootstrap": 0}))
    assert result.threshold.tolist() == sorted({c for listed in lists for c, _ in listed})
    for at, threshold in enumerate(result.threshold.tolist()):
        shown = [cut(listed, threshold, least) for listed in lists]
        assert result.mean_length[at] == pytest.approx(np.mean([len(s) for s in shown]))
        assert result.share[at] == pytest.approx(np.mean(["c" in s for s in shown]))
        for column, name in enumerate(("AP", "OLAR")):
            expected = np.mean(by_hand(lists, threshold, name, longest, least))
            assert result.scores[at, column] == pytest.approx(expected)
    best = result.scores[result.best, 1]
    assert best == pytest.approx(result.scores[:, 1].max())
    assert (result.scores[result.best + 1 :, 1] < best).all()


@settings(max_examples=20)
@given(some_lists())
def test_corrections_are_those_of_a_loop(lists: Lists) -> None:
    """Optimism, range and cross-validation, drawn and divided again one by one."""
    result, longest = swept(lists)
    scores = np.array([by_hand(lists, t, "OLAR", longest, 1) for t in result.threshold.tolist()])

    def best_of(columns: np.ndarray) -> int:
        means = scores[:, columns].mean(axis=1)
        return max(t for t in range(len(means)) if means[t] >= means.max() - 1e-12)

    optimism, chosen = [], []
    for times in draw_queries(len(lists), replicates=USED.bootstrap, seed=USED.seed):
        for counts in times.astype(int):
            rows = np.repeat(np.arange(len(lists)), counts)
            at = best_of(rows)
            chosen.append(result.threshold[at])
            optimism.append(scores[at, rows].mean() - scores[at].mean())
    apparent = scores[best_of(np.arange(len(lists)))].mean()
    assert result.corrected == pytest.approx(apparent - np.mean(optimism))
    assert result.best_range[0] in result.threshold
    assert np.mean(np.array(chosen) < result.best_range[0]) <= 0.03
    order = np.random.default_rng(USED.seed).permutation(len(lists))
    folds = min(USED.folds, len(lists))
    parts = [order[part::folds] for part in range(folds)]
    held_out = [scores[best_of(np.setdiff1d(order, part)), part] for part in parts]
    assert result.folds == folds
    assert result.cross_validated == pytest.approx(np.concatenate(held_out).mean())


def drawn_answers(questions: int, rng: np.random.Generator) -> Answers:
    """Draw lists of four options whose coarse confidences say a little about which is right."""
    right = np.zeros((questions, 4), dtype=bool)
    right[np.arange(questions), rng.integers(4, size=questions)] = True
    confidence = np.clip(np.round(rng.normal(0.5 + 0.12 * right, 0.2), 1), 0, 1)
    which = np.repeat(np.arange(questions), 4)
    return Answers(np.ones(questions, dtype=bool), which, right.ravel(), confidence.ravel())


def test_the_corrected_scores_are_what_new_questions_give() -> None:
    """Over many small studies, the best score is too good, and both corrections are not."""
    rng = np.random.default_rng(0)
    scorer, plain = scorer_of(4), USED.model_copy(update={"bootstrap": 0})
    all_of_them = sweep(0, drawn_answers(40_000, rng), np.zeros(40_000), scorer, plain)
    assert all_of_them is not None
    known = dict(zip(all_of_them.threshold, all_of_them.scores[:, 1], strict=True))
    scores = []
    for _ in range(300):
        result = sweep(0, drawn_answers(20, rng), np.zeros(20), scorer, USED)
        assert result is not None
        best = result.best
        truth = known[result.threshold[best]]
        scores.append((result.scores[best, 1], result.corrected, result.cross_validated, truth))
    apparent, corrected, cross_validated, truth = np.mean(scores, axis=0)
    assert apparent - truth > 0.02
    assert abs(corrected - truth) < (apparent - truth) / 2
    assert abs(cross_validated - truth) < (apparent - truth) / 2


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


def test_no_thresholds_without_all_confidences(tmp_path: Path) -> None:
    """A system that leaves some out is not swept, and warned of; one that tells none is not."""
    lists = "question,system,option,confidence\nQ1,x,a,0.5\nQ1,x,b,\nQ2,y,b,\nQ3,z,c,1\nQ3,z,a,0\n"
    result = analysed(study_in(tmp_path, lists))
    assert [s.system for s in result.findings.sweeps] == [2]
    partial = [d.message for d in result.warnings if d.code == "partial-confidence"]
    assert partial == ["1 of 2 options of x have no confidence, so no threshold is estimated"]


def test_many_confidences_are_thinned(tmp_path: Path) -> None:
    """At most so many thresholds are tried, at even steps, the lowest and highest among them."""
    key, lists = drawn(60, systems=1, seed=5)
    full = analysed(study_in(tmp_path, lists, key))
    thin = analysed(study_in(tmp_path, lists, key), thresholds=7)
    every = full.findings.sweeps[0].threshold
    some = thin.findings.sweeps[0].threshold
    assert len(some) == 7 < len(every)
    assert set(some) <= set(every)
    assert (some[0], some[-1]) == (every[0], every[-1])


def test_an_edge_is_told(tmp_path: Path) -> None:
    """Where all that was offered should be shown, or only the best, a warning says so."""
    show_all = "question,option,confidence\n" + "".join(
        f"Q{i},w,0.9\nQ{i},{c},0.1\n" for i, c in ((1, "a"), (2, "b"), (3, "c"))
    )
    show_one = "question,option,confidence\n" + "".join(
        f"Q{i},{c},0.{i}\nQ{i},w,0.1\n" for i, c in ((1, "a"), (2, "b"), (3, "c"))
    )
    for lists, word in (
        (show_all, "held back"),
        (show_one, "only the best option should be shown"),
    ):
        result = analysed(study_in(tmp_path, lists))
        (message,) = (d.message for d in result.warnings if d.code == "threshold-at-the-edge")
        assert word in message
