"""The terminal summary: first the result, then what it is based on, then the warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.lists.inference import fewest_for, fewest_of
from quem.retrieval.presentation.figures import drawn_measures
from quem.retrieval.presentation.judging import (
    judged_columns,
    judged_note,
    judges_text,
    judging_lines,
)
from quem.wording import WIDTH, align_columns, format_p, format_percent, measured, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.lists.inference import Means, PairDifference
    from quem.retrieval.result import Evaluated, MacFacPair, RetrievalFindings, Time

_MOST_ROWS = 20
_MOST_PAIRS = 6
_LONGEST = 26


def summary_text(findings: RetrievalFindings) -> str:
    """Write the summary of an evaluation as text."""
    lines = [findings.study.spec.title, "", *_table(findings)]
    if findings.mac_fac is not None:
        lines += ["", *_mac_fac(findings)]
    if findings.differences:
        lines += ["", *_differences(findings)]
    if judged := list(judging_lines(findings)):
        lines += ["", *(part for line in judged for part in wrap(line))]
    lines += ["", "Based on"]
    for line in basis(findings):
        lines += wrap(line)
    return "\n".join(lines)


def _table(findings: RetrievalFindings) -> Iterator[str]:
    """A line a retriever, the best first: the headline, as many other measures as fit, time."""
    entries = [*findings.best_first[:_MOST_ROWS], *([findings.judges] if findings.judges else [])]
    if not entries:
        return
    timed = [one for one in findings.evaluated if len(one.run.timed)]
    columns = [
        ("", [_short(one.name) for one in entries]),
        (
            findings.measures[findings.headline].name,
            mean_column(findings, entries, findings.headline),
        ),
        ("n", count_column(entries, findings.headline)),
        *list_columns(entries),
        *judged_columns(findings, entries),
    ]
    if timed:
        columns.append(("time per query", [time_text(findings.time(one)) for one in entries]))
    shown = 1
    width = sum(max(map(len, (head, *cells))) + 2 for head, cells in columns)
    for at in drawn_measures(findings)[1:]:
        more = findings.measures[at].name, beside_column(findings, entries, at)
        width += max(map(len, (more[0], *more[1]))) + 2
        if width > WIDTH:
            break
        shown += 1
        columns.append(more)
    rows = [list(row) for row in zip(*([head, *cells] for head, cells in columns), strict=True)]
    yield from (f"  {line}" for line in align_columns(rows, range(len(rows[0]))))
    if notes := "; ".join(_notes(findings, rows, shown)):
        yield from wrap(f"({notes})")
    for one in timed:
        if one.is_truth:
            time = time_text(findings.time(one))
            yield f"  {_short(one.name)}, the ground truth: {time} per query"


def _notes(findings: RetrievalFindings, rows: list[list[str]], shown: int) -> Iterator[str]:
    if any(")" in row[1] for row in rows[1:]):
        yield f"in parentheses: {format_percent(findings.settings.level)} intervals"
    yield from list_notes(rows[0])
    yield from judged_note(rows[0])
    if note := dagger_note(findings, (cell for row in rows for cell in row)):
        yield note
    if len(findings.scored) > _MOST_ROWS:
        yield f"{len(findings.scored) - _MOST_ROWS} more retrievers are in measures.csv"
    if len(findings.measures) > shown:
        yield "measures.csv has all measures"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _differences(findings: RetrievalFindings) -> Iterator[str]:
    pairs = shown_pairs(findings)
    level = format_percent(1 - findings.settings.level)
    name = findings.measures[findings.headline].name
    if not pairs:
        yield f"No difference between retrievers by {name} is significant at the {level} level."
    else:
        yield f"Significant differences at the {level} level (paired randomization tests, Holm)"
    for pair in sorted(pairs, key=lambda pair: pair.p_holm)[:_MOST_PAIRS]:
        yield from wrap(pair_text(findings, pair))
    if len(pairs) > _MOST_PAIRS:
        yield f"  and {len(pairs) - _MOST_PAIRS} more pairs, in differences.csv"


def _mac_fac(findings: RetrievalFindings) -> Iterator[str]:
    mac_fac = findings.mac_fac
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
                *_pair_cells(findings, pair),
                seconds_text(findings.time(pair).median),
                share if np.isfinite(pair.share.median) else "",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        yield f"  {'  '.join([*cells, row[-1]])}".rstrip()
    if note := dagger_note(findings, (cell for row in rows for cell in row)):
        yield from wrap(f"({note})")


def _pair_cells(findings: RetrievalFindings, pair: MacFacPair) -> Iterator[str]:
    n = findings.n_scorable
    for at, defined in enumerate(pair.means.defined.tolist()):
        yield cell_text(pair.means, at, fewest_of(n), count=defined != n, interval=False)


DAGGER = "†"

_LIST_NOTES = {
    "failures": "failures: queries without a list, which count as empty lists",
    "tied": "tied: the share of positions whose similarity another case of the list has",
}

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SMALL_TIME, _LARGE_TIME = 10, 100
_LARGE_SHARE = 0.1

_TIES = {
    "expected": "Tied cases: each score is the mean over all orders of cases with equal similarity",
    "trec": "Tied cases are ordered by id, the last first, as trec_eval does",
    "given": "Tied cases are in the order in which they were given",
}


def value_text(value: float) -> str:
    """Write a score to its precision: "0.812", "500"; "–" for none."""
    return measured(value)


def ends_text(low: float, high: float) -> str:
    """Write an interval: "0.75 to 0.87"; nothing where there is none."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return ""
    return f"{value_text(low)} to {value_text(high)}"


