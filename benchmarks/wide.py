"""Reads wide tables, of up to 20,000 columns, beside pandas in the same run.

A study of 20 solvers with a column for each judge and problem: `nox -s bench -- wide`.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from quem.io.delimited import read_delimited

if TYPE_CHECKING:
    from collections.abc import Callable

# Columns and rows.
SIZES = ((1_000, 20), (5_000, 20), (20_000, 20), (1_000, 2_000))
REPEATS = 3
# A third more than pandas, whose work is less: it strips no cells and finds no distinct ones.
MOST = 1.33


def main() -> int:
    """Print a line for each size; exit with 1 where 20,000 columns take longer than `MOST`."""
    print(f"{'columns':>8} {'rows':>6} {'quem s':>8} {'pandas s':>9} {'ratio':>6}")
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for columns, rows in SIZES:
            path = _table(Path(folder) / "wide.csv", columns, rows)
            # In turns, so that another load of the machine meets both.
            quem = partial(read_delimited, path, path.name, what="rankings")
            times = [(_seconds(quem), _seconds(partial(pd.read_csv, path))) for _ in range(REPEATS)]
            ours, theirs = (median(one) for one in zip(*times, strict=True))
            print(f"{columns:8,} {rows:6,} {ours:8.2f} {theirs:9.2f} {ours / theirs:6.2f}")
            slow |= columns == max(SIZES)[0] and ours > MOST * theirs
    return int(slow)


def _table(path: Path, columns: int, rows: int) -> Path:
    rng = np.random.default_rng(0)
    head = ",".join(["solver", *(f"J{column}:P1" for column in range(columns))])
    ranks = rng.integers(1, rows + 1, (rows, columns))
    lines = [head, *(",".join([f"S{row}", *map(str, ranks[row])]) for row in range(rows))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _seconds(call: Callable[[], object]) -> float:
    """Processor time, which a loaded machine does not lengthen as much."""
    start = process_time()
    call()
    return process_time() - start


if __name__ == "__main__":
    sys.exit(main())
