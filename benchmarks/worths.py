"""Worths from decisions on pairs, beside evalica and choix, and from rankings, beside choix."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import quem
from benchmarks.measuring import Row, in_turn, timed, work
from quem.method.plackett_luce import fit_plackett_luce, weak_orders

if TYPE_CHECKING:
    from collections.abc import Iterator

JUDGES, PROBLEMS, SOLVERS = 1_000, 10, 200
# One thread: waiting threads would count as CPU seconds.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}


def rows(*, short: bool) -> Iterator[Row]:
    """10,000,000 decisions with ties, and 100,000 rankings of 5 out of 1,000."""
    with tempfile.TemporaryDirectory() as name:
        yield from pairs(Path(name), 20_000 if short else 10_000_000)
    yield from rankings(*(2_000, 50, 1) if short else (100_000, 1_000, 3))


def pairs(folder: Path, decisions: int) -> Iterator[Row]:
    """From files to worths with errors; peers give none, and choix drops ties."""
    write_decisions(folder, decisions)
    file = folder / "decisions.parquet"
    ours, of_csv = (work("worths", folder / f"{kind}.yaml", **ALONE) for kind in ("parquet", "csv"))
    evalica = work("worths_by_evalica", file, **ALONE)
    choix = work("worths_by_choix", file, decisions // 10, **ALONE)
    what = f"{decisions:,} decisions on pairs to worths with errors"
    yield Row(f"{what}, Parquet, CPU", ours.cpu, "s", most=10)
    yield Row(f"{what}, CSV, CPU", of_csv.cpu, "s", most=15)
    yield Row(f"{what}, memory", ours.mib, "MiB", most=1024)
    yield Row(f"{what}, CPU", ours.cpu, "s", "evalica", evalica.cpu, share=0.5)
    yield Row(f"{what}, memory", ours.mib, "MiB", "evalica", evalica.mib, share=0.25)
    yield Row(f"{what}, CPU", ours.cpu, "s", "choix on a tenth of them", choix.cpu)
    gap = abs(one_by_one(folder) / ours.result - 1)
    yield Row("- log-likelihood, relative difference from the sum over decisions", gap, most=1e-9)


def write_decisions(folder: Path, decisions: int) -> None:
    """Draw decisions by the model with ties, and write them with their study files."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=SOLVERS)
    first = rng.integers(SOLVERS, size=decisions)
    second = (first + 1 + rng.integers(SOLVERS - 1, size=decisions)) % SOLVERS
    other = np.exp((theta[second] - theta[first]) / 2)
    tie = other / 2
    drawn = rng.random(decisions) * (1 + other**2 + tie)
    wins, ties = drawn < 1, (drawn >= 1) & (drawn < 1 + tie)
    columns = {
        "judge": ids("J", rng.integers(JUDGES, size=decisions), JUDGES),
        "problem": ids("P", rng.integers(PROBLEMS, size=decisions), PROBLEMS),
        "winner": ids("S", np.where(wins | ties, first, second), SOLVERS),
        "loser": ids("S", np.where(wins | ties, second, first), SOLVERS),
        "tie": pa.DictionaryArray.from_arrays(pa.array(ties.astype(np.int8)), ["", "1"]),
    }
    table = pa.table({name: column.cast(pa.string()) for name, column in columns.items()})
    parquet.write_table(table, folder / "decisions.parquet")
    csv.write_csv(table, folder / "decisions.csv")
    years = (theta.argsort().argsort() / 10).tolist()
    content: dict[str, Any] = {
        "problems": [{"id": f"P{at}"} for at in range(PROBLEMS)],
        "judges": [{"id": f"J{at}"} for at in range(JUDGES)],
        "subjects": [{"id": f"S{at}", "experience": years[at]} for at in range(SOLVERS - 1)],
        "systems": [{"id": f"S{SOLVERS - 1}"}],
    }
    for kind in ("parquet", "csv"):
        content["rankings"] = {"from": "decisions", "file": f"decisions.{kind}"}
        # JSON is YAML.
        (folder / f"{kind}.yaml").write_text(json.dumps(content), encoding="utf-8")


def ids(letter: str, codes: np.ndarray, n: int) -> pa.DictionaryArray:
    """Ids made of a letter and a number."""
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int16)), [f"{letter}{at}" for at in range(n)]
    )


def one_by_one(folder: Path) -> float:
    """The log-likelihood summed over each decision, by the worths that quem finds."""
    study = quem.load_study(folder / "parquet.yaml", kind="experience")
    averages: Any = quem.analyze(study).core.averages
    model = averages.scale.model
    frame = parquet.read_table(folder / "decisions.parquet")
    codes = [
        np.array([int(word[1:]) for word in column.dictionary.to_pylist()])[column.indices]
        for name in ("winner", "loser")
        for column in [frame[name].combine_chunks().dictionary_encode()]
    ]
    tied = np.asarray(frame["tie"]) == "1"
    # Solvers are numbered in the order of the study file, which is that of their ids.
    lead = model.log_worth[codes[0]] - model.log_worth[codes[1]]
    tie = model.ties[2] * np.exp(-lead / 2)
    total = 1 + np.exp(-lead) + tie
    return float(np.log(np.where(tied, tie, 1.0) / total).sum())


def rankings(count: int, solvers: int, runs: int) -> Iterator[Row]:
    """Rankings without ties, fitted without a ridge."""
    import choix

    best_first = drawn_rankings(count, solvers)
    as_tuples = [tuple(ranking) for ranking in best_first.tolist()]
    ours = partial(fitted, best_first, solvers)
    theirs = partial(choix.ilsr_rankings, solvers, as_tuples)
    mine, other, ratio = in_turn(lambda: timed(ours), lambda: timed(theirs), runs)
    what = f"fit worths to {count:,} rankings of 5 of {solvers:,} solvers"
    yield Row(what, mine, "s", "choix", other, ratio, share=1 / 15)
    # choix computes both; where ours is the higher, it is the nearer to the maximum.
    value, peer = (choix.log_likelihood_rankings(as_tuples, find()) for find in (ours, theirs))
    yield Row(
        "- log-likelihood, relative distance below that of choix", (peer - value) / -peer, most=1e-6
    )


def fitted(best_first: np.ndarray, solvers: int) -> np.ndarray:
    """From the columns of a rankings table to log worths."""
    count, length = best_first.shape
    ranking = np.repeat(np.arange(count), length)
    rank = np.tile(np.arange(length, 0, -1.0), count)
    orders = weak_orders(ranking, best_first.ravel(), rank)
    return fit_plackett_luce(orders, solvers, ridge=0.0).log_worth


def drawn_rankings(count: int, n: int) -> np.ndarray:
    """Rankings of five drawn from the model, the best first."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=n)
    solvers = rng.integers(n, size=(2 * count, 5))
    ordered = np.sort(solvers, axis=1)
    solvers = solvers[(np.diff(ordered, axis=1) > 0).all(axis=1)][:count]
    quality = theta[solvers] + rng.gumbel(size=solvers.shape)
    return np.take_along_axis(solvers, np.argsort(-quality, axis=1), axis=1)
