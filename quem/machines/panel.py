"""What experts and a machine judge ranked of the same solutions, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.experience.cells import judged_cells, tabulate
from quem.experience.machines import machine_ranks
from quem.rankings import Rankings

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from quem.experience.loading import Study
    from quem.study.runs import Run

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """Adjusted ranks by problems and solvers in the order of the study file; NaN for none."""

    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    ranks: Floats  # of shape (judges or repeats, n_problems, n_solvers)

    @property
    def means(self) -> Floats:
        """The mean over judges or repeats, shape (n_problems, n_solvers)."""
        known = np.isfinite(self.ranks)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, self.ranks, 0.0).sum(axis=0) / known.sum(axis=0))

    @property
    def ranked(self) -> NDArray[np.bool_]:
        """Which problems anybody ranked, shape (n_problems,)."""
        return np.asarray(np.isfinite(self.ranks).any(axis=(0, 2)))


def expert_ranks(study: Study, reference: Literal["all", "humans"] = "all") -> Ranked:
    """Give what experts ranked, judge by judge."""
    data = study.data
    cells = None
    if isinstance(data, Rankings):
        cells = judged_cells(data, study.declared, reference=reference)
    if cells is None or cells.is_blocked:
        raise QuemError(
            [
                study.mistake(
                    ("rankings",),
                    (
                        "machine judges are compared with experts on ranks of whole groups; this "
                        "study has none"
                    ),
                )
            ]
        )
    problems, solvers = study.declared.problems, tuple(study.declared.solvers)
    table = tabulate(cells)
    ranks = np.full((len(table.judges), len(problems), len(solvers)), np.nan)
    at = np.ix_(
        range(len(table.judges)),
        [problems.index(cells.problems[problem]) for problem in table.problems],
        [solvers.index(cells.solvers[solver]) for solver in table.solvers],
    )
    ranks[at] = table.ranks if reference == "all" else table.scores
    judges = tuple(cells.judges[judge] for judge in table.judges)
    withheld = [kind == "withheld" for kind in study.declared.solvers.values()]
    ranks[..., withheld] = np.nan
    return Ranked(judges, problems, solvers, ranks)


def ranked_by(
    run: Run,
    study: Study,
    among: frozenset[str],
    reference: Literal["all", "humans"] = "all",
) -> Ranked:
    """Give what a machine judge ranked, repeat by repeat."""
    used = study.spec.analysis.model_copy(
        update={"score": "rank", "normalize": "none", "reference": reference}
    )
    kept = among | {s for s, kind in study.declared.solvers.items() if kind == "withheld"}
    scored = machine_ranks(run, study.declared, used, kept)
    ranks = scored.scores.copy()
    ranks[..., [kind == "withheld" for kind in study.declared.solvers.values()]] = np.nan
    return Ranked(tuple(map(str, range(run.repeats))), scored.problems, scored.solvers, ranks)


def canary_targets(study: Study) -> dict[str, str]:
    """Choose a solution of each problem that experts ranked, into which a request is planted.

    The one whose mean rank is nearest to a third of the group, such as the fourth-worst of 12: it
    is clearly not the best, and has room to fall too.
    """
    experts = expert_ranks(study)
    targets = {}
    for problem, means in zip(experts.problems, experts.means, strict=True):
        known = np.isfinite(means)
        if known.any():
            target = np.nanargmin(np.abs(means - known.sum() / 3))
            targets[problem] = experts.solvers[int(target)]
    return targets


def placed(run: Run, study: Study) -> Floats:
    """Say where each solution stood when it was shown, standardized; NaN where it was not."""
    problems, solvers = study.declared.problems, tuple(study.declared.solvers)
    places = np.full((run.repeats, len(problems), len(solvers)), np.nan)
    for call in run.calls:
        n = len(call.order)
        if call.status != "ok" or call.problem not in problems:
            continue
        scale = np.sqrt((n**2 - 1) / 12)
        for place, solver in enumerate(call.order):
            if solver in solvers:
                at = call.repeat, problems.index(call.problem), solvers.index(solver)
                places[at] = (place - (n - 1) / 2) / scale
    return places
