"""The terminal summary: the answer first, then what it rests on, then the warnings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from quem.retrieval.showing.wording import (
    basis,
    cell_text,
    dagger_note,
    list_rows,
    mean_cells,
    pair_text,
    seconds_text,
    shown_pairs,
)
from quem.wording import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.retrieval.findings import Findings, MacFacPair

__all__ = ["summary_text"]

_WIDTH = 96
_WITH_INTERVALS = 3
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
    """A line a measure, a column a retriever."""
    columns = [*found.scored, *([found.judges] if found.judges else [])]
    full = len(columns) <= _WITH_INTERVALS
    rows = [["", "queries", *(_short(one.name) for one in columns)]] if columns else []
    for at, measure in enumerate(found.measures if columns else ()):
        rows.append([measure.name, *mean_cells(found, columns, at, interval=full)])
    rows += map(list, list_rows(columns))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join([first, *others])}".rstrip()
    if full and columns and found.settings.bootstrap and len(found.task.queries) > 1:
        yield f"  (in brackets: {percent(found.settings.level)} bootstrap intervals)"
    if note := dagger_note(found, (cell for row in rows for cell in row)):
        yield f"  ({note})"
    timed = [one for one in found.evaluated if np.isfinite(one.seconds)]
    if timed:
        yield ""
        yield "  Time a query"
        width = max(len(_short(one.name)) for one in timed)
        for one in timed:
            note = "  (the ground truth)" if one.is_truth else ""
            yield f"    {_short(one.name):<{width}}  {seconds_text(one.seconds):>9}{note}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _differences(found: Findings) -> Iterator[str]:
    pairs = shown_pairs(found)
    level = percent(found.settings.level)
    if not pairs:
        yield f"No difference between retrievers is told from chance at {level}."
        return
    yield f"Differences told from chance at {level} (paired randomisation tests, Holm)"
    for pair in sorted(pairs, key=lambda pair: pair.p_holm)[:_MOST_PAIRS]:
        yield from _wrapped(pair_text(found, pair))
    if len(pairs) > _MOST_PAIRS:
        yield f"  and {len(pairs) - _MOST_PAIRS} more, in differences.csv"


def _mac_fac(found: Findings) -> Iterator[str]:
    mac_fac = found.mac_fac
    if mac_fac is None:
        return
    yield f"MAC/FAC: {mac_fac.mac}, then {mac_fac.fac}"
    rows = [["filter", "k", *(m.definition.name for m in mac_fac.pairs[0].measures), "time", ""]]
    for pair in mac_fac.pairs:
        share = f"{percent(round(pair.time_share, 3))} of {mac_fac.fac} alone"
        rows.append(
            [
                f"{pair.filter:,}",
                f"{pair.k:,}",
                *_pair_cells(found, pair),
                seconds_text(_mean(pair.run.seconds)),
                share if np.isfinite(pair.time_share) else "",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        yield f"  {'  '.join([*cells, row[-1]])}".rstrip()


def _pair_cells(found: Findings, pair: MacFacPair) -> Iterator[str]:
    n = found.n_scorable
    for at, defined in enumerate(pair.means.defined.tolist()):
        yield cell_text(pair.means, at, count=defined != n, interval=False)


def _mean(seconds: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    held = seconds[~np.isnan(seconds)]
    return float(held.mean()) if len(held) else float("nan")
