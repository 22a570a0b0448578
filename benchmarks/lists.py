"""How much memory and disk large evaluations of lists take.

``python benchmarks/lists.py`` makes up, and analyzes with default settings, each in a process of
its own:

- options: 100,000 questions (``--questions``), each with a list of one to five options with
  confidences from two systems (``--systems``), about 600,000 options;
- retrieval: leave-one-out over 3,000 cases (``--cases``) with two linear retrievers, a third as the
  ground truth, and measures @10; beside the same with 50 cases, which is what libraries take.

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

# The demands, in MB: peak memory; of retrieval what it takes more than a few cases; and files.
OPTIONS_MEMORY = 500
RETRIEVAL_MEMORY, RETRIEVAL_FILES = 100, 40
FEW = 50

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
    parser.add_argument("--only", choices=["options", "retrieval"])
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name:
        if options.only != "retrieval":
            study = write_options(Path(name) / "options", options.questions, options.systems)
            label = f"options: {options.questions:,} questions, {options.systems} systems"
            peak, _ = measured(label, study)
            good &= judged(peak, OPTIONS_MEMORY)
        if options.only != "options":
            peaks = []
            for cases in (FEW, options.cases):
                study = write_retrieval(Path(name) / f"retrieval-{cases}", cases)
                label = f"retrieval: {cases:,} cases, leave-one-out, @10"
                peak, files = measured(label, study)
                peaks.append(peak)
            good &= judged(peaks[1] - peaks[0], RETRIEVAL_MEMORY, " more")
            good &= judged(files, RETRIEVAL_FILES, " of files")
    return 0 if good else 1


def measured(label: str, study: Path) -> tuple[float, float]:
    """Analyze a study, print what that takes, and give the peak and the size of files, in MB."""
    out = study.parent / "out"
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", ANALYZE, "analyze", str(study), "--out", str(out)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    spent = time.perf_counter() - start
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        sys.exit(1)
    peak = float(done.stderr.rpartition("peak ")[2])
    files = sum(path.stat().st_size for path in out.iterdir()) / 1e6
    print(f"{label}: {spent:.0f} s, peak {peak:.0f} MB, files {files:.0f} MB", flush=True)
    return peak, files


def judged(value: float, most: float, what: str = "") -> bool:
    """Whether a demand is met."""
    good = value <= most
    print(f"  {value:.0f} MB{what}; demand: at most {most} MB{'' if good else '  MISSED'}")
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
