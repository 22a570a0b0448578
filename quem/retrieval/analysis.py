"""The evaluation of retrievers, from data to findings: each step a module, composed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import QuemError
from quem.queries import Means, compare_systems, fewest_of, query_means
from quem.retrieval.choosing import depth_of, mac_fac_measures, measures_of
from quem.retrieval.doubts import doubts_of, entry_doubts
from quem.retrieval.experts import (
    Panels,
    consensus,
    judge_lists,
    panel_means,
    panels_of,
)
from quem.retrieval.findings import Evaluated, Findings, MacFacFound, MacFacPair
from quem.retrieval.mac_fac import run_mac_fac
from quem.retrieval.making import make_retrievers
from quem.retrieval.result import RetrievalEvaluation
from quem.retrieval.retrievers import StoredRetriever
from quem.retrieval.running import Run, Times, run_queries
from quem.retrieval.scoring import QueryScores, score_lists
from quem.retrieval.truth import find_truth, spread, stored_kind
from quem.study.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.errors import Doubt
    from quem.measures import Measure
    from quem.queries import PairDifference
    from quem.retrieval.experts import ExpertRanks
    from quem.retrieval.findings import Truth
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import LoadedRetrieval
    from quem.retrieval.retrievers import Runs
    from quem.retrieval.running import Task
    from quem.study.retrieval import RetrievalAnalysis

    Progress = Callable[[str, int], Callable[[int], object]]

__all__ = ["analyze_retrieval", "check_retrieval"]

JUDGES = "each judge against the others"


def _silent(_: str, __: int) -> Callable[[int], object]:
    return lambda _: None


def analyze_retrieval(
    study: LoadedRetrieval,
    *,
    keep: Path | None = None,
    progress: Progress = _silent,
    **settings: Any,  # noqa: ANN401  those of the study file
) -> RetrievalEvaluation:
    """Evaluate the retrievers of a study (see `quem.analyze`).

    Parameters
    ----------
    study : LoadedRetrieval
    keep : Path, optional
        Where the ground truth of an earlier evaluation may be, which is used again if it still
        fits.
    progress : callable, optional
        ``progress(label, length)`` gives a function that is called with each number of steps done.
    **settings
        See `RetrievalAnalysis`.
    """
    used = changed_settings(study.spec.analysis, settings)
    made, doubts = make_retrievers(study)
    truth = find_truth(study, made, keep, progress)
    measures = measures_of(study, used, truth.kind, truth.lists)
    work = _Work(study, used, made, truth, measures, progress)
    evaluated = [work.evaluated(one.id) for one in study.spec.retrievers if one.id in made]
    scored = [one for one in evaluated if one.scores is not None]
    if not scored and study.spec.mac_fac is None:
        raise QuemError([*(doubt.message for doubt in doubts), _nothing(study)])
    found = Findings(
        study=study,
        settings=used,
        task=study.data.task,
        truth=truth,
        measures=measures,
        depth=work.depth,
        evaluated=tuple(evaluated),
        judges=_judges(study.data.experts, work),
        differences=tuple(work.differences(scored)),
        mac_fac=_mac_fac(work),
        experts=study.data.experts,
        n_panels=len(work.panels.chance) if work.panels else 0,
    )
    doubts = [*study.data.doubts, *doubts]
    return RetrievalEvaluation(replace(found, doubts=(*doubts, *doubts_of(found))))


def check_retrieval(study: LoadedRetrieval) -> tuple[Doubt, ...]:
    """Say what is doubtful before anything is run; retrievers are made, and asked nothing.

    Raises
    ------
    QuemError
        A retriever cannot be made.
    """
    _, doubts = make_retrievers(study)
    truth = study.data.truth
    if truth is not None:
        measures_of(study, study.spec.analysis, stored_kind(study), truth)
    return (*study.data.doubts, *doubts, *entry_doubts(study))


def _nothing(study: LoadedRetrieval) -> str:
    if study.spec.ground_truth.retriever:
        return (
            f"{study.name}: no retriever is left to be held against the ground truth; name another "
            "one"
        )
    return f"{study.name}: no retriever is left to evaluate"


@dataclass
class _Work:
    """What all steps need."""

    study: LoadedRetrieval
    settings: RetrievalAnalysis
    made: dict[str, Runs]
    truth: Truth
    measures: tuple[Measure, ...]
    progress: Progress

    def __post_init__(self) -> None:
        self.task: Task = self.study.data.task
        self.times = Times(self.settings.warm_up, self.settings.repeats)
        self.depth = depth_of(self.measures, self.task.n_candidates)
        self.panels: Panels | None = None
        self.panel_truths: list[Any] = []
        experts = self.study.data.experts
        if experts is not None and len(experts.judges) > 1:
            self.panels = panels_of(len(experts.judges), np.random.default_rng(self.settings.seed))
            self.panel_truths = [
                consensus(experts, self.task.queries, self.task.cases, weights)
                for weights in self.panels.weights
            ]

    def evaluated(self, name: str) -> Evaluated:
        """Run one retriever, or take its lists, and score them."""
        spec = next(one for one in self.study.spec.retrievers if one.id == name)
        retriever = self.made[name]
        is_truth = self.study.spec.ground_truth.retriever == name
        source = next(
            key for key in ("linear", "python", "similarities", "run") if getattr(spec, key)
        )
        title = spec.name or spec.id
        if isinstance(retriever, StoredRetriever):
            run = Run(retriever.lists, np.full(len(self.task.queries), np.nan))
        else:
            # The ground truth has its lists already; some queries tell its time.
            queries = spread(len(self.task.queries)) if is_truth else None
            count = len(self.task.queries) if queries is None else len(queries)
            done = self.progress(f"Retrieving: {title}", count)
            run = run_queries(retriever, self.task, self.depth, self.times, done, queries)
        if is_truth:
            return Evaluated(name, title, source, run, None, None, is_truth=True)
        scores = self.scores(run.lists, self.truth.lists)
        return Evaluated(name, title, source, run, scores, self.means(run, scores))

    def scores(self, lists: CaseLists, truth: CaseLists) -> QueryScores:
        """Hold lists against a ground truth, with ties as the settings say."""
        return score_lists(lists, truth, self.measures, self.settings.ties)

    def means(self, run: Run, scores: QueryScores) -> Means:
        """The means over queries, with intervals; of judges too, where they are the truth."""
        used = self.settings
        found = query_means(
            scores.values, level=used.level, replicates=used.bootstrap, seed=used.seed
        )
        if self.panels is None:
            return found
        ends = self._panel_intervals(self.on_panels(run))
        return replace(found, low=ends[:, 0], high=ends[:, 1])

    def on_panels(self, run: Run) -> list[NDArray[np.float64]]:
        """The scores against the consensus of each panel of judges."""
        return [self.scores(run.lists, one).values for one in self.panel_truths]

    def _panel_intervals(self, scores: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        used = self.settings
        assert self.panels is not None  # noqa: S101  asked before
        return panel_means(
            scores, self.panels, level=used.level, replicates=used.bootstrap, seed=used.seed
        )

    def differences(self, scored: list[Evaluated]) -> list[PairDifference]:
        """Compare each two retrievers by each measure."""
        used = self.settings
        tables = [one.scores.values for one in scored if one.scores is not None]
        if len(tables) < 2:  # noqa: PLR2004  a pair
            return []
        pairs = compare_systems(
            np.stack(tables),
            level=used.level,
            replicates=used.bootstrap,
            permutations=used.permutations,
            seed=used.seed,
            fewest=fewest_of(int((self.truth.lists.sizes > 0).sum())),
        )
        if self.panels is None:
            return pairs
        each = [self.on_panels(one.run) for one in scored]
        ends: dict[tuple[int, int], NDArray[np.float64]] = {}
        for pair in pairs:
            both = pair.first, pair.second
            if both not in ends:
                apart = [a - b for a, b in zip(each[both[0]], each[both[1]], strict=True)]
                ends[both] = self._panel_intervals(apart)
        return [
            replace(pair, interval=tuple(ends[pair.first, pair.second][pair.measure].tolist()))
            for pair in pairs
        ]


def _judges(experts: ExpertRanks | None, work: _Work) -> Evaluated | None:
    """Score each judge against the consensus of the others: how far experts agree."""
    if experts is None or len(experts.judges) < 2:  # noqa: PLR2004  somebody else
        return None
    queries, cases, used = work.task.queries, work.task.cases, work.settings
    each = []
    for judge in range(len(experts.judges)):
        others = np.ones(len(experts.judges), dtype=np.int64)
        others[judge] = 0
        own = judge_lists(experts, judge, queries, cases)
        truth = consensus(experts, queries, cases, others)
        values = work.scores(own, truth).values
        # Who did not judge a problem has not failed at it.
        values[list(own.failed)] = np.nan
        each.append(values)
    stacked = np.array(each)
    known = ~np.isnan(stacked)
    count = known.sum(axis=0)
    total = np.where(known, stacked, 0).sum(axis=0)
    values = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    reason = np.where(count > 0, 0, 1)
    scores = QueryScores(values, reason, ("", "it is undefined for every judge"))
    means = query_means(values, level=used.level, replicates=used.bootstrap, seed=used.seed)
    run = Run(work.truth.lists, np.full(len(queries), np.nan))
    return Evaluated("", JUDGES, "judges", run, scores, means)


def _mac_fac(work: _Work) -> MacFacFound | None:
    """Try each size of the filter with its k."""
    spec, task = work.study.spec.mac_fac, work.task
    if spec is None or not {spec.mac, spec.fac} <= work.made.keys():
        return None
    mac, fac = work.made[spec.mac], work.made[spec.fac]
    runs = not isinstance(mac, StoredRetriever) and not isinstance(fac, StoredRetriever)
    most = max(k for _, k in spec.pairs)
    n_queries = len(task.queries)
    if isinstance(fac, StoredRetriever):
        full = Run(fac.lists, np.full(n_queries, np.nan))
    else:
        done = work.progress(f"Retrieving: {spec.fac} alone", n_queries)
        full = run_queries(fac, task, min(most, task.n_candidates), work.times, done)
    truth = full.lists
    if work.study.spec.ground_truth.retriever == spec.fac:
        truth = work.truth.lists
    pairs = []
    label = f"MAC/FAC: {spec.mac}, {spec.fac}"
    done = work.progress(label, n_queries * len(spec.pairs))
    tried = [
        (size, k, *run_mac_fac(mac, fac, task, size, k, work.times, done, take_time=runs))
        for size, k in spec.pairs
    ]
    for size, k, run, first in tried:
        measures = mac_fac_measures(k)
        # Both lists are the second phase's, which breaks ties alike in both.
        scores = score_lists(run.lists, truth, measures, "input")
        means = query_means(
            scores.values,
            level=work.settings.level,
            replicates=work.settings.bootstrap,
            seed=work.settings.seed,
        )
        share = _share(run.seconds, full.seconds)
        pairs.append(MacFacPair(size, k, run, first, measures, scores, means, share))
    return MacFacFound(spec.mac, spec.fac, full, tuple(pairs))


def _share(seconds: NDArray[np.float64], of: NDArray[np.float64]) -> float:
    held = ~np.isnan(seconds) & ~np.isnan(of)
    return float(seconds[held].sum() / of[held].sum()) if held.any() else float("nan")
