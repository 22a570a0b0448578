"""What the machine judges of a study ranked, beside its experts, and what that adds.

They are never counted as judges: see `quem.experience.control`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.experience.cells import judged_cells, score_cells, tabulate
from quem.experience.control import FEWEST_LABELED, control_variate, erratic
from quem.io.columns import column_of
from quem.io.tables import SourceTable
from quem.rankings import Rankings
from quem.rankings.entries import FIELDS, assemble
from quem.studyfile.draw import digest_of_solutions, order_of_draw
from quem.wording import format_count, format_percent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.cells import RankCells
    from quem.experience.control import Control, Erratic
    from quem.rankings.loading import Study
    from quem.studyfile import Declared, ExperienceSettings
    from quem.studyfile.runs import Run

    Floats = NDArray[np.float64]


USELESS = "their rankings do not go with the experts’ from problem to problem"
# Of calls without a valid ranking.
_TOO_MANY_FAILED = 0.2


@dataclass(frozen=True)
class MachineRanks:
    """The scores of one run, made of its rankings as those of experts are."""

    run: Run
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    # Of shape (repeats, n_problems, n_solvers): of the study's problems and solvers in the order of
    # its file; NaN where there is none.
    scores: Floats

    @property
    def means(self) -> Floats:
        """The mean over the repeats that are valid, shape (n_problems, n_solvers)."""
        known = np.isfinite(self.scores)
        with np.errstate(invalid="ignore"):
            total = np.where(known, self.scores, 0.0).sum(axis=0)
            return np.asarray(total / known.sum(axis=0))


@dataclass(frozen=True)
class Draw:
    """Which problems experts rank."""

    digest: str  # of the solutions and the nonce
    problems: tuple[str, ...]  # the drawn ones, sorted by lot
    labeled: tuple[str, ...]  # those that experts ranked
    drawn_at: str = ""  # when ballots of them were first dealt; empty where that is not known
    changed: bool = False  # whether the solutions are others than those that were drawn from

    @property
    def holds(self) -> bool:
        """Whether experts ranked what was drawn."""
        return set(self.problems) == set(self.labeled)


@dataclass(frozen=True)
class MachineUse:
    """How the machine judges of a study enter its estimates."""

    runs: tuple[Run, ...]  # the last one of each machine judge that has one
    without: tuple[str, ...]  # machine judges that have none
    refused: dict[str, str]  # why machine judges are not used, by id
    reason: str  # why none adds anything; empty where they do
    control: Control | None = None  # none where nothing could be computed
    used: tuple[str, ...] = ()  # the machine judges that `control` is of
    draw: Draw | None = None
    erratic: dict[str, Erratic] = field(default_factory=dict)  # by system
    _ranks: tuple[MachineRanks, ...] = field(default=(), repr=False)

    @property
    def share(self) -> float:
        """Lambda; 0 where the machines add nothing."""
        return self.control.share if self.control else 0.0

    def applied(self, cells: RankCells) -> RankCells:
        """Give cells whose average for each solver is with what the machines add.

        Each cell loses what the machines explain of its problem's distance from the experts'
        other problems, so that averages of some of the cells are less noisy too.
        """
        if not (self.control and self.share):
            return cells
        machine = np.zeros((len(cells.problems), len(cells.solvers)))
        for beta, one in zip(self.control.beta, self._ranks, strict=True):
            machine += beta * one.means
        counted = np.zeros(len(cells.problems), dtype=bool)
        counted[self.control.labeled] = True
        explained = machine[cells.problem, cells.solver]
        has_both = np.isfinite(explained) & np.isfinite(cells.score) & counted[cells.problem]
        solver, n = cells.solver[has_both], len(cells.solvers)
        with np.errstate(invalid="ignore"):
            usual = np.bincount(solver, explained[has_both], n) / np.bincount(solver, minlength=n)
        score = cells.score + self.control.shift[cells.solver]
        score[has_both] -= explained[has_both] - usual[solver]
        return replace(cells, score=score)


def machine_cells(
    run: Run, declared: Declared, solvers: frozenset[str], reference: Literal["all", "humans"]
) -> RankCells:
    """Place what a run ranked among some solvers, each repeat as a judge."""
    kept = {solver: kind for solver, kind in declared.solvers.items() if solver in solvers}
    among = replace(
        declared,
        solvers=kept,
        failed=frozenset(one for one in declared.failed if one[1] in kept),
        absent=frozenset(one for one in declared.absent if one[1] in kept),
    )
    return judged_cells(rankings_of(run, among), among, reference=reference)


def machine_ranks(
    run: Run, declared: Declared, settings: ExperienceSettings, solvers: frozenset[str]
) -> MachineRanks:
    """Score a run as the ranks of experts are scored."""
    cells = machine_cells(run, declared, solvers, settings.reference)
    cells = score_cells(cells, score=settings.score, normalize=settings.normalize)
    table = tabulate(cells)
    problem_at = {problem: at for at, problem in enumerate(declared.problems)}
    solver_at = {solver: at for at, solver in enumerate(declared.solvers)}
    scores = np.full((run.repeats, len(problem_at), len(solver_at)), np.nan)
    at = np.ix_(
        [int(cells.judges[judge]) for judge in table.judges],
        [problem_at[cells.problems[problem]] for problem in table.problems],
        [solver_at[cells.solvers[solver]] for solver in table.solvers],
    )
    scores[at] = table.scores
    return MachineRanks(run, declared.problems, tuple(declared.solvers), scores)


def use_machines(
    study: Study, settings: ExperienceSettings, cells: RankCells | None, averages: Averages
) -> MachineUse | None:
    """Say what the machine judges of a study add to the experts' averages."""
    if study.machines is None or study.spec.machine is None:
        return None
    last = {judge: last_ranking(runs) for judge, runs in study.machines.items()}
    runs = tuple(run for run in last.values() if run)
    without = tuple(judge for judge, run in last.items() if not run)
    refused = {run.judge: why for run in runs if (why := unusable(run))}
    use = MachineUse(runs, without, refused, "")
    usable = [run for run in runs if run.judge not in refused]
    if reason := _undefined(settings, cells, usable):
        return replace(use, reason=reason)
    assert cells is not None  # noqa: S101  else there is a reason
    kinds = dict(zip(cells.solvers, cells.kinds, strict=True))
    ranked = np.asarray(np.isfinite(averages.problem_means).any(axis=0))
    known = {solver for solver, has in zip(cells.solvers, ranked, strict=True) if has}
    known |= {solver for solver, kind in kinds.items() if kind == "withheld"}
    each = tuple(
        _aligned(machine_ranks(run, study.declared, settings, frozenset(known)), cells)
        for run in usable
    )
    counted = np.array([kind != "withheld" for kind in cells.kinds])
    h = np.where(counted, averages.problem_means, np.nan)
    m = np.stack([np.where(counted, one.means, np.nan) for one in each])
    control = control_variate(h, m)
    subjects = cells.of_kind("subject") & ranked
    systems = [s for s in averages.of_kind("system").tolist() if cells.kinds[s] == "system"]
    use = replace(
        use,
        control=control,
        used=tuple(run.judge for run in usable),
        draw=_draw(study, usable, control, cells),
        erratic={cells.solvers[s]: erratic(control, subjects, s) for s in systems},
        _ranks=each,
    )
    return use if control.share else replace(use, reason=_useless(control))


