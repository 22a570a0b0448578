"""Runs seeded trials one after another, and keeps the result of each as a line of JSON."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import random
import tempfile
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import quem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Results = list[dict[str, Any]]


@dataclass(frozen=True)
class Trial:
    """Something that is tried many times."""

    name: str
    # ``run(rng, folder) -> dict``: one trial, from a random generator of its own and an empty
    # folder, gives figures to keep, as JSON can say them. It raises where what must hold does not.
    run: Callable[[random.Random, Path], dict[str, Any]]
    count: int  # how many trials `nox -s trials` runs
    meaning: str  # what is tried, in a line
    # From all results: what they miss together, or nothing.
    bar: Callable[[Results], str] = lambda _: ""
    # From all results: the tables that the documentation has of them, in Markdown.
    table: Callable[[Results], str] = lambda _: ""
    resumed: bool = True  # whether results of an earlier run count


TRIALS: dict[str, Trial] = {}


def registered(name: str, *, count: int, **more: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    """Register a function as a trial; the first line of its docstring says what is tried."""

    def register(run: Any) -> Any:  # noqa: ANN401  the function as it is
        meaning = (run.__doc__ or "").split("\n")[0].rstrip(".")
        TRIALS[name] = Trial(name, run, count, meaning, **more)
        return run

    return register


def run_trials(trial: Trial, count: int, seed: int, out: Path) -> Results:
    """Run the trials that have no result yet."""
    finished = {
        result["trial"]: result
        for result in (results_in(out) if trial.resumed else ())
        if (result["name"], result["seed"]) == (trial.name, seed)
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        for number in range(count):
            if number in finished:
                continue
            result = {"name": trial.name, "seed": seed, "trial": number, "failed": ""}
            result["on"] = surroundings()
            with tempfile.TemporaryDirectory(prefix=f"trial-{trial.name}-") as folder:
                try:
                    rng = random.Random(f"{trial.name} {seed} {number}")
                    result |= trial.run(rng, Path(folder))
                except KeyboardInterrupt:
                    raise
                except BaseException:  # noqa: BLE001  pytest's failures are no Exception
                    result["failed"] = traceback.format_exc()
            finished[number] = result
            # A blank line before, in case the one above was cut off.
            file.write("\n" + json.dumps(result))
            file.flush()
            os.fsync(file.fileno())
    return [finished[number] for number in range(count)]


def results_in(out: Path) -> Results:
    """The results of earlier runs; the last of each trial counts."""
    results: dict[tuple[object, ...], dict[str, Any]] = {}
    for line in out.read_text(encoding="utf-8").splitlines() if out.exists() else ():
        with suppress(json.JSONDecodeError):
            result = json.loads(line)
            results[result["name"], result["seed"], result["trial"]] = result
    return list(results.values())


def allowance(share: float, count: float) -> float:
    """Three standard errors of a share of so many, beyond those of 2,000, which bars allow for."""
    return 3 * float(max(0.0, (share * (1 - share)) ** 0.5 * (count**-0.5 - 2000**-0.5)))


def surroundings() -> dict[str, Any]:
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "quem": quem.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


def markdown(head: str, rows: Iterable[Iterable[object]]) -> str:
    """A table, whose headings are parted by bars."""
    lines = [f"| {head} |", f"|{'---|' * (head.count('|') + 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])
