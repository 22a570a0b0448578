"""Run benchmarks, and print one table: ``nox -s bench [-- [--short] NAME...]``.

All of them in full write ``docs/benchmarks.md``. The exit code is 1 where a demand is missed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import os
import platform
import sys
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import HEADINGS, Row
from benchmarks.servers import POTATO

if TYPE_CHECKING:
    from collections.abc import Iterable

BENCHMARKS = (
    *("analyze", "scores", "worths", "lists", "importing", "office"),
    *("web", "connections", "crowd"),
)
PEERS = ("ir-measures", "ranx", "pytrec-eval-terrier", "evalica", "choix")
LIBRARIES = ("numpy", "pandas", "scipy", "pyarrow", "statsmodels")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


def main() -> int:
    """Run what is named, or all."""
    parser = argparse.ArgumentParser(prog="nox -s bench --", description="Run benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--short", action="store_true", help="tiny sizes: only whether all works")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    began = os.getloadavg()[0]
    rows, failed = [], []
    for name in options.names or BENCHMARKS:
        try:
            for row in importlib.import_module(f"benchmarks.{name}").rows(short=options.short):
                print(f"{name}: {row.what}", file=sys.stderr)
                rows.append(row)
        except Exception:  # noqa: BLE001  the others are run all the same
            traceback.print_exc()
            failed.append(name)
    print(table(rows))
    if not (options.names or options.short or failed):
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(written(text, machine(began), rows), encoding="utf-8")
    for name in failed:
        print(f"{name} failed", file=sys.stderr)
    missed = not all(row.met for row in rows) and not options.short
    return 1 if failed or missed else 0


def table(rows: Iterable[Row]) -> str:
    """A table in Markdown that reads well in a terminal too."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def machine(began: float) -> str:
    """When and where it ran, beside which versions."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    processor = info.partition("model name\t: ")[2].partition("\n")[0]
    parts = [
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}: {os.cpu_count()} cores ({processor})",
        f"load {began:.1f} at the start, {os.getloadavg()[0]:.1f} at the end",
        f"{platform.system()}, Python {platform.python_version()}, quem {version('quem')}",
        ", ".join([f"Potato {POTATO}", *(f"{name} {version(name)}" for name in PEERS)]),
        ", ".join(f"{name} {version(name)}" for name in LIBRARIES),
    ]
    return f"{'; '.join(parts)}."


def written(text: str, where: str, rows: list[Row]) -> str:
    """The page with other results between its marks."""
    before, begin, rest = text.partition("<!-- benchmarks begin -->\n")
    _, end, after = rest.partition("<!-- benchmarks end -->")
    demands = [row for row in rows if row.demand != "none"]
    missed = sum(not row.met for row in demands)
    met = f"{len(demands) - missed} of {len(demands)} demands are met."
    return f"{before}{begin}{where}\n\n{met}\n\n{table(rows)}\n{end}{after}"


if __name__ == "__main__":
    sys.exit(main())
