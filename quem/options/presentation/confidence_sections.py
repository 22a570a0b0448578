"""What the report says of confidences: thresholds and calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.options.presentation.summary import (
    DIGITS,
    a_correct,
    score,
    span,
)
from quem.options.utility import FOLDS
from quem.report.files import Section, TextTable
from quem.wording import format_number, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.options.result import OptionsFindings

CONFIDENCE_REFERENCES = (
    "Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams. "
    "Weather and Forecasting, 22(3), 651–661.",
)
_MOST_SYSTEMS = 8


def confidence_sections(findings: OptionsFindings) -> list[Section]:
    """Make the sections about systems with confidences, if there are such systems."""
    return [_thresholds(findings), _calibration(findings)] if findings.sweeps else []


def confidence_methods(findings: OptionsFindings) -> Iterator[str]:
    """Say in a methods paragraph how confidences were evaluated."""
    if findings.best:
        yield (
            f"{_utility(findings)} The threshold of confidence with the highest mean utility was "
            f"evaluated by {FOLDS}-fold cross-validation."
        )
    if findings.calibrations:
        yield (
            "Calibration was evaluated by Brier scores and expected calibration errors, corrected "
            "for bias, over bins of about equal size."
        )


def _utility(findings: OptionsFindings) -> str:
    """Say what the study states of hits and costs."""
    utility = findings.settings.utility
    if utility is None:
        return ""
    empty = "as much as a miss" if utility.abstain is None else f"{utility.abstain:g}"
    return (
        f"A list with {a_correct(findings)} is worth 1; each option that is shown "
        f"costs {utility.option:g}, a list without {a_correct(findings)} {utility.miss:g}, and "
        f"an empty list {empty}."
    )


def _thresholds(findings: OptionsFindings) -> Section:
    settings = findings.settings
    if not findings.best:
        text = [
            "A threshold shows the options whose confidence reaches it. The study does not state "
            "what that is worth, so no threshold is recommended: state analysis.utility, the cost "
            "of each option that is shown. Measures of lists cannot replace "
            "it. Where options are in the order of their true probabilities, the expected LAR is "
            "highest with one option, and so is OLAR but for a trifle, whatever the system."
        ]
    else:
        always = {0: "", 1: ", and always the best option"}.get(
            settings.shown, f", and always the best {settings.shown} options"
        )
        text = [
            f"{_utility(findings)} The best threshold shows the options whose confidence reaches "
            f"it{always}, and has the highest mean utility.",
            "With true probabilities as confidences and one correct option per question, an option "
            f"would pay from {findings.best[0].if_calibrated:.3g} on: its cost over the "
            "difference of a hit and a miss.",
        ]
    tables = [_best_table(findings)] if findings.best else []
    return Section("thresholds", "Which options to show", text, ("thresholds",), tables)


def _best_table(findings: OptionsFindings) -> TextTable:
    level = format_percent(findings.settings.level)
    columns = (
        *("System", "Best threshold", f"Its range in {level} of resamples", "Options", "Utility"),
        *("Corrected for optimism", "Cross-validated"),
    )
    rows = []
    for best in findings.best[:_MOST_SYSTEMS]:
        sweep = next(one for one in findings.sweeps if one.system == best.system)
        low, high = best.range
        rows.append(
            (
                findings.name_of(best.system),
                f"{best.threshold:.4g}",
                "–" if np.isnan(low) else f"{low:.4g} to {high:.4g}",
                format_number(float(sweep.mean_length[best.at]), 2),
                score(float(best.curve[best.at])),
                score(best.corrected),
                score(best.cross_validated),
            )
        )
    note = (
        "The utility at the best threshold is too high, since it was chosen on these questions. "
        "Expect the cross-validated one. A wide range means that the choice hardly matters, or "
        "that there are too few questions. thresholds.csv has every threshold."
    )
    return TextTable("The best threshold of each system", columns, rows, note)


def _calibration(findings: OptionsFindings) -> Section:
    level = format_percent(findings.settings.level)
    text = []
    if findings.calibrations:
        text.append(
            "Confidences are calibrated if, of all options of a confidence, that share is correct. "
            "The Brier score is the mean squared difference of confidence and correctness, 0 at "
            "best; its skill compares it with the same confidence, the base rate, for every "
            "option. The expected calibration error (ECE) is the mean distance of confidence and "
            f"share over the bins. Chance alone makes it more than 0: with true probabilities it "
            f"is below the last column in {level} of samples. The corrected ECE has that bias "
            "taken off, and the interval is of the corrected one. All options of a question are "
            "drawn together."
        )
    without = [
        findings.name_of(sweep.system)
        for sweep in findings.sweeps
        if all(one.system != sweep.system for one in findings.calibrations)
    ]
    if without:
        text.append(
            f"Confidences of {join_words(without)} are not all between 0 and 1, so they are not "
            "probabilities, and their calibration is not evaluated."
        )
    columns = (
        *("System", "Brier", f"{level} interval", "Skill", f"{level} interval", "ECE"),
        *("ECE, corrected", f"{level} interval", "By chance", "Up to"),
    )
    rows = [
        (
            findings.name_of(one.system),
            score(one.brier),
            span(one.brier_interval),
            measured(one.skill, DIGITS, sign=True),
            span(one.skill_interval),
            score(one.ece),
            score(one.ece_corrected),
            span(one.ece_interval),
            *map(score, one.ece_by_chance),
        )
        for one in findings.calibrations[:_MOST_SYSTEMS]
    ]
    note = "Bins and shares are in reliability.csv."
    tables = [TextTable("Calibration of confidences", columns, rows, note)] if rows else []
    figures = ("reliability",) if rows else ()
    return Section("calibration", "Calibration", text, figures, tables)
