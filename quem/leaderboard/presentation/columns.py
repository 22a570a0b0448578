"""Every value of a leaderboard: analysis.json and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.leaderboard.settings import LeaderboardSettings
from quem.report.columns import (
    COUNT,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    TEXT,
    WARNINGS,
    Column,
    Columns,
    Table,
    Type,
    WholeTable,
    choice,
    each,
    head,
    null_or,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from quem.leaderboard.contrasts import Contrast
    from quem.leaderboard.result import LeaderboardFindings
    from quem.lists.score_table import ScoredBy

_POSITIVE = Type({"type": "integer", "minimum": 1})


class _Place(NamedTuple):
    """A system by a measure."""

    system: int
    measure: int


def _places(findings: LeaderboardFindings) -> Iterator[_Place]:
    """The headline first, then the other measures; best first."""
    count = len(findings.table.measures)
    for measure in dict.fromkeys([findings.headline, *range(count)]):
        yield from (_Place(system, measure) for system in findings.order(measure))


def _name(row: Any, findings: LeaderboardFindings) -> str:  # noqa: ANN401  a row of any table
    return findings.names[int(row.system)]


def _measure(row: Any, findings: LeaderboardFindings) -> str:  # noqa: ANN401
    return findings.measure(row.measure)


def _interval(row: _Place, findings: LeaderboardFindings) -> tuple[float, float]:
    at = row.system, row.measure
    return float(findings.low[at]), float(findings.high[at])


_STANDING: tuple[Column[_Place, LeaderboardFindings], ...] = (
    Column(
        "place",
        null_or(_POSITIVE),
        "from 1, the best; null where it is not ranked",
        of=lambda row, f: f.place(row.system, row.measure),
    ),
    Column(
        "mean",
        null_or(NUMBER),
        "mean score",
        of=lambda row, f: float(f.mean[row.system, row.measure]),
    ),
    Column("interval", OPEN_INTERVAL, "of the mean, at `settings.level`", of=_interval),
    Column(
        "n",
        COUNT,
        "queries with a score",
        of=lambda row, f: int(f.defined[row.system, row.measure]),
    ),
    Column(
        "letters",
        TEXT,
        "systems that share a letter cannot be distinguished at `settings.level`",
        of=lambda row, f: f.letters(row.measure)[row.system],
    ),
)
_LEADERBOARD: Columns[_Place, LeaderboardFindings] = Columns(
    Column("measure", NAME, "name", of=_measure),
    Column("system", NAME, "name, with its study where that is needed", of=_name),
    *_STANDING,
)
_BY_MEASURE: Columns[_Place, LeaderboardFindings] = Columns(
    Column("measure", NAME, "name", of=_measure), *_STANDING
)


def _standings(system: int, findings: LeaderboardFindings) -> list[_Place]:
    return [_Place(system, at) for at in range(len(findings.table.measures))]


_SYSTEM: Columns[int, LeaderboardFindings] = Columns(
    Column("system", NAME, "id", of=lambda at, f: f.table.entries[at].id),
    Column("own_name", NAME, "name in its study", of=lambda at, f: f.table.entries[at].name),
    Column("study", TEXT, "id of its study", of=lambda at, f: f.table.entries[at].study),
    Column("name", NAME, "as in the tables", of=lambda at, f: f.names[at]),
    Column("by_measure", each(_BY_MEASURE), "one entry per measure", of=_standings),
)


def _first(row: Contrast, findings: LeaderboardFindings) -> str:
    return findings.names[row.first]


def _second(row: Contrast, findings: LeaderboardFindings) -> str:
    return findings.names[row.second]


_DIFFERENCES: Columns[Contrast, LeaderboardFindings] = Columns(
    Column("first", NAME, "name", of=_first),
    Column("second", NAME, "name", of=_second),
    Column("measure", NAME, "name", of=_measure),
    Column("n", COUNT, "queries with a score of both"),
    Column("difference", null_or(NUMBER), "of the means, second minus first"),
    Column("interval", OPEN_INTERVAL, "of the difference, at `settings.level`"),
    Column("better", COUNT, "queries on which the second is better"),
    Column("equal", COUNT, "queries on which they are equal"),
    Column("worse", COUNT, "queries on which the second is worse"),
    Column("p", null_or(SHARE), "paired randomization test of this pair alone"),
    Column("p_joint", null_or(SHARE), "joint test of all pairs by this measure"),
    Column(
        "verdict",
        choice("better", "worse", "", None),
        "whether the second is significantly better or worse, by the joint test; empty where "
        "neither, null where there is no test",
        of=lambda row, _: {1: "better", -1: "worse", 0: ""}[row.verdict] if row.is_tested else None,
    ),
)
_MEASURES: Columns[ScoredBy, LeaderboardFindings] = Columns(
    Column("name", NAME, "as the studies spell it"),
    Column("better", choice("higher", "lower"), "which scores are better"),
)
_SETTING: Columns[tuple[str, str], LeaderboardFindings] = Columns(
    Column("key", NAME, "of the study file", of=lambda row, _: row[0]),
    Column("value", TEXT, "its value, or a digest of it", of=lambda row, _: row[1]),
)


def _by_name(findings: LeaderboardFindings) -> list[str]:
    return [measure.name for measure in findings.table.measures]


def _ids(names: list[str], *, times: int = 1, repeat: int = 1) -> Any:  # noqa: ANN401
    return np.tile(np.repeat(np.array(names, dtype=object), repeat), times)


def _scores(findings: LeaderboardFindings, _: LeaderboardFindings) -> pd.DataFrame:
    import pandas as pd

    values = findings.table.values
    return pd.DataFrame(values.reshape(-1, values.shape[2]), columns=_by_name(findings))


_SCORES: Columns[LeaderboardFindings, LeaderboardFindings] = Columns(
    Column(
        "study",
        TEXT,
        "id",
        of=lambda f, _: _ids([e.study for e in f.table.entries], repeat=len(f.table.queries)),
    ),
    Column(
        "system",
        NAME,
        "id",
        of=lambda f, _: _ids([e.id for e in f.table.entries], repeat=len(f.table.queries)),
    ),
    Column(
        "query",
        NAME,
        "id",
        of=lambda f, _: _ids(list(f.table.queries), times=len(f.table.entries)),
    ),
    Column("MEASURE", NUMBER, "score by each measure", of=_scores),
)
DOCUMENT: Columns[LeaderboardFindings, LeaderboardFindings] = Columns(
    *head("leaderboard"),
    Column("kind_of_study", NAME, "`retrieval`, `options`, or `dialogue`", of="table.kind"),
    Column("title", TEXT, "of the first study", of="table.title"),
    Column("studies", each(TEXT), "ids of the studies"),
    settings(LeaderboardSettings),
    WARNINGS,
    Column("n_queries", _POSITIVE, "number of queries", of=lambda f, _: len(f.table.queries)),
    Column("truth_digest", NAME, "changes with the ground truth", of="table.truth"),
    Column(
        "scored_with",
        each(_SETTING),
        "settings of the studies on which scores depend",
        of=lambda f, _: list(f.table.settings.items()),
    ),
    Column("headline", NAME, "the measure of the order", of=lambda f, _: f.measure(f.headline)),
    Column("measures", each(_MEASURES, 1), "one entry per measure", of="table.measures"),
    Column(
        "systems",
        each(_SYSTEM, 1),
        "one entry per system, in the order of the studies",
        of=lambda f, _: list(range(len(f.table.entries))),
    ),
    Column("differences", each(_DIFFERENCES), "one entry per pair and measure", of="contrasts"),
)

TABLES: tuple[Table[Any, LeaderboardFindings], ...] = (
    Table("leaderboard", "one row per measure and system, best first", _LEADERBOARD, _places),
    Table(
        "differences",
        "one row per pair of systems and measure",
        _DIFFERENCES,
        lambda f: f.contrasts,
    ),
    WholeTable(
        "scores",
        "one row per system and query",
        _SCORES,
        lambda findings: [findings],
        always=True,
    ),
)
