r"""Machine judges: a control variate for the experts' ranks, never votes.

Experts ranked n of P problems, and machine judges all of them. The machines' mean for a solver on
all problems, minus that on the experts' problems, estimates how much easier or harder the experts'
problems were for that solver, and a share of it is added to the solver's average rank. A bias that
is the same on all problems cancels.

With :math:`h_{sp}` the mean of the experts' adjusted ranks of solver s on problem p,
:math:`m_{sp}` the mean of the machine's over its repeats, and :math:`L` the experts' problems,

.. math:: x_s = \bar h_s + \beta (\bar m_s - \bar m_{sL}), \quad
          \beta = \min\Bigl(\max\Bigl(\frac{C}{V}, 0\Bigr), \frac{P}{P - n}\Bigr)

with :math:`C` the covariance within solvers of h and m over :math:`L`, and :math:`V` the variance
within solvers of m over all problems. It is the estimator of Angelopoulos, Duchi & Zrnic (2023),
with solvers as coordinates, and the regression estimator of two-phase sampling (Cochran 1977,
chapter 12). There is one :math:`\beta` for all solvers, so that a system and people stay
exchangeable.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd
from scipy.special import fdtrc

from quem.errors import StudyWarning, WarningRules
from quem.method.part import Check, Part, PartTable
from quem.method.statement import state
from quem.method.variances import Variance
from quem.parts.machine_quality import (
    MachineQuality,
    machine_quality,
    rank_table,
    run_ranks,
    servers,
    unusable,
)
from quem.report.files import Section
from quem.report.rows import Interval, Row, col
from quem.studyfile.blocks import digest_of_solutions, order_of_draw
from quem.wording import format_count, format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.method.averages import Averages
    from quem.method.cells import RankCells
    from quem.method.core import Core
    from quem.rankings.loading import Study
    from quem.studyfile import ExperienceSettings
    from quem.studyfile.runs import Run

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

FEWEST_LABELED = 3  # with 2 problems, erratic machines cannot be detected
_RIDGE = 0.1
_SIGNIFICANT = 0.05
_FREEDOM = 0.7  # of subjects' variances, since ranks of a group are dependent
_MANY_FAILED = 0.05  # of calls without a valid ranking
_UNSTEADY = 0.5


@dataclass(frozen=True)
class Control:
    """The adjustment of the experts' averages by machine judges."""

    beta: Floats  # of shape (n_machines,)
    share: float  # lambda: the weight of the problems that only machines ranked; 0 to 1
    # Within solvers, of the experts' ranks and the machines' over the experts' problems; NaN
    # without variance
    correlation: float
    # n and P, of the problems that count
    n_labeled: int
    n_problems: int
    effective_problems: float  # for experts alone to reach the same precision
    # Of shape (n_solvers,): the adjustment of each average rank; 0 for solvers without machine
    # ranks
    shift: Floats
    # Of shape (n_labeled, n_solvers): residuals of the experts' mean ranks
    residual: Floats
    labeled: NDArray[np.int64]  # of shape (n_labeled,): indices of the experts' problems that count
    variance: Floats  # of shape (n_solvers,): of each average, with the P problems as fixed


