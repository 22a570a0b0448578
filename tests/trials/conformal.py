"""Studies of known truth: how often conformal option sets have a correct option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.options.conformal import conformal_threshold, correct_confidence, plain_threshold
from quem.options.lists import Answers
from quem.options.rules import compare_rules
from quem.options.thresholds import cut_lists
from quem.study.options import OptionsSettings
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

_NEAR = 0.015
_NEW = 4_000
_COVERAGES = (0.8, 0.9, 0.95)


def _drawn(questions: int, options: int, skill: float, rng: np.random.Generator) -> Answers:
    """Answer questions with lists of all options; one in five questions has a second answer."""
    right = np.zeros((questions, options), dtype=bool)
    right[np.arange(questions), rng.integers(options, size=questions)] = True
    second = rng.integers(options, size=questions)
    more = rng.random(questions) < 0.2
    right[np.flatnonzero(more), second[more]] = True
    score = rng.normal(size=right.shape) + skill * right
    # Too sure of itself by half: confidences are no true probabilities.
    confidence = np.exp(1.5 * score)
    confidence /= confidence.sum(axis=1, keepdims=True)
    which = np.repeat(np.arange(questions), options)
    every = np.ones(questions, dtype=bool)
    return Answers(every, which, right.ravel(), confidence.ravel(), right.sum(axis=1))


def _covers(results: list[dict[str, Any]]) -> str:
    """The mean coverage of each level, of new and of held-out questions, is near it."""
    missed = []
    for coverage in _COVERAGES:
        own = [result for result in results if result["coverage"] == coverage]
        for name in ("true", "held_out") if own else ():
            mean = float(np.mean([result[name] for result in own]))
            if abs(mean - coverage) > _NEAR:
                off = 100 * (mean - coverage)
                missed.append(f"{name}: {coverage:.0%} sets are {off:+.1f} points off")
    return "; ".join(missed)


def _table(results: list[dict[str, Any]]) -> str:
    lines = [
        "| coverage | studies | sets, new questions | held out | simple, new | held out |",
        "|---|---|---|---|---|---|",
    ]
    for coverage in _COVERAGES:
        own = [result for result in results if result["coverage"] == coverage]
        if own:
            names = ("true", "held_out", "simple", "simple_held_out")
            cells = (f"{100 * np.mean([result[name] for result in own]):.1f}%" for name in names)
            lines.append(f"| {coverage:.0%} | {len(own):,} | {' | '.join(cells)} |")
    return "\n".join(lines)


@registered("conformal", count=2_000, bar=_covers, table=_table)
def conformal_coverage(rng: random.Random, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    """Conformal option sets cover new questions within 1.5 points of what they promise."""
    coverage = rng.choice(_COVERAGES)
    questions, options = rng.choice([100, 200, 400]), rng.choice([4, 6, 10])
    skill = rng.choice([0.5, 1.5, 2.5])
    random_ = np.random.default_rng(rng.getrandbits(32))
    used = OptionsSettings(bootstrap=0, thresholds=2, coverage=coverage, seed=rng.getrandbits(32))
    answers = _drawn(questions, options, skill, random_).by_confidence()
    counted = np.ones(questions, dtype=bool)
    result = compare_rules(0, answers, cut_lists(answers, counted, used), counted, used)
    known = correct_confidence(answers)
    new = correct_confidence(_drawn(_NEW, options, skill, random_))
    assert result.rule("conformal").threshold == conformal_threshold(known, coverage)
    return {
        "coverage": coverage,
        "questions": questions,
        "true": float((new >= conformal_threshold(known, coverage)).mean()),
        "held_out": result.rule("conformal").coverage,
        "simple": float((new >= plain_threshold(known, coverage)).mean()),
        "simple_held_out": result.rule("simple-threshold").coverage,
    }
