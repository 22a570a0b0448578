"""How long it takes to make a study of 3,000 answers.

``python benchmarks/importing.py`` makes up the same answers as JSON Lines and as Parquet, and two
logs of Inspect AI, and makes a study of each as ``quem init --from`` does, once before it is
measured. Beside it the floor: the lines parsed, and a file written for each answer, by a loop that
checks nothing. It fails where a study takes longer than its demand.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from quem.importing import collect, draft_of, write_draft

# The demand, in seconds on two free cores; where the disk is slow, in floors.
DEMAND, FLOORS = 1.0, 2.0
_TEXT = "First look at what is there, then plan, and act on what matters most. " * 12


def main() -> int:
    """Measure, and print a line for each form."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--solvers", type=int, default=6)
    options = parser.parse_args()
    rows = [
        {"prompt": f"What about case {p}?", "model": f"org/m{s}", "output": f"{p} {s} {_TEXT}"}
        for p in range(options.problems)
        for s in range(options.solvers)
    ]
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        forms = [lines(folder, rows), parquet(folder, rows), logs(folder, rows)]
        least = floor(forms[0], folder / "floor")
        demand = max(DEMAND, FLOORS * least)
        print(f"{len(rows):,} answers; reading and writing, in seconds (<= {demand:.2f} s)")
        print(f"{'floor':14} {least:21.2f}")
        for source in forms:
            made(source, folder / "before")
            read, whole = made(source, folder / source.stem)
            good &= whole <= demand
            print(f"{source.name:14} {read:5.2f} + {whole - read:5.2f} = {whole:5.2f}")
    return 0 if good else 1


def made(source: Path, folder: Path) -> tuple[float, float]:
    """Make a study; gives the seconds until all is read, and until all is written."""
    begun = time.perf_counter()
    draft = draft_of([source], collect([source]))
    read = time.perf_counter() - begun
    place = folder / str(len(list(folder.iterdir())) if folder.exists() else 0)
    write_draft(draft, place)
    return read, time.perf_counter() - begun


def floor(source: Path, folder: Path) -> float:
    """The seconds that a loop needs which only parses and writes."""
    begun = time.perf_counter()
    folder.mkdir()
    for number, line in enumerate(source.read_text().splitlines()):
        (folder / f"{number}.md").write_text(json.loads(line)["output"])
    return time.perf_counter() - begun


def lines(folder: Path, rows: list[dict[str, str]]) -> Path:
    """Write the answers as JSON Lines."""
    path = folder / "lines.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def parquet(folder: Path, rows: list[dict[str, str]]) -> Path:
    """Write the answers as Parquet."""
    path = folder / "table.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def logs(folder: Path, rows: list[dict[str, str]]) -> Path:
    """Write a log of each solver's answers."""
    place = folder / "logs"
    place.mkdir()
    by_model: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    for number, (model, own) in enumerate(by_model.items()):
        with zipfile.ZipFile(place / f"{number}.eval", "w", zipfile.ZIP_DEFLATED) as log:
            log.writestr("header.json", json.dumps({"eval": {"model": model, "task": "t"}}))
            for at, row in enumerate(own):
                message = {"message": {"content": row["output"]}}
                sample = {"id": at, "epoch": 1, "input": row["prompt"]}
                sample["output"] = {"choices": [message]}
                log.writestr(f"samples/{at}_epoch_1.json", json.dumps(sample))
    return place


if __name__ == "__main__":
    sys.exit(main())
