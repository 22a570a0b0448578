"""What the report of an evaluation shows, as text and tables ready to be laid out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.queries import fewest_of
from quem.report.layout import Section, TextTable
from quem.retrieval.showing.figures import headline
from quem.retrieval.showing.methods import methods_paragraph, references
from quem.retrieval.showing.wording import (
    DAGGER,
    bare_p,
    basis,
    cell_text,
    dagger_note,
    ends_text,
    list_rows,
    mean_cells,
    seconds_text,
    shown_pairs,
    value_text,
    winner,
)
from quem.wording import percent, signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.retrieval.findings import Evaluated, Findings

__all__ = ["report_context"]

CAPTIONS = {
    "quality": "The mean of each measure over the queries, with its bootstrap interval.",
    "differences": "Each two retrievers, query by query, with bootstrap intervals; blue "
    "where the test tells them apart.",
    "times": "The time of each query, the median of its calls, and the median of all queries (the "
    "bar).",
    "mac-fac": "What a filter of that many cases loses and saves: 1 is what the second phase finds "
    "alone, at the dashed line.",
}
_MOST_QUERIES = 20
_MOST_PAIRS = 200


def report_context(found: Findings) -> dict[str, Any]:
    """Give what the template ``report/retrieval.html`` shows.

    Parameters
    ----------
    found : Findings
    """
    spec = found.study.spec
    drawn = [
        stem
        for stem, there in (("quality", bool(found.scored)), ("mac-fac", found.mac_fac is not None))
        if there
    ]
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _answers(found),
        "basis": list(basis(found)),
        "first_figure": drawn[0] if drawn else "times",
        "sections": list(_sections(found)),
        "methods": methods_paragraph(found),
        "references": references(found),
        "settings": list(_settings(found)),
        "captions": CAPTIONS,
        "quem_version": __version__,
    }


def _columns(found: Findings) -> list[Evaluated]:
    return [*found.scored, *([found.judges] if found.judges else [])]


def _answers(found: Findings) -> TextTable | None:
    """The measures that are drawn, and the time."""
    columns = _columns(found)
    if not columns:
        return None
    rows: list[tuple[str, ...]] = []
    for at in headline(found):
        arrow = "↑" if found.measures[at].definition.better == "higher" else "↓"
        rows.append((f"{found.measures[at].name} {arrow}", *mean_cells(found, columns, at)))
    rows += list_rows(columns)
    if any(np.isfinite(one.seconds) for one in columns):
        rows.append(("time a query", "", *(seconds_text(one.seconds) for one in columns)))
    note = (
        f"Means over the queries, with {percent(found.settings.level)} bootstrap intervals in "
        "brackets; ↑ higher is better, ↓ lower is better."
    )
    heads = ("", "queries", *(one.name for one in columns))
    return _marked(found, TextTable("Quality and time", heads, rows, note))


def _marked(found: Findings, table: TextTable) -> TextTable:
    """Grey out the means that are not ranked, and say why."""
    muted = frozenset(
        (row, column)
        for row, cells in enumerate(table.rows)
        for column, text in enumerate(cells)
        if DAGGER in text
    )
    told = dagger_note(found, (text for cells in table.rows for text in cells))
    return replace(table, muted=muted, note=f"{table.note} {told}." if told else table.note)


def _sections(found: Findings) -> Iterator[Section]:
    if found.scored and (found.judges or len(headline(found)) < len(found.measures)):
        yield _all_measures(found)
    if found.differences:
        yield _differences(found)
    if found.mac_fac is not None:
        yield _mac_fac(found)
    timed = [one for one in found.evaluated if np.isfinite(one.seconds)]
    if timed:
        yield _times(timed)
    if found.scored and len(found.task.queries) <= _MOST_QUERIES:
        yield _queries(found)


def _all_measures(found: Findings) -> Section:
    columns = _columns(found)
    rows = []
    for at, measure in enumerate(found.measures):
        rows.append((measure.name, measure.definition.better, *mean_cells(found, columns, at)))
    table = TextTable(
        "All measures",
        ("measure", "better", "queries", *(one.name for one in columns)),
        rows,
        "Queries (n): where the measure is defined. `quem measures NAME` explains each.",
        frozenset({1}),
    )
    text = []
    if found.judges is not None:
        text = [
            "The last column holds each judge against the consensus of the others: a retriever "
            "that reaches it agrees with the experts as well as they agree with each other."
        ]
    return Section("measures", "All measures", text, (), [_marked(found, table)])


def _differences(found: Findings) -> Section:
    pairs = shown_pairs(found)
    names = [one.name for one in found.scored]
    level = percent(found.settings.level)
    first = f"{len(pairs)} of {len(found.differences)} differences are told from chance at {level}."
    text = [
        f"{first} Tests are paired randomisation tests over the queries, adjusted after Holm over "
        "the pairs of retrievers, by each measure for itself. Many measures are looked at: choose "
        "the one that counts before looking."
    ]
    if found.experts is not None:
        text.append(
            "The intervals draw queries and judges; the tests take the judges' consensus as given."
        )
    shown = [pair for pair in found.differences if np.isfinite(pair.difference)]
    shown = sorted(shown, key=lambda pair: pair.measure)[:_MOST_PAIRS]
    rows = [
        (
            f"{names[pair.first]} − {names[pair.second]}",
            found.measures[pair.measure].name,
            str(pair.n),
            signed(pair.difference, 3),
            ends_text(*pair.interval) or "–",
            bare_p(pair.p),
            bare_p(pair.p_holm),
            winner(found, pair)[0] if pair.p_holm <= 1 - found.settings.level else "",
        )
        for pair in shown
    ]
    table = TextTable(
        "Differences",
        (
            "pair",
            "measure",
            "queries",
            "difference",
            f"{level} interval",
            "p",
            "adjusted p",
            "better",
        ),
        rows,
        words=frozenset({1, 7}),
    )
    return Section("differences", "Differences between retrievers", text, ("differences",), [table])


def _mac_fac(found: Findings) -> Section:
    mac_fac = found.mac_fac
    assert mac_fac is not None  # noqa: S101  asked before
    names = [measure.definition.name for measure in mac_fac.pairs[0].measures]
    rows = [
        (
            f"{pair.filter:,}",
            f"{pair.k:,}",
            *(
                cell_text(pair.means, at, fewest_of(found.n_scorable), count=True)
                for at in range(len(names))
            ),
            seconds_text(_mean(pair.run.seconds)),
            seconds_text(_mean(pair.mac_seconds)),
            percent(round(pair.time_share, 3)) if np.isfinite(pair.time_share) else "–",
        )
        for pair in mac_fac.pairs
    ]
    columns = ("filter", "k", *names, "time", "first phase", "share of time")
    full = seconds_text(_mean(mac_fac.full.seconds))
    alone = f" {mac_fac.fac} alone takes {full}." if full != "–" else ""
    text = [
        f"{mac_fac.mac} keeps as many cases as the filter holds, and {mac_fac.fac} chooses k of "
        f"these. They are held against the k best that {mac_fac.fac} finds in the whole case base."
        f"{alone}"
    ]
    table = _marked(found, TextTable("MAC/FAC", columns, rows))
    return Section("mac-fac", "MAC/FAC: what a filter loses and saves", text, ("mac-fac",), [table])


def _times(timed: list[Evaluated]) -> Section:
    rows = []
    for one in timed:
        held = one.run.seconds[~np.isnan(one.run.seconds)]
        quantiles = np.quantile(held, [0.5, 0.95, 1.0])
        rows.append(
            (
                one.name + (" (ground truth)" if one.is_truth else ""),
                f"{len(held):,}",
                seconds_text(float(held.mean())),
                *(seconds_text(float(value)) for value in quantiles),
            )
        )
    table = TextTable(
        "Retrieval time a query",
        ("retriever", "queries", "mean", "median", "95% of queries within", "longest"),
        rows,
        "Of each query the median of its calls counts, after calls to warm up.",
    )
    return Section("times", "Retrieval time", [], ("times",), [table])


def _queries(found: Findings) -> Section:
    at = headline(found)[0] if headline(found) else 0
    columns = list(found.scored)
    rows = [
        (
            query,
            *(
                value_text(float(one.scores.values[row, at]))
                for one in columns
                if one.scores is not None
            ),
        )
        for row, query in enumerate(found.task.queries.ids)
    ]
    name = found.measures[at].name
    table = TextTable(
        f"{name} by query",
        ("query", *(one.name for one in columns)),
        rows,
        "scores.csv has all measures, and why some are undefined.",
    )
    return Section("queries", "Query by query", [], (), [table])


def _settings(found: Findings) -> Iterator[tuple[str, str]]:
    for key, value in found.settings.model_dump(mode="json").items():
        told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield key, told or "by default"
    for retriever in found.study.spec.retrievers:
        if retriever.linear is not None:
            yield f"{retriever.id}: missing values", retriever.linear.missing


def _mean(seconds: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    held = seconds[~np.isnan(seconds)]
    return float(held.mean()) if len(held) else float("nan")
