"""From the scores of several studies to those of one leaderboard; refuses what does not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.text import nearest, shown
from quem.lists.score_table import saved_digits
from quem.wording import format_count, join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.lists.score_table import ScoreTable

_MOST_NAMED = 4
# Keys outside of ``analysis``, of whose values there is a digest.
_DIGESTS = ("users", "questions")


def joined(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Put the scores of several studies beside each other, query by query.

    The order of queries and measures is that of the first. An entry that is there twice with the
    same scores counts once.
    """
    first, *others = (replace(one, values=saved_digits(one.values)) for one in tables)
    mistakes = [mistake for one in others for mistake in _differences(first, one)]
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    names = [one.name for one in first.measures]
    entries, values = list(first.entries), list(first.values)
    for one in others:
        fitting = one.of(
            queries=_places(one.queries, first.queries),
            measures=_places([measure.name for measure in one.measures], names),
        )
        for entry, scores in zip(fitting.entries, fitting.values, strict=True):
            at = next(
                (n for n, e in enumerate(entries) if (e.study, e.id) == (entry.study, entry.id)),
                None,
            )
            if at is None:
                entries.append(entry)
                values.append(scores)
            elif not np.array_equal(values[at], scores, equal_nan=True):
                mistakes.append(_twice(one, entry.id, entry.study))
    if mistakes:
        raise QuemError(mistakes)
    return replace(first, entries=tuple(entries), values=np.stack(values))


def _places(there: Sequence[str], wanted: Iterable[str]) -> list[int]:
    place = {name: at for at, name in enumerate(there)}
    return [place[name] for name in wanted]


def _twice(table: ScoreTable, system: str, study: str) -> Mistake:
    message = (
        f"{shown(system)} of the study {shown(study)} has other scores elsewhere; give the newer "
        "study or system its own id, or leave out the older one"
    )
    return Mistake(table.source, message=message)


def _differences(first: ScoreTable, other: ScoreTable) -> Iterator[Mistake]:
    """Say why two studies cannot be compared."""
    if first.kind != other.kind:
        message = (
            f"is of kind {other.kind}, and {first.source} of kind {first.kind}; scores of "
            "different kinds do not compare"
        )
        yield Mistake(other.source, key="kind", message=message)
        return
    unlike = list(_measures(first, other))
    yield from unlike
    for key in dict.fromkeys([*first.settings, *other.settings]):
        here, there = other.settings.get(key), first.settings.get(key)
        # Where measures differ, so may the settings that only some of them have.
        if here != there and not (unlike and None in (here, there)):
            yield Mistake(
                other.source,
                key=key if key in _DIGESTS else f"analysis.{key}",
                message=f"differs from {first.source}; state the same in both"
                if key in _DIGESTS
                else _setting(here, there, first.source),
            )
    queries = list(_queries(first, other))
    yield from queries
    if first.truth != other.truth and not queries and not unlike:
        what = "the case base" if first.kind == "dialogue" else "the ground truth"
        message = (
            f"{what} is not that of {first.source}, though the ids are; scores against "
            "different ones do not compare: use the same files in both"
        )
        yield Mistake(other.source, message=message)


def _setting(here: str | None, there: str | None, source: str) -> str:
    return f"is {here} here and {there} in {source}; set the same in both, or by an option"


def _measures(first: ScoreTable, other: ScoreTable) -> Iterator[Mistake]:
    names, others = ({one.name for one in table.measures} for table in (first, other))
    if names != others:
        parts = [
            f"{join_words(sorted(missing), _MOST_NAMED)} {'is' if len(missing) == 1 else 'are'} "
            f"only {where}"
            for missing, where in ((others - names, "here"), (names - others, f"in {first.source}"))
            if missing
        ]
        common = [one.name for one in first.measures if one.name in others]
        options = " ".join(f"--measures '{name}'" for name in common[:_MOST_NAMED])
        remedy = f", or name common ones such as {options}" if common else ""
        message = f"{' and '.join(parts)}; compute the same in both{remedy}"
        yield Mistake(other.source, key="analysis.measures", message=message)
        return
    headline = first.measures[first.headline].name
    if headline != other.measures[other.headline].name:
        message = (
            f"is {other.measures[other.headline].name} here and {headline} in {first.source}; "
            "choose one by --headline"
        )
        yield Mistake(other.source, key="analysis.headline", message=message)


def _queries(first: ScoreTable, other: ScoreTable) -> Iterator[Mistake]:
    here, there = set(other.queries), set(first.queries)
    if here == there:
        return
    noun = first.nouns[1]
    parts = [
        f"{format_count(len(missing), noun)} "
        f"{'is' if len(missing) == 1 else 'are'} only {where} "
        f"({join_words(sorted(map(shown, missing)), _MOST_NAMED)})"
        for missing, where in ((here - there, "here"), (there - here, f"in {first.source}"))
        if missing
    ]
    yield Mistake(
        other.source,
        message=f"{' and '.join(parts)}; systems are compared on the same ones: use the same file "
        "in both studies",
    )


def chosen(
    table: ScoreTable,
    systems: Sequence[str],
    measures: Sequence[str],
    headline: str,
) -> ScoreTable:
    """Restrict a table to what the caller named."""
    names = [one.name for one in table.measures]
    mistakes = [
        Mistake("", key=key, message=f"there is no {word} {shown(name)}{_hint(name, known)}")
        for key, word, wanted, known in (
            ("systems", table.nouns[0], systems, [entry.id for entry in table.entries]),
            ("measures", "measure", measures, names),
            ("headline", "measure", [headline] if headline else [], [*names, *measures]),
        )
        for name in dict.fromkeys(wanted)
        if name not in known
    ]
    if mistakes:
        raise QuemError(mistakes)
    ids = [entry.id for entry in table.entries]
    rows = [at for at, name in enumerate(ids) if not systems or name in systems]
    if len(rows) < 2:  # noqa: PLR2004  a comparison is of two
        raise QuemError(_too_few(table, rows))
    wanted = dict.fromkeys([*(measures or names), *([headline] if headline else [])])
    return table.of(entries=rows, measures=_places(names, wanted), headline=headline)


def _hint(name: str, known: Sequence[str]) -> str:
    return nearest(name, known) or f"; there are {join_words(known, 8)}"


def _too_few(table: ScoreTable, rows: list[int]) -> Mistake:
    only = f"only {table.entries[rows[0]].id} is" if rows else "none is"
    message = f"a comparison needs two entries, and {only} here; name a second study"
    return Mistake(table.source, message=message)


def labels(table: ScoreTable) -> tuple[str, ...]:
    """Name each entry, with its study where the same system or name is in several.

    Two systems of one study with the same name are named by their ids.
    """
    names = [entry.name for entry in table.entries]
    ids = [entry.id for entry in table.entries]
    within = [(entry.name, entry.study) for entry in table.entries]
    return tuple(
        (entry.name if within.count((entry.name, entry.study)) == 1 else entry.id)
        + (f" ({entry.study})" if _is_shared(entry.name, names) or ids.count(entry.id) > 1 else "")
        for entry in table.entries
    )


def _is_shared(name: str, names: list[str]) -> bool:
    return names.count(name) > 1
