"""MAC/FAC: a quick retriever fills a filter for a thorough one (Forbus et al. 1995)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.lists import Measure, measure
from quem.retrieval.retrievers import Answer, Runs, StoredRetriever
from quem.retrieval.running import Asked, Guard, Run, Time, Times, ask, ask_all, run_rounds
from quem.scores.inference import Inference, Means, query_means
from quem.scores.scoring import score_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.parallel import Progress
    from quem.retrieval.bases import Task
    from quem.retrieval.loading import RetrievalStudy
    from quem.scores.columns import Columns

_MEASURES = ("hits_norm", "quality_stromer", "quality_mueller", "nDCG")


@dataclass(frozen=True)
class Phases:
    """The runs of MAC/FAC."""

    full: Run  # second phase alone, on the whole case base
    pairs: tuple[Run, ...]  # for each filter and k


@dataclass(frozen=True)
class Pair:
    """The result of one filter size and one k."""

    filter: int
    k: int
    run: Run
    measures: tuple[Measure, ...]
    means: Means
    share: Time  # time as a share of that of the second phase alone


@dataclass(frozen=True)
class MacFac:
    """MAC/FAC compared with the second phase alone."""

    mac: str
    fac: str
    pairs: tuple[Pair, ...]


def run_phases(
    study: RetrievalStudy, retrievers: dict[str, Runs], times: Times, progress: Progress
) -> Phases | None:
    """Run both phases with each filter size, and the second alone, in turn."""
    spec, task = study.spec.mac_fac, study.data.task
    if spec is None or not {spec.mac, spec.fac} <= retrievers.keys():
        return None
    mac, fac = retrievers[spec.mac], retrievers[spec.fac]
    # Stored lists take no time.
    runs = not (isinstance(mac, StoredRetriever) or isinstance(fac, StoredRetriever))
    timed = ask_all(fac, task, 1).timed if runs else ()
    most = max(k for _, k in spec.pairs)
    those = [_ask_both(mac, fac, task, size, k, timed) for size, k in spec.pairs]
    those.append(replace(ask_all(fac, task, min(most, task.n_candidates)), timed=timed))
    label = f"MAC/FAC: {spec.mac}, {spec.fac}"
    *pairs, full = run_rounds(label, those, task, times, progress)
    return Phases(full, tuple(pairs))


def _ask_both(mac: Runs, fac: Runs, task: Task, size: int, k: int, timed: Sequence[int]) -> Asked:
    """Fill a filter by the first phase, and search it by the second."""

    def call(query: int, guard: Guard) -> tuple[Answer, float]:
        answer, mac_seconds = ask(mac, task, query, size, guard)
        if isinstance(answer, str):
            return f"the first phase {answer}", np.nan
        answer, fac_seconds = ask(fac, task, query, k, guard, np.sort(answer[0]))
        if isinstance(answer, str):
            answer = f"the second phase {answer}"
        return answer, mac_seconds + fac_seconds

    return Asked(call, range(len(task.queries)), timed)


def measures_at(measures: Sequence[Measure], k: int) -> tuple[Measure, ...]:
    """The study's measures with a cutoff, at k; those of ProCAKE if there are none."""
    known = [one for one in measures if "k" in dict(one.values)]
    chosen = {one.name: one for one in (measure(one, k=k) for one in known or _MEASURES)}
    return tuple(chosen.values())


def score_phases(
    study: RetrievalStudy,
    phases: Phases,
    truth: Columns,
    measures: Sequence[Measure],
    inference: Inference,
) -> MacFac | None:
    """Score each pair of filter and k; the truth is the second phase's list of all cases."""
    spec = study.spec.mac_fac
    if spec is None:
        return None
    if study.spec.ground_truth.retriever != spec.fac:
        truth = phases.full.lists.columns(spec.fac)
    pairs = []
    for (size, k), run in zip(spec.pairs, phases.pairs, strict=True):
        chosen = measures_at(measures, k)
        # Both lists are the second phase's, which breaks ties alike in both.
        scored = score_runs({"": run.lists.columns("")}, truth, chosen, ties="given")
        share = run.share_of(phases.full, inference.level)
        means = query_means(scored.values[0], inference)
        pairs.append(Pair(size, k, run, chosen, means, share))
    return MacFac(spec.mac, spec.fac, tuple(pairs))
