"""How the estimates change under other settings, one changed at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.experience.averages import average_cells
from quem.experience.cells import score_cells
from quem.experience.estimate import estimate_system
from quem.experience.skill import fit, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.cells import Cells
    from quem.experience.estimate import Estimate
    from quem.experience.ranks import Normalization, Score
    from quem.experience.skill import FormFit, SkillFunction
    from quem.study import Analysis

__all__ = ["Variant", "vary"]


@dataclass(frozen=True)
class Variant:
    """The estimates under one other setting.

    Parameters
    ----------
    setting, value : str
        Which setting, and what it was changed to.
    system : str
    estimate, low, high : float
        NaN ends where the interval is unbounded.
    """

    setting: str
    value: str
    system: str
    estimate: float
    low: float
    high: float

    @property
    def label(self) -> str:
        """The setting in a word or two."""
        return self.value if self.setting == "interval" else f"{self.setting}: {self.value}"


def vary(
    cells: Cells | None,
    experience: NDArray[np.float64],
    averages: Averages,
    function: SkillFunction,
    forms: dict[str, FormFit],
    estimates: list[Estimate],
    settings: Analysis,
) -> list[Variant]:
    """Estimate each system under every other form, normalisation and score, and calibrated.

    Parameters
    ----------
    cells : Cells or None
    experience : array of float, shape (n_solvers,)
    averages : Averages
    function : SkillFunction
    forms : dict of str to FormFit
    estimates : list of Estimate
        The headline's.
    settings : Analysis
    """
    kind = settings.interval
    other = "prediction" if kind == "calibration" else "calibration"
    variants = [_variant("interval", other, e, other) for e in estimates if e.calibration]
    others = [("form", name, found.function, averages) for name, found in forms.items()]
    others = [o for o in others if o[1] not in ("cubic", function.form.name)]
    if cells is not None:
        others += _scored(cells, experience, function, settings)
    for setting, value, fitted, used in others:
        for estimate in estimates:
            system = estimate.system
            changed = estimate_system(system, fitted, used, level=settings.level, at_least=())
            variants.append(_variant(setting, value, changed, kind))
    return variants


def _variant(setting: str, value: str, estimate: Estimate, kind: str) -> Variant:
    """An estimate with the interval of a kind, as it would be the headline."""
    years, ends = estimate.headline(kind), estimate.interval(kind)
    return Variant(setting, value, estimate.system, years, *ends)


def _scored(
    cells: Cells, experience: NDArray[np.float64], function: SkillFunction, settings: Analysis
) -> Iterator[tuple[str, str, SkillFunction, Averages]]:
    """The skill function over scores made otherwise of the same adjusted ranks."""
    options: list[tuple[str, Score, Normalization]] = [
        ("normalize", "rank", "none"),
        ("normalize", "rank", "expected"),
        ("normalize", "rank", "percentile"),
        ("score", "blom", "none"),
    ]
    if cells.is_blocked:
        options = []  # ranks of different blocks cannot be averaged
    elif settings.score in ("blom", "pl"):
        options = [("score", "rank", "none")]
    for setting, score, normalize in options:
        if (score, normalize) == (settings.score, settings.normalize):
            continue
        averages = average_cells(score_cells(cells, score=score, normalize=normalize), experience)
        x, y = averages.fitted()
        if not refusal(function.form, x, averages.average[averages.of_kind("system")]):
            value = score if setting == "score" else normalize
            yield setting, value, fit(function.form, x, y), averages
