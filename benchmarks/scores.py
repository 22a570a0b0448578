"""Scoring runs beside ir_measures, ranx, pytrec_eval, and SciPy: from files, and from dicts."""

from __future__ import annotations

import statistics
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import kendalltau

from benchmarks.measuring import QUEM, Row, cost, in_turn, timed, work
from quem import lists as measures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # Takes a run and the ground truth, and gives means.
    Scorer = Callable[["Lists", "Lists"], list[float]]

MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
# Of MS MARCO, whose ids the runs have.
CASES = 8_841_823
Lists = dict[str, dict[str, Any]]
# As trec_eval calls measures.
SAME = ("map", "recip_rank", "ndcg")
FURTHER = ("recall_10", "success_10", "Rprec", "bpref")


def rows(*, short: bool) -> Iterator[Row]:
    """Two large files, the command on a small one, and lists in memory."""
    with tempfile.TemporaryDirectory() as name:
        yield from files(Path(name), 100 if short else 10_000)
        yield from command(Path(name), 100 if short else 1_000)
    yield from memory(200 if short else 10_000, 1 if short else 7)


def files(folder: Path, queries: int) -> Iterator[Row]:
    """Two runs with 200 results for each query."""
    write_runs(folder, queries, 200)
    ours, theirs = work("score", folder), work("score_by_ir_measures", folder)
    what = f"read and score 2 runs of {queries * 200:,} lines"
    peer = "ir_measures"
    yield Row(f"{what}, CPU", ours.cpu, "s", peer, theirs.cpu, share=0.3)
    yield Row(f"{what}, memory", ours.mib, "MiB", peer, theirs.mib, share=0.6)
    gap = float(np.abs(np.array(ours.result) - np.array(theirs.result)).max())
    # ir_measures reads scores in 32 bits.
    yield Row("- means, largest difference from ir_measures", gap, most=1e-4)


def command(folder: Path, queries: int) -> Iterator[Row]:
    """The whole command on a run with 100 results for each query."""
    write_runs(folder, queries, 100)
    run = (folder / "qrels", folder / "a.run")
    peer = (Path(sys.executable).with_name("ir_measures"), *run, *MEASURES)
    mine, theirs, ratio = in_turn(
        lambda: cost(*QUEM, "score", *run).cpu, lambda: cost(*peer).cpu, 3
    )
    what = f"quem score on {queries * 100:,} lines, CPU"
    yield Row(what, mine, "s", "ir_measures", theirs, ratio, most=1)
    yield Row(what, mine, "s", "ir_measures", theirs, ratio, share=0.6)


def write_runs(folder: Path, queries: int, listed: int) -> None:
    """Make up judgments of 50 cases a query, and two runs."""
    rng = np.random.default_rng(0)
    with (
        (folder / "qrels").open("w") as qrels,
        (folder / "a.run").open("w") as first,
        (folder / "b.run").open("w") as second,
    ):
        for query in range(queries):
            cases = rng.choice(CASES, 2 * listed, replace=False)
            quality = rng.normal(size=len(cases))
            grades = np.clip(np.round(quality + rng.normal(0, 0.5, len(cases))), 0, 3).astype(int)
            pairs = zip(cases[::4][:50].tolist(), grades[::4].tolist(), strict=False)
            qrels.writelines(f"{query} 0 {case} {grade}\n" for case, grade in pairs)
            for run, noise in ((first, 1.0), (second, 1.5)):
                values = 10 + quality + rng.normal(0, noise, len(cases))
                best = np.argsort(-values)[:listed]
                places = zip(cases[best].tolist(), values[best].tolist(), strict=True)
                run.writelines(
                    f"{query} Q0 {case} {rank} {value:.6f} made\n"
                    for rank, (case, value) in enumerate(places, 1)
                )


