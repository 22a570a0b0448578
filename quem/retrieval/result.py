"""The result of an evaluation of retrievers: additions to the table of scores."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, cast

import numpy as np

from quem.errors import StudyWarning, WarningRules
from quem.io.text import shown
from quem.lists.evaluation import computed
from quem.lists.names import describe_own
from quem.report.files import Section, TextTable
from quem.report.rows import Entry, RowTable
from quem.retrieval.rows import (
    JUDGED_DEPTH,
    FailureRow,
    FilterRow,
    RetrieverRow,
    TimeRow,
    TruthRow,
    failure_rows,
    failures_of,
    filter_rows,
    judged_share,
    retriever_rows,
    tied_share,
    time_rows,
    truth_row,
)
from quem.retrieval.running import Time, fewest_rounds
from quem.scores import present
from quem.scores.result import Scored, ScoredResult, View, certified
from quem.scores.scoring import digest_of
from quem.scores.table import Nouns, Origin, ScoreTable
from quem.studyfile.retrieval import RetrievalSettings
from quem.wording import format_count, format_number, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from quem.lists import Measure
    from quem.report.result import Drawers
    from quem.retrieval.analysis import Evaluation
    from quem.retrieval.mac_fac import MacFac

_MOST_SHOWN = 6  # measures of a secondary table
_FEW = 3
_MOSTLY_JUDGED = 0.9
_ROUNDING = 1e-9  # of similarities
_RESULTS: WarningRules[Evaluation, ScoreTable] = WarningRules()


# Sections


def _sections(of: Evaluation, table: ScoreTable) -> Iterator[Section]:
    if of.settings.k:
        yield _with_k(of, table)
    if of.mac_fac:
        yield _mac_fac(of, of.mac_fac)
    if timed := _timed(of):
        yield _time(of, timed)


def _with_k(of: Evaluation, table: ScoreTable) -> Section:
    """One line per measure, without k and with it, as in ProCAKE's documentation."""
    columns = [(system, k) for system in table.order for k in (None, *of.settings.k)]
    rows = []
    measures = enumerate(cast("Sequence[Measure]", table.measures))
    for _, group in groupby(measures, lambda one: _without_k(one[1])):
        at = {dict(measure.values).get("k"): at for at, measure in group}
        means = (
            format_number(table.means.mean[system, at[k]], 4) if k in at else "–"
            for system, k in columns
        )
        rows.append((table.columns[min(at.values())], *means))
    heads = [f"{table.labels[system]}{f' (k = {k})' if k else ''}" for system, k in columns]
    note = "– where a measure is undefined, or knows no k."
    one = TextTable("Means without k and with it", ("measure", *heads), rows, note)
    return Section("with-k", "Without k and with it", tables=[one])


def _without_k(measure: Measure) -> tuple[object, ...]:
    values = {key: value for key, value in measure.values if key != "k"}
    return (measure.definition.name, *sorted(values.items()))


def _mac_fac(of: Evaluation, mac_fac: MacFac) -> Section:
    rows = [
        (
            f"{pair.filter:,}",
            f"{pair.k:,}",
            *(measured(mean) for mean in pair.means.mean.tolist()),
            measured(pair.run.time(of.inference.level).in_ms.median),
            _percent(pair.share),
        )
        for pair in mac_fac.pairs
    ]
    names = (one.definition.name for one in mac_fac.pairs[0].measures)
    heads = ("filter", "k", *(f"{name}@k" for name in names), "ms/query", f"of {mac_fac.fac} alone")
    note = f"Lists are compared with the k best that {mac_fac.fac} finds among all cases."
    table = TextTable(f"MAC/FAC: {mac_fac.mac}, then {mac_fac.fac}", heads, rows, note)
    return Section("mac-fac", "MAC/FAC", figures=("mac-fac",), tables=[table])


