"""What the report says of confidences: thresholds and calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.options.presentation.summary import (
    DIGITS,
    score,
    span,
)
from quem.report.files import Section, TextTable
from quem.wording import format_percent, join_words, measured

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
    return [_thresholds(), _calibration(findings)] if findings.sweeps else []


def confidence_methods(findings: OptionsFindings) -> Iterator[str]:
    """Say in a methods paragraph how confidences were evaluated."""
    if findings.calibrations:
        yield (
            "Calibration was evaluated by Brier scores and expected calibration errors, corrected "
            "for bias, over bins of about equal size."
        )


def _thresholds() -> Section:
    text = (
        "A threshold shows the options whose confidence reaches it, and always the best one. No "
        "measure of lists recommends a threshold: where options are in the order of their true "
        "probabilities, the expected LAR is highest with one option, and so is OLAR but for a "
        "trifle, whatever the system."
    )
    return Section("thresholds", "Which options to show", [text], ("thresholds",), [])


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
