"""The threshold of the highest utility: by hand, with honest corrections, and only if stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from quem.lists.inference import draw_queries
from quem.options.lists import Answers
from quem.options.thresholds import cut_lists
from quem.options.utility import BestThreshold, best_threshold
from quem.report.files import json_text
from quem.study.options import OptionsSettings, Utility
from tests.options.made import Lists, analysed, answers_of, cut, drawn, some_lists, study_in

if TYPE_CHECKING:
    from pathlib import Path

STATED = Utility(option=0.3, miss=0.5, abstain=0.25)
USED = OptionsSettings(bootstrap=200, utility=STATED)


def worth_of(shown: list[str], utility: Utility = STATED) -> float:
    """What a list is worth, as the reference says it."""
    if not shown:
        return -(utility.miss if utility.abstain is None else utility.abstain)
    hit = any("c" in option for option in shown)
    return (1 if hit else -utility.miss) - utility.option * len(shown)


def found(answers: Answers, used: OptionsSettings) -> tuple[BestThreshold, list[float]]:
    """Find the best threshold where all questions count, and the thresholds that are tried."""
    answers = answers.by_confidence()
    cuts = cut_lists(answers, np.ones(len(answers.answered), dtype=bool), used)
    return best_threshold(0, cuts, used), cuts.threshold.tolist()


@settings(max_examples=40)
@given(some_lists(most_correct=2, shortest=0).filter(any))
def test_best_threshold_and_corrections_are_those_of_a_loop(lists: Lists) -> None:
    """Curve, best, optimism, range, and cross-validation, drawn and divided again."""
    best, thresholds = found(answers_of(lists), USED)
    worths = np.array([[worth_of(cut(one, t, 0)) for one in lists] for t in thresholds])
    assert best.curve == pytest.approx(worths.mean(axis=1))

    def best_of(rows: np.ndarray) -> int:
        means = worths[:, rows].mean(axis=1)
        return max(t for t in range(len(means)) if means[t] >= means.max() - 1e-12)

    assert best.at == best_of(np.arange(len(lists)))
    optimism, chosen = [], []
    for times in draw_queries(len(lists), replicates=USED.bootstrap, seed=USED.seed):
        for counts in times.astype(int):
            rows = np.repeat(np.arange(len(lists)), counts)
            at = best_of(rows)
            chosen.append(thresholds[at])
            optimism.append(worths[at, rows].mean() - worths[at].mean())
    assert best.corrected == pytest.approx(worths[best.at].mean() - np.mean(optimism))
    assert best.range[0] in thresholds
    assert np.mean(np.array(chosen) < best.range[0]) <= 0.03
    order = np.random.default_rng(USED.seed).permutation(len(lists))
    folds = min(10, len(lists))
    held_out = np.full(len(lists), np.nan)
    for part in (order[part::folds] for part in range(folds if folds > 1 else 0)):
        held_out[part] = worths[best_of(np.setdiff1d(order, part)), part]
    assert best.cross_validated == pytest.approx(held_out.mean(), nan_ok=True)


def drawn_answers(questions: int, rng: np.random.Generator) -> Answers:
    """Draw lists of four options whose coarse confidences say a little about which is right."""
    right = np.zeros((questions, 4), dtype=bool)
    right[np.arange(questions), rng.integers(4, size=questions)] = True
    confidence = np.clip(np.round(rng.normal(0.5 + 0.12 * right, 0.2), 1), 0, 1)
    which = np.repeat(np.arange(questions), 4)
    ones = np.ones(questions, dtype=np.int64)
    return Answers(ones > 0, which, right.ravel(), confidence.ravel(), ones)


def test_without_a_utility_nothing_is_recommended(tmp_path: Path) -> None:
    """No threshold is called the best, and summary and report say what to state."""
    key, lists = drawn(40, systems=2, seed=7)
    result = analysed(study_in(tmp_path, lists, key))
    assert result.findings.best == ()
    assert "no threshold is recommended; state analysis.utility" in result.summary()
    assert "best threshold" not in result.summary() + result.to_html()
    table = result.tables()["thresholds"]
    assert not table["is_best"].any()
    assert table["utility"].isna().all()


def test_a_stated_utility_gives_each_system_its_threshold(tmp_path: Path) -> None:
    """From the study file, and from Python; all outputs name the same one."""
    key, lists = drawn(40, systems=2, seed=7)
    path = study_in(tmp_path, lists, key, analysis={"utility": {"option": 0.1, "miss": 0.2}})
    result = analysed(path)
    again = analysed(path, utility={"option": 0.1, "miss": 0.2})
    assert json_text(again.to_dict()) == json_text(result.to_dict())
    table = result.tables()["thresholds"]
    best = table[table["is_best"]].set_index("system")
    document = result.to_dict()
    for entry in document["systems"]:
        row = best.loc[entry["system"]]
        assert entry["best_threshold"]["threshold"] == row["threshold"]
        assert entry["best_threshold"]["utility"] == row["utility"]
        own = table[table["system"] == entry["system"]]
        assert row["utility"] == own["utility"].max()
        assert f"best threshold {row['threshold']:.4g}: lists of" in result.summary()
    assert "costs 0.1, a list without the correct option 0.2" in result.to_html()


def test_abstaining_needs_a_cost(tmp_path: Path) -> None:
    """With it thresholds leave lists empty; without, the best option is always shown."""
    lists = "question,option,confidence\n" + "".join(
        f"Q{i},{c},{p}\n" for i, c, p in ((1, "a", 0.9), (2, "x", 0.4), (3, "x", 0.3))
    )
    path = study_in(tmp_path, lists)
    for utility, lengths in (
        ({"option": 0.1, "miss": 1, "abstain": 0}, [1, 2 / 3, 1 / 3]),
        ({"option": 0.1, "miss": 1}, [1, 1, 1]),
    ):
        result = analysed(path, utility=utility)
        (sweep,) = result.findings.sweeps
        assert sweep.mean_length.tolist() == pytest.approx(lengths)
    abstaining = analysed(path, utility={"option": 0.1, "miss": 1, "abstain": 0})
    (best,) = abstaining.findings.best
    assert best.curve[best.at] == pytest.approx(0.9 / 3)