def cell_text(
    means: Means, at: int, fewest: int = 0, *, count: bool = False, interval: bool = True
) -> str:
    """Write a mean with its interval: "0.812 (0.75 to 0.87)"; with its number of queries, too.

    A mean over fewer queries than `fewest` has a dagger; see `dagger_note`.
    """
    text, n = value_text(float(means.mean[at])), int(means.defined[at])
    ends = ends_text(float(means.low[at]), float(means.high[at]))
    text += f" ({ends})" if ends and interval else ""
    text += f" n = {n:,}" if count else ""
    return f"{text} {DAGGER}" if 0 < n < fewest else text


def mean_cells(findings: RetrievalFindings, columns: Iterable[Evaluated], at: int) -> list[str]:
    """Write a measure's row: over how many queries its means are, and the means.

    Where retrievers differ in this number, it appears beside each mean.
    """
    means = [one.means for one in columns if one.means is not None]
    counts = {int(mean.defined[at]) for mean in means}
    differ, fewest = len(counts) > 1, fewest_of(findings.n_scorable)
    count = "" if differ else f"{counts.pop():,}"
    return [count, *(cell_text(mean, at, fewest, count=differ) for mean in means)]


def mean_column(findings: RetrievalFindings, rows: Iterable[Evaluated], at: int) -> list[str]:
    """Write a measure's means of retrievers, with intervals."""
    fewest = fewest_of(findings.n_scorable)
    return [cell_text(one.means, at, fewest) for one in rows if one.means is not None]


def count_column(rows: Iterable[Evaluated], at: int) -> list[str]:
    """Write over how many queries a measure's means are."""
    return [f"{int(one.means.defined[at]):,}" for one in rows if one.means is not None]


def beside_column(findings: RetrievalFindings, rows: Iterable[Evaluated], at: int) -> list[str]:
    """Write another measure's means beside the headline: with n where it is not the headline's."""
    fewest = fewest_of(findings.n_scorable)
    return [
        cell_text(
            one.means,
            at,
            fewest,
            count=one.means.defined[at] not in (0, one.means.defined[findings.headline]),
            interval=False,
        )
        for one in rows
        if one.means is not None
    ]


def list_columns(rows: Iterable[Evaluated]) -> list[tuple[str, list[str]]]:
    """Write a column with the failures of each retriever, and one with its tied positions."""
    notes = [
        ("", "") if one.source == "judges" else (f"{one.n_failed:,}", tied_text(one.tied_share))
        for one in rows
    ]
    columns = zip(_LIST_NOTES, map(list, zip(*notes, strict=True)), strict=True)
    # Columns that only say 0 are left out.
    return [(head, cells) for head, cells in columns if set(cells) - {"", "0", "0%", "–"}]


def list_notes(heads: Iterable[str]) -> list[str]:
    """Say what those of `list_columns` hold that are there."""
    return [_LIST_NOTES[head] for head in heads if head in _LIST_NOTES]


def tied_text(share: float) -> str:
    """Write a share of positions: "12%", "<1%"; "–" for none."""
    if not np.isfinite(share):
        return "–"
    return "<1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"  # noqa: PLR2004  rounds to 0


def dagger_note(findings: RetrievalFindings, texts: Iterable[str]) -> str:
    """Say what a dagger means, if there is one."""
    if not any(DAGGER in text for text in texts):
        return ""
    return (
        f"{DAGGER} defined for fewer than half of the {findings.n_scorable:,} queries with a "
        "ground "
        "truth: not ranked and not tested"
    )


def seconds_text(seconds: float) -> str:
    """Write a time in a unit that suits it: "1.24 ms"; "–" for none."""
    if not np.isfinite(seconds):
        return "–"
    for unit, name in _UNITS:
        if seconds >= unit or name == "µs":
            return f"{_short_wording(seconds / unit)} {name}"
    return "–"