def control_variate(h: Floats, m: Floats) -> Control:
    """The adjustment of the experts' averages by machine judges.

    Shapes: `h` (n_problems, n_solvers); `m` (n_machines, n_problems, n_solvers).
    """
    known = np.asarray(np.isfinite(m).all(axis=0))
    counted = np.asarray(known.any(axis=1))
    by_experts = counted & np.isfinite(h).any(axis=1)
    labeled = np.flatnonzero(by_experts)
    n, n_problems = len(labeled), int(counted.sum())
    # Solutions that experts did not rank on one of their problems are excluded from both means.
    everywhere = known & (np.isfinite(h) | ~by_experts[:, np.newaxis])
    there = everywhere & by_experts[:, np.newaxis]
    # Solvers unknown to either side are excluded from the covariance.
    both = np.asarray(there.any(axis=0))
    everywhere, there = everywhere & both, there & both
    off_h = _centered(h, there)
    off_l = np.stack([_centered(one, there) for one in m])
    off_all = np.stack([_centered(one, everywhere) for one in m])
    freedom, freedom_all = (of.sum() - both.sum() for of in (there, everywhere))
    beta = np.zeros(len(m))
    if FEWEST_LABELED <= n < n_problems and freedom > 0:
        covariance = np.einsum("ksp,sp->k", off_l, off_h) / freedom
        spread = np.einsum("ksp,lsp->kl", off_all, off_all) / freedom_all
        beta = _weights(covariance, spread, n_problems / (n_problems - n))
    joint = np.einsum("k,ksp->sp", beta if beta.any() else np.ones(len(m)), off_l)
    scale = np.sqrt((joint**2).sum() * (off_h**2).sum())
    correlation = float((joint * off_h).sum() / scale) if scale > 0 else np.nan
    means = np.stack([_means(one, everywhere) - _means(one, there) for one in m])
    shift = np.where(both, beta @ np.where(np.isfinite(means), means, 0.0), 0.0)
    residual = np.where(there, off_h - np.einsum("k,ksp->sp", beta, off_l), np.nan)[labeled]
    spread_of = np.ma.masked_invalid(residual).var(axis=0, ddof=1).filled(np.nan)
    share = float(beta.sum() * (n_problems - n) / n_problems) if n_problems else 0.0
    rest = 1 - (correlation**2 * (1 - n / n_problems) if share else 0.0)
    return Control(
        beta=beta,
        share=share,
        correlation=correlation,
        n_labeled=n,
        n_problems=n_problems,
        effective_problems=n / rest if rest else np.inf,
        shift=shift,
        residual=residual,
        labeled=labeled,
        variance=spread_of * (1 / n - 1 / n_problems) if n else np.full(len(both), np.nan),
    )


def _weights(covariance: Floats, spread: Floats, most: float) -> Floats:
    """Beta: of one machine the slope, of several by ridge toward equal weights."""
    k, total = len(covariance), spread.sum()
    if not total > 0:
        return np.zeros(k)
    equal = min(max(covariance.sum() / total, 0.0), most / k)
    if k == 1:
        return np.array([equal])
    ridge = spread + _RIDGE * np.trace(spread) / k * np.eye(k)
    beta = equal + np.linalg.solve(ridge, covariance - equal * spread.sum(axis=1))
    beta = np.maximum(beta, 0.0)
    return np.asarray(beta * min(1.0, most / beta.sum()) if beta.sum() else beta)


def _means(values: Floats, where: Flags) -> Floats:
    """The mean of each column over the rows that count."""
    return np.asarray(np.ma.array(values, mask=~where).mean(axis=0).filled(np.nan))


def _centered(values: Floats, where: Flags) -> Floats:
    return np.where(where, values - _means(values, where), 0.0)


class Erratic(Row):
    """Whether machines deviate from experts on a system more than on subjects."""

    system: str = col("id")
    f: float | None = col(
        "of the variance that machines leave, over that of people; null where people do not vary"
    )
    p: float | None = col("of that F test")
    variance: float = col("beyond that of people, in squared ranks; 0 unless p is below .05")
    df: int = col("of that variance")


def erratic(control: Control, people: Flags, at: int, system: str = "") -> Erratic:
    """Compare the residual variance of a system with that of subjects.

    Shapes: `people` (n_solvers,).
    """
    usual = np.nanmean(control.variance[people]) if people.any() else np.nan
    own = control.variance[at]
    df = int(np.isfinite(control.residual[:, at]).sum()) - 1
    if not (control.share and usual > 0 and np.isfinite(own)):
        return Erratic(system=system, f=None, p=None, variance=0.0, df=df)
    f, df_people = float(own / usual), _FREEDOM * people.sum() * (control.n_labeled - 1)
    p = float(fdtrc(df, df_people, f))
    extra = float(own - usual) if p < _SIGNIFICANT else 0.0
    return Erratic(system=system, f=f, p=p, variance=extra, df=df)


