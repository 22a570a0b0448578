"""How fast runs are scored, beside ranx, ir_measures, trec_eval, and SciPy, from the same dicts.

10,000 queries of 100 results each. ranx is measured after its compilation, and given the dicts
themselves, which it reads quicker than it makes its own `Run` of them. Run with
``nox -s bench -- measures``. Prints times, their ratios and the memory that each of them takes,
and exits with 1 where a demand is missed.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from scipy.stats import kendalltau

from quem import lists as measures

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES, RESULTS, JUDGED, CASES = 10_000, 100, 20, 5_000
RUNS = 7
Lists = dict[str, dict[str, float]]
# Each takes run and ground truth, and gives the means, in the order of the names.
Work = tuple[str, "Callable[[Lists, Any], list[float]]"]


def quem_means(*names: str) -> Work:
    """Our measures."""
    return "quem", lambda run, truth: list(measures.evaluate(run, truth, names).mean.values())


def ranx_means(*names: str) -> Work:
    """Those of ranx."""

    def work(run: Lists, truth: Any) -> list[float]:  # noqa: ANN401  grades are whole
        # numba, which ranx imports, looks for the package coverage, and must not find ours.
        sys.path = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]
        import ranx

        means = ranx.evaluate(truth, run, list(names), save_results_in_run=False)
        # Its RBP sums the grades themselves, of which the highest is 3.
        return [float(means[name]) / (3 if name.startswith("rbp") else 1) for name in names]

    return "ranx", work


def ir_measures_means(*names: str) -> Work:
    """Those of ir_measures, from its default provider."""
    chosen = [ir_measures.parse_measure(name) for name in names]

    def work(run: Lists, truth: Any) -> list[float]:  # noqa: ANN401  grades are whole
        means = ir_measures.calc_aggregate(chosen, truth, run)
        return [float(means[one]) for one in chosen]

    return "ir_measures", work


def trec_eval_means(*names: str) -> Work:
    """Those of trec_eval itself, through pytrec_eval, which ir_measures brings."""

    def work(run: Lists, truth: Any) -> list[float]:  # noqa: ANN401  grades are whole
        import pytrec_eval

        scores = pytrec_eval.RelevanceEvaluator(truth, set(names)).evaluate(run)
        return [statistics.fmean(query[name] for query in scores.values()) for name in names]

    return "pytrec_eval", work


def scipy_mean() -> Work:
    """Kendall's tau of each query in a loop over SciPy."""

    def work(run: Lists, truth: Any) -> list[float]:  # noqa: ANN401
        taus = []
        for query, listed in run.items():
            ideal = truth[query]
            common = [item for item in listed if item in ideal]
            pair = [listed[item] for item in common], [ideal[item] for item in common]
            taus.append(float(kendalltau(*pair).statistic))
        return [statistics.fmean(taus)]

    return "scipy", work


TASKS: dict[str, tuple[Work, Work]] = {
    "AP, RR, nDCG@10, RBP": (
        quem_means("AP", "RR", "nDCG@10", "RBP(top=3)"),
        ranx_means("map", "mrr", "ndcg@10", "rbp.5"),
    ),
    "AP, RR, nDCG": (
        quem_means("AP", "RR", "nDCG"),
        ir_measures_means("AP", "RR", "nDCG"),
    ),
    "AP, RR, nDCG again": (
        quem_means("AP", "RR", "nDCG"),
        trec_eval_means("map", "recip_rank", "ndcg"),
    ),
    "R@10, Success@10, bpref": (
        quem_means("R@10", "Success@10", "Rprec", "bpref"),
        trec_eval_means("recall_10", "success_10", "Rprec", "bpref"),
    ),
    "Kendall": (quem_means("kendall(variant=b)"), scipy_mean()),
}
LEAST = dict(zip(TASKS, (1.0, 1.2, 1.0, 1.0, 20.0), strict=True))


