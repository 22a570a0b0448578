"""What the report of an evaluation shows, as text and tables ready to be laid out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem import __version__
from quem.lists.inference import fewest_of
from quem.lists.names import describe_own
from quem.report.files import Section, TextTable
from quem.retrieval.presentation.figures import drawn_measures
from quem.retrieval.presentation.judging import (
    judged_columns,
    judged_note,
    judging_methods,
    judging_sections,
)
from quem.retrieval.presentation.summary import (
    DAGGER,
    basis,
    beside_column,
    cell_text,
    count_column,
    dagger_note,
    ends_of_time,
    ends_text,
    list_columns,
    list_notes,
    mean_cells,
    mean_column,
    rounds_text,
    seconds_text,
    share_text,
    shown_pairs,
    time_text,
    value_text,
    winner,
)
from quem.retrieval.result import time_of
from quem.wording import format_bare_p, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.lists.inference import PairDifference
    from quem.retrieval.result import Evaluated, RetrievalFindings

CAPTIONS = {
    "quality": "The mean of each measure over the queries, with its bootstrap interval.",
    "differences": "Each pair of retrievers by the headline measure, query by query, with "
    "bootstrap intervals; blue where the difference is significant.",
    "times": "The time of each query, the median of its calls, and the median of all queries (the "
    "bar).",
    "mac-fac": "Quality lost and time saved by a filter of that many cases; 1 (dashed) is the "
    "second phase alone.",
}

_MOST_QUERIES = 20
_MOST_PAIRS = 200
_MOST_ROWS = 20
_MOST_COLUMNS = 8
_MOST_BESIDE = 3


def report_context(findings: RetrievalFindings) -> dict[str, Any]:
    """Give what the template ``report/retrieval.html`` shows."""
    spec = findings.study.spec
    drawn = [
        stem
        for stem, there in (
            ("quality", bool(findings.scored)),
            ("mac-fac", findings.mac_fac is not None),
        )
        if there
    ]
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _answers(findings),
        "basis": list(basis(findings)),
        "first_figure": drawn[0] if drawn else "times",
        "sections": list(_sections(findings)),
        "methods": methods_paragraph(findings),
        "references": references(findings),
        "settings": list(_settings(findings)),
        "captions": CAPTIONS,
        "quem_version": __version__,
    }


def _answers(findings: RetrievalFindings) -> TextTable | None:
    """A row a retriever, the best first: the headline, the measures that are drawn, the time."""
    rows_of = [*findings.best_first[:_MOST_ROWS], *([findings.judges] if findings.judges else [])]
    if not rows_of:
        return None
    # More measures would not fit a page.
    shown = drawn_measures(findings)[1 : _MOST_BESIDE + 1]
    columns = [
        ("", [one.name for one in rows_of]),
        (_headed(findings, findings.headline), mean_column(findings, rows_of, findings.headline)),
        ("n", count_column(rows_of, findings.headline)),
        *list_columns(rows_of),
        *judged_columns(findings, rows_of),
    ]
    if any(len(one.run.timed) for one in rows_of):
        columns.append(("time per query", [time_text(findings.time(one)) for one in rows_of]))
    columns += [(_headed(findings, at), beside_column(findings, rows_of, at)) for at in shown]
    heads, cells = zip(*columns, strict=True)
    level = format_percent(findings.settings.level)
    note = (
        f"The headline is {findings.measures[findings.headline].name}, n is the number of its "
        "queries, "
        f"and parentheses hold {level} intervals; ↑ higher is better, ↓ lower is better"
        f"{'; '.join(['', *list_notes(heads), *judged_note(heads)])}. "
        "The appendix and measures.csv have all measures"
    )
    if len(findings.scored) > _MOST_ROWS:
        note += f", measures.csv all {len(findings.scored)} retrievers"
    rows = list(zip(*cells, strict=True))
    return _marked(findings, TextTable("Quality and time", heads, rows, f"{note}."))


def _headed(findings: RetrievalFindings, at: int) -> str:
    measure = findings.measures[at]
    return f"{measure.name} {'↑' if measure.definition.better == 'higher' else '↓'}"


def _marked(findings: RetrievalFindings, table: TextTable) -> TextTable:
    """Gray out the means that are not ranked, and say why."""
    muted = frozenset(
        (row, column)
        for row, cells in enumerate(table.rows)
        for column, text in enumerate(cells)
        if DAGGER in text
    )
    note = dagger_note(findings, (text for cells in table.rows for text in cells))
    return replace(table, muted=muted, note=f"{table.note} {note}.".strip() if note else table.note)


def _sections(findings: RetrievalFindings) -> Iterator[Section]:
    if findings.differences:
        yield _differences(findings)
    yield from judging_sections(findings)
    if findings.mac_fac is not None:
        yield _mac_fac(findings)
    timed = [one for one in findings.evaluated if len(one.run.timed)]
    if timed:
        yield _times(findings, timed)
    if findings.scored and len(findings.task.queries) <= _MOST_QUERIES:
        yield _queries(findings)
    if findings.scored:
        yield _appendix(findings)


def _appendix(findings: RetrievalFindings) -> Section:
    """All measures, and what differs by those that are not the headline."""
    columns = [
        *findings.best_first[:_MOST_COLUMNS],
        *([findings.judges] if findings.judges else []),
    ]
    rows = []
    for at, measure in enumerate(findings.measures):
        rows.append((measure.name, measure.definition.better, *mean_cells(findings, columns, at)))
    note = (
        "n: the queries where the measure is defined. `quem score --measures NAME` explains each."
    )
    if len(findings.scored) > _MOST_COLUMNS:
        note += f" The first {_MOST_COLUMNS} retrievers; measures.csv has all."
    heads = ("measure", "better", "n", *(one.name for one in columns))
    tables = [_marked(findings, TextTable("All measures", heads, rows, note, frozenset({1})))]
    text = describe_own(findings.measures)
    if findings.judges is not None:
        text.append(
            "The last column compares each judge with the consensus of the others: a retriever "
            "that reaches it agrees with the experts as well as they agree with each other."
        )
    others = [pair for pair in findings.differences if pair.measure != findings.headline]
    shown = [pair for pair in others if np.isfinite(pair.difference)][:_MOST_PAIRS]
    if shown:
        shown.sort(key=lambda pair: pair.measure)
        text.append(
            "The differences by the other measures are exploratory: when many are tested, some are "
            "significant by chance."
        )
        table = _pairs_table(findings, shown, "Differences by the other measures")
        note = "" if len(shown) == len(others) else "differences.csv has all."
        tables.append(replace(table, note=note))
    return Section("appendix", "Appendix: all measures", text, (), tables)


def _differences(findings: RetrievalFindings) -> Section:
    """The differences by the headline."""
    pairs = shown_pairs(findings)
    level = format_percent(1 - findings.settings.level)
    name = findings.measures[findings.headline].name
    all_pairs = [p for p in findings.differences if p.measure == findings.headline]
    text = [
        f"{len(pairs)} of {len(all_pairs)} differences by {name}, the headline, are "
        f"significant at the {level} level. Tests are paired randomization tests over the queries, "
        "Holm-adjusted for the pairs of retrievers."
    ]
    if findings.n_panels:
        text.append(
            "The intervals resample queries and judges; the tests treat the judges' consensus as "
            "fixed."
        )
    shown = sorted(all_pairs, key=lambda pair: (np.isnan(pair.p_holm), pair.p_holm))
    table = _pairs_table(findings, shown[:_MOST_ROWS], "Differences")
    if len(shown) > _MOST_ROWS:
        table = replace(table, note=f"{_MOST_ROWS} of {len(shown)}; differences.csv has all.")
    return Section("differences", "Differences between retrievers", text, ("differences",), [table])


def _pairs_table(
    findings: RetrievalFindings, pairs: list[PairDifference], caption: str
) -> TextTable:
    names = [one.name for one in findings.scored]
    level = format_percent(findings.settings.level)
    rows = [
        (
            f"{names[pair.first]} − {names[pair.second]}",
            findings.measures[pair.measure].name,
            str(pair.n),
            measured(pair.difference, sign=True),
            ends_text(*pair.interval) or "–",
            format_bare_p(pair.p),
            format_bare_p(pair.p_holm),
            winner(findings, pair)[0] if pair.p_holm <= 1 - findings.settings.level else "",
        )
        for pair in pairs
    ]
    columns = (
        "pair",
        "measure",
        "n",
        "difference",
        f"{level} interval",
        "p",
        "adjusted p",
        "better",
    )
    return TextTable(caption, columns, rows, words=frozenset({1, 7}))


def _mac_fac(findings: RetrievalFindings) -> Section:
    mac_fac = findings.mac_fac
    assert mac_fac is not None  # noqa: S101  asked before
    names = [measure.definition.name for measure in mac_fac.pairs[0].measures]
    rows = [
        (
            f"{pair.filter:,}",
            f"{pair.k:,}",
            *(
                cell_text(pair.means, at, fewest_of(findings.n_scorable), count=True)
                for at in range(len(names))
            ),
            time_text(findings.time(pair)),
            seconds_text(pair.mac_seconds),
            share_text(pair.share),
        )
        for pair in mac_fac.pairs
    ]
    columns = ("filter", "k", *names, "time", "first phase", "share of time")
    full = time_text(time_of(mac_fac.full.rounds(), findings.settings.level))
    alone = f" {mac_fac.fac} alone takes {full}." if full != "–" else ""
    text = [
        f"{mac_fac.mac} keeps as many cases as the filter holds, and {mac_fac.fac} chooses k of "
        f"these. They are compared with the k best that {mac_fac.fac} finds in the whole case base."
        f"{alone}"
    ]
    table = _marked(findings, TextTable("MAC/FAC", columns, rows))
    return Section(
        "mac-fac", "MAC/FAC: quality lost and time saved by the filter", text, ("mac-fac",), [table]
    )


def _times(findings: RetrievalFindings, timed: list[Evaluated]) -> Section:
    rows = []
    for one in timed:
        quantiles = np.quantile(one.run.seconds[one.run.timed], [0.5, 0.95, 1.0])
        time = findings.time(one)
        rows.append(
            (
                one.name + (" (ground truth)" if one.is_truth else ""),
                f"{len(one.run.timed):,}",
                seconds_text(time.median),
                ends_of_time(time) or "–",
                *(seconds_text(float(value)) for value in quantiles),
            )
        )
    level = format_percent(findings.settings.level)
    columns = (
        "retriever",
        "queries",
        "median of the rounds",
        f"{level} interval",
        "median query",
        "95% of queries within",
        "longest query",
    )
    note = "For a single query the median of its calls is used. rounds.csv has each round."
    table = TextTable("Retrieval time per query", columns, rows, note)
    text = [f"Times are {rounds_text(findings)}."]
    return Section("times", "Retrieval time", text, ("times",), [table])


def _queries(findings: RetrievalFindings) -> Section:
    at = findings.headline
    columns = list(findings.best_first[:_MOST_COLUMNS])
    rows = [
        (
            query,
            *(
                value_text(float(one.scores.values[row, at]))
                for one in columns
                if one.scores is not None
            ),
        )
        for row, query in enumerate(findings.task.queries.ids)
    ]
    name = findings.measures[at].name
    table = TextTable(
        f"{name} by query",
        ("query", *(one.name for one in columns)),
        rows,
        "scores.csv has all measures, and why some are undefined.",
    )
    return Section("queries", "Query by query", [], (), [table])


def _settings(findings: RetrievalFindings) -> Iterator[tuple[str, str]]:
    for key, value in findings.settings.model_dump(mode="json").items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield key, text or "by default"
    for retriever in findings.study.spec.retrievers:
        if retriever.linear is not None:
            yield f"{retriever.id}: missing values", retriever.linear.missing


_PROCAKE = (
    "Bergmann, R., Grumbach, L., Malburg, L., & Zeyen, C. (2019). ProCAKE: A process-oriented "
    "case-based reasoning framework. ICCBR workshops; and its documentation, Retriever Evaluation."
)

_SMUCKER = (
    "Smucker, M. D., Allan, J., & Carterette, B. (2007). A comparison of statistical significance "
    "tests for information retrieval evaluation. CIKM, 623-632."
)

_HOLM = (
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65-70."
)

_QUEM = (
    "Hayes, C. C., & Parzen, M. I. (1997). QUEM: An achievement test for knowledge-based systems. "
    "IEEE Transactions on Knowledge and Data Engineering, 9(6), 838-847."
)

_MAC_FAC = (
    "Forbus, K. D., Gentner, D., & Law, K. (1995). MAC/FAC: A model of similarity-based retrieval. "
    "Cognitive Science, 19(2), 141-205."
)

_ORDER = "David, H. A., & Nagaraja, H. N. (2003). Order statistics (3rd ed.). Wiley."

_HEOM = (
    "Wilson, D. R., & Martinez, T. R. (1997). Improved heterogeneous distance functions. Journal "
    "of Artificial Intelligence Research, 6, 1-34."
)


def methods_paragraph(findings: RetrievalFindings) -> str:
    """Write the methods as a paragraph."""
    return " ".join(_sentences(findings))


def _sentences(findings: RetrievalFindings) -> Iterator[str]:
    used, task = findings.settings, findings.task
    names = join_words((one.name for one in findings.scored), 8)
    n = f"{len(task.queries):,} quer{'y' if len(task.queries) == 1 else 'ies'}"
    base = (
        f"{n}, each case of the base in turn, left out of it"
        if task.leave_one_out
        else f"{n} to {len(task.cases):,} cases"
    )
    if names:
        yield f"{names} {'was' if len(findings.scored) == 1 else 'were'} evaluated on {base}."
    truth = {
        "similarities": "the similarities of",
        "grades": "the relevance judgments of",
        "experts": "the consensus order, by average rank, of",
    }[findings.truth.kind]
    yield f"Their lists were compared with {truth} {findings.truth.source}."
    yield from judging_methods(findings)
    yield (
        f"Measures were averaged over the queries, with {format_percent(used.level)} percentile "
        "bootstrap "
        f"intervals of {used.bootstrap:,} replicates"
        + (" over queries and judges." if findings.n_panels else ".")
    )
    if any(one.run.lists.tied.any() for one in findings.scored):
        yield {
            "expected": "Scores are means over all orders of tied cases.",
            "trec": "Tied cases were ordered by id, the last first.",
            "given": "Tied cases were kept in the order given.",
        }[used.ties]
    if any(one.n_failed for one in findings.scored):
        yield "Queries for which a retriever failed were scored as empty lists."
    if findings.differences:
        yield (
            "Retrievers were compared by paired randomization tests (Smucker et al., 2007), "
            "with p values adjusted after Holm (1979)."
        )
    if any(one.source in ("linear", "python") for one in findings.evaluated):
        yield (
            f"Retrieval times are {rounds_text(findings)} (David & Nagaraja, 2003), after "
            f"{used.warm_up} call{'' if used.warm_up == 1 else 's'} to warm up."
        )
    if findings.mac_fac is not None:
        yield (
            f"As MAC/FAC (Forbus et al., 1995), {findings.mac_fac.mac} filtered the case base for "
            f"{findings.mac_fac.fac}."
        )
    if any(one.source == "linear" for one in findings.evaluated):
        yield (
            "The linear retriever takes the weighted mean of the attributes' similarities, those "
            "of numbers relative to their range (Wilson & Martinez, 1997)."
        )
    yield f"Analyses were done with quem {__version__}."


def references(findings: RetrievalFindings) -> list[str]:
    """Give what the paragraph cites, and where the measures are from."""
    cited = [
        (_PROCAKE, findings.truth.kind == "similarities"),
        (_QUEM, findings.experts is not None),
    ]
    cited += [(_SMUCKER, bool(findings.differences)), (_HOLM, bool(findings.differences))]
    cited.append((_MAC_FAC, findings.mac_fac is not None))
    cited.append((_ORDER, any(len(one.run.timed) for one in findings.evaluated)))
    cited.append((_HEOM, any(one.source == "linear" for one in findings.evaluated)))
    return [text for text, is_used in cited if is_used]