def last_ranking(runs: Sequence[Run]) -> Run | None:
    """Give the run that counts; None where there is none."""
    return runs[-1] if runs else None


def unusable(run: Run) -> str:
    """Say why a run cannot be used; empty where it can."""
    if run.failed > _TOO_MANY_FAILED:
        return f"{format_percent(round(run.failed, 2))} of its calls have no valid ranking"
    return ""


def _undefined(settings: ExperienceSettings, cells: RankCells | None, runs: list[Run]) -> str:
    """Say why machines cannot be used at all; empty where they can."""
    if not runs:
        return "there is no usable run of any"
    if cells is None or not cells.has_ranks:
        return "the study has no ranks of whole groups"
    if cells.is_blocked or any(run.blocked for run in runs) or settings.score == "pl":
        return "solutions were judged in blocks, whose ranks cannot be compared by problem"
    if settings.interval == "hierarchical":
        return "the interval hierarchical is of the experts’ ranks"
    return ""


def _useless(control: Control) -> str:
    if control.n_labeled < FEWEST_LABELED:
        counted = format_count(control.n_labeled, "problem")
        return f"experts ranked {counted} of theirs, and {FEWEST_LABELED} are needed"
    if control.n_labeled == control.n_problems:
        return "experts ranked every problem that they ranked"
    return USELESS


