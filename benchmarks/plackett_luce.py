"""How fast worths are fitted, beside choix in the same run.

100,000 rankings of 5 out of 1,000 solvers, without ties and without ridge. choix gets an
environment of its own. Run with ``nox -s bench -- plackett_luce``. Prints times, their ratio and
both log-likelihoods, and exits with 1 where a demand is missed.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from web_servers import install

from quem.method.plackett_luce import fit_plackett_luce, weak_orders

SOLVERS, RANKINGS, LENGTH = 1_000, 100_000, 5
RUNS = 5
LEAST_RATIO, CLOSE = 15.0, 1e-6
PEER = "choix"
# Each gets the rankings as it takes them; reading the file is not measured. choix computes the
# log-likelihoods of both, from worths of which it knows nothing else.
PEER_SCRIPT = """
import json, sys, time
import choix, numpy
rankings = [tuple(ranking) for ranking in numpy.load(sys.argv[1]).tolist()]
start = time.perf_counter()
worths = choix.ilsr_rankings(len(numpy.load(sys.argv[2])), rankings)
spent = time.perf_counter() - start
found = [choix.log_likelihood_rankings(rankings, w) for w in (worths, numpy.load(sys.argv[2]))]
print(json.dumps([spent, *found]))
"""


def main() -> int:
    """Measure both in turn and print a table."""
    best_first = rankings()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        version = install(folder / "peer", PEER)
        np.save(folder / "rankings.npy", best_first)
        mine, peer = [], []
        for _ in range(RUNS):
            spent, worths = ours(best_first)
            mine.append(spent)
            np.save(folder / "worths.npy", worths)
            theirs, peer_value, value = measure_peer(folder)
            peer.append(theirs)
    ratio = statistics.median(b / a for a, b in zip(mine, peer, strict=True))
    # Where ours is the higher, it is the nearer to the maximum.
    apart = (peer_value - value) / abs(peer_value)
    print(f"{RANKINGS:,} rankings of {LENGTH} out of {SOLVERS:,} solvers, median of {RUNS}")
    print(f"{'':<14}  {'time':>9}  log-likelihood")
    print(f"{'quem':<14}  {statistics.median(mine):>7.3f} s  {value:.6f}")
    print(f"{f'{PEER} {version}':<14}  {statistics.median(peer):>7.3f} s  {peer_value:.6f}")
    print(f"ratio {ratio:.1f} x (at least {LEAST_RATIO:g} x{missed(ratio >= LEAST_RATIO)})")
    print(f"relative difference {apart:.1e} (at most {CLOSE:g}{missed(apart <= CLOSE)})")
    return 0 if ratio >= LEAST_RATIO and apart <= CLOSE else 1


def rankings() -> np.ndarray:
    """Rankings drawn from the model, the best first, shape (RANKINGS, LENGTH)."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=SOLVERS)
    solvers = rng.integers(SOLVERS, size=(2 * RANKINGS, LENGTH))
    ordered = np.sort(solvers, axis=1)
    solvers = solvers[(np.diff(ordered, axis=1) > 0).all(axis=1)][:RANKINGS]
    quality = theta[solvers] + rng.gumbel(size=solvers.shape)
    return np.take_along_axis(solvers, np.argsort(-quality, axis=1), axis=1)


def ours(best_first: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds from the columns of a rankings table to worths, and the log worths."""
    ranking = np.repeat(np.arange(RANKINGS), LENGTH)
    solver = best_first.ravel()
    rank = np.tile(np.arange(LENGTH, 0, -1.0), RANKINGS)
    start = time.perf_counter()
    orders = weak_orders(ranking, solver, rank)
    model = fit_plackett_luce(orders, SOLVERS, ridge=0.0)
    return time.perf_counter() - start, model.log_worth


def measure_peer(folder: Path) -> tuple[float, float, float]:
    """Seconds that choix takes, and the log-likelihoods of its worths and of ours."""
    files = [str(folder / "rankings.npy"), str(folder / "worths.npy")]
    command = [str(folder / "peer" / "bin" / "python"), "-c", PEER_SCRIPT, *files]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    spent, value, other = json.loads(output.stdout)
    return spent, value, other


def missed(good: bool) -> str:  # noqa: FBT001
    """Mark a demand that is missed."""
    return "" if good else ": MISSED"


if __name__ == "__main__":
    sys.exit(main())
