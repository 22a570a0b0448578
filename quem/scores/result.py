"""The result of a scored study, and of scores alone: additions to the table, and their display."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import BaseModel

from quem.errors import StudyWarning, WarningRules
from quem.report.files import Section, TextTable
from quem.report.result import BaseResult, Content, Drawers, Presentation
from quem.report.rows import Entry, Row, RowDocument, RowTable
from quem.scores import present
from quem.scores.rows import (
    CaseRow,
    ClaimRow,
    Mean,
    OriginRow,
    PairRow,
    claim_rows,
    mean_rows,
    origin_row,
    pair_rows,
)
from quem.wording import format_bare_p, format_count, format_percent, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from quem.scores.certificate import Certificate
    from quem.scores.table import ScoreTable

_FEW = 25
_RULES: WarningRules[ScoreTable] = WarningRules()


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of a study, with further findings of its kind."""

    table: ScoreTable
    study: Any  # as loaded: spec, name, files
    settings: BaseModel  # as used
    found: Any = None  # the kind's findings
    certificates: tuple[Certificate, ...] = ()

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """The warnings about the result."""
        return find_warnings(self.table)


def certified(table: ScoreTable, claims: Sequence[str]) -> tuple[Certificate, ...]:
    """The certificates of claims; by default that of the best system over the next."""
    from quem.scores.certificate import certify

    read = [table.claim(text) for text in claims]
    if not read and table.inference.samples and table.ranked[:, 0].sum() > 1:
        from quem.scores.table import Claim

        read = [Claim(*table.order[:2])]
    return tuple(certify(table, claim) for claim in read)


def _no_lines(_: Scored) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class View:
    """A kind's additions to the report of its scores."""

    kind: str
    kicker: str  # above the title of the report
    settings: type[BaseModel]
    detail: type[Row] | None = None  # facts besides the scores, one row per system
    tables: tuple[RowTable, ...] = ()  # further CSV files, and keys of analysis.json
    figures: Callable[[], Drawers[Scored]] = dict
    captions: Mapping[str, str] = field(default_factory=dict)
    in_terminal: frozenset[str] = frozenset()  # ids of sections in the summary
    basis: Callable[[Scored], str] = lambda of: present.note(of.table, "bold")
    methods: Callable[[Scored], Iterable[str]] = _no_lines  # precede those on inference
    references: Callable[[Scored], Iterable[str]] = _no_lines
    entries: tuple[Entry, ...] = ()  # further keys of analysis.json alone
    # The first table, where a section shows the rest.
    shown: Callable[[ScoreTable], ScoreTable] = lambda table: table