class Draw(Row):
    """The draw of the experts' problems."""

    digest: str = col("SHA-256 of the solutions and the nonce")
    problems: tuple[str, ...] = col("drawn problems, in drawn order")
    labeled: tuple[str, ...] = col("those that experts ranked")
    drawn_at: str = col("when ballots of them were first dealt; empty where unknown")
    changed: bool = col("whether the solutions are others than those that were drawn from")

    @property
    def holds(self) -> bool:
        """Whether experts ranked the drawn problems."""
        return set(self.problems) == set(self.labeled)


@dataclass(frozen=True)
class Use:
    """The use of machine judges in a study's estimates."""

    runs: tuple[Run, ...]  # last run of each machine judge that has one
    without: tuple[str, ...]  # machine judges without runs
    refused: dict[str, str]  # why machine judges are not used, by id
    reason: str = ""  # why no adjustment is made; empty where one is
    control: Control | None = None  # None where not computable
    used: tuple[str, ...] = ()  # machine judges in `control`
    draw: Draw | None = None
    erratic: tuple[Erratic, ...] = ()  # one per ranked system
    # Of shape (n_problems, n_solvers): the weighted ranks of the machines
    said: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)

    @property
    def share(self) -> float:
        """Lambda; 0 without an adjustment."""
        return self.control.share if self.control else 0.0

    def applied(self, cells: RankCells) -> RankCells:
        """Cells whose averages include the adjustment.

        The machines' prediction of its problem's deviation is subtracted from each cell, so that
        averages of some of the cells are less noisy too.
        """
        if not (self.control and self.share):
            return cells
        explained = self.said[cells.problem, cells.solver]
        counted = np.isin(cells.problem, self.control.labeled)
        has_both = np.isfinite(explained) & np.isfinite(cells.score) & counted
        solver, n = cells.solver[has_both], len(cells.solvers)
        with np.errstate(invalid="ignore"):
            usual = np.bincount(solver, explained[has_both], n) / np.bincount(solver, minlength=n)
        score = cells.score + self.control.shift[cells.solver]
        score[has_both] -= explained[has_both] - usual[solver]
        return replace(cells, score=score)


def machine_use(study: Study, cells: RankCells | None) -> Use | None:
    """The use of machine judges in a study; None where it uses none."""
    if study.machines is None or study.spec.machine is None:
        return None
    last = {judge: runs[-1] if runs else None for judge, runs in study.machines.items()}
    runs = tuple(run for run in last.values() if run)
    without = tuple(judge for judge, run in last.items() if not run)
    refused = {run.judge: why for run in runs if (why := unusable(run))}
    use = Use(runs, without, refused)
    usable = [run for run in runs if run.judge not in refused]
    if not usable:
        return replace(use, reason="there is no usable run of any")
    if cells is None or not cells.has_ranks:
        return replace(use, reason="the study has no ranks of whole groups")
    if cells.is_blocked or any(run.blocked for run in usable):
        why = "solutions were judged in blocks, whose ranks cannot be compared by problem"
        return replace(use, reason=why)
    experts = rank_table(replace(cells, score=cells.adjusted)).groupby("problem").mean()
    tables = [experts]
    for run in usable:
        ranks = run_ranks(run, study.declared, frozenset(experts.columns))
        tables.append(ranks.groupby("problem").mean())
    problems, solvers = list(cells.problems), list(cells.solvers)
    h, *m = (of.reindex(index=problems, columns=solvers).to_numpy(dtype=float) for of in tables)
    control = control_variate(h, np.stack(m))
    known = np.isfinite(h).any(axis=0)
    people, systems = (cells.of_kind(kind) & known for kind in ("subject", "system"))
    use = replace(
        use,
        control=control,
        used=tuple(run.judge for run in usable),
        draw=_draw(study, usable, control, cells),
        erratic=tuple(
            erratic(control, people, s, cells.solvers[s]) for s in np.flatnonzero(systems).tolist()
        ),
        said=np.einsum("k,kps->ps", control.beta, np.stack(m)),
    )
    return use if control.share else replace(use, reason=_useless(control))


