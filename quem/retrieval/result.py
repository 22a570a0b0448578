"""The result of an evaluation of retrievers: what it adds to the table of scores."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from quem.errors import StudyWarning, WarningRules
from quem.io.text import shown
from quem.lists.evaluation import computed
from quem.lists.names import describe_own
from quem.report.files import Section, TextTable
from quem.report.rows import Entry, Interval, Row, RowTable, col
from quem.retrieval.times import Time, fewest_rounds, ratio_of, time_of
from quem.retrieval.truth import truth_digest
from quem.scores import present
from quem.scores.result import Scored, ScoredResult, View, certified
from quem.scores.table import Nouns, Origin, ScoreTable
from quem.studyfile.retrieval import RetrievalSettings
from quem.wording import format_count, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd

    from quem.report.result import Drawers
    from quem.retrieval.analysis import Evaluation
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.mac_fac import MacFac
    from quem.retrieval.running import Run

_FEW_QUERIES, _FEW = 10, 3
_MOST_SHOWN = 6  # measures of a table that has its place beside another one
_MOSTLY_JUDGED = 0.9
_JUDGED_DEPTH = 10  # where the headline looks at whole lists
_ROUNDING = 1e-9  # of similarities


class RetrieverRow(Row):
    """What is known of a retriever beside its scores."""

    title: ClassVar[str] = "Retrievers"
    id: str = col("as in the study file")
    name: str = col("for people", "retriever")
    source: Literal["linear", "python", "similarities", "run"] = col("where its lists are from")
    failures: int = col("queries without a list, each scored as an empty list")
    tied: float | None = col("share of positions whose similarity another case of the list has")
    judged: float | None = col(
        "share of the cases that the headline looks at which are judged; empty unless grades are "
        "the ground truth"
    )
    ms: float | None = col(
        "milliseconds per query: the median over the rounds of the mean", "ms/query", 3
    )
    ms_interval: Interval | None = col("of that, between order statistics", "interval", 3)
    speedup: float | None = col(
        "the time of the retriever that is the ground truth, as a multiple of this one's",
        "speedup",
    )


def _retriever_rows(of: Evaluation) -> Iterator[RetrieverRow]:
    level = of.inference.level
    specs = {one.id: one for one in of.study.spec.retrievers}
    for at, name in enumerate(of.scored.systems):
        spec, run = specs[name], of.runs[name]
        time = time_of(run.rounds(), level).times(1000)
        speedup = ratio_of(of.truth_run, run, level).median if of.truth_run else np.nan
        yield RetrieverRow(
            id=name,
            name=spec.name or name,
            source=next(
                key for key in ("linear", "python", "similarities", "run") if getattr(spec, key)
            ),
            failures=len(_failures(run)),
            tied=_tied(run),
            judged=_judged(of, at),
            ms=_known(time.median),
            ms_interval=time.interval,
            speedup=_known(speedup),
        )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _failures(run: Run) -> dict[int, str]:
    """The queries without a list, and why there is none."""
    lists = run.lists
    if lists.failed:
        return {query: why for query, why in lists.failed.items() if why != "was not asked"}
    if len(run.taken):
        return {}
    return dict.fromkeys(np.flatnonzero(lists.sizes == 0).tolist(), "is not in the file")


def _tied(run: Run) -> float | None:
    lists = run.lists
    if not (lists.scored and len(lists.case)):
        return None
    same = (np.diff(lists.similarity) == 0) & (np.diff(lists.query) == 0)
    tied = np.append(same, [False]) | np.append([False], same)
    return float(tied.mean())


def _judged(of: Evaluation, at: int) -> float | None:
    """Of the cases that the headline looks at, or the 10 best."""
    if of.truth.kind != "grades":
        return None
    matched = of.scored.matched[at]
    near = matched.rows.position <= (of.measures[0].depth or _JUDGED_DEPTH)
    return float((matched.found[near] >= 0).mean()) if near.any() else None


class TimeRow(Row):
    """How long a retriever took for a query."""

    retriever: str = col("id")
    query: str = col("id")
    seconds: float = col("median over the rounds")


def _times(findings: Scored) -> Iterator[TimeRow]:
    found: Evaluation = findings.found
    for name, run in found.runs.items():
        for query in run.timed.tolist():
            seconds = float(run.seconds[query])
            yield TimeRow(retriever=name, query=run.lists.queries[query], seconds=seconds)


class FailureRow(Row):
    """A query for which a retriever has no list."""

    retriever: str = col("id")
    query: str = col("id")
    reason: str = col("why it has no list")


def _failure_rows(findings: Scored) -> Iterator[FailureRow]:
    found: Evaluation = findings.found
    for name in found.scored.systems:
        for query, why in _failures(found.runs[name]).items():
            named = found.runs[name].lists.queries[query]
            yield FailureRow(retriever=name, query=named, reason=why)


class FilterRow(Row):
    """What one size of the filter and one k give, by one measure."""

    filter: int = col("cases that pass")
    k: int = col("length of the list")
    measure: str = col("as it is spelled")
    mean: float | None = col("against the second phase's list of all cases")
    interval: Interval | None = col("percentile bootstrap over queries")
    n: int = col("queries where it is defined")
    seconds: float | None = col("of both phases, per query")
    mac_seconds: float | None = col("of the filter, per query")
    share: float | None = col("time of both phases over that of the second alone")
    share_interval: Interval | None = col("of that, between order statistics")


def _filter_rows(findings: Scored) -> Iterator[FilterRow]:
    mac_fac: MacFac | None = findings.found.mac_fac
    level = findings.table.inference.level
    for pair in mac_fac.pairs if mac_fac else ():
        for at, measure in enumerate(pair.measures):
            low, high = float(pair.means.low[at]), float(pair.means.high[at])
            yield FilterRow(
                filter=pair.filter,
                k=pair.k,
                measure=measure.name,
                mean=_known(pair.means.mean[at]),
                interval=None if np.isnan(low) else (low, high),
                n=int(pair.means.n[at]),
                seconds=_known(time_of(pair.run.rounds(), level).median),
                mac_seconds=_known(time_of(pair.run.rounds(parts=slice(1)), level).median),
                share=_known(pair.share.median),
                share_interval=pair.share.interval,
            )


class TruthRow(Row):
    """What lists are compared with."""

    kind: Literal["similarities", "grades", "ranks"] = col("what it is")
    source: str = col("where it is from")
    judges: tuple[str, ...] = col("whose mean it is; empty unless judges are known")
    ms: float | None = col("milliseconds per query of the retriever that it is")
    ms_interval: Interval | None = col("of that, between order statistics")


def _truth_row(findings: Scored) -> TruthRow:
    found: Evaluation = findings.found
    time = _truth_time(found)
    truth = found.truth
    return TruthRow(
        kind=truth.kind,
        source=truth.source,
        judges=truth.columns.judges,
        ms=_known(time.median),
        ms_interval=time.interval,
    )


def _truth_time(of: Evaluation) -> Time:
    rounds = of.truth_run.rounds() if of.truth_run else np.empty(0)
    return time_of(rounds, of.inference.level).times(1000)


# Sections


def _sections(of: Evaluation, table: ScoreTable) -> Iterator[Section]:
    if of.settings.k:
        yield _with_k(of, table)
    if of.mac_fac:
        yield _mac_fac(of, of.mac_fac)
    if timed := max((len(run.timed) for run in of.runs.values()), default=0):
        yield _time(of, timed)


def _with_k(of: Evaluation, table: ScoreTable) -> Section:
    """Each measure in a line, without k and with it, as in ProCAKE's documentation."""
    rows = []
    for _, group in groupby(enumerate(table.measures), lambda one: _without_k(one[1])):
        layers = {dict(measure.values).get("k"): at for at, measure in group}
        name = (
            table.columns[layers[None]] if None in layers else table.columns[min(layers.values())]
        )
        cells = [
            measured(table.means.mean[system, layers[k]], 4) if k in layers else "–"
            for system in table.order
            for k in (None, *of.settings.k)
        ]
        rows.append((name, *cells))
    heads = [
        f"{table.labels[system]}{f' (k = {k})' if k else ''}"
        for system in table.order
        for k in (None, *of.settings.k)
    ]
    note = "– where a measure is undefined, or knows no k."
    return Section(
        "with-k",
        "Without k and with it",
        tables=[TextTable("Means without k and with it", ("measure", *heads), rows, note)],
    )


