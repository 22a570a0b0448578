"""Studies, and runs with judgments, whose files were damaged at random."""

from __future__ import annotations

import gzip
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import yaml

from quem.cli import run
from tests.commands.test_emptied import KINDS, written
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence
    from pathlib import Path


@registered("broken-studies", count=5000)
def broken_study(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Damaged studies end ``quem check`` with what is wrong, never with a traceback."""
    kind = rng.choice(KINDS)
    content = yaml.safe_dump(written(folder, kind), sort_keys=False)
    (folder / "study.yaml").write_text(content, encoding="utf-8")
    files = sorted(path for path in folder.iterdir() if path.stat().st_size)
    for _ in range(rng.choice((1, 1, 2, 5))):
        file = rng.choice(files)
        file.write_bytes(_damaged(rng, file.read_bytes()))
    return {"kind": kind, "refused": _ended("check", str(folder / "study.yaml"))}


# Runs, judgments, and the same in other formats.
_RUNS = {
    "qrels.txt": "q1 0 d1 2\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 1\nq2 0 d4 0\n",
    "judged.csv": "query,case,judge,grade\nq1,d1,Ann,2\nq1,d1,Ben,1\nq2,d4,Ann,0\nq2,d1,Ben,1\n",
    "a.run": "q1 Q0 d1 1 3.0 a\nq1 Q0 d3 2 2.0 a\nq1 Q0 d2 3 2.0 a\nq2 Q0 d4 1 2.0 a\n",
    "b.csv": "query;case;score\nq1;d1;0.5\nq1;d2;0.25\nq2;d1;1\n",
    "c.json": '{"q1": {"d1": 0.9, "d3": 0.1}, "q2": ["d1", "d4"]}\n',
    "d.jsonl": '{"qid": "q1", "docno": "d2", "score": 3}\n{"qid": "q2", "docno": "d1"}\n',
    "e.run.gz": "q1 Q0 d1 1 3.0 a\nq2 Q0 d1 1 2.0 a\n",
}


@registered("broken-runs", count=200)
def broken_runs(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Damaged runs and judgments, for ``quem score``."""
    for name, text in _RUNS.items():
        content = text.encode()
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    judged, *runs = rng.choice(("qrels.txt", "judged.csv")), *list(_RUNS)[2:]
    for _ in range(rng.choice((1, 1, 2, 5))):
        file = folder / rng.choice((judged, *runs))
        file.write_bytes(_damaged(rng, file.read_bytes()))
    # Each alone, so that the first that is broken does not hide the others.
    return {"refused": [_ended("score", str(folder / judged), str(folder / run)) for run in runs]}


def _ended(*words: str) -> object:
    """Run a command that may end with 0, or with 1 and a message: its exit code."""
    code, stderr = _outcome(words)
    assert code in (0, 1), f"{words}: exit code {code}\n{stderr}"
    assert (code == 1) == ("error: " in stderr), f"{words}: exit code {code}\n{stderr}"
    return code


def _damaged(rng: random.Random, content: bytes) -> bytes:
    start = rng.randrange(len(content) + 1)
    end = min(len(content), start + rng.choice((1, 1, 3, 20, 200)))
    part = rng.choice(
        (
            b"",
            content[start:end] * 2,
            content[start:end][::-1],
            bytes([rng.randrange(256)]),
            rng.choice((b"-1", b"1e999", b"nan", b"[]", b"{}", b"''", b"\n", b",", b": ", b"\0")),
        )
    )
    return content[:start] + part + content[end:]


def _outcome(words: Sequence[str]) -> tuple[object, str]:
    stderr = StringIO()
    before = sys.argv
    sys.argv = ["quem", *words]
    try:
        with redirect_stdout(StringIO()), redirect_stderr(stderr):
            run()
    except SystemExit as end:
        return end.code, stderr.getvalue()
    finally:
        sys.argv = before
    return None, stderr.getvalue()
