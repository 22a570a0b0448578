"""Making a study of answers in JSON Lines, Parquet, and logs of Inspect AI."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measuring import Row, timed
from quem.importing import collect, draft_of, write_draft

if TYPE_CHECKING:
    from collections.abc import Iterator

SOLVERS = 6
TEXT = "First look at what is there, then plan, and act on what matters most. " * 12


def rows(*, short: bool) -> Iterator[Row]:
    """3,000 answers, each form once before it is measured."""
    problems = 10 if short else 500
    answers = [
        {"prompt": f"What about case {p}?", "model": f"org/m{s}", "output": f"{p} {s} {TEXT}"}
        for p in range(problems)
        for s in range(SOLVERS)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        forms = {
            "JSON Lines": lines(folder, answers),
            "Parquet": parquet(folder, answers),
            "Inspect logs": logs(folder, answers),
        }
        least = timed(lambda: write_plainly(forms["JSON Lines"], folder / "plain"))
        for form, source in forms.items():
            make(source, folder / f"{source.name}-before")
            seconds = timed(lambda at=source: make(at, folder / f"{at.name}-study"))  # type: ignore[misc]
            what = f"make a study of {len(answers):,} answers in {form}"
            # A second on two free cores; where the disk is slow, twice what files alone take.
            most = max(1.0, 2 * least)
            yield Row(what, seconds, "s", "parsing and writing alone", least, most=most)


def make(source: Path, folder: Path) -> None:
    """What `quem init --from` does."""
    write_draft(draft_of([source], collect([source])), folder)


def write_plainly(source: Path, folder: Path) -> None:
    """A loop that parses lines and writes a file for each answer, and checks nothing."""
    folder.mkdir()
    for number, line in enumerate(source.read_text().splitlines()):
        (folder / f"{number}.md").write_text(json.loads(line)["output"])


def lines(folder: Path, rows: list[dict[str, str]]) -> Path:
    """The answers as JSON Lines."""
    path = folder / "lines.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def parquet(folder: Path, rows: list[dict[str, str]]) -> Path:
    """The answers as Parquet."""
    path = folder / "table.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def logs(folder: Path, rows: list[dict[str, str]]) -> Path:
    """A log of Inspect AI for each solver."""
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
