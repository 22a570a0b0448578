"""How much memory and disk large evaluations of lists take.

``python benchmarks/lists.py`` makes up, and analyzes with default settings, each in a process of
its own:

- options: 100,000 questions (``--questions``), each with a list of one to five options with
  confidences from two systems (``--systems``), about 600,000 options;
- retrieval: leave-one-out over 3,000 cases (``--cases``) with two linear retrievers, a third as the
  ground truth, and measures @10.

It prints the time, the peak of the resident set, and the size of the files that are written, and
fails where one is above its demand.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# The demands, in MB: peak memory, and files.
OPTIONS_MEMORY = 500
RETRIEVAL_MEMORY, RETRIEVAL_FILES = 200, 40

ANALYZE = """
import resource, sys
from quem.cli import run
try:
    run()
finally:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak {peak:.0f}", file=sys.stderr)
"""


def main() -> int:
    """Measure both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--systems", type=int, default=2)
    parser.add_argument("--cases", type=int, default=3_000)
    parser.add_argument("--bootstrap", type=int, default=2_000, help="fewer take as much memory")
    parser.add_argument("--only", choices=["options", "retrieval"])
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name:
        if options.only != "retrieval":
            study = write_options(Path(name) / "options", options.questions, options.systems)
            label = f"options: {options.questions:,} questions, {options.systems} systems"
            good &= measured(label, study, OPTIONS_MEMORY, None, options.bootstrap)
        if options.only != "options":
            study = write_retrieval(Path(name) / "retrieval", options.cases)
            label = f"retrieval: {options.cases:,} cases, leave-one-out, @10"
            good &= measured(label, study, RETRIEVAL_MEMORY, RETRIEVAL_FILES, options.bootstrap)
    return 0 if good else 1


def measured(
    label: str, study: Path, most_memory: int, most_files: int | None, bootstrap: int
) -> bool:
    """Analyze a study, print what that takes, and say whether it is within the demands."""
    out = study.parent / "out"
    start = time.perf_counter()
    done = subprocess.run(
        [
            *(sys.executable, "-c", ANALYZE, "analyze", str(study), "--out", str(out)),
            *("--bootstrap", str(bootstrap), "--permutations", str(bootstrap)),
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    spent = time.perf_counter() - start
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return False
    peak = float(done.stderr.rpartition("peak ")[2])
    files = sum(path.stat().st_size for path in out.iterdir()) / 1e6
    demand = f"at most {most_memory} MB"
    good = peak <= most_memory
    if most_files is not None:
        demand += f", {most_files} MB"
        good &= files <= most_files
    print(f"{label}: {spent:.0f} s, peak {peak:.0f} MB, files {files:.0f} MB; demand: {demand}")
    print("" if good else "  MISSED", flush=True)
    return good


def write_options(folder: Path, questions: int, systems: int) -> Path:
    """Lists of one to five options; the correct one is among them in most."""
    folder.mkdir()
    random = np.random.default_rng(1)
    with (folder / "questions.csv").open("w") as file:
        file.write("question,correct\n")
        file.writelines(f"Q{i},answer {i % 500}\n" for i in range(questions))
    with (folder / "lists.csv").open("w") as file:
        file.write("question,system,option,confidence\n")
        for system in range(systems):
            lengths = random.integers(1, 6, questions)
            places = random.integers(0, 6, questions)
            for question, (length, place) in enumerate(zip(lengths, places, strict=True)):
                confidence = np.sort(random.random(length))[::-1]
                file.writelines(
                    f"Q{question},bot {system},"
                    f"{f'answer {question % 500}' if at == place else f'other {at}'},{value:.3f}\n"
                    for at, value in enumerate(confidence)
                )
    study = folder / "study.yaml"
    study.write_text("kind: options\nquestions: questions.csv\nlists: lists.csv\n")
    return study


def write_retrieval(folder: Path, cases: int) -> Path:
    """Cases of four numbers and four words."""
    folder.mkdir()
    random = np.random.default_rng(1)
    numbers, words = random.random((cases, 4)), random.integers(6, size=(cases, 4))
    with (folder / "cases.csv").open("w") as file:
        file.write("id,a,b,c,d,e,f,g,h\n")
        for case in range(cases):
            cells = [f"{value:.4f}" for value in numbers[case]] + [f"w{w}" for w in words[case]]
            file.write(f"case-{case:05d},{','.join(cells)}\n")
    study = folder / "study.yaml"
    study.write_text("""kind: retrieval
cases: cases.csv
queries: leave-one-out
retrievers:
  - {id: all, linear: {}}
  - {id: numbers, linear: {attributes: [{name: a}, {name: b}, {name: c}, {name: d}]}}
  - {id: words, linear: {attributes: [{name: e}, {name: f}, {name: g}, {name: h}]}}
ground_truth: all
analysis: {measures: [nDCG@10, hits_norm@10, quality_mueller@10]}
""")
    return study


if __name__ == "__main__":
    sys.exit(main())