def _without_k(measure: Any) -> tuple[object, ...]:
    values = {key: value for key, value in measure.values if key != "k"}
    return (measure.definition.name, *sorted(values.items()))


def _mac_fac(of: Evaluation, mac_fac: MacFac) -> Section:
    level = of.inference.level
    rows = [
        (
            f"{pair.filter:,}",
            f"{pair.k:,}",
            *(measured(mean) for mean in pair.means.mean.tolist()),
            measured(1000 * time_of(pair.run.rounds(), level).median),
            _percent(pair.share),
        )
        for pair in mac_fac.pairs
    ]
    names = (one.definition.name for one in mac_fac.pairs[0].measures)
    heads = ("filter", "k", *(f"{name}@k" for name in names), "ms/query", f"of {mac_fac.fac} alone")
    note = f"Lists are compared with the k best that {mac_fac.fac} finds among all cases."
    caption = f"MAC/FAC: {mac_fac.mac}, then {mac_fac.fac}"
    table = TextTable(caption, heads, rows, note)
    return Section("mac-fac", "MAC/FAC", figures=("mac-fac",), tables=[table])


def _percent(share: Time) -> str:
    """A share of time with its interval: "31% (30 to 33)"."""
    if not np.isfinite(share.median):
        return "–"
    low, high = share.interval or (None, None)
    ends = f" ({100 * low:.0f} to {100 * high:.0f})" if low is not None else ""
    return f"{100 * share.median:.0f}%{ends}"