_USELESS = "the ranks do not correlate with the experts’ over problems"


def _useless(control: Control) -> str:
    if control.n_labeled < FEWEST_LABELED:
        return _too_few(control)
    if control.n_labeled == control.n_problems:
        return "experts ranked every problem that they ranked"
    return _USELESS


def _too_few(control: Control) -> str:
    counted = format_count(control.n_labeled, "problem")
    of = f"of the machine judges' {control.n_problems}"
    return f"experts ranked {counted} {of}, and {FEWEST_LABELED} are needed"


def _draw(study: Study, runs: list[Run], control: Control, cells: RankCells) -> Draw | None:
    """The draw of the experts' problems, repeated from the solutions that the machines saw."""
    machine = study.spec.machine
    chosen = machine.experts_on if machine else None
    nonce, n = (chosen.nonce, chosen.n) if chosen else ("", control.n_labeled)
    labeled = tuple(cells.problems[problem] for problem in control.labeled)
    # Pseudonyms are random: the draw is of the study's original ids.
    named = study.named or study
    of_first = (named.machines or {})[runs[0].judge]
    digests = of_first[-1].digests if of_first else {}

    def drawn(
        digest: str, problems: tuple[str, ...], at: str = "", *, changed: bool = False
    ) -> Draw:
        return Draw(digest=digest, problems=problems, labeled=labeled, drawn_at=at, changed=changed)

    def digest_of(solvers: Collection[str]) -> str:
        rows = ((p, s, d) for p, each in digests.items() for s, d in each.items() if s in solvers)
        return digest_of_solutions(rows, nonce)

    if kept := named.draw:
        changed = bool(digests) and digest_of(kept.solvers) != kept.digest
        return drawn(kept.digest, kept.problems, kept.drawn_at, changed=changed)
    if not digests:
        return None
    data = cast("Any", named.data)  # rankings, else there is no control variate
    ranked = {data.solvers[s] for s in np.unique(data.solver[~np.isnan(data.rank)])}
    # Later versions without expert rankings were not part of the draw.
    lots = (digest_of(solvers) for solvers in (set().union(*digests.values()), ranked))
    draws = [drawn(lot, order_of_draw(digests, lot)[:n]) for lot in lots]
    return next((draw for draw in draws if draw.holds), draws[0])


class RunRow(Row):
    """The current run of a machine judge."""

    title = "Runs that count"
    judge: str = col("id of the machine judge", "Machine judge")
    model: str = col("as the study file names it; empty for a command", "Model")
    prompt_sha256: str = col("of the prompt")
    repeats: int = col("number of its rankings per problem", "Orders")
    run: int = col("number of the run")
    calls: int = col("calls that were made", "Calls")
    invalid: int = col("of them without a readable ranking", "Invalid")
    refused: int = col("of them refused", "Refused")
    date: str = col("of the end of the run", "Date")
    beta: float | None = col("its weight; null where it is not used")


class AloneRow(Row):
    """A system without machine judges."""

    system: str = col("id")
    average_rank: float = col("mean of the experts' adjusted ranks")
    leads: Literal["paper", "reference"] | None = col("the estimate that would be stated first")
    experience: float | None = col("that estimate; null where no years would be stated")
    interval: Interval = col("its interval; the upper end is null where it is open")


class UseRow(Row):
    """The adjustment by machine judges."""

    judges: tuple[RunRow, ...] = col("one entry per machine judge with a run")
    reason: str = col("why they add nothing; empty where they do")
    draw: Draw | None = col("of the experts' problems; null where it cannot be repeated")
    beta: float = col("sum of the weights")
    share: float = col("weight of the problems that only machines ranked, 0 to 1; lambda")
    correlation: float | None = col(
        "within solvers, of their ranks and the experts'; null where unknown"
    )
    effective_problems: float | None = col(
        "problems that experts alone would have to rank for the same precision"
    )
    erratic: tuple[Erratic, ...] = col(
        "whether machines disagree with experts on a system more than on people"
    )
    experts_alone: tuple[AloneRow, ...] = col(
        "one entry per system, without machine judges; empty where they add nothing"
    )


