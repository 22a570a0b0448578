"""Every value of the result of an options study: analysis.json and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.options.presentation import confidence_columns
from quem.options.presentation.confidence_columns import (
    CALIBRATION,
    SCORES,
    SWEEP,
    by_measure,
)
from quem.report.columns import (
    COUNT,
    FLAG,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    STUDY,
    WARNINGS,
    Column,
    Columns,
    Table,
    Type,
    WholeTable,
    each,
    head,
    null_or,
    of,
    settings,
)
from quem.studyfile.options import OptionsSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from quem.lists import Measure, Properties
    from quem.lists.inference import PairDifference
    from quem.options.lists import LengthGroup
    from quem.options.result import OptionsFindings, SystemScores

_POSITIVE = Type({"type": "integer", "minimum": 1})


def _system_of(row: SystemScores | LengthGroup, findings: OptionsFindings) -> str:
    return findings.data.systems[row.system]


class _Score(NamedTuple):
    """A system's mean score by one measure."""

    entry: SystemScores
    at: int


def _scores(findings: OptionsFindings) -> Iterator[_Score]:
    for entry in findings.system_scores:
        yield from (_Score(entry, at) for at in range(len(findings.scorer.names)))


def _n_defined(row: _Score, _: OptionsFindings) -> int:
    return row.entry.defined[row.at]


_MEAN: tuple[Column[_Score, OptionsFindings], ...] = (
    Column("measure", NAME, "as in the settings", of=lambda row, f: f.scorer.names[row.at]),
    Column("mean", null_or(NUMBER), "mean score", of=lambda row, _: row.entry.scores[row.at]),
    Column(
        "interval",
        OPEN_INTERVAL,
        "of the mean, at `settings.level`",
        of=lambda row, _: row.entry.intervals[row.at],
    ),
)
_RANKED: Column[_Score, OptionsFindings] = Column(
    "ranked",
    FLAG,
    "whether these are at least half of the questions",
    of=lambda row, findings: row.entry.defined[row.at] >= findings.fewest,
)
_SYSTEM_SCORE = Columns(
    *_MEAN, Column("n", COUNT, "questions where it is defined", of=_n_defined), _RANKED
)
_SYSTEM_SCORES: Columns[_Score, OptionsFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, findings: findings.data.systems[row.entry.system]),
    *_MEAN,
    Column("n_questions", COUNT, "questions where it is defined", of=_n_defined),
    _RANKED,
    Column("failures", COUNT, "questions without a list", of="entry.n_missing"),
)


_LENGTHS: Columns[LengthGroup, OptionsFindings] = Columns(
    Column("system", NAME, "id", of=_system_of, only="csv"),
    Column("length", COUNT, "options in a list"),
    Column("n_lists", _POSITIVE, "lists of that length", of="count"),
    Column("n_correct", COUNT, "of them, with a correct option", of="correct"),
    Column("share_correct", SHARE, "the same as a share", of="share"),
    Column("share_interval", OPEN_INTERVAL, "of the share"),
    Column("headline_interval", OPEN_INTERVAL, "of the headline", only="json"),
    Column("scores", SCORES, "mean of each measure, in the order of `measures`", only="json"),
    Column("MEASURE", NUMBER, "mean of each measure", of="scores", only="csv", spread=by_measure),
    Column(
        "HEADLINE_low, HEADLINE_high",
        NUMBER,
        "interval of the headline",
        of="headline_interval",
        only="csv",
        spread=lambda findings: (f"{findings.headline}_low", f"{findings.headline}_high"),
    ),
)


_UNDEFINED: Columns[Any, OptionsFindings] = Columns(
    Column("measure", NAME, "name", of=lambda row, findings: findings.scorer.names[row.measure]),
    Column("reason", NAME, "why there is no score"),
    Column("n", _POSITIVE, "lists without one", of="count"),
)


