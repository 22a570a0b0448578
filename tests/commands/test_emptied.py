"""Studies in which a list, a file or all that is declared is empty: an error, never a traceback."""

from __future__ import annotations

import shutil
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.examples import JUDGES, PROBLEMS, RANKS, SOLVERS, long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.commands.conftest import Command

INIT = Path(__file__).parents[2] / "templates" / "init"
WIDE = "".join(
    ",".join([s, *(str(RANKS[j, p, s]) for j in JUDGES for p in PROBLEMS)]) + "\n" for s in SOLVERS
)
AVERAGES = "".join(f"{s},{rank + 1.5}\n" for rank, s in enumerate(SOLVERS))
PREFLIB = "".join(f"# ALTERNATIVE NAME {n}: {s}\n" for n, s in enumerate(SOLVERS, 1))
SOURCES = {
    "long": long_csv(),
    "wide": "solver," + ",".join(f"{j}:{p}" for j in JUDGES for p in PROBLEMS) + "\n" + WIDE,
    "averages": "solver,average_rank\n" + AVERAGES,
    "preflib": f"{PREFLIB}1: 1,2,3,4,5,6,7\n1: 2,1,4,3,5,7,6\n",
    "store": "",
}

KINDS = (*SOURCES, "options", "retrieval", "dialogue")


def written(folder: Path, kind: str) -> dict[str, Any]:
    """Write the files of a small valid study; gives what its study file says."""
    if kind not in SOURCES:
        shutil.copytree(INIT / kind, folder, dirs_exist_ok=True)
        content: dict[str, Any] = yaml.safe_load((folder / "study.yaml").read_text("utf-8"))
        return content
    if kind == "store":
        return study_with(rankings={"from": kind})
    file = "p1.soc" if kind == "preflib" else "rankings.csv"
    (folder / file).write_text(SOURCES[kind])
    problems = [{"file": file, "problem": "P1"}]
    return study_with(rankings={"from": kind, "file": problems if kind == "preflib" else file})


def _emptied(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The study with each list or mapping empty, missing or null, and all lists."""
    places: list[tuple[Any, ...]] = [(key,) for key in content]
    places += [(k, inner) for k in content if isinstance(content[k], dict) for inner in content[k]]
    for place in places:
        empty: tuple[object, ...] = ([], {}, "", None)
        for value in empty:
            changed = deepcopy(content)
            part = changed if len(place) == 1 else changed[place[0]]
            part[place[-1]] = value
            yield f"{place}: {value!r}", changed
        part.pop(place[-1])
        yield f"without {place}", changed
    lists = [key for key, value in content.items() if isinstance(value, list)]
    yield "all lists empty", {**content, **{key: [] for key in lists}}
    yield "one of each", {k: v[:1] if k in lists else v for k, v in content.items()}


# Of the other sources of rankings, the laws in tests/study/test_fuzz.py say so.
@pytest.mark.parametrize("kind", ["store", "options", "retrieval", "dialogue"])
def test_empty_parts(kind: str, tmp_path: Path, run: Command) -> None:
    content = written(tmp_path, kind)
    study = tmp_path / "study.yaml"

    def write(changed: dict[str, Any]) -> None:
        study.write_text(yaml.safe_dump(changed, sort_keys=False))

    def check(label: str) -> int:
        code, _, err = run("check", study)
        assert code in (0, 1), f"{label}: {err}"
        assert (code == 1) == ("error: " in err), f"{label}: {err}"
        return code

    write(content)
    codes = [check("whole")]
    assert codes == [1 if kind == "store" else 0]
    for label, changed in _emptied(content):
        write(changed)
        codes.append(check(label))
    assert codes.count(1) > len(codes) / 4
    write(content)
    for file in sorted(tmp_path.glob("*.csv")):
        text = file.read_text()
        head = text.splitlines(keepends=True)[0]
        for part in ("", "\n", head, head + "," * head.count(",") + "\n", text[len(head) :]):
            file.write_text(part)
            check(f"{file.name}: {part[:40]!r}")
        file.write_text(text)
