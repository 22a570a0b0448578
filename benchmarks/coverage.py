"""The coverage study: how often each interval covers the truth, and how wide it is.

    python benchmarks/coverage.py --grid reduced --jobs 2
    python benchmarks/coverage.py --part jagged

Results are kept part by part, so that a study that was stopped goes on where it was. With
``--cluster ADDRESS`` the workers of a Dask cluster do the work. ``--docs`` writes the results
into docs/: the table docs/coverage.csv, the figure, and the tables in docs/explanation.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

import click
import numpy as np
from coverage_parts import PARTS, run_case, summary, table
from scipy.special import stdtrit

from quem.comparison.years import worth_differences
from quem.errors import Mistake, QuemError
from quem.experience.batch import batch_estimates
from quem.experience.simulation import NOISES, Scenario, simulate
from quem.parallel import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.experience.simulation import Simulated


Truth = Literal[
    "peer", "typical", "outside", "missing", "few problems", "blocks", "two studies", "difference"
]

Taste = Literal["none", "all", "systems"]
_LEVEL = 0.95
_BLOCK_SIZE = 8
# The bootstrap takes a thousand times as long as all others together.
_BOOTSTRAPPED, _REPLICATES = 20, 400


@dataclass(frozen=True)
class Case:
    """A cell of the coverage study."""

    # What the intervals are to cover: the experience of a person who is not among the subjects
    # (peer); a system that is as good as people of 6.5 or, outside their range, of 14 years; a peer
    # where a fifth of the solutions is absent, and one who solved only a third of the problems; a
    # peer, judged in blocks of 8; the difference of the peers of two independent studies; the
    # difference of two systems of one study.
    truth: Truth
    noise: str
    subjects: int
    judges: int
    problems: int
    difference: float = 0.0  # in years, around 6.5
    # Whether judges have a persistent taste for nobody, for all solvers, or for systems.
    taste: Taste = "all"

    @property
    def name(self) -> str:
        """The case in one line."""
        more = f" {self.difference:g} {self.taste}" if self.truth == "difference" else ""
        design = f"S{self.subjects} J{self.judges} P{self.problems}"
        return f"{self.truth}{more}, {self.noise}, {design}"

    @property
    def scenario(self) -> Scenario:
        """What is simulated."""
        noise = NOISES[self.noise]
        plain = Scenario(self.subjects, self.judges, self.problems, (None,), noise)
        if self.truth == "difference":
            half = self.difference / 2
            return replace(
                plain,
                systems=(6.5 + half, 6.5 - half),
                noise=noise if self.taste == "all" else replace(noise, taste=0.0),
                system_taste=noise.taste if self.taste == "systems" else None,
            )
        changes: dict[str, dict[str, object]] = {
            "typical": {"systems": (6.5,)},
            "outside": {"systems": (14.0,)},
            "missing": {"missing": 0.2},
            "few problems": {"system_problems": max(1, self.problems // 3)},
            "blocks": {"block_size": _BLOCK_SIZE},
        }
        return replace(plain, **changes.get(self.truth, {}))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Covered:
    """How one interval did in some studies of a case."""

    interval: str
    # How many there were, in how many the interval has ends, and in how many of these the truth
    # lies between them
    studies: int
    defined: int
    covered: int
    # The median of the defined ones; infinite where one-sided, NaN where none is defined.
    width: float
    # The median error of the estimate that goes with the interval; NaN where there is none.
    error: float


def cover(case: Case, studies: int, *, seed: int = 0, part: int = 0) -> list[Covered]:
    """Simulate studies of a case and count what each interval covers."""
    key = (crc32(case.name.encode()), part)
    simulated = simulate(case.scenario, studies, np.random.SeedSequence(seed, spawn_key=key))
    if case.truth == "difference":
        return list(_of_differences(simulated))
    if case.truth == "two studies":
        return list(_of_two_studies(simulated))
    return list(_of_estimates(simulated))


def _of_estimates(simulated: Simulated) -> Iterator[Covered]:
    truth = simulated.truth[:, 0]
    batch = batch_estimates(simulated, level=_LEVEL)
    infinite = np.full(batch.lower.shape, np.inf)
    for name, estimate, ends in (
        ("prediction", batch.experience, batch.prediction),
        ("mean", batch.experience, batch.mean),
        ("calibration", batch.calibrated, batch.calibration),
        ("at least", None, np.stack([batch.lower, infinite], axis=-1)),
        ("at most", None, np.stack([-infinite, batch.upper], axis=-1)),
    ):
        at = None if estimate is None else estimate[:, 0]
        yield _count(name, ends[:, 0], truth, at)
    inside = batch.inside[:, 0]
    of_inside = (batch.prediction[inside, 0], truth[inside], batch.experience[inside, 0])
    yield _count("prediction, inside", *of_inside)
    if simulated.scenario.block_size is not None:
        # What follows needs ranks of whole groups.
        return
    worths = batch_estimates(simulated, level=_LEVEL, score="worth")
    yield _count("prediction by worths", worths.prediction[:, 0], truth, worths.experience[:, 0])
    yield _count("calibration by worths", worths.calibration[:, 0], truth, worths.calibrated[:, 0])
    yield _count("bootstrap", _bootstrapped(simulated), truth[:_BOOTSTRAPPED])


def _of_differences(simulated: Simulated) -> Iterator[Covered]:
    n = simulated.experience.shape[1]
    truth = simulated.truth[:, 0] - simulated.truth[:, 1]
    y = np.concatenate([simulated.experience, np.full(simulated.truth.shape, np.nan)], axis=1)
    worths = worth_differences(simulated.ranks, y, n, n + 1, level=_LEVEL)
    yield _count("difference", np.stack([worths.low, worths.high], axis=-1), truth, worths.years)
    # The other estimates have no interval, and the second none where the slope is weak.
    other = batch_estimates(simulated, level=_LEVEL)
    none = np.full((len(truth), 2), np.nan)
    significant = np.isfinite(other.calibration).all(axis=(1, 2))
    calibrated = np.where(significant, other.calibrated[:, 0] - other.calibrated[:, 1], np.nan)
    yield _count("difference by calibration", none, truth, calibrated)
    by_regression = other.experience[:, 0] - other.experience[:, 1]
    yield _count("difference by regression", none, truth, by_regression)


def _of_two_studies(simulated: Simulated) -> Iterator[Covered]:
    """Each study against the one after it: summed variances, Welch's degrees of freedom."""
    batch = batch_estimates(simulated, level=_LEVEL)
    one, other = slice(0, len(simulated) // 2 * 2, 2), slice(1, None, 2)
    truth = simulated.truth[one, 0] - simulated.truth[other, 0]
    apart = batch.experience[one, 0] - batch.experience[other, 0]
    df = simulated.experience.shape[1] - 2
    for name in ("prediction", "mean"):
        ends = getattr(batch, name)[:, 0]
        variance = ((ends[:, 1] - ends[:, 0]) / 2 / stdtrit(df, (1 + _LEVEL) / 2)) ** 2
        both = variance[one] + variance[other]
        freedom = both**2 / (variance[one] ** 2 / df + variance[other] ** 2 / df)
        half = stdtrit(freedom, (1 + _LEVEL) / 2) * np.sqrt(both)
        yield _count(name, np.stack([apart - half, apart + half], axis=-1), truth, apart)


def _bootstrapped(simulated: Simulated) -> NDArray[np.float64]:
    """Percentile intervals of the first studies."""
    from quem.experience.bootstrap import bootstrap
    from quem.experience.cells import judged_cells
    from quem.experience.skill import FORMS
    from quem.rankings import Rankings

    intervals = []
    for index in range(min(_BOOTSTRAPPED, len(simulated))):
        study = simulated.study(index)
        assert isinstance(study.data, Rankings)  # noqa: S101  for the type checker
        years = np.concatenate([simulated.experience[index], [np.nan]])
        drawn = bootstrap(
            judged_cells(study.data, study.declared),
            years,
            FORMS["linear"],
            replicates=_REPLICATES,
            level=_LEVEL,
            seed=index,
        )
        intervals.append(drawn.intervals.get("K1", (np.nan, np.nan)) if drawn else (np.nan, np.nan))
    return np.array(intervals)


def _count(
    name: str,
    ends: NDArray[np.float64],
    truth: NDArray[np.float64],
    estimate: NDArray[np.float64] | None = None,
) -> Covered:
    low, high = ends[:, 0], ends[:, 1]
    defined = ~(np.isnan(low) | np.isnan(high))
    covered = defined & (low <= truth) & (truth <= high)
    width = _median((high - low)[defined])
    error = float("nan") if estimate is None else _median(estimate - truth)
    return Covered(name, len(truth), int(defined.sum()), int(covered.sum()), width, error)


def _median(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


HERE = Path(__file__).resolve().parent
FORMAT = 1
STUDIES_A_PART = 500
NOISE_LEVELS = ("low", "high")

TRUTHS: tuple[Truth, ...] = (
    "peer",
    "typical",
    "outside",
    "missing",
    "few problems",
    "two studies",
)

TASTES: tuple[Taste, ...] = ("none", "all", "systems")


def estimates(subjects: tuple[int, ...], designs: tuple[tuple[int, int], ...]) -> Iterator[Case]:
    """Cases in which the experience of a system is to be covered."""
    for truth, noise, n, (judges, problems) in product(TRUTHS, NOISE_LEVELS, subjects, designs):
        yield Case(truth, noise, n, judges, problems)


def differences(
    subjects: tuple[int, ...], designs: tuple[tuple[int, int], ...], years: tuple[float, ...]
) -> Iterator[Case]:
    """Cases in which the difference of two systems is to be covered."""
    for noise, n, (judges, problems), d, taste in product(
        NOISE_LEVELS, subjects, designs, years, TASTES
    ):
        yield Case("difference", noise, n, judges, problems, d, taste)


def blocks(subjects: tuple[int, ...], designs: tuple[tuple[int, int], ...]) -> Iterator[Case]:
    """Cases in which judges rank blocks of the solutions, so that there have to be many."""
    for noise, n, (judges, problems) in product(NOISE_LEVELS, subjects, designs):
        yield Case("blocks", noise, n, judges, problems)


DESIGNS = tuple(product((2, 3, 5), (3, 6, 12)))

# Name: cases, and parts of 500 studies for each.
GRIDS = {
    "tiny": (
        [
            *estimates((7,), ((2, 3),)),
            *blocks((12,), ((2, 3),)),
            *differences((7,), ((2, 3),), (2.0,)),
        ],
        1,
    ),
    "reduced": (
        [
            *estimates((7, 20), ((2, 3), (3, 6), (5, 12))),
            *blocks((20,), ((2, 3), (3, 6))),
            *differences((7, 20), ((2, 3), (3, 6), (5, 12)), (0.0, 4.0)),
        ],
        2,
    ),
    "full": (
        [
            *estimates((7, 12, 20), DESIGNS),
            *blocks((12, 20), DESIGNS),
            *differences((5, 7, 12, 20), DESIGNS, (0.0, 1.0, 2.0, 4.0)),
        ],
        8,
    ),
}


def run_part(case: Case, seed: int, part: int) -> dict[str, object]:
    """Simulate one part of one case."""
    rows = cover(case, STUDIES_A_PART, seed=seed, part=part)
    return {"case": asdict(case), "part": part, "rows": [asdict(row) for row in rows]}


def read_done(path: Path, seed: int) -> list[dict[str, object]]:
    """Read the parts that an earlier run finished; one that it was writing is cut off."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"format": FORMAT, "seed": seed, "studies": STUDIES_A_PART}
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        return []
    whole, newline, _ = path.read_text(encoding="utf-8").rpartition("\n")
    path.write_text(whole + newline, encoding="utf-8")
    header, *done = [json.loads(line) for line in whole.splitlines()] or [{}]
    if header != {"format": FORMAT, "seed": seed, "studies": STUDIES_A_PART}:
        raise QuemError(
            [
                Mistake(
                    str(path),
                    message=(
                        "holds results of another seed or format; name another file, or remove it"
                    ),
                )
            ]
        )
    return done


@click.command(help=__doc__)
@click.option("--grid", type=click.Choice(list(GRIDS)), default="reduced", show_default=True)
@click.option("--part", type=click.Choice(list(PARTS)), help="Hold a method to its bar, instead.")
@click.option("--out", type=click.Path(path_type=Path), help="File of the results.")
@click.option("--jobs", type=int, default=-1, help="Processes; -1 for all processors.")
@click.option("--cluster", help="Address of a Dask scheduler.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--docs", is_flag=True, help="Write the results into docs/.")
def main(
    grid: str,
    part: str | None,
    out: Path | None,
    jobs: int,
    cluster: str | None,
    seed: int,
    *,
    docs: bool,
) -> None:
    """Run what is missing of a grid or part, and print its tables."""
    import coverage_tables

    path = out or HERE / "coverage-results" / f"{part or grid}.jsonl"
    workers = Workers(jobs, cluster)
    if part:
        done = run_missing(path, seed, PARTS[part].cases, PARTS[part].parts, run_case, workers)
        cells, missed = table(part, done)
        click.echo(cells.to_markdown(index=False))
        if docs:
            page = HERE.parent / "docs" / "coverage.md"
            filled = coverage_tables.between(page.read_text("utf-8"), part, summary(cells))
            page.write_text(filled, "utf-8")
        sys.exit(f"{missed} bars are missed" if missed else 0)
    cases, parts = GRIDS[grid]
    done = run_missing(path, seed, cases, parts, run_part, workers)
    tables = coverage_tables.collect(done)
    click.echo(coverage_tables.text(tables))
    if docs:
        coverage_tables.write_docs(tables, HERE.parent / "docs")


def run_missing(
    path: Path,
    seed: int,
    cases: Sequence[Any],
    parts: int,
    run: Callable[..., dict[str, object]],
    workers: Workers,
) -> list[dict[str, Any]]:
    """Run the parts that are not in a file yet, and add them; gives all of these cases."""
    done = read_done(path, seed)
    held = {(json.dumps(entry["case"]), entry["part"]) for entry in done}
    tasks = [
        (case, seed, part)
        for part in range(parts)
        for case in cases
        if (json.dumps(asdict(case)), part) not in held
    ]
    with (
        path.open("a", encoding="utf-8") as file,
        click.progressbar(length=len(tasks), label="parts", file=sys.stderr) as bar,
    ):
        for result in workers.each(run, tasks):
            done.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            bar.update(1)
    names = {json.dumps(asdict(case)) for case in cases}
    return [entry for entry in done if json.dumps(entry["case"]) in names]


if __name__ == "__main__":
    try:
        main(standalone_mode=False)
    except (QuemError, click.ClickException) as error:
        sys.exit(f"error: {error}")
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted; the next run goes on from here.", err=True)
        sys.exit(130)
