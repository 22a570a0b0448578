"""How long simulated dialogues take, and how much memory a large case base does.

``python benchmarks/dialogue.py`` simulates

- Zoo, Spect and Pima, if their data are in a folder that ``--data`` names (by default
  ``../shared/data``), else case bases of their sizes: ten question orders, the five strategies, all
  users with all b, rank quality after each answer;
- a synthetic case base of 5,000 cases with 30 attributes, half of them numeric, with one question
  order (``--orders`` for more), with the peak memory of each process;

and prints how long each takes with two processes.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from joblib.externals.loky import get_reusable_executor

from quem.dialogue.loading import load_dialogue
from quem.dialogue.reading import EncodedCases
from quem.dialogue.simulation import Experiment, NamedStrategy, prepare, run_experiment
from quem.dialogue.users import named_user
from quem.parallel import Workers
from quem.studyfile.dialogue import DialogueSettings

ROOT = Path(__file__).parents[1]
STRATEGIES = tuple(NamedStrategy(name) for name in ("DD", "FA", "ND", "NF", "RA"))
USERS = tuple(
    named_user(name, b)
    for name, b in (
        *((name, b) for name in ("A5", "T1", "T5") for b in (0.05, 0.10, 0.15, 0.30)),
        ("DL", None),
    )
)
# Cases, attributes, and how many of these are numeric.
SIZES = {"zoo": (101, 16, 0), "spect": (267, 22, 0), "pima": (768, 8, 8)}
LARGE = (5000, 30, 15)


def made_up(n: int, m: int, numeric: int, seed: int = 1) -> EncodedCases:
    """Make up a case base of some size, with five classes that its attributes tell of."""
    random = np.random.default_rng(seed)
    classes = random.integers(5, size=n)
    values = random.integers(4, size=(n, m)).astype(float)
    tells = random.random((n, m)) < 0.4  # noqa: PLR2004  of the values
    values[tells] = ((classes[:, np.newaxis] + np.arange(m)) % 4)[tells]
    values[:, :numeric] += random.normal(0, 0.5, (n, numeric))
    return EncodedCases(
        tuple(map(str, range(n))),
        tuple(f"a{i}" for i in range(m)),
        values,
        tuple(None if i < numeric else tuple("wxyz") for i in range(m)),
        classes,
        tuple("ABCDE"),
        np.ones(m),
    )


def timed(name: str, cases: EncodedCases, orders: int, jobs: int) -> float:
    """Simulate all dialogues of a case base, and print how long that takes."""
    start = time.perf_counter()
    experiment = prepare(cases, DialogueSettings(orders=orders), strategies=STRATEGIES, users=USERS)
    run_experiment(experiment, workers=Workers(jobs))
    took = time.perf_counter() - start
    lists = _lists(experiment)
    print(f"| {name} | {len(cases):,} × {experiment.space.m} | {orders} | {lists:,} | {took:.1f} |")
    return took


def _lists(experiment: Experiment) -> int:
    points = experiment.dialogues * (experiment.space.m + 1)
    return points * len(experiment.cases) * len(experiment.strategies)


def _peak(who: int) -> str:
    """Peak memory of this process, or of the largest of those that it started."""
    return f"{resource.getrusage(who).ru_maxrss / 1024:,.0f} MB"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--orders", type=int, default=1, help="of the large case base")
    parser.add_argument("--skip-large", action="store_true")
    options = parser.parse_args()
    print("| case base | cases × attributes | question orders | lists | seconds |")
    print("|---|---|---|---|---|")
    total = 0.0
    for name, size in SIZES.items():
        study = ROOT / "studies" / "ccbr" / f"{name}.yaml"
        if options.data.is_dir():
            total += timed(name, load_dialogue(study, data=options.data).cases, 10, options.jobs)
        else:
            total += timed(f"of the size of {name}", made_up(*size), 10, options.jobs)
    print(
        f"\nall three: {total:.1f} s with {options.jobs} processes (60 s are allowed on 2 cores)\n"
    )
    if options.skip_large:
        return
    timed("synthetic", made_up(*LARGE), options.orders, options.jobs)
    # Only of processes that have ended is the memory known.
    get_reusable_executor().shutdown(wait=True)
    print(
        f"\npeak memory: {_peak(resource.RUSAGE_SELF)} in the first process, "
        f"{_peak(resource.RUSAGE_CHILDREN)} in the largest other"
    )


if __name__ == "__main__":
    main()