def run_and_truth(task: str, queries: int = QUERIES) -> tuple[Lists, dict[str, dict[str, Any]]]:
    """A run and its ground truth: grades of some cases, or similarities of all that are listed."""
    rng = np.random.default_rng(0)
    cases = [f"case{number:04}" for number in range(CASES)]
    run: Lists = {}
    truth: dict[str, dict[str, Any]] = {}
    for query in range(queries):
        drawn = [cases[i] for i in rng.choice(CASES, RESULTS + JUDGED, replace=False)]
        listed = drawn[:RESULTS]
        # Best first, as retrievers give them, and different in single precision too.
        scores = np.sort(rng.choice(1 << 20, RESULTS, replace=False) / (1 << 20))[::-1]
        run[f"q{query}"] = dict(zip(listed, scores.tolist(), strict=True))
        if task == "Kendall":
            ideal = [listed[i] for i in rng.permutation(RESULTS)]
            values: list[Any] = rng.random(RESULTS).tolist()
        else:
            # The first is relevant: ranx and ir_measures score a query without relevance as 0.
            ideal = [drawn[i] for i in rng.permutation(RESULTS + JUDGED)[:JUDGED]]
            values = [3, *rng.integers(0, 4, JUDGED - 1).tolist()]
        truth[f"q{query}"] = dict(zip(ideal, values, strict=True))
    return run, truth


def main() -> int:
    """Measure all tasks and print a table."""
    warnings.simplefilter("ignore")
    print(f"{QUERIES:,} queries of {RESULTS} results, median of {RUNS} pairs")
    rows = [row(task) for task in TASKS]
    for text, _ in rows:
        print(text)
    return 0 if all(good for _, good in rows) else 1


def row(task: str) -> tuple[str, bool]:
    """Time ours and the peer's in turn, after one of each, and compare what they find."""
    (_, ours), (peer, theirs) = TASKS[task]
    least = LEAST[task]
    run, truth = run_and_truth(task)
    means, others = ours(run, truth), theirs(run, truth)
    pairs = [(timed(ours, run, truth), timed(theirs, run, truth)) for _ in range(RUNS)]
    ratio = statistics.median(b / a for a, b in pairs)
    mine, other = (statistics.median(times) for times in zip(*pairs, strict=True))
    same = all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(means, others, strict=True))
    good = ratio >= least and same
    memories = [memory(task, who) for who in (0, 1)]
    text = (
        f"{task:<22} quem {mine:6.3f} s {memories[0]:4.0f} MB   "
        f"{peer:<11} {other:6.3f} s {memories[1]:4.0f} MB   "
        f"{ratio:5.1f} x (at least {least:g} x{'' if ratio >= least else ', MISSED'})"
        f"{'' if same else '  OTHER MEANS'}"
    )
    return text, good


def timed(work: Callable[[Lists, Any], list[float]], run: Lists, truth: Any) -> float:  # noqa: ANN401
    """Seconds that some work takes."""
    start = time.perf_counter()
    work(run, truth)
    return time.perf_counter() - start


def memory(task: str, who: int) -> float:
    """By how many MB the peak of the resident set grows, in a process of its own; on Linux."""
    if not Path("/proc/self/clear_refs").exists():
        return math.nan
    command = [sys.executable, __file__, task, str(who)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout))


def grown(task: str, who: int) -> float:
    """Measure it here, once everything is imported and compiled."""
    warnings.simplefilter("ignore")
    work = TASKS[task][who][1]
    work(*run_and_truth(task, 20))
    run, truth = run_and_truth(task)
    # Linux forgets the peak that making the dicts had.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = resident("VmRSS")
    work(run, truth)
    return resident("VmHWM") - before


def resident(what: str) -> float:
    """The resident set or its peak, in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{what}:")[1].split()[0]) / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(grown(sys.argv[1], int(sys.argv[2])))
        sys.exit()
    sys.exit(main())
