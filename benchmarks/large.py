"""What a whole analysis of a large study costs: CPU seconds and peak memory of the process.

Run with ``nox -s bench -- large``; ``python benchmarks/large.py --ten`` also takes ten million
ranks, which needs some minutes. 49 subjects and a system, 40 judges, whole groups, a long file.
The small study is held against importing the libraries that it is made with.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

JUDGES, SOLVERS = 40, 50
SMALL = Path(__file__).resolve().parent.parent / "studies" / "p3-1997" / "study.yaml"
RUNS = 9
# Seconds and MiB at most: a million ranks, and ten.
DEMANDS = {1_000_000: (8.0, 600.0), 10_000_000: (40.0, 2560.0)}
FLOOR = "import statsmodels.api, pandas, matplotlib.pyplot"
# Of the small study, CPU seconds over those of the imports.
SMALL_DEMANDS = {
    "report": ([], 1.0),
    "--json": (["--json"], 0.6),
}
Row = tuple[str, str, str, bool]


def main() -> int:
    """Measure everything and print a table."""
    rows = list(small())
    with tempfile.TemporaryDirectory() as name:
        for size in list(DEMANDS)[: 2 if "--ten" in sys.argv else 1]:
            rows += large(Path(name), size)
    width = max(len(name) for name, *_ in rows)
    for name, ours, demand, good in rows:
        print(f"{name:<{width}}  {ours:>24}  {demand}{'' if good else '  MISSED'}")
    return 0 if all(row[-1] for row in rows) else 1


def small() -> list[Row]:
    """The study of the paper, in turn with the imports alone."""
    script = "from quem.cli import run; run()"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (options, most) in SMALL_DEMANDS.items():
            out = [] if "--json" in options else ["--out", folder]
            command = [sys.executable, "-c", script, "analyze", str(SMALL), *out, *options]
            floor = [sys.executable, "-c", FLOOR]
            cost(command), cost(floor)
            pairs = [(cost(command)[0], cost(floor)[0]) for _ in range(RUNS)]
            ours, peer = (statistics.median(times) for times in zip(*pairs, strict=True))
            ratio = statistics.median(a / b for a, b in pairs)
            text = f"{ours:.2f} / {peer:.2f} s = {ratio:.2f}"
            rows.append((f"small study, {name}", text, f"at most {most}", ratio <= most))
    return rows


def large(folder: Path, size: int) -> list[Row]:
    """A study of so many ranks, as CSV and as Parquet."""
    rows = []
    for ending in ("csv", "parquet"):
        study = write_study(folder / f"{size}-{ending}", size, ending)
        script = "from quem.cli import run; run()"
        out = str(study.parent / "report")
        command = [sys.executable, "-c", script, "analyze", str(study), "--out", out]
        seconds, mebibytes = cost(command)
        for what, figure, most in zip(
            ("CPU s", "MiB"), (seconds, mebibytes), DEMANDS[size], strict=True
        ):
            name = f"{size:,} ranks, {ending}, {what}"
            rows.append((name, f"{figure:,.1f}", f"at most {most:,.0f}", figure <= most))
    return rows


def write_study(folder: Path, size: int, ending: str) -> Path:
    """Write a study of so many ranks."""
    problems = size // (JUDGES * SOLVERS)
    rng = np.random.default_rng(0)
    skill = np.linspace(1, 12, SOLVERS)
    quality = skill + rng.normal(0, 2, (problems, SOLVERS))
    seen = quality + rng.normal(0, 2, (JUDGES, problems, SOLVERS)).astype(np.float32)
    ranks = seen.argsort(axis=2).argsort(axis=2).astype(np.int16) + 1
    at = np.indices(ranks.shape, dtype=np.int32).reshape(3, -1)
    columns = {
        name: pd.Categorical.from_codes(
            codes, categories=pd.Index([f"{letter}{i}" for i in range(count)])
        )
        for name, letter, codes, count in zip(
            ("judge", "problem", "solver"), "JPS", at, ranks.shape, strict=True
        )
    }
    frame = pd.DataFrame({**columns, "rank": ranks.ravel()})
    folder.mkdir()
    if ending == "csv":
        frame.to_csv(folder / "ranks.csv", index=False)
    else:
        frame.to_parquet(folder / "ranks.parquet")
    lines = ["problems:", *(f"  - {{id: P{i}}}" for i in range(problems))]
    lines += ["judges:", *(f"  - {{id: J{i}}}" for i in range(JUDGES)), "subjects:"]
    lines += [f"  - {{id: S{i}, experience: {skill[i]:.2f}}}" for i in range(SOLVERS - 1)]
    lines += ["systems:", f"  - {{id: S{SOLVERS - 1}}}", f"rankings: ranks.{ending}"]
    (folder / "study.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "study.yaml"


def cost(command: list[str]) -> tuple[float, float]:
    """CPU seconds and peak MiB of a process."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    quiet = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, quiet, 1), (os.POSIX_SPAWN_DUP2, quiet, 2)]
    child = os.posix_spawn(command[0], command, environment, file_actions=actions)
    os.close(quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{' '.join(command[-3:])} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