def _percent(share: Time) -> str:
    """A share of time with its interval: "31% (30 to 33)"."""
    if not np.isfinite(share.median):
        return "–"
    ends = f" ({100 * share.low:.0f} to {100 * share.high:.0f})" if share.interval else ""
    return f"{100 * share.median:.0f}%{ends}"


def _time(of: Evaluation, timed: int) -> Section:
    level = of.inference.level
    rows = []
    for one in of.study.spec.retrievers:
        run = of.runs[one.id]
        time = run.time(level).in_ms
        ends = " to ".join(measured(end) for end in time.interval or ()) or "–"
        if len(run.timed):
            rows.append((one.name or one.id, measured(time.median), ends, f"{len(run.timed):,}"))
    heads = ("retriever", "ms/query", f"{format_percent(level)} interval", "queries")
    table = TextTable("Time per query", heads, rows, f"{_rounds(of, timed)}.")
    return Section("time", "Time", figures=("times",), tables=[table])


def _timed(of: Evaluation) -> int:
    """The number of timed queries."""
    return max(len(run.timed) for run in of.runs.values())


def _rounds(of: Evaluation, timed: int) -> str:
    repeats, level = of.settings.repeats, of.inference.level
    text = (
        f"Medians over {format_count(repeats, 'round')} of the mean time of "
        f"{format_count(timed, 'query')}, all retrievers in turn"
    )
    if repeats < (fewest := fewest_rounds(level)):
        return f"{text}; an interval at {format_percent(level)} needs {fewest} rounds (repeats)"
    return f"{text}, with intervals between order statistics"


# Methods paragraph

_PROCAKE = (
    "Bergmann, R., Grumbach, L., Malburg, L. and Zeyen, C. (2019). ProCAKE: A process-oriented "
    "case-based reasoning framework. ICCBR workshops; its documentation, “Retriever Evaluation”."
)


_QUEM = (
    "Hayes, C. C. and Parzen, M. I. (1997). QUEM: An achievement test for knowledge-based "
    "systems. IEEE Transactions on Knowledge and Data Engineering, 9(6), 838–847."
)


_MAC_FAC = (
    "Forbus, K. D., Gentner, D. and Law, K. (1995). MAC/FAC: A model of similarity-based "
    "retrieval. Cognitive Science, 19(2), 141–205."
)


_ORDER = "David, H. A. and Nagaraja, H. N. (2003). Order statistics (3rd ed.). Wiley."


_HEOM = (
    "Wilson, D. R. and Martinez, T. R. (1997). Improved heterogeneous distance functions. Journal "
    "of Artificial Intelligence Research, 6, 1–34."
)


_TRUTHS = {
    "similarities": "the similarities of",
    "grades": "the relevance judgments of",
    "ranks": "the average rank, by",
}


_TIES = {
    "expected": "Scores are means over all orders of tied cases.",
    "trec": "Tied cases were ordered as by trec_eval.",
    "given": "Tied cases were kept in the order given.",
}


def _methods(findings: Scored) -> Iterator[str]:
    of: Evaluation = findings.found
    task = of.study.data.task
    names = join_words(findings.table.labels, 8)
    n = format_count(len(task.queries), "query")
    base = (
        f"{n}, each case of the base in turn, left out of it"
        if task.leave_one_out
        else f"{n} to {len(task.cases):,} cases"
    )
    yield f"{names} {'was' if len(findings.table.systems) == 1 else 'were'} evaluated on {base}."
    yield f"Lists were compared with {_TRUTHS[of.truth.kind]} {of.truth.source}."
    if len(of.truth.columns.judges) > 1:
        yield "The truth is the mean over the judges of each case."
    if any(tied_share(of.runs[name]) for name in findings.table.systems):
        yield _TIES[of.settings.ties]
    if timed := _timed(of):
        warm = format_count(of.settings.warm_up, "call")
        yield f"Times: {_rounds(of, timed)[0].lower()}{_rounds(of, timed)[1:]}, after {warm}."
    if of.mac_fac:
        yield f"As MAC/FAC, {of.mac_fac.mac} filtered the case base for {of.mac_fac.fac}."
    if any(one.linear is not None for one in of.study.spec.retrievers):
        yield (
            "The linear retriever takes the weighted mean of the attributes' similarities, those "
            "of numbers relative to their range."
        )
    yield from describe_own(of.measures)


