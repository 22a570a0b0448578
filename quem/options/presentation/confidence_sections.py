"""What the report says of confidences: which options to show, risk by coverage, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.options.conformal import fewest_for_coverage
from quem.options.presentation.summary import (
    DIGITS,
    RULE_NAMES,
    a_correct,
    score,
    share,
    span,
)
from quem.report.files import Section, TextTable
from quem.wording import format_number, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.options.result import OptionsFindings
    from quem.options.rules import Rule, Showing

CONFIDENCE_REFERENCES = (
    "Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. "
    "Springer.",
    "El-Yaniv, R. and Wiener, Y. (2010). On the foundations of noise-free selective "
    "classification. Journal of Machine Learning Research, 11, 1605–1641.",
    "Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams. "
    "Weather and Forecasting, 22(3), 651–661.",
)
_MOST_SYSTEMS = 8


def confidence_sections(findings: OptionsFindings) -> list[Section]:
    """Make the sections about systems with confidences, if there are such systems."""
    if not findings.showings:
        return []
    return [_showing(findings), _risk(findings), _calibration(findings)]


def confidence_methods(findings: OptionsFindings) -> Iterator[str]:
    """Say in a methods paragraph how confidences were evaluated."""
    if not findings.showings:
        return
    settings = findings.settings
    if settings.utility:
        yield (
            f"{_utility(findings)} The threshold of confidence with the highest mean utility was "
            f"evaluated by {settings.folds}-fold cross-validation."
        )
    yield (
        f"Split conformal sets for a coverage of {format_percent(settings.coverage)} (Vovk et al., "
        "2005) were checked on held-out questions. Selective answering was evaluated by the area "
        "under the risk-coverage curve (El-Yaniv & Wiener, 2010)"
        + (
            ", and calibration by Brier scores and expected calibration errors, corrected for "
            "bias, over bins of about equal size."
            if findings.calibrations
            else "."
        )
    )


def _utility(findings: OptionsFindings) -> str:
    """Say what the study states of hits and costs."""
    utility = findings.settings.utility
    if utility is None:
        return ""
    empty = "as much as a miss" if utility.abstain is None else f"{utility.abstain:g}"
    return (
        f"A list with {a_correct(findings)} is worth {utility.hit:g}; each option that is shown "
        f"costs {utility.option:g}, a list without {a_correct(findings)} {utility.miss:g}, and "
        f"an empty list {empty}."
    )


def _showing(findings: OptionsFindings) -> Section:
    settings = findings.settings
    utility, coverage = settings.utility, format_percent(settings.coverage)
    if utility is None:
        text = [
            "A threshold shows the options whose confidence reaches it. The study does not state "
            "what that is worth, so no threshold is recommended: state analysis.utility, the value "
            "of a hit and the cost of each option that is shown. Measures of lists cannot replace "
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
            f"would pay from {findings.showings[0].best.if_calibrated:.3g} on: its cost over the "
            "difference of a hit and a miss."
            if findings.showings[0].best
            else "",
        ]
    text.append(
        f"Conformal sets show a correct option for at least {coverage} of new questions that are "
        "drawn as these were, whatever the confidences mean; the threshold allows for the "
        "number of questions. The simple threshold covers that share of the questions at hand."
    )
    text += list(_unreached(findings))
    shown = findings.showings[:_MOST_SYSTEMS]
    tables = [_rules_table(findings, showing, is_last=showing is shown[-1]) for showing in shown]
    if utility is not None:
        tables.append(_best_table(findings))
    title = "Which options to show"
    return Section("thresholds", title, list(filter(None, text)), ("thresholds",), tables)


def _unreached(findings: OptionsFindings) -> Iterator[str]:
    """Say for which systems whole lists do not reach the coverage, or are all that is known."""
    coverage = findings.settings.coverage
    if findings.showings[0].n < fewest_for_coverage(coverage):
        yield (
            f"There are too few questions for sets of that coverage, which need "
            f"{fewest_for_coverage(coverage):,}: the sets are whole lists."
        )
        return
    short = [
        f"{findings.name_of(showing.system)} ({share(showing.rule('whole-list').coverage)})"
        for showing in findings.showings
        if np.isinf(showing.rule("conformal").threshold)
    ]
    if short:
        yield (
            f"No threshold reaches {format_percent(coverage)} for {join_words(short)}: in "
            "parentheses is the share of questions whose list has a correct option at all, which "
            "bounds what sets of its options can cover. Their sets are whole lists."
        )


def _rules_table(findings: OptionsFindings, showing: Showing, *, is_last: bool) -> TextTable:
    level = format_percent(findings.settings.level)
    utility = findings.settings.utility is not None
    columns = (
        *("Shown", "Threshold", "Options", "None shown", "Correct shown", f"{level} interval"),
        *(("Utility", f"{level} interval", "Best threshold gains") if utility else ()),
    )
    rows = [
        (
            RULE_NAMES[rule.name].capitalize(),
            _threshold(rule),
            format_number(rule.mean_length, 2),
            share(rule.empty),
            share(rule.coverage),
            "–"
            if np.isnan(rule.coverage_interval[0])
            else f"{share(rule.coverage_interval[0])} to {share(rule.coverage_interval[1])}",
            *((score(rule.utility), span(rule.utility_interval), _gain(rule)) if utility else ()),
        )
        for rule in showing.rules
    ]
    note = (
        "Thresholds are chosen on all questions. All other numbers are of questions whose "
        "threshold was chosen on the other parts of the questions. rules.csv has all systems."
    )
    title = "Rules on held-out questions"
    if len(findings.showings) > 1:
        title = f"{findings.name_of(showing.system)}: {title[0].lower()}{title[1:]}"
    return TextTable(title, columns, rows, note if is_last else "")


def _threshold(rule: Rule) -> str:
    if np.isinf(rule.threshold):
        return "whole lists"
    return "–" if np.isnan(rule.threshold) else f"{rule.threshold:.4g}"


def _gain(rule: Rule) -> str:
    if np.isnan(rule.gain):
        return "–"
    text = measured(rule.gain, DIGITS, sign=True)
    return text if np.isnan(rule.gain_interval[0]) else f"{text} ({span(rule.gain_interval)})"


def _best_table(findings: OptionsFindings) -> TextTable:
    level = format_percent(findings.settings.level)
    columns = (
        *("System", "Best threshold", f"Its range in {level} of resamples", "Options", "Utility"),
        *("Corrected for optimism", "Cross-validated"),
    )
    rows = []
    for showing in findings.showings[:_MOST_SYSTEMS]:
        if (best := showing.best) is None:
            continue
        rule = showing.rule("best-threshold")
        sweep = next(one for one in findings.sweeps if one.system == showing.system)
        low, high = best.range
        rows.append(
            (
                findings.name_of(showing.system),
                f"{rule.threshold:.4g}",
                "–" if np.isnan(low) else f"{low:.4g} to {high:.4g}",
                format_number(float(sweep.mean_length[best.at]), 2),
                score(float(best.curve[best.at])),
                score(best.corrected),
                score(rule.utility),
            )
        )
    note = (
        "The utility at the best threshold is too high, since it was chosen on these questions. "
        "Expect the cross-validated one. A wide range means that the choice hardly matters, or "
        "that there are too few questions. thresholds.csv has every threshold."
    )
    return TextTable("The best threshold of each system", columns, rows, note)


def _risk(findings: OptionsFindings) -> Section:
    text = [
        "A system that answers only where it is sure answers fewer questions, and should be wrong "
        "less often. Questions are answered if the confidence of the best option reaches a "
        "threshold. The area under the curve (AURC) is the mean risk of answering the 1, 2, 3, "
        "and so on, surest questions; equal confidences are averaged over their orders. It is "
        "lowest in an ideal order, in which all right answers are surer than all wrong ones. It is "
        "the risk of all answers if confidences do not matter, and more if sure answers are worse."
    ]
    level = format_percent(findings.settings.level)
    columns = (
        *("System", "Wrong is", "AURC", f"{level} interval", "Ideal order", "Risk of all answers"),
        "Answered",
    )
    rows = [
        (
            findings.name_of(curve.system),
            words,
            score(risk.area),
            span(risk.area_interval),
            score(risk.least_area),
            score(risk.overall),
            f"{curve.n_answered:,} of {curve.n:,}",
        )
        for curve in findings.risks[:_MOST_SYSTEMS]
        for words, risk in (("best option", curve.best), ("whole list", curve.whole))
    ]
    note = "Empty lists are not answered. risk-coverage.csv has every threshold."
    table = TextTable("Risk of the surest answers", columns, rows, note, frozenset({1}))
    return Section("risk", "Risk and coverage", text, ("risk-coverage",), [table])


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
        findings.name_of(showing.system)
        for showing in findings.showings
        if all(one.system != showing.system for one in findings.calibrations)
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
