"""Joining the scores of several studies, or of a leaderboard; incompatible ones are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import FileError, Mistake, QuemError, refuse
from quem.io.text import nearest, shown
from quem.scores.table import Origin, ScoreTable
from quem.wording import format_count, join_words, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_MOST_NAMED = 4
# Keys of a study outside of ``analysis`` whose values are hashed.
_DIGESTS = ("users", "questions", "queries")
_FILES = ("analysis.json", "scores.csv")


def joined(tables: Sequence[ScoreTable]) -> ScoreTable:
    """The systems of all tables, query by query; queries and measures are as in the first.

    Duplicate systems with equal scores count once.
    """
    first, *others = (replace(one, values=_saved(one.values)) for one in tables)
    if not others:
        return first
    if mistakes := [mistake for one in others for mistake in _differences(first, one)]:
        raise QuemError(dict.fromkeys(mistakes))
    values: dict[tuple[str, str], NDArray[np.float64]] = {}
    names: list[str] = []
    mistakes = []
    for table in (first, *others):
        queries = [table.queries.index(query) for query in first.queries]
        measures = [table.columns.index(measure) for measure in first.columns]
        fitting = table.values[:, queries][:, :, measures]
        studies = table.studies or ("",) * len(table.systems)
        keys = zip(studies, table.systems, strict=True)
        for key, name, scores in zip(keys, table.labels, fitting, strict=True):
            if key not in values:
                values[key] = scores
                names.append(name)
            elif not np.array_equal(values[key], scores, equal_nan=True):
                mistakes.append(_twice(table, *key))
    refuse(mistakes)
    return replace(
        first,
        origin=replace(first.origin, truth=first.truth),
        systems=tuple(system for _, system in values),
        studies=tuple(study for study, _ in values),
        names=_labels([*values], names),
        values=np.stack([*values.values()]),
        details=(),
        sections=(),
        warnings=tuple(warning for one in tables for warning in one.warnings),
        evidence=None,
        checks=(),
    )


def _saved(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded to 12 significant digits as in files, so that reread scores are equal."""
    distinct, places = np.unique(values, return_inverse=True)
    rounded = np.array([float(f"{value:.12g}") for value in distinct.tolist()])
    return rounded[places].reshape(values.shape) if rounded.size else values


def _labels(keys: Sequence[tuple[str, str]], names: Sequence[str]) -> tuple[str, ...]:
    """Names, with the study if several studies have a system of that id or name."""
    ids = [system for _, system in keys]
    return tuple(
        f"{name} ({study})" if study and (names.count(name) > 1 or ids.count(system) > 1) else name
        for (study, system), name in zip(keys, names, strict=True)
    )


def _twice(table: ScoreTable, study: str, system: str) -> Mistake:
    of = f" of the study {shown(study)}" if study else ""
    message = f"{shown(system)}{of} has other scores elsewhere; give the newer one another name"
    return Mistake(table.origin.source, message=message)


def _differences(first: ScoreTable, other: ScoreTable) -> Iterator[Mistake]:
    """Errors on differences between two studies."""
    here, there = other.origin, first.origin
    if here.kind != there.kind:
        message = (
            f"is of kind {here.kind}, and {there.source} of kind {there.kind}; scores of "
            "different kinds do not compare"
        )
        yield Mistake(here.source, key="kind", message=message)
        return
    unlike = list(_measures(first, other))
    yield from unlike
    for key in dict.fromkeys([*there.settings, *here.settings]):
        own, others = here.settings.get(key), there.settings.get(key)
        # If measures differ, so may the settings that only some of them have.
        if own != others and not (unlike and None in (own, others)):
            is_digest = key in _DIGESTS
            message = f"is {own} here and {others} in {there.source}; set the same in both"
            if is_digest:
                message = f"differs from {there.source}; state the same in both"
            yield Mistake(here.source, key=key if is_digest else f"analysis.{key}", message=message)
    queries = list(_queries(first, other))
    yield from queries
    if other.truth != first.truth and not queries and not unlike:
        what = "the case base" if here.kind == "dialogue" else "the ground truth"
        message = (
            f"{what} is not that of {there.source}, though the ids are; scores against different "
            "ones do not compare: use the same files in both"
        )
        yield Mistake(here.source, message=message)


def _measures(first: ScoreTable, other: ScoreTable) -> Iterator[Mistake]:
    common = [name for name in first.columns if name in other.columns]
    parts = _only(first.columns, other.columns, first.origin.source, "")
    if parts:
        remedy = f", or name common ones: {join_words(common, _MOST_NAMED)}" if common else ""
        message = f"{parts}; compute the same in both{remedy}"
        yield Mistake(other.origin.source, key="analysis.measures", message=message)


def _queries(first: ScoreTable, other: ScoreTable) -> Iterator[Mistake]:
    noun = first.nouns.query
    if parts := _only(first.queries, other.queries, first.origin.source, noun):
        message = f"{parts}; systems are compared on the same {plural(noun)}: use the same file"
        yield Mistake(other.origin.source, message=message)


def _only(there: Iterable[str], here: Iterable[str], source: str, noun: str) -> str:
    """Items that only one of two studies has, in words; with a noun they are counted too."""
    parts = []
    for missing, where in (
        (set(here) - set(there), "here"),
        (set(there) - set(here), f"in {source}"),
    ):
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            names = join_words(sorted(map(shown, missing)), _MOST_NAMED)
            counted = f"{format_count(len(missing), noun)} {verb} only {where} ({names})"
            parts.append(counted if noun else f"{names} {verb} only {where}")
    return " and ".join(parts)


def chosen(table: ScoreTable, systems: Sequence[str], measures: Sequence[str]) -> ScoreTable:
    """The part of a table that the caller chose; the first measure is the headline."""
    known = [*table.systems, *table.labels]
    mistakes = [
        Mistake("", key="systems", message=no_system(table.nouns.system, name, table.systems))
        for name in dict.fromkeys(systems)
        if name not in known
    ]
    layers = []
    for name in dict.fromkeys(measures):
        try:
            layers.append(table.column(name))
        except QuemError as error:
            mistakes += [replace(one, key="measures") for one in error.mistakes]
    refuse(mistakes)
    rows = [
        at
        for at, (system, label) in enumerate(zip(table.systems, table.labels, strict=True))
        if not systems or system in systems or label in systems
    ]
    return table.of(rows, layers or range(len(table.measures)))


def no_system(noun: str, name: str, known: Sequence[str]) -> str:
    """The error on an unknown system, with the known ones."""
    hint = nearest(name, known) or f"; there are {join_words(known, 8)}"
    return f"there is no {noun} {shown(name)}{hint}"


def added(table: ScoreTable, folder: Path) -> ScoreTable:
    """The systems of a leaderboard and a table; on a new one, only the table's."""
    if not folder.exists() or not any(folder.iterdir()):
        return table
    return replace(
        joined([_read(folder, table), table]),
        evidence=None,
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