@dataclass(frozen=True)
class Found:
    """Findings on machine judges."""

    use: Use
    quality: list[MachineQuality]
    alone: tuple[
        AloneRow, ...
    ] = ()  # estimates by the experts alone; empty if these are the estimates
    alone_text: str = ""

    @property
    def was_chosen(self) -> bool:
        """Whether the experts' problems were not drawn at random, and it matters."""
        return bool(self.use.share and self.use.draw and not self.use.draw.holds)


class MachinesPart(Part[Found]):
    """Machine judges as a control variate."""

    name = "machines"
    tables = (
        PartTable("machine", "adjustment by machine judges", UseRow, many=False),
        PartTable("machine_quality", "quality of each machine judge", MachineQuality),
    )

    def adjust(self, study: Study, settings: ExperienceSettings, cells: RankCells) -> RankCells:
        """Scores with the machines' adjustment."""
        use = machine_use(study, cells)
        return use.applied(cells) if use else cells

    def vary(
        self, study: Study, settings: ExperienceSettings, cells: RankCells | None, of: Averages
    ) -> dict[str, Variance]:
        """The added variance of systems on which the machines are erratic."""
        use = machine_use(study, cells)
        found = {}
        for one in use.erratic if use and cells else ():
            if one.variance:
                at = of.solvers.index(one.system)
                n = cells.size[cells.solver == at].mean()  # type: ignore[union-attr]
                found[one.system] = Variance(one.variance / n**2 / float(of.weight[at]), one.df)
        return found

    def find(self, core: Core) -> Found | None:
        """The machines' runs, and the estimates by the experts alone."""
        use = machine_use(core.study, core.cells)
        if use is None:
            return None
        quality = machine_quality(core.study, use.runs)
        return Found(use, quality, *(_alone(core) if use.share else ()))

    def rows(self, found: Found, core: Core) -> Sequence[Sequence[Row]]:
        """The adjustment, and the quality of the machines."""
        return [_use_row(found)], found.quality

    def warn(self, found: Found, core: Core) -> Iterable[StudyWarning]:
        """Warnings on runs, draw, and systems."""
        return _RULES.find(found, core)

    def about(self, found: Found, core: Core) -> str:
        """Runs and their use."""
        how = [_HOW, found.alone_text] if found.alone else []
        return " ".join([*_texts(found.use), *how])

    def lines(self, found: Found, core: Core) -> Iterator[str]:
        """Runs, and the estimates by the experts alone."""
        yield from _texts(found.use)
        if found.alone:
            yield found.alone_text

    def references(self, found: Found, core: Core) -> Iterator[str]:
        """The control variate."""
        if found.alone:
            yield _PAPER

    def before_quoting(self, found: Found, core: Core) -> Iterator[Check]:
        """Machine judges in use, and problems not drawn at random."""
        if found.alone:
            title = f"Machine judges add to the experts’ ranks: {join_words(found.use.used)}."
            yield Check("good", title, f"They do not vote. {found.alone_text}")
        if found.was_chosen:
            yield Check("warn", _NOT_DRAWN, _CHOSEN)

    def sections(self, found: Found, core: Core) -> Iterator[Section]:
        """The runs with their adjustment, and the quality of the machines."""
        chosen = [f"{_NOT_DRAWN} {_CHOSEN}"] if found.was_chosen else []
        text = [_EXPLAINED, *self.lines(found, core), *chosen]
        runs = _use_row(found).judges
        tables = [RunRow.text_table(runs)] if runs else []
        yield Section("machines", "Machine judges", text, (), tables)
        if found.quality:
            tables = [MachineQuality.text_table(found.quality)]
            yield Section("machine-quality", "How the machine judges rank", [_MEASURED], (), tables)


