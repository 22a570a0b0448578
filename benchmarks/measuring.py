"""The row of the table that each demand has, and how processes and calls are measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
MIB = 1024 * 1024
# Where Python adds no folder to its path: a module here could have the name of a library.
PYTHON = (sys.executable, "-P")
QUEM = (*PYTHON, "-m", "quem")


@dataclass(frozen=True)
class Row:
    """A measurement of quem, that of a peer, and what is demanded."""

    what: str
    ours: float
    unit: str = ""
    peer: str = ""
    theirs: float | None = None  # in the same unit
    of_ratios: float | None = None  # median of ratios, where both were measured in turn
    most: float | None = None  # in the unit
    share: float | None = None  # at most so much of the peer's

    @property
    def ratio(self) -> float | None:
        """Ours divided by the peer's."""
        if self.of_ratios is None and self.theirs:
            return self.ours / self.theirs
        return self.of_ratios

    @property
    def met(self) -> bool:
        """Whether the demand is met; a measurement without a demand meets it."""
        if self.share is not None:
            return self.ratio is not None and self.ratio <= self.share
        return self.most is None or self.ours <= self.most

    @property
    def demand(self) -> str:
        """What is demanded, in words."""
        if self.share is not None:
            return f"at most {figure(self.share)} of {self.peer}"
        return "none" if self.most is None else f"at most {figure(self.most)} {self.unit}".rstrip()

    def cells(self) -> tuple[str, ...]:
        """What a line of the table says."""
        peer = "" if self.theirs is None else f"{self.peer} {figure(self.theirs)} {self.unit}"
        return (
            self.what,
            f"{figure(self.ours)} {self.unit}".rstrip(),
            peer.rstrip(),
            "" if self.ratio is None else figure(self.ratio),
            self.demand,
            "" if self.demand == "none" else "yes" if self.met else "**missed**",
        )


HEADINGS = ("what", "quem", "beside", "ratio", "demand", "met")


def figure(value: float) -> str:
    """A number with three digits that count, or all of a large one."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004


@dataclass(frozen=True)
class Cost:
    """What a process took, and what it printed."""

    seconds: float
    cpu: float  # seconds of all threads and of the processes that it started
    mib: float  # the peak of the resident set
    output: str

    @property
    def result(self) -> Any:  # noqa: ANN401  whatever the work gave
        """What a function of `work` gave."""
        return json.loads(self.output)


def cost(*command: object, **variables: str) -> Cost:
    """Run a command in a process of its own, which has to succeed."""
    done = subprocess.run(
        [*PYTHON, HERE / "launcher.py", *map(str, command)],
        check=False,
        capture_output=True,
        text=True,
        env={**environment(), **variables},
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    output, _, measured = done.stdout.rstrip().rpartition("\n")
    seconds, cpu, mib = json.loads(measured)
    return Cost(seconds, cpu, mib, output)


def work(name: str, *arguments: object, **variables: str) -> Cost:
    """Run a function of `work` in a process of its own."""
    return cost(*PYTHON, HERE / "work.py", name, *arguments, **variables)


def environment() -> dict[str, str]:
    """The environment of measured processes: bytecode is kept, the store is beside the study."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "QUEM_DATABASE_URL")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def timed(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """The seconds of a call."""
    start = clock()
    call()
    return clock() - start


def in_turn(
    ours: Callable[[], float], theirs: Callable[[], float], runs: int
) -> tuple[float, float, float]:
    """Measure both in turn after a first time; the medians of ours, theirs, and their ratios."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(runs)]
    mine, others = zip(*pairs, strict=True)
    return median(mine), median(others), median(a / b for a, b in pairs)
