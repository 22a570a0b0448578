"""How fast quem is, as ratios measured in one run against a peer or a floor.

Run with ``nox -s bench``. Prints a table and exits with 1 where a demand is missed.
"""

from __future__ import annotations

import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import quem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


RUNS = 9

# In processes of their own, so that nothing is warm that would be cold for a user; memory is
# the growth of the peak of the resident set, once everything is imported.
LARGE_STUDY = """
import json, resource, sys, time
import pandas
import quem.kinds, quem.rankings.loading, quem.commands.analyze, quem.parts
from statsmodels.regression.linear_model import OLS
OLS([1.0, 2.0, 4.0], [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]).fit().f_pvalue
study, csv, what = sys.argv[1:]
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, start = peak(), time.perf_counter()
if what == "read_csv":
    pandas.read_csv(csv)
else:
    quem.kinds.analyze(quem.rankings.loading.load_study(study))
print(json.dumps([time.perf_counter() - start, peak() - before]))
"""


def main() -> int:
    """Measure everything and print a table."""
    compileall.compile_dir(str(Path(quem.__file__).parent), quiet=2)
    rows = [row for part in (startup, large_study) for row in part()]
    width = max(len(name) for name, *_ in rows)
    print(f"{'':<{width}}  {'ours':>10}  {'peer':>10}  {'ratio':>9}  demand")
    for name, ours, peer, ratio, demand, good in rows:
        mark = "" if good else "  MISSED"
        print(f"{name:<{width}}  {ours:>10}  {peer:>10}  {ratio:>9}  {demand}{mark}")
    return 0 if all(row[-1] for row in rows) else 1


Row = tuple[str, str, str, str, str, bool]


def startup() -> Iterator[Row]:
    """Whole processes, ours and the peer's in turn."""
    python = sys.executable
    script = "from quem.cli import run; run()"
    ours, peer = paired(
        lambda: process([python, "-c", "import quem"]),
        lambda: process([python, "-c", "import numpy"]),
    )
    yield ratio_row("import quem / import numpy", ours, peer, most=1.25)
    ours, peer = paired(
        lambda: process([python, "-c", script, "--help"]), lambda: process([python, "-c", "pass"])
    )
    more = statistics.median(ours) - statistics.median(peer)
    yield (
        "quem --help - bare python",
        seconds(statistics.median(ours)),
        seconds(statistics.median(peer)),
        f"+{more:.3f} s",
        "at most +0.25 s",
        more <= 0.25,  # noqa: PLR2004  the demand
    )


def large_study() -> Iterator[Row]:
    """A study of 1,000,000 ranks against a default pandas.read_csv of its file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study, csv = write_large_study(folder)

        def run(what: str) -> tuple[float, float]:
            command = [sys.executable, "-c", LARGE_STUDY, str(study), str(csv), what]
            output = subprocess.run(
                command, check=True, capture_output=True, text=True, env=environment()
            )
            spent, grown = json.loads(output.stdout)
            return float(spent), float(grown)

        grown: list[float] = []

        def ours() -> float:
            spent, more = run("quem")
            grown.append(more)
            return spent

        mine, peer = paired(ours, lambda: run("read_csv")[0])
        yield ratio_row("1,000,000 ranks: load and analyze / read_csv", mine, peer, most=6)
        size, growth = csv.stat().st_size, statistics.median(grown)
        yield (
            "1,000,000 ranks: memory growth / file",
            f"{growth / 1e6:.0f} MB",
            f"{size / 1e6:.0f} MB",
            f"{growth / size:.2f} x",
            "at most 12 x",
            growth <= 12 * size,
        )


def write_large_study(folder: Path) -> tuple[Path, Path]:
    """2,000 judges x 50 problems x 10 solvers, ranked by skill with noise."""
    judges, problems, solvers = 2_000, 50, 10
    rng = np.random.default_rng(0)
    quality = np.linspace(0, 2, solvers)
    noise = rng.normal(size=(judges, problems, solvers))
    ranks = (quality + noise).argsort(axis=2).argsort(axis=2) + 1
    csv = folder / "rankings.csv"
    with csv.open("w") as file:
        file.write("judge,problem,solver,rank\n")
        for judge in range(judges):
            for problem in range(problems):
                file.writelines(
                    f"J{judge},P{problem},S{solver},{ranks[judge, problem, solver]}\n"
                    for solver in range(solvers)
                )
    lines = ["problems:", *(f"  - {{id: P{i}}}" for i in range(problems))]
    lines += ["judges:", *(f"  - {{id: J{i}}}" for i in range(judges))]
    lines += ["subjects:", *(f"  - {{id: S{i}, experience: {i + 1}}}" for i in range(solvers - 2))]
    lines += ["systems:", *(f"  - {{id: S{i}}}" for i in range(solvers - 2, solvers))]
    lines += ["rankings: rankings.csv"]
    study = folder / "study.yaml"
    study.write_text("\n".join(lines) + "\n")
    return study, csv


def paired(ours: Callable[[], float], peer: Callable[[], float]) -> tuple[list[float], list[float]]:
    """Time both in turn, after one warm-up each."""
    ours(), peer()
    times = [(ours(), peer()) for _ in range(RUNS)]
    return [a for a, _ in times], [b for _, b in times]


def process(command: list[str]) -> float:
    """Seconds that a whole process takes."""
    return timed(
        lambda: subprocess.run(command, check=True, capture_output=True, env=environment())
    )


def environment() -> dict[str, str]:
    """The environment of measured processes, in which bytecode is kept."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def timed(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio_row(name: str, ours: list[float], peer: list[float], *, most: float) -> Row:
    """A row of the table; the ratio is the median of the pairs' ratios."""
    ratio = statistics.median(a / b for a, b in zip(ours, peer, strict=True))
    mine, theirs = (seconds(statistics.median(times)) for times in (ours, peer))
    return name, mine, theirs, f"{ratio:.2f} x", f"at most {most:g} x", ratio <= most


def seconds(value: float) -> str:
    """Write seconds."""
    return f"{value:.3f} s"


if __name__ == "__main__":
    sys.exit(main())