_PAPER = (
    "Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023). PPI++: efficient prediction-powered "
    "inference. arXiv:2311.01453."
)
_HOW = "Their ranks entered as a control variate (Angelopoulos, Duchi & Zrnic, 2023), not as votes."
_EXPLAINED = (
    "Machine judges are instruments, not votes. No rank of theirs enters an average. Their mean "
    "rank of a solver on all problems, less that on the experts’ problems, corrects for the choice "
    "of problems, as far as it goes with the experts’ ranks; a bias that is the same on all "
    "problems cancels. Agreement is of the experts’ ranks alone."
)
_MEASURED = (
    "Agreement is the mean Kendall’s tau-b with the experts on the problems that both ranked, and "
    "consistency that between the orders in which the machine judge saw a problem. Position is how "
    "many ranks higher a solution is for each standard deviation of place that it is shown later. "
    "A machine judge can repeat itself and be biased: consistency is not validity."
)
_NOT_DRAWN = "The experts’ problems were not drawn at random."
_CHOSEN = "A machine judge that favors systems on the other problems only would go unnoticed."


def _alone(core: Core) -> tuple[tuple[AloneRow, ...], str]:
    """Analyze the study without its machine judges; also returns the result in words."""
    from quem.method.analysis import analyze

    alone = analyze(replace(core.study, machines=None), (), **core.settings.model_dump())
    rows, texts = [], []
    for of in alone.best_first:
        said = state(alone, of)
        row = AloneRow(
            system=of.system,
            average_rank=of.rank,
            leads=of.leads,
            experience=said.center if of.leads else None,
            interval=said.interval if of.leads else (None, None),
        )
        years = f"{said.value} ({said.qualifier})" if said.value else f"no {core.unit}"
        rows.append(row)
        texts.append(f"{of.name}: {years}" if len(alone.estimates) > 1 else years)
    return tuple(rows), f"The experts alone: {'; '.join(texts)}."


def _use_row(found: Found) -> UseRow:
    use, control = found.use, found.use.control
    beta = dict(zip(use.used, control.beta.tolist(), strict=True)) if control else {}
    return UseRow(
        judges=tuple(
            RunRow(
                judge=run.judge,
                model=run.declared_model,
                prompt_sha256=run.prompt,
                repeats=run.repeats,
                run=run.number,
                calls=len(run.calls),
                invalid=run.count("invalid"),
                refused=run.count("refused"),
                date=f"{run.ended_at:%Y-%m-%d}",
                beta=beta.get(run.judge),
            )
            for run in use.runs
        ),
        reason=use.reason,
        draw=use.draw,
        beta=sum(beta.values()),
        share=use.share,
        correlation=control.correlation if control else None,
        effective_problems=control.effective_problems if control else None,
        erratic=use.erratic,
        experts_alone=found.alone,
    )


def _texts(use: Use) -> Iterator[str]:
    """Sentences on the machine judges' runs and adjustment."""
    for run in use.runs:
        problems = len({call.problem for call in run.calls if call.status == "ok"})
        name = f"{run.judge} ({run.declared_model})" if run.declared_model else run.judge
        orders = format_count(run.repeats, "order")
        failures = join_words(_failures(run))
        failed = f" ({failures} of {len(run.calls):,} calls)" if failures else ""
        yield f"{name} ranked {format_count(problems, 'problem')} in {orders} each{failed}."
    if use.without:
        yield f"{join_words(use.without)}: no run yet."
    for judge, why in use.refused.items():
        yield f"{judge} is not used: {why}."
    control = use.control
    if use.reason or not control:
        what = "add nothing here (λ = 0)" if use.reason == _USELESS else "are not used"
        yield f"Machine judges {what}: {use.reason}. The estimate is the experts’ alone."
        return
    more = control.effective_problems - control.n_labeled
    yield (
        f"Experts ranked {control.n_labeled} of the {control.n_problems} problems. Over these the "
        f"machines’ ranks go with the experts’ with r = {format_number(control.correlation, 2)} "
        f"within solvers, which is worth as much as {format_number(more, 1)} more expert problems "
        f"(λ = {format_number(control.share, 2)}, β = {format_number(control.beta.sum(), 2)})."
    )


