"""The terminal summary: the answer first, then what it rests on, then the warnings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from quem.queries import fewest_of
from quem.retrieval.showing.figures import drawn_measures
from quem.retrieval.showing.wording import (
    basis,
    beside_column,
    cell_text,
    count_column,
    dagger_note,
    list_columns,
    list_notes,
    mean_column,
    pair_text,
    seconds_text,
    share_text,
    shown_pairs,
    time_text,
)
from quem.wording import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.retrieval.findings import Findings, MacFacPair

__all__ = ["summary_text"]

_WIDTH = 96
_MOST_ROWS = 20
_MOST_PAIRS = 6
_LONGEST = 26


def summary_text(found: Findings, *, warnings: bool) -> str:
    """Write the summary of an evaluation as text.

    Parameters
    ----------
    found : Findings
    warnings : bool
        Whether the warnings are part of it.
    """
    lines = [found.study.spec.title, "", *_table(found)]
    if found.mac_fac is not None:
        lines += ["", *_mac_fac(found)]
    if found.differences:
        lines += ["", *_differences(found)]
    lines += ["", "It rests on"]
    for line in basis(found):
        lines += _wrapped(line)
    if warnings and found.doubts:
        count = len(found.doubts)
        lines += ["", f"{count} warning{'s' if count > 1 else ''}"]
        for doubt in found.doubts:
            lines += _wrapped(f"{doubt.code}: {doubt.message}")
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False
    )


def _table(found: Findings) -> Iterator[str]:
    """A line a retriever, the best first: the headline, as many other measures as fit, time."""
    listed = [*found.best_first[:_MOST_ROWS], *([found.judges] if found.judges else [])]
    if not listed:
        return
    timed = [one for one in found.evaluated if len(one.run.timed)]
    columns = [
        ("", [_short(one.name) for one in listed]),
        (found.measures[found.headline].name, mean_column(found, listed, found.headline)),
        ("n", count_column(listed, found.headline)),
        *list_columns(listed),
    ]
    if timed:
        columns.append(("time a query", [time_text(found.time(one)) for one in listed]))
    shown = 1
    width = sum(max(map(len, (head, *cells))) + 2 for head, cells in columns)
    for at in drawn_measures(found)[1:]:
        more = found.measures[at].name, beside_column(found, listed, at)
        width += max(map(len, (more[0], *more[1]))) + 2
        if width > _WIDTH:
            break
        shown += 1
        columns.append(more)
    rows = [list(row) for row in zip(*([head, *cells] for head, cells in columns), strict=True)]
    yield from _aligned(rows)
    if notes := "; ".join(_notes(found, rows, shown)):
        yield from _wrapped(f"({notes})")
    for one in timed:
        if one.is_truth:
            yield f"  {_short(one.name)}, the ground truth: {time_text(found.time(one))} a query"


def _notes(found: Findings, rows: list[list[str]], shown: int) -> Iterator[str]:
    if any(")" in row[1] for row in rows[1:]):
        yield f"in parentheses: {percent(found.settings.level)} intervals"
    yield from list_notes(rows[0])
    if note := dagger_note(found, (cell for row in rows for cell in row)):
        yield note
    if len(found.scored) > _MOST_ROWS:
        yield f"{len(found.scored) - _MOST_ROWS} more retrievers are in measures.csv"
    if len(found.measures) > shown:
        yield "measures.csv has all measures"


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _differences(found: Findings) -> Iterator[str]:
    pairs = shown_pairs(found)
    level = percent(found.settings.level)
    name = found.measures[found.headline].name
    if not pairs:
        yield f"No difference between retrievers by {name} is told from chance at {level}."
    else:
        yield f"Differences told from chance at {level} (paired randomisation tests, Holm)"
    for pair in sorted(pairs, key=lambda pair: pair.p_holm)[:_MOST_PAIRS]:
        yield from _wrapped(pair_text(found, pair))
    if len(pairs) > _MOST_PAIRS:
        yield f"  and {len(pairs) - _MOST_PAIRS} more pairs, in differences.csv"


def _mac_fac(found: Findings) -> Iterator[str]:
    mac_fac = found.mac_fac
    if mac_fac is None:
        return
    yield f"MAC/FAC: {mac_fac.mac}, then {mac_fac.fac}"
    rows = [["filter", "k", *(m.definition.name for m in mac_fac.pairs[0].measures), "time", ""]]
    for pair in mac_fac.pairs:
        share = f"{share_text(pair.share)} of {mac_fac.fac} alone"
        rows.append(
            [
                f"{pair.filter:,}",
                f"{pair.k:,}",
                *_pair_cells(found, pair),
                seconds_text(found.time(pair).median),
                share if np.isfinite(pair.share.median) else "",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        yield f"  {'  '.join([*cells, row[-1]])}".rstrip()
    if note := dagger_note(found, (cell for row in rows for cell in row)):
        yield from _wrapped(f"({note})")


def _pair_cells(found: Findings, pair: MacFacPair) -> Iterator[str]:
    n = found.n_scorable
    for at, defined in enumerate(pair.means.defined.tolist()):
        yield cell_text(pair.means, at, fewest_of(n), count=defined != n, interval=False)