def _time(of: Evaluation, timed: int) -> Section:
    level = of.inference.level
    names = {one.id: one.name or one.id for one in of.study.spec.retrievers}
    rows = []
    for name, run in of.runs.items():
        time = time_of(run.rounds(), level).times(1000)
        ends = " to ".join(measured(end) for end in time.interval or ())
        if len(run.timed):
            rows.append((names[name], measured(time.median), ends or "–", f"{len(run.timed):,}"))
    heads = ("retriever", "ms/query", f"{format_percent(level)} interval", "queries")
    table = TextTable("Time per query", heads, rows, f"{_rounds(of, timed)}.")
    return Section("time", "Time", figures=("times",), tables=[table])


def _rounds(of: Evaluation, timed: int) -> str:
    repeats, level = of.settings.repeats, of.inference.level
    text = (
        f"Medians over {format_count(repeats, 'round')} of the mean time of "
        f"{format_count(timed, 'query')}, all retrievers in turn"
    )
    if repeats < (fewest := fewest_rounds(level)):
        return f"{text}; an interval at {format_percent(level)} needs {fewest} rounds (repeats)"
    return f"{text}, with intervals between order statistics"


# Warnings

_BEFORE: WarningRules[RetrievalStudy] = WarningRules()
_RESULTS: WarningRules[Evaluation, ScoreTable] = WarningRules()


def before_warnings(study: RetrievalStudy) -> Iterator[StudyWarning]:
    """What is doubtful before anything is run."""
    return _BEFORE.find(study)


def _named(queries: Iterable[str]) -> str:
    return join_words(map(shown, queries), _FEW)


def _of_all(n: int, total: int) -> str:
    if n == total:
        return "any query" if total > 1 else "the only query"
    return f"{n:,} of {format_count(total, 'query')}"


@_BEFORE.add("few-queries")
def _few_queries(study: RetrievalStudy) -> Iterator[str]:
    n = len(study.data.task.queries)
    if n == 1:
        yield (
            "only one query has been evaluated, so there are no intervals; results do not "
            "generalize to other queries"
        )
    elif n < _FEW_QUERIES:
        yield (
            f"{n} queries are few: the bootstrap intervals are too narrow with fewer than "
            f"{_FEW_QUERIES}, and the tests have little power; use more queries"
        )


@_RESULTS.add("no-ground-truth")
def _no_ground_truth(of: Evaluation, _: ScoreTable) -> Iterator[str]:
    queries, scored = of.study.data.task.queries.ids, {*of.scored.queries}
    if lacking := [name for name in queries if name not in scored]:
        yield (
            f"no case is relevant, or similar, for {_of_all(len(lacking), len(queries))} "
            f"({_named(lacking)}); they are left out"
        )


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
    for name, run in of.runs.items():
        yield from _failed(run, f"the retriever {shown(name)}")
    for pair in of.mac_fac.pairs if of.mac_fac else ():
        yield from _failed(pair.run, f"MAC/FAC with a filter of {pair.filter:,} and k = {pair.k:,}")


