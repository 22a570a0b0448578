"""The scores to compare: of studies that are analyzed now, of results, and of leaderboards."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.leaderboard.boards import is_board, read_board
from quem.leaderboard.compare import compare_scores
from quem.lists.score_table import Inference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from quem.errors import StudyWarning
    from quem.leaderboard.result import LeaderboardResult
    from quem.lists.score_table import ScoreTable


@dataclass(frozen=True)
class Scored:
    """Scores to compare, and where they come from."""

    table: ScoreTable
    files: tuple[Path, ...] = ()  # what they were made of
    warnings: tuple[StudyWarning, ...] = ()  # about that
    # How often systems were added to the leaderboard; None where it is none.
    additions: int | None = None
    # Whether measures were chosen when these were computed, by the names that they have.
    by_names: bool = False


def scored_before(given: object) -> Scored | None:
    """Give the scores of a result, or of the folder of a leaderboard; None for anything else."""
    if isinstance(given, Scored):
        return given
    if isinstance(given, str | os.PathLike) and is_board(Path(given)):
        board = read_board(Path(given))
        return Scored(board.table, additions=board.additions)
    if hasattr(given, "score_table") and hasattr(given, "inputs"):
        table: ScoreTable = given.score_table()
        findings = getattr(given, "findings", None)
        additions = getattr(findings, "additions", None)
        return Scored(table, tuple(given.inputs), tuple(getattr(given, "warnings", ())), additions)
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
    boards = [one for one in given if one.additions is not None]
    held = {(entry.study, entry.id) for one in boards for entry in one.table.entries}
    new = {(entry.study, entry.id) for one in given for entry in one.table.entries} - held
    # What is added to a leaderboard is a further look at the same queries.
    additions = max(one.additions or 0 for one in boards) + bool(new) if boards else 0
    return compare_scores(
        [one.table for one in given],
        files=dict.fromkeys(path for one in given for path in one.files),
        warnings=[
            replace(warning, message=f"{one.table.study}: {warning.message}")
            if len(given) > 1
            else warning
            for one in given
            for warning in one.warnings
            if one.additions is None
        ],
        additions=additions,
        **settings,
    )
