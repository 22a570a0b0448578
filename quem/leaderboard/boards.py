"""An earlier leaderboard in its folder: the scores, and what they are comparable with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from quem.errors import FileError
from quem.lists.score_table import Entry, Inference, ScoredBy, ScoreTable, content_digest

if TYPE_CHECKING:
    from pathlib import Path

SCORES = "scores.csv"
_ANALYSIS = "analysis.json"
_AGAIN = "run the comparison again with all of its studies"


class Board(NamedTuple):
    """What a folder holds."""

    table: ScoreTable
    additions: int  # how often systems were added to it


def _document(folder: Path) -> Any:  # noqa: ANN401  JSON
    try:
        return json.loads((folder / _ANALYSIS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_board(folder: Path) -> bool:
    """Whether a folder holds a leaderboard that an earlier comparison wrote."""
    document = _document(folder)
    return isinstance(document, dict) and document.get("kind") == "leaderboard"


def read_board(folder: Path) -> Board:
    """Read a leaderboard to compare more systems with."""
    document = _document(folder)
    if not isinstance(document, dict) or document.get("kind") != "leaderboard":
        raise FileError(
            folder, "holds no leaderboard; name a folder that `quem compare` wrote, or a study"
        )
    try:
        content = (folder / SCORES).read_bytes()
    except OSError:
        raise FileError(folder / SCORES, f"is missing; {_AGAIN}") from None
    if document.get("format") != 1 or document.get("scores_digest") != content_digest([content]):
        raise FileError(
            folder / SCORES, f"is not the file that belongs to {_ANALYSIS} beside it; {_AGAIN}"
        )
    return Board(_table(folder, document), int(document["additions"]))


def _table(folder: Path, document: dict[str, Any]) -> ScoreTable:
    # As texts, since versions of pandas differ in the last digit that they read.
    frame = pd.read_csv(folder / SCORES, dtype=str, keep_default_na=False)
    entries = tuple(
        Entry(system["system"], system["own_name"], system["study"])
        for system in document["systems"]
    )
    names = [measure["name"] for measure in document["measures"]]
    queries = tuple(frame["query"][: document["n_queries"]])
    settings = document["settings"]
    texts = frame[names].to_numpy(dtype=object).ravel().tolist()
    values = np.array([float(text) if text else np.nan for text in texts])
    return ScoreTable(
        kind=document["kind_of_study"],
        title=document["title"],
        study="",
        source=str(folder),
        entries=entries,
        queries=queries,
        measures=tuple(ScoredBy(one["name"], one["better"]) for one in document["measures"]),
        headline=names.index(document["headline"]),
        values=values.reshape(len(entries), len(queries), -1),
        truth=document["truth_digest"],
        settings={one["key"]: one["value"] for one in document["scored_with"]},
        inference=Inference(**{key: settings[key] for key in Inference._fields}),
        nouns=(document["nouns"][0], document["nouns"][1]),
    )
