"""Which systems of which studies are compared, and what forbids it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.experience.averages import average_cells
from quem.experience.cells import judged_cells, score_cells
from quem.experience.ranks import adjusted_ranks
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.comparison.independent import SystemEstimate
    from quem.experience.cells import RankCells
    from quem.rankings import Rankings
    from quem.rankings.loading import Study
    from quem.studyfile import Declared


def refuse_studies(studies: Sequence[Study]) -> None:
    """Refuse studies that cannot be compared."""
    mistakes = [*_named_twice(studies), *_other_units(studies)]
    if mistakes:
        raise QuemError(mistakes)


def _named_twice(studies: Sequence[Study]) -> Iterator[Mistake]:
    for at, study in enumerate(studies):
        for other in studies[:at]:
            same = study is other
            if not same and study.path.exists() and other.path.exists():
                same = study.path.samefile(other.path)
            if same:
                message = (
                    "is named twice, and a study is not independent of itself; name another, or "
                    "name it once to compare the systems in it"
                )
                yield Mistake(study.name, message=message)
                break


def _other_units(studies: Sequence[Study]) -> Iterator[Mistake]:
    first = studies[0]
    for study in studies[1:]:
        units = [s.spec.experience_unit for s in (study, first)]
        if units[0].strip().casefold() != units[1].strip().casefold():
            yield study.mistake(
                ("experience_unit",),
                f"experience is counted in {shown(units[0])} here and in {shown(units[1])} in "
                f"{first.name}; state it in the same unit in both, numbers included",
            )


def chosen_of(
    system_estimates: Sequence[SystemEstimate], names: Sequence[str], studies: Sequence[Study]
) -> list[SystemEstimate]:
    """Choose systems by id, or by what their versions share."""
    if not names:
        return list(system_estimates)
    chosen: set[int] = set()
    mistakes = []
    for name in dict.fromkeys(names):
        matches = [at for at, s in enumerate(system_estimates) if s.system == name]
        matches = matches or [at for at, s in enumerate(system_estimates) if s.of == name]
        chosen.update(matches)
        if not matches:
            mistakes.append(
                Mistake("", key="systems", message=_unknown(name, system_estimates, studies))
            )
    if mistakes:
        raise QuemError(mistakes)
    return [entry for at, entry in enumerate(system_estimates) if at in chosen]


def _unknown(
    name: str, system_estimates: Sequence[SystemEstimate], studies: Sequence[Study]
) -> str:
    where = " or ".join(study.name for study in studies)
    if any(system.id == name for study in studies for system in study.spec.systems):
        return f"{shown(name)} has no ranks in {where}; leave it out, or add them"
    # What versions share can be named as well as they.
    known = [*(s.system for s in system_estimates), *(s.of for s in system_estimates)]
    hint = nearest(name, known) or f"; there are: {', '.join(dict.fromkeys(known)) or 'none'}"
    return f"there is no system {shown(name)} in {where}{hint}"


def one_system(
    system_estimates: Sequence[SystemEstimate], studies: Sequence[Study], *, named: bool
) -> tuple[str, list[SystemEstimate]]:
    """Find the one system whose versions several studies measured.

    That is the system which they all share by id or ``of``; or the only one that each has.
    """
    by_study = [[s for s in system_estimates if s.study == at] for at in range(len(studies))]
    if empty := [
        study.name for study, systems in zip(studies, by_study, strict=True) if not systems
    ]:
        raise QuemError(
            Mistake(
                "",
                key="systems",
                message=f"{empty[0]} has none of these systems; name one that each study has",
            )
        )
    shared = [
        of
        for of in dict.fromkeys(s.of for s in system_estimates)
        if all(any(s.of == of for s in systems) for systems in by_study)
    ]
    if len(shared) == 1:
        return shared[0], [s for s in system_estimates if s.of == shared[0]]
    if not shared and (named or all(len(systems) == 1 for systems in by_study)):
        return system_estimates[0].of, list(system_estimates)
    which = f"share {len(shared)} systems ({', '.join(shared)})" if shared else "share none"
    raise QuemError(
        Mistake(
            "",
            key="systems",
            message=(
                f"these studies {which}, so that it is not clear whose versions to draw; name "
                "them by "
                "--systems, or give all versions of one system the same `of`"
            ),
        )
    )


LEAST_COMMON, LEAST_REFERENCES = 3, 2


@dataclass(frozen=True)
class Located:
    """Everybody located against references, who worked alone."""

    # ``size`` counts the references of the cell's group; ``score`` is as of ``normalize:
    # expected``, so that groups with more references and with fewer compare.
    cells: RankCells
    # Of shape (n_problems, n_solvers): mean score over the judges; NaN where a solver was not
    # ranked.
    scores: NDArray[np.float64]
    common: bool  # whether the references are the same people throughout: those who never had help

    def of(self, solver: str) -> NDArray[np.float64]:
        """Give a solver's score on each problem, NaN where there is none."""
        return self.scores[:, self.cells.solvers.index(solver)]

    def problems_of(self, solver: str) -> tuple[str, ...]:
        """List the problems on which a solver was ranked."""
        held = np.isfinite(self.of(solver))
        problems = zip(self.cells.problems, held, strict=True)
        return tuple(name for name, is_held in problems if is_held)

    def few_at(self, solver: str) -> list[str]:
        """List the problems on which a solver was ranked with too few references."""
        cells = self.cells
        own = cells.solver == cells.solvers.index(solver)
        few = own & (cells.size < LEAST_REFERENCES)
        return [cells.problems[at] for at in np.unique(cells.problem[few])]


def locate(rankings: Rankings, declared: Declared, assisted: Iterable[str]) -> Located:
    """Locate every solution against people who worked alone.

    The references are those who never had help. If some group that matters holds fewer than
    three of them, they are all who worked alone on the problem, and so other people for
    solutions with help than for those without.
    """
    cells = judged_cells(rankings, declared, reference="humans")
    with_help = np.isin(cells.solvers, list(assisted))
    never = cells.of_kind("subject") & ~with_help
    adjusted, size = adjusted_ranks(cells.group, cells.given, never[cells.solver])
    common = bool((size[with_help[cells.solver]] >= LEAST_COMMON).all())
    if common:
        cells = replace(cells, adjusted=adjusted, size=size)
    cells = score_cells(cells, score="rank", normalize="expected")
    nobody = np.full(len(cells.solvers), np.nan)
    return Located(cells, average_cells(cells, nobody).problem_means, common)
