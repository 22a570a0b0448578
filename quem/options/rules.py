"""Rules that say which options of a list to show, compared on questions that they do not know.

Whole lists, one option, and nothing need no threshold. The threshold of the highest utility, and
the two thresholds for a stated coverage, are chosen on the other parts of the questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.lists.inference import query_means
from quem.options.conformal import (
    conformal_threshold,
    correct_confidence,
    held_out_sets,
    plain_threshold,
)
from quem.options.thresholds import divided
from quem.options.utility import BestThreshold, best_threshold, held_out_thresholds, worth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.options.lists import Answers
    from quem.options.thresholds import CutLists
    from quem.study.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

Interval = tuple[float, float]
RuleName = Literal[
    "best-threshold", "conformal", "simple-threshold", "whole-list", "one-option", "nothing"
]
RULES: tuple[RuleName, ...] = (
    *("best-threshold", "conformal", "simple-threshold"),
    *("whole-list", "one-option", "nothing"),
)
# Those whose threshold is chosen on other questions.
_CHOSEN = RULES[:3]
_SAME = 1e-12


@dataclass(frozen=True)
class Rule:
    """What one rule shows of the lists of a system."""

    system: int
    name: RuleName
    # Chosen on all questions. NaN for a rule without one, and -inf where no threshold reaches the
    # coverage, so that whole lists are shown.
    threshold: float
    coverage: float  # share of questions for which a correct option is shown
    coverage_interval: Interval
    mean_length: float  # options shown
    mean_length_interval: Interval
    empty: float  # share of questions for which none is
    utility: float
    utility_interval: Interval
    gain: float
    gain_interval: Interval


@dataclass(frozen=True)
class Showing:
    """The rules of one system."""

    system: int
    # Questions, and the parts of cross-validation; 0 where there are too few questions
    n: int
    folds: int
    rules: tuple[Rule, ...]
    best: BestThreshold | None  # none where the study states no utility

    def rule(self, name: RuleName) -> Rule:
        """Find a rule that there is."""
        return next(rule for rule in self.rules if rule.name == name)


def compare_rules(
    system: int,
    answers: Answers,
    lists: CutLists,
    counted: NDArray[np.bool_],
    settings: OptionsSettings,
) -> Showing:
    """Compare the rules of a system, each question by thresholds of other questions.

    Shapes: `counted` (q,).
    """
    utility, n = settings.utility, int(counted.sum())
    best = None if utility is None else best_threshold(lists, utility, settings)
    shown = dict(_shown(answers, lists, counted, settings))
    _, folds = divided(n, settings)
    if not folds:
        shown = {name: own for name, own in shown.items() if name not in _CHOSEN}
    columns: dict[tuple[RuleName, str], Floats] = {}
    for name, (length, hit) in shown.items():
        own = {"coverage": hit, "mean_length": length, "empty": length == 0}
        columns |= {(name, key): column.astype(float) for key, column in own.items()}
        if utility is not None:
            columns[name, "utility"] = worth(utility, length, hit)
        if utility is not None and folds and name != "best-threshold":
            gain = columns["best-threshold", "utility"] - columns[name, "utility"]
            columns[name, "gain"] = np.where(np.abs(gain) > _SAME, gain, 0)
    means = query_means(
        np.column_stack(list(columns.values())),
        level=settings.level,
        replicates=settings.bootstrap,
        seed=settings.seed,
    )
    ends = zip(means.low.tolist(), means.high.tolist(), strict=True)
    found = dict(zip(columns, zip(means.mean.tolist(), ends, strict=True), strict=True))
    scores = correct_confidence(answers)[counted]
    chosen: dict[str, float] = {
        **({} if best is None else {"best-threshold": float(lists.threshold[best.at])}),
        "conformal": conformal_threshold(scores, settings.coverage),
        "simple-threshold": plain_threshold(scores, settings.coverage),
    }
    names = [name for name in RULES if name in shown or name in chosen]
    rules = [_rule(system, name, chosen.get(name, np.nan), found) for name in names]
    return Showing(system, n, folds, tuple(rules), best)


def _rule(
    system: int,
    name: RuleName,
    threshold: float,
    found: dict[tuple[RuleName, str], tuple[float, Interval]],
) -> Rule:
    """Gather the means of a rule; NaN for what there is not."""
    unknown = np.nan, (np.nan, np.nan)
    coverage, length, empty, utility, gain = (
        found.get((name, key), unknown)
        for key in ("coverage", "mean_length", "empty", "utility", "gain")
    )
    return Rule(
        system=system,
        name=name,
        threshold=threshold,
        coverage=coverage[0],
        coverage_interval=coverage[1],
        mean_length=length[0],
        mean_length_interval=length[1],
        empty=empty[0],
        utility=utility[0],
        utility_interval=utility[1],
        gain=gain[0],
        gain_interval=gain[1],
    )


def _shown(
    answers: Answers, lists: CutLists, counted: Flags, settings: OptionsSettings
) -> Iterator[tuple[RuleName, tuple[Integers, Flags]]]:
    """How many options each rule shows of each list, and whether a correct one is among them."""
    length, place = answers.length[counted], answers.place[counted]
    if settings.utility is not None:
        yield "best-threshold", held_out_thresholds(lists, settings.utility, settings)
    yield "conformal", held_out_sets(answers, counted, settings, conformal_threshold)
    yield "simple-threshold", held_out_sets(answers, counted, settings, plain_threshold)
    yield "whole-list", (length, place > 0)
    yield "one-option", (np.minimum(length, 1), place == 1)
    if settings.utility is not None and settings.utility.abstain is not None:
        yield "nothing", (np.zeros_like(length), np.zeros(len(length), dtype=bool))
