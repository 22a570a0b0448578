"""The start of quem, and the analysis of small, large, and wide tables of ranks."""

from __future__ import annotations

import json
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmarks.measuring import PYTHON, QUEM, Row, cost, in_turn, timed, work
from quem.io.delimited import read_delimited

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = Path(__file__).resolve().parent.parent / "studies" / "p3-1997" / "study.yaml"
NAIVE = "import statsmodels.api, pandas, matplotlib.pyplot"
# By ranks: CPU seconds and MiB at most.
LARGE = {1_000_000: (8.0, 600.0), 10_000_000: (40.0, 2560.0)}
JUDGES, SOLVERS = 40, 50


def rows(*, short: bool) -> Iterator[Row]:
    """Starts, a small study, 1 and 10 million ranks, and 20,000 columns."""
    runs = 1 if short else 9
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from starting(runs)
        yield from small(folder / "small", runs)
        yield from reading(folder / "reading", runs, judges=20 if short else 2_000)
        for size, most in LARGE.items():
            yield from large(folder, size // 100 if short else size, *most)
        yield wide(folder / "wide.csv", 1_000 if short else 20_000)


def starting(runs: int) -> Iterator[Row]:
    """Whole processes."""

    def seconds(*command: str) -> float:
        return cost(*PYTHON, *command).seconds

    mine, theirs, ratio = in_turn(
        partial(seconds, "-c", "import quem"), partial(seconds, "-c", "import numpy"), runs
    )
    yield Row("import quem", mine, "s", "import numpy", theirs, ratio, share=1.25)
    mine, theirs, _ = in_turn(
        partial(seconds, "-m", "quem", "--help"), partial(seconds, "-c", "pass"), runs
    )
    yield Row("quem --help, beyond the start of Python", mine - theirs, "s", most=0.25)


def small(out: Path, runs: int) -> Iterator[Row]:
    """The study of the paper, beside what a script without quem has to import."""
    naive = partial(cpu_of, *PYTHON, "-c", NAIVE)
    for what, options, share in (
        ("a report", ("--out", out), 1.0),
        ("JSON", ("--json",), 0.6),
    ):
        command = (*QUEM, "analyze", SMALL, *options)
        mine, theirs, ratio = in_turn(partial(cpu_of, *command), naive, runs)
        title, peer = f"small study to {what}, CPU", "a naive script's imports"
        yield Row(title, mine, "s", peer, theirs, ratio, share=share)


def cpu_of(*command: object) -> float:
    """CPU seconds of a process."""
    return cost(*command).cpu


def reading(folder: Path, runs: int, judges: int) -> Iterator[Row]:
    """A million ranks in memory, beside reading their file."""
    study, _ = write_study(folder, (judges, 50, 10), "csv")
    table = folder / "ranks.csv"
    grown: list[float] = []

    def ours() -> float:
        seconds, more = work("analyze_warm", study).result
        grown.append(more)
        return float(seconds)

    mine, theirs, ratio = in_turn(ours, lambda: work("read_csv", table).result[0], runs)
    ranks = f"{judges * 500:,} ranks"
    yield Row(f"load and analyze {ranks}", mine, "s", "pandas.read_csv", theirs, ratio, share=6)
    megabytes = table.stat().st_size / 1e6
    what = f"load and analyze {ranks}, growth of memory"
    yield Row(what, float(np.median(grown)), "MB", "their file", megabytes, share=12)


def large(folder: Path, size: int, most_cpu: float, most_mib: float) -> Iterator[Row]:
    """A whole analysis with its report, from CSV and Parquet."""
    for ending in ("csv", "parquet"):
        place = folder / f"{size}-{ending}"
        study, years = write_study(place, (JUDGES, size // (JUDGES * SOLVERS), SOLVERS), ending)
        ours = cost(*QUEM, "analyze", study, "--out", place / "report")
        plain = work("plain_numpy", place / "ranks.csv", years) if ending == "csv" else None
        what = f"{size:,} ranks, {'CSV' if ending == 'csv' else 'Parquet'} to report"
        peer = "plain NumPy to years alone" if plain else ""
        cpu, mib = (plain.cpu, plain.mib) if plain else (None, None)
        yield Row(f"{what}, CPU", ours.cpu, "s", peer, cpu, most=most_cpu)
        yield Row(f"{what}, memory", ours.mib, "MiB", peer, mib, most=most_mib)


def write_study(folder: Path, shape: tuple[int, int, int], ending: str) -> tuple[Path, str]:
    """Write a study of judges, problems, and solvers, the last a system; gives people's years."""
    solvers = shape[2]
    rng = np.random.default_rng(0)
    skill = np.linspace(1, 12, solvers)
    quality = skill + rng.normal(0, 2, shape[1:])
    seen = quality + rng.normal(0, 2, shape).astype(np.float32)
    ranks = seen.argsort(axis=2).argsort(axis=2).astype(np.int16) + 1
    at = np.indices(ranks.shape, dtype=np.int32).reshape(3, -1)
    columns = {
        name: pd.Categorical.from_codes(
            codes, categories=pd.Index([f"{name[0].upper()}{i}" for i in range(count)])
        )
        for name, codes, count in zip(("judge", "problem", "solver"), at, shape, strict=True)
    }
    frame = pd.DataFrame({**columns, "rank": ranks.ravel()})
    folder.mkdir()
    if ending == "csv":
        frame.to_csv(folder / "ranks.csv", index=False)
    else:
        frame.to_parquet(folder / "ranks.parquet")
    years = {f"S{i}": round(skill[i], 2) for i in range(solvers - 1)}
    content = {
        "problems": [{"id": f"P{i}"} for i in range(shape[1])],
        "judges": [{"id": f"J{i}"} for i in range(shape[0])],
        "subjects": [{"id": name, "experience": value} for name, value in years.items()],
        "systems": [{"id": f"S{solvers - 1}"}],
        "rankings": f"ranks.{ending}",
    }
    study = folder / "study.yaml"
    study.write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML
    return study, json.dumps(years)


def wide(path: Path, columns: int) -> Row:
    """A table of 20 solvers with a column for each judge and problem."""
    rng = np.random.default_rng(0)
    head = ",".join(["solver", *(f"J{column}:P1" for column in range(columns))])
    ranks = rng.integers(1, 21, (20, columns))
    lines = [head, *(",".join([f"S{row}", *map(str, ranks[row])]) for row in range(20))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    mine, theirs, ratio = in_turn(
        lambda: timed(partial(read_delimited, path, path.name, what="rankings"), time.process_time),
        lambda: timed(partial(pd.read_csv, path), time.process_time),
        3,
    )
    # A third more than pandas, which strips no cells.
    what = f"read a table of {columns:,} columns, CPU"
    return Row(what, mine, "s", "pandas.read_csv", theirs, ratio, share=1.33)
