"""Every number of an evaluation of retrievers, as plain results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.queries import fewest_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.errors import Doubt
    from quem.measures import Measure
    from quem.queries import Means, PairDifference
    from quem.retrieval.experts import ExpertRanks
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import LoadedRetrieval
    from quem.retrieval.running import Run, Task
    from quem.retrieval.scoring import QueryScores
    from quem.study.retrieval import RetrievalAnalysis

__all__ = [
    "Evaluated",
    "Findings",
    "MacFacFound",
    "MacFacPair",
    "Truth",
    "TruthKind",
]

TruthKind = Literal["similarities", "grades", "experts"]


@dataclass(frozen=True)
class Truth:
    """What lists are held against.

    Parameters
    ----------
    lists : CaseLists
    kind : {"similarities", "grades", "experts"}
    source : str
        Where it comes from, in words: "the retriever full".
    mark : str
        Of what a retriever made it of; see `quem.retrieval.kept`. Empty for another.
    reused : bool
        Whether it was read from what an earlier evaluation kept.
    """

    lists: CaseLists
    kind: TruthKind
    source: str
    mark: str = ""
    reused: bool = False


@dataclass(frozen=True)
class Evaluated:
    """A retriever, and how good it is.

    Parameters
    ----------
    id, name : str
    source : {"linear", "python", "similarities", "run", "judges"}
    run : Run
    scores : QueryScores
    means : Means
    is_truth : bool
        Whether it is the ground truth itself, so that it has a time but no scores.
    """

    id: str
    name: str
    source: str
    run: Run
    scores: QueryScores | None
    means: Means | None
    is_truth: bool = False

    @property
    def seconds(self) -> float:
        """The mean over queries of the median time; NaN where nothing was timed."""
        held = self.run.seconds[~np.isnan(self.run.seconds)]
        return float(held.mean()) if len(held) else float("nan")

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
class MacFacPair:
    """What one size of the filter and one k give.

    Parameters
    ----------
    filter, k : int
    run : Run
    mac_seconds : array of float, shape (queries,)
        The part of the time that the first phase takes.
    measures : tuple of Measure
    scores : QueryScores
    means : Means
    time_share : float
        The time as a share of that of the second phase alone, on the whole case base.
    """

    filter: int
    k: int
    run: Run
    mac_seconds: NDArray[np.float64]
    measures: tuple[Measure, ...]
    scores: QueryScores
    means: Means
    time_share: float


@dataclass(frozen=True)
class MacFacFound:
    """A quick phase before a thorough one, against the thorough one alone.

    Parameters
    ----------
    mac, fac : str
    full : Run
        The thorough one on the whole case base.
    pairs : tuple of MacFacPair
    """

    mac: str
    fac: str
    full: Run
    pairs: tuple[MacFacPair, ...]


@dataclass(frozen=True)
class Findings:
    """The result of an evaluation.

    Parameters
    ----------
    study : LoadedRetrieval
    settings : RetrievalAnalysis
    task : Task
    truth : Truth
    measures : tuple of Measure
    depth : int
        As many cases as each retriever was asked for.
    evaluated : tuple of Evaluated
        In the order of the study; without those that were left out.
    judges : Evaluated or None
        Each judge against the others, where experts are the ground truth.
    differences : tuple of PairDifference
        Between those that are `scored`, by their places there.
    mac_fac : MacFacFound or None
    experts : ExpertRanks or None
    n_panels : int
        How many panels of judges the intervals are made of.
    doubts : tuple of Doubt
    """

    study: LoadedRetrieval
    settings: RetrievalAnalysis
    task: Task
    truth: Truth
    measures: tuple[Measure, ...]
    depth: int
    evaluated: tuple[Evaluated, ...]
    judges: Evaluated | None = None
    differences: tuple[PairDifference, ...] = ()
    mac_fac: MacFacFound | None = None
    experts: ExpertRanks | None = None
    n_panels: int = 0
    doubts: tuple[Doubt, ...] = field(default=())

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