def _references(findings: Scored) -> Iterator[str]:
    of: Evaluation = findings.found
    cited = {
        _PROCAKE: of.truth.kind == "similarities",
        _QUEM: of.truth.kind == "ranks",
        _MAC_FAC: of.mac_fac is not None,
        _ORDER: _timed(of) > 0,
        _HEOM: any(one.linear is not None for one in of.study.spec.retrievers),
    }
    yield from (text for text, is_used in cited.items() if is_used)


def _basis(findings: Scored) -> str:
    return f"{present.note(findings.table)}; ground truth: {findings.found.truth.source}"


def _shown(table: ScoreTable) -> ScoreTable:
    """The headline alone if all measures are in lines, without k and with it."""
    in_lines = any(section.id == "with-k" for section in table.sections)
    if not in_lines or len(table.measures) <= _MOST_SHOWN:
        return table
    return table.of(range(len(table.systems)), [0])


def _figures() -> Drawers[Scored]:
    from quem.retrieval.figures import FIGURES

    return FIGURES


VIEW = View(
    kind="retrieval",
    kicker="Evaluation of retrievers",
    settings=RetrievalSettings,
    detail=RetrieverRow,
    tables=(
        RowTable("times", "one row per retriever and query that was timed", TimeRow, time_rows),
        RowTable("failures", "one row per query without a list", FailureRow, failure_rows),
        RowTable("mac-fac", "one row per filter, k, and measure", FilterRow, filter_rows),
    ),
    entries=(
        Entry(
            "ground_truth",
            "ground truth of the lists",
            TruthRow,
            truth_row,
            many=False,
            always=True,
        ),
    ),
    figures=_figures,
    captions={
        "times": "The time of each query, the median of its calls, and the median of all queries "
        "(the bar).",
        "mac-fac": "Quality lost and time saved by a filter of that many cases; 1 (dashed) is the "
        "second phase alone.",
    },
    in_terminal=frozenset({"with-k", "mac-fac"}),
    shown=_shown,
    basis=_basis,
    methods=_methods,
    references=_references,
)


class RetrievalResult(ScoredResult):
    """The quality and speed of a study's retrievers."""

    kind = "retrieval"
    view = VIEW

    @property
    def times(self) -> pd.DataFrame:
        """One row per retriever that ran and query: the median time in seconds."""
        return self.table("times")


def result_of(found: Evaluation) -> RetrievalResult:
    """The scores of an evaluation with certificates."""
    table = table_of(found)
    certificates = certified(table, found.settings.claims)
    return RetrievalResult(Scored(table, found.study, found.settings, found, certificates))


def table_of(found: Evaluation) -> ScoreTable:
    """The scores of an evaluation with its sections."""
    scored, spec = found.scored, found.study.spec
    names = {one.id: one.name or one.id for one in spec.retrievers}
    depths = [one.depth for one in found.measures]
    depth = None if None in depths or not found.truth.computed else max(filter(None, depths))
    table = ScoreTable(
        scored.systems,
        tuple(scored.queries),
        found.measures,
        scored.values,
        found.inference,
        Nouns("retriever", "query"),
        tuple(names[name] for name in scored.systems),
        origin=Origin(
            "retrieval",
            spec.title,
            found.study.name,
            digest_of(scored.judgments, depth) if depth else "",
            {"ties": found.settings.ties},
        ),
        details=tuple(retriever_rows(found)),
        evidence=scored,
    )
    left_out = (one for one in scored.warnings if one.code == "no-relevant-case")
    warnings = (*found.warnings, *left_out, *find_warnings(found, table))
    return replace(table, sections=tuple(_sections(found, table)), warnings=warnings)


