"""What an evaluation of retrievers finds, and the result for people."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.errors import QuemError
from quem.lists.inference import fewest_of, median_interval
from quem.lists.score_table import Entry, Inference, ScoredBy, ScoreTable
from quem.report.result import BaseResult, Presentation
from quem.retrieval.running import Asked, ask, ask_all
from quem.retrieval.unjudged import DEFAULT_K

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.lists import Measure
    from quem.lists.inference import Means, PairDifference
    from quem.retrieval.judges import JudgeGrades
    from quem.retrieval.lists import CaseLists, QueryScores
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.retrievers import Answer, Runs
    from quem.retrieval.running import Guard, Run, Task
    from quem.retrieval.truth import ExpertRanks
    from quem.retrieval.unjudged import Unjudged
    from quem.studyfile.retrieval import RetrievalSettings

TruthKind = Literal["similarities", "grades", "experts"]


@dataclass(frozen=True)
class Truth:
    """What lists are compared with."""

    lists: CaseLists
    kind: TruthKind
    source: str  # where it comes from, in words: "the retriever full"
    computed: bool = False  # by a retriever that ran


@dataclass(frozen=True)
class Evaluated:
    """A retriever, and how good it is."""

    id: str
    name: str
    source: str
    run: Run
    scores: QueryScores | None
    means: Means | None
    # Whether it is the ground truth itself, so that it has a time but no scores.
    is_truth: bool = False

    @property
    def seconds(self) -> float:
        """The median over the rounds of the mean time of a query; NaN where nothing was timed."""
        return time_of(self.run.rounds(), 0.5).median

    @property
    def n_failed(self) -> int:
        """For how many queries it failed, or a file has no list: these count as empty lists."""
        lists = self.run.lists
        if self.is_truth or self.source == "judges":
            return 0
        if self.source in ("similarities", "run"):
            return int((lists.sizes == 0).sum())
        return len(lists.failed)

    @property
    def tied_share(self) -> float:
        """The share of positions whose similarity another case of the list has; NaN without any."""
        tied = self.run.lists.tied
        return float(tied.mean()) if len(tied) else float("nan")


@dataclass(frozen=True)
class Time:
    """A time in seconds, or a share of one, with its interval."""

    median: float  # over the rounds
    # Between order statistics; NaN where there are too few rounds
    low: float
    high: float


def time_of(rounds: NDArray[np.float64], level: float) -> Time:
    """Sum up what was measured in rounds; NaN where nothing was."""
    if not len(rounds):
        return Time(float("nan"), float("nan"), float("nan"))
    return Time(float(np.median(rounds)), *median_interval(rounds, level))


@dataclass(frozen=True)
class MacFacPair:
    """What one size of the filter and one k give."""

    filter: int
    k: int
    run: Run  # the first part of its time is that of the first phase
    measures: tuple[Measure, ...]
    scores: QueryScores
    means: Means
    # The time as a share of that of the second phase alone, on the whole case base, round by round.
    share: Time

    @property
    def mac_seconds(self) -> float:
        """The time of the first phase: the median over the rounds."""
        return time_of(self.run.rounds(parts=slice(1)), 0.5).median


@dataclass(frozen=True)
class MacFacFound:
    """A quick phase before a thorough one, against the thorough one alone."""

    mac: str
    fac: str
    full: Run  # the thorough one on the whole case base
    pairs: tuple[MacFacPair, ...]


@dataclass(frozen=True)
class RetrievalFindings:
    """The result of an evaluation."""

    study: RetrievalStudy
    settings: RetrievalSettings
    task: Task
    truth: Truth
    measures: tuple[Measure, ...]
    headline: int  # which of them the answer is given in
    depth: int  # as many cases as each retriever was asked for
    evaluated: tuple[Evaluated, ...]  # in the order of the study; without those that were left out
    # Each judge against the others, where experts are the ground truth.
    judges: Evaluated | None = None
    # Between those that are `scored`, by their places there.
    differences: tuple[PairDifference, ...] = ()
    mac_fac: MacFacFound | None = None
    experts: ExpertRanks | None = None
    n_panels: int = 0  # how many panels of judges the intervals are made of
    graded: JudgeGrades | None = None  # the judges, where their grades are the ground truth
    # By retriever: the share of cases that are judged, by k; None stands for whole lists. Empty
    # where the ground truth is not of grades.
    judged: Mapping[str, Mapping[int | None, float]] = field(default_factory=dict)
    unjudged: Unjudged | None = None  # what the others could change; None where there are none
    warnings: tuple[StudyWarning, ...] = field(default=())

    def time(self, one: Evaluated | MacFacPair) -> Time:
        """The time of a query, with its interval at the level of the settings."""
        return time_of(one.run.rounds(), self.settings.level)

    @property
    def best_first(self) -> tuple[Evaluated, ...]:
        """Those that have scores, by their means of the headline; last those that are not ranked.

        Where no query has a ground truth, all are without a mean.
        """
        lower = self.measures[self.headline].definition.better == "lower"

        def place(one: Evaluated) -> tuple[bool, bool, float]:
            mean = float(one.means.mean[self.headline]) if one.means else float("nan")
            unranked = not self.is_ranked(one.means, self.headline)
            return unranked, bool(np.isnan(mean)), mean if lower else -mean

        return tuple(sorted(self.scored, key=place))

    @property
    def judges_of_truth(self) -> ExpertRanks | JudgeGrades | None:
        """Those whose consensus is the ground truth."""
        return self.experts or self.graded

    def judged_share(self, one: Evaluated, at: int) -> float:
        """The share of the cases that a measure looks at which are judged; NaN where unknown."""
        if one.id not in self.judged:
            return float("nan")
        return self.judged[one.id][self.measures[at].depth]

    @property
    def judged_depth(self) -> int | None:
        """Down to where the first page says what is judged: where the headline looks, or 10."""
        return self.measures[self.headline].depth or DEFAULT_K

    @property
    def n_scorable(self) -> int:
        """How many queries have a ground truth."""
        return int((self.truth.lists.sizes > 0).sum())

    def is_ranked(self, means: Means | None, at: int) -> bool:
        """Whether a mean is over enough queries to be compared with others."""
        return means is not None and int(means.defined[at]) >= fewest_of(self.n_scorable)

    @property
    def scored(self) -> tuple[Evaluated, ...]:
        """The retrievers that have scores."""
        return tuple(one for one in self.evaluated if one.scores is not None)


def ask_both(mac: Runs, fac: Runs, task: Task, size: int, k: int, *, take_time: bool) -> Asked:
    """Let the first fill a filter, and the second look into it."""

    def call(query: int, guard: Guard) -> tuple[Answer, tuple[float, ...]]:
        return _both(mac, fac, task, query, size, k, guard)

    timed = ask_all(fac, task, k).timed if take_time else ()
    return Asked(call, range(len(task.queries)), timed, parts=2)


def _both(
    mac: Runs, fac: Runs, task: Task, query: int, size: int, k: int, guard: Guard
) -> tuple[Answer, tuple[float, float]]:
    mac_answer, mac_seconds = ask(mac, task, query, size, guard)
    if isinstance(mac_answer, str):
        return f"the first phase {mac_answer}", (mac_seconds, float("nan"))
    among = np.sort(mac_answer[0])
    # The query itself is not among them, so that none has to be asked for in its place.
    inside = replace(task, leave_one_out=False)
    answer, fac_seconds = ask(fac, inside, query, k, guard, among)
    if isinstance(answer, str):
        answer = f"the second phase {answer}"
    return answer, (mac_seconds, fac_seconds)


@dataclass(frozen=True, repr=False)
class RetrievalResult(BaseResult["RetrievalFindings"]):
    """How good the retrievers of a study are, and how fast."""

    findings: RetrievalFindings
    kind = "retrieval"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        names = ", ".join(one.id for one in self.findings.evaluated)
        return f"<RetrievalResult of {self.study.spec.id}: {names}>"

    @staticmethod
    def presentation() -> Presentation[RetrievalFindings]:
        """Say how the results are shown."""
        from quem.retrieval.presentation import PRESENTATION

        return PRESENTATION

    @property
    def study(self) -> RetrievalStudy:
        """The study that was analyzed."""
        return self.findings.study

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""
        return self.study.files

    @property
    def measures(self) -> pd.DataFrame:
        """One row per retriever and measure: mean, interval, number of queries."""
        return self.table("measures")

    @property
    def scores(self) -> pd.DataFrame:
        """One row per retriever, query, and measure: the score, or why there is none."""
        return self.table("scores")

    @property
    def differences(self) -> pd.DataFrame:
        """One row per pair of retrievers and measure, with interval and p values."""
        return self.table("differences")

    @property
    def flips(self) -> pd.DataFrame:
        """One row per pair of retrievers, with how far unjudged cases could move the difference."""
        return self.table("flips")

    @property
    def judge_next(self) -> pd.DataFrame:
        """One row per unjudged case that should be judged next."""
        return self.table("judge-next")

    @property
    def times(self) -> pd.DataFrame:
        """One row per retriever that ran and query: the median time in seconds."""
        return self.table("times")

    def score_table(self) -> ScoreTable:
        """Give the scores of each retriever on each query with a ground truth, to be compared."""
        from quem.retrieval.truth import truth_digest

        findings, spec = self.findings, self.study.spec
        scores = [one.scores.values for one in findings.scored if one.scores is not None]
        if not scores:
            raise QuemError(f"{self.study.name}: no retriever has scores that could be compared")
        known = np.flatnonzero(findings.truth.lists.sizes > 0)
        used = findings.settings
        return ScoreTable(
            kind="retrieval",
            title=spec.title,
            study=spec.id,
            source=self.study.name,
            entries=tuple(Entry(one.id, one.name, spec.id) for one in findings.scored),
            queries=tuple(findings.truth.lists.queries[at] for at in known.tolist()),
            measures=tuple(ScoredBy(m.name, m.definition.better) for m in findings.measures),
            headline=findings.headline,
            values=np.stack(scores)[:, known],
            truth=truth_digest(findings.truth, findings.measures, findings.task.n_candidates),
            settings={"ties": used.ties},
            inference=Inference(used.level, used.bootstrap, used.permutations, used.seed),
            nouns=("retriever", "query"),
        )
