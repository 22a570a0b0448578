"""Every number of an analysis of option lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.lists.inference import fewest_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.lists import Properties
    from quem.lists.inference import PairDifference
    from quem.options.lists import LengthGroup
    from quem.options.loading import OptionsStudy
    from quem.options.scoring import Scorer
    from quem.options.thresholds import Sweep
    from quem.study.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["OptionsFindings", "SystemScores", "Undefined"]


@dataclass(frozen=True)
class Undefined:
    """Lists that a measure does not score.

    Parameters
    ----------
    system, measure : int
    reason : str
    count : int
    """

    system: int
    measure: int
    reason: str
    count: int


@dataclass(frozen=True)
class SystemScores:
    """What a system's lists are worth.

    Parameters
    ----------
    system : int
    n_lists, n_missing, n_empty : int
        Lists that are there, questions without one, and lists without an option.
    share : float
        Of lists with the correct option.
    share_interval : (float, float)
    mean_length : float
    mean_length_interval : (float, float)
    scores : tuple of float
        The mean of each measure.
    intervals : tuple of (float, float)
    defined : tuple of int
        On how many questions each measure is defined.
    """

    system: int
    n_lists: int
    n_missing: int
    n_empty: int
    share: float
    share_interval: tuple[float, float]
    mean_length: float
    mean_length_interval: tuple[float, float]
    scores: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    defined: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class OptionsFindings:
    """The result of an analysis, as plain results.

    Parameters
    ----------
    data : OptionsStudy
    settings : OptionsSettings
        As used.
    scorer : Scorer
    lengths, places : array of int, shape (systems, questions)
        How many options each list has, -1 where it does not count; and where the correct one
        stands, from 1, 0 where it does not.
    scores : array of float, shape (systems, questions, measures)
    standings : tuple of SystemScores
        One a system.
    undefined : tuple of Undefined
    groups : tuple of LengthGroup
    sweeps : tuple of Sweep
        Of the systems that tell confidences.
    pairs : tuple of PairDifference
    properties : tuple of Properties
        Of the measures that have a direction, on short lists.
    warnings : tuple of StudyWarning
    """

    data: OptionsStudy
    settings: OptionsSettings
    scorer: Scorer
    lengths: Integers
    places: Integers
    scores: Floats
    standings: tuple[SystemScores, ...]
    undefined: tuple[Undefined, ...]
    groups: tuple[LengthGroup, ...]
    sweeps: tuple[Sweep, ...]
    pairs: tuple[PairDifference, ...]
    properties: tuple[tuple[str, Properties], ...] = ()
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def fewest(self) -> int:
        """Over how many questions a mean has to be, so that it is ranked and tested."""
        return fewest_of(len(self.data.key.ids))

    @property
    def headline(self) -> str:
        """The name of the measure that the answer is given in."""
        return self.scorer.names[self.scorer.headline]

    def name_of(self, system: int) -> str:
        """Name a system as the study file does, with its version."""
        system_id = self.data.systems[system]
        for declared in self.data.spec.systems:
            if declared.id == system_id:
                return " ".join(filter(None, [declared.name or declared.id, declared.version]))
        return system_id