def _failures(run: Run) -> list[str]:
    kinds = Counter(call.status for call in run.calls if call.status != "ok")
    return [f"{count:,} {status}" for status, count in kinds.items()]


_RULES: WarningRules[Found, Core] = WarningRules()


@_RULES.add("machine-not-run", remedy="run `quem judge`")
def _not_run(found: Found, _: Core) -> Iterator[str]:
    if names := found.use.without:
        yield f"{join_words(names)} {'has' if len(names) == 1 else 'have'} ranked nothing yet"


@_RULES.add("machine-failures", remedy="correct the machine judge, and run it again")
def _many_failures(found: Found, core: Core) -> Iterator[str]:
    for run in found.use.runs:
        if run.failed <= _MANY_FAILED:
            continue
        unused = "; it is not used" if run.judge in found.use.refused else ""
        yield (
            f"{run.judge} gave no valid ranking in {format_percent(round(run.failed, 2))} of "
            f"{format_count(len(run.calls), 'call')} ({', '.join(_failures(run))})"
            f"{_where(core, run)}{unused}"
        )


def _where(core: Core, run: Run) -> str:
    """Whether calls failed more often on the experts' problems."""
    cells = core.cells
    if cells is None:
        return ""
    labeled = {cells.problems[problem] for problem in np.unique(cells.problem)}
    failed = pd.Series([call.status != "ok" for call in run.calls])
    shares = failed.groupby([call.problem in labeled for call in run.calls]).mean()
    if len(shares) < 2:  # noqa: PLR2004
        return ""
    off, on = (format_percent(round(share, 2)) for share in shares)
    return f": {on} on problems that experts ranked, {off} on the others"


@_RULES.add("machine-changed", remedy="run it again from the start, if the service allows it")
def _changed(found: Found, _: Core) -> Iterator[str]:
    for run in found.use.runs:
        if len(names := servers(run)) > 1:
            yield f"the service of {run.judge} answered as {join_words(names)} in one run"


@_RULES.add("machine-unsteady", remedy="add repeats to average out the noise")
def _unsteady(found: Found, _: Core) -> Iterator[str]:
    for one in found.quality:
        if one.consistency is not None and one.consistency < _UNSTEADY:
            tau = format_number(one.consistency, 2)
            yield f"{one.judge} repeats itself with a mean tau-b of {tau} only"


@_RULES.add("few-expert-problems", remedy="have experts rank more problems")
def _few_problems(found: Found, _: Core) -> Iterator[str]:
    control = found.use.control
    if control and control.n_labeled < FEWEST_LABELED:
        yield f"{_too_few(control)}; machine judges add nothing"


@_RULES.add("labeled-not-drawn", remedy="let quem draw them with `machine.experts_on`")
def _not_drawn(found: Found, _: Core) -> Iterator[str]:
    if found.was_chosen and (draw := found.use.draw):
        yield (
            f"experts ranked {join_words(draw.labeled)}, and the draw from the solutions "
            f"gives {join_words(draw.problems)}"
        )


@_RULES.add("solutions-changed-after-draw", remedy="report it with the results")
def _solutions_changed(found: Found, _: Core) -> Iterator[str]:
    if found.use.share and found.use.draw and found.use.draw.changed:
        yield ("machine judges saw other solutions than those in the draw of the experts' problems")


@_RULES.add("machine-erratic")
def _erratic_systems(found: Found, core: Core) -> Iterator[str]:
    for of in found.use.erratic:
        if of.variance and of.f and of.p is not None:
            yield (
                f"what machine judges say of {core.name_of(of.system)} goes less with the experts "
                f"from problem to problem than what they say of people "
                f"(F = {format_number(of.f, 2)}, {format_p(of.p)}); the estimate for the "
                "population is wider for it"
            )