def _failed(run: Run, what: str) -> Iterator[str]:
    """Name the queries for which there is no list, by reason."""
    # A file that lacks queries was told when it was read.
    failed = _failures(run) if run.lists.failed else {}
    by_reason: dict[str, list[str]] = {}
    for query, why in failed.items():
        by_reason.setdefault(why, []).append(run.lists.queries[query])
    if failed:
        reasons = [f"for {_named(names)} it {why}" for why, names in [*by_reason.items()][:_FEW]]
        more = f"; and {len(by_reason) - _FEW} other reasons" if len(by_reason) > _FEW else ""
        yield (
            f"{what} gave no list for {_of_all(len(failed), len(run.lists.queries))}, which counts "
            f"as empty: {'; '.join(reasons)}{more}"
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
    """Measures without a score where there is a list and a ground truth."""
    sizes = np.array([matched.rows.sizes for matched in of.scored.matched])
    undefined = np.isnan(table.values) & (sizes > 0)[:, :, np.newaxis]
    said = []
    for at in np.flatnonzero(undefined.any(axis=(0, 1))).tolist():
        system, query = np.argwhere(undefined[:, :, at])[0].tolist()
        reasons = computed(table.measures[at], of.scored.lists(system))[1]
        why = next((f" ({reason})" for where, reason in reasons if where[query]), "")
        n = int(undefined[:, :, at].any(axis=0).sum())
        said.append(f"{table.columns[at]} for {_of_all(n, len(table.queries))}{why}")
    if said:
        yield f"undefined for some retriever: {join_words(said, _FEW)}; means exclude these"


@_RESULTS.add("few-defined")
def _few_defined(_: Evaluation, table: ScoreTable) -> Iterator[str]:
    few = [
        f"{table.columns[at]} of {shown(table.systems[system])} ({table.means.n[system, at]:,})"
        for system, at in np.argwhere(~table.ranked & (table.means.n > 0)).tolist()
    ]
    if few:
        yield (
            f"means over fewer than half of the {len(table.queries):,} queries are not ranked and "
            f"not tested: {join_words(few, _FEW)}"
        )


@_RESULTS.add("unjudged-cases", remedy="judge the others")
def _unjudged_cases(of: Evaluation, table: ScoreTable) -> Iterator[str]:
    shares = [(name, _judged(of, at)) for at, name in enumerate(table.systems)]
    few = [
        f"{format_percent(round(share, 3))} of {shown(name)}"
        for name, share in shares
        if share is not None and share < _MOSTLY_JUDGED
    ]
    if few:
        depth = of.measures[0].depth or _JUDGED_DEPTH
        yield (
            f"of the cases among the {depth} best only {join_words(few, _FEW)} are judged; the "
            "others count as not relevant"
        )


# The methods paragraph

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
    if any(_tied(of.runs[name]) for name in findings.table.systems):
        yield _TIES[of.settings.ties]
    if timed := max((len(run.timed) for run in of.runs.values()), default=0):
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
        _ORDER: any(len(run.timed) for run in of.runs.values()),
        _HEOM: any(one.linear is not None for one in of.study.spec.retrievers),
    }
    yield from (text for text, is_used in cited.items() if is_used)


def _basis(findings: Scored) -> str:
    return f"{present.note(findings.table)}; ground truth: {findings.found.truth.source}"


def _shown(table: ScoreTable) -> ScoreTable:
    """The headline alone where all measures are in lines, without k and with it."""
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
        RowTable("times", "one row per retriever and query that was timed", TimeRow, _times),
        RowTable("failures", "one row per query without a list", FailureRow, _failure_rows),
        RowTable("mac-fac", "one row per filter, k, and measure", FilterRow, _filter_rows),
    ),
    entries=(
        Entry(
            "ground_truth",
            "what lists are compared with",
            TruthRow,
            _truth_row,
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
    """How good the retrievers of a study are, and how fast."""

    kind = "retrieval"
    view = VIEW

    @property
    def times(self) -> pd.DataFrame:
        """One row per retriever that ran and query: the median time in seconds."""
        return self.table("times")


def result_of(found: Evaluation) -> RetrievalResult:
    """The scores of an evaluation, and what is said of them."""
    from dataclasses import replace

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
            truth_digest(scored.judgments, depth) if depth else "",
            {"ties": found.settings.ties},
        ),
        details=tuple(_retriever_rows(found)),
        evidence=scored,
    )
    warnings = (
        *found.warnings,
        *before_warnings(found.study),
        *_RESULTS.find(found, table),
    )
    table = replace(table, sections=tuple(_sections(found, table)), warnings=warnings)
    certificates = certified(table, found.settings.claims)
    return RetrievalResult(Scored(table, found.study, found.settings, found, certificates))