def find_warnings(of: Evaluation, table: ScoreTable) -> Iterator[StudyWarning]:
    """The warnings about lists and scores."""
    return _RESULTS.find(of, table)


def _named(queries: Iterable[str]) -> str:
    return join_words(map(shown, queries), _FEW)


def _of_all(n: int, total: int) -> str:
    if n == total:
        return "any query" if total > 1 else "the only query"
    return f"{n:,} of {format_count(total, 'query')}"


@_RESULTS.add("similarity-range")
def _similarity_range(of: Evaluation, _: ScoreTable) -> Iterator[str]:
    values = of.truth.columns.value
    if of.truth.kind != "similarities" or not len(values):
        return
    if values.min() < -_ROUNDING or values.max() > 1 + _ROUNDING:
        yield (
            f"similarities of the ground truth range from {values.min():g} to {values.max():g}; "
            "quality_mueller, MAE, and MSE assume similarities from 0 to 1"
        )


@_RESULTS.add("retriever-failed")
def _retriever_failed(of: Evaluation, _: ScoreTable) -> Iterator[str]:
    """The queries without a list, by reason."""
    runs = {f"the retriever {shown(name)}": run for name, run in of.runs.items()}
    for pair in of.mac_fac.pairs if of.mac_fac else ():
        runs[f"MAC/FAC with a filter of {pair.filter:,} and k = {pair.k:,}"] = pair.run
    for what, run in runs.items():
        # Missing queries of a file were reported when it was read.
        failed = failures_of(run) if run.lists.failed else {}
        by_reason: dict[str, list[str]] = {}
        for query, why in failed.items():
            by_reason.setdefault(why, []).append(run.lists.queries[query])
        reasons = [f"for {_named(names)} it {why}" for why, names in by_reason.items()]
        if failed:
            yield (
                f"{what} gave no list for {_of_all(len(failed), len(run.lists.queries))}, which "
                f"counts as empty: {join_words(reasons, _FEW)}"
            )


@_RESULTS.add("unstable-retriever")
def _unstable_retriever(of: Evaluation, _: ScoreTable) -> Iterator[str]:
    for name, run in of.runs.items():
        if run.unstable:
            queries = [run.lists.queries[query] for query in run.unstable]
            yield (
                f"the retriever {shown(name)} returned different lists when called again, for "
                f"{_of_all(len(queries), len(run.lists.queries))} ({_named(queries)}); the first "
                "is used"
            )


@_RESULTS.add("undefined-scores")
def _undefined_scores(of: Evaluation, table: ScoreTable) -> Iterator[str]:
    """Measures without a score despite a list and a ground truth."""
    sizes = np.array([matched.rows.sizes for matched in of.scored.matched])
    undefined = np.isnan(table.values) & (sizes > 0)[:, :, np.newaxis]
    said = []
    for at in np.flatnonzero(undefined.any(axis=(0, 1))).tolist():
        system, query = np.argwhere(undefined[:, :, at])[0].tolist()
        reasons = computed(of.scored.measures[at], of.scored.lists(system))[1]
        why = next((f" ({reason})" for where, reason in reasons if where[query]), "")
        n = int(undefined[:, :, at].any(axis=0).sum())
        said.append(f"{table.columns[at]} for {_of_all(n, len(table.queries))}{why}")
    if said:
        yield f"undefined for some retriever: {join_words(said, _FEW)}; means exclude these"


@_RESULTS.add("unjudged-cases", remedy="judge the others")
def _unjudged_cases(of: Evaluation, table: ScoreTable) -> Iterator[str]:
    few = [
        f"{format_percent(round(share, 3))} of {shown(name)}"
        for at, name in enumerate(table.systems)
        if (share := judged_share(of, at)) is not None and share < _MOSTLY_JUDGED
    ]
    if few:
        depth = of.measures[0].depth or JUDGED_DEPTH
        yield (
            f"of the cases among the {depth} best only {join_words(few, _FEW)} are judged; the "
            "others count as not relevant"
        )
