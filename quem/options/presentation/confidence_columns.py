"""Values of the result of an options study that follow from confidences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.options.rules import RULES
from quem.report.columns import (
    COUNT,
    FLAG,
    INTERVAL,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    Column,
    Columns,
    Table,
    choice,
    each,
    null_or,
    of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.options.calibration import Bin, Calibration
    from quem.options.result import OptionsFindings
    from quem.options.risk import RiskCurve
    from quem.options.rules import Rule, Showing
    from quem.options.thresholds import Sweep

SCORES = each(null_or(NUMBER))


def by_measure(findings: OptionsFindings) -> tuple[str, ...]:
    """Name the columns of the measures."""
    return findings.scorer.names


class _AtThreshold(NamedTuple):
    """A threshold of a system."""

    sweep: Sweep
    showing: Showing
    at: int

    def of(self, name: str) -> Any:  # noqa: ANN401  a number, or some
        """Give a value there."""
        return getattr(self.sweep, name)[self.at].tolist()

    @property
    def utility(self) -> float | None:
        """The mean utility there."""
        best = self.showing.best
        return None if best is None else float(best.curve[self.at])

    @property
    def utility_interval(self) -> tuple[float, float] | None:
        """Of that."""
        best = self.showing.best
        return None if best is None else (float(best.low[self.at]), float(best.high[self.at]))

    @property
    def is_best(self) -> bool:
        """Whether the utility is highest there."""
        return self.showing.best is not None and self.at == self.showing.best.at


def _curve(sweep: Sweep, findings: OptionsFindings) -> Iterator[_AtThreshold]:
    showing = next(one for one in findings.showings if one.system == sweep.system)
    yield from (_AtThreshold(sweep, showing, at) for at in range(len(sweep.threshold)))


def _thresholds(findings: OptionsFindings) -> Iterator[_AtThreshold]:
    for sweep in findings.sweeps:
        yield from _curve(sweep, findings)


_THRESHOLDS: Columns[_AtThreshold, OptionsFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, f: f.data.systems[row.sweep.system], only="csv"),
    Column(
        "threshold",
        NUMBER,
        "confidence from which an option is shown",
        of=lambda row, _: row.of("threshold"),
    ),
    Column("mean_length", NUMBER, "options shown", of=lambda row, _: row.of("mean_length")),
    Column(
        "share_correct",
        SHARE,
        "lists with a correct option",
        of=lambda row, _: row.of("share"),
    ),
    Column(
        "scores",
        SCORES,
        "in the order of `measures`",
        of=lambda row, _: row.of("scores"),
        only="json",
    ),
    Column(
        "headline_interval",
        OPEN_INTERVAL,
        "of the headline",
        of=lambda row, _: (row.of("low"), row.of("high")),
        only="json",
    ),
    Column(
        "MEASURE",
        NUMBER,
        "mean of each measure",
        of=lambda row, _: row.of("scores"),
        only="csv",
        spread=by_measure,
    ),
    Column(
        "HEADLINE_low, HEADLINE_high",
        NUMBER,
        "interval of the headline",
        of=lambda row, _: (row.of("low"), row.of("high")),
        only="csv",
        spread=lambda findings: (f"{findings.headline}_low", f"{findings.headline}_high"),
    ),
    Column("utility", null_or(NUMBER), "mean utility, where the study states it"),
    Column("utility_interval", null_or(OPEN_INTERVAL), "of that"),
    Column("is_best", FLAG, "whether the utility is the highest", only="csv"),
)
SWEEP: Columns[Sweep, OptionsFindings] = Columns(
    Column("curve", each(_THRESHOLDS, 1), "one entry per threshold", of=_curve),
)
_RULES: Columns[Rule, OptionsFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, f: f.data.systems[row.system], only="csv"),
    Column(
        "rule",
        choice(*RULES),
        "the threshold of the highest utility, of conformal sets, or of that coverage in the data; "
        "whole lists, the best option, or nothing",
        of="name",
    ),
    Column(
        "threshold",
        null_or(NUMBER),
        "chosen on all questions; null without one, and where whole lists do not reach the "
        "coverage",
        of=lambda row, _: row.threshold if np.isfinite(row.threshold) else np.nan,
    ),
    Column(
        "coverage",
        null_or(SHARE),
        "share of questions for which a correct option is shown; this and what follows by "
        "thresholds of other questions",
    ),
    Column("coverage_interval", OPEN_INTERVAL, "of that"),
    Column("mean_length", null_or(NUMBER), "options shown"),
    Column("mean_length_interval", OPEN_INTERVAL, "of that"),
    Column("empty", null_or(SHARE), "share of questions for which no option is shown"),
    Column("utility", null_or(NUMBER), "mean utility, where the study states it"),
    Column("utility_interval", OPEN_INTERVAL, "of that"),
    Column(
        "gain",
        null_or(NUMBER),
        "utility of the best threshold minus that, question by question",
    ),
    Column("gain_interval", OPEN_INTERVAL, "of the gain"),
)


def _rules(findings: OptionsFindings) -> list[Rule]:
    return [rule for showing in findings.showings for rule in showing.rules]


_BEST: Columns[Any, OptionsFindings] = Columns(
    Column("range", OPEN_INTERVAL, "of the best threshold, in resampled questions"),
    Column("utility", NUMBER, "there, on the same questions", of=lambda r, _: r.curve[r.at]),
    Column("interval", OPEN_INTERVAL, "of that", of=lambda r, _: (r.low[r.at], r.high[r.at])),
    Column("corrected", null_or(NUMBER), "the same minus its optimism"),
    Column(
        "if_calibrated",
        NUMBER,
        "the best threshold if confidences were true probabilities, with one correct option",
    ),
)
SHOWING: Columns[Showing, OptionsFindings] = Columns(
    Column("n", COUNT, "questions"),
    Column("folds", COUNT, "parts in cross-validation"),
    Column("best", null_or(of(_BEST)), "the best threshold; null without a stated utility"),
    Column("rules", each(_RULES), "one entry per rule"),
)


class _OnRisk(NamedTuple):
    """A threshold of a system below which it does not answer."""

    curve: RiskCurve
    at: int

    def of(self, name: str) -> Any:  # noqa: ANN401  a number, or two
        """Give a value there: of the curve, or of one of its risks."""
        holder, _, key = name.rpartition(".")
        return getattr(getattr(self.curve, holder) if holder else self.curve, key)[self.at].tolist()


def _on_risk(curve: RiskCurve, _: OptionsFindings) -> list[_OnRisk]:
    return [_OnRisk(curve, at) for at in range(len(curve.threshold))]


def _at_risk(name: str) -> Callable[[_OnRisk, OptionsFindings], object]:
    return lambda row, _: row.of(name)


_ON_RISK: Columns[_OnRisk, OptionsFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, f: f.data.systems[row.curve.system], only="csv"),
    Column(
        "threshold",
        NUMBER,
        "confidence of the best option from which a list is answered",
        of=_at_risk("threshold"),
    ),
    Column("n_answered", COUNT, "questions answered", of=_at_risk("answered")),
    Column("coverage", SHARE, "the same as a share of all", of=_at_risk("coverage")),
    Column("risk_option", SHARE, "of these, with a wrong best option", of=_at_risk("best.risk")),
    Column("risk_option_interval", INTERVAL, "of that", of=_at_risk("best.intervals")),
    Column(
        "risk_list",
        SHARE,
        "of these, with a list without a correct option",
        of=_at_risk("whole.risk"),
    ),
    Column("risk_list_interval", INTERVAL, "of that", of=_at_risk("whole.intervals")),
)
_AREA: Columns[Any, OptionsFindings] = Columns(
    Column("area", SHARE, "under the curve (AURC): the mean risk of the 1, 2, ... surest answers"),
    Column("area_interval", OPEN_INTERVAL, "of the area"),
    Column("least_area", SHARE, "if all right answers were surer than all wrong ones"),
    Column("overall", SHARE, "risk of all answers; the area if confidences did not matter"),
)
RISK: Columns[RiskCurve, OptionsFindings] = Columns(
    Column("n", COUNT, "questions"),
    Column("n_answered", COUNT, "questions with a list that is not empty"),
    Column("option", of(_AREA), "that the best option is wrong", of="best"),
    Column("list", of(_AREA), "that the whole list lacks a correct option", of="whole"),
    Column("curve", each(_ON_RISK, 1), "one entry per threshold, falling", of=_on_risk),
)


class _InBin(NamedTuple):
    """A bin of a system."""

    system: int
    bin: Bin


def _bins_of(row: Calibration, _: OptionsFindings) -> list[_InBin]:
    return [_InBin(row.system, part) for part in row.bins]


_BINS: Columns[_InBin, OptionsFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, f: f.data.systems[row.system], only="csv"),
    Column("lowest", SHARE, "confidence in the bin", of="bin.low"),
    Column("highest", SHARE, "the same", of="bin.high"),
    Column("mean_confidence", SHARE, "the same", of="bin.mean"),
    Column("n_options", COUNT, "options", of="bin.n"),
    Column("share_correct", SHARE, "of them", of="bin.share"),
    Column("share_interval", OPEN_INTERVAL, "of the share", of="bin.share_interval"),
)
CALIBRATION: Columns[Calibration, OptionsFindings] = Columns(
    Column("n_options", COUNT, "options"),
    Column("n_questions", COUNT, "the questions that they are of"),
    Column("base_rate", SHARE, "share of options that are correct"),
    Column("brier", SHARE, "mean squared difference of confidence and correctness"),
    Column("brier_interval", OPEN_INTERVAL, "of that"),
    Column("skill", null_or(NUMBER), "1 minus that over the score of the base rate"),
    Column("skill_interval", OPEN_INTERVAL, "of the skill"),
    Column("ece", SHARE, "expected calibration error over the bins"),
    Column("ece_corrected", null_or(NUMBER), "the same minus its bias"),
    Column("ece_interval", OPEN_INTERVAL, "of the corrected one"),
    Column(
        "ece_by_chance",
        OPEN_INTERVAL,
        "mean ECE of true probabilities by chance, and what it is below at `settings.level`",
    ),
    Column("bins", each(_BINS, 1), "one entry per bin", of=_bins_of),
)

TABLES: tuple[Table[Any, OptionsFindings], ...] = (
    Table("thresholds", "one row per system and threshold", _THRESHOLDS, _thresholds),
    Table("rules", "one row per system and rule of which options to show", _RULES, _rules),
    Table(
        "risk-coverage",
        "one row per system and threshold of answering",
        _ON_RISK,
        lambda f: [row for curve in f.risks for row in _on_risk(curve, f)],
    ),
    Table(
        "reliability",
        "one row per system and bin of confidence",
        _BINS,
        lambda f: [row for one in f.calibrations for row in _bins_of(one, f)],
    ),
)
