"""Every value of the result of a relevance study: analysis.json and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.report.columns import (
    COUNT,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    STUDY,
    TEXT,
    WARNINGS,
    Column,
    Columns,
    Table,
    choice,
    each,
    head,
    null_or,
    of,
    settings,
)
from quem.studyfile.relevance import RelevanceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.relevance.agreement import InCommon
    from quem.relevance.result import JudgeFindings, RelevanceFindings

_MAYBE = null_or(NUMBER)


class Candidate(NamedTuple):
    """A candidate, and what was made of its judgments."""

    query: str
    case: str
    n: int
    value: float
    lowest: float
    highest: float


def candidates(findings: RelevanceFindings) -> Iterator[Candidate]:
    """Give each candidate with its consensus."""
    judgments = findings.judgments
    for at, (query, case) in enumerate(judgments.pairs):
        said = judgments.first[:, at]
        said = said[~np.isnan(said)]
        ends = (float(said.min()), float(said.max())) if len(said) else (np.nan, np.nan)
        yield Candidate(query, case, len(said), float(findings.consensus[at]), *ends)


class Query(NamedTuple):
    """A query, and how far judges agree on its candidates."""

    query: str
    n_candidates: int
    n_judged: int
    n_judgments: int
    n_relevant: int
    alpha: float


def queries(findings: RelevanceFindings) -> Iterator[Query]:
    """Count what was judged for each query."""
    judgments = findings.judgments
    for at, name in enumerate(judgments.queries):
        own = judgments.query == at
        counts = judgments.counts[own]
        relevant = int((findings.consensus[own] >= 1).sum()) if findings.grades else 0
        alpha = float(findings.alpha.by_query[at])
        yield Query(
            name, int(own.sum()), int((counts > 0).sum()), int(counts.sum()), relevant, alpha
        )


_CANDIDATES: Columns[Candidate, RelevanceFindings] = Columns(
    Column("query", NAME, "id"),
    Column("case", NAME, "id"),
    Column("n_judges", COUNT, "judges who judged it", of="n"),
    Column(
        "consensus",
        _MAYBE,
        "its grade by `settings.consensus`; where judges ranked, its average rank, 1 for the worst",
        of="value",
    ),
    Column("lowest", _MAYBE, "lowest grade or rank of a judge"),
    Column("highest", _MAYBE, "highest grade or rank of a judge"),
)
_QUERIES: Columns[Query, RelevanceFindings] = Columns(
    Column("query", NAME, "id"),
    Column("n_candidates", COUNT, "candidates"),
    Column("n_judged", COUNT, "candidates that somebody judged"),
    Column("n_judgments", COUNT, "judgments"),
    Column("n_relevant", COUNT, "candidates with a consensus of 1 or more; 0 where judges ranked"),
    Column("alpha", _MAYBE, "Krippendorff's alpha, ordinal"),
)


def _repeated(name: str) -> Any:  # noqa: ANN401  a function of a row and the findings
    return lambda row, _: getattr(row.repeated, name)


_JUDGES: Columns[JudgeFindings, RelevanceFindings] = Columns(
    Column("judge", NAME, "id"),
    Column("n_queries", COUNT, "queries with a judgment"),
    Column("n_judged", COUNT, "candidates that they judged"),
    Column("n_cannot", COUNT, "candidates that they could not judge"),
    Column("mean", _MAYBE, "mean of their grades or ranks"),
    Column("n_repeated", COUNT, "candidates that they judged twice", of=_repeated("n")),
    Column(
        "same_again", null_or(SHARE), "share of these with the same judgment", of=_repeated("same")
    ),
    Column(
        "kappa_again",
        _MAYBE,
        "weighted kappa of both judgments of these",
        of=_repeated("kappa"),
    ),
)


class _Pair(NamedTuple):
    """Two judges."""

    first: str
    second: str
    common: InCommon


def _pairs(findings: RelevanceFindings) -> Iterator[_Pair]:
    judges = findings.judgments.judges
    yield from (_Pair(judges[j], judges[k], one) for (j, k), one in findings.pairs.items())


_PAIRS: Columns[_Pair, RelevanceFindings] = Columns(
    Column("first", NAME, "id of a judge"),
    Column("second", NAME, "id of another"),
    Column("n", COUNT, "candidates that both judged", of="common.n"),
    Column("same", null_or(SHARE), "share of these with the same judgment", of="common.same"),
    Column("weighted_kappa", _MAYBE, "Cohen's kappa with quadratic weights", of="common.kappa"),
)


class _Used(NamedTuple):
    """How often a judge gave a grade."""

    judge: str
    grade: int
    label: str
    n: int


def _used(findings: RelevanceFindings) -> Iterator[_Used]:
    judgments = findings.judgments
    for at, judge in enumerate(judgments.judges):
        for grade, label in enumerate(findings.grades):
            yield _Used(judge, grade, label, int((judgments.first[at] == grade).sum()))


_GRADES: Columns[_Used, RelevanceFindings] = Columns(
    Column("judge", NAME, "id"),
    Column("grade", COUNT, "its number"),
    Column("label", TEXT, "what it is called"),
    Column("n", COUNT, "candidates that the judge gave it"),
)

DOCUMENT: Columns[RelevanceFindings, RelevanceFindings] = Columns(
    *head("relevance"),
    Column("study", of(STUDY), "the study", of="study.spec"),
    settings(RelevanceSettings),
    WARNINGS,
    Column(
        "scale",
        choice("grades", "ranks"),
        "what judges gave",
        of=lambda f, _: "grades" if f.grades else "ranks",
    ),
    Column("labels", each(NAME), "of the grades 0, 1, 2, …; empty for ranks", of="grades"),
    Column("n_queries", COUNT, "queries", of=lambda f, _: len(f.judgments.queries)),
    Column("n_candidates", COUNT, "candidates", of=lambda f, _: len(f.judgments.pairs)),
    Column("n_judgments", COUNT, "judgments", of=lambda f, _: int(f.judgments.counts.sum())),
    Column("n_before", COUNT, "judgments from before", of=lambda f, _: len(f.study.judged)),
    Column("alpha", _MAYBE, "Krippendorff's alpha, ordinal, over all queries", of="alpha.overall"),
    Column(
        "alpha_interval", OPEN_INTERVAL, "of that, by bootstrap over queries", of="alpha.interval"
    ),
    Column("judges", each(_JUDGES, 1), "one entry per judge"),
    Column("pairs", each(_PAIRS), "one entry per two judges", of=lambda f, _: _pairs(f)),
    Column("grades", each(_GRADES), "how often each grade was given", of=lambda f, _: _used(f)),
    Column("queries", each(_QUERIES, 1), "one entry per query", of=lambda f, _: queries(f)),
    Column("consensus", each(_CANDIDATES, 1), "one per candidate", of=lambda f, _: candidates(f)),
)

TABLES: tuple[Table[Any, RelevanceFindings], ...] = (
    Table("consensus", "one row per candidate", _CANDIDATES, candidates),
    Table("judges", "one row per judge", _JUDGES, lambda f: f.judges),
    Table("pairs", "one row per two judges", _PAIRS, _pairs),
    Table("grades", "one row per judge and grade", _GRADES, _used),
    Table("queries", "one row per query", _QUERIES, queries),
)
