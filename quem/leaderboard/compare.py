"""From scores to a leaderboard: composes the steps of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError
from quem.leaderboard.checks import find_warnings
from quem.leaderboard.contrasts import contrasts_of
from quem.leaderboard.joining import chosen, joined
from quem.leaderboard.result import LeaderboardFindings, LeaderboardResult
from quem.leaderboard.settings import LeaderboardSettings
from quem.lists.groups import common_queries, indistinct_groups, joint_test
from quem.lists.inference import fewest_of, query_means
from quem.studyfile.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from quem.errors import StudyWarning
    from quem.lists.score_table import ScoreTable


def compare_scores(
    tables: Sequence[ScoreTable],
    *,
    files: Iterable[Path] = (),
    warnings: Iterable[StudyWarning] = (),
    **given: Any,  # noqa: ANN401
) -> LeaderboardResult:
    """Compare the systems of score tables with each other."""
    settings = changed_settings(
        LeaderboardSettings(**_inference(tables, given.get("level"))), given
    )
    table = chosen(
        joined([_headed(one, settings) for one in tables]),
        settings.systems,
        settings.measures,
        settings.headline,
    )
    systems, queries, measures = table.values.shape
    means = query_means(
        table.values.transpose(1, 0, 2).reshape(queries, -1),
        level=settings.level,
        replicates=settings.bootstrap,
        seed=settings.seed,
    )
    shape = (systems, measures)
    fewest = max(1, fewest_of(queries))
    ranked = means.defined.reshape(shape) >= fewest
    testable = (
        (common_queries(table.values) >= fewest)
        & ranked.T[:, :, np.newaxis]
        & ranked.T[:, np.newaxis, :]
        & ~np.eye(systems, dtype=bool)
    )
    p = joint_test(table.values, testable, permutations=settings.permutations, seed=settings.seed)
    signs = np.array([1 if one.better == "higher" else -1 for one in table.measures])
    oriented = np.where(ranked, means.mean.reshape(shape) * signs, np.nan)
    contrasts = contrasts_of(table.values, table.measures, p, settings)
    groups = tuple(
        _groups(oriented[:, at], p[at], 1 - settings.level + 1e-12) for at in range(measures)
    )
    findings = LeaderboardFindings(
        table=table,
        settings=settings,
        mean=means.mean.reshape(shape),
        low=means.low.reshape(shape),
        high=means.high.reshape(shape),
        defined=means.defined.reshape(shape),
        fewest=fewest,
        oriented=oriented,
        contrasts=contrasts,
        groups=groups,
        files=tuple(files),
    )
    return LeaderboardResult(findings.with_warnings((*warnings, *find_warnings(findings))))


def _inference(tables: Sequence[ScoreTable], level: object) -> dict[str, Any]:
    """Those of the first study; all have to agree on the level, unless the caller names one."""
    levels = {table.inference.level: table.source for table in tables}
    if level is None and len(levels) > 1:
        each = " and ".join(f"{level:g} ({name})" for level, name in levels.items())
        raise QuemError(
            Mistake(
                "",
                key="level",
                message=f"the studies ask for different levels: {each}; give one by --level",
            )
        )
    return tables[0].inference._asdict()


def _headed(table: ScoreTable, settings: LeaderboardSettings) -> ScoreTable:
    """Leave only the measures that the caller named, and take their headline, where there are."""
    names = [one.name for one in table.measures]
    wanted = [*settings.measures, *([settings.headline] if settings.headline else [])]
    if any(name not in names for name in wanted):
        return table
    measures = [names.index(name) for name in dict.fromkeys(wanted)] if settings.measures else None
    return table.of(measures=measures, headline=settings.headline)


def _groups(oriented: Any, p: Any, most: float) -> tuple[tuple[int, ...], ...]:  # noqa: ANN401
    """Groups of the systems that are ranked, best first, by their places among all."""
    order = np.argsort(-oriented, kind="stable")[: int((~np.isnan(oriented)).sum())]
    differ = p[np.ix_(order, order)] <= most
    return tuple(
        tuple(order[list(group)].tolist()) for group in indistinct_groups(np.asarray(differ))
    )
