"""The terminal summary: the answer first, then what it rests on, then the warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.options.showing.phrases import (
    count,
    dagger_note,
    difference_text,
    mean_text,
    standing_text,
    threshold_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.options.findings import Findings

__all__ = ["basis", "headline_pairs", "summary_text"]

_MOST_PAIRS = 10
_MOST_COLUMNS = 6


def summary_text(found: Findings, *, warnings: bool) -> str:
    """Write the summary of an analysis as text.

    Parameters
    ----------
    found : Findings
    warnings : bool
        Whether the warnings are part of it.
    """
    lines = [found.data.spec.title, "", *_standings(found), *_differences(found)]
    lines += ["", "Means", *_means(found), "", "It rests on", f"  {basis(found)}"]
    if warnings and found.doubts:
        lines += ["", "Warnings", *(f"  {d.code}: {d.message}" for d in found.doubts)]
    return "\n".join(lines)


def _standings(found: Findings) -> Iterator[str]:
    names = [found.name_of(standing.system) for standing in found.standings]
    width = max(map(len, names))
    swept = {sweep.system: sweep for sweep in found.sweeps}
    for name, standing in zip(names, found.standings, strict=True):
        yield f"  {name:<{width}}  {standing_text(found, standing)}"
        if standing.system in swept:
            yield f"  {'':<{width}}  {threshold_text(found, swept[standing.system])}"


def headline_pairs(found: Findings) -> list[tuple[str, str]]:
    """Name each pair of systems, and say how far they are apart by the headline."""
    return [
        (
            f"{found.name_of(pair.first)} − {found.name_of(pair.second)}",
            difference_text(found, pair),
        )
        for pair in found.pairs
        if pair.measure == found.scorer.headline
    ]


def _differences(found: Findings) -> Iterator[str]:
    pairs = headline_pairs(found)
    if not pairs:
        return
    adjusted = f", p adjusted for {len(pairs)} pairs (Holm)" if len(pairs) > 1 else ""
    yield from ("", f"Differences in {found.headline} (paired randomisation test{adjusted})")
    width = max(len(name) for name, _ in pairs[:_MOST_PAIRS])
    for name, told in pairs[:_MOST_PAIRS]:
        yield f"  {name:<{width}}  {told}"
    if len(pairs) > _MOST_PAIRS:
        yield f"  and {len(pairs) - _MOST_PAIRS} more pairs: see differences.csv"


def _means(found: Findings) -> Iterator[str]:
    """A row a measure, a column a system."""
    shown = found.standings[:_MOST_COLUMNS]
    heads = [found.name_of(standing.system) for standing in shown]
    cells = [
        [mean_text(found, standing, at) for standing in shown]
        for at in range(len(found.scorer.names))
    ]
    columns = zip(*cells, strict=True)
    widths = [max(len(h), *map(len, own)) for h, own in zip(heads, columns, strict=True)]
    label = max(len("failures"), *map(len, found.scorer.names))
    heading = "  ".join(f"{head:>{w}}" for head, w in zip(heads, widths, strict=True))
    yield f"  {'':<{label}}  {heading}"
    for at, name in enumerate(found.scorer.names):
        row = "  ".join(f"{cell:>{w}}" for cell, w in zip(cells[at], widths, strict=True))
        yield f"  {name:<{label}}  {row}"
    if any(standing.n_missing for standing in shown):
        missing = (f"{standing.n_missing:,}" for standing in shown)
        row = "  ".join(f"{cell:>{w}}" for cell, w in zip(missing, widths, strict=True))
        yield f"  {'failures':<{label}}  {row}"
    yield f"  ({dagger_note(found, (text for row in cells for text in row))})"
    if len(found.standings) > len(shown):
        yield f"  and {len(found.standings) - len(shown)} more systems: see scores.csv"


def basis(found: Findings) -> str:
    """Say what the numbers rest on."""
    lists = sum(standing.n_lists for standing in found.standings)
    longest = int(found.lengths.max(initial=0))
    told = (
        f"{count(len(found.data.key.ids), 'question')}, {count(len(found.standings), 'system')}, "
        f"{count(lists, 'list')}, the longest of {count(longest, 'option')}"
    )
    if "OLAR" in found.scorer.names:
        told += f"; OLAR for lists of up to {found.scorer.max_length}"
    return told
