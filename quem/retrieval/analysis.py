"""The evaluation of retrievers, from data to findings: one module per step, composed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.lists.inference import Means, compare_systems, fewest_of, query_means
from quem.lists.names import named
from quem.parallel import silent
from quem.retrieval.build_retrievers import (
    make_retrievers,
    run_phases,
    run_retrievers,
)
from quem.retrieval.checks import entry_warnings, find_warnings
from quem.retrieval.choosing import depth_of, mac_fac_measures, measures_of, truth_depth_of
from quem.retrieval.judges import JudgeGrades
from quem.retrieval.lists import QueryScores, score_lists
from quem.retrieval.result import (
    Evaluated,
    MacFacFound,
    MacFacPair,
    RetrievalFindings,
    RetrievalResult,
    time_of,
)
from quem.retrieval.running import Run, Times
from quem.retrieval.truth import (
    Need,
    Panels,
    consensus,
    find_truth,
    judge_lists,
    panel_means,
    panels_of,
    require_truth,
)
from quem.retrieval.unjudged import Compared, find_unjudged, judged_shares
from quem.studyfile.schema import changed_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.lists import Measure
    from quem.lists.inference import PairDifference
    from quem.parallel import Progress
    from quem.retrieval.build_retrievers import Phases
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.result import Truth
    from quem.retrieval.running import Task
    from quem.retrieval.truth import ExpertRanks
    from quem.studyfile.retrieval import RetrievalSettings

JUDGES = "each judge against the others"


def analyze_retrieval(
    study: RetrievalStudy,
    *,
    progress: Progress = silent,
    **settings: object,
) -> RetrievalResult:
    """Evaluate the retrievers of a study (see `quem.analyze`)."""
    settings, own = named(settings)
    study = replace(study, own_measures={**study.own_measures, **own})
    used = changed_settings(study.spec.analysis, settings)
    retrievers, warnings = make_retrievers(study)
    require_truth(study, retrievers)
    measures, headline = measures_of(study, used)
    n = study.data.task.n_candidates
    depth = depth_of(measures, n)
    times = Times(used.warm_up, used.repeats)
    runs = run_retrievers(study, retrievers, depth, times, progress)
    phases = run_phases(study, retrievers, times, progress)
    # Only now is it known what is needed of the ground truth.
    lists = [*(run.lists for run in runs.values()), *(run.lists for run in phases.pairs)]
    need = Need(max(truth_depth_of(measures, n), phases.depth), lists)
    truth = find_truth(study, retrievers, need, progress)
    work = _Work(study, used, truth, measures, depth, runs)
    evaluated = [work.evaluated(name, run) for name, run in runs.items()]
    scored = [one for one in evaluated if one.scores is not None]
    if not scored and study.spec.mac_fac is None:
        raise QuemError([*(warning.message for warning in warnings), _nothing(study)])
    findings = RetrievalFindings(
        study=study,
        settings=used,
        task=study.data.task,
        truth=truth,
        measures=measures,
        headline=headline,
        depth=depth,
        evaluated=tuple(evaluated),
        judges=_judges(work),
        differences=tuple(work.differences(scored)),
        mac_fac=_mac_fac(work, phases),
        experts=study.data.experts,
        n_panels=len(work.panels.chance) if work.panels else 0,
        graded=study.data.grades,
    )
    if truth.kind == "grades":
        findings = work.with_judged(findings)
    warnings = [*study.data.warnings, *warnings]
    return RetrievalResult(replace(findings, warnings=(*warnings, *find_warnings(findings))))


def check_retrieval(study: RetrievalStudy) -> tuple[StudyWarning, ...]:
    """Say what is doubtful before anything is run; retrievers are made, and asked nothing."""
    _, warnings = make_retrievers(study)
    measures_of(study, study.spec.analysis)
    return (*study.data.warnings, *warnings, *entry_warnings(study))


def _nothing(study: RetrievalStudy) -> str:
    if study.spec.ground_truth.retriever:
        return (
            f"{study.name}: no retriever is left to compare with the ground truth; add another one"
        )
    return f"{study.name}: no retriever is left to evaluate"


@dataclass
class _Work:
    """What all steps need."""

    study: RetrievalStudy
    settings: RetrievalSettings
    truth: Truth
    measures: tuple[Measure, ...]
    depth: int
    runs: dict[str, Run]

    def __post_init__(self) -> None:
        self.task: Task = self.study.data.task
        self.panels: Panels | None = None
        # The scores of each retriever against the consensus of each panel.
        self.on_panels: dict[str, list[NDArray[np.float64]]] = {name: [] for name in self.runs}
        judges = self.study.data.judges
        if judges is None or len(judges.judges) < 2 or not self.settings.bootstrap:  # noqa: PLR2004
            return
        self.panels = panels_of(len(judges.judges), np.random.default_rng(self.settings.seed))
        for weights in self.panels.weights:
            truth = self.consensus(judges, weights)
            for name, run in self.runs.items():
                self.on_panels[name].append(self.scores(run.lists, truth).values)

    def consensus(self, judges: ExpertRanks | JudgeGrades, weights: NDArray[np.int64]) -> CaseLists:
        """Give the ground truth of some of the judges."""
        queries, cases = self.task.queries, self.task.cases
        if not isinstance(judges, JudgeGrades):
            return consensus(judges, queries, cases, weights)
        lists = judges.lists(queries, cases, weights)
        return lists.without_own() if self.task.leave_one_out else lists

    def evaluated(self, name: str, run: Run) -> Evaluated:
        """Score the lists of one retriever."""
        spec = next(one for one in self.study.spec.retrievers if one.id == name)
        source = next(
            key for key in ("linear", "python", "similarities", "run") if getattr(spec, key)
        )
        title = spec.name or spec.id
        if self.study.spec.ground_truth.retriever == name:
            return Evaluated(name, title, source, run, None, None, is_truth=True)
        scores = self.scores(run.lists, self.truth.lists)
        return Evaluated(name, title, source, run, scores, self.means(name, scores))

    def scores(self, lists: CaseLists, truth: CaseLists) -> QueryScores:
        """Hold lists against a ground truth, with ties as the settings say."""
        return score_lists(lists, truth, self.measures, self.settings.ties)

    def means(self, name: str, scores: QueryScores) -> Means:
        """The means over queries, with intervals; of judges too, where they are the truth."""
        used = self.settings
        means = query_means(
            scores.values, level=used.level, replicates=used.bootstrap, seed=used.seed
        )
        if self.panels is None:
            return means
        ends = self._panel_intervals(self.on_panels[name])
        return replace(means, low=ends[:, 0], high=ends[:, 1])

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
        each = [self.on_panels[one.id] for one in scored]
        ends: dict[tuple[int, int], NDArray[np.float64]] = {}
        for pair in pairs:
            both = pair.first, pair.second
            if both not in ends:
                differences = [a - b for a, b in zip(each[both[0]], each[both[1]], strict=True)]
                ends[both] = self._panel_intervals(differences)
        return [
            replace(pair, interval=tuple(ends[pair.first, pair.second][pair.measure].tolist()))
            for pair in pairs
        ]

    def with_judged(self, findings: RetrievalFindings) -> RetrievalFindings:
        """Add what is judged, and what the rest could change."""
        used, truth, measures = self.settings, self.truth.lists, self.measures
        judged = {
            one.id: judged_shares(one.run.lists, truth, measures, used.ties)
            for one in findings.scored
        }
        place = {one.id: at for at, one in enumerate(findings.scored)}
        compared = [
            Compared(place[one.id], one.id, one.run.lists, one.scores)
            for one in findings.best_first
            if one.scores is not None
        ]
        unjudged = find_unjudged(
            compared,
            truth,
            measures[findings.headline],
            findings.headline,
            ties=used.ties,
        )
        return replace(findings, judged=judged, unjudged=unjudged)


def _judges(work: _Work) -> Evaluated | None:
    """Score each judge against the consensus of the others: how far experts agree."""
    judges = work.study.data.judges
    if judges is None or len(judges.judges) < 2:  # noqa: PLR2004  somebody else
        return None
    queries, cases, used = work.task.queries, work.task.cases, work.settings
    each = []
    for judge in range(len(judges.judges)):
        if isinstance(judges, JudgeGrades):
            own, truth = judges.agreement(judge, queries, cases)
            # Grades are few, and a judge orders no cases of one grade.
            values = score_lists(own, truth, work.measures, "expected").values
            values[own.sizes == 0] = np.nan
        else:
            others = np.ones(len(judges.judges), dtype=np.int64)
            others[judge] = 0
            own = judge_lists(judges, judge, queries, cases)
            values = work.scores(own, consensus(judges, queries, cases, others)).values
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
    run = Run(work.truth.lists)
    return Evaluated("", JUDGES, "judges", run, scores, means)


def _mac_fac(work: _Work, phases: Phases) -> MacFacFound | None:
    """Score each size of the filter with its k."""
    spec, used = work.study.spec.mac_fac, work.settings
    if spec is None or phases.full is None:
        return None
    is_truth = work.study.spec.ground_truth.retriever == spec.fac
    truth = work.truth.lists if is_truth else phases.full.lists
    pairs = []
    for (size, k), run in zip(spec.pairs, phases.pairs, strict=True):
        measures = mac_fac_measures(k)
        # Both lists are the second phase's, which breaks ties alike in both.
        scores = score_lists(run.lists, truth, measures, "given")
        means = query_means(
            scores.values, level=used.level, replicates=used.bootstrap, seed=used.seed
        )
        share = time_of(_shares(run, phases.full), used.level)
        pairs.append(MacFacPair(size, k, run, measures, scores, means, share))
    return MacFacFound(spec.mac, spec.fac, phases.full, tuple(pairs))


def _shares(run: Run, full: Run) -> NDArray[np.float64]:
    """The time as a share of that of the second phase alone, in each round."""
    both = np.intersect1d(run.timed, full.timed)
    return run.rounds(both) / full.rounds(both)
