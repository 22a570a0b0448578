"""What it takes to read and score large runs, beside ir_measures.

``python benchmarks/scores.py`` makes up judgments and two runs of 2 million lines for 10,000
queries, with ids as MS MARCO has them, and scores them by five measures, with quem and as the
manual of ir_measures shows, each in a process of its own. It prints CPU time and the peak of the
resident set, and fails where quem takes more than its demand, or where the means are not the same.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Of what ir_measures takes.
CPU, MEMORY = 0.3, 0.6
QUERIES, LISTED, JUDGED, CASES = 10_000, 200, 50, 8_841_823
# As ir_measures reads scores in 32 bits.
NEAR = 1e-4

QUEM = """
from quem.lists import measure
from quem.scores.scoring import score_runs
measures = [measure(name) for name in ("nDCG@10", "AP", "RR", "P@10", "R@100")]
scored = score_runs({"a": "a.run", "b": "b.run"}, "qrels.txt", measures)
means = scored.values.mean(axis=1).tolist()
"""
PEER = """
import ir_measures
from ir_measures import AP, RR, P, R, nDCG
measures = [nDCG @ 10, AP, RR, P @ 10, R @ 100]
means = []
for name in ("a.run", "b.run"):
    qrels, run = ir_measures.read_trec_qrels("qrels.txt"), ir_measures.read_trec_run(name)
    found = ir_measures.calc_aggregate(measures, qrels, run)
    means.append([found[one] for one in measures])
"""
COST = """
import json, resource
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([means, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def main() -> int:
    """Measure both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=QUERIES)
    queries = parser.parse_args().queries
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), queries)
        lines = queries * LISTED
        print(f"2 runs of {lines:,} lines, {queries:,} queries, 5 measures: read and scored")
        means, cpu, memory = measured("quem", QUEM, Path(name))
        their_means, their_cpu, their_memory = measured("ir_measures", PEER, Path(name))
    gap = float(np.abs(np.array(means) - np.array(their_means)).max())
    print(f"  CPU {cpu / their_cpu:.2f} of theirs (at most {CPU})")
    print(f"  memory {memory / their_memory:.2f} of theirs (at most {MEMORY})")
    print(f"  means differ by at most {gap:.1g}")
    return int(cpu > CPU * their_cpu or memory > MEMORY * their_memory or gap > NEAR)


def write(folder: Path, queries: int) -> None:
    """Make up judgments and two runs."""
    rng = np.random.default_rng(0)
    with (folder / "qrels.txt").open("w") as qrels:
        runs = [(folder / f"{name}.run").open("w") for name in "ab"]
        for query in range(queries):
            cases = rng.choice(CASES, 2 * LISTED, replace=False)
            quality = rng.normal(size=len(cases))
            grades = np.clip(np.round(quality + rng.normal(0, 0.5, len(cases))), 0, 3).astype(int)
            pairs = zip(cases[::4][:JUDGED].tolist(), grades[::4].tolist(), strict=False)
            qrels.writelines(f"{query} 0 {case} {grade}\n" for case, grade in pairs)
            for run, noise in zip(runs, (1.0, 1.5), strict=True):
                score = 10 + quality + rng.normal(0, noise, len(cases))
                best = np.argsort(-score)[:LISTED]
                listed = zip(cases[best].tolist(), score[best].tolist(), strict=True)
                run.writelines(
                    f"{query} Q0 {case} {rank} {value:.6f} made\n"
                    for rank, (case, value) in enumerate(listed, 1)
                )
        for run in runs:
            run.close()


def measured(label: str, code: str, folder: Path) -> tuple[list[list[float]], float, float]:
    """Run code in a process of its own: what it found, its CPU seconds and its peak in MB."""
    made = subprocess.run(
        [sys.executable, "-c", code + COST], cwd=folder, check=True, stdout=subprocess.PIPE
    )
    means, cpu, memory = json.loads(made.stdout)
    print(f"  {label:<12} {cpu:6.2f} s CPU  {memory:6.0f} MB")
    return means, cpu, memory


if __name__ == "__main__":
    sys.exit(main())