class ScoredResult(BaseResult[Scored]):
    """Scores of systems, with means, differences, and certificates."""

    view: ClassVar[View]
    template = "scores"

    def __init__(self, findings: Scored) -> None:
        self.findings = findings

    def __repr__(self) -> str:
        """One line; see `summary`."""
        table = self.findings.table
        means = (
            f"{table.labels[at]} {table.means.mean[at, 0]:.3f}" for at in range(len(table.systems))
        )
        of = f"{type(self).__name__} of {table.origin.title}"
        return f"<{of}: {table.columns[0]} {', '.join(means)}>"

    @property
    def table_of_scores(self) -> ScoreTable:
        """The scores, for comparisons with other studies."""
        return self.findings.table

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The input files."""
        return tuple(self.findings.study.files)

    @classmethod
    def presentation(cls) -> Presentation[Scored]:
        """The presentation of the results."""
        return presented(cls.view)

    def attachments(self, tables: Sequence[str] = ("csv",)) -> Mapping[str, Content]:
        """The table for a paper, and the score of each system on each query."""
        table = self.findings.table
        files: dict[str, Content] = {
            name: f"{write(table)}\n".encode() for name, write in _PAPER.items()
        }
        return files | ({"scores.csv": scores_csv(table)} if "csv" in tables else {})

    @property
    def file_names(self) -> frozenset[str]:
        """Every possible file of a report of this kind."""
        return super().file_names | {"scores.csv", *_PAPER}

    @property
    def means(self) -> pd.DataFrame:
        """One row per system and measure: mean, interval, number of queries."""
        return self.findings.table.frame()

    @property
    def differences(self) -> pd.DataFrame:
        """One row per measure and pair of systems: difference, interval, p values."""
        return self.findings.table.differences()


_PAPER: dict[str, Callable[[ScoreTable], str]] = {
    "table.md": present.markdown,
    "table.tex": present.latex,
    "table.html": present.html,
}


def scores_csv(table: ScoreTable) -> bytes:
    """The score of each system on each query, one column per measure."""
    import pandas as pd

    from quem.report.tables import csv_bytes

    systems, queries, measures = table.values.shape
    frame = pd.DataFrame(table.values.reshape(-1, measures), columns=list(table.columns))
    frame.insert(0, table.nouns.query, np.tile(np.array(table.queries, dtype=object), systems))
    names = np.array(table.systems, dtype=object)
    frame.insert(0, table.nouns.system, np.repeat(names, queries))
    return csv_bytes(frame)


_MEANS = RowTable(
    "means", "one row per system and measure", Mean, lambda of: mean_rows(of.table), always=True
)


_DIFFERENCES = RowTable(
    "differences",
    "one row per measure and pair of systems",
    PairRow,
    lambda of: pair_rows(of.table),
)


_JUDGE_NEXT = RowTable(
    "judge-next",
    "one row per unjudged case that settles a claim if none is relevant, by decreasing effect",
    CaseRow,
    lambda of: dict.fromkeys(
        case for claim in claim_rows(of.certificates) for case in claim.to_judge
    ),
)


_CLAIMS = Entry(
    "claims", "the certificates", ClaimRow, lambda of: [*claim_rows(of.certificates)], always=True
)


_ORIGIN = Entry(
    "origin",
    "origin of the scores",
    OriginRow,
    lambda of: origin_row(of.table, of.study.files),
    many=False,
    always=True,
)


def presented(view: View) -> Presentation[Scored]:
    """The presentation of the results of a kind."""
    tables = [_MEANS, _DIFFERENCES]
    if view.detail:
        tables.append(
            RowTable("systems", "one row per system", view.detail, lambda of: of.table.details)
        )
    tables += view.tables
    entries = (*view.entries, *(table.entry() for table in tables), _CLAIMS, _ORIGIN)

    def figures() -> Drawers[Scored]:
        from quem.scores.figures import FIGURES

        return {**FIGURES, **view.figures()}

    return Presentation(
        RowDocument(view.kind, view.settings, entries=entries),
        (*tables, _JUDGE_NEXT),
        figures,
        lambda of: summary(view, of),
        lambda of: report_context(view, of),
    )


def summary(view: View, findings: Scored) -> str:
    """The result as text: the table, the kind's sections, the certificates."""
    lines = [findings.study.spec.title, "", *present.text(view.shown(findings.table)).splitlines()]
    lines += present.sections_text(findings.table, view.in_terminal)
    for certificate in findings.certificates:
        lines += ["", *str(certificate).splitlines()]
    return "\n".join(lines)


_CAPTIONS = {
    "scores": "The mean of each measure, with its bootstrap interval; gray means are over fewer "
    "than half of the queries."
}


_REFERENCES = (
    "Efron, B. and Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman & Hall.",
    "Westfall, P. H. and Young, S. S. (1993). Resampling-based multiple testing. Wiley.",
    "Romano, J. P. and Wolf, M. (2005). Exact and approximate stepdown methods for multiple "
    "hypothesis testing. Journal of the American Statistical Association, 100(469), 94–108.",
)


def report_context(view: View, findings: Scored) -> dict[str, Any]:
    """The variables of the template ``report/scores.html``."""
    from markupsafe import Markup

    table, spec = findings.table, findings.study.spec
    tested = table.inference.samples and len(table.systems) > 1
    return {
        "kicker": view.kicker,
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "scores": Markup(present.html(view.shown(table), noted=False)),  # noqa: S704  escaped there
        "basis": view.basis(findings),
        "first_figure": "scores",
        "certificates": findings.certificates,
        "sections": [*table.sections, *_differences(table)],
        "methods": " ".join([*view.methods(findings), *_inference(table)]),
        "references": [*view.references(findings), *_REFERENCES[: 3 if tested else 1]],
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in findings.settings.model_dump(mode="json").items()
        ],
        "captions": {**_CAPTIONS, **view.captions},
    }