def memory(queries: int, runs: int) -> Iterator[Row]:
    """The same dicts for each; ranx is measured after its compilation."""
    gap = 0.0
    tasks: tuple[tuple[tuple[str, ...], str, Scorer, float], ...] = (
        (("AP", "RR", "nDCG@10", "RBP(top=3)"), "ranx", by_ranx, 1.0),
        (("AP", "RR", "nDCG"), "ir_measures", by_ir_measures, 1 / 1.2),
        (("AP", "RR", "nDCG"), "pytrec_eval", partial(by_pytrec_eval, SAME), 1.0),
        (
            ("R@10", "Success@10", "Rprec", "bpref"),
            "pytrec_eval",
            partial(by_pytrec_eval, FURTHER),
            1.0,
        ),
        (("kendall(variant=b)",), "SciPy", by_scipy, 1 / 20),
    )
    for names, peer, scorer, share in tasks:
        lists = made_up(queries, every=peer == "SciPy")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = partial(by_quem, names, *lists), partial(scorer, *lists)
            gap = max(gap, *(abs(a - b) for a, b in zip(ours(), theirs(), strict=True)))
            mine, other, ratio = in_turn(partial(timed, ours), partial(timed, theirs), runs)
        said = "Kendall" if peer == "SciPy" else ", ".join(name.partition("(")[0] for name in names)
        what = f"{said} of {queries:,} queries in memory"
        yield Row(what, mine, "s", peer, other, ratio, share=share)
    yield Row("- means, largest difference from these tools", gap, most=1e-9)


def made_up(queries: int, *, every: bool) -> tuple[Lists, Lists]:
    """Runs of 100 results, with grades of 20 cases, or similarities of every case listed."""
    rng = np.random.default_rng(0)
    cases = [f"case{number:04}" for number in range(5_000)]
    run: Lists = {}
    truth: Lists = {}
    for query in range(queries):
        drawn = [cases[i] for i in rng.choice(len(cases), 120, replace=False)]
        # Best first, as retrievers give them, and different in single precision too.
        scores = np.sort(rng.choice(1 << 20, 100, replace=False) / (1 << 20))[::-1]
        run[f"q{query}"] = dict(zip(drawn[:100], scores.tolist(), strict=True))
        if every:
            ideal = [drawn[i] for i in rng.permutation(100)]
            values = rng.random(100).tolist()
        else:
            # The first is relevant: ranx and ir_measures score a query without relevance as 0.
            ideal = [drawn[i] for i in rng.permutation(120)[:20]]
            values = [3, *rng.integers(0, 4, 19).tolist()]
        truth[f"q{query}"] = dict(zip(ideal, values, strict=True))
    return run, truth


def by_quem(names: tuple[str, ...], run: Lists, truth: Lists) -> list[float]:
    return list(measures.evaluate(run, truth, names).mean.values())


def by_ranx(run: Lists, truth: Lists) -> list[float]:
    import ranx

    names = ["map", "mrr", "ndcg@10", "rbp.5"]
    means = ranx.evaluate(truth, run, names, save_results_in_run=False)
    # Its RBP sums the grades themselves, of which the highest is 3.
    return [float(means[name]) / (3 if name == "rbp.5" else 1) for name in names]


def by_ir_measures(run: Lists, truth: Lists) -> list[float]:
    import ir_measures

    chosen = [ir_measures.parse_measure(name) for name in ("AP", "RR", "nDCG")]
    means = ir_measures.calc_aggregate(chosen, truth, run)
    return [float(means[one]) for one in chosen]


def by_pytrec_eval(names: tuple[str, ...], run: Lists, truth: Lists) -> list[float]:
    import pytrec_eval

    scores = pytrec_eval.RelevanceEvaluator(truth, set(names)).evaluate(run)
    return [statistics.fmean(query[name] for query in scores.values()) for name in names]


def by_scipy(run: Lists, truth: Lists) -> list[float]:
    """Kendall's tau of each query in a loop."""
    taus = []
    for query, listed in run.items():
        ideal = truth[query]
        common = [item for item in listed if item in ideal]
        pair = [listed[item] for item in common], [ideal[item] for item in common]
        taus.append(float(kendalltau(*pair).statistic))
    return [statistics.fmean(taus)]