def _scores_of(entry: SystemScores, findings: OptionsFindings) -> list[_Score]:
    return [_Score(entry, at) for at in range(len(findings.scorer.names))]


def _mine(name: str) -> Callable[[SystemScores, OptionsFindings], list[Any]]:
    """Give what findings have of a system."""
    return lambda row, findings: [
        one for one in getattr(findings, name) if one.system == row.system
    ]


def _one_of(name: str) -> Callable[[SystemScores, OptionsFindings], Any]:
    """Give what findings have of a system, or nothing."""
    return lambda row, findings: next(iter(_mine(name)(row, findings)), None)


_SYSTEM: Columns[SystemScores, OptionsFindings] = Columns(
    Column("system", NAME, "id", of=_system_of),
    Column("name", NAME, "name and version", of=lambda row, findings: findings.name_of(row.system)),
    Column("n_lists", COUNT, "lists"),
    Column("n_missing", COUNT, "questions without one"),
    Column("n_empty", COUNT, "lists without an option"),
    Column("share_correct", null_or(SHARE), "share of lists with a correct option", of="share"),
    Column("share_interval", OPEN_INTERVAL, "of that"),
    Column("mean_length", null_or(NUMBER), "options per list"),
    Column("mean_length_interval", OPEN_INTERVAL, "of that"),
    Column("scores", each(_SYSTEM_SCORE), "one entry per measure", of=_scores_of),
    Column("undefined", each(_UNDEFINED), "scores that are undefined", of=_mine("undefined")),
    Column("lengths", each(_LENGTHS), "one entry per length", of=_mine("groups")),
    Column(
        "thresholds",
        null_or(of(SWEEP)),
        "lists cut by confidence; this and what follows is null for a system without confidences",
        of=_one_of("sweeps"),
    ),
    Column(
        "calibration",
        null_or(of(CALIBRATION)),
        "of confidences from 0 to 1; null for others",
        of=_one_of("calibrations"),
    ),
)


def _first(row: PairDifference, findings: OptionsFindings) -> str:
    return findings.data.systems[row.first]


def _second(row: PairDifference, findings: OptionsFindings) -> str:
    return findings.data.systems[row.second]


_DIFFERENCES: Columns[PairDifference, OptionsFindings] = Columns(
    Column("first", NAME, "id", of=_first),
    Column("second", NAME, "id", of=_second),
    Column("measure", NAME, "name", of=lambda row, f: f.scorer.names[row.measure]),
    Column("n", COUNT, "questions with a score of both", only="json"),
    Column("n_questions", COUNT, "questions with a score of both", of="n", only="csv"),
    Column("tested", FLAG, "false with fewer than half of the questions"),
    Column("difference", null_or(NUMBER), "of the means, first minus second"),
    Column("interval", OPEN_INTERVAL, "of the difference"),
    Column("first_higher", COUNT, "questions on which the first is higher", of="higher"),
    Column("equal", COUNT, "questions on which they are equal"),
    Column("first_lower", COUNT, "questions on which the first is lower", of="lower"),
    Column("p", null_or(SHARE), "paired randomization test"),
    Column("p_holm", null_or(SHARE), "adjusted for the number of pairs"),
    Column("patterns", COUNT, "patterns of signs", only="json"),
    Column("exact", FLAG, "whether these are all", only="json"),
)


def _promises(row: tuple[str, Properties], name: str) -> bool:
    return next(prop.holds for prop in row[1] if prop.name.lower() == name)


_PROMISES: Columns[tuple[str, Properties], OptionsFindings] = Columns(
    Column("measure", NAME, "name", of=lambda row, _: row[0]),
    Column(
        "max_length",
        _POSITIVE,
        "options up to which it was checked",
        of=lambda r, _: r[1].max_length,
    ),
    Column("correctness", FLAG, "whether it holds", of=lambda r, _: _promises(r, "correctness")),
    Column("confidence", FLAG, "whether it holds", of=lambda r, _: _promises(r, "confidence")),
    Column("priority", FLAG, "whether it holds", of=lambda r, _: _promises(r, "priority")),
    Column(
        "counterexamples",
        each(NAME),
        "of what does not hold",
        of=lambda row, _: [str(prop.counterexample) for prop in row[1] if not prop.holds],
    ),
)

