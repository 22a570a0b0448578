"""Who is asked for lists: the retrievers of a study, and the two phases of MAC/FAC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.retrieval.mac_fac import asked_both
from quem.retrieval.retrievers import StoredRetriever
from quem.retrieval.running import Run, asked, n_calls, run_rounds
from quem.wording import joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.retrieval.loading import LoadedRetrieval
    from quem.retrieval.retrievers import Runs
    from quem.retrieval.running import Times

    Progress = Callable[[str, int], Callable[[int], object]]

__all__ = ["Phases", "run_phases", "run_retrievers"]

# The ground truth has its lists already, and is slow; so many queries tell its time.
_TRUTH_TIMED = 20
_NAMED = 4


def run_retrievers(
    study: LoadedRetrieval, made: dict[str, Runs], depth: int, times: Times, progress: Progress
) -> dict[str, Run]:
    """Ask all retrievers that run, in turn; those that do not have their lists.

    Parameters
    ----------
    study : LoadedRetrieval
    made : dict of str to Runs
    depth : int
        As many cases are asked for.
    times : Times
    progress : callable

    Returns
    -------
    dict of str to Run
        By their ids, in the order of the study.
    """
    task, truth = study.data.task, study.spec.ground_truth.retriever
    specs = [one for one in study.spec.retrievers if one.id in made]
    running = [one for one in specs if not isinstance(made[one.id], StoredRetriever)]
    those = [
        asked(made[one.id], task, depth, (), timed=_TRUTH_TIMED)
        if one.id == truth
        else asked(made[one.id], task, depth)
        for one in running
    ]
    names = joined((one.name or one.id for one in running), _NAMED)
    found = {}
    if those:
        done = progress(f"Retrieving: {names}", n_calls(those, times))
        runs = run_rounds(those, task, times, done)
        found = {one.id: run for one, run in zip(running, runs, strict=True)}
    return {one.id: found[one.id] if one.id in found else _stored(made[one.id]) for one in specs}


def _stored(retriever: Runs) -> Run:
    assert isinstance(retriever, StoredRetriever)  # noqa: S101  asked before
    return Run(retriever.lists)


@dataclass(frozen=True)
class Phases:
    """What MAC/FAC gave.

    Parameters
    ----------
    full : Run or None
        The second phase alone, on the whole case base; None without MAC/FAC.
    pairs : tuple of Run
        For each filter and k.
    depth : int
        The largest k.
    """

    full: Run | None = None
    pairs: tuple[Run, ...] = ()
    depth: int = 0


def run_phases(
    study: LoadedRetrieval, made: dict[str, Runs], times: Times, progress: Progress
) -> Phases:
    """Ask both phases, with each size of the filter, and the second alone, in turn.

    Parameters
    ----------
    study : LoadedRetrieval
    made : dict of str to Runs
    times : Times
    progress : callable
    """
    spec, task = study.spec.mac_fac, study.data.task
    if spec is None or not {spec.mac, spec.fac} <= made.keys():
        return Phases()
    mac, fac = made[spec.mac], made[spec.fac]
    runs = not isinstance(mac, StoredRetriever) and not isinstance(fac, StoredRetriever)
    most = max(k for _, k in spec.pairs)
    those = [asked_both(mac, fac, task, size, k, take_time=runs) for size, k in spec.pairs]
    stored = isinstance(fac, StoredRetriever)
    if not stored:
        those.append(asked(fac, task, min(most, task.n_candidates)))
    label = f"MAC/FAC: {spec.mac}, {spec.fac}"
    found = run_rounds(those, task, times, progress(label, n_calls(those, times)))
    full = Run(fac.lists) if isinstance(fac, StoredRetriever) else found.pop()
    return Phases(full, tuple(found), most)