def _aligned(ranks: MachineRanks, cells: RankCells) -> MachineRanks:
    """Sort scores like the problems and solvers of cells."""
    problems = [ranks.problems.index(problem) for problem in cells.problems]
    solvers = [ranks.solvers.index(solver) for solver in cells.solvers]
    scores = ranks.scores[np.ix_(range(len(ranks.scores)), problems, solvers)]
    return MachineRanks(ranks.run, cells.problems, cells.solvers, scores)


def _draw(study: Study, runs: list[Run], control: Control, cells: RankCells) -> Draw | None:
    """Repeat the draw of the experts' problems, from the solutions as the machines saw them."""
    machine = study.spec.machine
    chosen = machine.experts_on if machine else None
    nonce, n = (chosen.nonce, chosen.n) if chosen else ("", control.n_labeled)
    labeled = tuple(cells.problems[problem] for problem in control.labeled)
    # Pseudonyms are drawn from nothing: the draw is of the ids that the study has.
    named = study.named or study
    first = last_ranking((named.machines or {})[runs[0].judge])
    digests = first.digests if first else {}

    def again(solvers: Collection[str]) -> Draw:
        digest = digest_of_solutions(
            (
                (problem, solver, digest)
                for problem, by_solver in digests.items()
                for solver, digest in by_solver.items()
                if solver in solvers
            ),
            nonce,
        )
        return Draw(digest, order_of_draw(digests, digest)[:n], labeled)

    if kept := named.draw:
        is_same = not digests or again(kept.solvers).digest == kept.digest
        return Draw(kept.digest, kept.problems, labeled, kept.drawn_at, changed=not is_same)
    if not digests:
        return None
    data = named.data
    assert isinstance(data, Rankings)  # noqa: S101  others have no ranks of whole groups
    ranked = {data.solvers[s] for s in np.unique(data.solver[~np.isnan(data.rank)])}
    # Versions that came later, which experts have not ranked, were not there to be drawn from.
    draws = [again(solvers) for solvers in (set().union(*digests.values()), ranked)]
    return next((draw for draw in draws if draw.holds), draws[0])


def rankings_of(run: Run, declared: Declared) -> Rankings:
    """Give the valid rankings of a run, each repeat as a separate judge: 0, 1, and so on.

    Solvers and problems that the study has no more are left out.
    """
    rows = [
        (call, str(rank), solver, "")
        for call in run.calls
        if call.status == "ok" and call.problem in declared.problems
        for rank, tied in enumerate(reversed(call.ranked), 1)
        for solver in tied
        if solver in declared.solvers
    ]
    rows += [
        (call, "", solver, "absent")
        for call in run.calls
        if call.status == "ok" and call.problem in declared.problems
        for solver in call.cannot
        if solver in declared.solvers
    ]
    cells = {
        "judge": [str(call.repeat) for call, *_ in rows],
        "problem": [call.problem for call, *_ in rows],
        "block": [str(call.block) for call, *_ in rows],
        "occasion": ["1" for _ in rows],
        "solver": [solver for _, _, solver, _ in rows],
        "rank": [rank for _, rank, _, _ in rows],
        "reason": [reason for *_, reason in rows],
        "recognized": ["" for _ in rows],
    }
    name = f"run {run.number} of {run.judge}"
    columns = {field: column_of(cells[field]) for field in FIELDS}
    table = SourceTable(name, columns, lambda _, key: Mistake(name, key=key), ())
    judges = tuple(str(repeat) for repeat in range(run.repeats))
    rankings, mistakes = assemble([table], replace(declared, judges=judges))
    if mistakes:
        raise QuemError(mistakes)
    return rankings