_MEASURE: Columns[tuple[str, Measure], OptionsFindings] = Columns(
    Column("name", NAME, "as in the settings", of=lambda row, _: row[0]),
    Column("measure", NAME, "the same with its parameters", of=lambda row, _: row[1].name),
    Column("summary", NAME, "what it is", of=lambda row, _: row[1].definition.summary),
)

DOCUMENT: Columns[OptionsFindings, OptionsFindings] = Columns(
    *head("options"),
    Column("study", of(STUDY), "the study", of="data.spec"),
    settings(OptionsSettings),
    WARNINGS,
    Column("n_questions", _POSITIVE, "number of questions", of=lambda f, _: len(f.data.key.ids)),
    Column(
        "max_length",
        _POSITIVE,
        "the longest list that OLAR allows for: `settings.max_length`, or the longest in the data",
        of="scorer.max_length",
    ),
    Column("headline", NAME, "the measure of the result"),
    Column(
        "measures",
        each(_MEASURE, 1),
        "the measures",
        of=lambda f, _: zip(f.scorer.names, f.scorer.measures, strict=True),
    ),
    Column("systems", each(_SYSTEM, 1), "one entry per system", of="system_scores"),
    Column("differences", each(_DIFFERENCES), "one entry per pair and measure", of="pairs"),
    Column("promises", each(_PROMISES), "properties of each measure, as checked", of="properties"),
)


# One row per list, each column computed at once.


def _listed(findings: OptionsFindings) -> NDArray[np.bool_]:
    return np.asarray(findings.lengths.ravel() >= 0)


def _counts(values: NDArray[Any], findings: OptionsFindings) -> object:
    import pandas as pd

    return pd.array(values[_listed(findings)], dtype="Int64")


def _place(findings: OptionsFindings, _: OptionsFindings) -> object:
    place = findings.places.ravel().astype(float)
    return _counts(np.where(place > 0, place, np.nan), findings)


def _names(names: object, findings: OptionsFindings) -> NDArray[Any]:
    return np.asarray(names, dtype=object)[_listed(findings)]


def _list_scores(findings: OptionsFindings, _: OptionsFindings) -> pd.DataFrame:
    import pandas as pd

    scores = findings.scores.reshape(findings.lengths.size, -1)[_listed(findings)]
    return pd.DataFrame(scores, columns=list(findings.scorer.names))


_LISTS: Columns[OptionsFindings, OptionsFindings] = Columns(
    Column(
        "question",
        NAME,
        "id",
        of=lambda f, _: _names(np.tile(np.array(f.data.key.ids, object), len(f.scores)), f),
    ),
    Column(
        "system",
        NAME,
        "id",
        of=lambda f, _: _names(np.repeat(np.array(f.data.systems, object), len(f.data.key.ids)), f),
    ),
    Column("length", COUNT, "options", of=lambda f, _: _counts(f.lengths.ravel(), f)),
    Column(
        "place_of_correct",
        COUNT,
        "of the first one, from 1; empty without one in the list",
        of=_place,
    ),
    Column("MEASURE", NUMBER, "score by each measure", of=_list_scores),
)

TABLES: tuple[Table[Any, OptionsFindings], ...] = (
    Table("scores", "one row per system and measure", _SYSTEM_SCORES, _scores),
    WholeTable("lists", "one row per list", _LISTS, lambda findings: [findings], always=True),
    Table("lengths", "one row per system and length", _LENGTHS, lambda f: f.groups, always=True),
    *confidence_columns.TABLES,
    Table(
        "differences", "one row per pair of systems and measure", _DIFFERENCES, lambda f: f.pairs
    ),
)
