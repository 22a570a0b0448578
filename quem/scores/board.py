"""A leaderboard: a folder with a report, to which systems are added."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import FileError
from quem.scores.joining import joined
from quem.scores.table import Origin, ScoreTable

if TYPE_CHECKING:
    from pathlib import Path

_FILES = ("analysis.json", "scores.csv")


def added(table: ScoreTable, folder: Path) -> ScoreTable:
    """The systems of a leaderboard and a table; on a new one, only the table's."""
    if not folder.exists() or not any(folder.iterdir()):
        return table
    return replace(
        joined([_read(folder, table), table]),
        inference=table.inference,
        warnings=table.warnings,
    )


def _read(folder: Path, like: ScoreTable) -> ScoreTable:
    """The scores of a leaderboard, with the measures of a table."""
    import pandas as pd

    if not all((folder / name).is_file() for name in _FILES):
        raise FileError(
            folder, "is not a leaderboard; name a new folder, or one of quem score --board"
        )
    document, scores = (folder / name for name in _FILES)
    try:
        origin = json.loads(document.read_text("utf-8"))["origin"]
        frame = pd.read_csv(scores, dtype=str, keep_default_na=False)
        numbers = frame.iloc[:, 2:].replace("", "nan").to_numpy(np.float64)
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(document, f"is damaged ({error}); name a new folder") from None
    systems, queries = (frame.iloc[:, at].drop_duplicates().tolist() for at in (0, 1))
    measures = list(frame.columns[2:])
    values = numbers.reshape(len(systems), len(queries), -1)
    known = {one.name: one for one in like.measures}
    return ScoreTable(
        systems=tuple(systems),
        queries=tuple(queries),
        measures=tuple(known.get(name, _Other(name)) for name in measures),
        values=values,
        nouns=like.nouns,
        origin=Origin(
            kind=origin["kind"],
            source=str(folder),
            truth=origin["truth"],
            settings={one["key"]: one["value"] for one in origin["settings"]},
        ),
    )


class _Other:
    """A measure that only the leaderboard has."""

    better = "higher"

    def __init__(self, name: str) -> None:
        self.name = name