def time_text(time: Time) -> str:
    """Write a time with its interval: "1.24 ms (1.20 to 1.31)"; "–" for none."""
    ends = ends_of_time(time)
    return f"{seconds_text(time.median)} ({ends})" if ends else seconds_text(time.median)


def ends_of_time(time: Time) -> str:
    """Write the interval of a time in the unit of the time; nothing where there is none."""
    if not np.isfinite(time.low):
        return ""
    unit = seconds_text(time.median).rpartition(" ")[2]
    scale = next(scale for scale, name in _UNITS if name == unit)
    return f"{_short_wording(time.low / scale)} to {_short_wording(time.high / scale)}"


def _short_wording(value: float) -> str:
    """Three digits of a time."""
    return f"{value:,.{2 if value < _SMALL_TIME else 1 if value < _LARGE_TIME else 0}f}"


def share_text(share: Time) -> str:
    """Write a share of time with its interval: "31% (30 to 33)"; "–" for none."""
    if not np.isfinite(share.median):
        return "–"
    digits = 0 if share.median >= _LARGE_SHARE else 1
    middle, low, high = (
        f"{100 * value:.{digits}f}" for value in (share.median, share.low, share.high)
    )
    return f"{middle}%" + (f" ({low} to {high})" if np.isfinite(share.low) else "")


def rounds_text(findings: RetrievalFindings) -> str:
    """Say how time was taken."""
    used = findings.settings
    timed = max((len(one.run.timed) for one in findings.evaluated), default=0)
    text = (
        f"medians over {used.repeats} round{'' if used.repeats == 1 else 's'} of the mean time of "
        f"{timed:,} quer{'y' if timed == 1 else 'ies'}, all retrievers in turn"
    )
    fewest = fewest_for(used.level)
    if used.repeats < fewest:
        return (
            f"{text}; an interval at {format_percent(used.level)} needs {fewest} rounds (repeats)"
        )
    return f"{text}, with {format_percent(used.level)} intervals between order statistics"


def winner(findings: RetrievalFindings, pair: PairDifference) -> tuple[str, str]:
    """Name the better and the worse of two retrievers by a measure."""
    first, second = (findings.scored[at].name for at in (pair.first, pair.second))
    return (first, second) if _first_wins(findings, pair) else (second, first)


def _first_wins(findings: RetrievalFindings, pair: PairDifference) -> bool:
    lower = findings.measures[pair.measure].definition.better == "lower"
    return (pair.difference > 0) != lower


def pair_text(findings: RetrievalFindings, pair: PairDifference) -> str:
    """Say who is better by a measure, by how much, and how sure that is."""
    better, worse = winner(findings, pair)
    name = findings.measures[pair.measure].name
    # Its sign is that of the better one less the worse one, whichever the study names first.
    low, high = pair.interval
    difference = pair.difference
    if not _first_wins(findings, pair):
        difference, low, high = -difference, -high, -low
    ends = ends_text(low, high)
    text = measured(difference, sign=True) + (f" ({ends})" if ends else "")
    return (
        f"{better} scores better than {worse} on {name}: difference {text}, adjusted "
        f"{format_p(pair.p_holm)}"
    )


def shown_pairs(findings: RetrievalFindings) -> list[PairDifference]:
    """The significant differences by the headline, at the level of the settings."""
    limit = 1 - findings.settings.level
    return [p for p in findings.differences if p.measure == findings.headline and p.p_holm <= limit]


def basis(findings: RetrievalFindings) -> Iterable[str]:
    """Say in a line or two each what the result is based on."""
    task, truth = findings.task, findings.truth
    n = len(task.queries)
    queries = f"{n:,} quer{'y' if n == 1 else 'ies'}"
    if task.leave_one_out:
        yield f"{queries}, each case in turn, left out of the {len(task.cases):,} cases"
    else:
        yield f"{queries}, {len(task.cases):,} cases"
    yield f"Ground truth: {truth.source}"
    if any(one.run.lists.tied.any() for one in findings.scored):
        yield _TIES[findings.settings.ties]
    if text := judges_text(findings):
        yield text
    if findings.experts is not None:
        n_judges = len(findings.experts.judges)
        yield (
            f"Experts: the consensus of {n_judges} judge{'' if n_judges == 1 else 's'}, by average "
            "rank"
            + (
                ", resampled for the intervals"
                if findings.n_panels and findings.settings.bootstrap
                else ""
            )
        )
    if any(one.source in ("linear", "python") for one in findings.evaluated):
        depth = "all" if findings.depth == task.n_candidates else f"{findings.depth:,}"
        yield (f"Retrievers were asked for {depth} cases; times are {rounds_text(findings)}")
