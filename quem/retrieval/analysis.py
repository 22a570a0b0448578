"""The evaluation of retrievers, from data to scores: one module per step, composed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quem.errors import QuemError, StudyWarning
from quem.lists.names import named
from quem.parallel import Progress, silent
from quem.retrieval.choosing import check_claims, depth_of, measures_of, truth_depth_of
from quem.retrieval.mac_fac import MacFac, measures_at, run_phases, score_phases
from quem.retrieval.result import RetrievalResult, result_of
from quem.retrieval.retrievers import make_retrievers
from quem.retrieval.running import Run, Times, run_retrievers
from quem.retrieval.truth import Need, Truth, find_truth
from quem.scores.inference import Inference
from quem.scores.scoring import Scored, score_runs
from quem.studyfile.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.lists import Measure
    from quem.retrieval.loading import RetrievalStudy
    from quem.studyfile.retrieval import RetrievalSettings


@dataclass(frozen=True)
class Evaluation:
    """The lists of a study's retrievers with their scores."""

    study: RetrievalStudy
    settings: RetrievalSettings
    inference: Inference
    measures: tuple[Measure, ...]
    truth: Truth
    runs: dict[str, Run]  # of all retrievers, by id
    scored: Scored  # of retrievers other than the ground truth
    mac_fac: MacFac | None = None
    warnings: tuple[StudyWarning, ...] = ()  # about files and retrievers

    @property
    def truth_run(self) -> Run | None:
        """The run of the retriever that is the ground truth; None for a file."""
        return self.runs.get(self.study.spec.ground_truth.retriever)


def analyze_retrieval(
    study: RetrievalStudy, *, progress: Progress = silent, **settings: object
) -> RetrievalResult:
    """Evaluate the retrievers of a study (see `quem.analyze`)."""
    return result_of(evaluated(study, settings, progress))


def check_retrieval(study: RetrievalStudy) -> tuple[StudyWarning, ...]:
    """The warnings before anything runs; retrievers are created, but not called."""
    _, warnings = make_retrievers(study)
    check_claims(study, study.spec.analysis, measures_of(study, study.spec.analysis))
    return (*study.data.warnings, *warnings)


def evaluated(
    study: RetrievalStudy,
    settings: Mapping[str, object],
    progress: Progress = silent,
    *,
    whole: bool = False,
) -> Evaluation:
    """Score the retrievers of a study; a `whole` ground truth can be reused."""
    chosen, own = named(settings)
    study = replace(study, own_measures={**study.own_measures, **own})
    used = changed_settings(study.spec.analysis, chosen)
    measures = measures_of(study, used)
    check_claims(study, used, measures)
    retrievers, warnings = make_retrievers(study)
    compared = retrievers.keys() - {study.spec.ground_truth.retriever}
    if not compared:
        message = "there is none beside the ground truth; add one to compare with it"
        raise QuemError(study.mistake(("retrievers",), message))
    n = study.data.task.n_candidates
    times = Times(used.warm_up, used.repeats)
    runs = run_retrievers(study, retrievers, depth_of(measures, n), times, progress)
    phases = run_phases(study, retrievers, times, progress)
    # The required part of the ground truth is only known now.
    lists = [run.lists for run in (*runs.values(), *(phases.pairs if phases else ()))]
    pairs = study.spec.mac_fac.pairs if study.spec.mac_fac else ()
    at_k = [one for _, k in pairs for one in measures_at(measures, k)]
    need = Need(n if whole else truth_depth_of([*measures, *at_k], n), lists)
    truth = find_truth(study, retrievers, need, progress)
    inference = Inference(used.level, used.samples, used.seed)
    scored = score_runs(
        {name: run.lists.columns(name) for name, run in runs.items() if name in compared},
        truth.columns,
        measures,
        ties=used.ties,
    )
    mac_fac = score_phases(study, phases, truth.columns, measures, inference) if phases else None
    told = (*study.data.warnings, *warnings)
    return Evaluation(study, used, inference, measures, truth, runs, scored, mac_fac, told)
