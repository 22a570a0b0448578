"""The scores to compare: of studies that are analyzed now, and of results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quem.leaderboard.compare import compare_scores
from quem.lists.score_table import Inference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from quem.errors import StudyWarning
    from quem.leaderboard.result import LeaderboardResult
    from quem.lists.score_table import ScoreTable


@dataclass(frozen=True)
class Scored:
    """Scores to compare, and where they come from."""

    table: ScoreTable
    files: tuple[Path, ...] = ()  # what they were made of
    warnings: tuple[StudyWarning, ...] = ()  # about that
    # Whether measures were chosen when these were computed, by the names that they have.
    by_names: bool = False


def scored_before(given: object) -> Scored | None:
    """Give the scores of a result of an analysis; None for anything else."""
    if isinstance(given, Scored):
        return given
    if hasattr(given, "score_table"):
        result: Any = given
        return Scored(result.score_table(), tuple(result.inputs), tuple(result.warnings))
    return None


def scored_now(
    study: Any,  # noqa: ANN401  of whatever kind
    analyze: Callable[..., Any],
    settings: Mapping[str, Any],
    quick: Mapping[str, Any],
    running: Mapping[str, Any],
) -> Scored:
    """Score a study."""
    own = study.spec.analysis
    known = {key: value for key, value in settings.items() if key in type(own).model_fields}
    result = analyze(study, **{**known, **quick, **running})
    table = result.score_table()
    wanted = {key: known.get(key, getattr(own, key, None)) for key in Inference._fields}
    inference = Inference(**{key: value for key, value in wanted.items() if value is not None})
    return Scored(
        replace(table, inference=inference),
        tuple(result.inputs),
        tuple(result.warnings),
        by_names="measures" in type(own).model_fields,
    )


def compare_scored(given: Sequence[Scored], **settings: Any) -> LeaderboardResult:  # noqa: ANN401
    """Compare everything that was scored, with `quem.leaderboard.settings`.

    Where measures were chosen when a study was scored, the others are restricted to these.
    """
    named = next((one.table for one in given if one.by_names), None)
    if named is not None and settings.get("measures"):
        settings["measures"] = tuple(measure.name for measure in named.measures)
    if named is not None and settings.get("headline"):
        settings["headline"] = named.measures[named.headline].name
    return compare_scores(
        [one.table for one in given],
        files=dict.fromkeys(path for one in given for path in one.files),
        warnings=[
            replace(warning, message=f"{one.table.study}: {warning.message}")
            if len(given) > 1
            else warning
            for one in given
            for warning in one.warnings
        ],
        **settings,
    )
