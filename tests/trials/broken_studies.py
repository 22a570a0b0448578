"""Studies, and runs with judgments, whose files were damaged or emptied."""

from __future__ import annotations

import gzip
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from quem.cli import run
from tests.examples import JUDGES, PROBLEMS, RANKS, SOLVERS, long_csv, study_with
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_INIT = Path(__file__).parents[2] / "templates" / "init"
_HEAD = ",".join(["solver", *(f"{j}:{p}" for j in JUDGES for p in PROBLEMS)])
_WIDE = [",".join([s, *(str(RANKS[j, p, s]) for j in JUDGES for p in PROBLEMS)]) for s in SOLVERS]
_NAMES = [f"# ALTERNATIVE NAME {n}: {s}" for n, s in enumerate(SOLVERS, 1)]
_AVERAGES = [f"{s},{rank + 1.5}" for rank, s in enumerate(SOLVERS)]
_SOURCES = {
    "long": long_csv(),
    "wide": "\n".join([_HEAD, *_WIDE, ""]),
    "averages": "\n".join(["solver,average_rank", *_AVERAGES, ""]),
    "preflib": "\n".join([*_NAMES, "1: 1,2,3,4,5,6,7", "1: 2,1,4,3,5,7,6", ""]),
    "store": "",
}
_KINDS = (*_SOURCES, "options", "retrieval", "dialogue")


def _content(folder: Path, kind: str) -> dict[str, Any]:
    """Write the files of a small valid study; gives what its study file says."""
    if kind not in _SOURCES:
        shutil.copytree(_INIT / kind, folder, dirs_exist_ok=True)
        content: dict[str, Any] = yaml.safe_load((folder / "study.yaml").read_text("utf-8"))
        return content
    if kind == "store":
        return study_with(rankings={"from": kind})
    file = "p1.soc" if kind == "preflib" else "rankings.csv"
    (folder / file).write_text(_SOURCES[kind])
    problems = [{"file": file, "problem": "P1"}]
    return study_with(rankings={"from": kind, "file": problems if kind == "preflib" else file})


def _write(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


@registered("broken-studies", count=5000)
def broken_study(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Damaged studies end ``quem check`` with what is wrong, never with a traceback."""
    kind = rng.choice(_KINDS)
    study = _write(folder, _content(folder, kind))
    files = sorted(path for path in folder.iterdir() if path.stat().st_size)
    for _ in range(rng.choice((1, 1, 2, 5))):
        file = rng.choice(files)
        file.write_bytes(_damaged(rng, file.read_bytes()))
    refused = _ended("check", str(study))
    return {"kind": kind, "refused": refused, "accepted": 1 - refused}


@registered("emptied-studies", count=100)
def emptied_study(rng: random.Random, folder: Path) -> dict[str, Any]:
    """The same of studies in which each key, at two levels, is empty or missing."""
    kind = rng.choice(_KINDS)
    content = _content(folder, kind)
    study, refused = _write(folder, content), []
    for part, key in [*_places(content)]:
        value = part.pop(key)
        empty: list[Any] = [[], {}, "", None, value[:1] if isinstance(value, list) else 0]
        for changed in ({}, {key: rng.choice(empty)}):
            part.update(changed)
            refused.append(_ended("check", str(_write(folder, content))))
        part[key] = value
    _write(folder, content)
    for file in sorted(folder.glob("*.csv")):
        text = file.read_text()
        head = text.splitlines(keepends=True)[0]
        commas = head + "," * head.count(",") + "\n"
        file.write_text(rng.choice(("", "\n", head, commas, text[len(head) :])))
        refused.append(_ended("check", str(study)))
        file.write_text(text)
    return {"kind": kind, "refused": sum(refused), "accepted": refused.count(0)}


def _places(content: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    for part in (content, *content.values()):
        yield from ((part, key) for key in ([*part] if isinstance(part, dict) else ()))


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


def _ended(*words: str) -> int:
    """Run a command that may end with 0, or with 1 and a message: its exit code."""
    code, stderr = _outcome(words)
    assert isinstance(code, int)
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
