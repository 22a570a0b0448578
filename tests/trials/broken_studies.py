"""Studies whose files were damaged at random."""

from __future__ import annotations

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
    from pathlib import Path


@registered("broken-studies", count=5000)
def broken_study(rng: random.Random, folder: Path) -> dict[str, Any]:
    """``quem check`` of a damaged study says what is wrong, and never ends with a traceback."""
    kind = rng.choice(KINDS)
    content = yaml.safe_dump(written(folder, kind), sort_keys=False)
    (folder / "study.yaml").write_text(content, encoding="utf-8")
    files = sorted(path for path in folder.iterdir() if path.stat().st_size)
    for _ in range(rng.choice((1, 1, 2, 5))):
        file = rng.choice(files)
        file.write_bytes(_damaged(rng, file.read_bytes()))
    code, stderr = _checked(folder / "study.yaml")
    assert code in (0, 1), f"{kind}: exit code {code}\n{stderr}"
    assert (code == 1) == ("error: " in stderr), f"{kind}: exit code {code}\n{stderr}"
    return {"kind": kind, "code": code}


def _damaged(rng: random.Random, content: bytes) -> bytes:
    """Cut, repeat, move or replace a part."""
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


def _checked(study: Path) -> tuple[object, str]:
    """Run ``quem check`` in this process; gives the exit code and what it says on stderr."""
    stderr = StringIO()
    before = sys.argv
    sys.argv = ["quem", "check", str(study)]
    try:
        with redirect_stdout(StringIO()), redirect_stderr(stderr):
            run()
    except SystemExit as end:
        return end.code, stderr.getvalue()
    finally:
        sys.argv = before
    return None, stderr.getvalue()
