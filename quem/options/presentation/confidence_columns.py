"""Values of the result of an options study that follow from confidences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from quem.report.columns import (
    COUNT,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    Column,
    Columns,
    Table,
    each,
    null_or,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.options.calibration import Bin, Calibration
    from quem.options.result import OptionsFindings
    from quem.options.thresholds import Sweep

SCORES = each(null_or(NUMBER))


def by_measure(findings: OptionsFindings) -> tuple[str, ...]:
    """Name the columns of the measures."""
    return findings.scorer.names


class _AtThreshold(NamedTuple):
    """A threshold of a system."""

    sweep: Sweep
    at: int

    def of(self, name: str) -> Any:  # noqa: ANN401  a number, or some
        """Give a value there."""
        return getattr(self.sweep, name)[self.at].tolist()


def _curve(sweep: Sweep, _: OptionsFindings) -> Iterator[_AtThreshold]:
    yield from (_AtThreshold(sweep, at) for at in range(len(sweep.threshold)))


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
)
SWEEP: Columns[Sweep, OptionsFindings] = Columns(
    Column("curve", each(_THRESHOLDS, 1), "one entry per threshold", of=_curve),
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
    Table(
        "reliability",
        "one row per system and bin of confidence",
        _BINS,
        lambda f: [row for one in f.calibrations for row in _bins_of(one, f)],
    ),
)