def _differences(table: ScoreTable) -> Iterator[Section]:
    """The differences of systems by the headline."""
    pairs = [pair for pair in table.pairs if pair.measure == 0]
    if not pairs:
        return
    rows = [
        (
            f"{table.labels[pair.a]} − {table.labels[pair.b]}",
            measured(pair.difference, sign=True),
            f"{measured(pair.low, sign=True)} to {measured(pair.high, sign=True)}"
            if isfinite(pair.low)
            else "–",
            format_bare_p(pair.p),
            f"{pair.higher:,} / {pair.equal:,} / {pair.lower:,}",
        )
        for pair in pairs
    ]
    level = format_percent(table.inference.level)
    yield Section(
        "differences",
        "Differences",
        tables=[
            TextTable(
                f"Differences in {table.columns[0]}",
                ("Systems", "Difference", f"{level} interval", "p", "Higher / equal / lower"),
                rows,
                "p is adjusted for all pairs by the measure, and an interval excludes 0 exactly "
                "where p is significant; all are in differences.csv.",
            )
        ],
    )


def _inference(table: ScoreTable) -> Iterator[str]:
    """The methods of inference, for a paper."""
    inference, queries = table.inference, table.nouns.queries
    if not inference.samples or len(table.queries) == 1:
        return
    yield (
        f"Means over {len(table.queries):,} {queries} have {format_percent(inference.level)} "
        f"percentile intervals of {inference.replicates:,} bootstrap samples of the {queries}."
    )
    if len(table.systems) > 1:
        from quem.scores.inference import MOST_EXACT

        few = len(table.queries) <= MOST_EXACT
        patterns = "all patterns" if few else f"{inference.samples:,} random patterns"
        yield (
            "By each measure, all pairs of systems were tested at once by a randomization test "
            f"that flips the signs of the differences on each of the {queries} ({patterns}); p "
            "values are adjusted for the number of pairs by step-down, and intervals of "
            "differences agree with them."
        )


def find_warnings(table: ScoreTable) -> tuple[StudyWarning, ...]:
    """The warnings about the input and the scores."""
    return (*table.warnings, *_RULES.find(table))


@_RULES.add("few-queries", remedy=f"use {_FEW} or more")
def _few_queries(table: ScoreTable) -> Iterator[str]:
    n = len(table.queries)
    # Without samples there is no inference.
    if n < _FEW and table.inference.samples:
        yield (
            f"there {'is' if n == 1 else 'are'} only {format_count(n, table.nouns.query)}, so that "
            "only large differences are found, and bootstrap intervals are too narrow"
        )


@_RULES.add("few-defined")
def _few_defined(table: ScoreTable) -> Iterator[str]:
    few = ~table.ranked & (table.means.n > 0)
    for at in np.flatnonzero(few.any(axis=1)).tolist():
        measures = [table.columns[layer] for layer in np.flatnonzero(few[at]).tolist()]
        yield (
            f"{table.labels[at]} is neither ranked nor tested by {join_words(measures)}: scores "
            f"are undefined on more than half of the {table.nouns.queries}"
        )


@_RULES.add("unlike-queries")
def _unlike_queries(table: ScoreTable) -> Iterator[str]:
    unlike = [table.columns[layer] for layer in np.flatnonzero(~table.comparable).tolist()]
    if unlike:
        yield (
            f"by {join_words(unlike)}, {table.nouns.system}s have scores on different "
            f"{table.nouns.queries}: none is called best or worse; differences are over the "
            f"{table.nouns.queries} that both have"
        )


class ScoreSettings(BaseModel):
    """The settings as used."""

    measures: tuple[str, ...]
    level: float
    samples: int
    seed: int


@dataclass(frozen=True)
class _Spec:
    id: str
    title: str
    description: str = ""


@dataclass(frozen=True)
class _Source:
    """A substitute for a study, or for several studies."""

    spec: _Spec
    files: tuple[Path, ...]


VIEW = View(kind="scores", kicker="Scores of systems", settings=ScoreSettings)


class ScoresResult(ScoredResult):
    """Scores of runs, or of the systems of several studies."""

    kind = "scores"
    view: ClassVar[View] = VIEW

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        certificates: Sequence[Certificate] = (),
        files: Iterable[Path] = (),
    ) -> ScoresResult:
        """The result of a table."""
        title = table.origin.title or "Scores"
        spec = _Spec(title.casefold().replace(" ", "-"), title)
        settings = ScoreSettings(measures=table.columns, **table.inference._asdict())
        source = _Source(spec, tuple(dict.fromkeys(files)))
        return cls(Scored(table, source, settings, certificates=tuple(certificates)))
